package budget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Bounds of a Config. RatioParts makes every ratio a whole number of parts, with which the rules
// compute, so that none depends on how a binary number was rounded.
const (
	RatioParts      = 10_000_000 // 0.00001 %
	RatioMin        = 1e-5       // unless 0
	FinagleRatioMax = 1000
	EnvoyRatioMax   = 1
	GRPCRatioMin    = 0.001 // what a thousandth is
	GRPCRatioMax    = 1000
	MinMax          = 1_000_000
	TTLMin          = time.Second
	TTLMax          = 60 * time.Second
	WindowMax       = time.Hour // of SRE's TTL
	QuotaMax        = 1_000_000 // of AWS's Size, costs and Credit
	GRPCSizeMax     = 1000
	KMin            = 1
	KMax            = 1000
	ProcessesMax    = 1_000_000
)

// A Config is a budget's kind and numbers. Fields that its kind does not read are zero. The
// zero Config is no budget.
type Config struct {
	Kind Kind
	// Ratio is how many retries each first attempt pays for (Finagle), or how many of the
	// operations under way may be retries (Envoy): 0, or RatioMin upwards. Or how many
	// tokens each success brings (GRPC): GRPCRatioMin upwards, at most three decimals. Or below which share of the attempts
	// of the window there may be one retry more (SRE): RatioMin..1, and 1 is no bound.
	Ratio float64
	// Min is allowed whatever Ratio says: so many retries a second (Finagle), or at a time
	// (Envoy). 0..MinMax.
	Min int
	// TTL is how long a first attempt pays for retries (Finagle), or how long requests count
	// (SRE). Whole seconds, TTLMin..TTLMax or WindowMax.
	TTL time.Duration
	// Size is how many tokens there are at the start, and at most. 1..QuotaMax (AWS,
	// AWSLegacy, AWSAdaptive) or GRPCSizeMax (GRPC).
	Size int
	// Cost is what a retry takes (AWS, AWSLegacy, AWSAdaptive), CostThrottled after an answer that was
	// given for too many requests (AWS, AWSAdaptive), CostTimeout after none (AWSLegacy). 1..QuotaMax.
	Cost, CostThrottled, CostTimeout int
	// Credit is what the success of a first attempt brings (AWS, AWSLegacy, AWSAdaptive). 0..QuotaMax.
	Credit int
	// K is how many times what the target accepts it may be asked (SRE). KMin..KMax, at most
	// three decimals.
	K float64
	// Shared makes one budget for the whole fleet; false is one for each client, or process.
	Shared bool
	// Processes is how many budgets the clients share, 2..ProcessesMax, client i the one of number i mod Processes: of
	// so many processes, each of which has several operations at a time. 0 is one for each client. Not with Shared.
	Processes int
}

// Validate returns every fault of c.
func (c Config) Validate() []error {
	var faults []error
	check := func(ok bool, field string, got any, want string) {
		if !ok {
			faults = append(faults, fmt.Errorf("budget: %s = %v, want %s", field, got, want))
		}
	}
	inSize := func(n, lo, hi int, field string) {
		check(n >= lo && n <= hi, field, n, fmt.Sprintf("%d..%d", lo, hi))
	}
	read := Config{Kind: c.Kind, Shared: c.Shared, Processes: c.Processes} // and the fields that the kind reads
	if c.Processes != 0 {
		inSize(c.Processes, 2, ProcessesMax, "processes")
		check(!c.Shared, "processes", c.Processes, "0 where the fleet shares one budget")
	}
	switch c.Kind {
	case None:
		read.Shared, read.Processes = false, 0
	case Finagle:
		read.Ratio, read.Min, read.TTL = c.Ratio, c.Min, c.TTL
		check(c.ratioIsGood(FinagleRatioMax), "ratio", c.Ratio, "0 or 1e-5..1000, at most seven decimals")
		inSize(c.Min, 0, MinMax, "min")
		check(c.lasts(TTLMax), "ttl", c.TTL, "whole seconds, 1s..60s")
	case Envoy:
		read.Ratio, read.Min = c.Ratio, c.Min
		check(c.ratioIsGood(EnvoyRatioMax), "ratio", c.Ratio, "0 or 1e-5..1, at most seven decimals")
		inSize(c.Min, 0, MinMax, "min")
	case AWS, AWSLegacy, AWSAdaptive:
		read.Size, read.Cost, read.Credit = c.Size, c.Cost, c.Credit
		inSize(c.Size, 1, QuotaMax, "size")
		inSize(c.Cost, 1, QuotaMax, "cost")
		inSize(c.Credit, 0, QuotaMax, "first")
		if c.Kind != AWSLegacy {
			read.CostThrottled = c.CostThrottled
			inSize(c.CostThrottled, 1, QuotaMax, "throttled")
		} else {
			read.CostTimeout = c.CostTimeout
			inSize(c.CostTimeout, 1, QuotaMax, "timeout")
		}
	case GRPC:
		read.Size, read.Ratio = c.Size, c.Ratio
		inSize(c.Size, 1, GRPCSizeMax, "tokens")
		check(inThousandths(c.Ratio, GRPCRatioMin, GRPCRatioMax), "ratio", c.Ratio, "0.001..1000, at most three decimals")
	case SRE:
		read.TTL, read.K, read.Ratio = c.TTL, c.K, c.Ratio
		check(c.Ratio > 0 && c.ratioIsGood(1), "retries", c.Ratio, "1e-5..1, at most seven decimals")
		check(c.lasts(WindowMax), "window", c.TTL, "whole seconds, 1s..1h")
		check(inThousandths(c.K, KMin, KMax), "k", c.K, "1..1000, at most three decimals")
	default:
		check(false, "kind", c.Kind, "a kind of the table")
		return faults
	}
	if len(faults) == 0 { // a number that is none equals nothing
		check(c == read, c.Kind.String(), fmt.Sprintf("%+v", c), "no numbers that it does not read")
	}
	return faults
}

// ratioIsGood reports whether Ratio is 0, or RatioMin..most with at most seven decimals.
func (c Config) ratioIsGood(most float64) bool {
	return (c.Ratio == 0 || c.Ratio >= RatioMin && c.Ratio <= most) && c.Ratio == float64(c.parts())/RatioParts
}

// lasts reports whether TTL is whole seconds, TTLMin..most.
func (c Config) lasts(most time.Duration) bool {
	return c.TTL >= TTLMin && c.TTL <= most && c.TTL%time.Second == 0
}

// inThousandths reports whether v is lo..hi with at most three decimals.
func inThousandths(v, lo, hi float64) bool {
	return v >= lo && v <= hi && v == math.Round(v*1000)/1000
}

// parts is Ratio in RatioParts.
func (c Config) parts() int64 { return int64(math.Round(c.Ratio * RatioParts)) }

// Full is how many retries one budget of c certainly allows at the start, each after a failure,
// before anything else has happened: of tokens what they are worth. 0 where c is no budget.
func (c Config) Full() int64 {
	bank := NewBank(c, 1, func(uint32) *rand.Rand { return nil }, Series{})
	if bank == nil {
		return 0
	}
	return bank.accounts[0].ledger.Highest
}
