package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"brine/internal/testkit/browsertest"
)

// A keyboard works with the pages without a pointer.
type keyboard struct {
	t    *testing.T
	base string
	tab  *browsertest.Tab
}

// to presses Tab until an element has the focus, and looks that it shows it.
func (k keyboard) to(sel string) keyboard {
	k.t.Helper()
	k.tab.Do(k.t, chromedp.WaitReady(sel))
	for range 300 {
		k.tab.Do(k.t, chromedp.KeyEvent(kb.Tab))
		state := browsertest.Get(k.t, k.tab, chromedp.Evaluate[string](fmt.Sprintf(`(() => { const e = document.activeElement; return e?.matches(%q) ? getComputedStyle(e).outlineStyle : "" })()`, sel)))
		if state == "" {
			continue
		}
		if state == "none" {
			k.t.Errorf("%s has the focus and does not show it", sel)
		}
		return k
	}
	k.t.Fatalf("Tab does not reach %s", sel)
	return k
}

// press presses keys.
func (k keyboard) press(keys string) keyboard {
	k.t.Helper()
	k.tab.Do(k.t, chromedp.KeyEvent(keys))
	return k
}

// at loads a page.
func (k keyboard) at(path string) keyboard {
	k.t.Helper()
	k.tab.Do(k.t, chromedp.Navigate(k.base+path), chromedp.WaitReady("main"))
	return k
}

// sees waits for an element.
func (k keyboard) sees(sel string) keyboard {
	k.t.Helper()
	k.tab.Do(k.t, chromedp.WaitVisible(sel))
	return k
}

// without waits for a page that has no such element.
func (k keyboard) without(sel string) keyboard {
	k.t.Helper()
	k.tab.Do(k.t, chromedp.WaitNotPresent(sel))
	return k
}

// TestKeyboard builds, checks, runs, stops, approves, schedules and filters with keys alone.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s, base, tab := served(t, 1280, 900, func(base string) *site {
		return newSite(t, func(o *Options) { o.Origins = append(o.Origins, base) })
	})
	k := keyboard{t, base, tab}
	// Somebody builds a chain, of which a field is wrong at first: it has the focus then.
	k.at("/").to("#chains ~ details summary").press(kb.Enter).to("#chain-name").press("friday").press(kb.Enter).sees("#change")
	k.to("#action").press("Run a c").to("form[action$='/step'] button").press(kb.Enter).sees("#command")
	k.to("#targets").press("web1").press(kb.Enter).sees("#command-problem")
	if id := browsertest.Get(t, tab, chromedp.Evaluate[string](`document.activeElement.id`)); id != "command" {
		t.Errorf("the focus is at %q, not at the field that is wrong", id)
	}
	k.press("uptime").press(kb.Enter).sees("#check [role=status]") // it was checked, too
	k.to("a[aria-label='Edit step 1']").press(kb.Enter).sees("#command").at("/chains/friday").to("#check a").press(kb.Enter).sees("main #check [role=status]")
	// The browser says itself that the confirmation is missing.
	k.at("/chains/friday").to("#run-heading ~ form .buttons button").press(kb.Enter)
	if len(s.ran) > 0 {
		t.Error("it was run without a confirmation")
	}
	k.at("/chains/friday").to("#confirm-run").press(" ").to("#run-heading ~ form .buttons button").press(kb.Enter).sees("#run-state.is-running")
	<-s.ran
	k.to("form[action$='/stop'] button").press(kb.Enter).sees("#run-state.is-stopping")
	s.fake.end <- 1
	k.sees("#run-state.is-stopped")
	// What waits is approved, with a comment.
	asks(s, nil)
	k.at("/approvals").to("input[name=comment]").press("looks good").to("form[action$='/approve'] button").press(kb.Enter).sees("#answers")
	if text := browsertest.Get(t, tab, chromedp.TextContent("main")); !strings.Contains(text, "looks good") {
		t.Errorf("approvals: %s", text)
	}
	// It runs once, later.
	k.at("/chains/friday").to("#at").press("01012099" + kb.ArrowRight + "0400A")
	k.to("#confirm-later").press(" ").press(kb.Enter).sees("form[action$='/unschedule'] button")
	if len(s.planned) != 1 || s.planned[0].At.Year() != 2099 || s.planned[0].At.Hour() != 4 {
		t.Errorf("planned: %+v", s.planned)
	}
	k.to("form[action$='/unschedule'] button").press(kb.Enter).without("form[action$='/unschedule']")
	// Lists are filtered and sorted.
	s.execute(jidAt(1), "deploy", nil)
	s.execute(jidAt(2), "other", nil)
	k.at("/history").to("#name").press("dep*").press(kb.Enter).sees("#executions thead a[href*='name=dep']")
	if text := browsertest.Get(t, tab, chromedp.TextContent("#sum")); text != "1 execution" {
		t.Errorf("filtered: %s", text)
	}
	k.to("#executions thead a[title='Sort by User']").press(kb.Enter).sees("th[aria-sort=ascending]")
	// Hosts are ticked and asked.
	k.at("/hosts").to("#hosts [value=web1]").press(" ").to("[formaction='/hosts/ping']").press(kb.Enter).sees("#run-state")
	if c := <-s.ran; strings.Join(c.Args[:4], " ") != "ssh --list web1 test.ping" {
		t.Errorf("ran %v", c.Args)
	}
	s.fake.end <- 0
	// A search from any page.
	k.at("/jobs").to(".find input").press("friday").press(kb.Enter).sees("a[href='/chains/friday']")
	k.at("/recurring").to("#name").press("weekly").to("#when").press("6h").to("#queue").press("ops").to("#confirm-add").press(" ").press(kb.Enter).sees("[aria-label='Pause weekly']")
	for _, fault := range tab.Faults() {
		if !strings.Contains(fault, "422 (Unprocessable") {
			t.Errorf("on the console: %s", fault)
		}
	}
}
