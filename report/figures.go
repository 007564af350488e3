package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"stormtest/load/record"
)

// writeRun writes the section of one strategy.
func writeRun(p *page, run *record.Run, plan planFields) {
	if p.narrow() {
		p.heading(runTitle(run))
		p.fact("Length", runLength(run))
	} else {
		p.heading(runHeading(run))
	}
	writeSeed(p, run)
	drawChart(p, run, plan)
	p.blank()
	if run.FromLog != nil {
		writeLogRun(p, run)
		return
	}
	writeDoings(p, run, plan)
	writeSheets(p, run)
	p.blank()
	if run.Outside == nil {
		writeDistributions(p, run)
		p.blank()
	}
	writeHealth(p, run)
	writeNotes(p, run)
}

// writeRunFacts writes what stands in the section of one strategy beside the picture and the tables.
func writeRunFacts(p *page, run *record.Run, plan planFields) {
	writeSeed(p, run)
	if run.FromLog != nil {
		writeLogRun(p, run)
		return
	}
	writeDoings(p, run, plan)
	writeHealth(p, run)
	writeNotes(p, run)
}

// runTitle is the whole name of a run.
func runTitle(run *record.Run) string { return cmp.Or(clean(run.Strategy), "unnamed") }

// runLength says how long the run was, and by which clock.
func runLength(run *record.Run) string {
	engine := map[string]string{"real": "real time", "virtual": "virtual time"}[run.Engine]
	return span(run.Duration) + " of " + cmp.Or(engine, clean(run.Engine), "unknown clock")
}

func runHeading(run *record.Run) string { return runTitle(run) + ", " + runLength(run) }

// writeSeed names the seed that the section is of, where several ran.
func writeSeed(p *page, run *record.Run) {
	if s := run.Repeats; s != nil {
		p.fact("Seed", plainUint(s.Seeds[0])+", the first of "+count(seedsAsked(s)))
	}
}

// writeDoings says what was asked, what it cost, and how it was spread in time.
func writeDoings(p *page, run *record.Run, plan planFields) {
	writePreset(p, run)
	if run.Outside != nil {
		writeWorkOutside(p, run)
	} else {
		writeWork(p, run)
	}
	writeHedging(p, run)
	writeDropped(p, run)
	writeEffects(p, run)
	writeBudget(p, run, plan)
	writeBreaker(p, run)
	writeInnerPolicies(p, run)
	writeSynchrony(p, run, plan)
	writeRecovery(p, run)
}

// writeHealth says how far the figures can be believed.
func writeHealth(p *page, run *record.Run) {
	if run.Outside != nil {
		writeBooksOutside(p, run)
		return
	}
	writeBooks(p, run)
	if virtual(run) {
		writeClock(p, run)
	} else {
		writeGenerator(p, run)
	}
}

func writeNotes(p *page, run *record.Run) {
	for _, note := range run.Notes {
		p.para("Note", factIndent, clean(note))
	}
}

// fact writes one line of figures. A head is repeated by no other line of the section.
func (p *page) fact(head string, parts ...string) {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	p.para(head, factIndent, strings.Join(parts, "; "))
}

// writeWork says what was asked of the clients and what it cost.
func writeWork(p *page, run *record.Run) {
	o, a := &run.Operations, &run.Attempts
	var gaveUp int64
	for _, n := range o.GaveUp {
		gaveUp += n
	}
	unstarted := ""
	if o.Unstarted != nil {
		unstarted = count(*o.Unstarted) + " not started, as no client was idle when they were due"
	}
	p.fact("Operations", count(o.Started)+" started: "+count(o.Succeeded)+" succeeded, "+count(gaveUp)+" gave up"+
		inBrackets(named(o.GaveUp))+", "+count(o.Unfinished)+" unfinished", unstarted)
	p.fact("All done", completion(run))
	hedges, unsent := "", ""
	if a.Hedges != 0 {
		hedges = ", " + count(a.Hedges) + " hedges"
	}
	if a.ShortCircuited != 0 {
		more, what := " more", "them"
		if run.Hedging != nil { // hedges that were due and not sent are told of with the hedges
			more = " first attempts and retries"
		}
		if a.ShortCircuited == 1 {
			what = "it"
			more = strings.Replace(more, "attempts and retries", "attempt or retry", 1)
		}
		unsent = count(a.ShortCircuited) + more + wasOrWere(a.ShortCircuited) + " due and not sent: the client's own breaker or throttle refused " + what
	}
	p.fact("Attempts", count(a.Sent)+" sent: "+count(a.First)+" first, "+count(a.Retries)+" retries"+hedges, unsent,
		"amplification "+number(run.Amplification)+" (attempts for each operation)")
	outcomes := named(a.ByOutcome)
	if a.InFlightAtEnd != 0 {
		outcomes = append(outcomes, count(a.InFlightAtEnd)+" in flight at the end")
	}
	p.fact("Outcomes", cmp.Or(strings.Join(outcomes, ", "), none), wasted(run))
	if h := &run.Hints; h.Seen != 0 || h.Obeyed != 0 || h.Invalid != 0 || h.Early != 0 {
		early := "0 early"
		if h.Early != 0 {
			early = styled(markRed, "BROKEN") + ": " + count(h.Early) + " retries were sent before it allowed them"
		}
		p.fact("Retry-After", count(h.Seen)+" seen, "+count(h.Obeyed)+" obeyed, "+count(h.Invalid)+" invalid", early)
	}
}

// budgetOutagesMost bounds the balances that are shown.
const budgetOutagesMost = 4

// writeBudget says what the retry budget allowed, and what was in it around the outages.
func writeBudget(p *page, run *record.Run, plan planFields) {
	b := run.Budget
	if b == nil {
		return
	}
	var balances []string
	for _, o := range plan.outages() {
		for _, at := range []time.Duration{o.from, o.to} {
			i := -1
			if run.Bucket > 0 {
				i = int(at/run.Bucket) - 1 // the last bucket that is over by then
			}
			if i >= 0 && i < len(b.Balance) && len(balances) < 2*budgetOutagesMost {
				balances = append(balances, count(b.Balance[i])+" at "+moment(at))
			}
		}
	}
	accounts := ""
	if b.Accounts != 1 {
		accounts = " of one client"
	}
	p.fact("Budget", budgetWords(b),
		"taken "+count(b.Taken)+" - returned "+count(b.Returned)+" - spent "+count(b.Spent)+" = "+count(b.Taken-b.Returned-b.Spent))
	writeThrottled(p, b)
	p.fact("Balance", cmp.Or(strings.Join(balances, ", "), count(b.BalanceLast)+" at the end"),
		"lowest"+accounts+" "+count(b.BalanceLowest)+", highest"+accounts+" "+count(b.BalanceHighest)+" retries")
	if finite(b.FloorPerSecond) {
		over := ""
		if finite(b.FloorOverCapacity) {
			over = " (" + times(b.FloorOverCapacity) + " capacity)"
		}
		p.fact("Budget floor", number(b.FloorPerSecond)+" retries/s whatever the ratio"+over)
	}
}

// budgetWords says what a budget is, and what it allowed.
func budgetWords(b *record.Budget) string {
	return clean(b.Kind) + inBrackets([]string{strings.ReplaceAll(clean(b.Parameters), ",", ", ")}) + ": " +
		count(b.Taken) + " retries allowed, " + count(b.Refused) + " refused"
}

func completion(run *record.Run) string {
	switch {
	case run.Completion != nil:
		return "after " + length(float64(*run.Completion))
	case run.Operations.Started == 0:
		return none
	default:
		return none + " (not every operation succeeded)"
	}
}

// wasted says how much finished work nobody waited for any more; the target alone knows.
func wasted(run *record.Run) string {
	if run.ArrivalsMeasuredAt == "client" {
		return ""
	}
	var served, lost int64
	for i := range run.Buckets {
		served += run.Buckets[i].Served
		lost += run.Buckets[i].Wasted
	}
	if served <= 0 {
		return ""
	}
	share := float64(lost) / float64(served)
	return "the target finished " + count(served) + ", " + percent(&share) + " of it for clients that had gone"
}

// writeSynchrony says how the retries were spread in time.
func writeSynchrony(p *page, run *record.Run, plan planFields) {
	c := &run.Convoy
	judgedPeak := ""
	if finite(c.WindowPeakOverCapacity) {
		judgedPeak = "retries" + judged(c) + " up to " + times(c.WindowPeakOverCapacity)
	}
	inBucket := overCapacity(c.PeakOverCapacity)
	if finite(c.PeakOverMean) {
		inBucket = append(inBucket, number(c.PeakOverMean)+"x the mean")
	}
	p.fact("Peak", count(c.PeakArrivals)+" in a bucket"+inBrackets(inBucket),
		count(c.PeakSlidingArrivals)+" in "+moment(run.Bucket)+" from any whole ms on"+inBrackets(overCapacity(slidingPeak(run))), judgedPeak)
	after := ""
	if finite(c.PostOutageIndex) {
		after = index(c.PostOutageIndex) + " after the last " + trigger(run)
	}
	over := " over " + plural(c.WindowArrivals, "retry") + judged(c)
	switch retries := retriesOf(run); {
	case retries == 0:
		over = " (no retries)"
	case !finite(c.ConvoyIndex):
		over = " (" + whyUnjudged(run, plan) + ")"
	}
	p.fact("Convoy index", styled(markBold, index(c.ConvoyIndex))+over, after)
	p.fact("Sync index", number(c.RSI)+" (retry_synchronisation_index)")
	p.fact("Spread", "dispersion "+number(c.Dispersion)+" (1 is Poisson)", "periodicity "+number(c.Periodicity))
	p.fact("Waves", waves(c), "half-life "+halfLife(c))
	d := &run.DelayShares
	if finite(d.AtCap) || finite(d.AtFloor) || finite(d.FirstMode) {
		p.fact("Delays", percent(d.AtCap)+" at the cap, "+percent(d.AtFloor)+" at the floor", "most common first delay "+percent(d.FirstMode))
	}
}

// slidingPeak is the ratio of the sliding peak to capacity; nil without one.
func slidingPeak(run *record.Run) *float64 {
	capacity := bucketCapacity(run)
	if capacity <= 0 {
		return nil
	}
	ratio := float64(run.Convoy.PeakSlidingArrivals) / capacity
	return &ratio
}

// overCapacity names a ratio to capacity where there is one.
func overCapacity(ratio *float64) []string {
	if !finite(ratio) {
		return nil
	}
	return []string{times(ratio) + " capacity"}
}

// waves names how many waves there were and the peaks of the first.
func waves(c *record.Convoy) string {
	const shown = 8
	if c.Waves == nil {
		return none
	}
	text := count(*c.Waves) + " above capacity"
	var peaks []string
	for _, n := range c.WavePeaks[:min(shown, len(c.WavePeaks))] {
		peaks = append(peaks, count(n))
	}
	if len(peaks) == 0 {
		return text
	}
	text += ", peaks " + strings.Join(peaks, ", ")
	if *c.Waves > int64(len(peaks)) {
		text += ", ..."
	}
	return text
}

// halfLife is how many waves it took to halve the peak.
func halfLife(c *record.Convoy) string {
	if !finite(c.HalfLifeWaves) {
		return none
	}
	return number(c.HalfLifeWaves) + " waves"
}

// trigger is what the target is to recover from.
func trigger(run *record.Run) string {
	word := "outage" // where there are no phases, as in a file from before they were kept
	for i := range run.Phases {
		if name, _, _ := strings.Cut(run.Phases[i].Name, " "); name == "outage" || name == "surge" {
			word = name
		}
	}
	return word
}

// writeRecovery says whether the target came back after the last outage or surge.
func writeRecovery(p *page, run *record.Run) {
	r := &run.Recovery
	if !finite(r.GoodputBefore) && r.RecoveredAt == nil {
		return
	}
	text := styled(markRed, "NOT") + " within the " + span(r.Watched) + " watched"
	switch {
	case r.RecoveredAt == nil && r.Watched < recoveryWatched:
		text = "not known: it was " + watchedWords(run)
	case r.RecoveredAt != nil:
		text = length(float64(*r.RecoveredAt)) + " after the last " + trigger(run)
	}
	p.fact("Recovered", text, "goodput "+number(r.GoodputBefore)+"/s before, "+number(r.GoodputLast)+"/s at the end", strings.TrimPrefix(lastMinuteWords(run), ", "))
}

// writeBooks shows that nothing was lost on the way, or what was.
func writeBooks(p *page, run *record.Run) {
	b := &run.Books
	sum := plural(b.AttemptsSent, "attempt") + " sent = " + plural(b.Arrivals, "arrival")
	if lost := named(b.Lost); len(lost) > 0 {
		var all int64
		for _, n := range b.Lost {
			all += n
		}
		sum += " + " + count(all) + " lost" + inBrackets(lost)
	}
	if virtual(run) {
		sum += " in virtual time"
	}
	writeBalance(p, b, sum)
}

// writeBalance says whether the books balance, or where they do not.
func writeBalance(p *page, b *record.Books, sum string) {
	if b.Balanced {
		p.fact("Books", sum, "balanced")
		return
	}
	p.fact("Books", styled(markRed, "DO NOT BALANCE")+": "+sum)
	for _, fault := range b.Faults {
		p.para("", factIndent, "* "+clean(fault))
	}
}

// writeGenerator says how far the measuring side can be believed.
func writeGenerator(p *page, run *record.Run) {
	g, late := &run.Generator, &run.Lateness
	kept := "kept up"
	if !g.KeptUp {
		kept = styled(markRed, "DID NOT KEEP UP")
	}
	rest := ""
	if g.LatenessRest.P99 != nil {
		rest = " (p99 " + lengthOr(g.LatenessRest.P99) + " after the first wave)"
	}
	spread := ""
	if g.StartSpread != nil {
		spread = "start spread " + lengthOr(g.StartSpread)
	}
	timer := ""
	if g.TimerSource != "" {
		timer = "timer " + clean(g.TimerSource)
	}
	connections := ""
	if g.Connections != 0 {
		connections = plural(g.Connections, "connection")
	}
	replayed := ""
	if g.Replayed != 0 {
		replayed = plural(g.Replayed, "request") + " replayed by transport"
	}
	p.fact("Generator", kept, spread, "lateness p50 "+lengthOr(late.P50)+", p99 "+lengthOr(late.P99)+rest, connections, replayed, timer)
}

// namedMost bounds a list of counters.
const namedMost = 20

// named lists counters as "12 timeout", the largest first, the rest as one.
func named(counters map[string]int64) []string {
	keys := slices.SortedFunc(maps.Keys(counters), func(a, b string) int {
		return cmp.Or(cmp.Compare(counters[b], counters[a]), cmp.Compare(a, b))
	})
	var list []string
	var others int64
	for _, key := range keys {
		switch {
		case counters[key] == 0:
		case len(list) < namedMost:
			list = append(list, count(counters[key])+string(nbsp)+cmp.Or(outcomeName(key), "unnamed"))
		default:
			others += counters[key]
		}
	}
	if others != 0 {
		list = append(list, count(others)+string(nbsp)+"others")
	}
	return list
}

// lossWords are the ways in which the network of virtual time loses an attempt.
var lossWords = map[string]string{"lost_request": "by the network", "on_the_way_at_end": "on the way at the end"}

// outcomeName makes a key of a counter readable: "max_retries" is "max retries", a status stays a number.
func outcomeName(key string) string {
	if words, known := lossWords[key]; known {
		return words
	}
	name := strings.ReplaceAll(clean(key), "_", " ")
	if len(name) == 3 && strings.Trim(name, "0123456789") == "" {
		return "×" + string(nbsp) + name
	}
	return name
}

func inBrackets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
