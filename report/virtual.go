package report

import (
	"slices"
	"strings"

	"stormtest/load/record"
)

// virtual says that a run was of virtual time: no sockets, no clock, nobody late.
func virtual(run *record.Run) bool { return run.Engine == record.EngineVirtual }

// A fact is a sentence under its head.
type fact struct{ head, text string }

// headFacts says what kind of run the figures are of.
func headFacts(r *record.Result, plan planFields) []fact {
	var list []fact
	real := slices.ContainsFunc(r.Runs, func(run record.Run) bool { return !virtual(&run) })
	if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return virtual(&run) }) {
		text := "clients, network and target are models under a queue of events: no socket was opened, and nobody is late."
		if real {
			text = "of the runs that say so: " + text
		}
		list = append(list, fact{"Virtual time", text})
		if network := networkModel(plan); network != "" {
			list = append(list, fact{"Network", network})
		}
	}
	if seedsOf(r) != nil {
		text := seedsText(r)
		if seedsEnded(r) > 0 {
			text += " Verdicts, charts and figures are of the first one, but for the answer and the table of all seeds."
		}
		list = append(list, fact{"Seeds", text})
	}
	return list
}

// writeHead says it before any verdict.
func writeHead(p *page, r *record.Result, plan planFields) {
	list := headFacts(r, plan)
	for _, f := range list {
		head := f.head
		if head == "Virtual time" {
			head = styled(markBold, head)
		}
		p.para(head, factIndent, f.text)
	}
	if list != nil {
		p.blank()
	}
}

// networkModel says what the plan has between the clients and the target; empty where there is nothing.
func networkModel(plan planFields) string {
	var parts []string
	if text := plan.text("latency"); text != "" && text != noLatency {
		mean, sd, spread := strings.Cut(text, "~")
		if spread {
			text = "|Normal(" + mean + "," + string(nbsp) + sd + ")|, drawn for each,"
		}
		parts = append(parts, "a message takes "+text+" one way")
	}
	if text := plan.text("loss"); text != "" && text != noLoss {
		parts = append(parts, text+" of the messages are lost, which a client learns by its timeout")
	}
	return strings.Join(parts, "; ")
}

// The words of a network that takes no time and loses nothing.
const (
	noLatency = "0s"
	noLoss    = "0%"
)

// writeClock says in place of the generator's health why there is none.
func writeClock(p *page, run *record.Run) {
	spread := ""
	if s := run.Generator.StartSpread; s != nil && *s > 0 {
		spread = "the network spread the first wave over " + lengthOr(s)
	}
	p.fact("Clock", "virtual: every attempt was sent at the moment it was due", spread)
}
