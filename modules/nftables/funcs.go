package nftables

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// answer returns what do says about the rules of the call's family. The status of the
// last nft is that of the function.
func answer(c *fun.Call, args *familyArg, do func(*Ruleset) (Answer, error)) (fun.Result, error) {
	r := For(c.Env, args.Family)
	a, err := do(r)
	return fun.Result{Value: a.value(), Retcode: r.Status}, err
}

func showVersion(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "nft", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	if f := strings.Fields(out.Stdout); len(f) > 1 {
		return fun.Value(f[1])
	}
	return fun.Result{}, fun.Errorf("cannot read the version: %s", out.Fault())
}

type buildRuleArgs struct {
	Table    string `arg:"table" doc:"with full: the table"`
	Chain    string `arg:"chain" doc:"with full: the chain"`
	Command  string `arg:"command" doc:"with full: insert, add or delete"`
	Position string `arg:"position,str|int" default:"''" doc:"with full and insert: handle of the rule in front of which it goes"`
	Full     bool   `arg:"full" doc:"return the whole command line, which needs table, chain and command"`
	familyArg
	RuleArgs
	_ fun.Kwargs
}

func buildRule(_ context.Context, c *fun.Call, a *buildRuleArgs) (fun.Result, error) {
	rule := a.Rule()
	ret := func(comment, rule string, ok bool) (fun.Result, error) {
		return fun.Value(value.MapOf("comment", comment, "rule", rule, "result", ok))
	}
	if a.Full {
		table, chain, command := a.Table, a.Chain, a.Command
		switch {
		case table == "":
			return ret("Table needs to be specified", rule, false)
		case chain == "":
			return ret("Chain needs to be specified", rule, false)
		case command == "":
			return ret("Command needs to be specified", rule, false)
		}
		at := " rule " + nftFamily(a.Family) + " " + table + " " + chain + " "
		if strings.EqualFold(command, "insert") {
			command = "insert"
			if p := a.Position; p != "" && p != "0" {
				at += "position " + p + " "
			}
		}
		rule = "nft " + command + at + rule
	}
	comment := ""
	if rule != "" {
		comment = "Successfully built rule"
	}
	return ret(comment, rule, true)
}

type getSavedRulesArgs struct {
	_        fun.Arguments
	ConfFile string `arg:"conf_file,path" doc:"the file; default: /etc/nftables"`
}

func getSavedRules(_ context.Context, c *fun.Call, a *getSavedRulesArgs) (fun.Result, error) {
	name := a.ConfFile
	if name == "" {
		name = file(c.Env)
	}
	b, err := c.Env.Host.ReadFile(name)
	if err != nil {
		return fun.Result{}, fun.Errorf("Could not read from file: %s", name)
	}
	out := value.NewList()
	for _, l := range value.SplitLines(value.DecodeReplace(b), true) {
		if t := strings.TrimSpace(l); t != "" && t[0] != '#' {
			out.Append(l)
		}
	}
	return fun.Value(out)
}

func listTables(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	tables, err := For(c.Env, a.Family).Tables(ctx)
	out := value.NewList()
	for _, t := range tables {
		out.Append(t)
	}
	return fun.Result{Value: out}, err
}

func getRules(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	rules, err := For(c.Env, a.Family).Rules(ctx)
	return fun.Result{Value: value.Strings(rules...)}, err
}

func getRulesJSON(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	items, err := For(c.Env, a.Family).items(ctx, "list ruleset")
	return fun.Result{Value: value.NewList(items...)}, err
}

type saveArgs struct {
	Filename string `arg:"filename,path" doc:"the file, or a directory, which gets a file salt-all-in-one.nft; default: /etc/nftables"`
	familyArg
}

func save(ctx context.Context, c *fun.Call, a *saveArgs) (fun.Result, error) {
	text, err := Save(ctx, c.Env, a.Filename)
	return fun.Result{Value: text}, err
}

func getRuleHandle(ctx context.Context, c *fun.Call, args *ruleArgs) (fun.Result, error) {
	r := For(c.Env, args.Family)
	a, handle, err := r.check(ctx, args.Table, args.Chain, args.Rule)
	if err != nil || !a.OK {
		return fun.Result{Value: a.value(), Retcode: r.Status}, err
	}
	return fun.Value(value.MapOf("result", true, "handle", handle))
}

func check(ctx context.Context, c *fun.Call, a *ruleArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) {
		return r.Check(ctx, a.Table, a.Chain, a.Rule)
	})
}

func checkChain(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) { return r.HasChain(ctx, a.Table, a.Chain) })
}

type checkTableArgs struct {
	Table string `arg:"table" doc:"the table; needed"`
	familyArg
}

func checkTable(ctx context.Context, c *fun.Call, a *checkTableArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) { return r.HasTable(ctx, a.Table) })
}

// newTableArgs are the arguments of newTable and deleteTable.
type newTableArgs struct {
	mustTable
	familyArg
}

func newTable(ctx context.Context, c *fun.Call, a *newTableArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) { return r.NewTable(ctx, a.Table) })
}

func deleteTable(ctx context.Context, c *fun.Call, a *newTableArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) { return r.DeleteTable(ctx, a.Table) })
}

type newChainArgs struct {
	tableArg
	chainArg
	TableType string `arg:"table_type" doc:"type of a base chain: filter, nat or route"`
	Hook      string `arg:"hook" doc:"hook of a base chain, such as input"`
	Priority  string `arg:"priority" doc:"priority of a base chain, such as 0"`
	familyArg
}

func newChain(ctx context.Context, c *fun.Call, a *newChainArgs) (fun.Result, error) {
	hook := Hook{a.TableType, a.Hook, a.Priority}
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) {
		return r.NewChain(ctx, a.Table, a.Chain, hook)
	})
}

func deleteChain(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) { return r.DeleteChain(ctx, a.Table, a.Chain) })
}

func appendRule(ctx context.Context, c *fun.Call, a *ruleArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) {
		return r.Add(ctx, "add", a.Table, a.Chain, 0, a.Rule)
	})
}

type insertRuleArgs struct {
	tableArg
	chainArg
	Position int64 `arg:"position" doc:"handle of the rule in front of which it goes; default: the first place"`
	ruleArg
	familyArg
}

func insertRule(ctx context.Context, c *fun.Call, a *insertRuleArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) {
		return r.Add(ctx, "insert", a.Table, a.Chain, a.Position, a.Rule)
	})
}

type deleteRuleArgs struct {
	mustTable
	chainArg
	Position int64  `arg:"position" doc:"handle of a rule"`
	Rule     string `arg:"rule" doc:"the rule, unless position is given"`
	familyArg
}

func deleteRule(ctx context.Context, c *fun.Call, a *deleteRuleArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) {
		return r.Delete(ctx, a.Table, a.Chain, a.Position, a.Rule)
	})
}

type flushArgs struct {
	tableArg
	Chain string `arg:"chain" default:"" doc:"the chain; empty is all chains of the table"`
	familyArg
}

func flush(ctx context.Context, c *fun.Call, a *flushArgs) (fun.Result, error) {
	return answer(c, &a.familyArg, func(r *Ruleset) (Answer, error) { return r.Flush(ctx, a.Table, a.Chain) })
}

func getPolicy(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	if a.Chain == "" {
		return fun.Value("Error: Chain needs to be specified")
	}
	policy, err := For(c.Env, a.Family).Policy(ctx, a.Table, a.Chain)
	if policy == "" {
		return fun.Result{}, err
	}
	return fun.Result{Value: policy}, err
}

type setPolicyArgs struct {
	tableArg
	chainArg
	Policy string `arg:"policy" doc:"accept or drop; needed"`
	familyArg
}

func setPolicy(ctx context.Context, c *fun.Call, a *setPolicyArgs) (fun.Result, error) {
	switch {
	case a.Chain == "":
		return fun.Value("Error: Chain needs to be specified")
	case a.Policy == "":
		return fun.Value("Error: Policy needs to be specified")
	}
	r := For(c.Env, a.Family)
	ok, err := r.SetPolicy(ctx, a.Table, a.Chain, a.Policy)
	return fun.Result{Value: ok, Retcode: r.Status}, err
}
