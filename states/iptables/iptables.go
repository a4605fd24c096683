// Package iptables is Salt's state module "iptables": the rules of the kernel's
// packet filter.
package iptables

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/iptables"
)

// States returns the rows of the state module "iptables".
func States() fun.Module {
	return fun.Module{Name: "iptables", Kind: fun.State, Doc: "Manage the rules of iptables.", Avail: fun.Needs("iptables", "iptables module could not be loaded"), Aggregate: aggregate, Specs: specs}
}

// done is a state that changed what the name says.
func done(name, comment string) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: comment, Changes: value.MapOf("locale", name)}
}

func same(comment string) fun.Ret { return fun.Ret{Result: fun.OK, Comment: comment} }

func due(comment string) fun.Ret { return fun.Ret{Result: fun.WouldChange, Comment: comment} }

// chainPresentArgs are the arguments of chainPresent and chainAbsent.
type chainPresentArgs struct {
	_ string `arg:"name,required" doc:"the chain"`
	tableArg
	familyArg
}

// chainPresent creates a chain. Salt: salt/states/iptables.py chain_present.
func chainPresent(ctx context.Context, c *fun.Call, a *chainPresentArgs) fun.Ret {
	table, family := a.Table, a.Family
	t, err := iptables.For(c.Env, family)
	if err != nil {
		return fun.Raise(err)
	}
	there, err := t.HasChain(ctx, table, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there:
		return same(fmt.Sprintf("iptables %s chain is already exist in %s table for %s", c.Name, table, family))
	case c.Test:
		return due(fmt.Sprintf("iptables %s chain in %s table needs to be set for %s", c.Name, table, family))
	}
	fault, err := t.Chain(ctx, "-N", table, c.Name)
	if err != nil {
		fault = err.Error()
	}
	if fault != "" {
		return fun.Fail("Failed to create %s chain in %s table: %s for %s", c.Name, table, strings.TrimSpace(fault), family)
	}
	return done(c.Name, fmt.Sprintf("iptables %s chain in %s table create success for %s", c.Name, table, family))
}

// chainAbsent deletes a chain with its rules. Salt: salt/states/iptables.py chain_absent.
func chainAbsent(ctx context.Context, c *fun.Call, a *chainPresentArgs) fun.Ret {
	table, family := a.Table, a.Family
	t, err := iptables.For(c.Env, family)
	if err != nil {
		return fun.Raise(err)
	}
	there, err := t.HasChain(ctx, table, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case !there:
		return same(fmt.Sprintf("iptables %s chain is already absent in %s table for %s", c.Name, table, family))
	case c.Test:
		return due(fmt.Sprintf("iptables %s chain in %s table needs to be removed %s", c.Name, table, family))
	}
	for _, step := range []struct{ command, verb string }{{"-F", "flush"}, {"-X", "delete"}} {
		fault, err := t.Chain(ctx, step.command, table, c.Name)
		if err != nil {
			fault = err.Error()
		}
		if fault != "" {
			return fun.Fail("Failed to %s %s chain in %s table: %s for %s", step.verb, c.Name, table, strings.TrimSpace(fault), family)
		}
	}
	return done(c.Name, fmt.Sprintf("iptables %s chain in %s table delete success for %s", c.Name, table, family))
}

// A job is one rule that a state is about.
type job struct {
	name   string
	family string
	rule   iptables.Rule
	test   bool
	saves  bool
	file   string // "" is the default one
	t      *iptables.Tables
	text   string // the rule
	line   string // the command line, for comments
}

// prepare makes the texts of a job. fault is what keeps the rule from being made.
func (j *job) prepare(ctx context.Context, env *fun.Env) (fault string, err error) {
	if j.t, err = iptables.For(env, j.family); err != nil {
		return "", err
	}
	j.text = j.rule.Text()
	line, err := j.t.Command(ctx, j.rule)
	if err != nil {
		return "", err
	}
	j.line = strings.TrimSpace(line)
	if strings.HasPrefix(j.text, "Error:") {
		return j.text, nil
	}
	if strings.HasPrefix(line, "Error:") {
		return line, nil
	}
	return "", nil
}

// saveArgs reads the argument save.
func saveArgs(v value.Value) (saves bool, file string) {
	switch v := v.(type) {
	case bool:
		return v, ""
	case string:
		return v != "", v
	}
	return value.Truth(v), ""
}

// jobOf returns the rule of a call.
func jobOf(c *fun.Call, a *ruleArgs, command string, position value.Value, opts *value.Map) *job {
	j := &job{name: c.Name, family: a.Family, test: c.Test}
	j.saves, j.file = saveArgs(a.Save)
	j.rule = iptables.Rule{Table: a.Table, Chain: a.Chain, Command: command, Position: position, Options: opts}
	return j
}

// keep writes the rules to the file of a job.
func (j *job) keep(ctx context.Context) (string, error) { return j.t.Save(ctx, j.file) }

// there returns the state of a rule that the chain has: the file that it is to be
// saved to may still have other rules.
func (j *job) there(ctx context.Context, comment string) fun.Ret {
	ret := same(comment)
	if !j.saves {
		return ret
	}
	differs, err := j.t.Differs(ctx, j.file)
	if err != nil {
		return fun.Raise(err)
	}
	if !differs {
		return ret
	}
	if j.test {
		return due(comment + "\nThe rules need to be saved")
	}
	out, err := j.keep(ctx)
	if err != nil {
		return fun.Raise(err)
	}
	ret.Comment = comment + fmt.Sprintf("\nSaved iptables rule %s for %s\n%s\n%s", j.name, j.family, j.line, out)
	return ret
}

// finish reports a change and saves the rules where that is wished. done and saved
// are the beginnings of the comments.
func (j *job) finish(ctx context.Context, comment, saved string) fun.Ret {
	ret := done(j.name, comment)
	if !j.saves {
		return ret
	}
	out, err := j.keep(ctx)
	if err != nil {
		ret.Result, ret.Comment = fun.Failed, comment+"\n"+err.Error()
		return ret
	}
	ret.Comment = fmt.Sprintf("%s iptables rule %s for %s\n%s\n%s", saved, j.name, j.family, j.line, out)
	return ret
}

// failed reports that iptables refused a rule; its message goes to the log, as
// Salt's comment does not have it.
func (j *job) failed(env *fun.Env, verb, suffix string) fun.Ret {
	env.Log().Error("iptables refused a rule", "rule", j.line, "err", j.t.Stderr)
	return fun.Fail("Failed to %s iptables rule for %s.\nAttempted rule was %s%s", verb, j.name, j.line, suffix)
}

// append adds the rule to the end of its chain. Salt: salt/states/iptables.py append.
// Differences: a dry run does not save; a rule that cannot be made fails in a dry
// run as well.
func (j *job) append(ctx context.Context, env *fun.Env) fun.Ret {
	fault, err := j.prepare(ctx, env)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("Failed to set iptables rule for %s.\nAttempted rule was %s for %s", j.name, fault, j.family)
	}
	there, err := j.t.Check(ctx, j.rule.Table, j.rule.Chain, j.text)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there:
		return j.there(ctx, fmt.Sprintf("iptables rule for %s already set (%s) for %s", j.name, j.line, j.family))
	case j.test:
		return due(fmt.Sprintf("iptables rule for %s needs to be set (%s) for %s", j.name, j.line, j.family))
	}
	ok, err := j.t.Append(ctx, j.rule.Table, j.rule.Chain, j.text)
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		return j.failed(env, "set", " for "+j.family)
	}
	return j.finish(ctx, fmt.Sprintf("Set iptables rule for %s to: %s for %s", j.name, j.line, j.family), "Set and saved")
}

// insert puts the rule at its position. Salt: salt/states/iptables.py insert.
func (j *job) insert(ctx context.Context, env *fun.Env) fun.Ret {
	fault, err := j.prepare(ctx, env)
	if err != nil {
		return fun.Raise(err)
	}
	position, _ := value.AsInt(j.rule.Position)
	if fault == "" && position == 0 {
		fault = iptables.NoPosition
	}
	if fault != "" {
		return fun.Fail("Failed to set iptables rule for %s.\nAttempted rule was %s\n%s", j.name, j.line, fault)
	}
	there, err := j.t.Check(ctx, j.rule.Table, j.rule.Chain, j.text)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there:
		return j.there(ctx, fmt.Sprintf("iptables rule for %s already set for %s (%s)", j.name, j.family, j.line))
	case j.test:
		return due(fmt.Sprintf("iptables rule for %s needs to be set for %s (%s)", j.name, j.family, j.line))
	}
	fault, _, err = j.t.Insert(ctx, j.rule.Table, j.rule.Chain, position, j.text)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return j.failed(env, "set", "")
	}
	return j.finish(ctx, fmt.Sprintf("Set iptables rule for %s to: %s for %s", j.name, j.line, j.family), "Set and saved")
}

// delete removes the rule. Salt: salt/states/iptables.py delete.
func (j *job) delete(ctx context.Context, env *fun.Env) fun.Ret {
	fault, err := j.prepare(ctx, env)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("Failed to delete iptables rule for %s.\nAttempted rule was %s", j.name, fault)
	}
	rule := j.text
	if j.rule.Position != nil {
		n, _ := value.AsInt(j.rule.Position)
		rule = strconv.FormatInt(n, 10)
	} else {
		there, err := j.t.Check(ctx, j.rule.Table, j.rule.Chain, j.text)
		if err != nil {
			return fun.Raise(err)
		}
		if !there {
			return same(fmt.Sprintf("iptables rule for %s already absent for %s (%s)", j.name, j.family, j.line))
		}
	}
	if j.test {
		return due(fmt.Sprintf("iptables rule for %s needs to be deleted for %s (%s)", j.name, j.family, j.line))
	}
	fault, err = j.t.Delete(ctx, j.rule.Table, j.rule.Chain, rule)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return j.failed(env, "delete", "")
	}
	return j.finish(ctx, fmt.Sprintf("Delete iptables rule for %s %s", j.name, j.line), "Deleted and saved")
}

// ruleArgs are the arguments of a rule, beside its options.
type ruleArgs struct {
	ruleNameArg
	tableArg
	familyArg
	chainArg
	saveArg
}

type appendedArgs struct {
	ruleArgs
	Rest fun.Kwargs
}

func appended(ctx context.Context, c *fun.Call, a *appendedArgs) fun.Ret {
	return each(ctx, c, a, func(c *fun.Call, a *appendedArgs) *job {
		opts := a.Rest.Copy()
		position := opts.At("position")
		opts.Delete("position")
		return jobOf(c, &a.ruleArgs, "A", position, opts)
	}, (*job).append)
}

type insertedArgs struct {
	ruleArgs
	Position value.Value `arg:"position,kw,int" doc:"number that the rule gets in the chain; a negative one counts from the end; needed"`
	Rest     fun.Kwargs
}

func inserted(ctx context.Context, c *fun.Call, a *insertedArgs) fun.Ret {
	return each(ctx, c, a, func(c *fun.Call, a *insertedArgs) *job {
		return jobOf(c, &a.ruleArgs, "I", a.Position, a.Rest.Copy())
	}, (*job).insert)
}

type deletedArgs struct {
	ruleArgs
	Position value.Value `arg:"position,kw,int" doc:"number of the rule in the chain, instead of its options"`
	Rest     fun.Kwargs
}

func deleted(ctx context.Context, c *fun.Call, a *deletedArgs) fun.Ret {
	return each(ctx, c, a, func(c *fun.Call, a *deletedArgs) *job {
		return jobOf(c, &a.ruleArgs, "D", a.Position, a.Rest.Copy())
	}, (*job).delete)
}

type policySetArgs struct {
	ruleNameArg
	tableArg
	familyArg
	chainArg
	Policy string `arg:"policy,required,kw" doc:"ACCEPT or DROP"`
	saveArg
	_ fun.Kwargs
}

// policySet sets the policy of a chain. Salt: salt/states/iptables.py set_policy.
func policySet(ctx context.Context, c *fun.Call, a *policySetArgs) fun.Ret {
	table, chain, policy, family := a.Table, a.Chain, a.Policy, a.Family
	t, err := iptables.For(c.Env, family)
	if err != nil {
		return fun.Raise(err)
	}
	rules, err := t.Rules(ctx)
	switch {
	case err != nil:
		return fun.Raise(err)
	case iptables.Policy(rules, table, chain) == policy:
		return same(fmt.Sprintf("iptables default policy for chain %s on table %s for %s already set to %s", chain, table, family, policy))
	case c.Test:
		return due(fmt.Sprintf("iptables default policy for chain %s on table %s for %s needs to be set to %s", chain, table, family, policy))
	}
	fault, err := t.SetPolicy(ctx, table, chain, policy)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		c.Env.Log().Error("iptables refused a policy", "chain", chain, "policy", policy, "err", fault)
		return fun.Fail("Failed to set iptables default policy")
	}
	ret := done(c.Name, fmt.Sprintf("Set default policy for %s to %s family %s", chain, policy, family))
	if saves, file := saveArgs(a.Save); saves {
		if _, err := t.Save(ctx, file); err != nil {
			ret.Result, ret.Comment = fun.Failed, ret.Comment.(string)+"\n"+err.Error()
			return ret
		}
		ret.Comment = fmt.Sprintf("Set and saved default policy for %s to %s family %s", chain, policy, family)
	}
	return ret
}

type flushedArgs struct {
	ruleNameArg
	tableArg
	familyArg
	Chain string `arg:"chain,kw" default:"" doc:"the chain; empty is all chains of the table"`
	_     fun.Kwargs
}

// flushed deletes all rules of a chain or table. Salt: salt/states/iptables.py flush.
func flushed(ctx context.Context, c *fun.Call, a *flushedArgs) fun.Ret {
	table, chain, family := a.Table, a.Chain, a.Family
	if c.Test {
		return due(fmt.Sprintf("iptables rules in %s table %s chain %s family needs to be flushed", c.Name, table, family))
	}
	t, err := iptables.For(c.Env, family)
	if err != nil {
		return fun.Raise(err)
	}
	fault, err := t.Chain(ctx, "-F", table, chain)
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		c.Env.Log().Error("iptables cannot flush", "table", table, "chain", chain, "err", fault)
		return fun.Fail("Failed to flush iptables rules")
	}
	return done(c.Name, fmt.Sprintf("Flush iptables rules in %s table %s chain %s family", table, chain, family))
}
