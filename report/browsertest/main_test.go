package browsertest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stormtest/report/browsertest"
)

// requiredVariable makes a machine without a browser a failure: where it is set, as in .ci/run, the tests
// of this package are never skipped.
const requiredVariable = "BROWSER_REQUIRED"

// one is the browser of all tests here, started by the first that needs it.
var one struct {
	once    sync.Once
	browser *browsertest.Browser
	err     error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if one.browser != nil {
		if err := one.browser.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// browser returns the browser of all tests, or skips or fails the test where there is none.
func browser(t *testing.T) *browsertest.Browser {
	t.Helper()
	if _, ok := browsertest.Find(); !ok {
		if os.Getenv(requiredVariable) != "" {
			t.Fatalf("%s, and %s is set", browsertest.HowToGet, requiredVariable)
		}
		t.Skipf("NOT TESTED IN A BROWSER: %s", browsertest.HowToGet)
	}
	one.once.Do(func() { one.browser, one.err = browsertest.Start(context.Background()) })
	if one.err != nil {
		t.Fatal(one.err)
	}
	return one.browser
}

// write writes a page of its own for a test and returns where it is.
func write(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a page for a test, which fails if the page does anything wrong until the test's end.
func open(t *testing.T, file string, v browsertest.View) *browsertest.Tab {
	t.Helper()
	tab := openAnyway(t, file, v)
	t.Cleanup(func() { sound(t, tab) })
	return tab
}

// openAnyway is open for a page that may do wrong.
func openAnyway(t *testing.T, file string, v browsertest.View) *browsertest.Tab {
	t.Helper()
	tab, err := browser(t).Open(file, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tab.Close)
	return tab
}

// sound fails the test with all that went wrong in the page.
func sound(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	settle(t, tab)
	if faults := tab.Faults(); len(faults) > 0 {
		t.Errorf("the page is not sound:\n%s", strings.Join(faults, "\n"))
	}
}

func settle(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	if err := tab.Settle(); err != nil {
		t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression in the page.
func eval[T any](t *testing.T, tab *browsertest.Tab, expression string) T {
	t.Helper()
	v, err := browsertest.Eval[T](tab, expression)
	if err != nil {
		t.Fatalf("%.300s: %v", expression, err)
	}
	return v
}
