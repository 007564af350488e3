package report

import (
	"strings"

	"stormtest/load/record"
)

// What a whole policy did beside sending and retrying. Each is told only of a run that has it.

// writePreset says whose policy the run follows, and what is known to go wrong with it.
func writePreset(p *page, run *record.Run) {
	preset := run.Preset
	if preset == nil {
		return
	}
	text := clean(preset.Name)
	if source := clean(preset.Source); source != "" {
		text += ": " + source
	}
	if version := clean(preset.Version); version != "" {
		text += ", version " + version
	}
	hazards := "no hazards are noted"
	if n := len(preset.Hazards); n > 0 {
		hazards = "known to go wrong with it:"
	}
	p.fact("Preset", text, hazards)
	for _, hazard := range preset.Hazards {
		p.para("", factIndent, bullet+clean(hazard))
	}
}

// writeBreaker says how often the circuit was opened, and what that kept from the target.
func writeBreaker(p *page, run *record.Run) {
	b := run.Breaker
	if b == nil {
		return
	}
	kind := clean(b.Kind) + inBrackets(appendNonEmpty(nil, strings.ReplaceAll(clean(b.Parameters), ",", ", ")))
	share, end := "", ""
	if finite(b.OpenShare) {
		share = "open " + percent(b.OpenShare) + " of the time"
	}
	if b.OpenAtEnd != 0 {
		end = count(b.OpenAtEnd) + " not closed at the end"
	}
	again := "reopened " + timesDone(b.Reopened)
	if b.Reopened > 0 {
		again = styled(markYellow, again)
	}
	unsent := plural(b.ShortCircuited, "attempt") + wasOrWere(b.ShortCircuited) + " not sent" + copiesRefused(run)
	p.fact("Breaker", plural(b.Breakers, "breaker")+" of "+kind+": opened "+timesDone(b.Opened)+", "+again+" after a probe, closed "+timesDone(b.Closed),
		unsent+", "+count(b.Probes)+wasOrWere(b.Probes)+" let through as probes", share, end)
}

// copiesRefused says how many of the attempts that the breaker refused were copies: among what the line of the attempts
// says was not sent they are not, as that of the hedges has them.
func copiesRefused(run *record.Run) string {
	copies := run.Breaker.ShortCircuited - run.Attempts.ShortCircuited
	if run.Budget != nil {
		copies += run.Budget.RefusedFirst
	}
	if run.Hedging == nil || copies <= 0 {
		return ""
	}
	return ", " + count(copies) + " of them hedges"
}

// writeHedging says what became of the copies.
func writeHedging(p *page, run *record.Run) {
	h := run.Hedging
	if h == nil {
		return
	}
	withheld := ""
	if h.Withheld != 0 {
		withheld = count(h.Withheld) + wasOrWere(h.Withheld) + " due and not sent"
	}
	p.fact("Hedges", count(h.Sent)+" sent, of which "+count(h.Won)+" brought the answer", count(h.Cancelled)+" attempts were cancelled as another one had it", withheld)
}

// writeEffects says what was done twice.
func writeEffects(p *page, run *record.Run) {
	e := run.Effects
	if e == nil {
		return
	}
	twice := "none of them more than once"
	if e.Done == 1 {
		twice = "not more than once"
	}
	if e.Duplicated != 0 {
		share := float64(e.Duplicated) / float64(max(1, e.Done))
		twice = styled(markYellow, plural(e.Duplicated, "operation")+" done more than once") + " (" + percent(&share) + "), " + timesDone(e.Extra) + " too often in all"
	}
	p.fact("Effects", "the work of "+plural(e.Done, "operation")+" was done", twice)
}

// writeDropped says what the target threw out of its queue.
func writeDropped(p *page, run *record.Run) {
	d := run.Dropped
	if d == nil {
		return
	}
	p.fact("Dropped", count(d.Expired+d.Shed)+" thrown out of the queue unserved: "+count(d.Expired)+" whose deadline had passed, "+count(d.Shed)+" that had waited too long")
}

// writeThrottled says what a throttle did to attempts before they left.
func writeThrottled(p *page, b *record.Budget) {
	if b.RefusedFirst == 0 && b.Delayed == 0 {
		return
	}
	delayed := ""
	if b.Delayed != 0 {
		delayed = count(b.Delayed) + " attempts had to wait, " + length(float64(b.DelayTotal)) + " in all (" + length(float64(b.DelayTotal)/float64(b.Delayed)) + " each)"
	}
	p.fact("Throttle", count(b.RefusedFirst)+" first attempts were not let out", delayed)
}

// timesDone writes how often something happened.
func timesDone(n int64) string {
	if n == 1 {
		return "once"
	}
	return count(n) + " times"
}

// wasOrWere is the verb, after a space, of n things.
func wasOrWere(n int64) string {
	if n == 1 {
		return " was"
	}
	return " were"
}

// appendNonEmpty appends a text that is one.
func appendNonEmpty(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}
