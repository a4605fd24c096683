package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/internal/core/tee"
	"brine/internal/fleet/kept"
)

// printing is a run that goes on, and what keeps its output.
func (s *site) printing(b *browser) (where string, r *run, k *kept.Keeper) {
	s.t.Helper()
	where = b.post("/orchestrations/orch.deploy/run", "confirm", "yes").Header().Get("Location")
	<-s.ran
	r = s.only()
	k, err := r.kept.Keeper(time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	return where, r, k
}

func (s *site) prints(k *kept.Keeper, host, text string) {
	k.Take(tee.Place{JID: fakeJID, Host: host}, tee.Part{Of: "build (cmd.run)", Program: 1, Text: text})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	where, r, k := s.printing(b)
	if text := b.get(where + "/output").Body.String(); !strings.Contains(text, "Nothing was printed so far") {
		t.Errorf("page: %s", text)
	}
	s.prints(k, "web1", "compiling\n10%\r100%\n")
	s.prints(k, "web2", "<script>alert(1)</script>\x1b[31m\n")
	k.Take(tee.Place{Host: "web2"}, tee.Part{Of: "build (cmd.run)", Program: 1, Stderr: true, Text: "no such file\n", Dropped: 7})
	k.Take(tee.Place{Host: "web2"}, tee.Part{Of: "build (cmd.run)", Program: 1, Ended: true, Status: 3})
	s.write(r, `{"event":"host_end","step":"deploy","host":"web2","result":"failed"}`)
	text := b.get(where + "/output").Body.String()
	if one, two := strings.Index(text, ">web1<"), strings.Index(text, ">web2<"); two < 0 || one < two {
		t.Errorf("the host that failed is not the first: %s", text)
	}
	text = b.get(where + "/output?host=web2").Body.String()
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m", "no such file", ">stderr<", "exit status 3", "7 bytes are left out here", `data-events="/runs/`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, text)
		}
	}
	if text = b.get(where + "/output?host=web1").Body.String(); !strings.Contains(text, "100%") || strings.Contains(text, "10%\r") {
		t.Errorf("page: %s", text)
	}
	if text = b.get(where + "/output?q=NO+SUCH").Body.String(); !strings.Contains(text, "1 lines match.") || !strings.Contains(text, "host=web2") {
		t.Errorf("search: %s", text)
	}
	w := b.get(where + "/output/log")
	if text = w.Body.String(); !strings.Contains(text, "web2 build (cmd.run) ! no such file\n") || !strings.Contains(text, "web2 build (cmd.run) = exit status 3\n") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("log: %s", text)
	}
	if text = b.get(where + "/output/log?host=web1").Body.String(); strings.Contains(text, "web2") || !strings.Contains(text, "web1 build (cmd.run) | compiling\n") {
		t.Errorf("log of a host: %s", text)
	}
	status(t, "a bad offset", b.get(where+"/output?host=web1&offset=x"), http.StatusUnprocessableEntity)
	status(t, "a run that is none", b.get("/runs/20200101000000000000/output"), http.StatusNotFound)

	// What is printed later is added, from the offset of the page on.
	events := b.request(http.MethodGet, where+"/output/events?host=web1&offset=0", nil)
	live := &flushes{httptest.NewRecorder(), make(chan struct{}, 64)}
	done := make(chan struct{})
	go func() {
		s.h.ServeHTTP(live, events)
		close(done)
	}()
	<-live.flushed
	s.prints(k, "web1", "linking\n")
	s.fake.end <- 0
	<-done
	if text := live.Body.String(); !strings.Contains(text, "compiling") || !strings.Contains(text, "linking") || !strings.Contains(text, "event: end\n") || !strings.Contains(text, "The run is over.") {
		t.Errorf("events: %s", text)
	}
}

// TestUnheardOutput: a run at whose output nobody looked says so, and one that goes on is
// asked for it.
func TestUnheardOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Viewer)
	store, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	typed, lock, err := store.Create(kept.Spec{Kind: kept.Orchestrations, Name: "orch.deploy"}, nil, func(*kept.Run) []string { return nil })
	if err != nil {
		t.Fatal(err)
	}
	own, err := typed.Mine(lock)
	if err != nil {
		t.Fatal(err)
	}
	if _, heard := typed.Heard(); heard {
		t.Error("somebody listens to what was typed")
	}
	where := "/runs/" + typed.Spec.JID + "/output"
	if text := b.get(where).Body.String(); !strings.Contains(text, "Output is shown from ") {
		t.Errorf("page: %s", text)
	}
	if _, heard := typed.Heard(); !heard {
		t.Error("nobody listens")
	}
	if err := own.End(0, time.Now()); err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
}

// TestAPIOutput reads the output by the API, from offset to offset.
func TestAPIOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	where, _, k := s.printing(b)
	const parts = 300
	for i := range parts {
		s.prints(k, "web1", fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 1000)))
	}
	call := &apiCall{r: b.request(http.MethodGet, where, nil), v: &visit{role: Viewer}}
	call.r.SetPathValue("id", strings.TrimPrefix(where, "/runs/"))
	call.r = route{least: Viewer, may: from(Viewer, readRuns)}.grant(call.r, call.v)
	out, err := s.apiOutput(call, &readOutput{})
	if err != nil || len(out.Hosts) != 1 || out.Hosts[0].ID != "web1" || len(out.Parts) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	seen, answers, offset := 0, 0, ""
	for {
		if out, err = s.apiOutput(call, &readOutput{Host: "web1", Offset: offset}); err != nil {
			t.Fatal(err)
		}
		if len(out.Parts) == 0 {
			break
		}
		if want := fmt.Sprintf("%d ", seen); !strings.HasPrefix(out.Parts[0].Text, want) {
			t.Fatalf("the answer from %s begins with %.20s, not %s", offset, out.Parts[0].Text, want)
		}
		seen, answers, offset = seen+len(out.Parts), answers+1, fmt.Sprint(out.Next)
	}
	if seen != parts || answers < 3 || out.Over {
		t.Errorf("%d parts in %d answers, over %v", seen, answers, out.Over)
	}
	if _, err := s.apiOutput(call, &readOutput{Host: "web1", Offset: "-1"}); err == nil {
		t.Error("a bad offset is none")
	}
	if text, err := json.Marshal(out); err != nil || !strings.Contains(string(text), `"parts":[]`) {
		t.Errorf("%s, %v", text, err)
	}
	s.fake.end <- 0
	s.Wait()
}

// TestOutputMemory: what the hosts of a run print stays on the disk.
func TestOutputMemory(t *testing.T) {
	s := newSite(t, nil)
	b := s.browser(Operator)
	where, _, k := s.printing(b)
	const hosts, each = 40, 2 << 20
	line := strings.Repeat("x", 1023) + "\n"
	part := strings.Repeat(line, 32)
	for i := range hosts {
		for range each / len(part) {
			s.prints(k, fmt.Sprintf("web%d", i), part)
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range hosts {
		if text := b.get(fmt.Sprintf("%s/output?host=web%d", where, i)).Body.Len(); text > 4*shownOutput {
			t.Errorf("a page of %d bytes", text)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes of memory for %d of output", grown, hosts*each)
	}
	s.fake.end <- 0
	s.Wait()
}

// BenchmarkOutputPage renders the page of a host that has printed 10 MB.
func BenchmarkOutputPage(b *testing.B) {
	dir := b.TempDir()
	r, lock, err := kept.New(dir, time.Now).Create(kept.Spec{Kind: kept.Orchestrations}, nil, func(*kept.Run) []string { return nil })
	if err != nil {
		b.Fatal(err)
	}
	defer lock.Close()
	k, err := r.Keeper(time.Now)
	if err != nil {
		b.Fatal(err)
	}
	for range 10_000_000 / 32_000 {
		k.Take(tee.Place{Host: "web1"}, tee.Part{Of: "build (cmd.run)", Text: strings.Repeat(strings.Repeat("x", 79)+"\n", 400)})
	}
	x := &run{kept: r, changed: make(chan struct{})}
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		o := &outputView{Host: "web1", Earlier: -1, Since: time.Now()}
		if o.Hosts, _, err = x.printedHosts(&Scope{}); err == nil {
			err = o.show(-1)
		}
		var text strings.Builder
		if err == nil {
			err = outputPage(page{Title: "Output", Who: &visit{}}, o).Render(b.Context(), &text)
		}
		if err != nil {
			b.Fatal(err)
		}
		size = text.Len()
	}
	b.ReportMetric(float64(size), "bytes/page")
}
