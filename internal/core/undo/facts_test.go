package undo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// facts is a machine whose functions change what it says of itself.
type facts struct {
	packages *value.Map
	services map[string]*value.Map
	sysctl   map[string]string
	mounts   *value.Map
	kmods    map[string]bool
	calls    []string
	fails    string // the function that fails
}

// bound are the functions of a machine, called in an Env.
type bound struct {
	*facts
	host host.Host
}

// Bind binds nothing: states are not called here.
func (f bound) Bind(*fun.Module, *fun.Spec, fun.Args) (*fun.Call, error) {
	return nil, fun.Errorf("not here")
}

// Invoke calls a function.
func (f bound) Invoke(ctx context.Context, _ fun.Kind, name string, args fun.Args) (fun.Result, error) {
	kw := args.Kw
	if kw == nil {
		kw = value.NewMap(0)
	}
	if name == f.fails {
		return fun.Result{}, fun.Errorf("%s failed", name)
	}
	svc := f.services[kw.Str("name")]
	switch name {
	case "service.status":
		return fun.Value(svc.At("running"))
	case "service.enabled":
		return fun.Value(svc.At("enabled"))
	case "pkg.list_pkgs":
		return fun.Value(f.packages.Copy())
	case "sysctl.get":
		return fun.Value(f.sysctl[kw.Str("name")])
	case "mount.active":
		return fun.Value(f.mounts.Copy())
	case "service.masked":
		return fun.Result{}, &fun.NotFoundError{Name: name}
	case "kmod.is_loaded":
		return fun.Value(f.kmods[args.Pos[0].(string)])
	}
	if _, err := f.host.Run(ctx, host.Cmd{Argv: []string{"tool"}}); err != nil {
		return fun.Result{}, err
	}
	f.calls = append(f.calls, name)
	switch name {
	case "service.start", "service.restart":
		svc.Set("running", true)
	case "service.stop":
		svc.Set("running", false)
	case "service.enable":
		svc.Set("enabled", true)
	case "service.disable":
		svc.Set("enabled", false)
	case "pkg.install":
		for _, p := range kw.List("pkgs").Items {
			f.packages.Update(p.(*value.Map))
		}
	case "pkg.remove":
		for _, p := range kw.List("pkgs").Items {
			f.packages.Delete(p)
		}
	case "sysctl.assign":
		f.sysctl[kw.Str("name")] = value.Str(kw.At("value"))
		return fun.Value(value.MapOf(kw.At("name"), kw.At("value")))
	case "mount.mount":
		f.mounts.Set(kw.Str("name"), value.MapOf("device", kw.Str("device"), "fstype", kw.Str("fstype"), "opts", kw.At("opts")))
	case "mount.umount":
		f.mounts.Delete(kw.Str("name"))
	case "kmod.load":
		f.kmods[args.Pos[0].(string)] = true
	case "kmod.remove":
		f.kmods[args.Pos[0].(string)] = false
	default:
		return fun.Result{}, &fun.NotFoundError{Name: name}
	}
	return fun.Value(true)
}

func (f *facts) String() string {
	text := func(v value.Value) string { return string(value.EncodeJSON(v)) }
	var out []string
	for n, s := range f.services {
		out = append(out, n+text(s))
	}
	slices.Sort(out)
	pkgs := value.NewMap(4) // their order says nothing
	names := f.packages.Keys()
	slices.SortFunc(names, func(a, b value.Value) int { return strings.Compare(a.(string), b.(string)) })
	for _, n := range names {
		pkgs.Set(n, f.packages.At(n))
	}
	return fmt.Sprint(out, text(pkgs), f.sysctl, text(f.mounts), f.kmods)
}

func newFacts() *facts {
	return &facts{
		packages: value.MapOf("a", "1.0", "b", "2.0"),
		services: map[string]*value.Map{"web": value.MapOf("running", false, "enabled", false), "db": value.MapOf("running", true, "enabled", true)},
		sysctl:   map[string]string{"net.x": "0"},
		mounts:   value.MapOf("/there", value.MapOf("device", "/dev/sda1", "fstype", "ext4", "opts", value.Strings("rw"))),
		kmods:    map[string]bool{"old": true, "new": false},
	}
}

// TestFacts: what programs change is asked for before and after them, and brought back.
func TestFacts(t *testing.T) {
	t.Parallel()
	run := func(f bound, fn string, args ...any) error {
		kw := value.MapOf(args...)
		_, err := f.Invoke(context.Background(), fun.Exec, fn, fun.Args{Kw: kw})
		return err
	}
	pos := func(f bound, fn, arg string) error {
		_, err := f.Invoke(context.Background(), fun.Exec, fn, fun.Args{Pos: []value.Value{arg}})
		return err
	}
	for name, x := range map[string]struct {
		state, fun, of string
		do             func(f bound) error
		since          func(f *facts) // what somebody does after the run
		want           Verdict
		says           string
	}{
		"service": {state: "service", fun: "running", of: "web", do: func(f bound) error {
			_ = run(f, "service.enable", "name", "web")
			return run(f, "service.start", "name", "web")
		}},
		"service stopped": {state: "service", fun: "dead", of: "db", do: func(f bound) error {
			return run(f, "service.stop", "name", "db")
		}},
		"service changed since": {state: "service", fun: "running", of: "web", do: func(f bound) error {
			return run(f, "service.start", "name", "web")
		}, since: func(f *facts) { f.services["web"].Set("enabled", true) }, want: Since, says: "changed since"},
		"package": {state: "pkg", fun: "installed", of: "c", do: func(f bound) error {
			return run(f, "pkg.install", "pkgs", value.NewList(value.MapOf("c", "1", "dep", "1", "a", "1.5")))
		}},
		"package removed": {state: "pkg", fun: "removed", of: "b", do: func(f bound) error {
			return run(f, "pkg.remove", "pkgs", value.NewList("b"))
		}, since: func(f *facts) { f.packages.Set("other", "9") }},
		"package changed since": {state: "pkg", fun: "installed", of: "a", do: func(f bound) error {
			return run(f, "pkg.install", "pkgs", value.NewList(value.MapOf("a", "1.5")))
		}, since: func(f *facts) { f.packages.Set("a", "1.7") }, want: Since, says: "changed since the run: a"},
		"sysctl": {state: "sysctl", fun: "present", of: "net.x", do: func(f bound) error {
			return run(f, "sysctl.assign", "name", "net.x", "value", "1")
		}},
		"mounted": {state: "mount", fun: "mounted", of: "/mnt", do: func(f bound) error {
			return run(f, "mount.mount", "name", "/mnt", "device", "tmpfs", "fstype", "tmpfs", "opts", value.Strings("rw"))
		}},
		"unmounted": {state: "mount", fun: "unmounted", of: "/there", do: func(f bound) error { return run(f, "mount.umount", "name", "/there") }},
		"module":    {state: "kmod", fun: "present", of: "new", do: func(f bound) error { return pos(f, "kmod.load", "new") }},
		"module gone": {state: "kmod", fun: "absent", of: "old", do: func(f bound) error {
			return pos(f, "kmod.remove", "old")
		}},
		"a tool that says it did": {state: "service", fun: "running", of: "web", do: func(f bound) error {
			return run(f, "service.start", "name", "web")
		}, since: func(f *facts) { f.fails = "service.stop" }, want: Fault, says: "service.stop failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFacts()
			h := host.NewFake()
			h.OnCommand("tool", host.Output{})
			dir := t.TempDir()
			envFor := func(jid string) *fun.Env {
				env := envOf(h, dir, jid)
				env.NewInvoker = func(e *fun.Env) fun.Invoker { return bound{f, e.Host} }
				env.Invoker = bound{f, h}
				return env
			}
			before := f.String()
			env := envFor(firstRun)
			r, err := Begin(env)
			if err != nil {
				t.Fatal(err)
			}
			c := &fun.Chunk{State: x.state, Fun: x.fun, ID: x.of, Name: x.of, Low: value.MapOf("name", x.of)}
			k, after := r.State(t.Context(), env, c, nil)
			if err := x.do(bound{f, k}); err != nil {
				t.Fatal(err)
			}
			after(value.MapOf("result", true, "changes", value.MapOf("x", true)))
			r.End(env)
			left := f.String()
			if left == before {
				t.Fatal("the run changed nothing")
			}
			if x.since != nil {
				x.since(f)
			}
			env = envFor(secondRun)
			f.calls = nil
			items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Test: true})
			if err != nil || len(items) != 1 || len(f.calls) > 0 || items[0].Verdict != x.want && x.want != Fault {
				t.Fatalf("in test mode: %v, %s, called %v", err, shown(items), f.calls)
			}
			now := f.String()
			if items, err = StoreOf(env).Undo(t.Context(), env, firstRun, Options{}); err != nil || len(items) != 1 {
				t.Fatalf("%v, %s", err, shown(items))
			}
			if items[0].Verdict != x.want || !strings.Contains(items[0].Comment, x.says) {
				t.Errorf("%s, called %v", shown(items), f.calls)
			}
			switch got := f.String(); {
			case x.want != Back && got != now:
				t.Errorf("was %s\nis %s", now, got)
			case x.want != Back:
				return
			case x.since == nil && got != before:
				t.Errorf("before %s\nafter %s", before, got)
			}
			env = envFor(thirdRun)
			if items, err = StoreOf(env).Undo(t.Context(), env, secondRun, Options{}); err != nil || len(items) != 1 || items[0].Verdict != Back {
				t.Fatalf("the undo's undo: %v, %s", err, shown(items))
			}
			if got := f.String(); x.since == nil && got != left {
				t.Errorf("left %s\nafter the undo's undo %s", left, got)
			}
		})
	}
}

// TestUnseen: what a state did that nobody can ask for is named, and never counted as
// brought back.
func TestUnseen(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.OnCommand("tool *", host.Output{})
	dir := t.TempDir()
	env := envOf(h, dir, firstRun)
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		id string
		do func(h host.Host) error
	}{
		{"program", func(h host.Host) error {
			_, err := h.Run(t.Context(), host.Cmd{Argv: []string{"/opt/tool", "--password=secret"}})
			return err
		}},
		{"started", func(h host.Host) error { _, err := h.Start(host.Cmd{Argv: []string{"tool", "x"}}); return err }},
		{"module", func(h host.Host) error { h.Changed(); return nil }},
		{"dial", func(h host.Host) error { _, _ = h.Dial(t.Context(), "tcp", "db:1"); return nil }},
		{"nothing seen", func(host.Host) error { return nil }},
		{"forked", func(h host.Host) error {
			_, err := h.Fork().Run(t.Context(), host.Cmd{Argv: []string{"tool", "x"}})
			return err
		}},
	} {
		c := &fun.Chunk{State: "x", Fun: "y", ID: x.id, Name: x.id, Low: value.NewMap(0)}
		k, after := r.State(t.Context(), env, c, nil)
		if err := x.do(k); err != nil {
			t.Logf("%s: %v", x.id, err)
		}
		after(value.MapOf("result", true, "changes", value.MapOf("x", true)))
	}
	r.End(env)
	env = envOf(h, dir, secondRun)
	items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := shown(items)
	for _, want := range []string{"(program): 3 it ran tool", "(started): 3 it ran tool", "(module): 3 it ran a module of the tree", "(dial): 3 it talked to tcp db:1", "(nothing seen): 3 what it changed is not known", "(forked): 3 it ran tool"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("an argument is in the log")
	}
	if rec, err := StoreOf(env).Read(firstRun); err != nil || rec.Undone != "" {
		t.Errorf("undone by %q, %v", rec.Undone, err)
	}
}
