package report

import "strings"

// tableGap is the least number of blanks between two columns.
const tableGap = 1

// tableWidths is the widest cell of each column. Rows have the same length.
func tableWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], cells(text))
		}
	}
	return widths
}

// tableCells is the width of the whole table.
func tableCells(rows [][]string) int {
	sum := -tableGap
	for _, w := range tableWidths(rows) {
		sum += w + tableGap
	}
	return sum
}

// layTable lays the cells out: the first column at its left edge, numbers at their right.
func layTable(rows [][]string, widths []int) []string {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var b strings.Builder
		for i, text := range row {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", tableGap))
			}
			if i == 0 {
				b.WriteString(padRight(text, widths[i]))
			} else {
				b.WriteString(padLeft(text, widths[i]))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// transpose turns columns into rows. All have the same length.
func transpose(columns [][]string) [][]string {
	rows := make([][]string, len(columns[0]))
	for _, column := range columns {
		for i, text := range column {
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}
