package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"stormtest/report/compare"
)

// ComparisonJSON writes a comparison as one JSON document (schema stormtest.comparison/v1) and a line feed, indented as [JSON]
// does. A figure without a value is null, and no list is.
func ComparisonJSON(w io.Writer, c *compare.Comparison) error {
	compact, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("report: encode comparison: %w", err)
	}
	var out bytes.Buffer
	layJSON(&out, compact, 0, false)
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}
