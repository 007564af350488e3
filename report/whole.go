package report

import (
	"cmp"
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
	if run.Breaker != nil {
		p.fact("Breaker", breakerWords(run)...)
	}
}

// breakerWords are what there is to say of a run's breakers.
func breakerWords(run *record.Run) []string {
	b := run.Breaker
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
	return []string{
		plural(b.Breakers, "breaker") + " of " + kind + ": opened " + timesDone(b.Opened) + ", " + again + " after a probe, closed " + timesDone(b.Closed),
		unsent + ", " + count(b.Probes) + wasOrWere(b.Probes) + " let through as probes", share, end,
	}
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

// writeInnerPolicies says what the budgets and breakers did of which the run itself has none: those of the parts of a mixed
// fleet, and of the services that call the next one of a chain.
func writeInnerPolicies(p *page, run *record.Run) {
	write := func(name string, inner *record.Run) {
		if inner == nil {
			return
		}
		if inner.Budget != nil {
			p.fact("Budget of "+name, budgetWords(inner.Budget))
		}
		if inner.Breaker != nil {
			p.fact("Breaker of "+name, breakerWords(inner)...)
		}
	}
	for i := range run.Parts {
		write(clip(cmp.Or(clean(run.Parts[i].Name), "unnamed"), labelMost), run.Parts[i].Run)
	}
	for i := range run.Layers { // whose run is of the calls to it
		write("calls to "+clip(layerName(&run.Layers[i]), labelMost), run.Layers[i].Run)
	}
}

// reopenedSentence says that probes found the target still down, which is what a breaker is to spare it; empty where none
// did.
func reopenedSentence(run *record.Run) string {
	n := meanOr0(run, "breaker_reopened")
	for i := range run.Parts {
		if part := run.Parts[i].Run; part != nil {
			n += meanOr0(part, "breaker_reopened")
		}
	}
	for i := range run.Layers {
		if layer := run.Layers[i].Run; layer != nil {
			n += meanOr0(layer, "breaker_reopened")
		}
	}
	if n <= 0 {
		return ""
	}
	often := number(&n) + " times" // a mean
	if n == float64(int64(n)) {
		often = timesDone(int64(n))
	}
	return "breakers opened again " + often + onAverage(run) + ", as probes came and failed"
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
