package jobsrun

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	e := jobs.Entry{JID: "20261121090807123456", Load: value.MapOf(
		"fun", "state.apply", "tgt", value.Strings("web1", "web2"), "tgt_type", "list", "Minions", value.Strings("web1", "web2"),
		"arg", value.NewList("web", value.MapOf("__kwarg__", true, "metadata", value.MapOf("action", int64(7)))),
	)}
	for _, tt := range []struct {
		name             string
		metadata         *value.Map
		function, target value.Value
		start, end       string
		match            bool
		from, to         string
	}{
		{name: "all", match: true},
		{name: "function", function: "state.*", match: true},
		{name: "functions", function: value.NewList("cmd.*", "state.apply"), match: true},
		{name: "other function", function: "cmd.*"},
		{name: "target", target: "web2", match: true},
		{name: "other target", target: "db*"},
		{name: "metadata", metadata: value.MapOf("action", int64(7), "x", true), match: true},
		{name: "other metadata", metadata: value.MapOf("action", int64(8))},
		{name: "times", start: "2026, Nov 20 14:00", end: "2026-11-21", match: true, from: "20261120140000000000", to: "20261121000000000000"},
		{name: "jids", start: "20261121090807123456", match: true, from: "20261121090807123456"},
	} {
		f, err := newFilter(tt.metadata, tt.function, tt.target, span{tt.start, tt.end, "start_time", "end_time"})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if f.match(e.JID, e.Load) != tt.match || f.from != tt.from || f.to != tt.to {
			t.Errorf("%s: match %t, from %q to %q", tt.name, f.match(e.JID, e.Load), f.from, f.to)
		}
	}
	for _, bad := range []string{"yesterday", "2026-13-01", "5"} {
		if _, err := newFilter(nil, nil, nil, span{start: bad}); err == nil {
			t.Errorf("start_time %s is taken", bad)
		}
	}
}

// call calls a function of the module on a cache.
func call(t *testing.T, dir, name string, args *value.Map) fun.Result {
	t.Helper()
	return logged(t, slog.DiscardHandler, dir, name, args)
}

// logged is call with a log.
func logged(t *testing.T, log slog.Handler, dir, name string, args *value.Map) fun.Result {
	t.Helper()
	mod := Runners(func(context.Context, *fun.Env, string) (jobs.Store, func(), error) {
		return nil, nil, fun.Errorf("none")
	})
	env := &fun.Env{
		Identity:  fun.Identity{JID: "20261121100000000000"},
		Machine:   fun.Machine{CacheDir: dir, Host: host.NewFake()},
		Data:      fun.Data{Opts: value.MapOf("master_job_cache", "local_cache")},
		UI:        fun.UI{Logger: slog.New(log), OnWarn: func(fun.Warning) {}},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Runner, Name: "jobs", Load: func() fun.Module { return mod }}})},
	}
	res, err := dispatch.New(env).Invoke(t.Context(), fun.Runner, "jobs."+name, fun.Args{Kw: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func TestShapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := func() time.Time { return time.Date(2026, 11, 21, 9, 8, 9, 0, time.UTC) }
	f := jobs.NewFiles(dir, 0, now)
	const jid = "20261121090807123456"
	r, err := f.Begin(jobs.Load{JID: jid, Fun: "state.apply", Arg: value.NewList("web"), Tgt: "web*", TgtType: "glob", User: "zoe", Minions: []string{"web1", "web2"}})
	if err != nil {
		t.Fatal(err)
	}
	states := value.MapOf("test_|-a_|-a_|-nop", value.MapOf("result", true))
	if err := r.Return(fun.Return{ID: "web1", Out: "highstate", Body: fun.ValueBody{V: states}}); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	base := "'Function': 'state.apply', 'Arguments': ['web'], 'Target': 'web*', 'Target-type': 'glob', 'User': 'zoe'"
	result := "{'web1': {'return': {'test_|-a_|-a_|-nop': {'result': True}}, 'retcode': 0, 'success': True, 'out': 'highstate'}}"
	minions := ", 'Minions': ['web1', 'web2'], 'StartTime': '2026, Nov 21 09:08:07.123456'"
	one := value.MapOf("jid", jid)
	for _, tt := range []struct {
		name string
		args *value.Map
		want string
		out  string
		code int
	}{
		{"list_jobs", value.NewMap(0), "{'" + jid + "': {" + base + ", 'StartTime': '2026, Nov 21 09:08:07.123456'}}", "", 0},
		{"list_jobs", value.MapOf("search_function", "cmd.*"), "{}", "", 0},
		{"list_jobs_filter", value.MapOf("count", int64(5)), "[{" + base + ", 'JID': '" + jid + "', 'StartTime': '2026, Nov 21 09:08:07.123456'}]", "", 0},
		{"list_job", one, "{'jid': '" + jid + "', " + base + minions + ", 'Result': " + result + "}", "", 0},
		{"print_job", one, "{'" + jid + "': {" + base + minions + ", 'Result': " + result + "}}", "", 0},
		{"last_run", value.MapOf("target", "web2"), "{'" + jid + "': {" + base + minions + ", 'Result': " + result + "}}", "", 0},
		{"last_run", value.MapOf("target", "db1"), "False", "", 1},
		{"get_jid", one, result, "", 0},
		{"exit_success", one, "{'web1': True, 'web2': False}", "", 1},
		{"lookup_jid", one, "{'web1': {'test_|-a_|-a_|-nop': {'result': True}}}", "highstate", 0},
		{"lookup_jid", value.MapOf("jid", jid, "missing", true, "returned", false), "{'web2': 'Minion did not return'}", "highstate", 0},
		{"lookup_jid", value.MapOf("jid", "20200101000000000000"), "{}", "", 1},
		{"list_job", value.MapOf("jid", "20200101000000000000"), "{'jid': '20200101000000000000', 'Error': 'Cannot contact returner or no job with this jid', 'StartTime': '2020, Jan 01 00:00:00.000000', 'Result': {}}", "", 1},
		{"active", value.NewMap(0), "{}", "", 0},
	} {
		res := call(t, dir, tt.name, tt.args)
		if d := cmp.Diff(tt.want, value.Repr(res.Value)); d != "" || res.Out != tt.out || res.Retcode != tt.code {
			t.Errorf("%s %s: out %q, retcode %d (-want +got):\n%s", tt.name, value.Repr(tt.args), res.Out, res.Retcode, d)
		}
	}
}

// A call tells of its progress where that is wished, and only there.
func TestProgress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const jid = "20261121090807123456"
	r, err := jobs.NewFiles(dir, 0, time.Now).Begin(jobs.Load{JID: jid, Fun: "test.ping", Tgt: "*"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]*value.Map{
		"active": value.NewMap(1), "last_run": value.NewMap(1), "list_jobs": value.NewMap(1),
		"list_jobs_filter": value.MapOf("count", int64(1)), "list_job": value.MapOf("jid", jid), "lookup_jid": value.MapOf("jid", jid),
	} {
		for _, wished := range []bool{false, true} {
			var log bytes.Buffer
			args.Set("display_progress", wished)
			logged(t, slog.NewTextHandler(&log, nil), dir, name, args)
			if strings.Contains(log.String(), "Querying returner: local_cache") != wished {
				t.Errorf("%s display_progress=%t: the log is %q", name, wished, log.String())
			}
		}
	}
}

// The reason of many targets names none of them.
func TestReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"did not return: unreachable: m1 (127.0.0.1:9): connect: refused": "did not return: unreachable: connect: refused",
		"did not return: unreachable: m1 (no end: connect":                "did not return: unreachable: it (no end: connect",
		"did not return: unreachable: m1 is not in the roster":            "did not return: unreachable: it is not in the roster",
		"did not return: unreachable: m10 is not in the roster":           "did not return: unreachable: m10 is not in the roster",
		"did not return": "did not return",
	} {
		if got := reason(text, "m1"); got != want {
			t.Errorf("reason(%q) = %q, want %q", text, got, want)
		}
	}
}

// A listing of many jobs has the same rows, each of which is read when it is
// printed, and so has the report of who ran what.
func TestLongListings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := jobs.NewFiles(dir, 0, time.Now)
	const n = fewRows + 5
	for i := range n {
		r, err := f.Begin(jobs.Load{JID: fmt.Sprintf("20261121090807%06d", i), Fun: "cmd.run", Arg: value.NewList(int64(i)), Tgt: "*", Minions: []string{"web1"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Return(fun.Return{ID: "web1", Retcode: i % 2, Body: fun.ValueBody{V: true}}); err != nil {
			t.Fatal(err)
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
	}
	list := call(t, dir, "list_jobs", value.NewMap(0)).Value.(*value.Map)
	if list.Len() != n {
		t.Fatalf("%d jobs", list.Len())
	}
	solid := value.Solid(list).(*value.Map)
	for i, k := range list.Keys() {
		row, _ := list.At(k).(*value.Row)
		if args, _ := row.Get("Arguments"); value.Repr(args) != fmt.Sprintf("[%d]", i) {
			t.Errorf("%s: %s", k, row.Repr())
		}
	}
	if got, want := value.Repr(solid), value.Repr(list); got != want {
		t.Errorf("solid: %s", got)
	}
	last := call(t, dir, "list_jobs_filter", value.MapOf("count", int64(2))).Value.(*value.List)
	if got := value.Repr(last.Items[1].(*value.Map).At("Arguments")); last.Len() != 2 || got != fmt.Sprintf("[%d]", n-1) {
		t.Errorf("the newest of %d has %s", last.Len(), got)
	}
}

// A record that is damaged is listed, looked up as far as it is readable, and
// reported and repaired by check.
func TestDamagedJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := jobs.NewFiles(dir, 0, time.Now)
	const jid = "20261121090807123456"
	r, err := f.Begin(jobs.Load{JID: jid, Fun: "cmd.run", Tgt: "*", Minions: []string{"web1", "web2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"web1", "web2"} {
		if err := r.Return(fun.Return{ID: id, Body: fun.ValueBody{V: "out of " + id}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "jobs", jid[:10], jid+".job")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "#######")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	one := value.MapOf("jid", jid)
	row := "'Function': 'unknown-function', 'Arguments': [], 'Target': 'unknown-target', 'Target-type': 'list', 'User': 'root', "
	start, damaged := "'StartTime': '2026, Nov 21 09:08:07.123456'", "'Status': 'damaged', 'Damage': 'line 1 is not readable'"
	for _, tt := range []struct {
		name string
		args *value.Map
		want string
		code int
	}{
		{"list_jobs", value.NewMap(0), "{'" + jid + "': {" + row + start + ", " + damaged + "}}", 0},
		{"lookup_jid", one, "{'web1': 'out of web1', 'web2': 'out of web2'}", 0},
		{"exit_success", one, "{'web1': True, 'web2': True}", 0},
		{"check", value.MapOf("repair", false), "{'checked': 1, 'damaged': {'" + jid + "': {'damage': 'line 1 is not readable', 'returns': ['web1', 'web2'], 'repaired': False}}}", 1},
		{"check", value.NewMap(0), "{'checked': 1, 'damaged': {'" + jid + "': {'damage': 'line 1 is not readable', 'returns': ['web1', 'web2'], 'repaired': True}}}", 0},
		{"check", value.NewMap(0), "{'checked': 1, 'damaged': {}}", 0},
		{"list_jobs", value.NewMap(0), "{'" + jid + "': {" + row + start + "}}", 0},
	} {
		res := call(t, dir, tt.name, tt.args)
		if d := cmp.Diff(tt.want, value.Repr(res.Value)); d != "" || res.Retcode != tt.code {
			t.Errorf("%s: retcode %d (-want +got):\n%s", tt.name, res.Retcode, d)
		}
	}
}
