package wake

import "time"

// timers sleeps on the runtime's timers.
type timers struct {
	kicked chan struct{}
	timer  *time.Timer
}

func newTimers() *timers {
	return &timers{kicked: make(chan struct{}, 1)}
}

func (*timers) name() string { return "runtime timers (1 ms grid)" }

func (t *timers) start() {
	t.timer = time.NewTimer(time.Hour)
	t.timer.Stop()
}

func (t *timers) sleep(d time.Duration) {
	if d < 0 {
		<-t.kicked
		return
	}
	t.timer.Reset(d)
	defer t.timer.Stop()
	select {
	case <-t.timer.C:
	case <-t.kicked:
	}
}

func (t *timers) kick() {
	select {
	case t.kicked <- struct{}{}:
	default: // a kick is already waiting
	}
}

func (t *timers) stop() { t.timer.Stop() }
