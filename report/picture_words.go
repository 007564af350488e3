package report

import (
	"cmp"
	"image/color"
	"slices"
	"strings"
	"time"

	"stormtest/load/record"
	"stormtest/report/picture"
)

// troubleText is what a trouble means and the first reason for it.
func troubleText(t trouble) string {
	text := t.text
	if len(t.why) > 0 {
		text += " " + upperFirst(t.why[0])
	}
	if n := len(t.why) - 1; n > 0 {
		text += " (and " + plural(int64(n), "more reason") + ")"
	}
	return text
}

// outside says that the clients were not ours.
func outside(r *record.Result) bool {
	for i := range r.Runs {
		if r.Runs[i].Outside != nil {
			return true
		}
	}
	return false
}

// headline says in a line what was done to whom.
func (s *sketch) headline() string {
	target := "a target"
	switch url := s.plan.text("url"); {
	case url != "" && url != "none":
		target = clip(url, 90)
	case s.plan.text("model") == modelOCC:
		target = "one row that all of them write"
	}
	for i := range s.runs {
		if c := s.runs[i].CapacityPerSecond; finite(c) && *c >= 0 {
			target += " that serves " + axisNumber(*c) + "/s"
			break
		}
	}
	switch clients := s.plan.text("clients"); {
	case len(s.runs) == 0:
		return "No strategy ran"
	case outside(s.result):
		return "Clients that are not ours against " + target
	case fromLog(s.result):
		return "Arrivals at " + target
	case s.plan.text("rate") != "" && s.plan.text("rate") != "off" && s.plan.text("rate") != "none":
		return "Retry storm: operations at " + s.plan.text("rate") + " against " + target
	case clients == "":
		return "Retry storm against " + target
	default:
		who := clients + " clients"
		if n, ok := digitsOf(clients); ok {
			who = plural(n, "client")
		}
		return "Retry storm: " + who + " against " + target
	}
}

// story is what came of it, in a sentence or three.
func (s *sketch) story() string {
	switch {
	case len(s.runs) == 0:
		return "There is nothing to show."
	case len(s.result.Runs) == 1:
		return strings.TrimSpace(choose(s.result).head + " " + upperFirst(verdictSentence(&s.runs[0], s.plan)))
	case fromLog(s.result) || outside(s.result):
		return ""
	}
	c := choose(s.result)
	sentences := []string{c.head, c.price, verdictGroups(s.runs)}
	if c.best == nil {
		sentences[1] = c.why
	}
	for _, flag := range []string{record.FlagMetastable, record.FlagPeriodic, record.FlagSharedSeed} {
		if names := strategiesOf(s.runs, func(run *record.Run) bool { return slices.Contains(run.Convoy.Flags, flag) }); names != "" {
			meaning, _ := flagMeaning(flag, &s.runs[0])
			sentences = append(sentences, flag+" with "+names+": "+meaning+".")
		}
	}
	lost := strategiesOf(s.runs, func(run *record.Run) bool {
		return notRecovered.most(run) && !slices.Contains(run.Convoy.Flags, record.FlagMetastable)
	})
	if lost != "" && !s.result.Interrupted {
		sentences = append(sentences, "The target has not recovered from the "+trigger(&s.runs[0])+" with "+lost+".")
	}
	return strings.Join(slices.DeleteFunc(sentences, func(t string) bool { return t == "" }), " ")
}

// verdictWords say in a picture what the verdicts mean; those before the last two end "Retries came back".
var verdictWords = []struct {
	verdict record.Verdict
	words   string
	retries bool
}{
	{record.VerdictConvoy, "together with", true},
	{record.VerdictClumped, "partly together with", true},
	{record.VerdictOverload, "spread out, but too many, with", true},
	{record.VerdictClear, "spread out with", true},
	{record.VerdictUnserved, "nobody was served with", false},
	{record.VerdictUnjudged, "not judged:", false},
}

// verdictGroups names the strategies of each verdict.
func verdictGroups(runs []record.Run) string {
	var parts []string
	for _, row := range verdictWords {
		names := strategiesOf(runs, func(run *record.Run) bool { return !idle(run) && commonVerdict(run) == row.verdict })
		switch {
		case names == "":
		case row.retries && len(parts) == 0:
			parts = append(parts, "retries came back "+row.words+" "+names)
		default:
			parts = append(parts, row.words+" "+names)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	if slices.ContainsFunc(runs, func(run record.Run) bool { return severalSeeds(&run) }) {
		return "In most seeds " + text
	}
	return upperFirst(text)
}

// strategiesOf names the runs that are of a kind; empty where none is.
func strategiesOf(runs []record.Run, kind func(*record.Run) bool) string {
	var names []string
	for i := range runs {
		if kind(&runs[i]) {
			names = append(names, quoted(&runs[i]))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return someOf(names)
}

// someOf lists names, or the first of many.
func someOf(names []string) string {
	const most = 6
	if len(names) > most {
		return strings.Join(names[:most-1], ", ") + " and " + count(int64(len(names)-most+1)) + " more"
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

// quoted is a run's name in a sentence: a strategy is called none.
func quoted(run *record.Run) string {
	return "“" + cmp.Or(clip(clean(run.Strategy), 24), "unnamed") + "”"
}

// pictureSpan is span in few characters: 30 s, 2h.
func pictureSpan(d time.Duration) string {
	if d < 10*time.Minute {
		return span(d)
	}
	return length(float64(d))
}

// inWords describes the picture to those who do not see it.
func (s *sketch) inWords() string {
	parts := []string{"Arrivals in every bucket of time, one panel a strategy, all with the same axes."}
	for _, t := range troubles(s.result, s.plan) {
		parts = append(parts, t.word+": "+troubleText(t))
	}
	for i := range s.runs {
		run := &s.runs[i]
		part := cmp.Or(clean(run.Strategy), "unnamed")
		for _, b := range newBadge(run) {
			part += " " + b.word
		}
		part += ": "
		for k, f := range pictureFigures(run) {
			if k > 0 {
				part += ", "
			}
			part += f.label + " " + f.value
		}
		parts = append(parts, part+"; "+count(run.Books.Arrivals)+" arrivals, at most "+count(run.Convoy.PeakArrivals)+" in a bucket.")
	}
	return strings.ReplaceAll(strings.Join(parts, " "), string(nbsp), " ")
}

// A figure stands in the head of a panel.
type figure struct {
	value, label, short string
	share               float64 // of the panel's width
}

// pictureFigures are the four that matter: together, how high, how much work, how long. Of clients that are not
// ours, or of a log, those that are known.
func pictureFigures(run *record.Run) []figure {
	peak := figure{times(run.Convoy.PeakOverCapacity), "peak / capacity", "peak/cap.", 0.25}
	if !finite(run.Convoy.PeakOverCapacity) {
		peak = figure{count(run.Convoy.PeakArrivals), "fullest bucket", "fullest bucket", 0.25}
	}
	arrivals := figure{count(run.Books.Arrivals), "arrivals", "arrivals", 0.29}
	convoy := figure{index(run.Convoy.ConvoyIndex), "convoy index", "convoy", 0.21}
	switch {
	case run.FromLog != nil:
		return []figure{arrivals, peak, {countOr(run.Convoy.Waves), "waves above capacity", "waves", 0.46}}
	case run.Outside != nil:
		var served int64
		for i := range run.Buckets {
			served += run.Buckets[i].Served - run.Buckets[i].Wasted
		}
		return []figure{convoy, peak, arrivals, {count(served), "served", "served", 0.25}}
	}
	done := figure{lengthOr(run.Completion), "all done after", "all done", 0.25}
	if o := &run.Operations; run.Completion == nil && o.Started > 0 {
		share := float64(o.Succeeded) / float64(o.Started)
		done.value, done.label = percent(&share), "done in "+pictureSpan(run.Duration)
		done.short = "done"
	}
	return []figure{convoy, peak, {number(run.Amplification), "attempts/operation", "attempts/op.", 0.29}, done}
}

// whyEmpty says why a plot has no bars.
func whyEmpty(run *record.Run) string {
	var lost int64
	for _, n := range run.Books.Lost {
		lost += n
	}
	switch {
	case run.FromLog == nil && run.Outside == nil && run.Operations.Started == 0:
		return "no arrivals: no operation was started"
	case lost > 0:
		return "no arrivals: all " + plural(lost, "attempt") + " lost (" + strings.Join(named(run.Books.Lost), ", ") + ")"
	default:
		return "no arrivals in " + span(run.Duration)
	}
}

// legend explains colours and lines, above the panels.
func (s *sketch) legend() {
	const swatch, gap = 12, 18
	x := float64(pictureMargin)
	s.y += 20
	item := func(c color.NRGBA, box picture.Box, text string) {
		width := swatch + 6 + s.Measure(legendFont, text)*1.12
		if x > pictureMargin && x+width > pictureMargin+inner {
			x, s.y = pictureMargin, s.y+18
		}
		s.Fill(picture.Box{X: x + box.X, Y: s.y - 10 + box.Y, W: box.W, H: box.H}, 0, c)
		s.Write(picture.Text{X: x + swatch + 6, Y: s.y, Font: legendFont, Color: ink, Text: text})
		x += width + gap
	}
	block, line, post := picture.Box{W: swatch, H: swatch}, picture.Box{Y: 5, W: swatch, H: 1}, picture.Box{X: 6, W: 1, H: swatch}
	if accepted, rejected := s.barWords(); s.anyArrival() {
		item(acceptColour, block, accepted)
		if rejected != "" {
			item(rejectColour, block, rejected)
		}
	}
	if s.wasteful {
		item(inTimeColour, picture.Box{Y: 5, W: swatch, H: 1.5}, "answered in time, mean of "+moment(s.time.window()))
	}
	if s.scale.line > 0 {
		item(ink, line, "capacity")
	}
	if words := s.outageWords(); words != "" {
		item(outageColour, block, words)
	}
	for i := range s.runs {
		if c := s.runs[i].Completion; c != nil && time.Duration(*c) <= s.time.end {
			item(doneColour, post, "every operation done")
			break
		}
	}
	s.y += 16
}

// anyArrival says that there is at least one bar.
func (s *sketch) anyArrival() bool {
	return slices.ContainsFunc(s.runs, func(run record.Run) bool { return newColumns(&run, &s.time).peak > 0 })
}

// outageWords name what the outages are, empty where there are none.
func (s *sketch) outageWords() string {
	var modes []string
	for _, o := range slices.Concat(s.outages...) {
		if !slices.Contains(modes, o.mode) {
			modes = append(modes, o.mode)
		}
	}
	if len(modes) == 0 {
		return ""
	}
	return "outage (" + strings.Join(modes[:min(3, len(modes))], ", ") + ")"
}

// barWords name the two parts of the bars.
func (s *sketch) barWords() (accepted, rejected string) {
	hang := false
	for _, o := range s.plan.outages() {
		hang = hang || strings.HasPrefix(o.mode, "hang")
	}
	switch {
	case fromLog(s.result):
		return "arrivals", ""
	case len(s.runs) > 0 && s.runs[0].ArrivalsMeasuredAt == "client":
		return "succeeded, or no answer", "answered with a failure"
	case s.plan.text("model") == modelOCC:
		return "written", "rejected: another was first"
	case len(s.runs) > 0 && len(s.runs[0].Layers) > 0:
		return "accepted", "rejected: over capacity, by an outage, or failed behind"
	case hang:
		return "accepted, or left hanging in the outage", "rejected"
	case len(s.plan.outages()) > 0:
		return "accepted", "rejected: over capacity, or by the outage"
	default:
		return "accepted", "rejected: over capacity"
	}
}

// howToRead explains the axes.
func (s *sketch) howToRead() string {
	var parts []string
	if s.scale.degree > 1 {
		low := "those that are far emptier"
		if s.scale.line > 0 {
			low = "the capacity"
		}
		parts = append(parts, "The height is the "+s.scale.words()+" of the arrivals, so that the fullest bucket and "+low+" can both be read.")
	}
	if s.time.merged > 1 {
		parts = append(parts, "A bar is the fullest of "+count(s.time.merged)+" buckets ("+moment(time.Duration(s.time.merged)*s.time.bucket)+"), so no peak is hidden.")
	}
	for i := range s.runs {
		if run := &s.runs[i]; run.Bucket != s.time.bucket && run.Bucket > 0 {
			parts = append(parts, "The buckets of "+quoted(run)+" are wider: "+moment(run.Bucket)+".")
		}
	}
	if s.time.cut() {
		var most int64
		for i := range s.runs {
			most = max(most, newColumns(&s.runs[i], &s.time).laterPeak)
		}
		text := "Nothing arrived from " + span(s.time.end) + " to the end at " + span(s.time.whole) + "."
		if most > 0 {
			text = "From " + span(s.time.end) + " to the end at " + span(s.time.whole) + " no bucket held more than " + count(most) + "; what arrived then is counted as “later”."
		}
		parts = append(parts, text)
	}
	if len(s.runs) > 0 && s.runs[0].ArrivalsMeasuredAt == "client" {
		parts = append(parts, "Arrivals are taken where the clients sent them, as the target is not ours.")
	}
	if words := s.convoyWords(); words != "" {
		parts = append(parts, words)
	}
	if s.scale.line == 0 {
		parts = append(parts, s.noLine())
	}
	if s.hidden > 0 {
		what := " more strategies are not drawn."
		if hasInner(s.result) {
			what = " more strategies, parts and services are not drawn."
		}
		parts = append(parts, count(int64(s.hidden))+what)
	}
	if seeds := seedsOf(s.result); seeds != nil {
		if n := seedsAsked(seeds); n > 1 {
			parts = append(parts, "Drawn is seed "+plainUint(seeds.Seeds[0])+", the first of "+count(n)+".")
		}
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// convoyWords say what the convoy index is of; empty where no run has one.
func (s *sketch) convoyWords() string {
	window := ""
	same, any := true, false
	for i := range s.runs {
		c := &s.runs[i].Convoy
		if !finite(c.ConvoyIndex) {
			continue
		}
		text := " of the retries from " + moment(c.WindowFrom) + " to " + moment(c.WindowTo) + ";"
		same = same && (!any || text == window)
		window, any = text, true
	}
	switch {
	case !any:
		return ""
	case !same:
		window = ""
	}
	return "Convoy index:" + window + " 0 is as if by chance, 1 all together."
}

// noLine says why no capacity is drawn.
func (s *sketch) noLine() string {
	for i := range s.runs {
		switch c := bucketCapacity(&s.runs[i]); {
		case c > 0:
			return "The capacity, " + axisNumber(c) + " in a bucket, is above the picture."
		case c == 0:
			return "There is no capacity line: the target serves nothing."
		}
	}
	if s.plan.text("model") == modelOCC {
		return "There is no capacity line: this target has no capacity."
	}
	return "There is no capacity line: nobody knows the capacity."
}

// origin says how the picture was made.
func (s *sketch) origin() string {
	r := s.result
	var parts []string
	for _, t := range troubles(r, s.plan) {
		parts = append(parts, t.word)
	}
	parts = append(parts, "stormtest "+cmp.Or(clip(clean(r.Tool.Version), 40), "of unknown version"))
	if words := s.engine(); words != "" {
		parts = append(parts, words)
	}
	if text := s.plan.text("clients"); text != "" && !outside(r) {
		parts = append(parts, "clients "+text)
	}
	if model := targetModel(r, s.plan); model != "" {
		parts = append(parts, model)
	}
	if !fromLog(r) {
		parts = append(parts, repeatFlags(r))
	}
	if !r.StartedAt.IsZero() {
		parts = append(parts, r.StartedAt.UTC().Format("2006-01-02\u00a015:04")+"\u00a0UTC")
	}
	if hash, _ := cutCells(clean(r.PlanHash), 12); hash != "" {
		parts = append(parts, "plan "+hash)
	}
	return strings.Join(parts, string(nbsp)+"· ")
}

// engine is what the clients were; empty where nobody knows.
func (s *sketch) engine() string {
	if len(s.runs) == 0 {
		return ""
	}
	switch engine := s.runs[0].Engine; {
	case engine == record.EngineVirtual:
		return "virtual time"
	case engine == record.EngineReal && s.plan.text("transport") == "memory":
		return "real time, without sockets"
	case engine == record.EngineReal:
		return "real time, over sockets"
	default:
		return clip(clean(engine), 20)
	}
}

// digitsOf reads a count as a plan writes it.
func digitsOf(text string) (int64, bool) {
	var n int64
	for _, c := range text {
		if c < '0' || c > '9' || n > 1e15 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, text != ""
}
