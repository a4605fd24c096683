package calltest

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Rig is a run on a machine.
type Rig struct {
	Env *fun.Env
	low []*fun.Chunk
}

// New returns a run on a machine that has some modules. Its file roots are in
// /srv/salt.
func New(h host.Host, entries ...fun.Entry) *Rig {
	opts := value.MapOf("id", "minion1", "cachedir", "/var/cache/brine", "hash_type", "sha256", "file_roots", value.MapOf("base", value.Strings("/srv/salt")))
	r := &Rig{Env: &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base"},
		Data:      fun.Data{Memo: &fun.Memo{}, Opts: opts, Grains: value.MapOf("id", "minion1", "os", "Debian", "os_family", "Debian", "kernel", "Linux", "shell", "/bin/sh"), Pillar: value.NewMap(0)},
		Machine:   fun.Machine{Host: h, CacheDir: "/var/cache/brine"},
		Functions: fun.Functions{Table: fun.NewTable(entries)},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler)},
	}}
	r.Env.Up = &fileserver.Local{Server: fileserver.New(h, fileserver.RootsOf(opts, "file_roots"))}
	r.Env.Invoker = dispatch.New(r.Env)
	r.Env.Run = r
	return r
}

// Add notes a state as part of the run.
func (r *Rig) Add(c *fun.Chunk) { r.low = append(r.low, c) }

// Low returns the states of the run; with Running and Return it makes a Rig a
// fun.RunView.
func (r *Rig) Low() []*fun.Chunk { return r.low }

// Running returns no returns.
func (r *Rig) Running() *value.Map { return value.NewMap(0) }

// Return returns none.
func (r *Rig) Return(string) *value.Map { return nil }

// State calls a state function with arguments written in YAML, and returns its
// result, comment and changes as "True: comment {'k': 'v'}". A failure that Python
// would raise is "error: text".
func (r *Rig) State(t testing.TB, name, args string, test bool) string {
	t.Helper()
	mod, spec, ok := r.Env.Table.Lookup(fun.State, name)
	if !ok {
		t.Fatalf("no state %s", name)
	}
	low, _ := YAML(t, args).(*value.Map)
	if low == nil {
		t.Fatalf("the arguments are not a mapping: %s", args)
	}
	c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: low})
	if err != nil {
		return "error: " + err.Error()
	}
	c.Test = test
	c.Low = &fun.Chunk{State: mod.Name, Fun: spec.Name, ID: c.Name, Name: c.Name, SaltEnv: "base", Low: low}
	return text(spec.State(t.Context(), c))
}

// Watch calls mod_watch of a state as State calls the state itself.
func (r *Rig) Watch(t testing.TB, name, args string, test bool) string {
	t.Helper()
	mod, spec, ok := r.Env.Table.Lookup(fun.State, name)
	if !ok || mod.Watch == nil {
		t.Fatalf("no state %s, or no mod_watch", name)
	}
	low, _ := YAML(t, args).(*value.Map)
	c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: low})
	if err != nil {
		return "error: " + err.Error()
	}
	c.Test = test
	low = low.Copy()
	low.Set("sfun", spec.Name)
	c.Low = &fun.Chunk{State: mod.Name, Fun: "mod_watch", ID: c.Name, Name: c.Name, SaltEnv: "base", Low: low}
	return text(mod.Watch(t.Context(), c))
}

func text(ret fun.Ret) string {
	if ret.Err != nil {
		return "error: " + ret.Err.Error()
	}
	changes := ret.Changes
	if changes == nil {
		changes = value.NewMap(0)
	}
	return value.Repr(ret.Result.Value()) + ": " + value.Str(ret.Comment) + " " + value.Repr(changes)
}

// Fn calls an execution function with arguments written in YAML: a list of
// positional ones or a mapping. It returns the value as Python prints it, or
// "error: text".
func (r *Rig) Fn(t testing.TB, name, args string) string {
	t.Helper()
	a := fun.Args{}
	switch v := YAML(t, args).(type) {
	case *value.List:
		a.Pos = v.Items
	case *value.Map:
		a.Kw = v
	}
	res, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, name, a)
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(res.Value)
}

// A Step is a call and what it has to return. The call is "state NAME ARGS" for a
// state, "test NAME ARGS" for one in test mode, "watch NAME ARGS" for mod_watch, or
// "call NAME ARGS" for an execution function.
type Step [2]string

// Steps makes calls one after the other and compares what they return.
func (r *Rig) Steps(t *testing.T, steps []Step) {
	t.Helper()
	for i, s := range steps {
		verb, rest, _ := strings.Cut(s[0], " ")
		name, args, _ := strings.Cut(rest, " ")
		var got string
		switch verb {
		case "state", "test":
			got = r.State(t, name, args, verb == "test")
		case "watch":
			got = r.Watch(t, name, args, false)
		case "call":
			got = r.Fn(t, name, args)
		default:
			t.Fatalf("step %d: unknown verb %q", i+1, verb)
		}
		if diff := cmp.Diff(s[1], got); diff != "" {
			t.Errorf("step %d: %s\n%s", i+1, s[0], diff)
		}
	}
}
