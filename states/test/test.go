// Package test is Salt's state module "test": states that do nothing but
// return what a test or a tree under construction wants.
package test

import (
	"context"
	"math/rand/v2"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "test".
func States() fun.Module {
	return fun.Module{Name: "test", Kind: fun.State, Doc: "Return given results, for testing.", Watch: modWatch, Specs: specs}
}

// pretended is what the states report that claim to change something.
func pretended() *value.Map {
	return value.MapOf("testing", value.MapOf("old", "Unchanged", "new", "Something pretended to change"))
}

// invalid is what Salt raises for wrong arguments.
func invalid(text string) fun.Ret {
	return fun.Raise(value.Raise("salt.exceptions.SaltInvocationError", "%s", text))
}

type nopArgs struct {
	_ fun.Kwargs
}

// nop does nothing. Any argument is accepted and none is read.
func nop(context.Context, *fun.Call, *nopArgs) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: "Success!"}
}

// succeedWithoutChangesArgs are the arguments of succeedWithoutChanges and succeedWithChanges.
type succeedWithoutChangesArgs struct {
	successArgs
	_ fun.Kwargs
}

// succeedWithoutChanges succeeds with a comment of the caller's choice.
func succeedWithoutChanges(_ context.Context, c *fun.Call, a *succeedWithoutChangesArgs) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: a.Comment}
}

// failWithoutChangesArgs are the arguments of failWithoutChanges and failWithChanges.
type failWithoutChangesArgs struct {
	failureArgs
	_ fun.Kwargs
}

// failWithoutChanges fails, in test mode too.
func failWithoutChanges(_ context.Context, c *fun.Call, a *failWithoutChangesArgs) fun.Ret {
	if c.Test {
		return fun.Ret{Comment: "If we weren't testing, this would be a failure!"}
	}
	return fun.Ret{Comment: a.Comment}
}

// succeedWithChanges reports changes that it did not make.
func succeedWithChanges(_ context.Context, c *fun.Call, a *succeedWithoutChangesArgs) fun.Ret {
	if c.Test {
		return fun.Ret{Changes: pretended(), Result: fun.WouldChange, Comment: "If we weren't testing, this would be successful with changes"}
	}
	return fun.Ret{Changes: pretended(), Result: fun.OK, Comment: a.Comment}
}

// failWithChanges reports changes that it did not make, and failure. In test
// mode the result is None, as in Salt.
func failWithChanges(_ context.Context, c *fun.Call, a *failWithoutChangesArgs) fun.Ret {
	if c.Test {
		return fun.Ret{Changes: pretended(), Result: fun.WouldChange, Comment: "If we weren't testing, this would be failed with changes"}
	}
	return fun.Ret{Changes: pretended(), Comment: a.Comment}
}

type configurableArgs struct {
	_        fun.Arguments
	Changes  value.Value `arg:"changes" default:"True" doc:"whether to report changes: True, False or Random"`
	Result   value.Value `arg:"result" default:"True" doc:"result: True, False or Random"`
	Comment  value.Value `arg:"comment" default:"''" doc:"comment of the return"`
	Warnings value.Value `arg:"warnings" doc:"warning or list of warnings of the return"`
}

// configurable returns the changes, result, comment and warnings that its
// arguments name; "Random" tosses a coin.
func configurable(_ context.Context, c *fun.Call, a *configurableArgs) fun.Ret {
	ret := fun.Ret{Comment: a.Comment}
	changes, ok := choice(a.Changes)
	if !ok {
		return invalid("You have specified the state option 'changes' with invalid arguments. It must be either True, False, or 'Random'")
	}
	if changes {
		ret.Changes = pretended()
	}
	result, ok := choice(a.Result)
	if !ok {
		return invalid("You have specified the state option 'result' with invalid arguments. It must be either True, False, or 'Random'")
	}
	if result {
		ret.Result = fun.OK
	}
	switch w := a.Warnings.(type) {
	case nil:
	case string:
		ret.Extra = value.MapOf("warnings", value.Strings(w))
	case *value.List:
		ret.Extra = value.MapOf("warnings", w)
	default:
		return invalid("You have specified the state option 'warnings' with invalid arguments. It must be a string or a list of strings")
	}
	if c.Test {
		ret.Result = fun.WouldChange
		if a.Changes == false {
			ret.Result = fun.OK
		}
		if !value.Truth(ret.Comment) {
			ret.Comment = "This is a test"
		}
	}
	return ret
}

// choice reads True, False or Random.
func choice(v value.Value) (yes, ok bool) {
	if b, ok := v.(bool); ok {
		return b, true
	}
	if strings.EqualFold(value.Str(v), "random") {
		return rand.IntN(2) == 0, true
	}
	return false, false
}

type showNotificationArgs struct {
	Text value.Value `arg:"text" doc:"text to show; required"`
	_    fun.Kwargs
}

// showNotification shows its text as the comment.
func showNotification(_ context.Context, c *fun.Call, a *showNotificationArgs) fun.Ret {
	text := a.Text
	if !value.Truth(text) {
		return invalid("Missing required argument text.")
	}
	return fun.Ret{Result: fun.OK, Comment: text}
}

// modWatch is called for a state of this module when a state that it watches
// has changed. The state's own arguments result, comment and changes are
// returned; by default it succeeds and names what changed.
func modWatch(_ context.Context, c *fun.Call) fun.Ret {
	low := c.Low.Low
	changed := value.NewList()
	for _, x := range watched(low) {
		req, ok := x.(*value.Map)
		if !ok || c.Env.Run == nil {
			continue
		}
		state, id := value.Str(req.At("state")), value.Str(req.At("__id__"))
		tag := state + "_|-" + id + "_|-" + value.Str(req.At("name")) + "_|-" + value.Str(req.At("fun"))
		if value.Truth(c.Env.Run.Return(tag).At("changes")) {
			changed.Append(state + ": " + id)
		}
	}
	ret := fun.Ret{Result: fun.OK, Comment: "Watch statement fired.", Changes: value.MapOf("Requisites with changes", changed)}
	if v, ok := low.Get("result"); ok {
		switch {
		case v == nil:
			ret.Result = fun.WouldChange
		case !value.Truth(v):
			ret.Result = fun.Failed
		}
	}
	if v, ok := low.Get("comment"); ok {
		ret.Comment = v
	}
	if v, ok := low.Get("changes"); ok {
		ret.Changes = v // what is not a dict fails the check of the return
	}
	return ret
}

// A check is a demand on keys of the pillar: class is how Python prints the
// type, is whether a value is of it.
type check struct {
	keys  value.Value
	class string
	is    func(value.Value) bool
}

type checkPillarArgs struct {
	_          fun.Arguments
	Present    value.Value `arg:"present,str|list" doc:"pillar key or keys that must exist; a:b is b in a"`
	Boolean    value.Value `arg:"boolean,str|list" doc:"pillar key or keys whose value must be True or False"`
	Integer    value.Value `arg:"integer,str|list" doc:"pillar key or keys whose value must be an integer"`
	String     value.Value `arg:"string,str|list" doc:"pillar key or keys whose value must be text"`
	Listing    value.Value `arg:"listing,str|list" doc:"pillar key or keys whose value must be a list"`
	Dictionary value.Value `arg:"dictionary,str|list" doc:"pillar key or keys whose value must be a mapping"`
	Verbose    bool        `arg:"verbose" default:"False" doc:"list the keys that passed too"`
}

// checkPillar checks that keys of the pillar are there and of a type.
func checkPillar(_ context.Context, c *fun.Call, a *checkPillarArgs) fun.Ret {
	checks := []check{
		{a.Present, "None", func(value.Value) bool { return true }},
		{a.Boolean, "<class 'bool'>", func(v value.Value) bool { return value.TypeName(v) == "bool" }},
		{a.Integer, "<class 'int'>", func(v value.Value) bool { t := value.TypeName(v); return t == "int" || t == "bool" }},
		{a.String, "(<class 'str'>,)", func(v value.Value) bool { return value.TypeName(v) == "str" }},
		{a.Listing, "<class 'list'>", func(v value.Value) bool { return value.TypeName(v) == "list" }},
		{a.Dictionary, "<class 'dict'>", func(v value.Value) bool { _, ok := v.(value.Mapping); return ok }},
	}
	given := false
	for _, k := range checks {
		given = given || value.Truth(k.keys)
	}
	if !given {
		return invalid("Missing required argument text.")
	}
	fine, failed := value.NewMap(0), value.NewMap(0)
	for _, k := range checks {
		keys := value.NewList()
		switch v := k.keys.(type) {
		case string:
			if v != "" {
				keys.Append(v)
			}
		case *value.List:
			keys = v
		}
		for _, key := range keys.Items {
			v, ok := lookup(c, key)
			switch {
			case !ok || v == nil:
				failed.Set(key, "is missing.\n")
			case !k.is(v):
				failed.Set(key, "is not "+k.class+".\n")
			default:
				fine.Set(key, k.class)
			}
		}
	}
	var b strings.Builder
	for key, why := range failed.All() {
		b.WriteString(`Pillar key "` + value.Str(key) + `" ` + why.(string))
	}
	if a.Verbose && fine.Len() > 0 {
		b.WriteString("Those keys passed the check:\n")
		for key, class := range fine.All() {
			b.WriteString("- " + value.Str(key) + " (" + class.(string) + ")\n")
		}
	}
	ret := fun.Ret{Comment: b.String()}
	if failed.Len() == 0 {
		ret.Result = fun.OK
	}
	return ret
}

func lookup(c *fun.Call, key value.Value) (value.Value, bool) {
	if c.Env.Pillar == nil {
		return nil, false
	}
	return value.TraverseKey(c.Env.Pillar, key, "")
}

// watched returns the low data of the states that low watches.
func watched(low *value.Map) []value.Value {
	l := low.Map("__reqs__").List("watch")
	if l == nil {
		return nil
	}
	return l.Items
}
