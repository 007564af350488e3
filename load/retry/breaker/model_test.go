package breaker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stormtest/load/retry/breaker"
)

// A model keeps every outcome since the breaker was closed last, and every probe since it was half-open last, and adds
// them up anew for each question.
type model struct {
	config breaker.Config
	now    time.Duration
	state  string
	until  time.Duration
	period int // of the state, to know attempts from before by
	chance *rand.Rand

	since  []outcome // while closed
	probes []bool    // outcomes while half-open, true failed
	under  int
	want   breaker.Ledger
	opened time.Duration
}

type outcome struct {
	at     time.Duration
	failed bool
}

func (m *model) allow() (period int, ok bool) {
	if m.state == "open" && m.now >= m.until {
		m.enter("half-open")
	}
	admitted := m.under
	if m.config.Kind.Judges() {
		admitted += len(m.probes)
	}
	switch {
	case m.state == "half-open" && admitted < m.config.Probes:
		m.under++
		m.want.Probes++
	case m.state != "closed":
		m.want.ShortCircuited++
		return 0, false
	}
	return m.period, true
}

func (m *model) enter(state string) {
	m.state, m.since, m.probes, m.under = state, nil, nil, 0
	m.period++
}

func (m *model) open() {
	m.until = m.now + m.config.Open
	if m.config.JitterShare > 0 {
		m.until += time.Duration(m.chance.Int64N(int64(float64(m.config.Open) * m.config.JitterShare)))
	}
	m.enter("open")
}

func (m *model) report(period int, failed bool) {
	switch {
	case period != m.period:
	case m.state == "closed":
		m.since = append(m.since, outcome{m.now, failed})
		if m.trips(failed) {
			m.want.Opened++
			m.opened = m.now
			m.open()
		}
	default:
		m.under--
		m.probes = append(m.probes, failed)
		m.probed()
	}
}

func (m *model) trips(failed bool) bool {
	c := m.config
	if !breaker.Table[c.Kind].Rates {
		for i := range c.Failures {
			if at := len(m.since) - 1 - i; at < 0 || !m.since[at].failed {
				return false
			}
		}
		return true
	}
	window := m.since
	if c.Last > 0 {
		window = window[max(0, len(window)-c.Last):]
	}
	calls, failures := 0, 0
	for _, o := range window {
		// Of a time, the slots of a tenth of it: the newest one and the nine before it.
		if c.Last == 0 && o.at/(c.Window/10) <= m.now/(c.Window/10)-10 {
			continue
		}
		calls++
		if o.failed {
			failures++
		}
	}
	return calls >= c.Calls && float64(failures) >= c.Share*float64(calls)-1e-9 && (failed || c.Kind != breaker.Polly)
}

func (m *model) probed() {
	failures := 0
	for _, f := range m.probes {
		if f {
			failures++
		}
	}
	reopens, closes := failures > 0, len(m.probes) >= m.config.Successes
	if m.config.Kind.Judges() {
		all := len(m.probes) == m.config.Probes
		reopens = all && float64(failures) >= m.config.Share*float64(len(m.probes))-1e-9
		closes = all
	}
	switch {
	case reopens:
		m.want.Reopened++
		m.open()
	case closes:
		m.want.Closed++
		m.want.OpenFor += m.now - m.opened
		m.enter("closed")
	}
}

func (m *model) ledger() breaker.Ledger {
	l := m.want
	if m.state != "closed" {
		l.OpenAtEnd = 1
		l.OpenFor += m.now - m.opened
	}
	return l
}

func anyConfig(t *rapid.T) breaker.Config {
	few := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	kind := breaker.Kind(few("kind", 1, int(breaker.KindCount)-1))
	c := breaker.Table[kind].Defaults
	c.Open = time.Duration(few("open", 1, 3000)) * ms
	c.JitterShare = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "jitter")
	c.Probes = few("probes", 1, 4)
	if !kind.Judges() {
		c.Successes = few("successes", 1, 5)
	}
	if !breaker.Table[kind].Rates {
		c.Failures = few("failures", 1, 4)
		return c
	}
	c.Share = rapid.SampledFrom([]float64{0.1, 0.25, 0.3, 0.5, 1}).Draw(t, "share")
	c.Calls = few("calls", 1, 5)
	if c.Last, c.Window = few("last", 0, 70), 0; c.Last == 0 {
		c.Window = time.Duration(few("window", 1, 3)) * second
	} else {
		c.Last = max(c.Last, c.Calls)
	}
	return c
}

// The breaker does what the model does, whatever happens in which order; there are never more than Probes probes at once; and
// what was opened is closed, or open at the end.
func TestPropertyBreakerFollowsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig(t)
		if faults := c.Validate(); faults != nil {
			t.Fatalf("%+v: %v", c, faults)
		}
		m := &model{config: c, state: "closed", chance: chance(0)}
		b := one(c)
		type attempt struct {
			ticket breaker.Ticket
			period int
		}
		var underway []attempt
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			m.now += time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 30, 300, 1500}).Draw(t, "pause")) * ms
			what := rapid.IntRange(0, 9).Draw(t, "what")
			if what < 5 || len(underway) == 0 {
				var a attempt
				ok := b.Allow(m.now, &a.ticket)
				period, want := m.allow()
				if ok != want {
					t.Fatalf("Allow at %v = %v, want %v: %+v in %s", m.now, ok, want, c, m.state)
				}
				if ok {
					a.period = period
					underway = append(underway, a)
				}
			} else {
				i := rapid.IntRange(0, len(underway)-1).Draw(t, "which")
				a := underway[i]
				underway = append(underway[:i], underway[i+1:]...)
				if what == 9 {
					b.Cancel(m.now, &a.ticket)
					if a.period == m.period && m.state == "half-open" {
						m.under--
					}
				} else {
					b.Report(m.now, what < 8, &a.ticket)
					m.report(a.period, what < 8)
				}
				if a.ticket != (breaker.Ticket{}) {
					t.Fatalf("ticket = %+v after its attempt ended, want the zero Ticket", a.ticket)
				}
			}
			l := b.Ledger(m.now)
			if l != m.ledger() {
				t.Fatalf("ledger at %v = %+v, want %+v", m.now, l, m.ledger())
			}
			if m.under < 0 || m.under > c.Probes {
				t.Fatalf("%d probes at once, want at most %d", m.under, c.Probes)
			}
			if l.Opened-l.Closed != l.OpenAtEnd || l.OpenFor < 0 || l.OpenFor > m.now {
				t.Fatalf("ledger %+v at %v: opened is not closed + open at the end, or longer than time", l, m.now)
			}
		}
	})
}
