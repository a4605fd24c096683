// Package browsertest opens pages in a headless Chromium, for tests.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Tab is a page of a browser that ends with the test.
type Tab struct {
	ctx context.Context //nolint:containedctx // chromedp keeps its browser in a context

	mu     sync.Mutex
	faults []string
}

// Open starts a browser with a window of that size, in pixels. Without Chromium
// the test is skipped, unless BRINE_TEST_REQUIRE (a comma list) has "chromium".
func Open(t *testing.T, width, height int) *Tab {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started with -short")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "chromium") {
			t.Fatal("chromium is not installed, and BRINE_TEST_REQUIRE asks for it")
		}
		t.Skip("no chromium")
	}
	// The profile is kept apart from t.TempDir: a browser that ends slowly may
	// still write to it when the test removes that.
	profile, err := os.MkdirTemp("", "brine-test-browser-")
	if err != nil {
		t.Fatal(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.WindowSize(width, height), chromedp.UserDataDir(profile),
		// Tests run as root and in containers without user namespaces; the pages
		// are our own.
		chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
	)
	alloc, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	tab := &Tab{ctx: ctx}
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser
		cancel()
		end()
		_ = os.RemoveAll(profile)
	})
	if err := chromedp.Listen(ctx, tab.heard); err != nil {
		t.Fatal(err)
	}
	return tab
}

// Another opens another tab of the same browser.
func (b *Tab) Another(t *testing.T) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	tab := &Tab{ctx: ctx}
	if err := chromedp.Listen(ctx, tab.heard); err != nil {
		t.Fatal(err)
	}
	return tab
}

// heard takes an event of the page.
func (b *Tab) heard(ev any) {
	text := ""
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text = ev.ExceptionDetails.Text
		if ex := ev.ExceptionDetails.Exception; ex != nil {
			text += " " + ex.Description
		}
	case *log.EventEntryAdded:
		// What the browser itself says, such as of a policy that was broken.
		if ev.Entry.Level == "error" || ev.Entry.Level == "warning" {
			text = ev.Entry.Text
		}
	case *runtime.EventConsoleAPICalled:
		if ev.Type == "error" || ev.Type == "warning" {
			for _, a := range ev.Args {
				text += string(a.Value) + " "
			}
		}
	}
	if text == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, text)
}

// Faults are the exceptions, errors and warnings on the page's console so far.
func (b *Tab) Faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.faults...)
}

// patience is how long an action may take on a loaded machine.
const patience = 2 * time.Minute

// Do runs actions; the test fails where one does.
func (b *Tab) Do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%v\n%s", err, b.shown())
	}
}

// shown is the address and the text of the page, for people who read why a test failed.
func (b *Tab) shown() string {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return ""
	}
	text, err := chromedp.Run(ctx, chromedp.TextContent("body"))
	if err != nil {
		return at
	}
	const most = 4000
	return at + "\n" + strings.Join(strings.Fields(text[:min(len(text), most)]), " ")
}

// Get runs an action and returns its value; the test fails where the action does.
func Get[T any](t *testing.T, b *Tab, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
