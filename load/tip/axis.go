package tip

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stormtest/load/plan"
	"stormtest/load/retry/budget"
	"stormtest/target/station"
)

// An Axis is the number of a plan that is varied. Its values are whole numbers of a unit so small that every text has
// one, which makes the steps of a search exact.
type Axis struct {
	Name string
	// Meaning says in a few words what is varied.
	Meaning string
	field   string // of the plan, whose texts the values are
	read    func(p *plan.Plan) int64
	set     func(p *plan.Plan, v int64)
}

// perUnit is a rate's unit in parts of 1/s.
const perUnit = 1_000_000

// axes are all, in the order of the help.
var axes = []Axis{
	{Name: "outage", Meaning: "length of the outage", field: "ramp",
		read: func(p *plan.Plan) int64 { return int64(p.Ramp) }, set: setOutage},
	{Name: "rate", Meaning: "operations started per second", field: "rate",
		read: func(p *plan.Plan) int64 { return units(p.RatePerSecond) },
		set:  func(p *plan.Plan, v int64) { p.RatePerSecond = float64(v) / perUnit }},
	{Name: "capacity", Meaning: "what the target can serve", field: "capacity",
		read: func(p *plan.Plan) int64 { return units(p.CapacityPerSecond) },
		set:  func(p *plan.Plan, v int64) { p.CapacityPerSecond = float64(v) / perUnit }},
	{Name: "clients", Meaning: "clients, which share the same rate", field: "clients",
		read: func(p *plan.Plan) int64 { return int64(p.Clients) }, set: func(p *plan.Plan, v int64) { p.Clients = int(v) }},
	{Name: "budget", Meaning: "the ratio, or else the size, of the retry budget", field: "budget"},
}

func units(perSecond float64) int64 { return int64(math.Round(perSecond * perUnit)) }

// setOutage gives the plan's only outage a length, from where it begins.
func setOutage(p *plan.Plan, v int64) {
	o := p.Outages[0]
	o.To = o.From + time.Duration(v)
	p.Outages = []station.Outage{o}
}

// Axes are the names of all axes.
func Axes() []string {
	names := make([]string, len(axes))
	for i, a := range axes {
		names[i] = a.Name
	}
	return names
}

// AxisOf returns the axis of a name for the plan. Of a budget that is one of its numbers, and the plan must have one.
func AxisOf(name string, p *plan.Plan) (Axis, error) {
	i := slices.IndexFunc(axes, func(a Axis) bool { return a.Name == name })
	if i < 0 {
		return Axis{}, fmt.Errorf("%q: want one of %s", name, strings.Join(Axes(), ", "))
	}
	a := axes[i]
	if a.field != "budget" {
		return a, nil
	}
	switch p.Budget.Kind {
	case budget.Finagle, budget.Envoy:
		a.Meaning = "ratio of the " + p.Budget.Kind.String() + " budget"
		a.read = func(p *plan.Plan) int64 { return int64(math.Round(p.Budget.Ratio * budget.RatioParts)) }
		a.set = func(p *plan.Plan, v int64) { p.Budget.Ratio = float64(v) / budget.RatioParts }
	case budget.AWS, budget.AWSLegacy, budget.GRPC:
		a.Meaning = "size of the " + p.Budget.Kind.String() + " budget"
		a.read = func(p *plan.Plan) int64 { return int64(p.Budget.Size) }
		a.set = func(p *plan.Plan, v int64) { p.Budget.Size = int(v) }
	default:
		return Axis{}, fmt.Errorf("%q: want a plan whose --budget has a ratio or a size, such as finagle:ratio=10%%", name)
	}
	return a, nil
}

// budgetKey is the name of the budget's number in the plan's text.
func budgetKey(p *plan.Plan) string {
	switch p.Budget.Kind {
	case budget.Finagle, budget.Envoy:
		return "ratio"
	case budget.GRPC:
		return "tokens"
	}
	return "size"
}

// Read returns the value that the text stands for, or what is wanted in its place.
func (a Axis) Read(p *plan.Plan, text string) (v int64, want string) {
	scratch := plan.Default()
	if a.field == "budget" {
		scratch.Budget = p.Budget
		text = p.Budget.Kind.String() + ":" + withKey(scratch.BudgetNumbers(), budgetKey(p), text)
	}
	f, _ := plan.FieldNamed(a.field)
	err := f.Set(&scratch, text)
	var fault *plan.FieldError
	if asFault(err, &fault) {
		return 0, fault.Want
	}
	return a.read(&scratch), ""
}

// Text is how the plan's file and flag write the value.
func (a Axis) Text(p *plan.Plan, v int64) string {
	scratch := plan.Default()
	scratch.Budget = p.Budget
	if a.field == "ramp" {
		scratch.Ramp = time.Duration(v)
	} else {
		a.set(&scratch, v)
	}
	if a.field == "budget" {
		return keyOf(scratch.BudgetNumbers(), budgetKey(p))
	}
	f, _ := plan.FieldNamed(a.field)
	return strings.Join(f.Get(&scratch), "; ")
}

// withKey puts another value behind a key of KEY=VALUE,...
func withKey(numbers, key, value string) string {
	pairs := strings.Split(numbers, ",")
	for i, pair := range pairs {
		if strings.HasPrefix(pair, key+"=") {
			pairs[i] = key + "=" + value
		}
	}
	return strings.Join(pairs, ",")
}

// keyOf returns the value behind a key.
func keyOf(numbers, key string) string {
	for pair := range strings.SplitSeq(numbers, ",") {
		if name, value, _ := strings.Cut(pair, "="); name == key {
			return value
		}
	}
	return ""
}

// with returns the plan with the value in it.
func (a Axis) with(p plan.Plan, v int64) plan.Plan {
	a.set(&p, v)
	return p
}

// steps is how many precisions lie between two values, the last of them perhaps cut short.
func steps(from, to, precision int64) int64 {
	n := (to - from) / precision
	return cmp.Or(n, 1) + extra((to-from)%precision != 0 && n > 0)
}

func extra(more bool) int64 {
	if more {
		return 1
	}
	return 0
}
