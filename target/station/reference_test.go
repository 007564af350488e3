package station_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/target/station"
)

// reference is the model written down as plainly as possible: rational numbers, every job
// loses remaining work event by event, nothing is precomputed. It is slow and obvious.
type reference struct {
	config  station.Config
	demand  func() *big.Rat // ns
	service *big.Rat        // its mean
	now     *big.Rat
	serving []*referenceJob // in the order they started
	waiting []*referenceJob
	since   time.Duration  // the queue was empty last
	chance  *rand.Rand     // of errors
	debt    *big.Rat       // work of one slot that answers without service have cost
	done    []station.Done // without the JobID
}

type referenceJob struct {
	station.Done
	remaining *big.Rat
	deadline  time.Duration
}

var grain = big.NewRat(1, 1<<20) // the documented 2^-20 ns

// moment rounds t up to whole nanoseconds, less than grain behind one counting as on it.
func moment(t *big.Rat) time.Duration {
	t = new(big.Rat).Sub(t, grain)
	q, r := new(big.Int).QuoRem(t.Num(), t.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return time.Duration(q.Int64())
}

func nanos(d time.Duration) *big.Rat { return big.NewRat(int64(d), 1) }

// speed returns the speed at r.now and the next moment it may change, at most to.
func (r *reference) speed(to *big.Rat) (*big.Rat, *big.Rat) {
	speed := big.NewRat(1, 1)
	for _, o := range r.config.Outages {
		from, end := nanos(o.From), nanos(o.To)
		if r.now.Cmp(from) < 0 && from.Cmp(to) < 0 {
			to = from
		}
		if r.now.Cmp(from) >= 0 && r.now.Cmp(end) < 0 {
			if end.Cmp(to) < 0 {
				to = end
			}
			factor := big.NewRat(int64(o.Factor*1e9+0.5), 1e9)
			switch o.Mode {
			case station.ModeSlow:
				speed = factor.Inv(factor)
			case station.ModeCapacity:
				speed = factor
			}
		}
	}
	return speed, to
}

// pace turns the script's speed into that of the jobs in service, as long as that is so: up to until at most.
func (r *reference) pace(script, until *big.Rat) (speed, to *big.Rat) {
	busy, idle := int64(len(r.serving)), int64(r.config.Workers-len(r.serving))
	share := func(x float64) *big.Rat { return big.NewRat(int64(x*1e9+0.5), 1e9) }
	slower := big.NewRat(1, 1)
	if busy > 1 {
		slower.Add(slower, new(big.Rat).Mul(share(r.config.Contention), big.NewRat(busy-1, 1)))
		slower.Add(slower, new(big.Rat).Mul(share(r.config.Coherency), big.NewRat(busy*(busy-1), 1)))
	}
	speed = new(big.Rat).Quo(script, slower)
	if r.debt.Sign() == 0 || script.Sign() == 0 {
		return speed, until
	}
	payers := idle
	if idle == 0 { // all stop to pay
		payers, speed = busy, new(big.Rat)
	}
	paid := new(big.Rat).Quo(r.debt, new(big.Rat).Mul(script, big.NewRat(payers, 1)))
	if paid.Add(paid, r.now).Cmp(until) < 0 {
		return speed, paid
	}
	return speed, until
}

// pay takes off what is paid of the debt from r.now to to.
func (r *reference) pay(script, to *big.Rat) {
	payers := int64(r.config.Workers - len(r.serving))
	if payers == 0 {
		payers = int64(r.config.Workers)
	}
	paid := new(big.Rat).Mul(script, new(big.Rat).Sub(to, r.now))
	r.debt = new(big.Rat).Sub(r.debt, paid.Mul(paid, big.NewRat(payers, 1)))
	if r.debt.Sign() < 0 {
		r.debt = new(big.Rat)
	}
}

// charge books an answer without service.
func (r *reference) charge() {
	cost := new(big.Rat).Mul(r.service, big.NewRat(int64(r.config.ShedCost*1e9+0.5), 1e9))
	r.debt = new(big.Rat).Add(r.debt, cost)
}

func (r *reference) advance(now time.Duration) {
	for {
		script, until := r.speed(nanos(now))
		speed, until := r.pace(script, until)
		var next *referenceJob
		for _, j := range r.serving {
			if next == nil || j.remaining.Cmp(next.remaining) < 0 {
				next = j
			}
		}
		if next != nil && speed.Sign() > 0 {
			end := new(big.Rat).Quo(next.remaining, speed)
			if end.Add(end, r.now).Cmp(until) <= 0 {
				r.pay(script, end)
				r.progress(end, speed)
			}
		}
		switch {
		case next != nil && next.remaining.Sign() == 0:
			next.At = moment(r.now)
			r.done = append(r.done, next.Done)
			r.leave(next)
		case r.now.Cmp(nanos(now)) < 0:
			r.pay(script, until)
			r.progress(until, speed)
		default:
			return
		}
	}
}

func (r *reference) progress(to, speed *big.Rat) {
	lost := new(big.Rat).Sub(to, r.now)
	lost.Mul(lost, speed)
	for _, j := range r.serving {
		j.remaining = new(big.Rat).Sub(j.remaining, lost)
	}
	r.now = to
}

// leave takes j out, wherever it is, and starts the next in the queue.
func (r *reference) leave(j *referenceJob) {
	same := func(other *referenceJob) bool { return other == j }
	r.serving = slices.DeleteFunc(r.serving, same)
	r.waiting = slices.DeleteFunc(r.waiting, same)
	for len(r.waiting) > 0 && len(r.serving) < r.config.Workers {
		r.dequeue()
	}
}

// dequeue takes one job out of the queue, by the rules as they are told.
func (r *reference) dequeue() {
	at := moment(r.now)
	backlog := at-r.since > 100*time.Millisecond // the queue was not empty for so long
	which := 0
	switch r.config.Discipline {
	case station.LIFO:
		which = len(r.waiting) - 1
	case station.AdaptiveLIFO, station.AdaptiveLIFOCoDel:
		if backlog {
			which = len(r.waiting) - 1
		}
	}
	j := r.waiting[which]
	r.waiting = slices.Delete(r.waiting, which, which+1)
	j.Started = at
	may := time.Duration(1<<63 - 1)
	switch r.config.Discipline {
	case station.CoDel, station.AdaptiveLIFOCoDel:
		if may = 100 * time.Millisecond; backlog {
			may = 5 * time.Millisecond
		}
	}
	switch {
	case r.config.DropExpired && at >= j.deadline:
		j.Dropped = station.Expired
	case at-j.Arrived > may:
		j.Dropped = station.Shed
	default:
		r.serving = append(r.serving, j)
		return
	}
	j.At = at
	r.done = append(r.done, j.Done)
	r.charge()
}

func (r *reference) arrive(now time.Duration, tag uint64, deadline time.Duration) station.Kind {
	r.advance(now)
	kinds := map[station.Mode]station.Kind{
		station.ModeStatus: station.Failed, station.ModeHang: station.Hung,
		station.ModeReset: station.Reset, station.ModeRefuse: station.Refused,
	}
	for _, o := range r.config.Outages {
		if kind, ok := kinds[o.Mode]; ok && o.From <= now && now < o.To {
			if kind == station.Failed {
				r.charge()
			}
			return kind
		}
	}
	for _, o := range r.config.Outages {
		if o.Mode != station.ModeErrors || now < o.From || now >= o.To || len(r.serving) == r.config.Workers && len(r.waiting) == r.config.Queue {
			continue
		}
		if r.chance.Uint64N(1e9) < uint64(o.Factor*1e9+0.5) {
			r.charge()
			return station.Failed
		}
	}
	j := &referenceJob{Done: station.Done{Tag: tag, Arrived: now, Started: now}, deadline: deadline}
	switch {
	case len(r.serving) < r.config.Workers && r.config.DropExpired && now >= deadline:
		j.Dropped, j.At = station.Expired, now
		r.charge()
		r.done = append(r.done, j.Done)
	case len(r.serving) < r.config.Workers:
		r.serving = append(r.serving, j)
	case len(r.waiting) < r.config.Queue:
		if len(r.waiting) == 0 {
			r.since = now
		}
		r.waiting = append(r.waiting, j)
	default:
		r.charge()
		return station.Rejected
	}
	j.remaining = r.demand()
	return station.Accepted
}

func (r *reference) cancel(now time.Duration, tag uint64) bool {
	r.advance(now)
	for _, j := range slices.Concat(r.serving, r.waiting) {
		if j.Tag != tag || j.Abandoned {
			continue
		}
		if r.config.CancelAbandoned {
			r.leave(j)
		} else {
			j.Abandoned = true
		}
		return true
	}
	return false
}

// next runs a copy on, to far behind the last outage.
func (r *reference) next() (time.Duration, bool) {
	if len(r.serving) == 0 {
		return 0, false
	}
	future := *r
	future.done = nil
	future.waiting = nil
	future.serving = nil
	for _, j := range r.serving {
		twin := *j
		future.serving = append(future.serving, &twin)
	}
	future.advance(1e6 * time.Hour)
	return future.done[0].At, true
}

// rates are capacities with the rational number that each means.
var rates = []struct {
	perSecond float64
	exact     *big.Rat
}{
	{1000, big.NewRat(1000, 1)},
	{3, big.NewRat(3, 1)},
	{1.5, big.NewRat(3, 2)},
	{0.5, big.NewRat(1, 2)},
	{100.0 / 60, big.NewRat(5, 3)},
	{333.3, big.NewRat(3333, 10)},
	{7e6, big.NewRat(7e6, 1)},
	{10.0 / 3600, big.NewRat(1, 360)},
}

// TestAgainstReference plays random scripts of arrivals, cancels, pauses and outages to the
// station and to the reference; every answer must be equal, to the nanosecond.
func TestAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom(rates).Draw(t, "rate")
		c := station.Config{
			PerSecond:       rate.perSecond,
			Workers:         rapid.IntRange(1, 4).Draw(t, "workers"),
			Queue:           rapid.IntRange(0, 4).Draw(t, "queue"),
			ServiceExp:      rapid.Bool().Draw(t, "exp"),
			CancelAbandoned: rapid.Bool().Draw(t, "cancel"),
			Discipline:      station.Discipline(rapid.IntRange(0, 4).Draw(t, "discipline")),
			DropExpired:     rapid.Bool().Draw(t, "expired"),
			RetryAfter:      station.RetryAfterRule{Mode: station.RetryAfterAuto},
		}
		if rapid.Bool().Draw(t, "strained") {
			c.Contention = rapid.SampledFrom([]float64{0, 0.1, 0.25, 1}).Draw(t, "contention")
			c.Coherency = rapid.SampledFrom([]float64{0, 0.001, 0.3}).Draw(t, "coherency")
			c.ShedCost = rapid.SampledFrom([]float64{0, 0.05, 0.5, 1}).Draw(t, "shed cost")
		}
		service := new(big.Rat).Quo(nanos(time.Duration(c.Workers)*time.Second), rate.exact)
		mean, _ := service.Float64()
		// The unit of all times of the script, so that windows and services are alike
		// long: coincidences happen, and so does everything in between.
		unit := max(time.Duration(mean)/4, 1)
		c.Outages = drawOutages(t, unit)

		demand := func() *big.Rat { return new(big.Rat).Set(service) }
		if c.ServiceExp {
			stream := rand.New(rand.NewPCG(1, 2))
			demand = func() *big.Rat { return new(big.Rat).SetFloat64(mean * stream.ExpFloat64()) }
		}
		r := &reference{config: c, demand: demand, service: service, now: new(big.Rat), debt: new(big.Rat), chance: rand.New(rand.NewPCG(3, 4))}
		s := station.New(c, rand.New(rand.NewPCG(1, 2)))
		s.SetChance(rand.New(rand.NewPCG(3, 4)))

		jobs := map[uint64]station.JobID{}
		var now time.Duration
		var tag uint64
		for step := range rapid.IntRange(0, 40).Draw(t, "steps") {
			now += drawLength(t, "gap", unit)
			switch rapid.SampledFrom([]string{"arrive", "arrive", "arrive", "cancel", "advance"}).Draw(t, "step") {
			case "arrive":
				tag++
				deadline := now + drawLength(t, "deadline", unit)
				a, kind := s.ArriveBy(now, tag, deadline), r.arrive(now, tag, deadline)
				if a.Kind != kind {
					t.Fatalf("step %d: Arrive(%v) = %v, want %v", step, now, a.Kind, kind)
				}
				jobs[tag] = a.Job
				if kind == station.Rejected && c.Queue == 0 {
					next, _ := r.next()
					if want := ceilSeconds(next - now); a.RetryAfter != want {
						t.Fatalf("step %d: Retry-After at %v = %v, want %v, for next completion %v", step, now, a.RetryAfter, want, next)
					}
				}
			case "cancel":
				which := rapid.Uint64Range(0, tag).Draw(t, "which")
				if got, want := s.Cancel(now, jobs[which]), r.cancel(now, which); got != want {
					t.Fatalf("step %d: Cancel(%v, job %d) = %v, want %v", step, now, which, got, want)
				}
			case "advance":
				s.Advance(now)
				r.advance(now)
			}
			if err := compare(s, r, now, jobs); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
		}
	})
}

func ceilSeconds(d time.Duration) time.Duration {
	whole := d.Truncate(time.Second)
	if whole < d || whole == 0 {
		whole += time.Second
	}
	return whole
}

// compare checks everything that can be seen of s against r, and empties both.
func compare(s *station.Station, r *reference, now time.Duration, jobs map[uint64]station.JobID) error {
	if s.Busy() != len(r.serving) || s.Queued() != len(r.waiting) {
		return fmt.Errorf("busy, queued at %v = %d, %d, want %d, %d", now, s.Busy(), s.Queued(), len(r.serving), len(r.waiting))
	}
	for _, want := range r.done {
		if at, ok := s.Next(); !ok || at != want.At {
			return fmt.Errorf("Next() at %v = %v, %v, want %v, true", now, at, ok, want.At)
		}
		want.Job = jobs[want.Tag]
		got, ok := s.Finish(now)
		if got.Dropped != station.Kept { // then it has a hint, which is an estimate
			got.RetryAfter -= got.RetryAfter.Truncate(time.Second)
		}
		if !ok || got != want {
			return fmt.Errorf("Finish(%v) = %+v, %v, want %+v, true", now, got, ok, want)
		}
		if s.Cancel(now, want.Job) {
			return fmt.Errorf("Cancel of job %d, which is done, = true", want.Tag)
		}
	}
	r.done = nil
	if got, ok := s.Finish(now); ok {
		return fmt.Errorf("Finish(%v) = %+v, want none", now, got)
	}
	at, ok := s.Next()
	if wantAt, wantOK := r.next(); at != wantAt || ok != wantOK {
		return fmt.Errorf("Next() at %v = %v, %v, want %v, %v", now, at, ok, wantAt, wantOK)
	}
	return nil
}

// drawLength draws a number of units, whole ones often, plus at times some nanoseconds.
func drawLength(t *rapid.T, name string, unit time.Duration) time.Duration {
	d := time.Duration(rapid.IntRange(0, 8).Draw(t, name)) * unit
	if rapid.Bool().Draw(t, name+" odd") {
		d += time.Duration(rapid.Int64Range(0, int64(unit)).Draw(t, name+" ns"))
	}
	return d
}

func drawOutages(t *rapid.T, unit time.Duration) []station.Outage {
	var outages []station.Outage
	var at time.Duration
	for range rapid.IntRange(0, 4).Draw(t, "outages") {
		o := station.Outage{From: at + drawLength(t, "before", unit)}
		o.To = o.From + 1 + drawLength(t, "length", unit)
		o.Mode = station.Mode(rapid.IntRange(0, 6).Draw(t, "mode"))
		switch o.Mode {
		case station.ModeSlow:
			o.Factor = rapid.SampledFrom([]float64{1, 1.5, 2, 3, 7, 1000}).Draw(t, "slow")
		case station.ModeErrors:
			o.Factor = rapid.SampledFrom([]float64{1e-9, 0.3, 0.5, 1}).Draw(t, "errors")
		case station.ModeCapacity:
			o.Factor = rapid.SampledFrom([]float64{0, 0, 0.001, 0.1, 0.25, 0.3, 0.7, 1}).Draw(t, "share")
		}
		at = o.To
		outages = append(outages, o)
		if o.Mode >= station.ModeSlow && o.Mode <= station.ModeCapacity && rapid.Bool().Draw(t, "brownout") {
			outages = append(outages, station.Outage{From: o.From + (o.To-o.From)/3, To: o.To, Mode: station.ModeErrors, Factor: 0.5})
		}
	}
	// Their order must not matter.
	if rapid.Bool().Draw(t, "reversed") {
		slices.Reverse(outages)
	}
	return outages
}

// TestTokenBucketAgainstReference compares with rational tokens that are refilled at every
// arrival.
func TestTokenBucketAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom(rates).Draw(t, "rate")
		c := station.Config{
			Model: station.TokenBucket, PerSecond: rate.perSecond, Burst: rapid.IntRange(1, 4).Draw(t, "burst"),
			RetryAfter: station.RetryAfterRule{Mode: station.RetryAfterAuto},
		}
		unit := max(time.Duration(1e9/rate.perSecond)/4, 1)
		c.Outages = drawOutages(t, unit)
		s := station.New(c, nil)
		s.SetChance(rand.New(rand.NewPCG(3, 4)))

		burst, one := big.NewRat(int64(c.Burst), 1), big.NewRat(1, 1)
		perNano := new(big.Rat).Quo(rate.exact, nanos(time.Second))
		r := &reference{config: c, now: new(big.Rat)} // for its speed
		tokens := new(big.Rat).Set(burst)
		refill := func(to *big.Rat) {
			for r.now.Cmp(to) < 0 {
				speed, until := r.speed(to)
				gain := new(big.Rat).Sub(until, r.now)
				tokens.Add(tokens, gain.Mul(gain.Mul(gain, speed), perNano))
				r.now = until
			}
			if tokens.Cmp(burst) > 0 {
				tokens.Set(burst)
			}
		}
		var now time.Duration
		for range rapid.IntRange(0, 40).Draw(t, "arrivals") {
			now += drawLength(t, "gap", unit)
			refill(nanos(now))
			a := s.Arrive(now, 7)
			if a.Kind > station.Rejected {
				continue // an outage, which the other property compares
			}
			if want := tokens.Cmp(one) >= 0; (a.Kind == station.Accepted) != want {
				t.Fatalf("Arrive(%v) = %v with %v tokens", now, a.Kind, tokens.FloatString(12))
			}
			d, ok := s.Finish(now)
			if ok != (a.Kind == station.Accepted) {
				t.Fatalf("Finish(%v) = %v after %v", now, ok, a.Kind)
			}
			if !ok {
				continue
			}
			tokens.Sub(tokens, one)
			if want := (station.Done{Job: a.Job, Tag: 7, Arrived: now, Started: now, At: now}); d != want {
				t.Fatalf("Finish(%v) = %+v, want %+v", now, d, want)
			}
		}
	})
}
