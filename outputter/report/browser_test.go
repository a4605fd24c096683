package report

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
)

// TestHTMLInBrowser opens a page, searches, filters and opens a result. With
// BRINE_TEST_SHOTS, a directory, it leaves pictures there.
func TestHTMLInBrowser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(write(t, "html", Build(orchestration(60), drawn(3)))), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := browsertest.Open(t, 1200, 1400)
	text := func(sel string) string { return browsertest.Get(t, tab, chromedp.TextContent(sel)) }
	wider := func() bool {
		return browsertest.Get(t, tab, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
	}
	tab.Do(t, chromedp.Navigate("file://"+file), chromedp.WaitReady("#table tbody tr"))
	if got := text("#count"); got != "185 of 185 results" {
		t.Errorf("all: %q", got)
	}
	tab.Do(t, chromedp.SendKeys("#search", "web0000"))
	browsertest.Get(t, tab, chromedp.Poll[bool](`document.getElementById("count").textContent === "6 of 185 results"`))
	browsertest.Get(t, tab, chromedp.Evaluate[bool](`const s = document.getElementById("status"); s.value = "5"; s.dispatchEvent(new Event("change"))`))
	if got := text("#count"); got != "2 of 185 results" {
		t.Errorf("failed: %q", got)
	}
	tab.Do(t, chromedp.Click(`#table tbody tr:last-child summary`), chromedp.WaitVisible(`#table tbody tr:last-child pre`))
	if got := text(`#table tbody tr:last-child pre`); !strings.Contains(got, "alert(1)") {
		t.Errorf("opened: %q", got)
	}
	if wider() {
		t.Error("the page is wider than its window")
	}
	if n := browsertest.Get(t, tab, chromedp.Evaluate[int](`document.querySelectorAll("svg.requisites g.failed rect").length`)); n != 1 {
		t.Errorf("%d failed steps in the graph", n)
	}
	shot(t, tab, "report-wide.png")
	media := func(medium, scheme string) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		})
	}
	tab.Do(t, media("screen", "dark"))
	shot(t, tab, "report-dark.png")
	tab.Do(t, media("print", "dark"))
	if got := browsertest.Get(t, tab, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`)); got != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", got)
	}
	shot(t, tab, "report-print.png")
	tab.Do(t, media("screen", "light"))
	tab.Do(t, chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile))
	if wider() {
		t.Error("the page is wider than a phone")
	}
	shot(t, tab, "report-phone.png")
	if faults := tab.Faults(); len(faults) > 0 {
		t.Errorf("on the console: %s", strings.Join(faults, "\n"))
	}
}

func shot(t *testing.T, tab *browsertest.Tab, name string) {
	dir := os.Getenv("BRINE_TEST_SHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), browsertest.Get(t, tab, chromedp.FullScreenshot(100)), 0o600); err != nil {
		t.Fatal(err)
	}
}
