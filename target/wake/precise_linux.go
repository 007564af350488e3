package wake

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// spinStretch is more than ppoll oversleeps on an idle machine (0.15 ms at p99).
const spinStretch = 200 * time.Microsecond

// precise sleeps in ppoll on a locked thread; a kick is a write to an eventfd.
type precise struct {
	mu sync.Mutex
	fd int // -1 once stopped
}

func newPrecise() (sleeper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wake: eventfd: %w", err)
	}
	return &precise{fd: fd}, nil
}

func (*precise) name() string { return "ppoll on a locked thread" }

func (*precise) start() {
	runtime.LockOSThread()
	// Without it the kernel may add 50 µs to every sleep to save wake-ups. A refusal costs
	// precision, which the lateness shows, and nothing else.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

func (p *precise) sleep(d time.Duration) {
	var timeout *unix.Timespec
	if d >= 0 {
		ts := unix.NsecToTimespec(int64(d))
		timeout = &ts
	}
	fds := [1]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	// An error is EINTR (the caller loops) or a kernel without memory (it loops as well).
	if n, err := unix.Ppoll(fds[:], timeout, nil); err == nil && n > 0 {
		var b [8]byte
		_, _ = unix.Read(p.fd, b[:])
	}
}

func (p *precise) kick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd >= 0 {
		_, _ = unix.Write(p.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // full means a kick is waiting
	}
}

func (p *precise) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = unix.Close(p.fd)
	p.fd = -1
	// The thread is not unlocked: it ends with its goroutine, and its timer slack with it.
}
