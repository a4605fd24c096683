package fun_test

import (
	"errors"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// limitedTable has a module of a name that Salt's file has not, one of two
// providers, and states that stand on them.
func limitedTable() *fun.Table {
	entry := func(kind fun.Kind, name, virtual, src string) fun.Entry {
		return fun.Entry{Kind: kind, Name: name, Virtual: virtual, Load: func() fun.Module {
			return fun.Module{Name: name, Kind: kind, Specs: []fun.Spec{{Name: "f", Src: src}}}
		}}
	}
	return fun.NewTable([]fun.Entry{
		entry(fun.Exec, "cmd", "", "modules/cmdmod.py f"),
		entry(fun.Exec, "test", "", "modules/test.py f"),
		entry(fun.Exec, "mysql", "", "modules/mysql.py f"),
		entry(fun.Exec, "aptpkg", "pkg", "modules/aptpkg.py f"),
		entry(fun.Exec, "yumpkg", "pkg", "modules/yumpkg.py f"),
		entry(fun.State, "cmd", "", "states/cmd.py f"),
		entry(fun.State, "test", "", "states/test.py f"),
		entry(fun.State, "module", "", "states/module.py f"),
		entry(fun.State, "mysql_user", "", "states/mysql_user.py f"),
		entry(fun.State, "pkgrepo", "", "states/pkgrepo.py f"),
		entry(fun.Runner, "jobs", "", "runners/jobs.py f"),
		entry(fun.Wheel, "key", "", "wheel/key.py f"),
	})
}

func limitedEnv(t *testing.T, opts *value.Map) *fun.Env {
	t.Helper()
	l, err := fun.NewLimits(opts)
	if err != nil {
		t.Fatal(err)
	}
	return &fun.Env{Functions: fun.Functions{Table: limitedTable(), Limits: l}, Data: fun.Data{Opts: opts, Memo: &fun.Memo{}}}
}

// TestLimits: which functions options leave, by the name of the module or of Salt's
// file, and which states go with them.
func TestLimits(t *testing.T) {
	t.Parallel()
	all := []struct {
		kind fun.Kind
		name string
	}{
		{fun.Exec, "cmd.f"},
		{fun.Exec, "test.f"},
		{fun.Exec, "mysql.f"},
		{fun.Exec, "pkg.f"},
		{fun.State, "cmd.f"},
		{fun.State, "test.f"},
		{fun.State, "module.f"},
		{fun.State, "mysql_user.f"},
		{fun.State, "pkgrepo.f"},
		{fun.Runner, "jobs.f"},
		{fun.Wheel, "key.f"},
	}
	for _, tt := range []struct {
		option  string
		entries value.Value
		gone    string
	}{
		{"disable_modules", value.Strings("cmdmod"), "execution cmd.f, state cmd.f"},
		{"disable_modules", value.Strings("cmd", "test"), "execution cmd.f, execution test.f, state cmd.f"},
		{"disable_modules", "mysql", "execution mysql.f, state mysql_user.f"},
		{"disable_modules", value.Strings("aptpkg"), ""},
		{"disable_modules", value.Strings("aptpkg", "yumpkg"), "execution pkg.f, state pkgrepo.f"},
		{"disable_modules", value.Strings("pkg"), "execution pkg.f, state pkgrepo.f"},
		{"whitelist_modules", value.Strings("test", "cmdmod"), "execution mysql.f, execution pkg.f, state mysql_user.f, state pkgrepo.f"},
		{"whitelist_modules", value.NewList(), ""},
		{"disable_states", value.Strings("cmd", "module"), "state cmd.f, state module.f"},
		{"disable_runners", value.Strings("jobs"), "runner jobs.f"},
		{"disable_wheels", value.Strings("key"), "wheel key.f"},
	} {
		e := limitedEnv(t, value.MapOf(tt.option, tt.entries))
		var gone []string
		for _, f := range all {
			mod, _, err := e.Find(f.kind, f.name)
			if nf, ok := errors.AsType[*fun.NotFoundError](err); ok && strings.Contains(nf.Reason, tt.option) {
				gone = append(gone, f.kind.Short()+" "+f.name)
			} else if err != nil {
				t.Errorf("%s: %s: %v", tt.option, f.name, err)
			}
			name, _, _ := strings.Cut(f.name, ".")
			if served, why := e.Provider(f.kind, name); (served == nil) != (mod == nil) || served == nil && !strings.Contains(why, tt.option) {
				t.Errorf("%s: Provider(%s) = %v, %q; Find = %v", tt.option, name, served, why, mod)
			}
		}
		if got := strings.Join(gone, ", "); got != tt.gone {
			t.Errorf("%s: %s: %q cannot be called, want %q", tt.option, value.Repr(tt.entries), got, tt.gone)
		}
	}
}

// An override does not bring back what is disabled.
func TestLimitsProvider(t *testing.T) {
	t.Parallel()
	e := limitedEnv(t, value.MapOf("disable_modules", value.Strings("yumpkg"), "providers", value.MapOf("pkg", "yumpkg")))
	if mod, _, err := e.Find(fun.Exec, "pkg.f"); err == nil {
		t.Errorf("%s serves", mod.Provider)
	}
}

// TestLimitsRead: an option that is not a list of strings ends a run, by the place of the option,
// and where it does not, nothing may be called.
func TestLimitsRead(t *testing.T) {
	t.Parallel()
	for _, option := range fun.LimitOptions() {
		bad := []value.Value{int64(3), true, value.MapOf("cmd", nil), value.NewList(int64(3))}
		if strings.HasPrefix(option, "extmod_") {
			bad = []value.Value{int64(3), true, value.Strings("cmd"), value.MapOf("modules", int64(3))}
		}
		for _, v := range bad {
			opts := value.MapOf(option, v)
			opts.SetPos(option, source.Pos{File: "/etc/salt/minion", Line: 7, Col: 1})
			l, err := fun.NewLimits(opts)
			if err == nil || !strings.HasPrefix(err.Error(), "/etc/salt/minion:7:1: the option "+option+" must be a ") {
				t.Errorf("%s: %s: %v", option, value.Repr(v), err)
			}
			e := &fun.Env{Functions: fun.Functions{Table: limitedTable(), Limits: l}, Data: fun.Data{Opts: opts}}
			for kind, name := range map[fun.Kind]string{fun.Exec: "test.f", fun.State: "test.f", fun.Runner: "jobs.f", fun.Wheel: "key.f"} {
				if _, _, err := e.Find(kind, name); err == nil {
					t.Errorf("%s: %s: %s can be called", option, value.Repr(v), name)
				}
			}
			_, render := l.Renderer("yaml")
			if l.Command("true") == nil || l.Returner("x") == "" || l.GrainModule("x") == "" || l.Pillar("x") == "" || l.Custom("_modules", "x") == "" || render == "" {
				t.Errorf("%s: %s: something is allowed", option, value.Repr(v))
			}
		}
		for _, v := range []value.Value{nil, "", false, value.NewList()} {
			if l, err := fun.NewLimits(value.MapOf(option, v)); l != nil || err != nil {
				t.Errorf("%s: %s: %v, %v", option, value.Repr(v), l, err)
			}
		}
	}
}

// TestLimitsCustom: the modules of a tree by their kind.
func TestLimitsCustom(t *testing.T) {
	t.Parallel()
	l, err := fun.NewLimits(value.MapOf("extmod_whitelist", value.MapOf("modules", value.Strings("a"), "grains", nil),
		"extmod_blacklist", value.MapOf("states", value.Strings("b"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir, name string
		want      bool
	}{
		{"_modules", "a", true}, {"_modules", "b", false}, {"_grains", "a", false}, {"_states", "a", true}, {"_states", "b", false}, {"_runners", "b", true},
	} {
		if why := l.Custom(tt.dir, tt.name); (why == "") != tt.want {
			t.Errorf("%s/%s: %q", tt.dir, tt.name, why)
		}
	}
}
