package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stormtest/scripts/bench/stamp"
)

// runMost bounds one run of one tool; what takes longer is ended.
const runMost = 40 * time.Second

// A bench runs tools against one server, one at a time.
type bench struct {
	bin     string // the folder of the programs built for this
	scratch string
	server  *exec.Cmd
	url     string // of the server
	control string
	out     io.Writer
}

// releasePatience is how long the lean server stays off the processor when a burst begins, so that the
// figures are of those who send it.
const releasePatience = 50 * time.Millisecond

// start starts the server. Close ends it.
func (b *bench) start(ctx context.Context, o options) error {
	status := http.StatusOK
	if o.what == "memory" {
		status = http.StatusServiceUnavailable // so that the clients wait
	}
	patience := time.Duration(0)
	if o.what == "release" {
		patience = releasePatience
	}
	b.server = exec.CommandContext(ctx, filepath.Join(b.bin, "server"),
		"-lean="+strconv.FormatBool(o.lean), "-patience="+patience.String(), "-status="+strconv.Itoa(status))
	b.server.Stderr = os.Stderr
	pipe, err := b.server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := b.server.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	addresses := strings.Fields(line)
	if err == nil && len(addresses) != 2 {
		err = errors.New("want two addresses")
	}
	if err != nil {
		b.close()
		return fmt.Errorf("the server said %q: %w", line, err)
	}
	b.url, b.control = "http://"+addresses[0]+"/", "http://"+addresses[1]
	return nil
}

func (b *bench) close() {
	_ = b.server.Process.Kill()
	_ = b.server.Wait()
}

// ask returns the body of what the server's control says.
func (b *bench) ask(what string) (io.ReadCloser, error) {
	resp, err := http.Get(b.control + what)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("server: %s: %s", what, resp.Status)
	}
	return resp.Body, nil
}

// settle waits until the server has no open connection, so that no tool pays for the one before.
func (b *bench) settle() error {
	for range 100 {
		body, err := b.ask("/open")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(body)
		_ = body.Close()
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(text)) == "0" {
			time.Sleep(200 * time.Millisecond) // and until the sockets are gone from the kernel
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("server: connections stay open")
}

// A measure is what one run of a tool gave.
type measure struct {
	stamps []stamp.Stamp
	cpu    time.Duration // of the client's process, user and system
}

// A runError says that a tool could not do its job, in words for a table.
type runError string

func (e runError) Error() string { return string(e) }

const errNotInstalled = runError("not installed")

// path returns where the tool's program is.
func (b *bench) path(t tool) (string, error) {
	if own := filepath.Join(b.bin, t.program); isFile(own) {
		return own, nil
	}
	if t.peer == "c" {
		if path, err := exec.LookPath(t.program); err == nil {
			return path, nil
		}
	}
	return "", errNotInstalled
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// run runs t with the given arguments and returns what the server saw of it.
func (b *bench) run(ctx context.Context, t tool, j job, args []string) (m measure, err error) {
	path, err := b.path(t)
	if err != nil {
		return m, err
	}
	if err := b.settle(); err != nil {
		return m, err
	}
	time.Sleep(20 * releasePatience) // what comes next is a burst of its own
	if body, err := b.ask("/reset"); err != nil {
		return m, err
	} else if err := body.Close(); err != nil {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, runMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = b.scratch
	if t.stdin != nil {
		cmd.Stdin = strings.NewReader(t.stdin(j))
	}
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return m, runError("longer than " + runMost.String())
	}
	if err != nil {
		return m, failed(said, err)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	m.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	body, err := b.ask("/stamps")
	if err != nil {
		return m, err
	}
	defer func() { _ = body.Close() }()
	m.stamps, err = stamp.Read(body)
	return m, err
}

// failed is the error of a tool that ended with one, with its last line, or of stormtest with those that
// say what was wrong.
func failed(said []byte, err error) error {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	ours := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, "stormtest: ") })
	if len(ours) == 0 {
		ours = lines[len(lines)-1:]
	}
	return runError(fmt.Sprintf("failed: %v: %s", err, strings.Join(ours, "; ")))
}
