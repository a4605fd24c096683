package saltcheck

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A checker runs tests.
type checker struct {
	env     *fun.Env
	details bool // the option saltcheck_output_details
}

func newChecker(ctx context.Context, env *fun.Env) *checker {
	return &checker{env: env, details: value.Truth(option(ctx, env, "saltcheck_output_details", false))}
}

const applyName = "saltcheck.state_apply"

// An assertion is a way to compare.
type assertion struct {
	name, text string // as a test and the details have it
	// alone says that there is nothing to compare with; cast, that what is
	// expected takes the type of what is returned.
	alone, cast bool
}

var assertions = []assertion{
	{name: "assertEqual", text: "==", cast: true},
	{name: "assertNotEqual", text: "!=", cast: true},
	{name: "assertTrue", text: "True is", alone: true},
	{name: "assertFalse", text: "False is", alone: true},
	{name: "assertIn", text: "IN"},
	{name: "assertNotIn", text: "NOT IN"},
	{name: "assertGreater", text: ">", cast: true},
	{name: "assertGreaterEqual", text: ">=", cast: true},
	{name: "assertLess", text: "<", cast: true},
	{name: "assertLessEqual", text: "<=", cast: true},
	{name: "assertEmpty", text: "IS EMPTY", alone: true},
	{name: "assertNotEmpty", text: "IS NOT EMPTY", alone: true},
}

// check returns whether the assertion holds, and if not, what to say with the
// values and without.
func (a *assertion) check(want, got value.Value) (ok bool, text, hidden string, err error) {
	x, y := value.Str(want), value.Str(got)
	switch a.name {
	case "assertEqual":
		return value.Equal(want, got), x + " is not equal to " + y, "Result is not equal", nil
	case "assertNotEqual":
		return !value.Equal(want, got), x + " is equal to " + y, "Result is equal", nil
	case "assertTrue":
		return got == true, y + " not True", "", nil
	case "assertFalse":
		if s, is := got.(string); is {
			got = s != ""
		}
		return got == false, value.Str(got) + " not False", "", nil
	case "assertIn":
		ok, err = value.Contains(got, want)
		return ok, x + " not found in " + y, "Result not found", err
	case "assertNotIn":
		ok, err = value.Contains(got, want)
		return !ok, x + " was found in " + y, "Result was found", err
	case "assertEmpty":
		return !value.Truth(got), y + " is not empty", "", nil
	case "assertNotEmpty":
		return value.Truth(got), "value is empty", "", nil
	}
	ok, err = value.Compare(a.text, want, got)
	return ok, y + " not False", "", err
}

func find(name string) *assertion {
	for i := range assertions {
		if assertions[i].name == name {
			return &assertions[i]
		}
	}
	return nil
}

// expected returns what a test expects.
func expected(data *value.Map) value.Value {
	if v, ok := data.Get("expected_return"); ok {
		return v
	}
	return data.At("expected-return")
}

// fault returns what is wrong with a test, "" for nothing.
func (k *checker) fault(test *value.Map) string {
	name := test.Str("module_and_function")
	if name == applyName {
		return ""
	}
	groups := []*value.Map{test}
	if value.Truth(test.At("assertions")) {
		groups = nil
		items, err := value.Items(test.At("assertions"))
		if err != nil {
			return "assertions is not a list"
		}
		for _, x := range items {
			m, ok := x.(*value.Map)
			if !ok {
				return "an item of assertions is not a mapping"
			}
			groups = append(groups, m)
		}
	}
	for _, g := range groups {
		a := find(g.Str("assertion"))
		if a == nil {
			return g.Str("assertion") + " is not in the assertions list"
		}
		if !a.alone && expected(g) == nil {
			return "expected_return missing a value"
		}
	}
	if name == "" {
		return "missing module_and_function"
	}
	if _, _, err := k.env.Find(fun.Exec, name); err != nil {
		return err.Error()
	}
	return ""
}

// run runs a test. Salt: salt/modules/saltcheck.py SaltCheck.run_test. Difference: a
// function that fails is a failed test.
func (k *checker) run(ctx context.Context, test *value.Map) (*value.Map, error) {
	start := k.env.Host.Now()
	ret := value.NewMap(4)
	finish := func() (*value.Map, error) {
		ret.Set("duration", since(k.env.Host.Now(), start))
		return ret, ctx.Err()
	}
	if msg := k.fault(test); msg != "" {
		k.env.Log().Error("Saltcheck: " + msg)
		ret.Set("status", "Fail - invalid test")
		return finish()
	}
	if value.Truth(test.At("skip")) {
		return value.MapOf("status", "Skip", "duration", 0.0), nil
	}
	got, err := k.call(ctx, test)
	if err != nil {
		ret.Set("status", "Fail: "+err.Error())
		return finish()
	}
	details := k.details
	if v, ok := test.Get("output_details"); ok {
		details = value.Truth(v)
	}
	if !value.Truth(test.At("assertions")) {
		ret.Update(k.compare(test, test, got, details))
		return finish()
	}
	items, _ := value.Items(test.At("assertions")) // checked by fault
	status := "Pass"
	for i, x := range items {
		one := k.compare(test, x.(*value.Map), got, details)
		if one.Str("status") != "Pass" {
			status = "Fail"
		}
		ret.Set("assertion"+strconv.Itoa(i+1), one)
	}
	ret.Set("status", status)
	return finish()
}

// call calls the function of a test.
func (k *checker) call(ctx context.Context, test *value.Map) (value.Value, error) {
	args := fun.Args{Kw: value.NewMap(0)}
	if v := test.At("args"); value.Truth(v) {
		items, err := value.Items(v)
		if _, ok := v.(*value.Map); err != nil || ok {
			items = []value.Value{v}
		} else if s, ok := v.(string); ok {
			items = []value.Value{s}
		}
		args.Pos = items
	}
	if kw, ok := test.At("kwargs").(*value.Map); ok {
		args.Kw.Update(kw)
	}
	args.Kw.Delete("pillar")
	for _, key := range []string{"pillar-data", "pillar_data"} {
		if v := test.At(key); value.Truth(v) {
			args.Kw.Set("pillar", v)
		}
	}
	return k.env.Exec(ctx, test.Str("module_and_function"), args.Kw, args.Pos...)
}

// compare compares what a function returned with what a test, or one of its
// assertions, expects.
func (k *checker) compare(test, data *value.Map, got value.Value, details bool) *value.Map {
	section := data.Str("assertion_section")
	if section != "" {
		delim := value.DefaultDelim
		if d := data.Str("assertion_section_delimiter"); d != "" {
			delim = d
		}
		part, ok := value.Traverse(got, section, delim)
		if !ok {
			part = false
		}
		got = part
	}
	show := true
	if v, ok := test.Get("print_result"); ok {
		show = value.Truth(v)
	}
	name := data.Str("assertion")
	if test.Str("module_and_function") == applyName {
		name = "assertNotEmpty"
	}
	want := expected(data)
	a := find(name)
	if a.cast {
		want = cast(want, got)
	}
	ret := value.NewMap(3)
	ok, msg, hidden, err := a.check(want, got)
	switch {
	case err != nil:
		ret.Set("status", "Fail: "+err.Error())
	case ok:
		ret.Set("status", "Pass")
	case !show && hidden != "":
		ret.Set("status", "Fail: "+hidden)
	default:
		ret.Set("status", "Fail: "+msg)
	}
	if !details {
		return ret
	}
	title, call := "module.function [args]", test.Str("module_and_function")+" "+jsonText(test.At("args"))
	if section != "" {
		title, call = title+" assertion_section", call+" "+section
	}
	ret.Set(title, call)
	var b strings.Builder
	if want != nil {
		b.WriteString(value.Str(want) + " ")
	}
	b.WriteString(a.text + " ")
	if show {
		b.WriteString(value.Str(got))
	} else {
		b.WriteString("hidden")
	}
	ret.Set("saltcheck assertion", b.String())
	return ret
}

func jsonText(v value.Value) string {
	b, err := value.AppendJSON(nil, v, value.JSONOptions{})
	if err != nil {
		return value.Str(v)
	}
	return string(b)
}

// cast returns what is expected in the type of what was returned, where Python's
// constructor of that type makes it so.
func cast(want, got value.Value) value.Value {
	switch got.(type) {
	case bool:
		if want == "False" {
			return false
		}
		return value.Truth(want)
	case string:
		return value.Str(want)
	case int64:
		if n, err := value.ToInt(want); err == nil {
			return n
		}
	case float64:
		if f, err := value.ToFloat(want); err == nil {
			return f
		}
	case *value.List:
		if items, err := value.Items(want); err == nil {
			return value.NewList(items...)
		}
	}
	return want
}
