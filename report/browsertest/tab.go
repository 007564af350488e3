package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

func containsText(text []byte, part string) bool { return bytes.Contains(text, []byte(part)) }

// tabWait bounds all that is done with one tab.
const tabWait = 2 * time.Minute

// A View is how a page is looked at. The zero is 1280 by 800 pixels, light, on a screen.
type View struct {
	Width, Height int64 // CSS pixels
	Dark          bool  // what the reader's system asks for
	Print         bool  // the style sheet of paper
}

// A Tab is one page that was loaded. Not safe for concurrent use, except for its faults.
type Tab struct {
	ctx     context.Context // as in Browser
	cancel  context.CancelFunc
	answers sync.WaitGroup // to dialogs

	mu     sync.Mutex
	url    string
	seen   bool // the request for the page itself
	faults []string
}

// Open loads a file in a tab of its own, waits for its load event, and returns the tab. An error says that
// the page could not be loaded; what is wrong with a page that could is in Faults.
func (b *Browser) Open(file string, v View) (*Tab, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("browsertest: %w", err)
	}
	// A context of the browser's own for each tab: no two share what they stored.
	ctx, cancelTab := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	ctx, cancelWait := context.WithTimeout(ctx, tabWait)
	t := &Tab{
		ctx: ctx, cancel: func() { cancelTab(); cancelWait() },
		url: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(),
	}
	if err := t.load(v); err != nil {
		t.cancel()
		return nil, fmt.Errorf("browsertest: open %s: %w", file, err)
	}
	return t, nil
}

func (t *Tab) load(v View) error {
	if err := chromedp.Do(t.ctx); err != nil { // opens the tab, so that nothing is missed
		return err
	}
	if err := chromedp.Listen(t.ctx, t.hear); err != nil {
		return err
	}
	_, err := chromedp.Call(t.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	if err != nil {
		return err
	}
	_, err = chromedp.Call(t.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	if err != nil {
		return err
	}
	if err := t.Look(v); err != nil {
		return err
	}
	return chromedp.Do(t.ctx, chromedp.Navigate(t.url))
}

// Look changes how the page is looked at.
func (t *Tab) Look(v View) error {
	if v.Width == 0 {
		v.Width, v.Height = 1280, 800
	}
	if v.Height == 0 {
		v.Height = 800
	}
	media, scheme := "", "light" // no media is the screen, and paper where the page is printed
	if v.Print {
		media = "print"
	}
	if v.Dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		return err
	}
	return chromedp.Do(t.ctx, chromedp.EmulateViewport(v.Width, v.Height))
}

// badCalls are the calls to the console that are a fault.
var badCalls = []runtime.ConsoleAPICalledType{runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert}

// hear takes what the browser tells of the page, one event at a time.
func (t *Tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if slices.Contains(badCalls, e.Type) {
			t.fault("console %s: %s", e.Type, argumentsText(e.Args))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		t.fault("exception: %s", text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			t.fault("%s %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		t.hearRequest(e.Request.URL)
	case *page.EventJavascriptDialogOpening:
		t.fault("dialog %s: %s", e.Type, e.Message)
		t.answers.Go(func() { // an answer from here would wait for itself
			_, _ = chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		})
	case *page.EventWindowOpen:
		t.fault("a window was opened: %s", e.URL)
	case *inspector.EventTargetCrashed:
		t.fault("the page crashed")
	}
}

// hearRequest: a page is one file, so the first request is for it and there is no other. What is in the
// page itself (data:) is no request that leaves it.
func (t *Tab) hearRequest(address string) {
	t.mu.Lock()
	first := !t.seen && address == t.url
	t.seen = t.seen || first
	t.mu.Unlock()
	if !first && !strings.HasPrefix(address, "data:") {
		t.fault("a request for %.200s", address)
	}
}

func (t *Tab) fault(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// argumentsText is what a call to the console was given.
func argumentsText(args []*runtime.RemoteObject) string {
	var parts []string
	for _, a := range args {
		if a.Description != "" {
			parts = append(parts, a.Description)
			continue
		}
		parts = append(parts, string(a.Value))
	}
	return strings.Join(parts, " ")
}

// Faults returns what went wrong in the page so far.
func (t *Tab) Faults() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.faults)
}

// Close closes the tab.
func (t *Tab) Close() {
	t.cancel()
	t.answers.Wait()
}

// Eval runs a JavaScript expression in the page and returns its value; a promise is waited for.
func Eval[T any](t *Tab, expression string) (T, error) {
	return chromedp.Run(t.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Do takes steps of chromedp's own in the tab.
func (t *Tab) Do(steps ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(t.ctx, steps...) }

// Settle waits until the page has drawn what was done to it: two frames.
func (t *Tab) Settle() error {
	_, err := Eval[bool](t, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	return err
}

// Screenshot returns the whole page as a PNG. The view becomes as high as the page first, so that what is drawn only
// when it comes into view is drawn.
func (t *Tab) Screenshot() ([]byte, error) {
	size, err := Eval[[]int64](t, `[innerWidth, document.documentElement.scrollHeight]`)
	if err != nil {
		return nil, err
	}
	if err := chromedp.Do(t.ctx, chromedp.EmulateViewport(size[0], size[1])); err != nil {
		return nil, err
	}
	if err := t.Settle(); err != nil {
		return nil, err
	}
	return chromedp.Run(t.ctx, chromedp.FullScreenshot(100))
}

// PDF prints the page on A4.
func (t *Tab) PDF() ([]byte, error) {
	return chromedp.Run(t.ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize()))
}
