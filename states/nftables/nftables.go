// Package nftables is Salt's state module "nftables": the rules of the kernel's
// packet filter.
package nftables

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/netfilter"
	"brine/modules/nftables"
)

// States returns the rows of the state module "nftables".
func States() fun.Module {
	return fun.Module{Name: "nftables", Kind: fun.State, Doc: "Manage the rules of nftables.", Avail: fun.Needs("nftables", "nftables module could not be loaded"), Specs: specs}
}

// done is a state that changed what the name says.
func done(c *fun.Call, format string, args ...any) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf(format, args...), Changes: value.MapOf("locale", c.Name)}
}

// leaves has an overlay have what a state leaves.
func leaves(ctx context.Context, c *fun.Call, o *host.Overlay) error {
	if err := netfilter.Begin(ctx, o); err != nil {
		return err
	}
	if c.Low != nil && value.Truth(c.Low.Low.At("position")) && !netfilter.Numbered(o) {
		return fun.Errorf("%s", otherNumbers)
	}
	return netfilter.Leaves(ctx, c, o, "nft")
}

const otherNumbers = "the numbers of rules in a plan are not those of the machine"

// plain has a plan not rely on a state that names a rule by a number which is another one
// there.
func plain(c *fun.Call, position int64, ret fun.Ret) fun.Ret {
	if c.Test && position != 0 && !netfilter.Numbered(c.Env.Host) {
		return ret.Planned(fun.PlanUnsure, otherNumbers)
	}
	return ret
}

type chainPresentArgs struct {
	chainName
	tableArg
	TableType string `arg:"table_type" doc:"type of a base chain: filter, nat or route"`
	Hook      string `arg:"hook" doc:"hook of a base chain, such as input"`
	Priority  string `arg:"priority" doc:"priority of a base chain, such as 0"`
	familyArg
}

// chainPresent creates a chain. Salt: salt/states/nftables.py chain_present.
func chainPresent(ctx context.Context, c *fun.Call, a *chainPresentArgs) fun.Ret {
	table, family := a.Table, a.Family
	r := nftables.For(c.Env, family)
	there, err := r.HasChain(ctx, table, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.OK:
		return fun.Same("nftables %s chain is already exist in %s table for %s", c.Name, table, family)
	case c.Test:
		return fun.Due("nftables chain %s would be created in table %s for family %s", c.Name, table, family)
	}
	made, err := r.NewChain(ctx, table, c.Name, nftables.Hook{Type: a.TableType, Hook: a.Hook, Priority: a.Priority})
	if err != nil {
		return fun.Raise(err)
	}
	if !made.OK {
		return fun.Fail("Failed to create %s chain in %s table: %s for %s", c.Name, table, strings.TrimSpace(made.Comment), family)
	}
	return done(c, "nftables %s chain in %s table create success for %s", c.Name, table, family)
}

type chainAbsentArgs struct {
	chainName
	tableArg
	familyArg
}

// chainAbsent deletes a chain with its rules. Salt: salt/states/nftables.py
// chain_absent. Differences: a chain that is absent is not a failure, and a dry run
// does not act.
func chainAbsent(ctx context.Context, c *fun.Call, args *chainAbsentArgs) fun.Ret {
	table, family := args.Table, args.Family
	r := nftables.For(c.Env, family)
	there, err := r.HasChain(ctx, table, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case !there.OK:
		return fun.Same("nftables %s chain is already absent in %s table for %s", c.Name, table, family)
	case c.Test:
		return fun.Due("nftables chain %s would be deleted from table %s for family %s", c.Name, table, family)
	}
	a, err := r.Flush(ctx, table, c.Name)
	verb := "flush"
	if err == nil && a.OK {
		a, err = r.DeleteChain(ctx, table, c.Name)
		verb = "delete"
	}
	if err != nil {
		return fun.Raise(err)
	}
	if !a.OK {
		return fun.Fail("Failed to %s %s chain in %s table: %s for %s", verb, c.Name, table, strings.TrimSpace(a.Comment), family)
	}
	return done(c, "nftables %s chain in %s table delete success for %s", c.Name, table, family)
}

// A job is the rule that a state is about.
type job struct {
	table, chain, family, rule string
	r                          *nftables.Ruleset
}

func jobOf(c *fun.Call, a *nftables.RuleArgs, argChain string, argFamily string, argTable string) job {
	family := argFamily
	return job{table: argTable, chain: argChain, family: family, rule: a.Rule(), r: nftables.For(c.Env, family)}
}

// save writes the rules to a file, "" is the default one, where that is wished, and
// replaces the comment.
func save(ctx context.Context, c *fun.Call, a *saveArg, file string, ret fun.Ret, comment string) fun.Ret {
	if !a.Save {
		return ret
	}
	if _, err := nftables.Save(ctx, c.Env, file); err != nil {
		ret.Result, ret.Comment = fun.Failed, value.Str(ret.Comment)+"\n"+err.Error()
		return ret
	}
	ret.Comment = comment
	return ret
}

type appendedArgs struct {
	ruleNameArg
	familyArg
	inTable
	chainArg
	saveArg
	nftables.RuleArgs
	_ fun.Kwargs
}

// appended adds a rule to the end of its chain. Salt: salt/states/nftables.py append.
// Difference: a rule that the kernel shows in other words is there.
func appended(ctx context.Context, c *fun.Call, args *appendedArgs) fun.Ret {
	j := jobOf(c, &args.RuleArgs, args.Chain, args.Family, args.Table)
	there, err := j.r.Check(ctx, j.table, j.chain, j.rule)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.OK:
		return fun.Same("nftables rule for %s already set (%s) for %s", c.Name, j.rule, j.family)
	case c.Test:
		return fun.Due("nftables rule for %s needs to be set (%s) for %s", c.Name, j.rule, j.family)
	}
	a, err := j.r.Add(ctx, "add", j.table, j.chain, 0, j.rule)
	if err != nil {
		return fun.Raise(err)
	}
	if !a.OK {
		return fun.Fail("Failed to set nftables rule for %s.\nAttempted rule was %s for %s.\n%s", c.Name, j.rule, j.family, a.Comment)
	}
	ret := done(c, "Set nftables rule for %s to: %s for %s", c.Name, j.rule, j.family)
	return save(ctx, c, &args.saveArg, "", ret, fmt.Sprintf("Set and Saved nftables rule for %s to: %s for %s", c.Name, j.rule, j.family))
}

type insertedArgs struct {
	ruleNameArg
	familyArg
	inTable
	chainArg
	saveArg
	Position int64 `arg:"position,kw" doc:"handle of the rule in front of which it goes; default: the first place"`
	nftables.RuleArgs
	_ fun.Kwargs
}

// inserted puts a rule in front of others. Salt: salt/states/nftables.py insert.
// Difference: position may be left out.
func inserted(ctx context.Context, c *fun.Call, args *insertedArgs) fun.Ret {
	return plain(c, args.Position, insert(ctx, c, args))
}

func insert(ctx context.Context, c *fun.Call, args *insertedArgs) fun.Ret {
	j := jobOf(c, &args.RuleArgs, args.Chain, args.Family, args.Table)
	there, err := j.r.Check(ctx, j.table, j.chain, j.rule)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.OK:
		return fun.Same("nftables rule for %s already set for %s (%s)", c.Name, j.family, j.rule)
	case c.Test:
		return fun.Due("nftables rule for %s needs to be set for %s (%s)", c.Name, j.family, j.rule)
	}
	a, err := j.r.Add(ctx, "insert", j.table, j.chain, args.Position, j.rule)
	if err != nil {
		return fun.Raise(err)
	}
	if !a.OK {
		return fun.Fail("Failed to set nftables rule for %s.\nAttempted rule was %s", c.Name, j.rule)
	}
	ret := done(c, "Set nftables rule for %s to: %s for %s", c.Name, j.rule, j.family)
	return save(ctx, c, &args.saveArg, "", ret, fmt.Sprintf("Set and Saved nftables rule for %s to: %s for %s", c.Name, j.rule, j.family))
}

type deletedArgs struct {
	ruleNameArg
	familyArg
	inTable
	chainArg
	saveArg
	Position int64 `arg:"position,kw" doc:"handle of a rule"`
	nftables.RuleArgs
	_ fun.Kwargs
}

// deleted removes a rule. Salt: salt/states/nftables.py delete.
func deleted(ctx context.Context, c *fun.Call, args *deletedArgs) fun.Ret {
	return plain(c, args.Position, remove(ctx, c, args))
}

func remove(ctx context.Context, c *fun.Call, args *deletedArgs) fun.Ret {
	j := jobOf(c, &args.RuleArgs, args.Chain, args.Family, args.Table)
	position, rule := args.Position, j.rule
	var there bool
	var err error
	if position != 0 {
		rule = ""
		there, err = j.r.HasHandle(ctx, j.table, j.chain, position)
	} else {
		var a nftables.Answer
		a, err = j.r.Check(ctx, j.table, j.chain, rule)
		there = a.OK
	}
	switch {
	case err != nil:
		return fun.Raise(err)
	case !there:
		return fun.Same("nftables rule for %s already absent for %s (%s)", c.Name, j.family, j.rule)
	case c.Test:
		return fun.Due("nftables rule for %s needs to be deleted for %s (%s)", c.Name, j.family, j.rule)
	}
	a, err := j.r.Delete(ctx, j.table, j.chain, position, rule)
	if err != nil {
		return fun.Raise(err)
	}
	if !a.OK {
		return fun.Fail("Failed to delete nftables rule for %s.\nAttempted rule was %s", c.Name, j.rule)
	}
	ret := done(c, "Delete nftables rule for %s %s", c.Name, j.rule)
	return save(ctx, c, &args.saveArg, "", ret, fmt.Sprintf("Deleted and Saved nftables rule for %s for %s%s", c.Name, j.rule, j.family))
}

type flushedArgs struct {
	ruleNameArg
	familyArg
	IgnoreAbsence bool   `arg:"ignore_absence" default:"False" doc:"succeed if the table or chain does not exist"`
	Table         string `arg:"table,kw" default:"filter" doc:"the table"`
	Chain         string `arg:"chain,kw" default:"" doc:"the chain; empty is all chains of the table"`
	_             fun.Kwargs
}

// flushed deletes all rules of a chain or table. Salt: salt/states/nftables.py flush.
func flushed(ctx context.Context, c *fun.Call, args *flushedArgs) fun.Ret {
	if c.Test {
		return fun.Due("nftables flush not performed in test mode.")
	}
	table, chain, family := args.Table, args.Chain, args.Family
	r := nftables.For(c.Env, family)
	there, err := r.HasTable(ctx, table)
	if err != nil {
		return fun.Raise(err)
	}
	absent := fmt.Sprintf("Failed to flush table %s in family %s, table does not exist.", table, family)
	if there.OK && chain != "" {
		if there, err = r.HasChain(ctx, table, chain); err != nil {
			return fun.Raise(err)
		}
		absent = fmt.Sprintf("Failed to flush chain %s in table %s in family %s, chain does not exist.", chain, table, family)
	}
	if there.OK {
		a, err := r.Flush(ctx, table, chain)
		if err != nil {
			return fun.Raise(err)
		}
		if !a.OK {
			return fun.Fail("Failed to flush nftables rules")
		}
	} else if !args.IgnoreAbsence {
		return fun.Fail("%s", absent)
	}
	ret := done(c, "Flush nftables rules in %s table %s chain %s family", table, chain, family)
	if !there.OK {
		ret.Changes = nil
	}
	return ret
}

type policySetArgs struct {
	ruleNameArg
	tableArg
	familyArg
	chainArg
	Policy string `arg:"policy,required,kw" doc:"accept or drop"`
	saveArg
	SaveFilename string `arg:"save_filename,kw,path" doc:"with save: file, or directory, which gets a file salt-all-in-one.nft"`
	_            fun.Kwargs
}

// policySet sets the policy of a chain. Salt: salt/states/nftables.py set_policy.
func policySet(ctx context.Context, c *fun.Call, a *policySetArgs) fun.Ret {
	table, chain, policy, family := a.Table, a.Chain, a.Policy, a.Family
	r := nftables.For(c.Env, family)
	have, err := r.Policy(ctx, table, chain)
	switch {
	case err != nil:
		return fun.Raise(err)
	case strings.EqualFold(have, policy):
		return fun.Same("nftables default policy for chain %s on table %s for %s already set to %s", chain, table, family, policy)
	case c.Test:
		return fun.Due("nftables default policy for chain %s on table %s for %s needs to be set to %s", chain, table, family, policy)
	}
	ok, err := r.SetPolicy(ctx, table, chain, strings.ToLower(policy))
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		return fun.Fail("Failed to set nftables default policy")
	}
	ret := done(c, "Set default policy for %s to %s family %s", chain, policy, family)
	return save(ctx, c, &a.saveArg, a.SaveFilename, ret, fmt.Sprintf("Set and saved default policy for %s to %s family %s", chain, policy, family))
}

// tablePresentArgs are the arguments of tablePresent and tableAbsent.
type tablePresentArgs struct {
	tableName
	familyArg
	_ fun.Kwargs
}

// tablePresent creates a table. Salt: salt/states/nftables.py table_present.
func tablePresent(ctx context.Context, c *fun.Call, a *tablePresentArgs) fun.Ret {
	family := a.Family
	r := nftables.For(c.Env, family)
	there, err := r.HasTable(ctx, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case there.OK:
		return fun.Same("nftables table %s already exists in family %s", c.Name, family)
	case c.Test:
		return fun.Due("nftables table %s would be created in family %s", c.Name, family)
	}
	made, err := r.NewTable(ctx, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if !made.OK {
		return fun.Fail("Failed to create table %s for family %s", c.Name, family)
	}
	return done(c, "nftables table %s successfully created in family %s", c.Name, family)
}

// tableAbsent deletes a table. Salt: salt/states/nftables.py table_absent.
func tableAbsent(ctx context.Context, c *fun.Call, a *tablePresentArgs) fun.Ret {
	family := a.Family
	r := nftables.For(c.Env, family)
	there, err := r.HasTable(ctx, c.Name)
	switch {
	case err != nil:
		return fun.Raise(err)
	case !there.OK:
		return fun.Same("nftables table %s is already absent from family %s", c.Name, family)
	case c.Test:
		return fun.Due("nftables table %s would be deleted from family %s", c.Name, family)
	}
	gone, err := r.DeleteTable(ctx, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if !gone.OK {
		return fun.Fail("Failed to delete table %s from family %s", c.Name, family)
	}
	return done(c, "nftables table %s successfully deleted from family %s", c.Name, family)
}
