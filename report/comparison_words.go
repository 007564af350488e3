package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
	"stormtest/report/compare"
)

// A tone is how a difference is meant: nothing else is told by a colour.
type tone int

const (
	toneNone tone = iota
	toneBetter
	toneWorse
	toneOther // beyond noise, and neither
)

// A comparedFigure is one row of a comparison, in words. All is clean.
type comparedFigure struct {
	*compare.Figure
	label       string // in words
	base, other string
	baseRange   string // the 5th to the 95th percentile of the seeds; empty for one run
	otherRange  string
	difference  string // relative where there is a base to be relative to
	known       string // what is known of it, in a few words
	tone        tone
}

// A comparedPair is a pair of strategies in words.
type comparedPair struct {
	*compare.Pair
	title   string
	verdict string // what became of the verdict; empty where it is the same
	main    []comparedFigure
	all     []comparedFigure // with those of main
}

// mainFigures are those that stand first, by their metric. The labels are those of the table of all seeds.
func mainFigures() []repeatedFigure {
	return append(slices.Clone(repeatedFigures), repeatedFigure{metric: "recovered_after", long: "recovered after"})
}

// comparedPairOf puts a pair into words.
func comparedPairOf(p *compare.Pair) comparedPair {
	out := comparedPair{Pair: p, title: pairTitle(p), verdict: verdictChange(p)}
	for i := range p.Figures {
		if f := &p.Figures[i]; f.Base.Value != nil || f.Other.Value != nil {
			out.all = append(out.all, comparedFigureOf(p, f))
		}
	}
	for _, m := range mainFigures() {
		for _, f := range out.all {
			if f.Metric == m.metric {
				f.label = m.long
				out.main = append(out.main, f)
			}
		}
	}
	return out
}

// pairTitle names the strategies of a pair.
func pairTitle(p *compare.Pair) string {
	base, other := cmp.Or(clean(p.BaseStrategy), "unnamed"), cmp.Or(clean(p.OtherStrategy), "unnamed")
	if base == other {
		return base
	}
	return other + " against " + base
}

// verdictChange says what became of the verdict, and between which moments each was judged where that is not the same;
// nothing where the change is noise.
func verdictChange(p *compare.Pair) string {
	base, other := judgementText(p.BaseVerdict), judgementText(p.OtherVerdict)
	if base == other || p.VerdictFinding == compare.Within {
		return ""
	}
	text := base + " -> " + other
	if windows := windowsText(p); windows != "" {
		text += ", " + windows
	}
	return text
}

// movedMark stands behind what is known of a figure whose window moved; movedText says so.
const movedMark = string(nbsp) + "*"

// movedText says what the mark means; empty where no figure has it.
func movedText(p *comparedPair) string {
	if !p.WindowsMoved() {
		return ""
	}
	return "* " + windowsText(p.Pair) + ", so that it is neither better nor worse"
}

// windowsText says between which moments each side is judged; empty where these are the same.
func windowsText(p *compare.Pair) string {
	if p.Windows() == "" {
		return ""
	}
	rounded := func(d time.Duration) string {
		if d > 10*time.Second { // where it ended with the run
			d = d.Round(100 * time.Millisecond)
		}
		return moment(d)
	}
	side := func(w compare.Window) string {
		if w.To <= w.From {
			return "nothing"
		}
		return rounded(w.From) + " to " + rounded(w.To)
	}
	return "judged from " + side(p.BaseWindow) + " against " + side(p.OtherWindow)
}

// flagText says what became of a flag, or that both sides have it. No flag is no news.
func flagText(f *compare.Flag) string {
	side := func(s compare.FlagSeeds) string {
		switch {
		case s.Seeds > 1 && s.Known == 0:
			return "not known in any of " + plural(s.Seeds, "seed")
		case s.Seeds > 1 && s.Known < s.Seeds:
			return "in " + count(s.Flagged) + " of " + plural(s.Seeds, "seed") + " (not known in " + count(s.Seeds-s.Known) + ")"
		case s.Seeds > 1:
			return "in " + count(s.Flagged) + " of " + plural(s.Seeds, "seed")
		case s.Known == 0:
			return "not known"
		case s.Flagged == 0:
			return "no"
		}
		return "yes"
	}
	base, other := side(f.Base), side(f.Other)
	if base == other {
		return f.Flag + " on both sides" + strings.TrimSuffix(", "+base+" each", ", yes each")
	}
	return f.Flag + " " + base + " -> " + other
}

// flagMore says that a flag is on one side more than noise would make it.
func flagMore(f *compare.Flag) bool {
	return f.Finding == compare.Beyond || f.Finding == compare.Certain
}

// flagTone is that of what is more than noise.
func flagTone(f *compare.Flag) tone {
	switch {
	case !flagMore(f):
		return toneNone
	case f.Effect == compare.Worse:
		return toneWorse
	case f.Effect == compare.Better:
		return toneBetter
	}
	return toneOther
}

// judgementText is a verdict or, of several seeds, how many had which.
func judgementText(j compare.Judgement) string {
	r := record.Repeats{Verdicts: j.Seeds}
	var parts []string
	for _, v := range verdictsByCount(&r) {
		parts = append(parts, string(v)+" in"+string(nbsp)+count(j.Seeds[v]))
	}
	switch {
	case len(parts) > 1:
		return strings.Join(parts, ", ")
	case len(parts) == 1:
		word, _, _ := strings.Cut(parts[0], " ")
		return word
	}
	return cmp.Or(clean(string(j.Verdict)), none)
}

func comparedFigureOf(p *compare.Pair, f *compare.Figure) comparedFigure {
	out := comparedFigure{Figure: f, label: f.Metric, difference: differenceText(f), known: knownText(f), tone: toneOf(f)}
	out.base, out.baseRange = valueText(f, f.Base)
	out.other, out.otherRange = valueText(f, f.Other)
	if p.Moved(f.Metric) {
		out.known += movedMark
	}
	return out
}

// valueText writes a figure of one side, and the range of its seeds.
func valueText(f *compare.Figure, v compare.Value) (text, seeds string) {
	if !finite(v.Value) {
		return none, ""
	}
	text = figureText(f.Metric, f.Unit, *v.Value)
	if finite(v.P5) && finite(v.P95) {
		seeds = figureText(f.Metric, f.Unit, *v.P5) + " to " + figureText(f.Metric, f.Unit, *v.P95)
	}
	if v.Count != v.Seeds {
		text += inSeeds + count(v.Count)
	}
	return text, seeds
}

// figureText writes a figure as the report of one result does.
func figureText(metric string, unit record.Unit, v float64) string {
	switch {
	case unit == record.UnitShare:
		return percent(&v)
	case unit == record.UnitDuration:
		return length(v)
	case unit == record.UnitRate:
		return number(&v) + "/s"
	case unit == record.UnitCount && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return count(int64(v))
	case strings.HasSuffix(metric, "peak_over_capacity"):
		return times(&v)
	case strings.HasSuffix(metric, "convoy_index"):
		return honest(v, 3, record.ThresholdPartial, record.ThresholdConvoy)
	}
	return number(&v)
}

// differenceText writes a difference: in percent of the base, of shares in points, and as it is where the base is 0.
func differenceText(f *compare.Figure) string {
	switch {
	case !finite(f.Difference):
		return none
	case *f.Difference == 0:
		return "0"
	case f.Unit == record.UnitShare:
		return signed(*f.Difference, percentSize(*f.Difference)+string(nbsp)+"points")
	case finite(f.Relative):
		return signed(*f.Relative, percentSize(*f.Relative)+string(nbsp)+"%")
	}
	return signed(*f.Difference, figureText(f.Metric, f.Unit, math.Abs(*f.Difference)))
}

func signed(v float64, size string) string {
	if v < 0 {
		return "-" + size
	}
	return "+" + size
}

// percentSize writes the size of a share with about two digits, and never as 0.
func percentSize(share float64) string {
	switch a := math.Abs(share) * 100; {
	case !isFinite(a):
		return none
	case a >= 9.95:
		return count(int64(math.Round(min(a, 1e15))))
	case a >= 0.995:
		return strconv.FormatFloat(a, 'f', 1, 64)
	case a < 0.01:
		return "<0.01"
	default:
		return strconv.FormatFloat(a, 'f', 2, 64)
	}
}

// knownText says what is known of a difference.
func knownText(f *compare.Figure) string {
	if f.CountBeyond() {
		how := "more"
		if f.Lacking() {
			how = "fewer"
		}
		return "in " + how + " seeds, " + compare.ChanceText(f.CountP)
	}
	switch f.Finding {
	case compare.Equal:
		return "same"
	case compare.Beyond:
		return beyondWord(f) + ", " + compare.ChanceText(f.P)
	case compare.Within:
		return "no, " + compare.ChanceText(f.P)
	case compare.Outside:
		return "outside" + string(nbsp) + plural(max(f.Base.Seeds, f.Other.Seeds), "seed")
	case compare.Inside:
		return "within" + string(nbsp) + plural(max(f.Base.Seeds, f.Other.Seeds), "seed")
	case compare.Certain:
		return beyondWord(f) + ", certain"
	case compare.NoValue:
		return "no value"
	}
	return "unknown"
}

// beyondWord is better, worse, or that there is a difference.
func beyondWord(f *compare.Figure) string {
	if f.Effect == compare.Neutral {
		return "differs"
	}
	return f.Effect
}

// toneOf is that of what is more than noise.
func toneOf(f *compare.Figure) tone {
	switch {
	case f.CountBeyond():
		return toneOther
	case f.Finding != compare.Beyond && f.Finding != compare.Certain:
		return toneNone
	case f.Effect == compare.Better:
		return toneBetter
	case f.Effect == compare.Worse:
		return toneWorse
	}
	return toneOther
}

// toneMarks are the colours of what words say already.
var toneMarks = map[tone]rune{toneBetter: markGreen, toneWorse: markRed, toneOther: markYellow}

// more says that a figure is more than noise.
func (f *comparedFigure) more() bool { return f.tone != toneNone }

// phrase is a figure and its difference.
func (f *comparedFigure) phrase() string {
	if f.CountBeyond() {
		seeds := func(v *compare.Value) string { return count(v.Count) + " of " + plural(v.Seeds, "seed") }
		return strings.ReplaceAll(f.label, " ", string(nbsp)) + " in " + seeds(&f.Other) + " (base " + seeds(&f.Base) + ")"
	}
	return strings.ReplaceAll(f.label, " ", string(nbsp)) + " " + f.difference
}

// The words of a whole pair.
const (
	pairSame    = "SAME"    // no figure differs
	pairNoise   = "NOISE"   // none is beyond noise
	pairBetter  = "BETTER"  // some are better beyond noise, and none worse
	pairWorse   = "WORSE"   // some are worse beyond noise, and none better
	pairMixed   = "MIXED"   // some of each
	pairDiffers = "DIFFERS" // some differ beyond noise, and none is better or worse
	pairUnknown = "UNKNOWN" // nobody knows what is noise
)

// pairMarks are the colours of the words, which never stand alone.
var pairMarks = map[string]rune{
	pairSame: markGreen, pairNoise: markGreen, pairBetter: markGreen, pairWorse: markRed, pairMixed: markYellow, pairDiffers: markYellow, pairUnknown: markYellow,
}

// word is what a pair comes to, in one.
func (p *comparedPair) word() string {
	differing := p.count(func(f *comparedFigure) bool { return f.Finding != compare.Equal && f.Finding != compare.NoValue })
	in := func(t tone) bool {
		return p.count(func(f *comparedFigure) bool { return f.tone == t }) > 0 ||
			slices.ContainsFunc(p.Flags, func(f compare.Flag) bool { return flagTone(&f) == t })
	}
	switch {
	case differing == 0 && len(p.all) > 0 && p.count(func(f *comparedFigure) bool { return f.Finding == compare.NoValue }) == 0:
		return pairSame
	case p.Grounds != compare.BySeeds && p.Grounds != compare.ByPlan:
		return pairUnknown
	case in(toneBetter) && in(toneWorse):
		return pairMixed
	case in(toneBetter):
		return pairBetter
	case in(toneWorse):
		return pairWorse
	case in(toneOther) || p.verdictMore():
		return pairDiffers
	}
	return pairNoise
}

// verdictMore says that the verdicts differ, and that this is more than noise.
func (p *comparedPair) verdictMore() bool {
	return p.VerdictFinding == compare.Beyond || p.VerdictFinding == compare.Certain
}

// A comparedSentence is one of what a pair comes to.
type comparedSentence struct {
	word string // stands out; may be empty
	text string
}

// summary says what a pair comes to, what is beyond noise first.
func (p *comparedPair) summary() []comparedSentence {
	var list []comparedSentence
	add := func(word, text string) { list = append(list, comparedSentence{word, text}) }
	compared := p.count(func(f *comparedFigure) bool { return f.Finding != compare.NoValue })
	switch {
	case len(p.all) == 0:
		add("", "no figures to compare")
	case p.differing() == 0:
		text := "all " + count(compared) + " figures are the same"
		if p.ArrivalsEqual {
			text += ", and so are the arrivals of every bucket"
		}
		add("no difference", text)
	case p.Grounds == compare.BySeeds || p.Grounds == compare.ByPlan:
		word, text := p.beyond(compared)
		add(word, text)
	case p.Grounds == compare.ByRange:
		add("one run against seeds", p.outside(compared))
	default:
		add("nobody knows what is noise", p.Grounds.Why())
	}
	if !p.verdictMore() && p.verdict != "" {
		add("verdict", p.verdict)
	}
	for i := range p.Flags {
		if f := &p.Flags[i]; !flagMore(f) {
			text := flagText(f)
			if f.Finding == compare.Within {
				text += ", which is no more than noise"
			}
			add("", text)
		}
	}
	if known := p.Grounds == compare.BySeeds || p.Grounds == compare.ByPlan || p.Grounds == compare.ByRange; !known && p.differing() > 0 {
		add("differs", andMore(p.phrases((*comparedFigure).differs), p.differing()))
	}
	if missing := p.missing(); missing != "" {
		add("", missing)
	}
	return list
}

// differs says that a figure is not the same on both sides, whatever is known of that.
func (f *comparedFigure) differs() bool {
	return finite(f.Difference) && *f.Difference != 0 || f.more()
}

func (p *comparedPair) differing() int64 { return p.count((*comparedFigure).differs) }

// beyond is the sentence of what is more than noise: flags and verdict first, then what is better, worse, or neither.
func (p *comparedPair) beyond(compared int64) (word, text string) {
	var parts []string
	for i := range p.Flags {
		if f := &p.Flags[i]; flagMore(f) {
			parts = append(parts, toned(flagTone(f), flagText(f)))
		}
	}
	if p.verdictMore() && p.verdict != "" {
		parts = append(parts, "verdict "+p.verdict)
	}
	better, worse := p.in(toneBetter), p.in(toneWorse)
	for _, group := range []struct {
		tone tone
		word string
		n    int64
	}{{toneBetter, "better", better}, {toneWorse, "worse", worse}} {
		if group.n == 0 {
			continue
		}
		text := andMore(p.phrases(func(f *comparedFigure) bool { return f.tone == group.tone }), group.n)
		if len(parts) > 0 || better > 0 && worse > 0 { // else the word of the pair has said it
			text = styled(toneMarks[group.tone], group.word) + ": " + text
		}
		parts = append(parts, text)
	}
	if n := p.in(toneOther); n > 0 {
		phrases := p.phrases(func(f *comparedFigure) bool { return f.tone == toneOther })
		switch {
		case len(phrases) > 0:
			parts = append(parts, "neither better nor worse: "+andMore(phrases, n))
		case len(parts) > 0:
			parts = append(parts, plural(n, "figure")+" more, neither better nor worse")
		default:
			parts = append(parts, plural(n, "figure")+", neither better nor worse")
		}
	}
	switch {
	case parts == nil && p.Grounds == compare.ByPlan:
		return "no difference", "the seeds have the same figures"
	case parts == nil:
		return "nothing beyond noise, " + p.seedsWords(), "the " + plural(compared, "figure") + " differ no more than the seeds of one plan do"
	case p.Grounds == compare.ByPlan:
		return "certain, as nothing is left to chance", strings.Join(parts, "; ")
	}
	return "beyond noise, " + p.seedsWords(), strings.Join(parts, "; ")
}

// in counts the figures of a tone.
func (p *comparedPair) in(t tone) int64 {
	return p.count(func(f *comparedFigure) bool { return f.tone == t })
}

// seedsWords says of how many seeds each side of the pair is.
func (p *comparedPair) seedsWords() string {
	base, other := p.all[0].Base.Seeds, p.all[0].Other.Seeds
	if base == other {
		return plural(base, "seed") + " each"
	}
	return count(base) + " against " + plural(other, "seed")
}

// outside is the sentence of one run that is held against the seeds of the other side.
func (p *comparedPair) outside(compared int64) string {
	isOutside := func(f *comparedFigure) bool { return f.Finding == compare.Outside }
	text := "it lies outside their range in " + count(p.count(isOutside)) + " of " + plural(compared, "figure")
	if phrases := p.phrases(isOutside); len(phrases) > 0 {
		text += ": " + strings.Join(phrases, ", ")
	}
	return text + ". By chance alone, 2 in " + plural(p.seedsMost()+1, "figure") + " do; run both with --repeat to know"
}

// andMore lists phrases, and how many of all figures they leave out.
func andMore(phrases []string, all int64) string {
	rest := all - int64(len(phrases))
	switch {
	case len(phrases) == 0:
		return plural(rest, "figure")
	case rest > 0:
		return strings.Join(phrases, ", ") + ", and " + plural(rest, "figure") + " more"
	}
	return strings.Join(phrases, ", ")
}

// phrases are those of the main figures that hold.
func (p *comparedPair) phrases(holds func(*comparedFigure) bool) []string {
	var list []string
	for i := range p.main {
		if holds(&p.main[i]) {
			list = append(list, p.main[i].phrase())
		}
	}
	return list
}

// missing names the main figures that one side alone has.
func (p *comparedPair) missing() string {
	var base, other []string
	for _, f := range p.main {
		switch {
		case f.CountBeyond(): // told already
		case f.Base.Value == nil:
			other = append(other, f.label)
		case f.Other.Value == nil:
			base = append(base, f.label)
		}
	}
	var parts []string
	if base != nil {
		parts = append(parts, "the base alone has a value for "+strings.Join(base, ", "))
	}
	if other != nil {
		parts = append(parts, "the new alone has a value for "+strings.Join(other, ", "))
	}
	return strings.Join(parts, "; ")
}

// sentences is what a pair comes to as text, each sentence with its word in bold.
func (p *comparedPair) sentences() []string {
	var list []string
	for _, s := range p.summary() {
		text := s.text + "."
		if s.word != "" {
			text = styled(markBold, s.word) + ": " + text
		} else {
			text = upperFirst(text)
		}
		list = append(list, text)
	}
	return list
}

func (p *comparedPair) count(holds func(*comparedFigure) bool) int64 {
	var n int64
	for i := range p.all {
		if holds(&p.all[i]) {
			n++
		}
	}
	return n
}

func (p *comparedPair) seedsMost() int64 {
	var most int64
	for i := range p.all {
		most = max(most, p.all[i].Base.Seeds, p.all[i].Other.Seeds)
	}
	return most
}

// sideText says where the figures of a side come from.
func sideText(s *compare.Side, inside bool) string {
	parts := []string{clean(s.Name)}
	if inside {
		parts[0] = "strategy " + parts[0]
	}
	if label := readPlan(&record.Result{Plan: s.Plan}).label(); label != "" && !inside {
		parts = append(parts, label)
	}
	engine := map[string]string{record.EngineReal: "real time", record.EngineVirtual: "virtual time"}[s.Engine]
	parts = append(parts, cmp.Or(engine, clean(s.Engine), "unknown clock"))
	switch {
	case len(s.Each) > 1:
		parts = append(parts, plural(s.Seeds, "seed")+" between"+string(nbsp)+plainUint(s.Each[0])+" and"+string(nbsp)+plainUint(s.Each[len(s.Each)-1]))
	case s.Seeds > 1:
		parts = append(parts, plural(s.Seeds, "seed")+" from"+string(nbsp)+plainUint(s.Seed))
	default:
		parts = append(parts, "seed"+string(nbsp)+plainUint(s.Seed))
	}
	parts = append(parts, "stormtest "+cmp.Or(clean(s.Version), "of unknown version"))
	if !s.StartedAt.IsZero() {
		parts = append(parts, s.StartedAt.UTC().Format("2006-01-02 15:04:05")+" UTC")
	}
	return strings.Join(parts, ", ")
}

// insideOne says that the strategies of one result are compared with each other.
func insideOne(c *compare.Comparison) bool { return c.Inside != "" }

// comparedTroubles are what makes the figures worthless, the base first.
func comparedTroubles(c *compare.Comparison) []trouble {
	var list []trouble
	var told []string
	add := func(s *compare.Side) {
		name := s.Name
		if insideOne(c) {
			name = c.Inside
		}
		if s.Valid || s.FromLog || slices.Contains(told, name) {
			return
		}
		told = append(told, name)
		t := trouble{mark: markRed, word: "INVALID", text: clean(name) + ": the generator was the bottleneck, so that its figures say what that machine could do. What differs may be the machine."}
		for _, reason := range s.InvalidReasons {
			t.why = append(t.why, clean(reason))
		}
		list = append(list, t)
	}
	add(&c.Base)
	for i := range c.Others {
		add(&c.Others[i].Side)
	}
	return list
}

// outagesOfTwo are the outages of base and other, of a service behind the first its own, those that both have once; a name
// says whose the others are.
func outagesOfTwo(base, other *compare.Side, service *string) []outage {
	read := func(s *compare.Side) []outage {
		plan := readPlan(&record.Result{Plan: s.Plan})
		if service != nil {
			return plan.layerOutages(clean(*service))
		}
		return plan.outages()
	}
	list, more := read(base), read(other)
	for i := range list {
		if !slices.Contains(more, list[i]) {
			list[i].mode += ", base"
		}
	}
	for _, o := range more {
		if !slices.Contains(list, o) {
			o.mode += ", new"
			list = append(list, o)
		}
	}
	return list
}

// changeSides writes both sides of a change.
func changeSides(c *compare.Change) (base, other string) {
	side := func(text string, isDefault bool) string {
		text = cmp.Or(clean(text), "nothing")
		if isDefault {
			text += " (default)"
		}
		return text
	}
	return side(c.Base, c.BaseDefault), side(c.Other, c.OtherDefault)
}

func changeText(c *compare.Change) string {
	base, other := changeSides(c)
	return base + " -> " + other
}

// sameText says that the plans are one, and whether the seeds are; empty where they are not.
func sameText(base *compare.Side, o *compare.Other) string {
	switch {
	case o.Same && base.SameSeeds(&o.Side):
		return "nothing that was asked, the seeds included"
	case o.Same:
		return "nothing that was asked but the seeds"
	}
	return ""
}

// changeTexts says what was asked differently, and what else is not the same.
func changeTexts(base *compare.Side, o *compare.Other) []string {
	var list []string
	for i := range o.PlanChanges {
		list = append(list, "--"+clean(o.PlanChanges[i].Name)+" "+changeText(&o.PlanChanges[i]))
	}
	if text := sameText(base, o); text != "" {
		list = append(list, text)
	}
	for i := range o.OtherChanges {
		list = append(list, clean(o.OtherChanges[i].Name)+" "+changeText(&o.OtherChanges[i]))
	}
	return list
}

// unmatchedText names the strategies that one side alone has; empty where there are none.
func unmatchedText(o *compare.Other) string {
	var parts []string
	names := func(list []string) string {
		out := make([]string, len(list))
		for i, name := range list {
			out[i] = clean(name)
		}
		return strings.Join(out, ", ")
	}
	if len(o.OnlyBase) > 0 {
		parts = append(parts, names(o.OnlyBase)+" in the base alone")
	}
	if len(o.OnlyOther) > 0 {
		parts = append(parts, names(o.OnlyOther)+" in "+clean(o.Name)+" alone")
	}
	return strings.Join(parts, ", ")
}

// methodText says how noise is told; empty where no seeds were asked.
func methodText(c *compare.Comparison) string {
	for i := range c.Others {
		for k := range c.Others[i].Pairs {
			if c.Others[i].Pairs[k].Grounds == compare.BySeeds {
				return "a figure is beyond noise where shuffling which seed belongs to which side almost never sets any figure as far apart (a permutation test of all figures together). " +
					"Of the comparisons of a plan with itself, at most " + percentText(c.FalsePositiveShare) + " show anything at all."
			}
		}
	}
	return ""
}

func percentText(share float64) string { return percent(&share) }
