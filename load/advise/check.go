package advise

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"stormtest/load/plan"
)

const (
	bucketsMost = 20_000        // of a trial, of which there are thousands
	drainMost   = 2 * time.Hour // N/C
)

// Check returns what of the plan a search has no answer to, a *plan.FieldError for each, joined: both
// engines must be able to run it, and its clients must fail together.
func (c Config) Check() error {
	p := c.Plan
	var faults []error
	refuse := func(name, want string) {
		f, _ := plan.FieldNamed(name)
		faults = append(faults, &plan.FieldError{Field: name, Got: strings.Join(f.Get(&p), "; "), Want: want})
	}
	if p.RatePerSecond > 0 {
		refuse("rate", "off: advice is for a fleet that fails together, and an open loop has no end")
	}
	if p.Operations != 0 && p.Operations != int64(p.Clients) {
		refuse("operations", "auto: one for each of the "+strconv.Itoa(p.Clients)+" clients that fail together")
	}
	if len(p.Strategies) > 1 {
		refuse("strategy", "one, which is that of today: the others are tried anyhow")
	}
	if len(p.Presets) > 0 {
		refuse("preset", "none: what is looked for are the numbers of a strategy; 'stormtest presets "+p.Presets[0]+"' prints its own, as a scenario file to begin with")
	}
	if len(p.Mix) > 0 {
		refuse("fleet", "none: what is looked for is one policy for all clients")
	}
	if len(p.Layers) > 0 {
		refuse("layer", "none: the search tries small fleets first, and what is behind a target does not shrink with it")
	}
	if p.SharedSeed {
		refuse("shared-seed", "false: no policy spreads a fleet that draws alike")
	}
	if least := float64(p.Clients) / drainMost.Seconds(); p.CapacityPerSecond < least {
		refuse("capacity", "at least "+rate(least)+" for "+strconv.Itoa(p.Clients)+" clients: no policy helps a target that takes more than "+length(float64(drainMost))+" for all of them")
	}
	if err := errors.Join(p.For(plan.Real), p.For(plan.Virtual)); err != nil || len(faults) > 0 {
		return errors.Join(append(faults, err)...)
	}
	if s := newSearch(c); s.plan.Duration/p.Bucket > bucketsMost {
		least := (s.plan.Duration/bucketsMost + time.Millisecond - 1).Truncate(time.Millisecond)
		refuse("bucket", "at least "+least.String()+": the policies are watched for up to "+s.plan.Duration.String()+", in at most "+strconv.Itoa(bucketsMost)+" buckets")
	}
	return errors.Join(faults...)
}
