package ui

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"brine/internal/fleet/kept"
	"brine/internal/testkit/browsertest"
)

// served serves a site to a browser that has logged in.
func served(t *testing.T, width, height int, make func(base string) *site) (s *site, base string, tab *browsertest.Tab) {
	t.Helper()
	tab = browsertest.Open(t, width, height)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base = "http://" + l.Addr().String()
	s = make(base)
	srv := &http.Server{Handler: s.h, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	tab.Do(t, chromedp.Navigate(base+"/login?token="+s.Token()), chromedp.WaitVisible("#orchestrations"))
	return s, base, tab
}

// fits is a script that returns how far down the last of some elements ends, and the window.
const fits = `(() => { scrollTo(0, 0); return [Math.ceil(Math.max(0, ...[...document.querySelectorAll(%q)].map((e) => e.getBoundingClientRect().bottom))), innerHeight, document.querySelectorAll(%q).length] })()`

// TestDensity has 40 hosts and a chain of ten steps fit on a screen, and prints them.
func TestDensity(t *testing.T) {
	t.Parallel()
	s, base, tab := served(t, 1920, 1080, func(base string) *site {
		return newSite(t, func(o *Options) { o.Origins = append(o.Origins, base) })
	})
	tab.Do(t, chromedp.EmulateViewport(1920, 1080))
	var steps strings.Builder
	for i := range 10 {
		fmt.Fprintf(&steps, "  - {id: %d, action: cmd, targets: 'web*', command: systemctl restart service-number-%d}\n", i+1, i+1)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "deploy.yml"), []byte("description: Ten steps\nsteps:\n"+steps.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, lock, err := kept.New(filepath.Join(s.dir, "cache"), time.Now).Create(kept.Spec{Kind: kept.Chains, Name: "deploy", User: "ann", Args: []string{"chain"}}, nil, func(*kept.Run) []string { return []string{"chain"} })
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	log, err := r.Log()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	line := func(format string, args ...any) { fmt.Fprintf(log, format+"\n", args...) }
	line(`{"event":"run_start","jid":%q,"total":10}`, r.Spec.JID)
	for i := range 10 {
		line(`{"event":"step_start","id":"deploy_step%d_cmd","fun":"salt.function"}`, i+1)
		if i == 9 {
			line(`{"event":"job_start","jid":"20260101000000000001","step":"deploy_step10_cmd","hosts":40}`)
			for h := range 40 {
				line(`{"event":"host_phase","step":"deploy_step10_cmd","host":"web%02d.example.com","phase":"running","time":"2026-12-01T04:00:00Z"}`, h)
			}
			break
		}
		line(`{"event":"step_end","id":"deploy_step%d_cmd","fun":"salt.function","result":"ok","seconds":1.5}`, i+1)
	}
	for _, x := range []struct {
		path, sel string
		n         int
		printed   string
	}{
		{"/runs/" + r.Spec.JID, ".steps > li, .steps .hosts li", 50, "web39.example.com"},
		{"/chains/deploy", ".steps > li, #run-heading ~ form .buttons button", 13, "service-number-9"},
	} {
		tab.Do(t, chromedp.Navigate(base+x.path), chromedp.WaitVisible(".steps > li"))
		got := browsertest.Get(t, tab, chromedp.Evaluate[[]int](fmt.Sprintf(fits, x.sel, x.sel)))
		if got[2] != x.n || got[0] > got[1] {
			t.Errorf("%s: %d of %d elements, the last of which ends at %d of %d pixels", x.path, got[2], x.n, got[0], got[1])
		}
		if how := browsertest.Get(t, tab, chromedp.Evaluate[string](`getComputedStyle(document.querySelector(".steps > li")).display`)); how != "list-item" {
			t.Errorf("%s: steps are shown as %s, without numbers", x.path, how)
		}
		// On paper, it is without what cannot be used there.
		tab.Media(t, "print")
		if text := browsertest.Get(t, tab, chromedp.Evaluate[string](`document.body.innerText`)); !strings.Contains(text, x.printed) || strings.Contains(text, "Change") || strings.Contains(text, "Run later") || strings.Contains(text, "Log out") || strings.Contains(text, "Who matches") || strings.Contains(text, "Check the chain") {
			t.Errorf("%s is printed as %s", x.path, text)
		}
		tab.Media(t, "")
		t.Logf("%s ends at %d of %d pixels", x.path, got[0], got[1])
	}
}
