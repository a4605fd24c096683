package cmd_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	cmdmod "brine/modules/cmd"
	cmdstates "brine/states/cmd"
)

func newEnv(h host.Host) *fun.Env {
	e := &fun.Env{
		Identity: fun.Identity{ID: "minion1", SaltEnv: "base"},
		Machine:  fun.Machine{Host: h},
		Data:     fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}, Grains: value.MapOf("shell", "/bin/sh"), Pillar: value.NewMap(0)},
		UI:       fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{
			{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module},
			{Kind: fun.Exec, Name: "mine", Load: mine},
			{Kind: fun.State, Name: "cmd", Load: cmdstates.States},
		})},
	}
	e.Invoker = dispatch.New(e)
	return e
}

// apply runs cmd.fn as the state system does.
func apply(t *testing.T, e *fun.Env, fn, name string, kw *value.Map, test bool) fun.Ret {
	t.Helper()
	mod, spec, ok := e.Table.Lookup(fun.State, "cmd."+fn)
	if !ok {
		t.Fatalf("no state cmd.%s", fn)
	}
	low := value.MapOf("state", "cmd", "fun", fn, "name", name, "__id__", name)
	low.Update(kw)
	c, err := e.Invoker.Bind(mod, spec, fun.Args{Kw: low})
	if err != nil {
		return fun.Raise(err)
	}
	c.Test, c.Low = test, &fun.Chunk{State: "cmd", Fun: fn, ID: name, Name: name, SaltEnv: "base", Low: low}
	if low.Has("sfun") {
		return mod.Watch(t.Context(), c)
	}
	return spec.State(t.Context(), c)
}

func repr(m *value.Map) string { return value.Repr(m.Copy()) }

// short is a return on one line; the pid is left out.
func short(r fun.Ret) string {
	if r.Err != nil {
		return "raises " + r.Err.Error()
	}
	ch := value.NewMap(0)
	if m, ok := r.Changes.(*value.Map); ok {
		ch = m.Copy()
		ch.Delete("pid")
	}
	return value.Repr(r.Result.Value()) + " " + value.Repr(r.Comment) + " " + value.Repr(ch)
}

func TestRun(t *testing.T) {
	t.Parallel()
	stateful := value.MapOf("stateful", true)
	tested := value.MapOf("stateful", value.NewList(value.MapOf("test_name", "echo changed=yes comment=due")))
	envs := func(x ...value.Value) *value.Map { return value.MapOf("env", value.NewList(x...)) }
	settled := value.MapOf("stateful", value.NewList(value.MapOf("test_name", "echo changed=no comment=settled")))
	for _, tt := range []struct {
		name string
		kw   *value.Map
		test bool
		want string
	}{
		{"echo out; echo err >&2", nil, false, `True 'Command "echo out; echo err >&2" run' {'retcode': 0, 'stdout': 'out', 'stderr': 'err'}`},
		{"echo bad; exit 4", nil, false, `False 'Command "echo bad; exit 4" run' {'retcode': 4, 'stdout': 'bad', 'stderr': ''}`},
		{"exit 4", nil, true, `None 'Command "exit 4" would have been executed' {}`},
		{"exit 4", value.MapOf("success_retcodes", value.NewList(int64(4))), false, `True 'Command "exit 4" run' {'retcode': 0, 'stdout': '', 'stderr': ''}`},
		{"echo it is ok; exit 4", value.MapOf("success_stdout", value.Strings("ok")), false, `True 'Command "echo it is ok; exit 4" run' {'retcode': 0, 'stdout': 'it is ok', 'stderr': ''}`},
		{"exit 4", value.MapOf("ignore_retcode", true), false, `False 'Command "exit 4" run' {'retcode': 4, 'stdout': '', 'stderr': ''}`},
		{"echo x", value.MapOf("hide_output", true), false, `True 'Command "echo x" run' {'retcode': 0, 'stdout': '', 'stderr': ''}`},
		{" ", nil, false, `False 'There is no command to run: the name is empty' {}`},
		{"echo x", value.MapOf("cwd", "/no/such"), false, `False 'Desired working directory "/no/such" is not available' {}`},
		{"echo x", value.MapOf("env", "A=b"), false, `False "Invalidly-formatted 'env' parameter. See documentation." {}`},
		{"true", value.MapOf("runas", "nobody_zz"), false, `False "User 'nobody_zz' is not available" {}`},
		{"echo {{ v }}", value.MapOf("template", "jinja"), false, `False "Jinja variable 'v' is undefined; line 1\n\n---\necho {{ v }}    <======================\n---" {}`},
		{"true", value.MapOf("timeout", "soon"), false, "raises timeout must be a number of seconds, not 'soon'"},
		{"true", value.MapOf("bg", true), false, `True 'Command "true" run' {'retcode': None, 'stdout': '', 'stderr': ''}`},
		{"sleep 9", value.MapOf("timeout", 0.1), false, `False 'Command "sleep 9" run' {'retcode': 1, 'stdout': 'sleep 9 : Timed out after 0.1 seconds', 'stderr': ''}`},
		{"sleep 9", value.MapOf("timeout", 0.1, "ignore_timeout", true), false, `True 'Command "sleep 9" run' {'retcode': 0, 'stdout': 'sleep 9 : Timed out after 0.1 seconds', 'stderr': ''}`},

		{`echo a; echo; echo 'changed=yes comment="it did" k=v'`, stateful, false, `True 'it did' {'changed': 'yes', 'k': 'v', 'retcode': 0, 'stdout': 'a\n', 'stderr': ''}`},
		{"echo changed=yes; exit 3", stateful, false, `False '' {'changed': 'yes', 'retcode': 3, 'stdout': '', 'stderr': ''}`},
		{"echo changed=no", stateful, false, "True '' {}"},
		{"echo $A", envs("A=x"), false, "False 'illegal environment variable name' {}"},
		{"echo $A", envs(value.MapOf("A", "x", "B", "y")), false, `True 'Command "echo $A" run' {'retcode': 0, 'stdout': '', 'stderr': ''}`},
		{"echo $A", value.MapOf("env", ""), false, `False "Invalidly-formatted 'env' parameter. See documentation." {}`},
		{"true", stateful, false, "True '' {}"},
		{"echo oops >&2; exit 3", stateful, false, "False 'oops' {}"},
		{`echo '{"changed": true, "comment": "js", "x": 1}'`, stateful, false, `True 'js' {'changed': True, 'x': 1, 'retcode': 0, 'stdout': '', 'stderr': ''}`},
		{`echo '{"x": 1}'`, stateful, false, "True '' {}"},
		{"echo '[1]'", stateful, false, "False 'script JSON output must be a JSON object (e.g., {})!' {}"},
		{"echo no pairs", stateful, false, "False 'Failed parsing script output! Stdout must be JSON or a line of name=value pairs.' {'retcode': 0, 'stdout': 'no pairs', 'stderr': ''}"},
		{"echo changed=yes a=b=c", stateful, false, "False 'Failed parsing script output! Stdout must be JSON or a line of name=value pairs.' {'retcode': 0, 'stdout': 'changed=yes a=b=c', 'stderr': ''}"},
		{"echo changed=maybe", stateful, false, "raises Failed parsing boolean value: maybe"},
		{"echo changed=yes", tested, false, "True '' {'changed': 'yes', 'retcode': 0, 'stdout': '', 'stderr': ''}"},
		{"echo changed=yes", tested, true, "None 'due' {'changed': 'yes', 'retcode': 0, 'stdout': '', 'stderr': ''}"},
		{"echo changed=yes", settled, true, "True 'settled' {}"},
		{"echo changed=yes", value.MapOf("stateful", "yes"), false, `True 'Command "echo changed=yes" run' {'retcode': 0, 'stdout': 'changed=yes', 'stderr': ''}`},
	} {
		t.Run(tt.name+" "+repr(tt.kw), func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, short(apply(t, newEnv(host.NewLocal()), "run", tt.name, tt.kw, tt.test))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// The return of a dry run by test_name keeps the name of the command; that of a
// script is named by what ran.
func TestTestNameAndTheReturn(t *testing.T) {
	t.Parallel()
	kw := value.MapOf("stateful", value.NewList(value.MapOf("test_name", "echo changed=no")))
	if r := apply(t, newEnv(host.NewLocal()), "run", "false", kw, true); r.Name != "" && r.Name != "false" {
		t.Errorf("the return's name is %q", r.Name)
	}
	if r := apply(t, newEnv(host.NewLocal()), "script", "/no/such/script", kw, true); r.Name != "echo changed=no" {
		t.Errorf("the return's name is %q", r.Name)
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/srv/run.sh", "echo hi", 0o644)
	f.PutFile("/bin/sh", "", 0o755)
	f.OnCommand("*script.sh*", host.Output{Stdout: []byte("changed=yes comment=ran\n")})
	for _, tt := range []struct {
		fn, name string
		kw       *value.Map
		test     bool
		want     string
	}{
		{"script", "/srv/run.sh", nil, false, "True \"Command '/srv/run.sh' run\" {'retcode': 0, 'stdout': 'changed=yes comment=ran', 'stderr': ''}"},
		{"script", "label", value.MapOf("source", "/srv/run.sh", "args", "a b", "stateful", true), false, "True 'ran' {'changed': 'yes', 'retcode': 0, 'stdout': '', 'stderr': ''}"},
		{"script", "label", value.MapOf("source", "/srv/run.sh"), true, "None \"Command 'label' would have been executed\" {}"},
		{"script", "/srv/none.sh", nil, false, `False "[Errno 2] No such file or directory: '/srv/none.sh'" {}`},
		{"script", "salt://none.sh", nil, false, "False \"Unable to cache script salt://none.sh from saltenv 'base'\" {'retcode': 1, 'stdout': '', 'stderr': '', 'cache_error': True}"},
		{"script", "/srv/run.sh", value.MapOf("cwd", "/none"), false, "False 'Desired working directory \"/none\" is not available' {}"},
		{"script", "/srv/run.sh", value.MapOf("context", "x"), false, "False \"Invalidly-formatted 'context' parameter. Must be formed as a dict.\" {}"},
		{"script", "/srv/run.sh", value.MapOf("defaults", value.Strings("x")), false, "False \"Invalidly-formatted 'defaults' parameter. Must be formed as a dict.\" {}"},
		{"wait_script", "/srv/run.sh", nil, false, "True '' {}"},
		{"wait_script", "/srv/run.sh", value.MapOf("sfun", "wait_script"), false, "True \"Command '/srv/run.sh' run\" {'retcode': 0, 'stdout': 'changed=yes comment=ran', 'stderr': ''}"},
	} {
		if d := cmp.Diff(tt.want, short(apply(t, newEnv(f), tt.fn, tt.name, tt.kw, tt.test))); d != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", tt.fn, tt.name, repr(tt.kw), d)
		}
	}
	if left := f.Tree("/tmp"); len(left) > 0 {
		t.Errorf("scripts are left behind: %v", left)
	}
}

// A script need not say which program runs it, and the shell reads its
// arguments.
func TestScriptByTheShell(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(path, []byte("echo $# $1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	kw := value.MapOf("source", path, "args", "$((1+2)) 'a b'")
	want := "True \"Command 'label' run\" {'retcode': 0, 'stdout': '2 3', 'stderr': ''}"
	if d := cmp.Diff(want, short(apply(t, newEnv(host.NewLocal()), "script", "label", kw, false))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWaitAndCall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fn, name string
		kw       *value.Map
		test     bool
		want     string
	}{
		{"wait", "exit 3", nil, false, "True '' {}"},
		{"watch", "exit 3", nil, true, "True '' {}"},
		{"wait", "exit 3", value.MapOf("sfun", "wait"), false, `False 'Command "exit 3" run' {'retcode': 3, 'stdout': '', 'stderr': ''}`},
		{"wait", "exit 3", value.MapOf("sfun", "wait"), true, `None 'Command "exit 3" would have been executed' {}`},
		{"call", "label", value.MapOf("func", "mine.give", "args", value.Strings("text")), false, "True 'text' {'retval': 'text'}"},
		{"call", "label", value.MapOf("func", "mine.give", "args", value.NewList(nil)), false, "True '' {'retval': None}"},
		{"call", "label", value.MapOf("func", "mine.give", "kws", value.MapOf("v", false)), false, "False '' {'retval': False}"},
		{"call", "label", value.MapOf("func", "mine.give", "args", value.NewList(value.MapOf("result", true, "comment", "c", "changes", value.MapOf("a", "b")))), false, "True 'c' {'a': 'b'}"},
		{"call", "label", value.MapOf("func", "mine.none"), false, "False \"'mine.none' is not available.\" {}"},
		{"wait_call", "label", value.MapOf("func", "mine.give", "sfun", "wait_call", "args", value.Strings("x")), false, "True 'x' {'retval': 'x'}"},
	} {
		if d := cmp.Diff(tt.want, short(apply(t, newEnv(host.NewLocal()), tt.fn, tt.name, tt.kw, tt.test))); d != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", tt.fn, tt.name, strings.TrimSpace(repr(tt.kw)), d)
		}
	}
}
