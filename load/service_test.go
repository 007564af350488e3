package load

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load/plan"
	"stormtest/load/record"
	"stormtest/target"
	"stormtest/target/targettest"
	"stormtest/target/wake"
)

// An inMemory is a target.Opener on a network in memory.
type inMemory struct{ targettest.Network }

func (m *inMemory) Open() (net.Listener, error) { return m.Listen("target") }

// A request that comes when the service is over begins no run; one that came before has.
func TestNoRequestStartsAServiceThatIsOver(t *testing.T) {
	for _, before := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := plan.Default()
			tgt, err := target.New(target.Config{Station: p.Station(), Wake: wake.Timers})
			if err != nil {
				t.Fatal(err)
			}
			s := &service{plan: p, tgt: tgt, recorder: record.New(record.Config{Bucket: p.Bucket, Duration: p.Duration}), started: make(chan struct{})}
			if before {
				s.start()
			}
			if got := s.close(); got != before {
				t.Errorf("close() = %v, want %v", got, before)
			}
			s.start()
			if got := s.hasStarted(); got != before {
				t.Errorf("started = %v after a request that came too late, want %v", got, before)
			}
		})
	}
}

// What the kernel drops while a service runs is noted and makes the result invalid.
func TestServeWatchesTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var drops int64
		listen := listenWatch{read: func() (listenDrops, bool) { drops += 7; return listenDrops{drops, drops}, true }}
		p := plan.Default()
		p.Duration, p.Seed = time.Second, plan.Seed{Value: 1, Set: true}
		m := &inMemory{}
		result, err := serve(t.Context(), p, Service{Opener: m, AtOnce: true}, Env{Wake: wake.Timers}, listen)
		if err != nil {
			t.Fatal(err)
		}
		const want = "dropped 7 handshakes during the run"
		if result.Valid || len(result.InvalidReasons) != 1 || !strings.Contains(result.InvalidReasons[0], want) ||
			!strings.Contains(strings.Join(result.Runs[0].Notes, "\n"), want) {
			t.Errorf("valid %v, reasons %q, notes %q; want %q", result.Valid, result.InvalidReasons, result.Runs[0].Notes, want)
		}
	})
}

// The rows of clients that are not ours are written whole too, where the buffer is full in one.
func TestATraceOfOthersIsWrittenInWholeRows(t *testing.T) {
	w := new(wholeRows)
	tr := &tracer{out: bufio.NewWriterSize(w, 100)}
	for i := range 50 {
		tr.writeOutside(target.Handled{Arrival: target.Arrival{At: time.Duration(i) * time.Second, Client: target.Unknown}, Status: 200}, time.Minute, "")
	}
	if err := tr.flush(); err != nil {
		t.Fatal(err)
	}
	if w.cut > 0 || w.rows != 50 {
		t.Errorf("%d rows, %d writes that end inside one; want 50 and none", w.rows, w.cut)
	}
}

// A wholeRows counts rows, and writes that end inside one.
type wholeRows struct{ rows, cut int }

func (w *wholeRows) Write(b []byte) (int, error) {
	w.rows += bytes.Count(b, []byte("\n"))
	if !bytes.HasSuffix(b, []byte("\n")) {
		w.cut++
	}
	return len(b), nil
}

// The log of a service that only a signal ends names no planned length, for nobody asked for one.
func TestALogOfAnOpenEndPlansNothing(t *testing.T) {
	for _, open := range []bool{false, true} {
		var log bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := plan.Default()
			p.Duration, p.Seed = 24*time.Hour, plan.Seed{Value: 1, Set: true}
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := Serve(ctx, p, Service{Opener: &inMemory{}, AtOnce: true, OpenEnd: open}, Env{Wake: wake.Timers, HLog: &log}); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(3 * time.Second)
			cancel()
			wg.Wait()
		})
		killed, _, _ := strings.Cut(log.String(), "#[stormtest end")
		read, err := record.ReadHLog([]byte(killed))
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(read.Result().Runs[0].Notes, "\n")
		if got := strings.Contains(notes, "24h0m0s"); got == open || !strings.Contains(notes, "is lost") {
			t.Errorf("open end %v: notes = %q", open, notes)
		}
	}
}
