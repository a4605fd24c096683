package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/view/ui"
)

// A program uses the API of a brine ui.
type program struct {
	p      *pages
	secret string
}

// program adds a token, and returns who has it.
func (p *pages) program(args ...string) *program {
	p.t.Helper()
	out, err := p.brineTo(append([]string{"ui", "token", "add", "--tokens", p.tokens()}, args...)...).Output()
	if err != nil {
		p.t.Fatalf("add a token: %v", err)
	}
	return &program{p, strings.TrimSpace(string(out))}
}

func (p *pages) tokens() string { return filepath.Join(p.dir, "ui.tokens") }

// send sends a request, and reads the answer into out, which may be nil.
func (a *program) send(want int, method, path, body string, out any, headers ...string) *http.Response {
	t := a.p.t
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, a.p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+a.secret)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil || resp.StatusCode != want {
		t.Fatalf("%s %s: %d, want %d: %v: %s", method, path, resp.StatusCode, want, err, text)
	}
	return resp
}

// watch reads the events of a run until it has ended, and returns the last one.
func (a *program) watch(id string) (last ui.RunDetail) {
	t := a.p.t
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.p.base+"/api/v1/runs/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+a.secret)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sc := bufio.NewScanner(resp.Body)
	sc.Buffer(nil, 1<<20)
	name := ""
	for sc.Scan() {
		if x, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
			name = x
		}
		if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
			last = ui.RunDetail{}
			if err := json.Unmarshal([]byte(data), &last); err != nil {
				t.Fatalf("%v: %s", err, data)
			}
		}
	}
	if sc.Err() != nil || name != "end" {
		t.Fatalf("events of run %s: %v, the last one is %q", id, sc.Err(), name)
	}
	return last
}

// TestUIAPI has programs run, watch, resume and look at what ran, with the real thing.
func TestUIAPI(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	operator := p.program("deployer", "--role", "operator")
	limited := p.program("ci", "--role", "operator", "--chains", "fri*", "--expires", "30d")
	p.serve("--tokens", p.tokens(), "--salt-api")

	var run ui.RunDetail
	resp := operator.send(201, "POST", "/api/v1/orchestrations/orch.deploy/runs", "", &run, "Idempotency-Key", "1")
	if run.User != "token:deployer" || resp.Header.Get("Location") != "/api/v1/runs/"+run.ID {
		t.Errorf("run %+v at %s", run.Run, resp.Header.Get("Location"))
	}
	first := run.ID
	if operator.send(201, "POST", "/api/v1/orchestrations/orch.deploy/runs", "", &run, "Idempotency-Key", "1"); run.ID != first {
		t.Errorf("the key started %s and %s", first, run.ID)
	}
	if end := operator.watch(first); end.State != "failed" || end.StepsFailed == 0 || *end.ExitStatus == 0 {
		t.Errorf("it ended as %+v", end.Run)
	}
	operator.send(200, "GET", "/api/v1/runs/"+first, "", &run)
	if len(run.Steps) != 3 || run.Steps[1].State != "failed" || run.Steps[1].HostsFailed != 2 {
		t.Errorf("steps %+v", run.Steps)
	}
	var job ui.JobDetail
	operator.send(200, "GET", "/api/v1/jobs/"+run.JID, "", &job)
	if job.User != "token:deployer" || !job.Resumable || len(job.Steps) < 2 {
		t.Errorf("job %+v", job)
	}
	if err := os.WriteFile(p.dir+"/flag", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	operator.send(201, "POST", "/api/v1/jobs/"+run.Steps[1].JID+"/retry", "", &run)
	if end := operator.watch(run.ID); end.Kind != "retry" || end.State != "succeeded" {
		t.Errorf("the retry ended as %+v", end.Run)
	}
	operator.send(201, "POST", "/api/v1/runs/"+first+"/resume", "", &run)
	if end := operator.watch(run.ID); end.State != "succeeded" || end.Resumes != job.JID {
		t.Errorf("the resumed run ended as %+v", end.Run)
	}
	operator.send(201, "POST", "/api/v1/templates/site/runs", `{"values": {"colour": "red", "token": "0123", "users": [{"name": "ann", "admin": true}]}}`, &run)
	if end := operator.watch(run.ID); end.State != "succeeded" {
		t.Errorf("the template ended as %+v: %v", end.Run, end.Messages)
	}
	p.listed(operator)
	p.limits(operator, limited)
	p.functions(operator)
}

// functions has an editor call functions by the API and as Salt's own clients do.
func (p *pages) functions(operator *program) {
	t := p.t
	t.Helper()
	editor := p.program("ops", "--role", "editor")
	operator.send(403, "POST", "/api/v1/functions", `{"function": "test.ping", "target": "*"}`, nil)
	var run ui.RunDetail
	editor.send(201, "POST", "/api/v1/functions", `{"function": "test.arg", "target": "web*", "arguments": ["5", 5], "keywords": {"password": "hunter2"}}`, &run)
	if end := editor.watch(run.ID); end.Kind != "function" || end.State != "succeeded" {
		t.Errorf("the function ended as %+v", end.Run)
	}
	var job ui.JobDetail
	editor.send(200, "GET", "/api/v1/jobs/"+run.ID, "", &job)
	if len(job.HostResults) != 2 || !strings.Contains(job.HostResults[0].Output, `"5"`) || !strings.Contains(job.HostResults[0].Output, "5\n") || strings.Contains(job.Arguments, "hunter2") {
		t.Errorf("its job is %+v", job)
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, "cache", "runs", run.ID, "answers.json")); err != nil || len(left) > 0 {
		t.Errorf("its arguments are kept: %v, %v", left, err)
	}
	type object = map[string]any
	var login struct {
		Return []struct{ Token string }
	}
	editor.send(200, "POST", "/salt-api/login", `{"username": "x", "password": "`+editor.secret+`", "eauth": "brine"}`, &login)
	salt := func(chunk string) (out object) {
		t.Helper()
		var answer struct{ Return []object }
		editor.send(200, "POST", "/salt-api/", "["+chunk+"]", &answer, "X-Auth-Token", login.Return[0].Token)
		return answer.Return[0]
	}
	if got := salt(`{"client": "local", "tgt": "web*", "fun": "test.echo", "arg": ["x"]}`); len(got) != 2 || got["web1"] != "x" || got["web2"] != "x" {
		t.Errorf("local returns %v", got)
	}
	if got, _ := salt(`{"client": "ssh", "tgt": "web1", "fun": "cmd.run", "arg": ["exit 3"]}`)["web1"].(object); got["retcode"] != 3.0 || got["success"] != false {
		t.Errorf("ssh returns %v", got)
	}
	jid, _ := salt(`{"client": "local_async", "tgt": "web1", "fun": "test.ping"}`)["jid"].(string)
	editor.watch(jid)
	if got := salt(`{"client": "runner", "fun": "jobs.lookup_jid", "kwarg": {"jid": "` + jid + `"}}`); got["web1"] != true {
		t.Errorf("jobs.lookup_jid returns %v", got)
	}
	data, _ := salt(`{"client": "runner", "fun": "state.orchestrate", "arg": ["orch.deploy"]}`)["data"].(object)
	for _, steps := range data {
		if x, _ := steps.(object); len(x) != 3 {
			t.Errorf("state.orchestrate has the steps %v", steps)
		}
	}
	if len(data) != 1 {
		t.Errorf("state.orchestrate returns %v", data)
	}
}

// listed looks at lists.
func (p *pages) listed(a *program) {
	t := p.t
	t.Helper()
	var hosts ui.HostList
	a.send(200, "GET", "/api/v1/hosts?expr=web*&limit=1", "", &hosts)
	if hosts.Total != 2 || hosts.Next != "web1" || hosts.Items[0].Last == nil {
		t.Errorf("hosts %+v", hosts)
	}
	var host ui.HostDetail
	a.send(200, "GET", "/api/v1/hosts/web1", "", &host)
	if !host.InRoster || len(host.Jobs) == 0 || len(host.Executions) == 0 {
		t.Errorf("host %+v", host)
	}
	var executions ui.ExecutionList
	a.send(200, "GET", "/api/v1/history?name=orch.deploy", "", &executions)
	if len(executions.Items) != 2 || executions.Items[1].Status != "failed" {
		t.Errorf("history %+v", executions)
	}
	var execution ui.ExecutionDetail
	a.send(200, "GET", "/api/v1/history/"+executions.Items[0].JID, "", &execution)
	var audit ui.AuditList
	a.send(200, "GET", "/api/v1/audit?user=token:deployer", "", &audit)
	if len(audit.Items) != 4 || audit.Items[3].Action != "run" || audit.Items[3].On != "/api/v1/orchestrations/orch.deploy/runs" || !audit.Items[3].Allowed {
		t.Errorf("audit %+v", audit)
	}
	if text, err := p.brine("run", "audit.report", "--out=json").CombinedOutput(); err != nil || !strings.Contains(string(text), "token:deployer") {
		t.Errorf("audit.report: %v: %s", err, text)
	}
}

// limits has a token that is limited to chains, schedules, and tokens that are revoked.
func (p *pages) limits(operator, limited *program) {
	t := p.t
	t.Helper()
	for _, args := range [][]string{{"chain", "new", "friday"}, {"chain", "add", "friday", "cmd", "true", "--on", "web1"}, {"chain", "new", "monday"}} {
		if out, err := p.brine(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	var chains ui.DefinitionList
	limited.send(200, "GET", "/api/v1/chains", "", &chains)
	if len(chains.Items) != 1 || chains.Items[0].Name != "friday" {
		t.Errorf("chains %+v", chains)
	}
	var problem ui.Problem
	limited.send(403, "POST", "/api/v1/chains/monday/runs", "", &problem)
	limited.send(403, "GET", "/api/v1/hosts", "", &problem)
	var run ui.RunDetail
	limited.send(201, "POST", "/api/v1/chains/friday/runs", "", &run)
	end := limited.watch(run.ID)
	if end.State != "succeeded" {
		t.Errorf("the chain ended as %+v", end.Run)
	}
	var job ui.JobDetail
	limited.send(200, "GET", "/api/v1/jobs/"+end.JID, "", &job)
	var runs ui.RunList
	limited.send(200, "GET", "/api/v1/runs", "", &runs)
	if len(runs.Items) != 1 {
		t.Errorf("runs %+v", runs)
	}
	var schedule ui.Schedule
	limited.send(201, "POST", "/api/v1/chains/friday/schedules", `{"at": "2099-12-01T02:00:00Z"}`, &schedule)
	if schedule.User != "token:ci" || schedule.ID == "" {
		t.Errorf("schedule %+v", schedule)
	}
	limited.send(422, "POST", "/api/v1/chains/friday/schedules", `{"at": "2019-12-01T02:00:00Z"}`, &problem)
	var schedules ui.ScheduleList
	limited.send(200, "GET", "/api/v1/schedules", "", &schedules)
	if len(schedules.Items) != 1 || !schedules.Items[0].At.Equal(schedule.At) {
		t.Errorf("schedules %+v", schedules)
	}
	limited.send(204, "DELETE", "/api/v1/chains/friday/schedules/"+schedule.ID, "", nil)

	if out, err := p.brineTo("ui", "token", "revoke", "ci", "--tokens", p.tokens()).CombinedOutput(); err != nil {
		t.Fatalf("revoke: %v: %s", err, out)
	}
	limited.send(401, "GET", "/api/v1/chains", "", &problem)
	operator.send(200, "GET", "/readyz", "", nil)
	if out, err := p.brineTo("ui", "token", "list", "--tokens", p.tokens()).CombinedOutput(); err != nil || strings.Contains(string(out), "never") || !strings.Contains(string(out), "deployer") {
		t.Errorf("tokens: %v: %s", err, out)
	}
	if p.errs.String() != "brine: the pages are at this address; Ctrl-C ends them\n" {
		t.Errorf("printed: %s", p.errs)
	}
}
