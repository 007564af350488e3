package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"stormtest/load/record"
	"stormtest/report"
)

// The report says what the budget allowed and how full it was around the outages; the JSON keeps
// the balances on one line, and a run without a budget says nothing of one.
func TestBudgetIsReported(t *testing.T) {
	r := &record.Result{Schema: record.Schema, Plan: []byte(`{"outage":["2s..4s","10s..12s"]}`), Valid: true, Runs: []record.Run{{
		Strategy: "constant", Engine: "virtual", Duration: 14 * time.Second, Bucket: time.Second, CapacityPerSecond: ptr(100.0),
	}}}
	text := func() string {
		var b bytes.Buffer
		if err := report.Terminal(&b, r, report.Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := text(); strings.Contains(got, "Budget") {
		t.Errorf("a run without a budget has one in its report:\n%s", got)
	}
	r.Runs[0].Budget = &record.Budget{
		Kind: "finagle", Parameters: "ratio=20%,min=10/s", Accounts: 200, Taken: 1300, Returned: 100, Spent: 1200, Refused: 700, BalanceHighest: 22,
		Balance: []int64{100, 220, 9, 0, 140, 220, 220, 220, 220, 221, 5, 7, 140, 220}, FloorPerSecond: ptr(2000.0), FloorOverCapacity: ptr(20.0),
	}
	got := strings.Join(strings.Fields(text()), " ")
	for _, want := range []string{
		"Budget finagle (ratio=20%, min=10/s): 1,300 retries allowed, 700 refused; taken 1,300 - returned 100 - spent 1,200 = 0",
		"Balance 220 at 2 s, 0 at 4 s, 221 at 10 s, 7 at 12 s; lowest of one client 0, highest of one client 22 retries",
		"Budget floor 2,000 retries/s whatever the ratio (20.0x capacity)",
	} {
		if !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), want) {
			t.Errorf("report lacks %q:\n%s", want, got)
		}
	}
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if want := `"balance": [100,220,9,0,140,220,220,220,220,221,5,7,140,220]`; !strings.Contains(b.String(), want) {
		t.Errorf("JSON lacks %s:\n%s", want, b.String())
	}
	back, err := report.ReadJSON(&b)
	if err != nil || back.Runs[0].Budget == nil || back.Runs[0].Budget.Refused != 700 {
		t.Errorf("read back: %v, %+v", err, back)
	}
}
