package ui

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"brine/internal/fleet/history"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/testkit/browsertest"
	"brine/internal/testkit/historytest"
)

// A flood is a backend whose runs work on many hosts for some time.
type flood struct {
	*fake
	hosts int
	lasts time.Duration
	ready chan struct{} // closed when the page looks
}

func (f *flood) Start(_ context.Context, spec kept.Spec, _ *value.Map) (*kept.Run, error) {
	return f.started(spec, f.run)
}

func (f *flood) run(killed <-chan struct{}, line func(string)) int {
	line(`{"event":"run_start","jid":"20260101000000000000","total":1}`)
	line(`{"event":"step_start","id":"all","fun":"salt.state"}`)
	line(fmt.Sprintf(`{"event":"job_start","jid":"20260101000000000001","step":"all","hosts":%d}`, f.hosts))
	select {
	case <-f.ready:
	case <-killed:
		return -1
	}
	phases := []string{"connecting", "authenticating", "pushing", "running", ""}
	tick := time.NewTicker(f.lasts / time.Duration(f.hosts*len(phases)))
	defer tick.Stop()
	for _, phase := range phases {
		for i := range f.hosts {
			<-tick.C
			text := fmt.Sprintf(`{"event":"host_phase","step":"all","host":"web%d","phase":%q}`, i, phase)
			if phase == "" {
				text = fmt.Sprintf(`{"event":"host_end","step":"all","host":"web%d","result":"changed"}`, i)
			}
			line(text)
		}
	}
	line(`{"event":"step_end","id":"all","fun":"salt.state","result":"changed","seconds":1}`)
	return 0
}

// TestRunInBrowser keeps the page of a run on 1,000 hosts up to date in a browser.
// BRINE_BENCH_UI is how long, such as 30s: then it tells how the browser fared.
func TestRunInBrowser(t *testing.T) {
	t.Parallel()
	lasts, err := time.ParseDuration(os.Getenv("BRINE_BENCH_UI"))
	bench := err == nil
	if !bench {
		lasts = 2 * time.Second
	}
	tab := browsertest.Open(t, 1100, 900)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	f := &flood{fake: &fake{dir: t.TempDir()}, hosts: 1000, lasts: lasts, ready: make(chan struct{})}
	s, err := New(Options{Backend: f, Origins: []string{base}, Owner: "owner", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() {
		f.kill()
		_ = srv.Close()
		s.Close()
	})
	tab.Do(t, chromedp.Navigate(base+"/login?token="+s.Token()), chromedp.WaitVisible("#orchestrations"), chromedp.Navigate(base+"/orchestrations/orch.deploy"),
		chromedp.Click("[name=confirm]"), chromedp.Click("section .buttons button"), chromedp.WaitVisible("#steps progress"))
	browsertest.Get(t, tab, chromedp.Evaluate[bool](`
		window.gaps = []; window.updates = 0; window.seen = new Set();
		let last = performance.now();
		const frame = () => { const now = performance.now(); gaps.push(now - last); last = now; requestAnimationFrame(frame); };
		requestAnimationFrame(frame);
		new MutationObserver(() => { updates++; seen.add(document.querySelector("#steps progress").value); }).observe(document.getElementById("run"), {childList: true, subtree: true, characterData: true});
		true`))
	close(f.ready)
	tab.Do(t, chromedp.WaitVisible("#run-state.is-succeeded"))
	text := browsertest.Get(t, tab, chromedp.TextContent("#steps"))
	updates := browsertest.Get(t, tab, chromedp.Evaluate[int](`updates`))
	gaps := browsertest.Get(t, tab, chromedp.Evaluate[[]float64](`gaps`))
	if !strings.Contains(text, "1000 of 1000 hosts done") || updates < 2 {
		t.Errorf("%d updates: %s", updates, text)
	}
	seen := func(id string) chromedp.Action[chromedp.Void] {
		return chromedp.WaitVisible(`.window a[href$="host=` + id + `"]`)
	}
	tab.Do(t, chromedp.Click(".hosts a[href$='/hosts?step=1']"), seen("web0"))
	scroll := browsertest.Get(t, tab, chromedp.Evaluate[float64](`(() => { const w = document.getElementById("window"); w.scrollTop = w.scrollHeight; return w.scrollHeight })()`))
	tab.Do(t, seen("web999"))
	if n := browsertest.Get(t, tab, chromedp.Evaluate[int](`document.querySelectorAll(".window li").length`)); n > windowShown || scroll < 1000*20 {
		t.Errorf("%d of 1000 hosts are in the page, which scrolls %g pixels", n, scroll)
	}
	browsertest.Get(t, tab, chromedp.Evaluate[float64](`document.getElementById("window").scrollTop = 0`))
	tab.Do(t, seen("web0"))
	for _, fault := range tab.Axe(t, false) {
		t.Error(fault)
	}
	if !bench {
		return
	}
	slices.Sort(gaps)
	at := func(q float64) float64 { return gaps[int(q*float64(len(gaps)-1))] }
	t.Logf("%d updates in %s; between two frames: median %.0f ms, 99%% %.0f ms, most %.0f ms", updates, lasts, at(0.5), at(0.99), at(1))
}

// TestExecutionInBrowser keeps the page of an execution up to date, and leaves open
// what somebody has opened there.
func TestExecutionInBrowser(t *testing.T) {
	t.Parallel()
	tab := browsertest.Open(t, 1100, 900)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	s := newSite(t, func(o *Options) { o.Origins = []string{base} })
	srv := &http.Server{Handler: s.h, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	rows := historytest.Rows(jidAt(1), "deploy", 2, 2, map[string]bool{"web1": true})
	store := func(rows []*value.Map) {
		t.Helper()
		if err := s.History(t.Context(), func(st *history.Store) error { return st.Return(t.Context(), rows) }); err != nil {
			t.Fatal(err)
		}
	}
	half := len(rows) / 2
	store(rows[:half])
	tab.Do(t, chromedp.Navigate(base+"/login?token="+s.Token()), chromedp.WaitVisible("#orchestrations"), chromedp.Navigate(base+"/history/"+jidAt(1)),
		chromedp.WaitVisible("#execution-state.is-running"), chromedp.Click("#time-1 summary"), chromedp.WaitVisible("#time-1 .lanes"))
	store(rows[half:])
	tab.Do(t, chromedp.WaitVisible("#execution-state.is-failed"), chromedp.WaitVisible("#time-1 .lanes"), chromedp.WaitVisible("#time-2 .lanes"))
	if text := browsertest.Get(t, tab, chromedp.TextContent("main")); !strings.Contains(text, "The execution has ended: failed.") || !strings.Contains(text, "1 failed") {
		t.Errorf("page: %s", text)
	}
	for _, fault := range tab.Axe(t, false) {
		t.Error(fault)
	}
}
