package compare

import (
	"fmt"
	"strings"

	"stormtest/load/record"
	"stormtest/report/literal"
)

// A Refusal says why results cannot be compared, or merged. Problems is never empty.
type Refusal struct{ Problems []string }

func (r *Refusal) Error() string { return strings.Join(r.Problems, "\n") }

// add adds a problem. What it quotes was written by others, and goes to a terminal.
func (r *Refusal) add(format string, args ...any) {
	r.Problems = append(r.Problems, literal.Text(fmt.Sprintf(format, args...)))
}

// refuseAlone refuses a result that nothing can be compared with.
func refuseAlone(in Input, faults *Refusal) {
	if len(in.Result.Runs) == 0 {
		faults.add("%s: no strategy ran, so there is nothing to compare", in.Name)
		return
	}
	seen := map[string]bool{}
	for i := range in.Result.Runs {
		name := in.Result.Runs[i].Strategy
		if seen[name] {
			faults.add("%s: strategy %s stands there twice", in.Name, name)
		}
		seen[name] = true
	}
	for i := range in.Result.Runs {
		if run := &in.Result.Runs[i]; cut(in.Result, run) {
			faults.add("%s: strategy %s was cut short after %s, so that no figure of it is that of its plan: run it to its end", in.Name, run.Strategy, record.Short(run.Duration))
		}
	}
}

// cut says that a signal may have ended the run that the figures are of. Of several seeds those that came to their end
// count. In real time strategies run one after another, so that only the last can be cut. Who judges clients that are not
// ours ends the run when they are done.
func cut(r *record.Result, run *record.Run) bool {
	if !r.Interrupted || run.Whole || run.Outside != nil || run.Repeats != nil && run.Repeats.Count > 0 {
		return false
	}
	return run.Engine == record.EngineVirtual || run == &r.Runs[len(r.Runs)-1]
}

// refusePair refuses two runs whose figures do not mean the same.
func refusePair(base, other string, m match2, faults *Refusal) {
	a, b := m.base, m.other
	in := func(format string, args ...any) {
		faults.add("%s and %s, %s: %s", base, other, both(a.Strategy, b.Strategy), fmt.Sprintf(format, args...))
	}
	if a.Bucket != b.Bucket {
		in("the buckets are %s and %s wide, and peak, waves and dispersion are of a bucket: run both with one --bucket", record.Short(a.Bucket), record.Short(b.Bucket))
	}
	if (a.FromLog != nil) != (b.FromLog != nil) {
		which := base
		if b.FromLog != nil {
			which = other
		}
		in("%s was made from a log, which holds arrivals and no figures: compare two logs or two results", which)
	}
	if a.ArrivalsMeasuredAt != b.ArrivalsMeasuredAt {
		in("arrivals were counted at the %s and at the %s, which are different moments", place(a), place(b))
	}
}

func place(run *record.Run) string {
	if run.ArrivalsMeasuredAt == "" {
		return "place that nobody named"
	}
	return run.ArrivalsMeasuredAt
}

func both(a, b string) string {
	if a == b {
		return "strategy " + a
	}
	return "strategies " + a + " and " + b
}

// list writes names as a list.
func list(names []string) string { return strings.Join(names, ", ") }
