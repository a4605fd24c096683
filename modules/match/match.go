// Package match is Salt's execution module "match": does a target mean this
// machine?
package match

import (
	"context"
	"slices"

	"brine/internal/fun"
	"brine/internal/target"
	"brine/internal/value"
)

// matchers are the functions whose name is, or stands for, a target type.
var matchers = [...]struct{ name, tgtType, doc string }{
	{"compound", "compound", "Tell whether a compound target means this machine."},
	{"data", "data", "Tell whether a target of the data store means this machine."},
	{"glob", "glob", "Tell whether a glob means this machine."},
	{"grain", "grain", "Tell whether a grain target means this machine."},
	{"grain_pcre", "grain_pcre", "Tell whether a grain target with a regular expression means this machine."},
	{"ipcidr", "ipcidr", "Tell whether an address or network means this machine."},
	{"list", "list", "Tell whether a list of ids has this machine."},
	{"pcre", "pcre", "Tell whether a regular expression means this machine."},
	{"pillar", "pillar", "Tell whether a pillar target means this machine."},
	{"pillar_pcre", "pillar_pcre", "Tell whether a pillar target with a regular expression means this machine."},
}

// Module returns the rows of the execution module "match".
func Module() fun.Module {
	m := fun.Module{Name: "match", Kind: fun.Exec, Doc: "Does a target mean this machine?"}
	for _, x := range matchers {
		m.Specs = append(m.Specs, fun.Spec{
			Name: x.name, Doc: x.doc, Src: "modules/match.py " + x.name, Fn: matchFn(x.tgtType),
			Args: []fun.Arg{
				{Name: "tgt", Required: true, Doc: "the target"},
				{Name: "minion_id", Type: fun.Str, Doc: "match this id instead of one's own"},
				{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "what separates the keys of grains and pillar"},
			},
		})
	}
	filter := fun.Spec{
		Name: "filter_by", Doc: "Return the value of the first key that, as a compound target, means this machine.", Src: "modules/match.py filter_by", Fn: filterBy,
		Args: []fun.Arg{
			{Name: "lookup", Type: fun.Dict, Required: true, Doc: "targets to values"},
			{Name: "tgt_type", Type: fun.Str, Default: "compound", Doc: "type of the targets"},
			{Name: "minion_id", Type: fun.Str, Doc: "match this id instead of one's own"},
			{Name: "merge", Type: fun.Dict, Doc: "merged over the value"},
			{Name: "merge_lists", Type: fun.Bool, Default: false, Doc: "join lists in the merge"},
			{Name: "default", Type: fun.Str, Default: "default", Doc: "key to use where none matches"},
		},
	}
	m.Specs = slices.Insert(m.Specs, 2, filter) // by the alphabet behind data
	m.Specs = append(m.Specs, fun.Spec{
		Name: "search_by", Doc: "Return the names whose lists have a target that means this machine, None where there are none.", Src: "modules/match.py search_by", Fn: searchBy,
		Args: []fun.Arg{
			{Name: "lookup", Type: fun.Dict, Required: true, Doc: "names to lists of targets"},
			{Name: "tgt_type", Type: fun.Str, Default: "compound", Doc: "type of the targets"},
			{Name: "minion_id", Type: fun.Str, Doc: "match this id instead of one's own"},
		},
	})
	return m
}

// minion is this machine as targets see it, under another id where one is
// given.
func minion(c *fun.Call) target.Minion {
	id := c.Str("minion_id")
	if id == "" {
		id = c.Env.ID
	}
	return target.Minion{
		ID:     id,
		Grains: func() value.Mapping { return c.Env.Grains },
		Pillar: func() value.Mapping { return c.Env.Pillar },
	}
}

// match reports whether a target means the machine of c. As in Salt, a target
// that makes no sense (known is false) means nothing; the fault is warned of.
func match(c *fun.Call, tgt value.Value, tgtType, delimiter string) (ok, known bool, err error) {
	o := target.Options{Nodegroups: c.Env.Opts.Map("nodegroups"), Delimiter: delimiter}
	m, err := o.Compile(tgt, tgtType)
	if err != nil {
		if c.Env.Warn != nil {
			c.Env.Warn(fun.Warning{Text: err.Error()})
		}
		return false, false, nil
	}
	if c.Env.Warn != nil {
		for _, w := range m.Warnings() {
			c.Env.Warn(fun.Warning{Text: w})
		}
	}
	ok, err = m.Match(minion(c))
	return ok, true, err
}

func matchFn(tgtType string) fun.ExecFn {
	return func(_ context.Context, c *fun.Call) (fun.Result, error) {
		ok, known, err := match(c, c.Value("tgt"), tgtType, c.Str("delimiter"))
		if err != nil {
			return fun.Result{}, err
		}
		if !known && tgtType == "ipcidr" {
			return fun.Value(value.NewList()) // as in Salt
		}
		return fun.Value(ok)
	}
}

// searchBy looks through lists of targets; a name is there once for each
// target that means the machine. Salt: salt/modules/match.py search_by.
func searchBy(_ context.Context, c *fun.Call) (fun.Result, error) {
	names := value.NewList()
	for k, v := range c.Map("lookup").All() {
		list, ok := v.(*value.List)
		if !ok {
			list = value.NewList(v)
		}
		for _, tgt := range list.Items {
			is, _, err := match(c, tgt, c.Str("tgt_type"), "")
			if err != nil {
				return fun.Result{}, err
			}
			if is {
				names.Append(k)
			}
		}
	}
	if names.Len() == 0 {
		return fun.Value(nil)
	}
	return fun.Value(names)
}

// filterBy picks from a dict by target. Salt: salt/modules/match.py filter_by.
func filterBy(_ context.Context, c *fun.Call) (fun.Result, error) {
	lookup := c.Map("lookup")
	for k, v := range lookup.All() {
		ok, _, err := match(c, k, c.Str("tgt_type"), "")
		if err != nil {
			return fun.Result{}, err
		}
		if ok {
			return merged(c, v)
		}
	}
	// What is taken for want of a match is not merged with anything.
	return fun.Value(value.Clone(lookup.At(c.Value("default"))))
}

// merged is what was picked with the argument merge over it.
func merged(c *fun.Call, picked value.Value) (fun.Result, error) {
	merge := c.Value("merge")
	if !value.Truth(merge) {
		return fun.Value(value.Clone(picked))
	}
	over, ok := merge.(*value.Map)
	if !ok {
		return fun.Result{}, value.Raise("salt.exceptions.SaltException", "filter_by merge argument must be a dictionary.")
	}
	base, ok := picked.(*value.Map)
	if picked != nil && !ok {
		return fun.Result{}, value.Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")
	}
	return fun.Value(value.MergeRecurse(base, over, c.Bool("merge_lists")))
}
