package report

import (
	"stormtest/load/record"
)

// readingSection explains the words of the page to somebody who has never seen one.
func readingSection() htmlSection {
	convoy, partial := trimFloat(record.ThresholdConvoy), trimFloat(record.ThresholdPartial)
	table := &htmlTable{Role: "reading", Caption: "The verdicts", Head: textRow("verdict", "means", "is said when")}
	table.Head[1].Class, table.Head[2].Class = "text", "text"
	for _, row := range []struct {
		verdict     record.Verdict
		means, when string
	}{
		{record.VerdictConvoy, "the clients came back together, and the target refused work because of it", "convoy index ≥ " + convoy + ", retries above capacity"},
		{record.VerdictClumped, "they bunch, but without harm, or only in part", "convoy index ≥ " + partial + ", and not CONVOY"},
		{record.VerdictOverload, "too many retries for the target, but not together", "convoy index < " + partial + ", retries above capacity"},
		{record.VerdictClear, "neither", "otherwise"},
		{record.VerdictUnjudged, "nothing harmful was seen, and there is no convoy index", "too few retries in the judged window, or too short a window"},
		{record.VerdictUnserved, "neither together nor too many, and not one operation succeeded", "CLEAR, and nobody was served"},
	} {
		class := map[rune]string{markRed: "bad", markYellow: "warn", markGreen: "good"}[verdictColours[row.verdict]]
		table.Rows = append(table.Rows, htmlRow{Cells: []htmlCell{
			{Text: htmlText(row.verdict), Chip: class}, {Text: htmlText(row.means), Class: "long"}, {Text: htmlText(row.when), Class: "long"},
		}})
	}
	fact := func(head, text string) htmlFact { return htmlFact{Head: htmlText(head), Text: htmlText(text)} }
	words := []htmlFact{
		fact("The question", "Many clients fail at the same moment and all of them try again. Does what they do bring the service down, or does it come back?"),
		fact("Arrivals", "Every request that reached the target, counted in intervals of equal width, the buckets. The horizontal line is what the target can serve in one bucket: what rises above it is refused."),
		fact("Strategy", "The formula by which a client waits before it tries again. Jitter, a random part of the wait, is what keeps clients apart."),
		fact("Convoy index", "Of the pairs of retries that are near each other in time, the excess share that is very near: 0 is random (Poisson), 1 is perfect clumps, whatever the size of the fleet. It is judged from 10 to 100 times the base delay after the common failure, as before that every strategy is bunched."),
		fact("retry_synchronisation_index", "One minus the variance of arrivals inside a bucket over that of an even spread. It stands beside the verdict and never makes it: it cannot see bursts that fill a bucket."),
		fact("Wave", "A run of buckets above capacity without a gap. Waves that halve are dying out; waves that keep their height are a convoy."),
		fact("Amplification", "Requests sent for each operation that somebody wanted done: 1 is no retry at all."),
		fact("Goodput", "Answers that somebody waited for. A target that finishes requests whose clients have gone is busy, and does nothing."),
		fact("Delays against theory", "Whether the clients waited as their formula says. A gap means that something else was measured than what the name of the strategy says."),
		fact("Percentile", "The p99 is the length that 99 of 100 did not exceed."),
		fact("Books", "Requests sent = requests that arrived + requests lost on the way. If they do not balance, some figure is wrong, and the page says so on top."),
		fact("Generator", "The program that plays the clients. Where it could not send in time the run says INVALID, as then its figures are those of this machine."),
		fact("Flags", "PERIODIC: "+flagMeanings[record.FlagPeriodic]+". SHARED-SEED: "+flagMeanings[record.FlagSharedSeed]+". METASTABLE: "+flagMeanings[record.FlagMetastable]+"."),
	}
	return htmlSection{ID: "reading", Title: "How to read this", Short: "How to read this", Blocks: []htmlBlock{{Table: table}, {Facts: words}}}
}
