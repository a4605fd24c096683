package fun_test

import (
	"errors"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// pkgTable has a virtual module of two providers: apt serves on Debian, dnf on
// RedHat.
func pkgTable(asked *int) *fun.Table {
	provider := func(name, family string, fns ...string) fun.Entry {
		return fun.Entry{Kind: fun.Exec, Name: name, Virtual: "pkg", Load: func() fun.Module {
			m := fun.Module{Name: "pkg", Kind: fun.Exec, Avail: func(e *fun.Env) (bool, string) {
				*asked++
				f, _ := e.Grains.Get("os_family")
				return f == family, "it is for " + family
			}}
			for _, f := range fns {
				m.Specs = append(m.Specs, fun.Spec{Name: f})
			}
			return m
		}}
	}
	return fun.NewTable([]fun.Entry{
		provider("aptpkg", "Debian", "install", "autoremove"),
		provider("yumpkg", "RedHat", "install", "group_install"),
		{Kind: fun.Exec, Name: "only", Load: func() fun.Module {
			return fun.Module{Name: "only", Kind: fun.Exec, Specs: []fun.Spec{{Name: "f"}}, Avail: func(*fun.Env) (bool, string) { return false, "no tool" }}
		}},
	})
}

func pkgEnv(family string, opts *value.Map, asked *int) *fun.Env {
	return &fun.Env{Functions: fun.Functions{Table: pkgTable(asked)}, Data: fun.Data{Opts: opts, Memo: &fun.Memo{}, Grains: value.MapOf("os_family", family)}}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	prefer := func(name string) *value.Map { return value.MapOf("providers", value.MapOf("pkg", name)) }
	for _, tt := range []struct {
		name, family string
		opts         *value.Map
		call         string
		provider     string
		reason, near string
	}{
		{"first that fits", "Debian", nil, "pkg.install", "aptpkg", "", ""},
		{"second that fits", "RedHat", nil, "pkg.install", "yumpkg", "", ""},
		{"option decides", "Debian", prefer("yumpkg"), "pkg.install", "yumpkg", "", ""},
		{"option names nothing known", "Debian", prefer("yumpgk"), "pkg.install", "", `the option providers names yumpgk for pkg, which has aptpkg, yumpkg (did you mean "yumpkg"?)`, ""},
		{"option names another program", "Debian", prefer("brew"), "pkg.install", "aptpkg", "", ""},
		{"option names a former module", "RedHat", prefer("systemd"), "pkg.install", "yumpkg", "", ""},
		{"none fits", "Plan9", nil, "pkg.install", "", "no provider for os_family Plan9 (aptpkg: it is for Debian; yumpkg: it is for RedHat)", ""},
		{"another provider has it", "Debian", nil, "pkg.group_install", "", "its provider here, aptpkg, does not have it", ""},
		{"misspelt", "Debian", nil, "pkg.instal", "", "", "pkg.install"},
		{"misspelt where none fits", "Plan9", nil, "pkg.instal", "", "", "pkg.install"},
		{"one module", "Debian", nil, "only.f", "", "no tool", ""},
		{"no module", "Debian", nil, "pgk.install", "", "", "pkg.install"},
		{"no function", "Debian", nil, "install", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			env := pkgEnv(tt.family, tt.opts, &asked)
			mod, spec, err := env.Find(fun.Exec, tt.call)
			if tt.provider != "" {
				if err != nil || mod.Provider != tt.provider || spec == nil {
					t.Fatalf("Find(%q) = %v, %v, %v, want provider %s", tt.call, mod, spec, err, tt.provider)
				}
				return
			}
			var missing *fun.NotFoundError
			if !errors.As(err, &missing) {
				t.Fatalf("Find(%q) = %v, want a NotFoundError", tt.call, err)
			}
			if missing.Reason != tt.reason || missing.Nearest != tt.near {
				t.Errorf("Find(%q): reason %q, nearest %q, want %q and %q", tt.call, missing.Reason, missing.Nearest, tt.reason, tt.near)
			}
		})
	}
}

// A provider that is ignored is warned of once, unless it is a former name of one
// that is there.
func TestIgnoredProvider(t *testing.T) {
	t.Parallel()
	for want, warnings := range map[string]int{"brew": 1, "only": 0, "yumpkg": 0} {
		asked, got := 0, 0
		env := pkgEnv("Debian", value.MapOf("providers", value.MapOf("pkg", want)), &asked)
		env.Table = fun.NewTable([]fun.Entry{
			{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: func() fun.Module { return fun.Module{Name: "pkg", Kind: fun.Exec} }},
			{Kind: fun.Exec, Name: "only_pkg", Virtual: "pkg", Load: func() fun.Module { return fun.Module{Name: "pkg", Kind: fun.Exec} }},
			{Kind: fun.Exec, Name: "yumpkg", Virtual: "pkg", Load: func() fun.Module { return fun.Module{Name: "pkg", Kind: fun.Exec} }},
		})
		env.OnWarn = func(fun.Warning) { got++ }
		for range 3 {
			if mod, why := env.Provider(fun.Exec, "pkg"); mod == nil {
				t.Fatal(want, why)
			}
		}
		if got != warnings {
			t.Errorf("%s: %d warnings, want %d", want, got, warnings)
		}
	}
}

// Answers are kept: a run asks thousands of times. What a state may have changed
// is asked again.
func TestAvailabilityIsKept(t *testing.T) {
	t.Parallel()
	asked := 0
	env := pkgEnv("Debian", nil, &asked)
	for range 100 {
		if mod, why := env.Provider(fun.Exec, "pkg"); mod == nil {
			t.Fatal(why)
		}
	}
	if asked != 1 {
		t.Errorf("a module was asked %d times whether it may serve, want once", asked)
	}
	env.Grains = value.MapOf("os_family", "RedHat")
	env.ForgetAvailable()
	if mod, _ := env.Provider(fun.Exec, "pkg"); mod.Provider != "yumpkg" {
		t.Errorf("after ForgetAvailable %s serves, want yumpkg", mod.Provider)
	}
	fork := env.Fork(func(e *fun.Env) { e.Grains = value.MapOf("os_family", "Debian") })
	if mod, _ := fork.Provider(fun.Exec, "pkg"); mod.Provider != "aptpkg" {
		t.Errorf("in a fork with other grains %s serves, want aptpkg", mod.Provider)
	}
}

func TestTableOfProviders(t *testing.T) {
	t.Parallel()
	asked := 0
	table := pkgTable(&asked)
	if got := len(table.Providers(fun.Exec, "pkg")); got != 2 {
		t.Errorf("Providers(pkg) has %d, want 2", got)
	}
	want := []string{"only.f", "pkg.autoremove", "pkg.group_install", "pkg.install"}
	if got := table.Names(fun.Exec); len(got) != len(want) {
		t.Errorf("Names = %v, want %v", got, want)
	}
	if mod, _, ok := table.Lookup(fun.Exec, "pkg.group_install"); !ok || mod.Provider != "yumpkg" {
		t.Errorf("Lookup(pkg.group_install) = %v, %v", mod, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("two plain modules of one name do not panic")
		}
	}()
	plain := fun.Entry{Kind: fun.Exec, Name: "pkg", Load: func() fun.Module { return fun.Module{} }}
	fun.NewTable([]fun.Entry{plain, plain})
}
