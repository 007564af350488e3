package load

import (
	"fmt"
	"strconv"
	"strings"
)

// listenDrops are the kernel's counters of connections that a listener was too slow to take.
// They count since the system started, for every listener on it, ours or not.
type listenDrops struct {
	overflows int64 // the accept queue was full
	drops     int64 // handshakes dropped for that or for another reason
}

// parseListenDrops reads the form of /proc/net/netstat: pairs of lines with one prefix, the names
// and then the values. It returns false where the counters are not in it.
func parseListenDrops(text string) (listenDrops, bool) {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if len(names) == 0 || names[0] != "TcpExt:" {
			continue
		}
		overflows, okOverflows := counter(names, values, "ListenOverflows")
		drops, okDrops := counter(names, values, "ListenDrops")
		return listenDrops{overflows, drops}, okOverflows && okDrops
	}
	return listenDrops{}, false
}

// counter returns the value that stands below a name.
func counter(names, values []string, name string) (int64, bool) {
	for i, n := range names {
		if n == name && i < len(values) {
			v, err := strconv.ParseInt(values[i], 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// A listenWatch compares the counters before the fleet connects, at t0 and at the end. Its zero
// value watches nothing. Not safe for concurrent use.
//
// Whoever's handshake was dropped sends it again after a second, and after two more: a wave
// that no client made. So a drop during the run makes the run invalid, although the kernel does
// not say whose it was.
type listenWatch struct {
	read func() (listenDrops, bool)
	last listenDrops
	ok   bool

	connecting, running listenDrops
}

// begin starts to watch.
func (w *listenWatch) begin() {
	if w.read != nil {
		w.last, w.ok = w.read()
	}
}

// mark adds what was dropped since the mark before to sum. A counter that the kernel has stopped
// telling, or that went backwards, says nothing.
func (w *listenWatch) mark(sum *listenDrops) {
	if !w.ok {
		return
	}
	now, ok := w.read()
	if ok && now.overflows >= w.last.overflows && now.drops >= w.last.drops {
		sum.overflows += now.overflows - w.last.overflows
		sum.drops += now.drops - w.last.drops
	}
	w.last, w.ok = now, ok
}

func (w *listenWatch) started() { w.mark(&w.connecting) }
func (w *listenWatch) ended()   { w.mark(&w.running) }

// notes says what was dropped, before the run or in it.
func (w *listenWatch) notes() []string {
	var notes []string
	for _, part := range []struct {
		when string
		d    listenDrops
	}{{"while the fleet connected, before the run", w.connecting}, {"during the run", w.running}} {
		if part.d != (listenDrops{}) {
			notes = append(notes, fmt.Sprintf("the accept queue of a listener overflowed %d times and the kernel dropped %d handshakes %s (its count is of the whole system, so they may be another program's)",
				part.d.overflows, part.d.drops, part.when))
		}
	}
	return notes
}

// reasons says why the arrivals cannot be believed.
func (w *listenWatch) reasons() []string {
	if w.running == (listenDrops{}) {
		return nil
	}
	return []string{fmt.Sprintf("the kernel dropped %d handshakes during the run (its count is of the whole system), and sends each again a second later or more: a wave at such a moment may be the kernel's, not the clients'; fewer clients, or a larger net.core.somaxconn, would fit",
		max(w.running.overflows, w.running.drops))}
}
