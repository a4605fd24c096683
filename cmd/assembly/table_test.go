package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/saltnames"
	"brine/internal/py/value"
)

// cacheDir is the cache of fake machines: databases lie outside of these.
var cacheDir string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "brine-assembly-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cacheDir = dir
	return m.Run()
}

// TestRows holds what every row of the table has to have: the help, the docs
// and the reference are made of it.
func TestRows(t *testing.T) {
	for _, kind := range []fun.Kind{fun.Exec, fun.State, fun.Runner, fun.Wheel} {
		for _, mod := range modules(kind) {
			if mod.Doc == "" {
				t.Errorf("%s module %s has no Doc", kind, mod.Name)
			}
			var names []string
			for i := range mod.Specs {
				s := &mod.Specs[i]
				where := kind.String() + " " + mod.Name + "." + s.Name
				names = append(names, s.Name)
				if s.Doc == "" {
					t.Errorf("%s has no Doc", where)
				}
				if s.Src == "" && saltnames.Has(kind.Short(), mod.Name+"."+s.Name) {
					t.Errorf("%s has no Src, and Salt has it", where)
				}
				if line, _, _ := strings.Cut(s.Doc, "\n"); line != "" && !strings.ContainsRune(".:)", rune(line[len(line)-1])) {
					t.Errorf("%s: the first line of Doc is no sentence: %q", where, line)
				}
				if (kind == fun.State) != (s.State != nil) || (kind != fun.State) != (s.Fn != nil) {
					t.Errorf("%s has not the one function of its kind", where)
				}
				args := map[string]bool{}
				optional, byName := "", ""
				for _, a := range s.Args {
					if a.KwOnly {
						byName = a.Name
					} else if byName != "" && kind != fun.State { // states have no positions
						t.Errorf("%s: %s is given by name alone, and stands before %s: it takes its position", where, byName, a.Name)
					}
					if a.Name == "" || a.Doc == "" {
						t.Errorf("%s: the argument %q has no Doc", where, a.Name)
					}
					if args[a.Name] {
						t.Errorf("%s has the argument %q twice", where, a.Name)
					}
					args[a.Name] = true
					if a.Required && a.Default != nil {
						t.Errorf("%s: the argument %q is required and has a default", where, a.Name)
					}
					if a.Required && !a.KwOnly && optional != "" {
						t.Errorf("%s: the required argument %q follows %q, which is not", where, a.Name, optional)
					}
					if !a.Required {
						optional = a.Name
					}
				}
			}
			if !joined(mod) && !slices.IsSorted(names) {
				t.Errorf("%s module %s: the rows are not in alphabetical order: %v", kind, mod.Name, names)
			}
			if d := slices.Compact(slices.Clone(names)); len(d) != len(names) {
				t.Errorf("%s module %s has a function twice: %v", kind, mod.Name, names)
			}
		}
	}
}

// joined reports whether a module is put together of several rooms' rows, each
// in order by itself.
func joined(m *fun.Module) bool {
	return m.Kind == fun.Runner || m.Name == "state" || m.Name == "sys"
}

// modules returns the modules of a kind.
func modules(kind fun.Kind) []*fun.Module {
	var out []*fun.Module
	table := Table()
	for _, name := range table.Modules(kind) {
		mod, _ := table.Module(kind, name)
		out = append(out, mod)
	}
	return out
}

// notHere are the states that act on other machines or wait for what is not
// there: they are tried with a fleet, in their own room.
var notHere = []string{"salt.wait_for_event", "salt.parallel_runners"}

// TestStatesInTestMode calls every state function on a fake machine: in test
// mode nothing may be written, a cancelled run has to end at once, and an
// argument that is not known is a warning where the function has **kwargs, else it
// is refused.
func TestStatesInTestMode(t *testing.T) {
	for _, mod := range modules(fun.State) {
		for i := range mod.Specs {
			spec := &mod.Specs[i]
			name := mod.Name + "." + spec.Name
			if slices.Contains(notHere, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				fake := fakeHost()
				env, warnings := fakeEnv(fake)
				call(t, t.Context(), env, mod, spec, nil)
				if w := fake.Writes(); len(w) != 0 {
					t.Errorf("in test mode it wrote: %v", w)
				}

				*warnings = nil
				unknown := value.MapOf("brine_no_such_argument", int64(1))
				if spec.VarKw {
					call(t, t.Context(), env, mod, spec, unknown)
				} else {
					_, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: lowOf(mod, spec, unknown)})
					var refused *fun.InvocationError
					if want := "'brine_no_such_argument' is an invalid keyword argument for '" + name + "'"; !errors.As(err, &refused) || refused.Msg != want {
						t.Errorf("an unknown argument: %v, want %s", err, want)
					}
				}
				warned := slices.ContainsFunc(*warnings, func(w fun.Warning) bool { return strings.Contains(w.Text, "brine_no_such_argument") })
				if spec.Hands {
					warned = false // whose they are decides
				}
				if warned != (spec.VarKw && !spec.Hands) {
					t.Errorf("warnings of an unknown argument: %v", *warnings)
				}

				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					call(t, ctx, env, mod, spec, nil)
				}()
				select {
				case <-done:
				case <-time.After(10 * time.Second):
					t.Error("it does not end with its context")
				}
				if w := fake.Writes(); len(w) != 0 {
					t.Errorf("it wrote: %v", w)
				}
			})
		}
	}
}

// call binds plausible arguments and runs a state in test mode.
func call(t *testing.T, ctx context.Context, env *fun.Env, mod *fun.Module, spec *fun.Spec, more *value.Map) {
	t.Helper()
	low := lowOf(mod, spec, more)
	c, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: low})
	if err != nil {
		t.Fatalf("bind: %v", err)
	}
	c.Test = true
	c.Low = &fun.Chunk{State: mod.Name, Fun: spec.Name, ID: "thing", Name: "/srv/thing", SLS: "s", SaltEnv: "base", Low: low}
	ret := spec.State(ctx, c)
	if ret.Err == nil && ret.Comment == nil {
		t.Errorf("no comment: %+v", ret)
	}
}

// lowOf returns the low chunk of a state with plausible arguments and more.
func lowOf(mod *fun.Module, spec *fun.Spec, more *value.Map) *value.Map {
	low := value.MapOf("state", mod.Name, "name", "/srv/thing", "__sls__", "s", "__env__", "base", "__id__", "thing", "fun", spec.Name)
	for _, a := range spec.Args {
		if a.Required && a.Name != "name" {
			low.Set(a.Name, sampleOf(&a))
		}
	}
	low.Update(more)
	return low
}

func sampleOf(a *fun.Arg) value.Value {
	if len(a.OneOf) > 0 {
		return a.OneOf[0]
	}
	return sampleOfType(a.Type)
}

func sampleOfType(typ fun.Type) value.Value {
	for _, s := range []struct {
		bits fun.Type
		v    value.Value
	}{
		{fun.Str | fun.Path, "one"},
		{fun.Bool, true},
		{fun.Int | fun.Float | fun.Duration | fun.Size, int64(1)},
		{fun.Mode, "0644"},
		{fun.Dict, value.MapOf("k", "v")},
		{fun.List | fun.Comma, value.Strings("one")},
	} {
		if typ&s.bits == 0 {
			continue
		}
		if of := fun.Elem(typ); of != fun.Any && typ&fun.List != 0 {
			return value.NewList(sampleOfType(of))
		}
		return s.v
	}
	return "one"
}

func fakeHost() *host.Fake {
	f := host.NewFake()
	f.PutFile("/srv/thing", "one\ntwo\n", 0o644)
	f.OnCommand("*", host.Output{Stdout: []byte("out\n")})
	return f
}

// fakeEnv is a run's Env in test mode without files and without other
// machines.
func fakeEnv(h host.Host) (*fun.Env, *[]fun.Warning) {
	var warnings []fun.Warning
	env := &fun.Env{
		Identity:  fun.Identity{ID: "minion1", JID: "20240102030405000006", SaltEnv: "base"},
		Machine:   fun.Machine{Host: h, CacheDir: cacheDir},
		Functions: fun.Functions{Table: Table()},
		Data:      fun.Data{Memo: &fun.Memo{}, Opts: value.MapOf("id", "minion1", "test", true, "file_roots", value.MapOf("base", value.NewList()), "cachedir", cacheDir), Grains: value.MapOf("id", "minion1", "os", "Debian", "os_family", "Debian", "kernel", "Linux", "shell", "/bin/sh"), Pillar: value.NewMap(0)},
		Network:   fun.Network{Bus: event.NewRing(16, h.Now)},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(w fun.Warning) { warnings = append(warnings, w) }},
	}
	env.NewInvoker = func(e *fun.Env) fun.Invoker { return dispatch.New(e) }
	env.Invoker = dispatch.New(env)
	newUpstream(env, nil).attach(context.Background(), env, nil)
	return env, &warnings
}

// What the state system puts into a low chunk is no slip of the user's.
func TestInternalArgumentsAreNotWarnedOf(t *testing.T) {
	t.Parallel()
	for _, mod := range modules(fun.State) {
		env, warnings := fakeEnv(fakeHost())
		for i := range mod.Specs {
			low := value.MapOf("state", mod.Name, "fun", "mod_watch", "sfun", mod.Specs[i].Name, "name", "/srv/thing", "order", int64(10000),
				"__id__", "thing", "__sls__", "s", "__env__", "base", "__reqs__", value.NewMap(0), "__orchestration_jid__", "1", "umask", "022", "require", value.NewList())
			for _, a := range mod.Specs[i].Args {
				if a.Required && a.Name != "name" {
					low.Set(a.Name, sampleOf(&a))
				}
			}
			if _, err := env.Invoker.Bind(mod, &mod.Specs[i], fun.Args{Kw: low}); err != nil {
				t.Errorf("%s.%s: %v", mod.Name, mod.Specs[i].Name, err)
			}
			if len(*warnings) > 0 {
				t.Errorf("%s.%s: %v", mod.Name, mod.Specs[i].Name, *warnings)
				*warnings = nil
			}
		}
	}
}

// nearMissModules are the execution modules whose functions refuse a misspelled
// argument, although they accept further ones.
var nearMissModules = []string{"docker", "mysql", "pip", "postgres", "virtualenv"}

// TestNearMiss: a function that refuses near misses does so for its own
// arguments, and those of some modules all do.
func TestNearMiss(t *testing.T) {
	t.Parallel()
	env, _ := fakeEnv(fakeHost())
	for _, mod := range modules(fun.Exec) {
		for i := range mod.Specs {
			spec := &mod.Specs[i]
			where := mod.Name + "." + spec.Name
			if spec.VarKw && !spec.NearMiss && slices.Contains(nearMissModules, mod.Name) {
				t.Errorf("%s accepts a misspelled argument silently", where)
			}
			if !spec.NearMiss {
				continue
			}
			args := value.NewMap(0)
			long := ""
			for _, a := range spec.Args {
				if a.Required {
					args.Set(a.Name, sampleOf(&a))
				}
				if len(a.Name) > len(long) {
					long = a.Name
				}
			}
			slip := long[:2] + long[3:]
			args.Set(slip, "one")
			_, err := env.Invoker.Bind(mod, spec, fun.Args{Kw: args})
			var refused *fun.ArgError
			if !errors.As(err, &refused) || refused.Nearest == "" {
				t.Errorf("%s with the argument %q: %v, want an error that names %q", where, slip, err, long)
			}
		}
	}
}
