package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

func bindEnv(warnings *[]fun.Warning) *Invoker {
	return New(&fun.Env{
		Data: fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}},
		UI:   fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(w fun.Warning) { *warnings = append(*warnings, w) }},
	})
}

func TestBindUnknownArguments(t *testing.T) {
	t.Parallel()
	args := []fun.Arg{{Name: "name", Type: fun.Str, Required: true}, {Name: "test", Type: fun.Bool}}
	for _, tt := range []struct {
		name    string
		kind    fun.Kind
		spec    fun.Spec
		given   []value.Value // keys and values
		err     string        // part of the error
		warning string        // part of the warning
	}{
		{"exec refuses", fun.Exec, fun.Spec{Args: args}, []value.Value{"name", "x", "tset", true}, "f() got an unexpected keyword argument 'tset'", ""},
		{"exec with kwargs takes it", fun.Exec, fun.Spec{Args: args, VarKw: true}, []value.Value{"name", "x", "colour", true}, "", ""},
		{"and warns of a near miss", fun.Exec, fun.Spec{Args: args, VarKw: true}, []value.Value{"name", "x", "tset", true}, "", `m.f has no argument "tset" (did you mean "test"?)`},
		{"but not where it hands them on", fun.Exec, fun.Spec{Args: args, VarKw: true, Hands: true}, []value.Value{"name", "x", "tset", true}, "", ""},
		{"nor of another case", fun.Exec, fun.Spec{Args: args, VarKw: true}, []value.Value{"name", "x", "Test", true}, "", ""},
		{"runners, too", fun.Runner, fun.Spec{Args: args, VarKw: true}, []value.Value{"name", "x", "tset", true}, "", `m.f has no argument "tset" (did you mean "test"?)`},
		{"but not a near miss where that matters", fun.Exec, fun.Spec{Args: args, VarKw: true, NearMiss: true}, []value.Value{"name", "x", "tset", true}, "f() got an unexpected keyword argument 'tset'", ""},
		{"where another name is taken", fun.Exec, fun.Spec{Args: args, VarKw: true, NearMiss: true}, []value.Value{"name", "x", "colour", true}, "", ""},
		{"state refuses", fun.State, fun.Spec{Args: args}, []value.Value{"name", "x", "sparkle", true}, "'sparkle' is an invalid keyword argument for 'm.f'", ""},
		{"several", fun.State, fun.Spec{Args: args}, []value.Value{"name", "x", "a1", true, "b1", 1, "c1", 1}, "'a1', 'b1' and 'c1' are invalid keyword arguments for 'm.f'", ""},
		{"state with kwargs warns", fun.State, fun.Spec{Args: args, VarKw: true}, []value.Value{"name", "x", "tset", true}, "", `m.f has no argument "tset" (did you mean "test"?)`},
		{"one that hands them on does not", fun.State, fun.Spec{Args: args, VarKw: true, Hands: true}, []value.Value{"name", "x", "tset", true}, "", ""},
		{"the state system's own", fun.State, fun.Spec{Args: args}, []value.Value{"name", "x", "require", true, "__id__", "x", "provider", "y", "umask", 1}, "", ""},
		{"a missing one comes first", fun.Exec, fun.Spec{Args: args}, []value.Value{"tset", true}, "f() missing 1 required positional argument: 'name'", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var warnings []fun.Warning
			tt.spec.Name = "f"
			_, err := bindEnv(&warnings).Bind(&fun.Module{Name: "m", Kind: tt.kind}, &tt.spec, fun.Args{Kw: value.MapOf(tt.given...)})
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			switch {
			case tt.warning == "" && len(warnings) > 0:
				t.Errorf("warned: %v", warnings)
			case tt.warning != "" && (len(warnings) != 1 || warnings[0].Text != tt.warning):
				t.Errorf("warned %v, want %q", warnings, tt.warning)
			}
		})
	}
}

// A wrong value is refused at its place, before the function runs.
func TestBindNamesTheValue(t *testing.T) {
	t.Parallel()
	var warnings []fun.Warning
	ran := false
	spec := &fun.Spec{Name: "f", Args: []fun.Arg{{Name: "age", Type: fun.Int, Unit: "days", Default: int64(0)}, {Name: "on", Type: fun.Bool}}, Fn: func(context.Context, *fun.Call) (fun.Result, error) {
		ran = true
		return fun.Value(nil)
	}}
	kw := value.MapOf("age", "30d")
	at := source.Pos{File: "a.sls", Line: 3, Col: 7}
	kw.SetPos("age", at)
	_, err := bindEnv(&warnings).Bind(&fun.Module{Name: "m", Kind: fun.State}, spec, fun.Args{Kw: kw})
	var refused *fun.InvocationError
	if !errors.As(err, &refused) || refused.Msg != "age must be an integer (days), not '30d'" || refused.Arg != "age" || refused.Pos != at {
		t.Errorf("%#v", err)
	}
	if ran {
		t.Error("the function ran")
	}
	// Not looked at before the run has filled it in.
	if _, err := bindEnv(&warnings).Bind(&fun.Module{Name: "m", Kind: fun.State}, spec, fun.Args{Kw: value.MapOf("age", "__slot__:salt:test.echo(3)")}); err != nil {
		t.Errorf("a slot is refused: %v", err)
	}
	c, err := bindEnv(&warnings).Bind(&fun.Module{Name: "m", Kind: fun.State}, spec, fun.Args{Kw: value.MapOf("age", "30", "on", "False")})
	if err != nil || fun.IntOf(c.Args.At("age")) != 30 || !value.Truth(c.Args.At("on")) {
		t.Errorf("%v, %v", c, err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "write False without quotes") {
		t.Errorf("a quoted False is not warned of: %v", warnings)
	}
}

// A function that panics is an error of the call, not the end of the program.
func TestPanic(t *testing.T) {
	t.Parallel()
	var warnings []fun.Warning
	i := bindEnv(&warnings)
	i.env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "m", Load: func() fun.Module {
		return fun.Module{Name: "m", Kind: fun.Exec, Specs: []fun.Spec{{Name: "f", Fn: func(context.Context, *fun.Call) (fun.Result, error) { panic("nmae") }}}}
	}}})
	_, err := i.Invoke(t.Context(), fun.Exec, "m.f", fun.Args{Kw: value.NewMap(0)})
	if err == nil || !strings.Contains(err.Error(), "nmae") {
		t.Errorf("%v", err)
	}
}

// Arguments that are given by name only leave further positional ones to *args.
func TestBindKwOnly(t *testing.T) {
	t.Parallel()
	var warnings []fun.Warning
	i := bindEnv(&warnings)
	mod := &fun.Module{Name: "m", Kind: fun.Exec}
	args := []fun.Arg{{Name: "a", Type: fun.Str}, {Name: "b", Type: fun.Str, Default: "x", KwOnly: true}}
	c, err := i.Bind(mod, &fun.Spec{Name: "f", VarArg: true, Args: args}, fun.Args{Pos: []value.Value{"1", "2"}, Kw: value.MapOf("b", "3")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value.Repr(c.Args)+value.Repr(value.NewList(c.Pos...)), "{'a': '1', 'b': '3'}['2']"; got != want {
		t.Errorf("bound %s, want %s", got, want)
	}
	_, err = i.Bind(mod, &fun.Spec{Name: "f", Args: args}, fun.Args{Pos: []value.Value{"1", "2"}, Kw: value.NewMap(0)})
	if want := "f() takes from 0 to 1 positional arguments but 2 were given"; err == nil || err.Error() != want {
		t.Errorf("too many: %v, want %s", err, want)
	}
}

// TestBindAll: all that is wrong with the arguments of a call is said at once, first
// what Salt says.
func TestBindAll(t *testing.T) {
	t.Parallel()
	args := []fun.Arg{{Name: "text", Type: fun.Str, Required: true}, {Name: "count", Type: fun.Int}, {Name: "wait", Type: fun.Duration}}
	for _, tt := range []struct {
		kind fun.Kind
		kw   []value.Value
		want string
		pos  []value.Value
	}{
		{fun.Exec, []value.Value{"text", "x", "count", "many"}, "count must be an integer, not 'many'", nil},
		{fun.Exec, []value.Value{"text", "x", "count", "many", "wait", "soon"}, "count must be an integer, not 'many'; wait must be a number of seconds, not 'soon'", nil},
		{fun.Exec, []value.Value{"wait", "soon"}, "wait must be a number of seconds, not 'soon'; missing 1 required positional argument: 'text'", nil},
		{fun.Exec, []value.Value{"tetx", "x", "conut", 1}, "f() missing 1 required positional argument: 'text'; got an unexpected keyword argument 'tetx' (did you mean \"text\"?); got an unexpected keyword argument 'conut' (did you mean \"count\"?)", nil},
		{fun.State, []value.Value{"tetx", "x", "count", "many"}, "count must be an integer, not 'many'; 'tetx' is an invalid keyword argument for 'm.f'; missing 1 required positional argument: 'text'", nil},
		{fun.Exec, []value.Value{"text", "y", "count", "many"}, "f() got multiple values for argument 'text'; count must be an integer, not 'many'", []value.Value{"x"}},
		{fun.Exec, []value.Value{"tetx", "x"}, "f() takes from 1 to 3 positional arguments but 4 were given; wait must be a number of seconds, not 'soon'; got an unexpected keyword argument 'tetx' (did you mean \"text\"?)", []value.Value{"x", int64(1), "soon", "y"}},
	} {
		var warnings []fun.Warning
		_, err := bindEnv(&warnings).Bind(&fun.Module{Name: "m", Kind: tt.kind}, &fun.Spec{Name: "f", Args: args}, fun.Args{Pos: tt.pos, Kw: value.MapOf(tt.kw...)})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v %v: %v", tt.pos, tt.kw, err)
		}
	}
}
