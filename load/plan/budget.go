package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"stormtest/load/retry/budget"
)

// budgetKeys are the numbers of each kind, in the order in which they are written.
var budgetKeys = [budget.KindCount][]keyed{
	budget.Finagle: {
		{"ratio", budgetRatio{most: budget.FinagleRatioMax}},
		{"min", budgetRate{}},
		{"ttl", duration{at: func(p *Plan) *time.Duration { return &p.Budget.TTL }, lo: budget.TTLMin, hi: budget.TTLMax, step: time.Second}},
		{"scope", budgetScope},
	},
	budget.Envoy: {
		{"ratio", budgetRatio{most: budget.EnvoyRatioMax}},
		{"min", count[int]{at: func(p *Plan) *int { return &p.Budget.Min }, lo: 0, hi: budget.MinMax}},
		{"scope", budgetScope},
	},
	budget.AWS: {
		{"size", budgetCount(func(c *budget.Config) *int { return &c.Size }, 1, budget.QuotaMax)},
		{"cost", budgetCount(func(c *budget.Config) *int { return &c.Cost }, 1, budget.QuotaMax)},
		{"throttled", budgetCount(func(c *budget.Config) *int { return &c.CostThrottled }, 1, budget.QuotaMax)},
		{"first", budgetCount(func(c *budget.Config) *int { return &c.Credit }, 0, budget.QuotaMax)},
		{"scope", budgetScope},
	},
	budget.AWSAdaptive: {
		{"size", budgetCount(func(c *budget.Config) *int { return &c.Size }, 1, budget.QuotaMax)},
		{"cost", budgetCount(func(c *budget.Config) *int { return &c.Cost }, 1, budget.QuotaMax)},
		{"throttled", budgetCount(func(c *budget.Config) *int { return &c.CostThrottled }, 1, budget.QuotaMax)},
		{"first", budgetCount(func(c *budget.Config) *int { return &c.Credit }, 0, budget.QuotaMax)},
		{"scope", budgetScope},
	},
	budget.AWSLegacy: {
		{"size", budgetCount(func(c *budget.Config) *int { return &c.Size }, 1, budget.QuotaMax)},
		{"cost", budgetCount(func(c *budget.Config) *int { return &c.Cost }, 1, budget.QuotaMax)},
		{"timeout", budgetCount(func(c *budget.Config) *int { return &c.CostTimeout }, 1, budget.QuotaMax)},
		{"first", budgetCount(func(c *budget.Config) *int { return &c.Credit }, 0, budget.QuotaMax)},
		{"scope", budgetScope},
	},
	budget.GRPC: {
		{"tokens", budgetCount(func(c *budget.Config) *int { return &c.Size }, 1, budget.GRPCSizeMax)},
		{"ratio", thousandths{at: func(c *budget.Config) *float64 { return &c.Ratio }, lo: budget.GRPCRatioMin, hi: budget.GRPCRatioMax}},
		{"scope", budgetScope},
	},
	budget.SRE: {
		{"window", duration{at: func(p *Plan) *time.Duration { return &p.Budget.TTL }, lo: budget.TTLMin, hi: budget.WindowMax, step: time.Second}},
		{"k", thousandths{at: func(c *budget.Config) *float64 { return &c.K }, lo: budget.KMin, hi: budget.KMax}},
		{"retries", budgetRatio{least: budget.RatioMin, most: 1}},
		{"scope", budgetScope},
	},
}

var budgetScope = processes{scope{at: func(p *Plan) *bool { return &p.Budget.Shared }}}

// budgetCount is a whole number of a budget.Config, in lo..hi.
func budgetCount(at func(*budget.Config) *int, lo, hi int) scalar {
	return count[int]{at: func(p *Plan) *int { return at(&p.Budget) }, lo: lo, hi: hi}
}

// retryBudget is a budget.Config, a kind of budget.Table with its budgetKeys.
type retryBudget struct{}

func (retryBudget) read(p *Plan, text string) string {
	scratch := Plan{}
	form := kinded{names: budgetNames(), like: "finagle:ratio=20%,min=10/s", begin: func(p *Plan, at int) []keyed {
		p.Budget = budget.Table[at].Defaults
		return budgetKeys[at]
	}}
	if want := form.read(&scratch, text); want != "" {
		return want
	}
	p.Budget = scratch.Budget
	return ""
}

func (retryBudget) write(p *Plan) string {
	kind := p.Budget.Kind
	if numbers := p.budgetNumbers(); numbers != "" {
		return kind.String() + ":" + numbers
	}
	return kind.String()
}

func (retryBudget) word() string      { return keyedForm }
func (retryBudget) choices() []string { return nil }

// budgetNumbers writes every number of the plan's budget, as KEY=VALUE,...
func (p *Plan) budgetNumbers() string {
	if p.Budget.Kind >= budget.KindCount {
		return ""
	}
	return writeKeyed(p, budgetKeys[p.Budget.Kind])
}

// BudgetNumbers returns every number of the plan's budget as text, KEY=VALUE,...; empty where
// there is none.
func (p Plan) BudgetNumbers() string { return p.budgetNumbers() }

func budgetNames() []string {
	var names []string
	for k := range budget.KindCount {
		names = append(names, k.String())
	}
	return names
}

// budgetRatio is Config.Ratio in percent, as parts of budget.RatioParts.
type budgetRatio struct{ least, most float64 } // a least of 0 allows 0

func (v budgetRatio) read(p *Plan, text string) string {
	n, want := parseShare(text)
	scratch := budget.Config{Kind: budget.Finagle, Ratio: n, TTL: budget.TTLMin}
	if want == "" && (n < v.least || n > v.most || len(scratch.Validate()) > 0) || strings.HasPrefix(text, "-") {
		if v.least == 0 {
			want = "0%, or "
		}
		want += bounds(formatShare(budget.RatioMin), formatShare(v.most)) + " with at most five decimals"
	}
	if want == "" {
		p.Budget.Ratio = n
	}
	return want
}

func (budgetRatio) write(p *Plan) string { return formatShare(p.Budget.Ratio) }
func (budgetRatio) word() string         { return "share" }
func (budgetRatio) choices() []string    { return nil }

// budgetRate is Config.Min per second.
type budgetRate struct{}

func (v budgetRate) read(p *Plan, text string) string {
	n, want := parseRate(text)
	if want == "" && (n != float64(int64(n)) || n > budget.MinMax) || strings.HasPrefix(text, "-") {
		want = "a whole number per second, " + bounds("0/s", strconv.Itoa(budget.MinMax)+"/s")
	}
	if want == "" {
		p.Budget.Min = int(n)
	}
	return want
}

func (budgetRate) write(p *Plan) string { return strconv.Itoa(p.Budget.Min) + "/s" }
func (budgetRate) word() string         { return "rate" }
func (budgetRate) choices() []string    { return nil }

// thousandths is a number of a budget.Config in lo..hi with at most three decimals.
type thousandths struct {
	at     func(*budget.Config) *float64
	lo, hi float64
}

func (v thousandths) read(p *Plan, text string) string {
	n, ok := parseNumber(text)
	_, decimals, _ := strings.Cut(text, ".")
	if !ok || n < v.lo || n > v.hi || len(strings.TrimRight(decimals, "0")) > 3 {
		return bounds(formatNumber(v.lo), formatNumber(v.hi)) + " with at most three decimals"
	}
	*v.at(&p.Budget) = n
	return ""
}

func (v thousandths) write(p *Plan) string { return formatNumber(*v.at(&p.Budget)) }
func (thousandths) word() string           { return "number" }
func (thousandths) choices() []string      { return nil }

// The words of a scope.
const (
	scopeClient = "client"
	scopeFleet  = "fleet"
)

// scope is whether the fleet shares what each client has otherwise.
type scope struct{ at func(*Plan) *bool }

func (v scope) read(p *Plan, text string) string {
	if text != scopeClient && text != scopeFleet {
		return didYouMean(oneOf(v.choices()), text, v.choices())
	}
	*v.at(p) = text == scopeFleet
	return ""
}

func (v scope) write(p *Plan) string {
	if *v.at(p) {
		return scopeFleet
	}
	return scopeClient
}

func (scope) word() string      { return scopeClient + "|" + scopeFleet }
func (scope) choices() []string { return []string{scopeClient, scopeFleet} }

// processes is a scope that may also be a number of processes, Config.Processes.
type processes struct{ scope }

func (v processes) read(p *Plan, text string) string {
	var n int
	number := count[int]{at: func(*Plan) *int { return &n }, lo: 2, hi: budget.ProcessesMax}
	fault := number.read(p, text)
	if fault == "" {
		p.Budget.Shared, p.Budget.Processes = false, n
		return ""
	}
	if want := v.scope.read(p, text); want != "" {
		return want + ", or so many processes that share the clients: " + fault
	}
	p.Budget.Processes = 0
	return ""
}

func (v processes) write(p *Plan) string {
	if n := p.Budget.Processes; n > 0 {
		return strconv.Itoa(n)
	}
	return v.scope.write(p)
}

func (v processes) word() string { return v.scope.word() + "|N" }

// budgetWarnings says what the budget does not do, and how much it allows whatever its numbers
// say: the floor of a budget that every client has for itself is one for each of them, and so are
// tokens. Source: the domain reference, 3.1 to 3.6.
func (p *Plan) budgetWarnings() []string {
	b := p.Budget
	switch {
	case p.MaxRetries == 0 && p.Hedge.Most == 0 && !p.asksFirst(): // a copy is a retry to a budget
		return p.idle("budget", "with max-retries 0")
	case b.Kind == budget.AWSAdaptive && p.URL == "" && p.Status != statusThrottled:
		return append(p.eachBudget(), fmt.Sprintf("budget %v: attempts wait for their turn from the first answer %d on, and the target answers %d: with status %d they would",
			b.Kind, statusThrottled, p.Status, statusThrottled))
	case b.Kind == budget.SRE && p.RatePerSecond == 0 && p.OperationsTotal() > int64(p.Clients):
		return []string{"budget sre: an operation that is refused takes no time, and without a rate its client begins the next one at once"}
	case b.Kind == budget.SRE && b.Shared && p.RatePerSecond == 0 && p.Ramp == 0:
		return []string{fmt.Sprintf("budget sre: one account for a fleet that begins together has no answer to go by: of the first %d attempts it lets out a few", p.Clients)}
	}
	return p.eachBudget()
}

// asksFirst reports whether first attempts need the budget, too.
func (p *Plan) asksFirst() bool {
	return p.Budget.Kind == budget.SRE || p.Budget.Kind == budget.AWSAdaptive
}

// statusThrottled is the answer that says of itself that it is given for too many requests.
const statusThrottled = 429

// eachBudget says how much the budgets of all clients allow together.
func (p *Plan) eachBudget() []string {
	b := p.Budget
	if b.Shared {
		return nil
	}
	var each string
	who, all := "client", "clients"
	if b.Processes > 0 {
		who, all = "process", "processes"
	}
	switch b.Kind {
	case budget.Envoy:
		if b.Min == 0 || b.Processes > 0 || p.Hedge.Most > b.Min {
			return nil
		}
		return p.idle("budget", "with scope client: a client has one operation at a time, and the budget allows "+
			strconv.Itoa(b.Min)+" retries at a time; all "+strconv.Itoa(p.Clients)+" may retry at once")
	case budget.Finagle:
		if b.Min == 0 {
			return nil
		}
		perSecond := p.BudgetFloor()
		each = fmt.Sprintf("its floor is for each %s: %d %s x %d/s may send %s retries/s whatever the ratio",
			who, p.budgets(), all, b.Min, formatNumber(perSecond))
		if p.CapacityPerSecond > 0 && p.URL == "" {
			each += fmt.Sprintf(", %.3gx the capacity of %s", perSecond/p.CapacityPerSecond, formatRate(p.CapacityPerSecond))
		}
	case budget.AWS, budget.AWSLegacy, budget.AWSAdaptive, budget.GRPC:
		full := b.Full()
		if full == 0 {
			return nil
		}
		each = fmt.Sprintf("its tokens are for each %s: %d %s x %d retries may be sent before one is refused, %d",
			who, p.budgets(), all, full, int64(p.budgets())*full)
	default:
		return nil
	}
	return []string{fmt.Sprintf("budget %v: %s; scope=%s shares one budget", b.Kind, each, scopeFleet)}
}

// BudgetFloor returns how many retries a second the budgets of the whole fleet allow whatever
// their ratio says; 0 where they allow none for certain, or do not count per second.
func (p Plan) BudgetFloor() float64 {
	switch {
	case p.Budget.Kind != budget.Finagle:
		return 0
	}
	return float64(float64(p.Budget.Min) * float64(p.budgets()))
}

// budgets is how many budgets there are, where there are any.
func (p *Plan) budgets() int {
	switch {
	case p.Budget.Shared:
		return 1
	case p.Budget.Processes > 0:
		return min(p.Budget.Processes, p.Clients)
	}
	return p.Clients
}
