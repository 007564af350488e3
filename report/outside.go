package report

import (
	"strings"

	"stormtest/load/record"
)

// progressOutside says how much came from clients that are not ours; how far they got they alone know.
func progressOutside(run *record.Run) string {
	var served int64
	for i := range run.Buckets {
		served += run.Buckets[i].Served - run.Buckets[i].Wasted
	}
	return plural(run.Books.Arrivals, "arrival") + " in " + span(run.Duration) + ", " + count(served) + " served"
}

// writeWorkOutside says what the target saw of clients that are not ours.
func writeWorkOutside(p *page, run *record.Run) {
	o := run.Outside
	var first, retries int64
	for i := range run.Buckets {
		first += run.Buckets[i].First
		retries += run.Buckets[i].Retries
	}
	supposed := ""
	if o.Unknown > 0 {
		supposed = count(o.Unknown) + " of them supposed to be, as nothing in them told (see the note)"
	}
	p.fact("Operations", none+" (only the clients know)")
	p.fact("Attempts", count(run.Books.Arrivals)+" arrived: "+count(first)+" first, "+count(retries)+" retries", supposed, "amplification "+none)
	answers := named(o.Answers)
	if o.Unanswered != 0 {
		answers = append(answers, count(o.Unanswered)+" unanswered at the end")
	}
	text := strings.Join(answers, ", ")
	if text == "" {
		text = none
	}
	p.fact("Answers", text, wasted(run))
	failure := none
	if o.Failure != nil {
		failure = "after " + length(float64(*o.Failure))
	}
	p.fact("First failure", failure)
}

// writeBooksOutside shows that every arrival got an answer or is accounted for.
func writeBooksOutside(p *page, run *record.Run) {
	var answers int64
	for _, n := range run.Outside.Answers {
		answers += n
	}
	sum := plural(run.Books.Arrivals, "arrival") + " = " + plural(answers, "answer")
	if n := run.Outside.Unanswered; n != 0 {
		sum += " + " + count(n) + " unanswered at the end"
	}
	writeBalance(p, &run.Books, sum)
	p.fact("Clients", "not ours", plural(run.Generator.Connections, "connection"),
		"latency, delays and lateness "+none)
}
