package record

import (
	"fmt"
	"time"
)

// What a generator that kept up may cost.
const (
	LatenessShare    = 10 // lateness p99 times this is at most a bucket
	StartSpreadShare = 2  // start spread times this is at most a bucket
)

// Validity returns in words why the generator did not keep up in this run, and what would fit; none
// when it did. They are what Generator.KeptUp stands for: lateness p99 at most a tenth of a bucket, and
// start spread at most half a bucket. In virtual time nobody is late: what spreads a first wave there is the
// network that the plan asked for.
func Validity(run Run) []string {
	if run.Engine == EngineVirtual {
		return nil
	}
	var reasons []string
	if p := run.Lateness.P99; p != nil && *p > int64(run.Bucket)/LatenessShare {
		late := time.Duration(*p)
		reasons = append(reasons, fmt.Sprintf(
			"the generator was late: 1 %% of the sends left %s or more after they were due, and a %s bucket allows %s; "+
				"buckets of %s would fit, or %s of this load",
			Short(late), Short(run.Bucket), Short(run.Bucket/LatenessShare),
			Short(roundUp(late*LatenessShare)), portion(run.Bucket/LatenessShare, late)))
	}
	if p := run.Generator.StartSpread; p != nil && *p > int64(run.Bucket)/StartSpreadShare {
		spread := time.Duration(*p)
		reasons = append(reasons, fmt.Sprintf(
			"the fleet did not start together: its first wave took %s to arrive (p99 - p1), and a %s bucket allows %s; "+
				"buckets of %s would fit, or %s of these clients",
			Short(spread), Short(run.Bucket), Short(run.Bucket/StartSpreadShare),
			Short(roundUp(spread*StartSpreadShare)), portion(run.Bucket/StartSpreadShare, spread)))
	}
	return reasons
}

// portion returns allowed/measured as a rough share in words, for what grows with the load.
func portion(allowed, measured time.Duration) string {
	percent := int64(100 * float64(allowed) / float64(measured))
	if percent < 1 {
		return "less than 1 %"
	}
	return fmt.Sprintf("about %d %%", percent)
}

// roundUp returns the smallest 1, 2 or 5 times a power of ten of ns that is at least d.
func roundUp(d time.Duration) time.Duration {
	for unit := int64(1); unit < 1e18; unit *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if n*unit >= int64(d) {
				return time.Duration(n * unit)
			}
		}
	}
	return d
}

// Short returns d with three digits at most.
func Short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
