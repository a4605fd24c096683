// Package match is Salt's execution module "match": does a target mean this
// machine?
package match

import (
	"context"

	"brine/internal/fun"
	"brine/internal/target"
	"brine/internal/value"
)

// Module returns the execution module "match".
func Module() fun.Module {
	return fun.Module{Name: "match", Kind: fun.Exec, Doc: "Match targets against this machine.", Specs: specs}
}

// minion is this machine as targets see it, under another id where one is
// given.
func minion(c *fun.Call) target.Minion {
	id := c.Env.ID
	if c.Declares("minion_id") && c.Str("minion_id") != "" {
		id = c.Str("minion_id")
	}
	return target.Minion{
		ID:     id,
		Grains: func() value.Mapping { return c.Env.SubjectGrains() },
		Pillar: func() value.Mapping { return c.Env.Pillar },
	}
}

// match reports whether a target means the machine of c. As in Salt, a target
// that makes no sense (known is false) means nothing; the fault is warned of.
func match(c *fun.Call, tgt value.Value, tgtType, delimiter string) (ok, known bool, err error) {
	o := target.Options{Nodegroups: c.Env.Opts.Map("nodegroups"), Delimiter: delimiter}
	m, err := o.Compile(tgt, tgtType)
	if err != nil {
		c.Env.Warn(fun.Warning{Text: err.Error()})
		return false, false, nil
	}
	for _, w := range m.Warnings() {
		c.Env.Warn(fun.Warning{Text: w})
	}
	ok, err = m.Match(minion(c))
	return ok, true, err
}

// matches returns whether the target of a call, of a type, means this machine.
func matches(c *fun.Call, tgtType string) (fun.Result, error) {
	delimiter := ""
	if c.Declares("delimiter") {
		delimiter = c.Str("delimiter")
	}
	ok, known, err := match(c, c.Value("tgt"), tgtType, delimiter)
	if err != nil {
		return fun.Result{}, err
	}
	if !known && tgtType == "ipcidr" {
		return fun.Value(value.NewList()) // as in Salt
	}
	return fun.Value(ok)
}

func compound(_ context.Context, c *fun.Call) (fun.Result, error)   { return matches(c, "compound") }
func data(_ context.Context, c *fun.Call) (fun.Result, error)       { return matches(c, "data") }
func glob(_ context.Context, c *fun.Call) (fun.Result, error)       { return matches(c, "glob") }
func grain(_ context.Context, c *fun.Call) (fun.Result, error)      { return matches(c, "grain") }
func grainPCRE(_ context.Context, c *fun.Call) (fun.Result, error)  { return matches(c, "grain_pcre") }
func list(_ context.Context, c *fun.Call) (fun.Result, error)       { return matches(c, "list") }
func pcre(_ context.Context, c *fun.Call) (fun.Result, error)       { return matches(c, "pcre") }
func pillar(_ context.Context, c *fun.Call) (fun.Result, error)     { return matches(c, "pillar") }
func pillarPCRE(_ context.Context, c *fun.Call) (fun.Result, error) { return matches(c, "pillar_pcre") }
func ipcidr(_ context.Context, c *fun.Call) (fun.Result, error)     { return matches(c, "ipcidr") }

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

// ifElse picks from pairs of a target and a value; the last argument is what is taken
// where none matches. Salt: salt/modules/match.py ifelse.
func ifElse(_ context.Context, c *fun.Call) (fun.Result, error) {
	if len(c.Pos)%2 == 0 {
		return fun.Result{}, value.Raise("salt.exceptions.SaltException", "The ifelse function must have an odd number of arguments!")
	}
	last := len(c.Pos) - 1
	for i := 0; i < last; i += 2 {
		tgt := c.Pos[i]
		switch tgt {
		case true:
			tgt = "*"
		case false:
			continue
		}
		ok, _, err := match(c, tgt, c.Str("tgt_type"), "")
		if err != nil {
			return fun.Result{}, err
		}
		if ok {
			return merged(c, c.Pos[i+1])
		}
	}
	return fun.Value(value.Clone(c.Pos[last]))
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
