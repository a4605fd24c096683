package grains

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/py/value"
)

// SetVals keeps grains in the grains file and sets them for this run. With
// destructive, keys of value None are taken out. text is what Salt answers
// where the file cannot be read, "" where all is well.
func SetVals(env *fun.Env, vals value.Mapping, destructive bool) (text string, err error) {
	file := grains.StaticPath(env.Host, env.Opts)
	kept, err := grains.LoadStatic(env.Host, file)
	if err != nil {
		return "Unable to read existing grains file: " + err.Error(), nil
	}
	kept = kept.Copy()
	for _, k := range vals.Keys() {
		v, _ := vals.Get(k)
		if v == nil && destructive {
			kept.Delete(k)
		} else {
			kept.Set(k, v)
		}
	}
	if err := grains.SaveStatic(env.Host, file, kept); err != nil {
		return "", fun.Errorf("Unable to write to grains file at %s: %v", file, err)
	}
	for _, k := range vals.Keys() {
		v, _ := vals.Get(k)
		setForRun(env, k, v, v == nil && destructive)
	}
	return "", nil
}

// setForRun changes a grain of the run in progress.
func setForRun(env *fun.Env, key, v value.Value, remove bool) {
	switch g := env.Grains.(type) {
	case interface {
		Set(string, value.Value)
		Delete(string)
	}:
		if remove {
			g.Delete(value.Str(key))
		} else {
			g.Set(value.Str(key), v)
		}
	case *value.Map:
		if remove {
			g.Delete(key)
		} else {
			g.Set(key, v)
		}
	}
}

// Written is what a change of grains came to: Salt returns the grains that
// were set, or a text that says why not.
type Written struct {
	Changes value.Value // the grains that were set
	Text    string      // or why not
}

// Value is what Salt returns.
func (w Written) Value() value.Value {
	if w.Text != "" {
		return w.Text
	}
	return w.Changes
}

// SetVal keeps one grain.
func SetVal(env *fun.Env, key string, v value.Value, destructive bool) (Written, error) {
	m := value.MapOf(key, v)
	text, err := SetVals(env, m, destructive)
	return Written{m, text}, err
}

type setvalsArgs struct {
	Grains value.Value `arg:"grains,required" doc:"the grains, a mapping"`
	destructiveArgs
	refreshArgs
}

func setvals(_ context.Context, c *fun.Call, a *setvalsArgs) (fun.Result, error) {
	m, ok := a.Grains.(value.Mapping)
	if !ok {
		return fun.Result{}, fun.Errorf("setvals grains must be a dictionary.")
	}
	text, err := SetVals(c.Env, m, a.Destructive)
	if text != "" {
		return fun.Result{Value: text}, err
	}
	return fun.Result{Value: m}, err
}

type setvalArgs struct {
	keyArg
	valArg
	destructiveArgs
	refreshArgs
}

func setval(_ context.Context, c *fun.Call, a *setvalArgs) (fun.Result, error) {
	w, err := SetVal(c.Env, a.Key, a.Val, a.Destructive)
	return fun.Result{Value: w.Value(), Out: "nested"}, err
}

// Append adds v to the list at a path; the items of v where it is a list.
func Append(env *fun.Env, key string, v value.Value, convert bool, delim string) (Written, error) {
	got, ok := Get(env, key, delim)
	if !ok {
		got = value.NewList()
	}
	list, isList := value.Clone(got).(*value.List)
	if !isList && convert {
		list, isList = value.NewList(), true
		if got != nil {
			list.Append(value.Clone(got))
		}
	}
	switch {
	case !isList:
		return Written{Text: "The key " + key + " is not a valid list"}, nil
	case contains(list, v):
		return Written{Text: "The val " + value.Str(v) + " was already in the list " + key}, nil
	}
	if l, ok := v.(*value.List); ok {
		list.Append(l.Items...)
	} else {
		list.Append(v)
	}
	return setUp(env, key, list, delim)
}

type appendFnArgs struct {
	keyArg
	Val     value.Value `arg:"val,required" doc:"the value; of a list, each item is appended"`
	Convert bool        `arg:"convert" default:"False" doc:"convert a grain that is not a list"`
	delimiterArgs
}

func appendFn(_ context.Context, c *fun.Call, a *appendFnArgs) (fun.Result, error) {
	w, err := Append(c.Env, a.Key, a.Val, a.Convert, a.Delimiter)
	return fun.Result{Value: w.Value()}, err
}

// Remove takes v out of the list at a path.
func Remove(env *fun.Env, key string, v value.Value, delim string) (Written, error) {
	got, ok := Get(env, key, delim)
	if !ok {
		got = value.NewList()
	}
	list, isList := got.(*value.List)
	if !isList {
		return Written{Text: "The key " + key + " is not a valid list"}, nil
	}
	if !contains(list, v) {
		return Written{Text: "The val " + value.Str(v) + " was not in the list " + key}, nil
	}
	rest := value.NewList()
	gone := false
	for _, x := range list.Items {
		if !gone && value.Equal(x, v) {
			gone = true
			continue
		}
		rest.Append(value.Clone(x))
	}
	return setUp(env, key, rest, delim)
}

type removeArgs struct {
	keyArg
	valArg
	delimiterArgs
}

func remove(_ context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	w, err := Remove(c.Env, a.Key, a.Val, a.Delimiter)
	return fun.Result{Value: w.Value()}, err
}

func contains(l *value.List, v value.Value) bool {
	for _, x := range l.Items {
		if value.Equal(x, v) {
			return true
		}
	}
	return false
}

// setUp sets v at a path by putting it into copies of the dicts above it.
func setUp(env *fun.Env, key string, v value.Value, delim string) (Written, error) {
	for delim != "" && strings.Contains(key, delim) {
		i := strings.LastIndex(key, delim)
		rest := key[i+len(delim):]
		key = key[:i]
		above, ok := Get(env, key, delim)
		if !ok {
			above = value.NewMap(1)
		}
		above = value.Clone(above)
		if m, ok := above.(*value.Map); ok {
			m.Set(keyOf(m, rest), v)
		}
		v = above
	}
	return SetVal(env, key, v, false)
}

// keyOf returns the key of m that a part of a path means: the part itself, or
// the number that it reads as where m has that.
func keyOf(m *value.Map, part string) value.Value {
	if !m.Has(part) {
		if n, err := value.ToInt(part); err == nil && m.Has(n) {
			return n
		}
	}
	return part
}

// SetNested is the function grains.set: it sets a grain at a path, and answers
// with a dict of comment, changes and result.
//
// A dict or list is only replaced, and only put where a value is, with force.
// A value on the way that is the text of the next part becomes a dict of it.
func SetNested(env *fun.Env, key string, v value.Value, force, destructive bool, delim string) (*value.Map, error) {
	answer := func(ok bool, comment string, changes value.Value) (*value.Map, error) {
		return value.MapOf("comment", comment, "changes", changes, "result", ok), nil
	}
	none := value.NewMap(0)
	old, there := Get(env, key, delim)
	if there && value.Equal(old, v) && (v != nil || !destructive) {
		return answer(true, "Grain is already set", none)
	}
	if there && old != nil && !force {
		if isComplex(old) {
			return answer(false, "The key '"+key+"' exists but is a dict or a list. Use 'force=True' to overwrite.", none)
		}
		if isComplex(v) {
			return answer(false, "The key '"+key+"' exists and the given value is a dict or a list. Use 'force=True' to overwrite.", none)
		}
	}
	for delim != "" && strings.Contains(key, delim) {
		i := strings.LastIndex(key, delim)
		rest := key[i+len(delim):]
		key = key[:i]
		above, ok := Get(env, key, delim)
		if !ok {
			above = value.NewMap(1)
		}
		above = value.Clone(above)
		switch a := above.(type) {
		case *value.Map:
			if v == nil && destructive {
				a.Delete(keyOf(a, rest))
			} else {
				a.Set(keyOf(a, rest), v)
			}
		case *value.List:
			setInList(a, rest, v, destructive)
		default:
			if !value.Equal(above, rest) && !force {
				return answer(false, "The key '"+key+"' value is '"+value.Str(above)+"', which is different from the provided key '"+rest+"'. Use 'force=True' to overwrite.", none)
			}
			above = value.MapOf(rest, v)
		}
		v = above
	}
	w, err := SetVal(env, key, v, destructive)
	if err != nil {
		return nil, err
	}
	if w.Text != "" {
		return answer(false, w.Text, none)
	}
	return answer(true, "", w.Changes)
}

// setInList sets rest in a list of names and dicts: a name becomes a dict, a
// dict that has the key gets the value, else a dict is added.
func setInList(l *value.List, rest string, v value.Value, destructive bool) {
	found := false
	for i, x := range l.Items {
		if value.Equal(x, rest) {
			l.Items[i] = value.MapOf(rest, v)
			found = true
		} else if m, ok := x.(*value.Map); ok && m.Has(rest) {
			if v == nil && destructive {
				m.Delete(rest)
			} else {
				m.Set(rest, v)
			}
			found = true
		}
	}
	if !found {
		l.Append(value.MapOf(rest, v))
	}
}

func isComplex(v value.Value) bool {
	switch v.(type) {
	case *value.Map, *value.List:
		return true
	}
	return false
}

type setArgs struct {
	keyArg
	Val value.Value `arg:"val" default:"''" doc:"the value"`
	forceArgs
	destructiveArgs
	delimiterArgs
}

func set(_ context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	m, err := SetNested(c.Env, a.Key, a.Val, a.Force, a.Destructive, a.Delimiter)
	return fun.Result{Value: m}, err
}

type delvalArgs struct {
	keyArg
	destructiveArgs
	forceArgs
}

func delval(_ context.Context, c *fun.Call, a *delvalArgs) (fun.Result, error) {
	m, err := SetNested(c.Env, a.Key, nil, a.Force, a.Destructive, value.DefaultDelim)
	return fun.Result{Value: m}, err
}

type delkeyArgs struct {
	keyArg
	forceArgs
}

func delkey(_ context.Context, c *fun.Call, a *delkeyArgs) (fun.Result, error) {
	m, err := SetNested(c.Env, a.Key, nil, a.Force, true, value.DefaultDelim)
	return fun.Result{Value: m}, err
}

type getOrSetHashArgs struct {
	_      fun.Arguments
	Name   string `arg:"name,required" doc:"name of the grain; colons separate nested keys"`
	Length int64  `arg:"length" default:"8" unit:"characters" doc:"length of the text"`
	Chars  string `arg:"chars" default:"abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)" doc:"the characters to choose from"`
}

// getOrSetHash returns a grain that is made up where it is not there.
// Salt: salt/modules/grains.py get_or_set_hash.
func getOrSetHash(_ context.Context, c *fun.Call, a *getOrSetHashArgs) (fun.Result, error) {
	name, chars := a.Name, []rune(a.Chars)
	if v, ok := Get(c.Env, name, ":"); ok && v != nil {
		return fun.Value(v)
	}
	n := a.Length
	if n < 1 || n > 1<<20 || len(chars) == 0 {
		return fun.Result{}, fun.Errorf("length and chars do not make a text: length has to be from 1 to 1048576, and chars not empty")
	}
	text := make([]rune, n)
	for i := range text {
		k, err := rand.Int(rand.Reader, big.NewInt(int64(len(chars))))
		if err != nil {
			return fun.Result{}, err
		}
		text[i] = chars[k.Int64()]
	}
	parts := strings.Split(name, ":")
	var v value.Value = string(text)
	root, _ := Get(c.Env, parts[0], "")
	for i := len(parts) - 1; i > 0; i-- {
		v = value.MapOf(parts[i], v)
	}
	if m, isMap := v.(*value.Map); isMap {
		if old, ok := root.(*value.Map); ok {
			v = value.MergeRecurse(old, m, false)
		}
	}
	w, err := SetVal(c.Env, parts[0], v, false)
	if err != nil || w.Text != "" {
		return fun.Result{Value: w.Value()}, err
	}
	return fun.Value(string(text))
}
