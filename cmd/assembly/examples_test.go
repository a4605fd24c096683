package assembly

import (
	"slices"
	"strings"
	"testing"

	"brine/cmd/internal/reference"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// exampleDirs are the kinds by the directories of their examples.
var exampleDirs = map[string]fun.Kind{"states": fun.State, "modules": fun.Exec, "runners": fun.Runner, "wheel": fun.Wheel}

// TestEveryRowHasAnExample: no row lacks an example, and none is of a function
// that there is not.
func TestEveryRowHasAnExample(t *testing.T) {
	t.Parallel()
	table := Table()
	for _, kind := range exampleDirs {
		for _, name := range table.Modules(kind) {
			for _, mod := range table.Providers(kind, name) {
				for i := range mod.Specs {
					if reference.Example(mod, mod.Specs[i].Name) == "" {
						t.Errorf("%s %s.%s (%s) has no example", kind, name, mod.Specs[i].Name, mod.Provider)
					}
				}
			}
		}
	}
	for module, names := range reference.ExampleNames() {
		dir, mod, _ := strings.Cut(module, "/")
		kind := exampleDirs[dir]
		for _, name := range names {
			fn, provider, _ := strings.Cut(name, " ")
			known := slices.ContainsFunc(table.Providers(kind, mod), func(m *fun.Module) bool {
				return (provider == "" || provider == m.Provider) && slices.ContainsFunc(m.Specs, func(s fun.Spec) bool { return s.Name == fn })
			})
			if !known {
				t.Errorf("examples/%s.txt has an example %q, and there is no such function", module, name)
			}
		}
	}
}

// TestStateExamples compiles the example of every state and binds its arguments:
// it uses the state that it is of, and no argument is unknown or of a wrong type.
func TestStateExamples(t *testing.T) {
	t.Parallel()
	fake := host.NewFake()
	env, warnings := fakeEnv(fake)
	env.Opts.Set("file_roots", value.MapOf("base", value.Strings("/srv/examples")))
	newUpstream(env, nil).attach(t.Context(), env, nil)
	for _, name := range env.Table.Modules(fun.State) {
		for _, mod := range env.Table.Providers(fun.State, name) {
			for i := range mod.Specs {
				spec := &mod.Specs[i]
				example := reference.Example(mod, spec.Name)
				if example == "" {
					continue
				}
				sls := mod.Provider + "_" + spec.Name
				fake.PutFile("/srv/examples/"+sls+".sls", example+"\n", 0o644)
				res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "state.show_low_sls", fun.Args{Pos: []value.Value{sls}})
				chunks, ok := res.Value.(*value.List)
				if err != nil || !ok || res.Retcode != 0 {
					t.Errorf("the example of %s.%s does not compile: %v %s", name, spec.Name, err, value.Repr(res.Value))
					continue
				}
				used := false
				for _, c := range chunks.Items {
					low := c.(*value.Map)
					state, fn := low.Str("state"), low.Str("fun")
					used = used || state == name && fn == spec.Name
					m, s := mod, spec
					if state != name || fn != spec.Name {
						m, s, ok = env.Table.Lookup(fun.State, state+"."+fn)
					}
					if !ok {
						t.Errorf("the example of %s.%s: there is no %s.%s", name, spec.Name, state, fn)
						continue
					}
					bind(t, env, warnings, m, s, fun.Args{Kw: low}, "the example of "+name+"."+spec.Name)
				}
				if !used {
					t.Errorf("the example of %s.%s does not use it", name, spec.Name)
				}
			}
		}
	}
}

// TestFunctionExamples reads the command lines of the examples of all other
// functions and binds their arguments.
func TestFunctionExamples(t *testing.T) {
	t.Parallel()
	env, warnings := fakeEnv(host.NewFake())
	for _, kind := range []fun.Kind{fun.Exec, fun.Runner, fun.Wheel} {
		for _, name := range env.Table.Modules(kind) {
			for _, mod := range env.Table.Providers(kind, name) {
				for i := range mod.Specs {
					spec := &mod.Specs[i]
					used := false
					for line := range strings.Lines(reference.Example(mod, spec.Name)) {
						used = commandOf(t, env, warnings, mod, spec, strings.TrimSpace(line)) || used
					}
					if !used && reference.Example(mod, spec.Name) != "" {
						t.Errorf("the example of %s.%s does not call it", name, spec.Name)
					}
				}
			}
		}
	}
}

// commandOf binds the arguments of a line of the example of a function, and
// reports whether the line calls that function.
func commandOf(t *testing.T, env *fun.Env, warnings *[]fun.Warning, mod *fun.Module, spec *fun.Spec, line string) bool {
	t.Helper()
	where := "the example of " + mod.Name + "." + spec.Name + ": " + line
	words, err := proc.Split(line)
	if err != nil || len(words) < 2 {
		t.Errorf("%s: not a command: %v", where, err)
		return false
	}
	kind, ok := map[string]fun.Kind{"call": fun.Exec, "run": fun.Runner}[words[0]]
	if !ok {
		t.Errorf("%s: a command begins with call or run", where)
		return false
	}
	words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "--") })
	m, s, ok := env.Table.Lookup(kind, words[0])
	if kind == mod.Kind && words[0] == mod.Name+"."+spec.Name {
		m, s, ok = mod, spec, true
	}
	if !ok {
		t.Errorf("%s: there is no %s", where, words[0])
		return false
	}
	bind(t, env, warnings, m, s, dispatch.ParseInput(words[1:], nil), where)
	if mod.Kind == fun.Wheel {
		// The command line reaches wheel functions by saltutil.wheel.
		return words[0] == "saltutil.wheel" && len(words) > 1 && words[1] == mod.Name+"."+spec.Name
	}
	return s == spec
}

// bind binds arguments; it fails the test where one is refused or warned of.
func bind(t *testing.T, env *fun.Env, warnings *[]fun.Warning, mod *fun.Module, spec *fun.Spec, args fun.Args, where string) {
	t.Helper()
	*warnings = nil
	if _, err := env.Invoker.Bind(mod, spec, args); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	for _, w := range *warnings {
		t.Errorf("%s: %s", where, w.Text)
	}
}
