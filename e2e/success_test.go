//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/redisdb"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/py/value"
	"brine/internal/testkit/porttest"
	"brine/internal/testkit/servertest"
	"brine/internal/testkit/turn"
)

// recordTree has an orchestration for each way to fail, and the SLS that they apply.
var recordTree = map[string]string{
	"good":     "s: {salt.function: [{name: test.ping}, {tgt: web1}]}\n",
	"changes":  "s: {salt.state: [{sls: fine}, {tgt: web1}]}\n",
	"onfail":   "s: {salt.state: [{sls: mended}, {tgt: web1}]}\n",
	"state":    "s: {salt.state: [{sls: fails}, {tgt: web1}]}\n",
	"some":     "s: {salt.state: [{sls: onweb2}, {tgt: 'web*'}]}\n",
	"unmet":    "s: {salt.state: [{sls: requires}, {tgt: web1}]}\n",
	"require":  "s: {test.fail_without_changes: []}\nt: {salt.function: [{name: test.ping}, {tgt: web1}, {require: [s]}]}\n",
	"gone":     "s: {salt.function: [{name: test.ping}, {tgt: lost1}]}\n",
	"slow":     "s: {salt.function: [{name: test.sleep}, {arg: [600]}, {tgt: web1}, {timeout: 1}, {max_wait: 1}]}\n",
	"judged":   "s: {salt.function: [{name: test.echo}, {arg: [hi]}, {tgt: web1}, {fail_function: match.glob}]}\n",
	"unjudged": "s: {salt.function: [{name: test.echo}, {arg: [hi]}, {tgt: web1}, {fail_function: test.false}]}\n",
	"plain":    "s: {salt.function: [{name: test.false}, {tgt: web1}]}\n",
	"nosls":    "s: {salt.state: [{sls: nothere}, {tgt: web1}]}\n",
	"broken":   "s: {salt.function: [\n",
	"pillar":   "s: {salt.state: [{sls: fine}, {tgt: bad1}]}\n",
	"nobody":   "s: {salt.function: [{name: test.ping}, {tgt: nosuch}]}\n",
	"code":     "s: {salt.function: [{name: cmd.run}, {arg: ['exit 3']}, {tgt: web1}]}\n",
	"batched":  "s: {salt.function: [{name: cmd.run}, {arg: ['exit 3']}, {tgt: web1}, {batch: 1}]}\n",
	"allowed":  "s: {salt.function: [{name: cmd.run}, {arg: ['exit 3']}, {tgt: web1}, {fail_minions: web1}]}\n",
	"raises":   "s: {salt.function: [{name: test.exception}, {tgt: web1}]}\n",
	"unknown":  "s: {salt.function: [{name: test.nosuch}, {tgt: web1}]}\n",
	"runner":   "s: {salt.runner: [{name: state.orchestrate}, {mods: code}]}\n",
	"endless":  "s: {salt.function: [{name: cmd.run}, {arg: ['touch DIR/began; sleep 600']}, {tgt: web1}]}\n",

	"fine":     "a: {test.succeed_with_changes: []}\n",
	"fails":    "a: {test.fail_without_changes: []}\nb: {test.nop: []}\n",
	"onweb2":   "{% if grains.id == 'web2' %}a: {test.fail_without_changes: []}{% else %}a: {test.nop: []}{% endif %}\n",
	"mended":   "a: {test.fail_without_changes: []}\nb: {test.nop: [{onfail: [a]}, {onfail_stop: False}]}\n",
	"requires": "a: {test.fail_without_changes: []}\nb: {test.nop: [{require: [a]}]}\n",
}

// A way is a command, and whether it succeeds.
type way struct {
	args []string
	good bool
}

func ways() []way {
	var all []way
	add := func(good bool, lines ...string) {
		for _, l := range lines {
			all = append(all, way{strings.Split(l, ";"), good})
		}
	}
	add(true, "orchestrate;good", "orchestrate;changes", "orchestrate;allowed", "ssh;web1;test.ping", "ssh;web1;state.apply;mended", "run;salt.cmd;test.ping", "call;test.ping", "call;state.orchestrate;good")
	for _, name := range []string{
		"onfail", "state", "some", "unmet", "require", "gone", "slow", "judged", "unjudged", "plain", "nosls", "broken", "pillar", "nobody", "code", "batched", "raises", "unknown", "runner", "endless", "absent", "good;--id=bad1", "good;pillar=text",
	} {
		add(false, "orchestrate;"+name)
	}
	add(false, "ssh;web1;state.apply;fails", "ssh;web*;state.apply;onweb2", "ssh;web1;state.apply;requires", "ssh;web1;state.apply;nothere", "ssh;bad1;state.apply;fine", "ssh;lost1;test.ping", "ssh;web1;cmd.run;exit 3",
		"ssh;web1;test.exception", "ssh;web1;test.nosuch", "run;salt.cmd;cmd.run;exit 3", "call;cmd.run;exit 3", "call;test.exception", "call;state.apply;fails", "call;state.apply;nothere", "call;state.orchestrate;code")
	return all
}

// TestOneSuccess: a command tells by its exit status whether it succeeded, and every
// record of it says the same: the job caches, the history, the event of its return, the
// reports, and what the runners jobs and audit make of them.
func TestOneSuccess(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name  string
		start func(t *testing.T, dir string) *value.Map // settings
	}{
		{"sqlite3", func(_ *testing.T, dir string) *value.Map {
			return value.MapOf("sqlite3.database", dir+"/salt.db", "sqlite3.timeout", int64(60))
		}},
		{"mysql", func(t *testing.T, _ string) *value.Map {
			return value.MapOf("mysql.host", "127.0.0.1", "mysql.port", int64(servertest.MariaDB(t, schemaOf("mysql")).Port))
		}},
		{"postgres", func(t *testing.T, _ string) *value.Map {
			return value.MapOf("returner.postgres.host", "127.0.0.1", "returner.postgres.port", int64(servertest.Postgres(t, schemaOf("postgres")).Port))
		}},
		{"redis", func(t *testing.T, _ string) *value.Map {
			return value.MapOf("redis.host", "127.0.0.1", "redis.port", int64(servertest.Redis(t).Port))
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			turn.Skip(t)
			t.Parallel()
			c := newChecker(t, x.name, x.start)
			bad := map[string]bool{}
			for _, w := range ways() {
				if jid := c.run(w); jid != "" && !w.good {
					bad[jid] = true
				} else if jid != "" {
					bad[jid] = false
				}
			}
			c.audits(bad)
			c.rows()
		})
	}
}

// A checker compares what is recorded of commands.
type checker struct {
	sharer
	name string // of the database
	opts *value.Map
	seen map[string]bool // jids
}

func newChecker(t *testing.T, name string, start func(*testing.T, string) *value.Map) *checker {
	dir := t.TempDir()
	c := &checker{sharer: sharer{t, dir, dir}, name: name, opts: start(t, dir), seen: map[string]bool{}}
	conf := fmt.Sprintf("id: ctl\ncachedir: DIR/cache\nfile_roots: {base: [DIR/tree]}\npillar_roots: {base: [DIR/pillar]}\nmaster_job_cache: %s\n"+
		"keep_jobs_seconds: 0\ncache_jobs: True\nevent_return: [rawfile_json]\nrawfile_json.filename: DIR/event.log\nssh_retries: 0\nfile_client: local\n", name)
	for k, v := range c.opts.All() {
		conf += fmt.Sprintf("%s: %v\n", value.Str(k), v)
	}
	c.opts.Set("keep_jobs_seconds", int64(0))
	for _, f := range []string{"master", "minion"} {
		c.write(filepath.Join(dir, f), strings.ReplaceAll(conf, "DIR", dir))
	}
	c.write(filepath.Join(dir, "roster"), fmt.Sprintf("web1: {connection: local}\nweb2: {connection: local}\nbad1: {connection: local}\nlost1: {host: 127.0.0.1, port: %d, user: root, priv: /dev/null}\n", porttest.Port(t)))
	c.write(filepath.Join(dir, "pillar", "top.sls"), "base: {bad1: [broken]}\n")
	c.write(filepath.Join(dir, "pillar", "broken.sls"), "a: {{ nosuch.thing }}\n")
	for name, text := range recordTree {
		c.write(filepath.Join(dir, "tree", name+".sls"), strings.ReplaceAll(text, "DIR", dir))
	}
	return c
}

func (c *checker) files() *jobs.Files {
	return jobs.NewFiles(filepath.Join(c.dir, "cache"), 0, time.Now)
}

// jobs returns the jobs of this machine that are no look-ups, oldest first.
func (c *checker) jobs() []jobs.Entry {
	c.t.Helper()
	all, err := c.files().Jobs(context.Background(), "", "")
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e jobs.Entry) bool {
		name := e.Load.Str("fun")
		return strings.HasPrefix(name, "runner.jobs.") || strings.HasPrefix(name, "runner.audit.") || strings.HasPrefix(name, "runner.history.")
	})
}

// run runs a command and compares what was recorded of it. It returns its jid.
func (c *checker) run(w way) string {
	t := c.t
	t.Helper()
	said := strings.Join(w.args, " ")
	is := func(record string, good bool) {
		t.Helper()
		if good != w.good {
			t.Errorf("%s: %s says %v, want %v", said, record, good, w.good)
		}
	}
	junit, ndjson := filepath.Join(c.dir, "r.xml"), filepath.Join(c.dir, "r.ndjson")
	for _, f := range []string{junit, ndjson, filepath.Join(c.dir, "event.log")} {
		_ = os.Remove(f)
	}
	cmd := c.command(append(slices.Clone(w.args), "--report", junit, "--report", ndjson)...)
	out := &safeBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if w.args[1] == "endless" {
		c.wait("the step", func() bool { _, err := os.Stat(filepath.Join(c.dir, "began")); return err == nil }, out)
		for cmd.ProcessState == nil && syscall.Kill(cmd.Process.Pid, syscall.SIGINT) == nil && !strings.Contains(out.String(), "ended") {
			time.Sleep(50 * time.Millisecond) // the first one waits for the step, the second one ends it
		}
	}
	_ = cmd.Wait()
	is("the exit status", cmd.ProcessState.ExitCode() == 0)

	// Its own job is the first one that is new; those of its steps come after it.
	var job *jobs.Entry
	all := c.jobs()
	for i := range all {
		if !c.seen[all[i].JID] && job == nil {
			job = &all[i]
		}
		c.seen[all[i].JID] = true
	}
	if job == nil {
		t.Errorf("%s: nothing is recorded\n%s", said, out)
		return ""
	}
	j, err := c.files().Job(context.Background(), job.JID)
	if err != nil {
		t.Fatal(err)
	}
	is("the record of this machine", len(j.Failed()) == 0 && j.State == jobs.Complete)
	for _, store := range []string{"local_cache", c.name} {
		status := 0
		if !w.good {
			status = 1
		}
		var ids map[string]bool
		if text := c.output(status, "run", "jobs.exit_success", job.JID, "ext_source="+store, "--out=json"); json.Unmarshal(text, &ids) != nil || len(ids) == 0 {
			t.Errorf("%s: jobs.exit_success of %s prints %s", said, store, text)
		}
		good := true
		for _, ok := range ids {
			good = good && ok
		}
		is("jobs.exit_success of "+store, good)
	}
	c.steps(said, j, read(t, ndjson))
	is("JUnit", junitGood(t, junit))
	is("NDJSON", ndjsonGood(t, read(t, ndjson)))
	if !slices.Contains(w.args, "absent") && !strings.HasPrefix(said, "orchestrate broken") && !strings.HasPrefix(said, "orchestrate good ") {
		is("jobs.report", ndjsonGood(t, string(c.output(0, "run", "jobs.report", job.JID, "--out=ndjson"))))
	}
	if w.args[0] != "call" {
		c.event(job, is)
	}
	if slices.Contains(w.args, "orchestrate") || slices.Contains(w.args, "state.orchestrate") {
		c.history(job.JID, is)
	}
	return job.JID
}

// steps compares a failed step of an orchestration with the record of its job, and with
// what the report says of each host.
func (c *checker) steps(said string, j *jobs.Job, report string) {
	c.t.Helper()
	lines := map[string]bool{} // whether one says that a host failed, by jid and host
	for line := range strings.Lines(report) {
		var x struct{ JID, Host, Status string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
		lines[x.JID+" "+x.Host] = lines[x.JID+" "+x.Host] || x.Status == "failed"
	}
	for _, s := range j.Steps {
		ret := s.Map("return")
		job, err := c.files().Job(context.Background(), ret.Str("__jid__"))
		if err != nil {
			c.t.Fatal(err)
		}
		if job == nil || ret.At("result") != false || strings.HasPrefix(job.Load.Str("fun"), "runner.") {
			continue
		}
		failed := job.Failed()
		if len(failed) == 0 {
			c.t.Errorf("%s: step %s failed, and its job on no target", said, s.Str("tag"))
		}
		if got := jobs.FailedOn(s); !slices.Equal(got, failed) {
			c.t.Errorf("%s: step %s is recorded as failed on %q, and its job on %q", said, s.Str("tag"), got, failed)
		}
		for _, id := range job.Load.List("Minions").Items {
			shown := ret.Map("changes").Map("ret").Has(id) // the others changed nothing
			if bad, want := lines[job.JID+" "+value.Str(id)], slices.Contains(failed, value.Str(id)); shown && bad != want {
				c.t.Errorf("%s: the report says that %s failed: %v, want %v", said, value.Str(id), bad, want)
			}
		}
	}
}

// output returns what a command prints that ends with a status.
func (c *checker) output(status int, args ...string) []byte {
	c.t.Helper()
	cmd := c.command(args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != status {
		c.t.Errorf("brine %s exits with %d, want %d\n%s%s", strings.Join(args, " "), got, status, out, &errs)
	}
	return out
}

// event compares the events of the returns of a job. Targets that did not return have
// none.
func (c *checker) event(job *jobs.Entry, is func(string, bool)) {
	f, err := os.Open(filepath.Join(c.dir, "event.log"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	good, n := true, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Tag  string
			Data struct {
				Success any
				User    string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			c.t.Fatalf("%s: %v", lines.Text(), err)
		}
		if e.Tag == "salt/run/"+job.JID+"/ret" || strings.HasPrefix(e.Tag, "salt/job/"+job.JID+"/ret/") {
			n++
			good = good && e.Data.Success == true
			if e.Data.User != job.Load.Str("user") || e.Data.User == "" {
				c.t.Errorf("%s: user %q, want %q", e.Tag, e.Data.User, job.Load.Str("user"))
			}
		}
	}
	is("the event", good && n == max(1, job.Load.List("Minions").Len()))
}

// history compares the history of an orchestration, which begins with its steps.
func (c *checker) history(jid string, is func(string, bool)) {
	var all map[string]struct{ Status string }
	text := c.output(0, "run", "history.list", "--out=json")
	if err := json.Unmarshal(text, &all); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	if x, there := all[jid]; there {
		is("the history", x.Status == "succeeded")
	}
}

func junitGood(t *testing.T, path string) bool {
	t.Helper()
	var doc struct {
		Failures int `xml:"failures,attr"`
		Tests    int `xml:"tests,attr"`
	}
	if err := xml.Unmarshal([]byte(read(t, path)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Failures == 0 && doc.Tests > 0
}

func ndjsonGood(t *testing.T, text string) bool {
	t.Helper()
	good := text != ""
	for line := range strings.Lines(text) {
		var x struct{ Status string }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		good = good && x.Status != "failed"
	}
	return good
}

// audits compares what audit.report makes of the records.
func (c *checker) audits(bad map[string]bool) {
	for _, store := range []string{"local_cache", c.name} {
		var doc struct{ Failed, Succeeded []struct{ JID string } }
		text := c.output(0, "run", "audit.report", "ext_source="+store, "--out=json")
		if err := json.Unmarshal(text, &doc); err != nil {
			c.t.Fatalf("%s: %v", text, err)
		}
		got := map[string]bool{}
		for _, x := range doc.Failed {
			got[x.JID] = true
		}
		for _, x := range doc.Succeeded {
			got[x.JID] = false
		}
		for jid, want := range bad {
			if failed, there := got[jid]; !there || failed != want {
				c.t.Errorf("audit.report of %s: job %s is there: %v, and failed: %v, want %v", store, jid, there, failed, want)
			}
		}
	}
}

// rows compares what this machine and the database have of each target of each job,
// also of those of steps.
func (c *checker) rows() {
	t := c.t
	ctx := context.Background()
	spec, ok := returner.Find(sqldb.Specs(), c.name)
	if !ok {
		s := redisdb.Spec()
		spec = &s
	}
	set, err := returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: c.opts}}}.Check()
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.New(ctx, set)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	columns := c.columns(set)
	compared := 0
	for _, e := range c.jobs() {
		mine, err := c.files().Job(ctx, e.JID)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := r.(jobs.Store).Job(ctx, e.JID)
		if err != nil {
			t.Fatal(err)
		}
		name := e.Load.Str("fun") + " " + value.Str(e.Load.At("arg")) + " " + e.JID
		if theirs == nil {
			t.Errorf("%s: %s has nothing of it", name, c.name)
			continue
		}
		if got, want := strings.Join(theirs.Failed(), " "), strings.Join(mine.Failed(), " "); got != want {
			t.Errorf("%s: failed on %q in %s, want %q", name, got, c.name, want)
		}
		for id, v := range mine.Returns.All() {
			own, _ := v.(*value.Map)
			compared++
			if !own.Has("success") || !own.Has("retcode") {
				t.Errorf("%s: the record of %s has no success and retcode of its own", name, value.Str(id))
			}
			if column, ok := columns[e.JID+" "+value.Str(id)]; columns != nil && (!ok || column != jobs.Succeeded(own)) {
				t.Errorf("%s: the column success of %s says %v, want %v", name, value.Str(id), column, jobs.Succeeded(own))
			}
			full := theirs.Returns.Map(value.Str(id))
			if !full.Has("success") || c.name != "sqlite3" && !full.Has("retcode") {
				t.Errorf("%s: the row of %s has no success and retcode of its own: %s", name, value.Str(id), value.Repr(full))
			}
		}
	}
	if compared < len(ways()) {
		t.Errorf("%d returns were compared, want more", compared)
	}
}

// columns reads the column success of salt_returns, by jid and id; nil for a store
// without tables.
func (c *checker) columns(set returner.Settings) map[string]bool {
	var db *sql.DB
	var err error
	switch c.name {
	case "redis":
		return nil
	case "sqlite3":
		db, err = sql.Open("sqlite", filepath.Join(c.dir, "salt.db"))
	default:
		db, _, err = sqldb.Open(context.Background(), c.name, set)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT jid, id, success FROM salt_returns")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var jid, id, success string
		if err := rows.Scan(&jid, &id, &success); err != nil {
			c.t.Fatal(err)
		}
		out[jid+" "+id] = success == "1" || success == "true"
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	return out
}
