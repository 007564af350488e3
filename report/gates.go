package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stormtest/load/record"
	"stormtest/report/check"
)

// metricIndent is where the meaning of a metric begins, behind its name.
const metricIndent = 29

// Gates writes what a gate is and every metric that one may be on, in the order of check.Metrics and by their groups. The error
// is the writer's.
func Gates(w io.Writer, o Options) error {
	p := newPage(w, o)
	writeGrammar(p)
	var groups []string
	for _, m := range check.All() {
		if !slices.Contains(groups, m.Group) {
			groups = append(groups, m.Group)
		}
	}
	for _, group := range groups {
		p.heading(group)
		writeMetrics(p, group)
		writeFamilies(p, group)
	}
	return p.flush()
}

// writeGrammar says how a gate is written.
func writeGrammar(p *page) {
	p.para("A gate", factIndent, "is METRIC OP VALUE, such as convoy_index<0.1, with OP one of < <= > >= == and !=. It is of every strategy, or of one: full:convoy_index<0.1; so is one on a part of a mixed fleet, none:convoy_index<0.1, and on a service of a chain, db:amplification<4.")
	p.para("Units", factIndent, "stand behind the names below. A duration and a rate are written with theirs (completion<30s, goodput>=400/s); a share is 0..1, and percent is refused; a word takes == and != alone.")
	p.para("Seeds", factIndent, "With --repeat every seed must hold (@worst). A suffix says otherwise: @mean, of which every seed must have a value; @95%, at least so many of the seeds; @first, the run that is shown.")
	p.para("Result", factIndent, "All gates are judged. Exit code 3 says that one failed, 4 that the run is invalid, so that none of them means anything. A figure without a value fails every gate on it, and so does what was cut or did not run.")
	p.para("More", factIndent, "stormtest gates NAME says more of one metric.")
}

func writeMetrics(p *page, group string) {
	var histograms []string
	for _, m := range check.All() {
		switch {
		case m.Group != group:
		case m.Histogram == "":
			also := ""
			if m.Aliases != nil {
				also = "; also " + strings.Join(m.Aliases, ", ")
			}
			p.para(m.Name, metricIndent, m.Meaning+" ("+unitWord(m)+also+")")
		case !slices.Contains(histograms, m.Histogram):
			histograms = append(histograms, m.Histogram)
		}
	}
	for _, name := range histograms {
		most, _ := check.Lookup(name + "_max")
		p.para(name+"_*", metricIndent, strings.TrimPrefix(most.Meaning, "largest of ")+" ("+unitWord(most)+")")
	}
	if histograms != nil {
		p.blank()
		p.para("* is", metricIndent, "one of "+strings.Join(statisticsOf(histograms[0]), " ")+", as in "+histograms[0]+"_p99"+aliasesOf(histograms[0]))
	}
}

// aliasesOf says where the statistics of a histogram may stand alone.
func aliasesOf(histogram string) string {
	if m, _ := check.Lookup(histogram + "_p99"); m.Aliases != nil {
		return "; that of " + histogram + " may stand alone, as in " + m.Aliases[0]
	}
	return ""
}

// statisticsOf lists the statistics of a histogram.
func statisticsOf(histogram string) []string {
	var names []string
	for _, m := range check.All() {
		if m.Histogram == histogram {
			names = append(names, strings.TrimPrefix(m.Name, histogram+"_"))
		}
	}
	return names
}

func writeFamilies(p *page, group string) {
	for _, f := range record.Families() {
		if f.Group == group {
			p.para(f.Prefix+"*", metricIndent, f.Meaning+" (count), as in "+strings.Join(familyNames(f), " "))
		}
	}
}

// familyNames are the names of a family, with one for the statuses.
func familyNames(f record.Family) []string {
	names := f.Names()
	if f.Statuses {
		names = append([]string{f.Prefix + "503"}, names...)
	}
	return names
}

// unitWord names the unit of a metric, or its words.
func unitWord(m check.Metric) string {
	if m.Unit == check.Word {
		return strings.Join(m.Words, ", ")
	}
	return string(m.Unit)
}

// GateMetrics explains metrics, one after the other. The error is the writer's.
func GateMetrics(w io.Writer, metrics []check.Metric, o Options) error {
	p := newPage(w, o)
	for i, m := range metrics {
		if i > 0 {
			p.blank()
		}
		p.para("", 0, styled(markBold, m.Name)+": "+m.Meaning)
		p.blank()
		p.para("Value", factIndent, check.Form(m))
		if m.Aliases != nil {
			p.para("Also", factIndent, strings.Join(m.Aliases, ", "))
		}
		if m.Absent != "" {
			p.para("No data", factIndent, m.Absent+"; a gate on it fails then")
		}
		p.para("In serve", factIndent, inServe(m))
		for k, text := range gateExamples(m) {
			head := "Gates"
			if k > 0 {
				head = ""
			}
			p.para(head, factIndent, text)
		}
	}
	return p.flush()
}

// inServe says whether the figure is known of clients that are not ours.
func inServe(m check.Metric) string {
	switch {
	case m.OfProbe():
		return "no: the target is ours"
	case m.OnlyServe:
		return "yes, and only there"
	case m.AtTarget:
		return "yes: the target knows it without its clients"
	}
	return "no: only the clients know it"
}

// gateExamples are gates on a metric, and what each says.
func gateExamples(m check.Metric) []string {
	text := check.Example(m)
	list := []string{fmt.Sprintf("--gate '%s'", text)}
	if m.OnlyServe || m.OfProbe() { // of which there is one, whatever the strategies and seeds
		return list
	}
	list = append(list, fmt.Sprintf("--gate 'full:%s' of strategy full alone", text))
	if m.Unit != check.Word {
		list = append(list, fmt.Sprintf("--gate '%s @mean' on average of the seeds", text))
	}
	return append(list, fmt.Sprintf("--gate '%s @95%%' in 95 %% of the seeds or more", text))
}
