// Package grains is Salt's state module "grains": states that keep grains in
// the grains file.
package grains

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/grains"
)

// States returns the rows of the state module "grains".
func States() fun.Module {
	return fun.Module{Name: "grains", Kind: fun.State, Doc: "Manage grains.", Specs: specs}
}

// grainName returns the state's name with colons as delimiters.
func grainName(c *fun.Call, delimiter string, argName string) string {
	name := c.Name
	if n := argName; n != "" {
		name = n
	}
	if d := delimiter; d != "" && d != value.DefaultDelim {
		name = strings.ReplaceAll(name, d, value.DefaultDelim)
	}
	return name
}

func changes(kv ...value.Value) *value.Map { return value.MapOf(kv...) }

type existsArgs struct {
	Name string `arg:"name,required" doc:"name of the grain; a path of nested grains is split at delimiter"`
	delimArgs
}

// exists is true where a grain is there.
//
// Salt: salt/states/grains.py exists.
func exists(_ context.Context, c *fun.Call, a *existsArgs) fun.Ret {
	name := grainName(c, a.Delimiter, a.Name)
	if _, ok := grains.Get(c.Env, name, ""); !ok {
		return fun.Ret{Name: name, Comment: "Grain does not exist"}
	}
	return fun.Ret{Name: name, Result: fun.OK, Comment: "Grain exists"}
}

type presentArgs struct {
	Name  string      `arg:"name,required" doc:"name of the grain; a path of nested grains is split at delimiter"`
	Value value.Value `arg:"value,required" doc:"value to set"`
	delimArgs
	forceArgs
}

// present sets a grain. A dict or list is only replaced with force.
//
// Salt: salt/states/grains.py present.
func present(_ context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	name, v := grainName(c, a.Delimiter, a.Name), a.Value
	old, there := grains.Get(c.Env, name, "")
	if there && value.Equal(old, v) {
		return fun.Ret{Name: name, Result: fun.OK, Comment: "Grain is already set"}
	}
	if c.Test {
		if !there {
			return fun.Ret{Name: name, Result: fun.WouldChange, Comment: fmt.Sprintf("Grain %s is set to be added", name), Changes: changes("new", name)}
		}
		return fun.Ret{Name: name, Result: fun.WouldChange, Comment: fmt.Sprintf("Grain %s is set to be changed", name), Changes: changes("changed", changes(name, v))}
	}
	ret := set(c, name, v, a.Force, false)
	if m, ok := ret.Changes.(*value.Map); ok && ret.Result == fun.OK && m.Len() > 0 {
		ret.Comment = fmt.Sprintf("Set grain %s to %s", name, value.Str(v))
	}
	return ret
}

// set calls grains.set and returns its answer as a state's return.
func set(c *fun.Call, name string, v value.Value, force, destructive bool) fun.Ret {
	m, err := grains.SetNested(c.Env, name, v, force, destructive, value.DefaultDelim)
	if err != nil {
		return fun.Ret{Name: name, Comment: err.Error()}
	}
	ret := fun.Ret{Name: name, Comment: m.At("comment"), Changes: m.At("changes")}
	if value.Truth(m.At("result")) {
		ret.Result = fun.OK
	}
	return ret
}

type absentArgs struct {
	Name        string `arg:"name,required" doc:"name of the grain; a path of nested grains is split at delimiter"`
	Destructive bool   `arg:"destructive" default:"False" doc:"delete the grain instead of setting it to None"`
	delimArgs
	forceArgs
}

// absent sets a grain to None; with destructive it takes it out.
//
// Salt: salt/states/grains.py absent.
func absent(_ context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	name, destructive := grainName(c, a.Delimiter, a.Name), a.Destructive
	old, there := grains.Get(c.Env, name, "")
	switch {
	case !there:
		return fun.Ret{Name: name, Result: fun.OK, Comment: fmt.Sprintf("Grain %s does not exist", name)}
	case old == nil && !destructive && c.Test:
		return fun.Ret{Name: name, Result: fun.WouldChange, Comment: ""}
	case old == nil && !destructive:
		return set(c, name, nil, a.Force, false)
	}
	done := changes("grain", name, "value", nil)
	if destructive {
		done = changes("deleted", name)
	}
	if c.Test {
		ret := fun.Ret{Name: name, Result: fun.WouldChange, Changes: done, Comment: fmt.Sprintf("Value for grain %s is set to be deleted (None)", name)}
		if destructive {
			ret.Comment = fmt.Sprintf("Grain %s is set to be deleted", name)
		}
		return ret
	}
	ret := set(c, name, nil, a.Force, destructive)
	if ret.Result != fun.OK {
		return ret
	}
	ret.Changes = done
	ret.Comment = fmt.Sprintf("Value for grain %s was set to None", name)
	if destructive {
		ret.Comment = fmt.Sprintf("Grain %s was deleted", name)
	}
	return ret
}

type appendStateArgs struct {
	Name    string      `arg:"name,required" doc:"name of the grain; a path of nested grains is split at delimiter"`
	Value   value.Value `arg:"value,required" doc:"value to append"`
	Convert bool        `arg:"convert" default:"False" doc:"turn a grain that is not a list into one"`
	delimArgs
}

// appendState adds a value to a grain that is a list; the grain must be there.
//
// Salt: salt/states/grains.py append.
func appendState(_ context.Context, c *fun.Call, a *appendStateArgs) fun.Ret {
	name, v := grainName(c, a.Delimiter, a.Name), a.Value
	shown := value.Str(v)
	ret := fun.Ret{Name: name}
	old, there := grains.Get(c.Env, name, "")
	if !value.Truth(old) {
		_, there = c.Env.Grains.Get(name)
	}
	list, isList := old.(*value.List)
	switch {
	case !there:
		ret.Comment = fmt.Sprintf("Grain %s does not exist", name)
		return ret
	case !isList && !a.Convert:
		ret.Comment = fmt.Sprintf("Grain %s is not a valid list", name)
		return ret
	case isList && contains(list, v):
		ret.Result, ret.Comment = fun.OK, fmt.Sprintf("Value %s is already in the list for grain %s", shown, name)
		return ret
	}
	ret.Changes = changes("added", v)
	if c.Test {
		ret.Result, ret.Comment = fun.WouldChange, fmt.Sprintf("Value %s in grain %s is set to be added", shown, name)
		if !isList {
			ret.Comment = fmt.Sprintf("Grain %s is set to be converted to list and value %s will be added", name, shown)
		}
		return ret
	}
	w, err := grains.Append(c.Env, name, v, a.Convert, value.DefaultDelim)
	if err != nil || w.Text != "" {
		return failed(name, w, err)
	}
	ret.Result, ret.Comment = fun.OK, fmt.Sprintf("Value %s was added to grain %s", shown, name)
	return ret
}

func failed(name string, w grains.Written, err error) fun.Ret {
	if err != nil {
		return fun.Ret{Name: name, Comment: err.Error()}
	}
	return fun.Ret{Name: name, Comment: w.Text}
}

func contains(l *value.List, v value.Value) bool {
	return slices.ContainsFunc(l.Items, func(x value.Value) bool { return value.Equal(x, v) })
}

// isMissing reports whether v is not in l, or where v is a list one of its items.
func isMissing(l *value.List, v value.Value) bool {
	vals, ok := v.(*value.List)
	if !ok {
		return !contains(l, v)
	}
	return slices.ContainsFunc(vals.Items, func(x value.Value) bool { return !contains(l, x) })
}

// pending are the values that the run's list_present states have asked for, by
// the name of the grain.
type pending struct {
	mu    sync.Mutex
	asked map[string]*value.List
}

type pendingKey struct{}

// ask notes that the items of vals are asked for in a grain and returns those
// that no state asked for before: all of them, unless one was.
func ask(c *fun.Call, name string, vals *value.List) *value.List {
	p := c.Env.Memo.Once(pendingKey{}, func() any { return &pending{asked: map[string]*value.List{}} }).(*pending)
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.asked[name]
	if before == nil {
		before = value.NewList()
		p.asked[name] = before
	}
	if slices.ContainsFunc(vals.Items, func(x value.Value) bool { return contains(before, x) }) {
		fresh := value.NewList()
		for _, x := range vals.Items {
			if !contains(before, x) && !contains(fresh, x) {
				fresh.Append(x)
			}
		}
		vals = fresh
	}
	before.Append(vals.Items...)
	return vals
}

type listPresentArgs struct {
	Name  string      `arg:"name,required" doc:"name of the grain; a path of nested grains is split at delimiter"`
	Value value.Value `arg:"value,required" doc:"value or list of values to add"`
	delimArgs
}

// listPresent adds values to a grain that is a list, which is made where it is
// missing. A list of which the grain lacks an item is added whole, as in Salt,
// less what an earlier state of the run asked for.
//
// Salt: salt/states/grains.py list_present.
func listPresent(_ context.Context, c *fun.Call, a *listPresentArgs) fun.Ret {
	name, v := grainName(c, a.Delimiter, a.Name), a.Value
	ret := fun.Ret{Name: name}
	old, _ := grains.Get(c.Env, name, "")
	if value.Truth(old) {
		list, ok := old.(*value.List)
		if !ok {
			ret.Comment = fmt.Sprintf("Grain %s is not a valid list", name)
			return ret
		}
		if !isMissing(list, v) {
			ret.Result, ret.Comment = fun.OK, fmt.Sprintf("Value %s is already in grain %s", value.Str(v), name)
			return ret
		}
		if vals, ok := v.(*value.List); ok {
			v = ask(c, name, vals)
		}
	}
	if c.Test {
		ret.Result, ret.Comment = fun.WouldChange, fmt.Sprintf("Value %s is set to be appended to grain %s", value.Str(v), name)
		if !value.Truth(old) {
			ret.Comment = fmt.Sprintf("Grain %s is set to be added", name)
		}
		if old == nil {
			old = ""
		}
		ret.Changes = changes("new", old)
		return ret
	}
	w, err := grains.Append(c.Env, name, v, old == nil, value.DefaultDelim)
	if err != nil || w.Text != "" {
		ret = failed(name, w, err)
		if err == nil {
			ret.Comment = fmt.Sprintf("Failed append value %s to grain %s", value.Str(v), name)
		}
		return ret
	}
	ret.Result, ret.Changes = fun.OK, changes("new", w.Value())
	ret.Comment = fmt.Sprintf("Append value %s to grain %s", value.Str(v), name)
	return ret
}

type listAbsentArgs struct {
	Name  string        `arg:"name,required" doc:"name of the grain; a path of nested grains is split at delimiter"`
	Value []value.Value `arg:"value,required,any" doc:"value or list of values to remove"`
	delimArgs
}

// listAbsent takes values out of a grain that is a list.
//
// Salt: salt/states/grains.py list_absent.
func listAbsent(_ context.Context, c *fun.Call, a *listAbsentArgs) fun.Ret {
	name := grainName(c, a.Delimiter, a.Name)
	ret := fun.Ret{Name: name, Result: fun.OK}
	old, _ := grains.Get(c.Env, name, "")
	if !value.Truth(old) {
		ret.Comment = fmt.Sprintf("Grain %s does not exist", name)
		return ret
	}
	list, ok := old.(*value.List)
	if !ok {
		return fun.Fail("Grain %s is not a valid list", name)
	}
	var comments []string
	deleted := value.NewList()
	for _, v := range a.Value {
		shown := value.Str(v)
		switch {
		case !contains(list, v):
			comments = append(comments, fmt.Sprintf("Value %s is absent from grain %s", shown, name))
			continue
		case c.Test:
			ret.Result = fun.WouldChange
			comments = append(comments, fmt.Sprintf("Value %s in grain %s is set to be deleted", shown, name))
		default:
			w, err := grains.Remove(c.Env, name, v, value.DefaultDelim)
			if err != nil || w.Text != "" {
				return failed(name, w, err)
			}
			comments = append(comments, fmt.Sprintf("Value %s was deleted from grain %s", shown, name))
		}
		deleted.Append(v)
	}
	if deleted.Len() > 0 {
		ret.Changes = changes("deleted", deleted)
	}
	ret.Comment = strings.Join(comments, "\n")
	return ret
}
