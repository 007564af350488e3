// Package station is the pure model of a target with finite capacity: slots that serve, a
// bounded queue before them, an admission rule and an outage script.
//
// It knows no clock, starts no goroutine and answers nobody. A driver tells it at which
// moment something happens (Arrive, Cancel) and asks what has been served meanwhile
// (Finish) and when to ask again (Next). Driven by a wall clock it is a real server's
// admission control, driven by an event heap it is a simulation, and the rules are the
// same ones. A moment is a time.Duration since the run's t0, an interval is half-open.
//
// # Models
//
// Slots is bounded concurrency with a queue (G/G/c/K in Kendall's notation): with
// c = Workers and Q = Queue, an arrival is accepted iff fewer than c+Q jobs are inside.
// A job needs Workers/PerSecond seconds of one slot, exactly or, with ServiceExp, on
// average. The queue is served in the order of arrival unless a [Discipline] says otherwise, and may throw
// out what has waited too long or what nobody waits for any more. Three special cases have names and closed forms:
//
//   - Workers 1, Queue 0 is reject-if-busy, the loss system M/D/1/1 of the "Full Jitter vs
//     Decorrelated Jitter" guide: an arrival at t is accepted iff t >= busyUntil, and then
//     busyUntil = t + 1/PerSecond. Of a wave that comes at one moment it accepts one, so N
//     clients in step need N(N+1)/2 calls.
//   - Queue 0 under Poisson arrivals of rate r rejects by Erlang's formula B the share
//     (a^c/c!) / (sum over i=0..c of a^i/i!), a = r * Workers/PerSecond, whatever the
//     distribution of the service time.
//   - Workers c with a queue that is never empty serves exactly PerSecond.
//
// TokenBucket is tokens = min(Burst, tokens + PerSecond*dt), accepted iff tokens >= 1,
// served at once. The bucket starts full, and it admits a wave of at most Burst whole.
//
// # Outages
//
// An outage is a window [From, To) in which the target fails in one of seven modes. Status,
// hang, reset and refuse concern what arrives in the window: it is turned away without
// taking a slot, while work accepted before goes on at full speed. Slow and capacity
// concern the work: arrivals are admitted as ever, and all work, also work that began
// before, goes on at 1/N or at share P of its speed. Share 0 freezes it. Errors fail a share of those arrivals
// that are not over capacity, each by a draw of its own, and leave the others and the work alone.
//
// # Exactness
//
// Every slot works at the same speed at the same moment, so work is measured on one clock
// that runs at that speed: it shows V(t), the integral of the speed from 0 to t. A job
// that starts when the clock shows v ends when it shows v + demand, whatever outages come
// between, and the job that takes over its slot starts at that same reading, however late
// the driver asks. Readings are integers in steps of 2^-64 ns, so no error builds up from
// job to job beyond half a step each: ten million jobs in a row end within 3e-13 ns of
// the exact moment, at any rate. V and its inverse are piecewise linear in integers.
//
// A driver sees moments in whole nanoseconds: a job is done from the first of them at or
// after its exact end. Readings within 2^-20 ns after a whole nanosecond count as on it,
// which hides the rounding; so three jobs at 3 a second end at 333333334, 666666667 and
// 1000000000 ns and not 1 ns later.
//
// Sources: the admission models are those of queueing theory's G/G/c/K and of Linux's
// token bucket filter (tc-tbf(8)), the latter kept as the theoretical arrival time of the
// generic cell rate algorithm (ITU-T I.371); reject-if-busy as above; outage modes and
// abandoned work follow "Metastable Failures in the Wild" (Huang et al., OSDI 2022).
package station
