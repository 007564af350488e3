// Package browsertest opens a page of a report in a real browser, without a network, and hears everything
// that goes wrong in it. It is for tests and for the script that takes pictures of reports.
//
// A Browser is one process of Chromium with a profile of its own; a Tab is one page in it. A tab is
// offline, and whatever a page does that a report must not is one of its faults: a warning or an error
// on the console, an exception, a breach of its content security policy, a dialog, and every request
// but the one for the page itself.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"
)

// names are the programs that Find looks for, the best first.
var names = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell", "chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// HowToGet says how a machine gets a browser, for whoever has none.
const HowToGet = "no Chromium or Chrome on this machine: install one, on Debian with `apt-get install chromium`"

// Find returns where the browser of this machine is; ok is false where it has none.
func Find() (path string, ok bool) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// startWait and closeWait bound what a browser takes to begin and to end, on a machine that is busy.
const (
	startWait = 60 * time.Second
	closeWait = 20 * time.Second
)

// A Browser is one process with a fresh profile. Safe for concurrent use.
type Browser struct {
	ctx    context.Context // the browser is known to its library by a context alone
	cancel context.CancelFunc
	home   string
}

// Start starts a browser that lives until Close or until ctx ends. All that it writes is below one folder
// of the temporary folder, which Close removes.
func Start(ctx context.Context) (*Browser, error) {
	path, ok := Find()
	if !ok {
		return nil, errors.New("browsertest: " + HowToGet)
	}
	home, err := os.MkdirTemp("", "stormtest-browser-")
	if err != nil {
		return nil, fmt.Errorf("browsertest: %w", err)
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(ctx, flags(path, home)...)
	tab, cancelTab := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	b := &Browser{ctx: tab, home: home, cancel: func() { cancelTab(); cancelAllocator() }}
	// The first call starts the browser and ties it to the context of that call, so that a deadline would end it later.
	timer := time.AfterFunc(startWait, cancelTab)
	defer timer.Stop()
	if err := chromedp.Do(tab); err != nil {
		b.cancel()
		return nil, errors.Join(fmt.Errorf("browsertest: start %s: %w", path, err), os.RemoveAll(home))
	}
	return b, nil
}

// flags are how the browser is started: nothing that speaks to a network or keeps the page waiting.
func flags(path, home string) []chromedp.ExecAllocatorOption {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(home, "profile")),
		// What it keeps beside its profile, such as crash reports and the files of its shared memory, goes there too.
		chromedp.Env("HOME="+home, "TMPDIR="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.Flag("disable-features", "Translate,MediaRouter,OptimizationHints"), chromedp.Flag("password-store", "basic"),
	}
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check",
		"disable-background-networking", "disable-component-update", "disable-sync", "disable-extensions", "disable-default-apps",
		"disable-breakpad", "disable-crash-reporter", "disable-dev-shm-usage", "disable-domain-reliability", "metrics-recording-only",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding",
		"hide-scrollbars", "mute-audio",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	return options
}

// Close ends the browser with its tabs, waits until its processes are gone, and removes what it wrote.
func (b *Browser) Close() error {
	ctx, cancel := context.WithTimeout(b.ctx, closeWait)
	defer cancel()
	err := chromedp.Cancel(ctx)
	b.cancel()
	if err != nil {
		err = fmt.Errorf("browsertest: end the browser: %w", err)
	}
	return errors.Join(err, b.removeHome())
}

// removeHome removes the browser's folder. Its child processes may outlive it by a moment and write there.
func (b *Browser) removeHome() error {
	var err error
	for range 100 {
		if err = os.RemoveAll(b.home); err == nil && len(processesOf(b.home)) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.Join(err, fmt.Errorf("browsertest: processes %v are left behind", processesOf(b.home)))
}

// processesOf returns the ids of the processes that name the folder in their command line, where the
// system tells them.
func processesOf(folder string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var list []string
	for _, file := range files {
		// A process that has ended in between is none.
		if line, err := os.ReadFile(file); err == nil && containsText(line, folder) {
			list = append(list, filepath.Base(filepath.Dir(file)))
		}
	}
	return list
}
