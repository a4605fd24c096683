package ui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"brine/internal/testkit/browsertest"
)

// notPages are the routes of requests that browsers do not show as a page.
var notPages = []string{"/assets/", "/events", "/graph.svg", "/output/log", "/login/oidc", "GET /targets"}

// pageFaults are what is wrong with a page that axe does not look for: no title, a heading
// that is missing or skipped, an id that is there twice, a link or a reference into the page
// that leads nowhere, what the keyboard does not reach, and where nobody sees that it has.
const pageFaults = `(() => {
	const out = [], q = (sel) => [...document.querySelectorAll(sel)];
	if (!/\S+.* - brine$/.test(document.title)) out.push("the title is " + document.title);
	if (q("h1").length !== 1 || q("main").length !== 1) out.push(q("h1").length + " h1 in " + q("main").length + " main");
	let level = 0;
	for (const h of q("h1, h2, h3, h4, h5, h6")) {
		const n = +h.tagName[1];
		if (n > level + 1) out.push(h.tagName + " after h" + level + ": " + h.textContent);
		level = n;
	}
	const ids = q("[id]").map((e) => e.id);
	for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) out.push("two have the id " + id);
	for (const a of q("a[href^='#']")) if (!document.getElementById(decodeURIComponent(a.hash.slice(1)))) out.push("no " + a.hash);
	for (const e of q("[aria-describedby], [aria-labelledby]"))
		for (const id of ((e.getAttribute("aria-describedby") || "") + " " + (e.getAttribute("aria-labelledby") || "")).trim().split(/\s+/))
			if (!document.getElementById(id)) out.push("no #" + id + " of " + e.outerHTML.slice(0, 100));
	for (const e of q("a[href], button, input:not([type=hidden]), select, textarea, summary")) {
		if (e.disabled || e.closest("[aria-hidden=true]") || !e.checkVisibility()) continue;
		e.focus({preventScroll: true});
		if (e.tabIndex < 0 || document.activeElement !== e) { out.push("no key reaches " + e.outerHTML.slice(0, 100)); continue; }
		const s = getComputedStyle(e);
		if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 2) out.push("no focus is seen on " + e.outerHTML.slice(0, 100));
	}
	document.activeElement.blur();
	return out;
})()`

// planted are faults that TestEveryPage has to find, and how they are named.
const planted = `(() => {
	const d = document.createElement("div");
	d.innerHTML = '<h6 id="main">x</h6><a href="#nowhere" tabindex="-1">y</a><p aria-describedby="nothing">z</p><input>' +
		'<button aria-label="b"></button><button aria-label="c"></button><div>wide</div><p>pale</p><a href="/hosts">dim</a>';
	document.querySelector("main").append(d);
	d.querySelector("p:last-of-type").style.cssText = "background: #fff; color: #aaa";
	d.querySelector("a:last-of-type").style.cssText = "outline: none";
	d.querySelector("div").style.cssText = "width: 3000px"; // attributes of style have no effect here
	for (const e of d.querySelectorAll("button")) e.style.cssText = "min-height: 0; height: 9px; width: 9px; padding: 0; margin: 0";
	return true;
})()`

var plantedNames = []string{"H6 after", "two have the id main", "no #nowhere", "no #nothing", "no key reaches <a", "target-size: ", "label: ", "color-contrast: ", "no focus is seen on <a"}

// pagesToSee are the requests whose answers a browser shows, of an editor: all pages, and the
// answers to forms that are wrong.
func pagesToSee(version string) (pages, wrong []sample) {
	all := samples(version)
	for _, x := range routes() {
		if !strings.HasPrefix(x.pattern, "GET ") && x.pattern != "/" || slices.ContainsFunc(notPages, func(n string) bool { return strings.Contains(x.pattern, n) }) {
			continue
		}
		pages = append(pages, all[x.pattern]...)
	}
	pages = append(pages,
		sample{path: "/runs/RUN", before: aRun(false)},
		sample{path: "/jobs/" + orchJID}, sample{path: "/jobs?jid=nothing"}, sample{path: "/history?since=nothing"},
		sample{path: "/hosts?expr=nothing*"}, sample{path: "/chains/friday/step?action=upgrade"}, sample{path: "/states/web/step"},
	)
	for _, path := range []string{"/chains", "/chains/friday/clone", "/chains/friday/step", "/chains/friday/schedule", "/chains/friday/about", "/chains/friday/text", "/templates/site", "/hosts/run", "/recurring"} {
		wrong = append(wrong, sample{path: path, form: []string{"action", "cmd", "op", "run", "text", "steps: [", "version", version, "host", "web1"}})
	}
	return pages, wrong
}

// TestEveryPage has axe and a few checks of our own look at all pages and at the answers to
// wrong forms, with all that can be opened open, in both colour schemes, on a screen and on a
// phone, where nothing may scroll sideways. All rules are for the light screen, contrast for the
// dark one, and the size of targets for the phone; with BRINE_SOAK, all are for all.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	var sp *spy
	s, base, tab := served(t, 1280, 900, func(base string) *site {
		var s *site
		s, sp = sampleSite(t, base)
		recurringOne(s, sp)
		return s
	})
	st, _ := s.Chains(t.Context())
	_, text, _ := st.Read("friday")
	pages, wrong := pagesToSee(versionOf(text))
	look := func(name string) {
		t.Helper()
		browsertest.Get(t, tab, chromedp.Evaluate[int](`[...document.querySelectorAll("details")].map((d) => d.open = true).length`))
		tab.Do(t, chromedp.KeyEvent(kb.Tab)) // for browsers to show the focus
		for _, fault := range browsertest.Get(t, tab, chromedp.Evaluate[[]string](pageFaults)) {
			t.Errorf("%s: %s", name, fault)
		}
		for _, width := range []int64{1280, 390} {
			tab.Do(t, chromedp.EmulateViewport(width, 900))
			if tab.Wider(t) {
				t.Errorf("%s: wider than %d pixels", name, width)
			}
			for _, scheme := range []string{"light", "dark"} {
				var faults []string
				switch {
				case os.Getenv("BRINE_SOAK") != "" || scheme == "light" && width == 1280:
					tab.Scheme(t, scheme)
					faults = tab.Axe(t, false)
				case width == 1280:
					tab.Scheme(t, scheme)
					faults = tab.AxeRule(t, "color-contrast")
				case scheme == "light":
					faults = tab.AxeRule(t, "target-size")
				}
				for _, fault := range faults {
					t.Errorf("%s, %s, %d: %s", name, scheme, width, fault)
				}
			}
		}
		tab.Scheme(t, "light")
	}
	tab.Do(t, chromedp.KeyEvent(kb.Tab))
	browsertest.Get(t, tab, chromedp.Evaluate[bool](planted))
	found := strings.Join(append(browsertest.Get(t, tab, chromedp.Evaluate[[]string](pageFaults)), tab.Axe(t, false)...), "\n")
	for _, name := range plantedNames {
		if !strings.Contains(found, name) {
			t.Errorf("no %q in what was found: %s", name, found)
		}
	}
	tab.Scheme(t, "dark")
	if !tab.Wider(t) || len(tab.AxeRule(t, "target-size")) == 0 || !strings.Contains(strings.Join(tab.AxeRule(t, "color-contrast"), ""), "#aaaaaa") {
		t.Error("a wide page with small targets and pale text is not found")
	}
	tab.Scheme(t, "light")
	for _, m := range pages {
		path := m.path
		if m.before != nil {
			path = strings.ReplaceAll(path, "RUN", m.before(s, sp))
		}
		tab.Do(t, chromedp.Navigate(base+path), chromedp.WaitReady("main"))
		look(path)
		if strings.HasPrefix(path, "/runs/") && s.underWay() {
			s.fake.end <- 0
			s.Wait()
		}
	}
	csrf := browsertest.Get(t, tab, chromedp.Evaluate[string](`document.querySelector("[name=csrf]").value`))
	for _, m := range wrong {
		form := formOf(m.form)
		form.Set("csrf", csrf)
		tab.Do(t, chromedp.Navigate(base+"/drift"), chromedp.WaitReady("main"))
		browsertest.Get(t, tab, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
			const f = document.createElement("form");
			f.method = "post"; f.action = %q;
			for (const [k, v] of new URLSearchParams(%q)) { const i = document.createElement("input"); i.type = "hidden"; i.name = k; i.value = v; f.append(i); }
			document.body.append(f); document.querySelector("main").remove(); f.submit(); return true;
		})()`, m.path, form.Encode())))
		tab.Do(t, chromedp.WaitVisible("main"))
		if browsertest.Get(t, tab, chromedp.Evaluate[int](`document.querySelectorAll(".problem, [aria-invalid]").length`)) == 0 {
			t.Errorf("POST %s was to be refused", m.path)
		}
		look("POST " + m.path)
	}
}
