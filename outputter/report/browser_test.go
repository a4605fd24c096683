package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
)

// TestHTMLInBrowser opens a page, searches, filters and opens a result. With
// BRINE_TEST_SHOTS, a directory, it leaves pictures there.
func TestHTMLInBrowser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(write(t, "html", Build(orchestration(60), info()))), 0o600); err != nil {
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
	browsertest.Get(t, tab, chromedp.Evaluate[bool](`const s = document.getElementById("status"); s.value = "4"; s.dispatchEvent(new Event("change"))`))
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
	shot(t, tab, "report-wide.png")
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
