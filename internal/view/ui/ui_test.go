package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/internal/core/host"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/drift"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/chain"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// hostile is text that must not get into a page as it is.
const hostile = `"><img src=x onerror=alert(1)><script>alert(1)</script>`

// A fake is a Backend whose runs end when the test says so.
type fake struct {
	dir string
	ran chan command
	end chan int

	work sync.WaitGroup // of the runs

	mu      sync.Mutex
	actions []Action
	drained []string
	deaf    error // what Drain answers
	planned []Planned
	full    error // what Record answers

	faults, unsure []string // of chains
	unfound        bool     // no hosts can be looked up
	note           string   // of matches

	delivered []Delivery
	recurring []Recurrence
	events    chan *value.Map
}

func (f *fake) Catalogue(context.Context) (*Catalogue, error) {
	return &Catalogue{
		Orchestrations: []string{"orch.deploy", "orch." + hostile},
		Chains:         []Entry{{Name: "friday", Description: hostile}, {Name: "bad", Fault: hostile}},
		Templates:      []Entry{{Name: "site", Description: hostile}},
	}, nil
}

func (f *fake) Steps(_ context.Context, sls string) (*value.List, string, error) {
	if sls != "orch.deploy" {
		return nil, "", fmt.Errorf("orchestration %s: %w", sls, ErrNotFound)
	}
	return value.NewList(value.MapOf("state", "salt", "fun", "state", "__id__", hostile, "tgt", hostile, "sls", hostile, "name", hostile,
		"require", value.NewList(value.MapOf("salt", hostile)))), "# " + hostile + "\n", nil
}

func (f *fake) Match(_ context.Context, expr string, _ MatchLevel) (ids []string, note string, err error) {
	if f.unfound {
		return nil, "", errors.New("the roster cannot be read")
	}
	ids, err = f.find(expr)
	return ids, f.note, err
}

// Facts are those of web1.
func (f *fake) Facts(_ context.Context, ids []string) (map[string]*facts.Facts, []error, error) {
	h := host.NewFake()
	h.PutDir("/c", 0o700)
	st := facts.New(h, "/c")
	if err := st.Put("web1", "20260101000000000000", h.Now(), value.MapOf("osfinger", hostile)); err != nil {
		return nil, nil, err
	}
	x, err := st.Get("web1")
	if !slices.Contains(ids, "web1") {
		return nil, nil, err
	}
	return map[string]*facts.Facts{"web1": x}, nil, err
}

// Redact hides what stands behind an equals sign.
func (f *fake) Redact(_ context.Context, texts []string) ([]string, error) {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = regexp.MustCompile(`password=\S+`).ReplaceAllString(text, "password=HIDDEN")
	}
	return out, nil
}

func (f *fake) find(expr string) ([]string, error) {
	switch expr {
	case "none", "L@none":
		return nil, nil
	case "bad":
		return nil, errors.New(hostile)
	case "many":
		ids := make([]string, 250)
		for i := range ids {
			ids[i] = fmt.Sprintf("web%d", i)
		}
		return ids, nil
	case "odd":
		return []string{"-oProxyCommand=x"}, nil
	}
	if id, ok := strings.CutPrefix(expr, "L@"); ok {
		return []string{id}, nil
	}
	return []string{"web1", hostile}, nil
}

func (f *fake) Chains(context.Context) (*chain.Store, error) {
	return &chain.Store{Files: host.NewLocal(), Dir: f.dir}, nil
}

// CheckChain finds what the test says of a chain.
func (f *fake) CheckChain(_ context.Context, name string) (faults, unsure []string, err error) {
	if name == "unread" {
		return nil, nil, errors.New("the roster cannot be read")
	}
	return f.faults, f.unsure, nil
}

func (f *fake) CheckOrchestration(ctx context.Context, name string) (faults, unsure []string, err error) {
	return f.CheckChain(ctx, name)
}

func (f *fake) CheckTemplate(ctx context.Context, name string) (faults, unsure []string, err error) {
	return f.CheckChain(ctx, name)
}

func (f *fake) Template(_ context.Context, name string) (*orchestration.Template, *orchestration.Answers, error) {
	t, err := orchestration.Find(host.NewLocal(), []string{"testdata/orchestration"}, name)
	if _, missing := errors.AsType[*orchestration.NotFoundError](err); missing || !orchestration.ValidName(name) {
		err = fmt.Errorf("template %s: %w", name, ErrNotFound)
	}
	return t, nil, err
}

// Form is that of the formula app.
func (f *fake) Form(_ context.Context, sls string) (*form.Form, error) {
	switch sls {
	case "app":
		text, err := os.ReadFile("testdata/form.yml")
		if err != nil {
			return nil, err
		}
		return orchestration.ParseForm("app/form.yml", text)
	case "broken":
		return nil, errors.New("app/form.yml:1:1: " + hostile)
	}
	return nil, nil
}

func (f *fake) Jobs(_ context.Context, do func(*jobs.Files) error) error {
	return do(jobs.NewFiles(filepath.Join(f.dir, "cache"), 0, time.Now))
}

func (f *fake) History(ctx context.Context, do func(*history.Store) error) error {
	s, err := history.Open(ctx, filepath.Join(f.dir, "history.db"), nil)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

func (f *fake) Drift(context.Context) ([]*drift.Subject, []error, error) {
	return drift.New(host.NewLocal(), filepath.Join(f.dir, "cache")).All()
}

func (f *fake) States(_ context.Context, do func([]string, func(string) string) error) error {
	return do([]string{"db", "top", "web", hostile}, func(name string) string { return "# " + name + " " + hostile + "\n" })
}

func (f *fake) State(_ context.Context, sls string) (*value.List, string, error) {
	if sls != "web" {
		return nil, "# " + hostile, errors.New(hostile)
	}
	return value.NewList(value.MapOf("state", hostile, "fun", "managed", "__id__", hostile, "name", hostile)), "# " + hostile, nil
}

func (f *fake) Planned(context.Context) ([]Planned, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.planned), nil
}

func (f *fake) Recurring(_ context.Context, until time.Time) ([]Recurrence, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.recurring), nil
}

func (f *fake) AddRecurring(_ context.Context, x NewRecurrence) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recurring = append(f.recurring, Recurrence{Name: x.Name, Queue: x.Queue, Runs: x.Kind + " " + x.What, When: x.Every + x.Cron, Zone: x.Zone, User: x.User})
	return nil
}

func (f *fake) ChangeRecurring(_ context.Context, name, what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.recurring, func(x Recurrence) bool { return x.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("schedule %s: %w", name, ErrNotFound)
	case what == RemoveRecurrence:
		f.recurring = slices.Delete(f.recurring, i, i+1)
	default:
		f.recurring[i].Paused = what == PauseRecurrence
	}
	return nil
}

func (f *fake) Schedule(_ context.Context, chain, at, user string, _ []string) error {
	when, err := time.Parse(minutes, at)
	if err != nil {
		when, err = time.Parse(time.RFC3339, at)
	}
	if err != nil {
		return fmt.Errorf("%q is not a date", at)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = append(f.planned, Planned{ID: fmt.Sprintf("%s-%d", chain, len(f.planned)), Chain: chain, At: when, User: user})
	return nil
}

func (f *fake) Unschedule(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned = slices.DeleteFunc(f.planned, func(x Planned) bool { return x.ID == id })
	return nil
}

func (f *fake) Approvals(context.Context) ([]*approval.Entry, error) {
	return approval.New(filepath.Join(f.dir, "cache"), time.Now).List("")
}

func (f *fake) Approve(_ context.Context, id, definition string, a approval.Answer) (*approval.Entry, error) {
	return approval.New(filepath.Join(f.dir, "cache"), time.Now).Decide(id, definition, a)
}

func (f *fake) Runs(context.Context) (*kept.Store, error) {
	return kept.New(filepath.Join(f.dir, "cache"), time.Now), nil
}

// A command is what was run.
type command struct {
	Args    []string
	Answers *value.Map
	User    string
}

func (f *fake) Start(_ context.Context, spec kept.Spec, answers *value.Map) (*kept.Run, error) {
	return f.started(spec, func(killed <-chan struct{}, line func(string)) int {
		line(`{"event":"run_start","jid":"20260101000000000000","total":1}`)
		line(`{"event":"step_start","id":"` + strings.ReplaceAll(hostile, `"`, `\"`) + `","fun":"salt.state"}`)
		line(hostile)
		f.ran <- command{spec.Args, answers, spec.User}
		select {
		case status := <-f.end:
			return status
		case <-killed:
			return -1
		}
	})
}

// started keeps a run whose process is a child of the test, and has it do something; a
// signal ends the child.
func (f *fake) started(spec kept.Spec, do func(killed <-chan struct{}, line func(string)) int) (*kept.Run, error) {
	r, lock, err := kept.New(filepath.Join(f.dir, "cache"), time.Now).Create(spec, nil, func(*kept.Run) []string { return spec.Args })
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	log, err := r.Log()
	if err != nil {
		return nil, err
	}
	child := exec.Command("sleep", "600")
	child.Stdin = lock
	if err := child.Start(); err != nil {
		return nil, err
	}
	p := &kept.Process{Run: r}
	if err := p.Note(child.Process.Pid); err != nil {
		return nil, err
	}
	killed := make(chan struct{})
	go func() {
		_ = child.Wait()
		close(killed)
	}()
	f.work.Go(func() {
		defer log.Close()
		if status := do(killed, func(line string) { fmt.Fprintln(log, line) }); status >= 0 {
			_ = p.End(status, time.Now())
		}
		_ = child.Process.Kill()
		<-killed
	})
	return r, nil
}

func (f *fake) PlanText(made []byte, format string) (string, error) {
	return format + " of " + string(made), nil
}

func (f *fake) End(_ context.Context, r *kept.Run) error { return r.Signal(syscall.SIGKILL) }

func (f *fake) Drain(_ context.Context, jid string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deaf != nil {
		return f.deaf
	}
	f.drained = append(f.drained, jid)
	return nil
}

// Events are those that the test has.
func (f *fake) Events(ctx context.Context, ready func(), each func(tag string, data *value.Map) bool) error {
	ready()
	for {
		select {
		case e := <-f.events:
			if !each(e.Str("tag"), e.Map("data")) {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *fake) SendEvent(_ context.Context, tag string, data *value.Map) (string, error) {
	if tag == "deploy/unheard" {
		return "", ErrNotSent
	}
	return "1 listener: " + value.Repr(data), nil
}

func (f *fake) Enqueue(_ context.Context, d Delivery) (jid string, known bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.delivered {
		for _, id := range d.IDs {
			if x.User == d.User && slices.Contains(x.IDs, id) {
				return "20261129120000000001", true, nil
			}
		}
	}
	f.delivered = append(f.delivered, d)
	return "20261129120000000001", false, nil
}

func (f *fake) Record(ctx context.Context, a Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.actions = append(f.actions, a)
	return f.full
}

func (f *fake) did(a Action) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.actions, func(x Action) bool {
		x.Details = a.Details
		return x == a
	})
}

// said is what the details of the last action with a name are.
func (f *fake) said(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range slices.Backward(f.actions) {
		if a.Name == name {
			return a.Details
		}
	}
	return "none"
}

func always(u *Users) func() (*Users, error) { return func() (*Users, error) { return u, nil } }

// A site is a server of pages for a test.
type site struct {
	t *testing.T
	*Server
	*fake
	h http.Handler
}

const origin = "http://127.0.0.1:8080"

func newSite(t *testing.T, change func(*Options)) *site {
	t.Helper()
	f := &fake{dir: t.TempDir(), events: make(chan *value.Map, 8), ran: make(chan command, 8), end: make(chan int)}
	o := Options{Backend: f, Origins: []string{origin, "http://localhost:8080"}, Owner: "owner", Now: time.Now}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.kill()
		s.Close()
	})
	return &site{t: t, Server: s, fake: f, h: s.Handler()}
}

// kill ends all runs.
func (f *fake) kill() {
	st, _ := f.Runs(context.Background())
	all, _ := st.List()
	for _, id := range all {
		if r, err := st.Open(id); err == nil {
			_ = r.Signal(syscall.SIGKILL)
		}
	}
	f.work.Wait()
}

// Wait waits until all runs have ended, and pages know it.
func (s *site) Wait() {
	s.work.Wait()
	for s.underWay() {
		time.Sleep(time.Millisecond)
	}
}

// active is how many runs have not ended.
func (s *site) active() int {
	s.t.Helper()
	all, err := s.Active(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

func (s *site) underWay() bool {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	for _, r := range s.runs.known {
		if !r.isOver() {
			return true
		}
	}
	return false
}

// only returns the one run that there is.
func (s *site) only() *run {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	for _, r := range s.runs.known {
		return r
	}
	return nil
}

// write adds a line to the log of a run.
func (s *site) write(r *run, line string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(r.kept.Dir(), "log"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintln(f, line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// do answers a request.
func (s *site) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	return w
}

// browser is somebody who has logged in.
type browser struct {
	*site
	cookie *http.Cookie
}

func (s *site) browser(role Role) *browser {
	w := httptest.NewRecorder()
	s.access.enter(w, user{name: role.String(), role: role})
	return &browser{s, w.Result().Cookies()[0]}
}

func (b *browser) request(method, path string, form url.Values) *http.Request {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, origin+path, body)
	r.AddCookie(b.cookie)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
	}
	return r
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	return b.do(b.request(http.MethodGet, path, nil))
}

func (b *browser) csrf() string {
	return b.access.visitor(b.request(http.MethodGet, "/", nil)).csrf
}

func (b *browser) post(path string, kv ...string) *httptest.ResponseRecorder {
	form := url.Values{"csrf": {b.csrf()}}
	for i := 0; i < len(kv); i += 2 {
		form.Set(kv[i], kv[i+1])
	}
	return b.do(b.request(http.MethodPost, path, form))
}

func status(t *testing.T, what string, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Errorf("%s: status %d, want %d: %s", what, w.Code, want, w.Body)
	}
}

// TestHostileText looks at each page with text that others wrote.
func TestHostileText(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	status(t, "a chain", b.post("/chains", "name", "friday", "description", hostile), 303)
	version := func() string { return versionIn(b.get("/chains/friday").Body.String()) }
	status(t, "a step", b.post("/chains/friday/step", "version", version(), "action", "cmd", "targets", "web1", "command", hostile), 303)
	status(t, "a run", b.post("/orchestrations/orch.deploy/run", "confirm", "yes"), 303)
	<-s.ran
	s.write(s.only(), `{"event":"host_end","step":"x","host":"`+strings.ReplaceAll(hostile, `"`, `\"`)+`","result":"failed","comment":"<script>alert(1)</script>"}`)
	s.fake.end <- 1
	s.Wait()
	q := url.QueryEscape(hostile)
	s.execute("20260101000000000001", hostile, func(row *value.Map) {
		for k, v := range row.All() {
			switch key := value.Str(k); key {
			case "host", "step", "fun", "tgt", "comment", "user", "revision":
				row.Set(key, hostile)
			case "detail":
				row.Set(key, value.MapOf("why", hostile))
			case "definition":
				v.(*value.Map).Set("description", hostile)
			}
		}
	})
	s.execute("20260101000000000002", hostile+"2", nil)
	s.record(jobs.Load{JID: "20260101000000000001", Fun: hostile, Arg: value.Strings(hostile), Tgt: hostile, User: hostile, Minions: []string{hostile, "web1"}},
		map[string]value.Value{"web1": hostile, hostile: value.MapOf("a_|-"+hostile+"_|-"+hostile+"_|-b", value.MapOf("result", false, "comment", hostile, "changes", value.MapOf("diff", hostile, "x", hostile)))}, 1)
	status(t, "a date", b.post("/chains/friday/schedule", "version", version(), "confirm", "yes", "at", "2099-01-01T00:00"), 303)
	s.planned[0].User = hostile
	h := url.PathEscape(hostile)
	for _, path := range []string{
		"/history", "/history?name=" + q + "&user=" + q + "&host=" + q + "&status=" + q, "/history?since=" + q, "/history/20260101000000000001", "/history/20260101000000000002",
		"/history/compare?jid=20260101000000000001&jid=20260101000000000002", "/history/compare?jid=" + q + "&jid=x", "/history/" + h,
		"/jobs/20260101000000000001", "/jobs/20260101000000000001?host=" + q, "/hosts", "/hosts/" + h, "/states", "/states?text=" + q, "/states/web", "/states/" + h, "/states/" + h + "/step?chain=" + q,
		"/chains/friday/step?action=state&sls=" + q,
		"/", "/orchestrations/orch.deploy", "/orchestrations/orch.deploy/graph.svg", "/chains/friday", "/chains/friday/text", "/chains/friday/step?step=1",
		"/chains/friday/step?action=pkg&place=" + q, "/runs/" + s.only().ID, "/runs/" + s.only().ID + "/events", "/jobs?text=" + q + "&user=" + q, "/audit?text=" + q + "&user=" + q, "/targets?kind=" + q + "&expr=" + q, "/hosts?expr=" + q, "/hosts?expr=bad", "/drift",
		"/targets?expr=x", "/targets?expr=bad", "/runs?text=" + q + "&state=" + q + "&sort=" + q, "/search?q=" + q, "/history?sort=" + q, "/jobs?since=" + q + "&sort=" + q, "/hosts?sort=" + q, "/templates/site", "/orchestrations/" + url.PathEscape(hostile), "/login?token=" + q,
	} {
		w := b.get(path)
		if w.Code >= 500 {
			t.Errorf("%s: status %d", path, w.Code)
		}
		for _, bad := range []string{"<script>alert", "<img src=x"} {
			if _, rest, found := strings.Cut(w.Body.String(), bad); found {
				t.Errorf("%s: unescaped %s%.40s", path, bad, rest)
			}
		}
	}
}

var versionRE = regexp.MustCompile(`name="version" value="([0-9a-f]{64})"`)

func versionIn(text string) string {
	if m := versionRE.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// TestCheck has the page of a chain check it when it was changed, and shows what cannot
// work, what cannot be judged, and that nothing is known.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	for _, name := range []string{"friday", "unread"} {
		status(t, "new", b.post("/chains", "name", name), 303)
		w := b.post("/chains/"+name+"/step", "version", versionIn(b.get("/chains/"+name).Body.String()), "action", "wait", "seconds", "1")
		if to := w.Header().Get("Location"); to != "/chains/"+name+"?check=yes" {
			t.Errorf("a change leads to %s", to)
		}
	}
	for path, want := range map[string]bool{"/chains/friday?check=yes": true, "/chains/friday": false} {
		if text := b.get(path).Body.String(); strings.Contains(text, "data-check") != want || !strings.Contains(text, `href="/chains/friday/check"`) {
			t.Errorf("%s: %s", path, text)
		}
	}
	if text := s.browser(Viewer).get("/chains/friday?check=yes").Body.String(); strings.Contains(text, "/check") {
		t.Errorf("a viewer is offered a check: %s", text)
	}
	for _, tt := range []struct {
		faults, unsure []string
		want, not      string
	}{
		{nil, nil, `<p role="status" class="">1 step: no fault was found.</p>`, "judged"},
		{nil, []string{"x: " + hostile}, "no fault was found in what can be judged.</p><p>Not judged before the run:</p><ul><li>x: ", "was found.<"},
		{[]string{"y: " + hostile}, []string{"x"}, `<p role="status" class="bad">The chain cannot run as it is.</p>`, "no fault"},
	} {
		s.faults, s.unsure = tt.faults, tt.unsure
		text := b.get("/chains/friday/check").Body.String()
		if !strings.Contains(text, tt.want) || strings.Contains(text, tt.not) || strings.Contains(text, hostile) {
			t.Errorf("%v: %s", tt, text)
		}
	}
	for path, what := range map[string]string{"/orchestrations/orch.deploy": "orchestration", "/templates/site": "template"} {
		if text := b.get(path).Body.String(); !strings.Contains(text, `href="`+path+`/check">Check the `+what) {
			t.Errorf("%s: %s", path, text)
		}
		if text := s.browser(Viewer).get(path).Body.String(); strings.Contains(text, "/check") {
			t.Errorf("a viewer is offered a check: %s", text)
		}
		s.faults, s.unsure = []string{"y: " + hostile}, nil
		if text := b.get(path + "/check").Body.String(); !strings.Contains(text, `<p role="status" class="bad">The `+what+` cannot run as it is.</p>`) || strings.Contains(text, hostile) {
			t.Errorf("%s: %s", path, text)
		}
		s.faults, s.unsure = nil, []string{"x"}
		if text := b.get(path + "/check").Body.String(); !strings.Contains(text, "No fault was found in what can be judged.") {
			t.Errorf("%s: %s", path, text)
		}
	}
	if w := b.get("/chains/unread/check"); w.Code < 400 || strings.Contains(w.Body.String(), "no fault") {
		t.Errorf("a check that failed: %d, %s", w.Code, w.Body)
	}
	status(t, "no chain", b.get("/chains/none/check"), 404)
}

func TestChains(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Editor)
	status(t, "new", b.post("/chains", "name", "friday", "description", "The Friday deployment"), 303)
	status(t, "new again", b.post("/chains", "name", "friday"), 422)
	version := func() string { return versionIn(b.get("/chains/friday").Body.String()) }
	first := version()
	step := func(kv ...string) *httptest.ResponseRecorder {
		return b.post("/chains/friday/step", append([]string{"version", version()}, kv...)...)
	}
	status(t, "add", step("action", "pkg", "targets", "web*", "packages", "nginx=1.24\r\ncurl"), 303)
	status(t, "add", step("action", "wait", "seconds", "5"), 303)
	status(t, "add at a place", step("action", "state", "targets", "web*", "sls", "web, db", "pillar", "a: {b: 1}", "test", "yes", "place", "1"), 303)
	for _, kv := range [][]string{
		{"action", "pkg", "targets", "web*"},
		{"action", "cmd", "command", "ls"},
		{"action", "wait", "seconds", "soon"},
		{"action", "state", "targets", "x", "sls", "x", "pillar", "[1"},
		{"action", "cmd", "targets", "x", "command", "ls", "place", "9"},
	} {
		w := step(kv...)
		status(t, fmt.Sprint(kv), w, 422)
		if !strings.Contains(w.Body.String(), `id="problem"`) {
			t.Errorf("%v: the page does not say why", kv)
		}
	}
	status(t, "an old page", b.post("/chains/friday/remove", "version", first, "step", "1"), 409)
	conflicts(t, b, first)
	status(t, "an old page", b.post("/chains/friday/step", "version", first, "action", "wait", "seconds", "1"), 409)
	status(t, "an old page", b.post("/chains/friday/run", "version", first, "confirm", "yes"), 409)
	status(t, "an old page", b.post("/chains/friday/delete", "version", first, "confirm", "yes"), 409)
	status(t, "edit", step("step", "2", "action", "pkg", "targets", "db*", "packages", "curl"), 303)
	status(t, "move", b.post("/chains/friday/move", "version", version(), "step", "3", "to", "1"), 303)
	status(t, "remove", b.post("/chains/friday/remove", "version", version(), "step", "2"), 303)
	st, _ := s.Chains(t.Context())
	_, text, err := st.Read("friday")
	want := "description: The Friday deployment\nsteps:\n  - action: wait\n    id: 2\n    seconds: 5\n  - action: pkg\n    id: 1\n    targets: db*\n    packages:\n      curl: \"\"\n"
	if string(text) != want || err != nil {
		t.Errorf("file: %v\n%s", err, text)
	}
	status(t, "bad text", b.post("/chains/friday/text", "version", version(), "text", "steps: [{action: none}]"), 422)
	status(t, "text", b.post("/chains/friday/text", "version", version(), "text", "# mine\r\nsteps:\r\n  - {action: wait, seconds: 1}\r\n"), 303)
	status(t, "copy", b.post("/chains/friday/clone", "name", "monday"), 303)
	status(t, "copy to itself", b.post("/chains/friday/clone", "name", "friday"), 422)
	status(t, "delete", b.post("/chains/friday/delete", "version", version()), 422)
	status(t, "delete", b.post("/chains/friday/delete", "version", version(), "confirm", "yes"), 303)
	status(t, "gone", b.get("/chains/friday"), 404)
	if names, _ := st.Names(); !slices.Equal(names, []string{"monday"}) {
		t.Errorf("chains: %v", names)
	}
}

func TestWizard(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Operator)
	text := b.get("/templates/site").Body.String()
	if strings.Contains(text, `name="v:tls:cert"`) || !strings.Contains(text, `name="v:port"`) {
		t.Errorf("fields: %s", text)
	}
	form := []string{"t:web", "web*", "v:port", "80", "b:tls:on", "yes", "v:tls:on", "yes", "v:token", "secret", "n:users", "1", "k:users:0", "ann", "v:users:0:shell", "/bin/sh"}
	w := b.post("/templates/site", append(form, "op", "refresh")...)
	status(t, "refresh", w, 200)
	if text := w.Body.String(); !strings.Contains(text, `name="v:tls:cert"`) || strings.Contains(text, "secret") || !strings.Contains(text, `value="/bin/sh"`) {
		t.Errorf("fields: %s", text)
	}
	if text := b.post("/templates/site", append(form, "op", "add users")...).Body.String(); !strings.Contains(text, `name="k:users:1"`) {
		t.Errorf("added: %s", text)
	}
	if text := b.post("/templates/site", append(form, "op", "remove users:0")...).Body.String(); strings.Contains(text, `name="k:users:0"`) {
		t.Errorf("removed: %s", text)
	}
	if s.did(Action{User: "operator", Name: "run", On: "/templates/site", OK: true}) || !s.did(Action{User: "operator", Name: "template.form", On: "/templates/site", OK: true}) {
		t.Errorf("a form that was filled in is recorded as a run: %v", s.actions)
	}
	w = b.post("/templates/site", append(form, "op", "run", "confirm", "yes")...)
	status(t, "a value is missing", w, 422)
	if !strings.Contains(w.Body.String(), "This needs a value.") {
		t.Errorf("page: %s", w.Body)
	}
	status(t, "nobody matches", b.post("/templates/site", append(form, "op", "run", "confirm", "yes", "v:tls:cert", "x", "t:web", "none")...), 422)
	status(t, "bad number", b.post("/templates/site", append(form, "op", "run", "confirm", "yes", "v:tls:cert", "x", "v:port", "many")...), 422)
	status(t, "many items", b.post("/templates/site", append(form, "op", "run", "confirm", "yes", "v:tls:cert", "x", "n:users", "100000")...), 422)
	status(t, "run", b.post("/templates/site", append(form, "op", "run", "confirm", "yes", "v:tls:cert", "x")...), 303)
	want, _ := yamlsalt.LoadString("{port: '80', tls: {'on': true, cert: x}, token: secret, users: {ann: {shell: /bin/sh}}, targets: {web: 'web*'}}")
	if c := <-s.ran; !value.Equal(c.Answers, want) || slices.Contains(c.Args, "secret") {
		t.Errorf("answers %s, args %v", value.Repr(c.Answers), c.Args)
	}
}

// conflicts tries that the page about a conflict has what the visitor wrote and what is
// there now, and that what it offers saves it.
func conflicts(t *testing.T, b *browser, old string) {
	t.Helper()
	now := b.get("/chains/friday/text").Body.String()
	if !strings.Contains(now, "nginx:") {
		t.Fatalf("the chain is %s", now)
	}
	w := b.post("/chains/friday/text", "version", old, "text", "# mine\nsteps: []\n")
	status(t, "an old text", w, 409)
	for _, part := range []string{"# mine\nsteps: []", "Somebody else changed this chain", "Save your text", "+++ yours", "nginx:"} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("the page about a text has no %q: %s", part, w.Body.String())
		}
	}
	w = b.post("/chains/friday/step", "version", old, "action", "cmd", "targets", "web9", "command", "echo <b>")
	status(t, "an old step", w, 409)
	for _, part := range []string{"command: echo &lt;b&gt;", "targets: web9", "Add it at the end", `name="command" value="echo &lt;b&gt;"`, "nginx:"} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("the page about a step has no %q: %s", part, w.Body.String())
		}
	}
	w = b.post("/chains/friday/about", "version", old, "name", "friday", "description", "Every second Friday")
	status(t, "an old description", w, 409)
	if !strings.Contains(w.Body.String(), "Every second Friday") {
		t.Errorf("the page about a description: %s", w.Body.String())
	}
	w = b.post("/chains/none/text", "version", old, "text", "# mine")
	status(t, "a text of a chain that is gone", w, 409)
	if text := w.Body.String(); !strings.Contains(text, "Somebody else deleted this chain") || !strings.Contains(text, "# mine") || strings.Contains(text, "Save your text") {
		t.Errorf("the page about a chain that is gone: %s", text)
	}
}
