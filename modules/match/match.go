// Package match is Salt's execution module "match": does a target mean this
// machine?
package match

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// Module returns the execution module "match".
func Module() fun.Module {
	return fun.Module{Name: "match", Kind: fun.Exec, Doc: "Match targets against this machine.", Specs: specs}
}

// minion is this machine as targets see it, under another id where one is
// given.
func minion(c *fun.Call, id string) target.Minion {
	if id == "" {
		id = c.Env.ID
	}
	return target.Minion{
		ID:     id,
		Grains: func() value.Mapping { return c.Env.SubjectGrains() },
		Pillar: func() value.Mapping { return c.Env.Pillar },
	}
}

// match reports whether a target means the machine of c, under an id where one is given. As in Salt, a target
// that is not valid (known is false) means nothing; the fault is warned of.
func match(c *fun.Call, tgt value.Value, tgtType, delimiter, id string) (ok, known bool, err error) {
	o := target.Options{Nodegroups: c.Env.Opts.Map("nodegroups"), Delimiter: delimiter}
	m, err := o.Compile(tgt, tgtType)
	if err != nil {
		c.Env.Warn(fun.Warning{Text: err.Error()})
		return false, false, nil
	}
	for _, w := range m.Warnings() {
		c.Env.Warn(fun.Warning{Text: w})
	}
	ok, err = m.Match(minion(c, id))
	return ok, true, err
}

// matches returns whether the target of a call, of a type, means this machine.
func matches(c *fun.Call, a *tgtArg, tgtType, delimiter, id string) (fun.Result, error) {
	ok, known, err := match(c, a.Tgt, tgtType, delimiter, id)
	if err != nil {
		return fun.Result{}, err
	}
	if !known && tgtType == "ipcidr" {
		return fun.Value(value.NewList()) // as in Salt
	}
	return fun.Value(ok)
}

// compoundArgs are the arguments of compound, glob, list and pcre.
type compoundArgs struct {
	tgtArg
	idArg
}

func compound(_ context.Context, c *fun.Call, a *compoundArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "compound", "", a.MinionID)
}

func data(_ context.Context, c *fun.Call, a *tgtArg) (fun.Result, error) {
	return matches(c, a, "data", "", "")
}

func glob(_ context.Context, c *fun.Call, a *compoundArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "glob", "", a.MinionID)
}

// grainArgs are the arguments of grain, grainPCRE, pillar and pillarPCRE.
type grainArgs struct {
	tgtArg
	delimiterArgs
}

func grain(_ context.Context, c *fun.Call, a *grainArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "grain", a.Delimiter, "")
}

func grainPCRE(_ context.Context, c *fun.Call, a *grainArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "grain_pcre", a.Delimiter, "")
}

func list(_ context.Context, c *fun.Call, a *compoundArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "list", "", a.MinionID)
}

func pcre(_ context.Context, c *fun.Call, a *compoundArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "pcre", "", a.MinionID)
}

func pillar(_ context.Context, c *fun.Call, a *grainArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "pillar", a.Delimiter, "")
}

func pillarPCRE(_ context.Context, c *fun.Call, a *grainArgs) (fun.Result, error) {
	return matches(c, &a.tgtArg, "pillar_pcre", a.Delimiter, "")
}

func ipcidr(_ context.Context, c *fun.Call, a *tgtArg) (fun.Result, error) {
	return matches(c, a, "ipcidr", "", "")
}

type searchByArgs struct {
	Lookup  *value.Map `arg:"lookup,required" doc:"names to lists of targets"`
	TgtType string     `arg:"tgt_type" default:"compound" doc:"type of the targets"`
	idArg
}

// searchBy looks through lists of targets; a name is there once for each
// target that means the machine. Salt: salt/modules/match.py search_by.
func searchBy(_ context.Context, c *fun.Call, a *searchByArgs) (fun.Result, error) {
	names := value.NewList()
	for k, v := range a.Lookup.All() {
		list, ok := v.(*value.List)
		if !ok {
			list = value.NewList(v)
		}
		for _, tgt := range list.Items {
			is, _, err := match(c, tgt, a.TgtType, "", a.MinionID)
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

type filterByArgs struct {
	Lookup  *value.Map `arg:"lookup,required" doc:"targets to values"`
	TgtType string     `arg:"tgt_type" default:"compound" doc:"type of the targets"`
	idArg
	Merge      value.Value `arg:"merge" doc:"a mapping merged over the value"`
	MergeLists bool        `arg:"merge_lists" default:"False" doc:"append lists in the merge"`
	Default    value.Value `arg:"default" default:"'default'" doc:"the key if none matches"`
}

// filterBy picks from a dict by target. Salt: salt/modules/match.py filter_by.
func filterBy(_ context.Context, c *fun.Call, a *filterByArgs) (fun.Result, error) {
	lookup := a.Lookup
	for k, v := range lookup.All() {
		ok, _, err := match(c, k, a.TgtType, "", a.MinionID)
		if err != nil {
			return fun.Result{}, err
		}
		if ok {
			return merged(a.Merge, a.MergeLists, v)
		}
	}
	// What is taken for want of a match is not merged with anything.
	return fun.Value(value.Clone(lookup.At(a.Default)))
}

type ifElseArgs struct {
	TgtType    string      `arg:"tgt_type,kw" default:"compound" doc:"type of the targets"`
	MinionID   string      `arg:"minion_id,kw" doc:"match this ID instead of that of this machine"`
	Merge      value.Value `arg:"merge,kw" doc:"a mapping merged over the value"`
	MergeLists bool        `arg:"merge_lists,kw" default:"False" doc:"append lists in the merge"`
	More       fun.Varargs
}

// ifElse picks from pairs of a target and a value; the last argument is what is taken
// where none matches. Salt: salt/modules/match.py ifelse.
func ifElse(_ context.Context, c *fun.Call, a *ifElseArgs) (fun.Result, error) {
	if len(a.More)%2 == 0 {
		return fun.Result{}, value.Raise("salt.exceptions.SaltException", "The ifelse function must have an odd number of arguments!")
	}
	last := len(a.More) - 1
	for i := 0; i < last; i += 2 {
		tgt := a.More[i]
		switch tgt {
		case true:
			tgt = "*"
		case false:
			continue
		}
		ok, _, err := match(c, tgt, a.TgtType, "", a.MinionID)
		if err != nil {
			return fun.Result{}, err
		}
		if ok {
			return merged(a.Merge, a.MergeLists, a.More[i+1])
		}
	}
	return fun.Value(value.Clone(a.More[last]))
}

// merged is what was picked with the argument merge over it.
func merged(argMerge value.Value, mergeLists bool, picked value.Value) (fun.Result, error) {
	merge := argMerge
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
	return fun.Value(value.MergeRecurse(base, over, mergeLists))
}
