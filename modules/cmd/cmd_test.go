package cmd_test

import (
	"context"
	"errors"
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
)

// machine is a real machine's Env, without files and pillar.
func machine(t *testing.T) *fun.Env {
	t.Helper()
	return env(host.NewLocal())
}

func env(h host.Host) *fun.Env {
	e := &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base"},
		Machine:   fun.Machine{Host: h},
		Data:      fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}, Grains: value.MapOf("shell", "/bin/sh"), Pillar: value.NewMap(0)},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "cmd", Load: cmdmod.Module}})},
	}
	e.Invoker = dispatch.New(e)
	return e
}

func call(ctx context.Context, e *fun.Env, name string, kw *value.Map, pos ...value.Value) (fun.Result, error) {
	return e.Invoker.Invoke(ctx, fun.Exec, "cmd."+name, fun.Args{Pos: pos, Kw: kw.Copy()})
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell := value.MapOf("python_shell", true)
	with := func(kv ...value.Value) *value.Map {
		m := shell.Copy()
		m.Update(value.MapOf(kv...))
		return m
	}
	for _, tt := range []struct {
		fn      string
		cmd     value.Value
		kw      *value.Map
		want    value.Value
		retcode int
		err     string
	}{
		{"run", "echo out; echo err >&2", shell, "out\nerr", 0, ""},
		{"run", "echo hi | cat", value.NewMap(0), "hi | cat", 0, ""},
		{"run", value.Strings("echo", "a b", "$X"), value.NewMap(0), "a b $X", 0, ""},
		{"run", "exit 3", shell, "", 3, ""},
		{"run", "exit 3", with("ignore_retcode", true), "", 0, ""},
		{"run", "exit 3", with("success_retcodes", value.NewList(int64(3))), "", 0, ""},
		{"run", "exit 3", with("success_retcodes", int64(3)), "", 0, ""},
		{"run", "echo all ok; exit 3", with("success_stdout", value.Strings("ok")), "all ok", 0, ""},
		{"run_all", "echo oh no >&2; exit 3", with("success_stderr", value.Strings("no")), value.MapOf("retcode", int64(0), "stdout", "", "stderr", "oh no"), 0, ""},
		{"run", "echo hi", with("hide_output", true), "", 0, ""},
		{"run", "echo '  x  '; echo", with("rstrip", false), "  x  \n\n", 0, ""},
		{"run", "cat", with("stdin", "fed"), "fed", 0, ""},
		{"run", "cat", with("stdin", `a\nb`), "a\nb", 0, ""},
		{"run", "cat", with("stdin", `a\nb`, "stdin_raw_newlines", true), `a\nb`, 0, ""},
		{"run", "exit 3", with("success_retcodes", "2, 3"), "", 0, ""},
		{"run", "umask", with("umask", "077"), "0077", 0, ""},
		{"run", "umask", with("umask", int64(27)), "0027", 0, ""},
		{"run", "echo $A-$B", with("env", value.NewList(value.MapOf("A", "x"), value.MapOf("B", int64(2)))), "x-2", 0, ""},
		{"run", "echo $A", with("env", value.MapOf("A", nil)), "", 0, ""},
		{"run", "echo ${A-unset}", with("env", value.Strings("A", "B")), "", 0, ""},
		{"run", "echo ${A-unset}", with("env", value.NewList(value.MapOf("A", "x", "B", "y"))), "unset", 0, ""},
		{"run", "echo ${A-unset}", with("env", "A=x"), "unset", 0, ""},
		{"run", "echo ${HOME:-none}", with("clean_env", true), "none", 0, ""},
		{"run", "echo $LC_CTYPE-$LANGUAGE", shell, "C-C", 0, ""},
		{"run", "echo ${PATH%%:*}", with("prepend_path", dir), dir, 0, ""},
		{"run", "pwd", with("cwd", dir), dir, 0, ""},
		{"run", "printf 'a\\377b'", shell, "a\ufffdb", 0, ""},
		{"run", "echo lost; exit 2", with("raise_err", true), nil, 0, "lost"},
		{"run", "x", with("cwd", "/no/such"), nil, 0, "Specified cwd '/no/such' either not absolute or does not exist"},
		{"run", "x", with("cwd", "relative"), nil, 0, "Specified cwd 'relative' either not absolute or does not exist"},
		{"run", "x", with("runas", "nobody_zz"), nil, 0, "User 'nobody_zz' is not available"},
		{"run", "x", with("group", "nogroup_zz"), nil, 0, "Group 'nogroup_zz' is not available"},
		{"run", "x", with("umask", "9"), nil, 0, "Invalid umask: '9'"},
		{"run", "x", with("shell", "/no/sh"), nil, 0, "The shell /no/sh is not available"},
		{"run", "x", with("shell", "sh"), nil, 0, "The shell sh is not available"},
		{"run", "x", value.MapOf("shell", "/no/sh"), nil, 0, "The shell /no/sh is not available"},
		{"run", "no_such_zz", value.NewMap(0), nil, 0, "Unable to run command '['no_such_zz']'"},
		{"run", "'open", value.NewMap(0), nil, 0, "Unable to run command ''open', reason:"},
		{"run", "", value.NewMap(0), nil, 0, "it has no words"},
		{"run_stdout", "echo out; echo err >&2", shell, "out", 0, ""},
		{"run_stderr", "echo out; echo err >&2", shell, "err", 0, ""},
		{"retcode", "exit 9", shell, int64(9), 9, ""},
		{"run_all", "echo out; echo err >&2; exit 4", shell, value.MapOf("retcode", int64(4), "stdout", "out", "stderr", "err"), 4, ""},
		{"run_all", "echo out; echo err >&2", with("redirect_stderr", true), value.MapOf("retcode", int64(0), "stdout", "out\nerr", "stderr", ""), 0, ""},
		{"run_all", "true", with("bg", true), value.MapOf("retcode", nil, "stdout", "", "stderr", ""), 0, ""},
		{"shell", "echo $((1+2))", value.NewMap(0), "3", 0, ""},
		{"run", "sleep 9", with("timeout", 0.1), "sleep 9 : Timed out after 0.1 seconds", 0, ""},
		{"run_all", "sleep 9", with("timeout", 0.1, "ignore_timeout", true), value.MapOf("retcode", int64(1), "stdout", "sleep 9 : Timed out after 0.1 seconds", "stderr", ""), 0, ""},
	} {
		name := tt.fn + " " + value.Str(tt.cmd) + " " + value.Repr(tt.kw)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := call(t.Context(), machine(t), tt.fn, tt.kw, tt.cmd)
			if tt.err != "" {
				var ce *fun.CommandError
				if !errors.As(err, &ce) || !strings.HasPrefix(err.Error(), tt.err) && !strings.HasSuffix(err.Error(), tt.err) {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := res.Value
			if m, ok := got.(*value.Map); ok {
				if n, _ := value.AsInt(m.At("pid")); n <= 0 {
					t.Errorf("pid is %v", m.At("pid"))
				}
				m = m.Copy()
				m.Delete("pid")
				got = m
			}
			if d := cmp.Diff(value.Repr(tt.want), value.Repr(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if res.Retcode != tt.retcode {
				t.Errorf("retcode %d, want %d", res.Retcode, tt.retcode)
			}
		})
	}
}

// What a command started lives on where ignore_timeout ends the command.
// TestRefused has arguments that are refused as such, not a command that fails.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kw   *value.Map
		want string
	}{
		{value.MapOf("success_retcodes", value.Strings("abc")), "success_retcodes must be a list of integers"},
		{value.MapOf("timeout", "soon"), "Error: timeout soon must be a number"},
	} {
		_, err := call(t.Context(), machine(t), "run", tt.kw, "true")
		var failed *fun.CommandError
		if err == nil || errors.As(err, &failed) || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", value.Repr(tt.kw), err, tt.want)
		}
	}
}

func TestIgnoreTimeoutLeavesChildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kw := value.MapOf("python_shell", true, "timeout", 0.2, "ignore_timeout", true, "cwd", dir)
	if _, err := call(t.Context(), machine(t), "run_all", kw, "(sleep 0.5; echo alive > mark) & sleep 9"); err != nil {
		t.Fatal(err)
	}
	res, err := call(t.Context(), machine(t), "run", value.MapOf("python_shell", true, "cwd", dir, "timeout", int64(20)), "until test -s mark; do sleep 0.05; done; cat mark")
	if err != nil || res.Value != "alive" {
		t.Errorf("the child's mark is %v, %v", res.Value, err)
	}
}

func TestPythonShell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kw   *value.Map
		opts *value.Map
		want string
	}{
		{value.MapOf("__pub_jid", "1"), value.NewMap(0), "/bin/sh -c echo $X"},
		{value.NewMap(0), value.NewMap(0), "/bin/echo $X"},
		{value.NewMap(0), value.MapOf("cmd_safe", false), "/bin/sh -c echo $X"},
		{value.MapOf("__pub_jid", "1", "python_shell", false), value.NewMap(0), "/bin/echo $X"},
		{value.MapOf("python_shell", true, "shell", "/bin/ksh"), value.NewMap(0), "/bin/ksh -c echo $X"},
	} {
		f := host.NewFake()
		for _, p := range []string{"/bin/sh", "/bin/ksh", "/bin/echo"} {
			f.PutFile(p, "", 0o755)
		}
		f.Env = []string{"PATH=/bin"}
		f.OnCommand("*", host.Output{})
		e := env(f)
		e.Opts = tt.opts
		if _, err := call(t.Context(), e, "run", tt.kw, "echo $X"); err != nil {
			t.Errorf("%s: %v", value.Repr(tt.kw), err)
			continue
		}
		if got := strings.Join(f.Calls()[0].Argv, " "); got != tt.want {
			t.Errorf("%s: ran %q, want %q", value.Repr(tt.kw), got, tt.want)
		}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/bin/tool", "", 0o755)
	f.PutFile("/bin/data", "", 0o644)
	f.PutFile("/etc/shells", "# shells\n/bin/sh\n\n  /bin/bash\n", 0o644)
	f.Env = []string{"PATH=/usr/bin:/bin"}
	for _, tt := range []struct {
		fn   string
		arg  []value.Value
		want string
	}{
		{"which", []value.Value{"tool"}, "'/bin/tool'"},
		{"which", []value.Value{"data"}, "None"},
		{"which", []value.Value{""}, "None"},
		{"which", []value.Value{"/bin/tool"}, "'/bin/tool'"},
		{"which", []value.Value{"/bin/data"}, "None"},
		{"which_bin", []value.Value{value.Strings("none", "tool")}, "'/bin/tool'"},
		{"which_bin", []value.Value{value.Strings("none")}, "None"},
		{"has_exec", []value.Value{"tool"}, "True"},
		{"has_exec", []value.Value{"none"}, "False"},
		{"shells", nil, "['/bin/sh', '/bin/bash']"},
	} {
		res, err := call(t.Context(), env(f), tt.fn, nil, tt.arg...)
		if got := value.Repr(res.Value); err != nil || got != tt.want {
			t.Errorf("%s%v = %s, %v, want %s", tt.fn, tt.arg, got, err, tt.want)
		}
	}
}

func TestExecCode(t *testing.T) {
	t.Parallel()
	res, err := call(t.Context(), machine(t), "exec_code", nil, "sh", "echo \"$1\"; exit 4", nil, value.Strings("a b"))
	if err != nil || res.Value != "a b" || res.Retcode != 4 {
		t.Errorf("exec_code = %v, %d, %v", res.Value, res.Retcode, err)
	}
	res, err = call(t.Context(), machine(t), "exec_code_all", nil, "sh", "echo no >&2; exit 4")
	m, _ := res.Value.(*value.Map)
	if err != nil || value.Repr(m.At("retcode")) != "4" || m.Str("stderr") != "no" {
		t.Errorf("exec_code_all = %v, %v", res.Value, err)
	}
	further := value.MapOf("env", value.MapOf("A", "set"), "stdin", "fed")
	res, err = call(t.Context(), machine(t), "exec_code", further, "sh", "echo $A; cat")
	if err != nil || res.Value != "set\nfed" {
		t.Errorf("exec_code with the arguments of run_all = %v, %v", res.Value, err)
	}
}

// The script of script_retcode is a template unless it is said not to be one.
func TestScriptRetcode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit {{ 40 + 2 }}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := call(t.Context(), machine(t), "script_retcode", nil, path)
	if err != nil || value.Repr(res.Value) != "42" || res.Retcode != 42 {
		t.Errorf("script_retcode = %v, %d, %v", res.Value, res.Retcode, err)
	}
}

// A script that cannot be had or runs out of time does not fail the call.
func TestScriptNotRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source string
		kw     *value.Map
	}{
		{path + ".none", nil},
		{path, value.MapOf("timeout", 0.1)},
	} {
		res, err := call(t.Context(), machine(t), "script_retcode", tt.kw, tt.source)
		if err != nil || value.Repr(res.Value) != "1" || res.Retcode != 0 {
			t.Errorf("script_retcode = %v, %d, %v", res.Value, res.Retcode, err)
		}
		res, err = call(t.Context(), machine(t), "script", tt.kw, tt.source)
		if tt.source != path { // Salt copies a file that is not rendered
			if err == nil || err.Error() != "[Errno 2] No such file or directory: '"+tt.source+"'" {
				t.Errorf("script = %v, %v", res.Value, err)
			}
			continue
		}
		m, _ := res.Value.(*value.Map)
		if err != nil || value.Repr(m.At("retcode")) != "1" || res.Retcode != 0 {
			t.Errorf("script = %v, %d, %v", res.Value, res.Retcode, err)
		}
	}
}

// TestNotPermitted: commands that the configuration forbids are not run, in Salt's
// words, by whatever function of the module they come.
func TestNotPermitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "ran")
	touch := "touch " + file
	script := filepath.Join(dir, "s.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+touch+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	black := value.MapOf("cmd_blacklist_glob", value.Strings("touch *", "*chroot*", "/bin/sh /*", script+"*"))
	white := value.MapOf("cmd_whitelist_glob", value.Strings("true"))
	both := value.MapOf("cmd_blacklist_glob", value.Strings("touch *"), "cmd_whitelist_glob", value.Strings("*"))
	for _, name := range []string{"run", "run_all", "run_stdout", "run_stderr", "run_bg", "retcode", "shell", "script", "script_retcode", "exec_code", "exec_code_all", "run_chroot"} {
		for _, opts := range []*value.Map{black, white, both} {
			e := machine(t)
			var err error
			if e.Limits, err = fun.NewLimits(opts); err != nil {
				t.Fatal(err)
			}
			pos := []value.Value{touch}
			switch name {
			case "script", "script_retcode":
				if opts == both {
					continue
				}
				pos = []value.Value{script}
			case "exec_code", "exec_code_all":
				if opts == both {
					continue
				}
				pos = []value.Value{"/bin/sh", touch}
			case "run_chroot":
				if opts == both {
					continue
				}
				pos = []value.Value{dir, "chroot " + touch}
			}
			_, err = call(t.Context(), e, name, value.NewMap(0), pos...)
			ce, ok := errors.AsType[*fun.CommandError](err)
			if !ok || !strings.HasPrefix(ce.Msg, `The shell command "`) || !strings.HasSuffix(ce.Msg, `" is not permitted`) || !strings.Contains(ce.Hint, "cmd_") {
				t.Errorf("cmd.%s with %s: %v", name, value.Repr(opts), err)
			}
			if _, err := os.Stat(file); err == nil {
				t.Fatalf("cmd.%s with %s ran the command", name, value.Repr(opts))
			}
		}
	}
	e := machine(t)
	e.Limits, _ = fun.NewLimits(value.MapOf("cmd_whitelist_glob", value.Strings(touch)))
	if _, err := call(t.Context(), e, "run", value.NewMap(0), touch); err != nil {
		t.Errorf("a command that is allowed: %v", err)
	}
}
