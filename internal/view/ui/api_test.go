package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/testkit"
)

// withToken lets a token of a role in, and returns its secret.
func (s *site) withToken(role Role, scope Scope) (secret string) {
	text, hash := NewToken()
	s.opts.Tokens = func() (*Tokens, error) {
		return &Tokens{all: []*Token{{Name: "ci", Role: role, Scope: scope, Created: time.Unix(0, 0), Hash: hash}}}, nil
	}
	return text
}

// ask sends a request with a token; a body that is "" is none.
func (s *site) ask(method, path, secret, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, origin+path, strings.NewReader(body))
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(r)
}

// problemIn checks an answer that is a problem, and returns its kind.
func problemIn(t *testing.T, what string, w *httptest.ResponseRecorder) string {
	t.Helper()
	var p Problem
	d := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || p.Status != w.Code || p.Title == "" || p.Detail == "" || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %d, not a problem: %v: %s", what, w.Code, err, w.Body)
	}
	checkSchema(t, "Problem", w.Body.Bytes())
	return strings.TrimPrefix(p.Type, problemType)
}

// checkSchema compares an answer with a schema of the document.
func checkSchema(t *testing.T, name string, text []byte) {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(Document(), &doc); err != nil {
		t.Fatal(err)
	}
	doc["$ref"] = "#/components/schemas/" + name
	raw, err := json.Marshal(doc)
	file := filepath.Join(t.TempDir(), "schema.json")
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	testkit.CheckSchema(t, file, text)
}

// checkAnswer compares an answer with the document: no field is missing, and none is
// there that the document does not have.
func checkAnswer(t *testing.T, what string, o *apiOp, w *httptest.ResponseRecorder) {
	t.Helper()
	text := w.Body.Bytes()
	if o.events {
		_, data, _ := strings.Cut(w.Body.String(), "data: ")
		text = []byte(data)
	}
	if o.status == http.StatusNoContent || o.answer == reflect.TypeFor[plainText]() {
		return
	}
	if !o.events && w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%s: type %s", what, w.Header().Get("Content-Type"))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(reflect.New(o.answer).Interface()); err != nil {
		t.Errorf("%s: %v: %s", what, err, text)
	}
	checkSchema(t, o.answer.Name(), text)
}

// An apiSample is a request of a route of the API.
type apiSample struct {
	scope      Scope // of the token, where it needs one
	path, body string
	least      Role // as in sample
	before     func(*site, *spy) string
	// inScope says that a token that is limited to the chain friday may have this.
	inScope bool
}

// with is the path and the body with the id of a run.
func (m apiSample) with(id string) (path, body string) {
	return strings.ReplaceAll(m.path, "RUN", id), strings.ReplaceAll(m.body, "RUN", id)
}

// aChainRun starts a run of the chain friday.
func aChainRun(over bool) func(*site, *spy) string {
	return func(s *site, _ *spy) string {
		x, _, err := s.runs.start(s.t.Context(), runSpec{Spec: kept.Spec{Kind: kept.Chains, Name: "friday"}}, "editor")
		if err != nil {
			s.t.Fatal(err)
		}
		<-s.ran
		if over {
			s.fake.end <- 1
			<-x.done()
		}
		return x.ID
	}
}

// aPlan makes a plan.
func aPlan(s *site, sp *spy) string { return planOf(kept.Plans, "orch.deploy")(s, sp) }

// planOf makes the plan of something.
func planOf(kind, name string) func(*site, *spy) string {
	return func(s *site, _ *spy) string { return s.makePlan(kind, name) }
}

func (s *site) makePlan(kind, name string) string {
	x, _, err := s.runs.start(s.t.Context(), runSpec{Spec: kept.Spec{Kind: kind, Name: name}}, "editor")
	if err == nil {
		<-s.ran
		err = os.WriteFile(x.kept.PlanFile(), []byte(`{"format": 1, "steps": []}`), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.fake.end <- 0
	<-x.done()
	return x.ID
}

// versionNow has the version of a chain in the place of the id of a run.
func versionNow(name string) func(*site, *spy) string {
	return func(s *site, _ *spy) string {
		st, err := s.Chains(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		_, text, err := st.Read(name)
		if err != nil {
			s.t.Fatal(err)
		}
		return versionOf(text)
	}
}

// apiSamples are requests of all routes of the API, by their patterns.
func apiSamples() map[string][]apiSample {
	planned := func(s *site, _ *spy) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.planned = []Planned{{ID: "friday-0", Chain: "friday", At: s.opts.Now()}, {ID: "monday-0", Chain: "monday", At: s.opts.Now()}}
		return ""
	}
	runs := func(s *site, sp *spy) string {
		aChainRun(true)(s, sp)
		return aRun(true)(s, sp)
	}
	const answers = `{"targets": {"web": "web1"}, "values": {"port": 80, "token": "0123"}}`
	v1 := map[string][]apiSample{
		"GET /openapi.json":                 {{path: "/openapi.json", inScope: true}},
		"GET /orchestrations":               {{path: "/orchestrations", inScope: true}},
		"GET /orchestrations/{name}":        {{path: "/orchestrations/orch.deploy"}},
		"POST /orchestrations/{name}/runs":  {{path: "/orchestrations/orch.deploy/runs", body: `{"test": true}`}},
		"POST /orchestrations/{name}/plans": {{path: "/orchestrations/orch.deploy/plans"}},
		"POST /chains/{name}/plans":         {{path: "/chains/friday/plans", inScope: true}, {path: "/chains/monday/plans"}},
		"POST /templates/{name}/plans":      {{path: "/templates/site/plans", body: answers}},
		"GET /plans/{id}":                   {{path: "/plans/RUN", before: aPlan}, {path: "/plans/RUN", before: planOf(kept.ChainPlans, "friday"), inScope: true}, {path: "/plans/RUN", before: planOf(kept.TemplatePlans, "site")}},
		"GET /plans/{id}/text":              {{path: "/plans/RUN/text?format=diff", before: aPlan}, {path: "/plans/RUN/text", before: planOf(kept.ChainPlans, "friday"), inScope: true}},
		"POST /plans/{id}/runs":             {{path: "/plans/RUN/runs", before: aPlan}, {path: "/plans/RUN/runs", before: planOf(kept.ChainPlans, "friday"), inScope: true}},
		"GET /history/export":               {{path: "/history/export?name=deploy"}},
		"GET /chains":                       {{path: "/chains", inScope: true}},
		"GET /chains/{name}":                {{path: "/chains/friday", inScope: true}, {path: "/chains/monday"}},
		"POST /chains/{name}/runs":          {{path: "/chains/friday/runs", inScope: true}, {path: "/chains/monday/runs"}},
		"PUT /chains/{name}": {
			{path: "/chains/friday", body: `{"text": "steps: []\n", "version": "RUN"}`, before: versionNow("friday"), inScope: true, least: Editor},
			{path: "/chains/monday", body: `{"text": "steps: []\n", "version": "RUN"}`, before: versionNow("monday"), least: Editor},
		},
		"DELETE /chains/{name}":            {{path: "/chains/friday", inScope: true}, {path: "/chains/monday"}},
		"GET /orchestrations/{name}/check": {{path: "/orchestrations/orch.deploy/check"}},
		"GET /templates/{name}/check":      {{path: "/templates/site/check"}},
		"GET /chains/{name}/check":         {{path: "/chains/friday/check", inScope: true}, {path: "/chains/monday/check"}},
		"POST /chains/{name}/schedules": {
			{path: "/chains/friday/schedules", body: `{"at": "2099-01-01T00:00:00Z"}`, inScope: true},
			{path: "/chains/monday/schedules", body: `{"at": "2099-01-01T00:00:00+01:00"}`},
		},
		"DELETE /chains/{name}/schedules/{schedule}": {{path: "/chains/friday/schedules/friday-0", before: planned, inScope: true}, {path: "/chains/monday/schedules/monday-0", before: planned}},
		"GET /schedules":                {{path: "/schedules", before: planned, inScope: true}},
		"GET /recurring":                {{path: "/recurring", before: recurringOne, inScope: true}},
		"POST /recurring":               {{path: "/recurring", body: `{"name": "weekly", "queue": "ops", "kind": "template", "what": "site@week", "every": "6h"}`}},
		"POST /recurring/{name}/pause":  {{path: "/recurring/weekly/pause", before: recurringOne, inScope: true}},
		"POST /recurring/{name}/resume": {{path: "/recurring/weekly/resume", before: recurringOne, inScope: true}},
		"DELETE /recurring/{name}":      {{path: "/recurring/weekly", before: recurringOne, inScope: true}},
		"GET /templates":                {{path: "/templates", inScope: true}},
		"GET /templates/{name}":         {{path: "/templates/site"}},
		"POST /templates/{name}/runs":   {{path: "/templates/site/runs", body: answers}, {path: "/templates/site/runs", body: strings.Replace(answers, "{", `{"resume": "`+siteJID+`", `, 1)}, {path: "/templates/site/runs", body: strings.Replace(answers, "{", `{"plan": "RUN", `, 1), before: planOf(kept.TemplatePlans, "site")}},
		"GET /runs":                     {{path: "/runs", before: runs, inScope: true}},
		"GET /runs/{id}":                {{path: "/runs/RUN", before: aChainRun(true), inScope: true}, {path: "/runs/RUN", before: aRun(true)}},
		"GET /runs/{id}/events":         {{path: "/runs/RUN/events", before: aChainRun(true), inScope: true}, {path: "/runs/RUN/events", before: aRun(true)}},
		"GET /runs/{id}/output":         {{path: "/runs/RUN/output", before: aChainRun(true), inScope: true}, {path: "/runs/RUN/output?host=web1&offset=0", before: aRun(true)}},
		"POST /functions":               {{path: "/functions", body: `{"function": "test.echo", "target": "web*", "arguments": ["x"]}`}},
		"POST /runs/{id}/stop":          {{path: "/runs/RUN/stop", before: aChainRun(false), inScope: true}, {path: "/runs/RUN/stop", before: aRun(false)}},
		"POST /runs/{id}/kill":          {{path: "/runs/RUN/kill", before: aChainRun(false), inScope: true}, {path: "/runs/RUN/kill", before: aRun(false)}},
		"POST /runs/{id}/resume":        {{path: "/runs/RUN/resume", before: aChainRun(true), inScope: true}, {path: "/runs/RUN/resume", before: aRun(true)}},
		"GET /approvals":                {{path: "/approvals?all=true", before: asks, inScope: true}},
		"POST /approvals/{id}/approve":  {{path: "/approvals/RUN/approve", before: asks, inScope: true}},
		"POST /approvals/{id}/refuse":   {{path: "/approvals/RUN/refuse", body: `{"comment": "no"}`, before: asks, inScope: true}},
		"GET /jobs":                     {{path: "/jobs?all=true", inScope: true}},
		"GET /jobs/{jid}":               {{path: "/jobs/" + chainStepJID, inScope: true}, {path: "/jobs/" + chainJID, inScope: true}, {path: "/jobs/" + stepJID}, {path: "/jobs/" + adHocJID}},
		"POST /jobs/{jid}/resume": {
			{path: "/jobs/" + orchJID + "/resume"},
			{path: "/jobs/" + chainJID + "/resume", inScope: true},
			{path: "/jobs/" + adHocOrchJID + "/resume", least: Editor},
		},
		"POST /jobs/{jid}/retry": {
			{path: "/jobs/" + stepJID + "/retry"},
			{path: "/jobs/" + chainStepJID + "/retry"},
			{path: "/jobs/" + pingJID + "/retry"},
			{path: "/jobs/" + adHocJID + "/retry", least: Editor},
		},
		"GET /history":       {{path: "/history?limit=1", inScope: true}},
		"GET /history/{jid}": {{path: "/history/" + chainJID, inScope: true}, {path: "/history/" + jidAt(1)}},
		"GET /hosts":         {{path: "/hosts?expr=G@os:x"}},
		"GET /hosts/{id}":    {{path: "/hosts/web1"}},
		"GET /audit":         {{path: "/audit", inScope: true}},
		"POST /events":       {{path: "/events", body: `{"tag": "deploy/done", "data": {"n": 1}}`, scope: Scope{Events: []string{"deploy"}}}},
	}
	out := map[string][]apiSample{
		"GET /healthz": {{path: "/healthz", inScope: true}}, "GET /readyz": {{path: "/readyz", inScope: true}}, "GET /metrics": {{path: "/metrics", before: runs}},
		apiRoot:                             nil, // see TestAPIProblems
		"POST " + apiBase + "/hooks/{name}": nil, // see TestHooksHostile
	}
	for pattern, all := range v1 {
		method, path, _ := strings.Cut(pattern, " ")
		for i := range all {
			all[i].path = apiBase + all[i].path
		}
		out[method+" "+apiBase+path] = all
	}
	return out
}

// execution stores an execution of a kind in the history.
func (s *site) execution(jid, kind, name string) {
	s.execute(jid, name, func(row *value.Map) {
		if d := row.Map("definition"); d.Len() > 0 {
			d.Set("kind", kind)
		}
	})
}

// apiSite is a site with something behind each route of the API.
func apiSite(t *testing.T) (*site, *spy) {
	t.Helper()
	s, sp := sampleSite(t)
	s.execution(chainJID, "chain", "friday")
	s.execution(orchJID, "orchestration", "orch.deploy")
	return s, sp
}

// TestAPIRoutes sends requests of each route as each role, and nobody. They are
// answered as the document says, and recorded; they read, reach and run what the row of
// the route says: no more and no less.
func TestAPIRoutes(t *testing.T) {
	t.Parallel()
	var known []string
	for _, x := range apiRoutes() {
		known = append(known, x.pattern)
	}
	for pattern := range apiSamples() {
		if !slices.Contains(known, pattern) {
			t.Errorf("samples of %s, which is no route", pattern)
		}
	}
	for _, x := range apiRoutes() {
		t.Run(x.pattern, func(t *testing.T) {
			t.Parallel()
			all, ok := apiSamples()[x.pattern]
			if !ok {
				t.Fatal("the test has no request of this route")
			}
			shared, sp := apiSite(t) // by requests that change nothing
			for role := Nobody; role <= Editor; role++ {
				used := powers(0)
				for _, m := range all {
					s, sp := shared, sp
					if x.action != "" && role >= max(x.least, m.least) {
						s, sp = apiSite(t)
					}
					used |= tryAPI(t, s, sp, x, m, role)
				}
				if want := seen(x.may[role]); role >= x.least && role != Nobody && used != want {
					t.Errorf("%s: the row grants %v, and %v is used", role, want.describe(), used.describe())
				}
			}
		})
	}
}

// tryAPI sends a request, and returns what it used.
func tryAPI(t *testing.T, s *site, sp *spy, x route, m apiSample, role Role) powers {
	t.Helper()
	secret := s.withToken(role, m.scope)
	path := m.path
	if m.before != nil {
		path, m.body = m.with(m.before(s, sp))
	}
	method, _, _ := strings.Cut(x.pattern, " ")
	what := fmt.Sprintf("%s %s as %s", method, m.path, role)
	sp.took()
	recorded, running := len(s.actions), s.active()
	if role == Nobody {
		secret = ""
	}
	w := s.ask(method, path, secret, m.body)
	allowed := role >= max(x.least, m.least)
	switch {
	case x.api.open:
		status(t, what, w, http.StatusOK)
	case role == Nobody:
		if kind := problemIn(t, what, w); kind != noToken || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %s", what, kind)
		}
	case !allowed:
		if kind := problemIn(t, what, w); kind != notAllowed {
			t.Errorf("%s: %s", what, kind)
		}
	default:
		status(t, what, w, x.api.status)
		checkAnswer(t, what, x.api, w)
	}
	if x.action != "" && role != Nobody {
		s.mu.Lock()
		last := Action{}
		if n := len(s.actions); n > 0 {
			last = s.actions[n-1]
		}
		if len(s.actions) != recorded+1 || last.OK != allowed || last.User != "token:ci" || last.Name != x.action || last.On != path {
			t.Errorf("%s: record: %v", what, s.actions[recorded:])
		}
		s.mu.Unlock()
	}
	if allowed && x.api.starts {
		<-s.ran
	}
	if allowed && strings.HasSuffix(path, "/kill") {
		<-s.only().done()
	}
	used := sp.took()
	if !allowed && role != Nobody {
		if bad := used &^ (readSteps | readRecords | readNames); bad != 0 || len(s.ran) > 0 || s.active() != running {
			t.Errorf("%s: refused, and used %v", what, bad.describe())
		}
	}
	if strings.Contains(w.Body.String(), hidden) && (!allowed || x.may[role]&readText == 0) {
		t.Errorf("%s: the answer has a secret of a chain", what)
	}
	if x.action != "" { // what the record says of it
		used &= seen(x.may[role])
	}
	return used
}

// TestAPIScope sends the same requests with a token that is limited to the chain friday.
// It sees and starts nothing else.
func TestAPIScope(t *testing.T) {
	t.Parallel()
	others := regexp.MustCompile(`monday|orch\.deploy|"site"|web1|` + orchJID)
	shared, sharedSpy := apiSite(t)
	for _, x := range apiRoutes() {
		for i, m := range apiSamples()[x.pattern] {
			t.Run(fmt.Sprintf("%s %d", x.pattern, i), func(t *testing.T) {
				s, sp := shared, sharedSpy
				if x.action != "" { // it changes something
					t.Parallel()
					s, sp = apiSite(t)
				}
				secret := s.withToken(Editor, Scope{Chains: []string{"friday"}})
				path := m.path
				if m.before != nil {
					path, m.body = m.with(m.before(s, sp))
				}
				method, _, _ := strings.Cut(x.pattern, " ")
				active := s.active()
				w := s.ask(method, path, secret, m.body)
				if m.inScope {
					status(t, path, w, x.api.status)
					if x.api.starts {
						<-s.ran
					}
				} else if kind := problemIn(t, path, w); kind != outOfScope {
					t.Errorf("%s: %s", path, kind)
				}
				if !m.inScope && (s.active() != active || len(s.drained) > 0 || len(s.ran) > 0) {
					t.Errorf("%s: something was started or stopped", path)
				}
				// The steps of the chain itself have hosts.
				text := w.Body.String()
				if strings.Contains(path, "friday") || strings.Contains(path, chainJID) || strings.Contains(path, chainStepJID) {
					text = strings.ReplaceAll(text, "web1", "")
				}
				if found := others.FindString(text); found != "" {
					t.Errorf("%s: the answer has %s: %s", path, found, w.Body)
				}
				if x.action == "" {
					return
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if len(s.actions) != 1 || s.actions[0].OK != m.inScope {
					t.Errorf("%s: record: %v", path, s.actions)
				}
			})
		}
	}
}

// TestAPIProblems has what can be wrong with a request.
func TestAPIProblems(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	secret := s.withToken(Editor, Scope{})
	const runs = apiBase + "/chains/friday/runs"
	for _, tt := range []struct{ method, path, body, kind, detail string }{
		{"GET", apiBase + "/nothing", "", noSuch, "There is no /api/v1/nothing"},
		{"GET", "/api/v2/chains", "", noSuch, "There is no /api/v2/chains"},
		{"GET", apiBase + "/chains/none", "", noSuch, "chain none"},
		{"GET", apiBase + "/runs/none", "", noSuch, "run none"},
		{"GET", apiBase + "/jobs/1", "", noSuch, `"1" is not a job id`},
		{"GET", apiBase + "/history/20260101000000009999", "", noSuch, "execution 20260101000000009999"},
		{"GET", apiBase + "/hosts/none", "", noSuch, "host none"},
		{"DELETE", apiBase + "/chains/friday/schedules/x", "", noSuch, "no such run"},
		{"DELETE", runs, "", wrongMethod, "DELETE is not allowed here"},
		{"PUT", apiBase + "/chains", "", wrongMethod, "PUT is not allowed here"},
		{"POST", apiBase + "/chains/friday", "", wrongMethod, "POST is not allowed here"},
		{"PUT", apiBase + "/chains/friday", `{"text": "steps: []"}`, conflict, "There is a chain friday already"},
		{"PUT", apiBase + "/chains/friday", `{"text": "steps: []", "version": "old"}`, conflict, "somebody else changed this chain"},
		{"PUT", apiBase + "/chains/none", `{"text": "steps: []", "version": "old"}`, noSuch, "chain none"},
		{"PUT", apiBase + "/chains/none", `{"text": "steps: [{action: none}]"}`, unworkable, "none.yml"},
		{"PUT", apiBase + "/chains/.none", `{"text": "steps: []"}`, unworkable, ".none"},
		{"PUT", apiBase + "/chains/none", `{"version": "old"}`, badBody, "These fields are missing: text"},
		{"DELETE", apiBase + "/chains/friday?version=old", "", conflict, "somebody else changed this chain"},
		{"DELETE", apiBase + "/chains/none", "", noSuch, "chain none"},
		{"OPTIONS", apiBase + "/chains", "", wrongMethod, "OPTIONS is not allowed here"},
		{"POST", runs, `{"tests": true}`, badBody, `Unknown field "tests" (did you mean "test"?)`},
		{"POST", runs, `{"test": "yes"}`, badBody, "test must be of type boolean, and is of type string"},
		{"POST", runs, `[]`, badBody, "The body is not a JSON object"},
		{"POST", runs, `{"test": true`, badBody, "The body is not a JSON object"},
		{"POST", runs, `{} {}`, badBody, "something behind its object"},
		{"POST", runs, `{"version": "old"}`, conflict, "somebody else changed this chain"},
		{"POST", runs, `{"version": "` + strings.Repeat("x", maxBody) + `"}`, tooLarge, "at most 1048576 bytes"},
		{"POST", apiBase + "/chains/friday/schedules", `{}`, badBody, "These fields are missing: at"},
		{"POST", apiBase + "/chains/friday/schedules", ``, badBody, "These fields are missing: at"},
		{"POST", apiBase + "/chains/friday/schedules", `{"at": "tomorrow"}`, badBody, "The body is not a JSON object"},
		{"POST", apiBase + "/templates/site/runs", `{"values": []}`, badBody, "values must be of type object"},
		{"POST", apiBase + "/templates/site/runs", `{"resume": "x"}`, badBody, `resume: "x" is not a job id`},
		{"POST", apiBase + "/templates/site/runs", `{"targets": {"webs": "x"}}`, badAnswers, `no target "webs" (did you mean "web"?)`},
		{"POST", apiBase + "/templates/site/runs", `{"targets": {"web": "none"}, "values": {"port": "many", "nothing": 1}}`, badAnswers, "see errors"},
		{"POST", apiBase + "/templates/site/runs", `{"resume": "` + adHocOrchJID + `"}`, unworkable, "cannot be resumed here"},
		{"POST", apiBase + "/jobs/" + siteJID + "/resume", "", conflict, "A template needs its answers again"},
		{"POST", apiBase + "/jobs/" + orchJID + "/retry", "", conflict, "This is not a job on hosts"},
		{"POST", apiBase + "/jobs/" + adHocJID + "/resume", "", conflict, "This is not an orchestration that has ended"},
		{"GET", apiBase + "/runs?limit=0", "", badParameter, `limit: "0" is not a number from 1 to 500`},
		{"GET", apiBase + "/runs?limits=1", "", badParameter, `Unknown parameter "limits" (did you mean "limit"?)`},
		{"GET", apiBase + "/runs?limit=1&limit=2", "", badParameter, "limit: it is given twice"},
		{"GET", apiBase + "/runs?state=good", "", badParameter, `state: "good" is not one of running,`},
		{"GET", apiBase + "/runs?cursor=x", "", badParameter, `cursor: "x"`},
		{"GET", apiBase + "/jobs?all=some", "", badParameter, `all: "some" is not true or false`},
		{"GET", apiBase + "/jobs?cursor=x", "", badParameter, `cursor: "x"`},
		{"GET", apiBase + "/audit?cursor=x", "", badParameter, `cursor: "x"`},
		{"GET", apiBase + "/history?since=x", "", badParameter, "is not a date"},
		{"GET", apiBase + "/hosts?expr=bad", "", unworkable, "onerror"},
	} {
		what := tt.method + " " + tt.path
		w := s.ask(tt.method, tt.path, secret, tt.body)
		var p Problem
		if kind := problemIn(t, what, w); kind != tt.kind || json.Unmarshal(w.Body.Bytes(), &p) != nil || !strings.Contains(p.Detail, tt.detail) {
			t.Errorf("%s: %s, want %s: %s", what, kind, tt.kind, w.Body)
		}
		if (w.Code == http.StatusMethodNotAllowed) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s: Allow: %s", what, w.Header().Get("Allow"))
		}
	}
	w := s.ask("POST", runs, secret, "{}", "Content-Type", "application/x-www-form-urlencoded")
	if kind := problemIn(t, "a form", w); kind != wrongType {
		t.Errorf("a form: %s", kind)
	}
	var p Problem
	w = s.ask("POST", apiBase+"/templates/site/runs", secret, `{"targets": {"web": "none"}, "values": {"port": "many", "nothing": 1}}`)
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || len(p.Errors) < 3 {
		t.Errorf("errors of the answers: %s", w.Body)
	}
	s.mu.Lock()
	s.full = os.ErrPermission
	s.mu.Unlock()
	if kind := problemIn(t, "no record", s.ask("POST", runs, secret, "")); kind != broken || len(s.ran) > 0 {
		t.Errorf("without a record: %s", kind)
	}
	r := httptest.NewRequest(http.MethodGet, "http://evil.example"+apiBase+"/chains", nil)
	if kind := problemIn(t, "another host", s.do(r)); kind != wrongHost {
		t.Errorf("another host: %s", kind)
	}
}

// TestAPITokens has who is let in, and for how long.
func TestAPITokens(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	const list = apiBase + "/chains"
	if kind := problemIn(t, "no tokens", s.ask("GET", list, "x", "")); kind != apiOff {
		t.Errorf("no tokens: %s", kind)
	}
	if kind := problemIn(t, "no tokens", s.ask("GET", apiBase+"/openapi.json", "", "")); kind != apiOff {
		t.Errorf("no tokens: %s", kind)
	}
	if kind := problemIn(t, "no tokens", s.ask("GET", "/metrics", "", "")); kind != apiOff {
		t.Errorf("no tokens: %s", kind)
	}
	text, hash := NewToken()
	now := time.Now()
	x := &Token{Name: "ci", Role: Viewer, Created: now, Expires: now.Add(time.Hour), Hash: hash}
	all, used := &Tokens{all: []*Token{x}}, 0
	s.opts.Tokens = func() (*Tokens, error) { return all, nil }
	s.opts.OnUse = func(string) { used++ }
	s.opts.Now = func() time.Time { return now }
	status(t, "a token", s.ask("GET", list, text, ""), 200)
	b := s.browser(Editor)
	w := b.get(list)
	if kind := problemIn(t, "a cookie", w); kind != noToken || len(s.actions) != 0 {
		t.Errorf("a cookie: %s", kind)
	}
	r := httptest.NewRequest(http.MethodGet, origin+list, nil)
	r.Header.Set("Authorization", "Basic "+text)
	if kind := problemIn(t, "basic", s.do(r)); kind != noToken {
		t.Errorf("basic: %s", kind)
	}
	r.Header.Set("Authorization", "Bearer "+text)
	r.Header.Add("Authorization", "Bearer "+text)
	if kind := problemIn(t, "twice", s.do(r)); kind != noToken {
		t.Errorf("twice: %s", kind)
	}
	if w := s.ask("GET", "/jobs", text, ""); w.Code != http.StatusSeeOther {
		t.Errorf("a token opens a page: %d", w.Code)
	}
	now = now.Add(time.Hour)
	if kind := problemIn(t, "expired", s.ask("GET", list, text, "")); kind != noToken || !s.did(Action{User: "token:ci", Name: "login", On: "192.0.2.1"}) {
		t.Errorf("expired: %s, %v", kind, s.actions)
	}
	now = now.Add(-time.Hour)
	for i := range maxFailures {
		kind := problemIn(t, "a guess", s.ask("GET", list, "brine_guess", ""))
		if want := []string{noToken, tooMany}[max(0, i-maxFailures+2)]; kind != want {
			t.Errorf("guess %d: %s", i, kind)
		}
	}
	status(t, "the token after guesses", s.ask("GET", list, text, ""), 200)
	if !s.did(Action{User: "token:(unknown)", Name: "login", On: "192.0.2.1"}) || len(s.actions) != maxFailures {
		t.Errorf("record: %v", s.actions)
	}
	if used != 2 {
		t.Errorf("the token was used %d times", used)
	}
	all = &Tokens{}
	if kind := problemIn(t, "revoked", s.ask("GET", list, text, "")); kind != tooMany {
		t.Errorf("revoked: %s", kind)
	}
	s.opts.Tokens = func() (*Tokens, error) { return nil, os.ErrPermission }
	if kind := problemIn(t, "no file", s.ask("GET", list, text, "")); kind != unavailable {
		t.Errorf("a file that cannot be read: %s", kind)
	}
}

// TestAPIKeys starts one run for each idempotency key.
func TestAPIKeys(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	secret := s.withToken(Operator, Scope{})
	const runs = apiBase + "/chains/friday/runs"
	start := func(key, body string) (Run, *httptest.ResponseRecorder) {
		w := s.ask("POST", runs, secret, body, keyHeader, key)
		var x Run
		_ = json.Unmarshal(w.Body.Bytes(), &x)
		return x, w
	}
	first, w := start("a", "")
	status(t, "first", w, 201)
	<-s.ran
	if w.Header().Get("Location") != apiBase+"/runs/"+first.ID || w.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("headers %v", w.Header())
	}
	again, w := start("a", "")
	status(t, "again", w, 201)
	if again.ID != first.ID || w.Header().Get("Idempotency-Replayed") != "true" || len(s.actions) != 1 {
		t.Errorf("again: %v, %v", again, s.actions)
	}
	_, w = start("a", `{"test": true}`)
	if kind := problemIn(t, "another body", w); kind != keyReused {
		t.Errorf("another body: %s", kind)
	}
	other, w := start("b", "")
	status(t, "another key", w, 201)
	if other.ID == first.ID {
		t.Error("another key has the same run")
	}
	<-s.ran
	for _, key := range []string{"", strings.Repeat("x", maxKey+1), "a\x01"} {
		_, w = start(key, "")
		if kind := problemIn(t, "a wrong key", w); kind != badKey {
			t.Errorf("%q: %s", key, kind)
		}
	}
	// What was refused has started nothing, and the key is free.
	_, w = start("c", `{"version": "old"}`)
	problemIn(t, "an old version", w)
	_, w = start("c", "")
	status(t, "the key of a request that failed", w, 201)
	<-s.ran
	// A server that has begun since then knows the keys of the runs.
	s.keys.all = map[string]*heldKey{}
	again, w = start("a", "")
	status(t, "after a restart", w, 201)
	if again.ID != first.ID || w.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("after a restart: %v, %v", again, w.Header())
	}
	s.keys.all = map[string]*heldKey{}
	_, w = start("a", `{"test": true}`)
	if kind := problemIn(t, "another body after a restart", w); kind != keyReused {
		t.Errorf("another body after a restart: %s", kind)
	}
	secret = s.withToken(Viewer, Scope{})
	_, w = start("a", "")
	if kind := problemIn(t, "another role", w); kind != notAllowed {
		t.Errorf("another role: %s", kind)
	}
	s.keys.now = func() time.Time { return time.Now().Add(keyLife + time.Minute) }
	s.keys.forget()
	if len(s.keys.all) != 0 {
		t.Errorf("keys: %v", s.keys.all)
	}
}

// TestAPIEvents watches a run, and goes on after an event.
func TestAPIEvents(t *testing.T) {
	t.Parallel()
	s, sp := apiSite(t)
	secret := s.withToken(Viewer, Scope{})
	id := aRun(true)(s, sp)
	text := s.ask("GET", apiBase+"/runs/"+id+"/events", secret, "").Body.String()
	m := regexp.MustCompile(`^id: (\d+)\nevent: end\ndata: (\{.*\})\n\n$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("events: %s", text)
	}
	var x RunDetail
	if err := json.Unmarshal([]byte(m[2]), &x); err != nil || len(x.Steps) != 1 || x.State != "failed" || *x.ExitStatus != 1 {
		t.Errorf("%v: %s", err, m[2])
	}
	text = s.ask("GET", apiBase+"/runs/"+id+"/events", secret, "", "Last-Event-ID", m[1]).Body.String()
	if !strings.Contains(text, `"steps":[]`) {
		t.Errorf("after the last event: %s", text)
	}
	text = s.ask("GET", apiBase+"/runs/"+id+"/events", secret, "", "Last-Event-ID", "999999").Body.String()
	if strings.Contains(text, `"steps":[]`) {
		t.Errorf("after an event of another run: %s", text)
	}
	// A token that is revoked meanwhile sees nothing more.
	id = aRun(false)(s, sp)
	calls := 0
	tokens := s.opts.Tokens
	s.opts.Tokens = func() (*Tokens, error) {
		if calls++; calls > 2 {
			return &Tokens{}, nil
		}
		return tokens()
	}
	second := s.runs.known[id]
	second.change(func() {})
	done := make(chan string)
	go func() { done <- s.ask("GET", apiBase+"/runs/"+id+"/events", secret, "").Body.String() }()
	for range 3000 {
		select {
		case text := <-done:
			if strings.Count(text, "event: run") != 1 {
				t.Errorf("events: %s", text)
			}
			return
		case <-time.After(10 * time.Millisecond):
			second.change(func() {})
		}
	}
	t.Fatal("a token that is revoked sees the events of a run until it ends")
}

// TestAPIPages walks through a list.
func TestAPIPages(t *testing.T) {
	t.Parallel()
	s, _ := apiSite(t)
	for i := range 7 {
		s.execution(jidAt(10+i), "chain", []string{"friday", "monday"}[i%2])
	}
	for _, tt := range []struct {
		path  string
		scope Scope
		want  int
	}{
		{"/jobs?all=true&limit=2", Scope{}, 10},
		{"/history?limit=2", Scope{}, 11},
		{"/history?limit=2&name=friday", Scope{}, 5},
		{"/history?limit=2", Scope{Chains: []string{"friday"}}, 5},
		{"/hosts?limit=100&expr=many", Scope{}, 250},
	} {
		secret := s.withToken(Viewer, tt.scope)
		got, cursor := map[string]bool{}, ""
		for range 20 {
			w := s.ask("GET", apiBase+tt.path+cursor, secret, "")
			var page struct {
				Items []struct{ JID, ID string }
				Next  string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: %v: %s", tt.path, err, w.Body)
			}
			for _, x := range page.Items {
				if got[x.JID+x.ID] {
					t.Errorf("%s: %v twice", tt.path, x)
				}
				got[x.JID+x.ID] = true
			}
			if page.Next == "" {
				break
			}
			cursor = "&cursor=" + page.Next
		}
		if len(got) != tt.want {
			t.Errorf("%s: %d items, want %d", tt.path, len(got), tt.want)
		}
	}
}

// TestHealth has who may watch over the server, and what is seen.
func TestHealth(t *testing.T) {
	t.Parallel()
	s, sp := apiSite(t)
	s.opts.OpenMetrics = true
	aRun(false)(s, sp)
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n", "/metrics": "brine_ui_runs_active 1\n"} {
		w := s.ask("GET", path, "", "")
		status(t, path, w, 200)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
	text := s.ask("GET", "/metrics", "", "").Body.String()
	if !strings.Contains(text, `brine_ui_requests_total{kind="health",class="2xx"} 3`) || !strings.Contains(text, `brine_ui_runs{state="running"} 1`) {
		t.Errorf("metrics: %s", text)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) .+|[a-z_]+(\{[a-z]+="\w+"(,[a-z]+="\w+")*\})? \d+)$`)
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("metrics: %s", l)
		}
	}
	if err := os.Mkdir(filepath.Join(s.dir, "history.db.x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "history.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.dir, "history.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := s.ask("GET", "/readyz", "", "")
	if kind := problemIn(t, "a broken history", w); kind != unavailable || strings.Contains(w.Body.String(), s.dir) {
		t.Errorf("a broken history: %s", w.Body)
	}
}

// TestDocument compares docs/openapi.json with the code.
func TestDocument(t *testing.T) {
	t.Parallel()
	const file = "../../../docs/openapi.json"
	if *updateTable {
		if err := os.WriteFile(file, Document(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(text, Document()) {
		t.Errorf("docs/openapi.json is not that of the code: go generate ./internal/view/ui (%v)", err)
	}
	ids := map[string]bool{}
	for _, x := range apiRoutes() {
		if x.api == nil {
			continue
		}
		if ids[x.api.id] || x.api.scope == nil || x.api.summary == "" {
			t.Errorf("%s: the id is there twice, or something is missing", x.pattern)
		}
		ids[x.api.id] = true
	}
}
