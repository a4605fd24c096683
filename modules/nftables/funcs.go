package nftables

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/tool"
)

// answer returns what do says about the rules of the call's family. The status of the
// last nft is that of the function.
func answer(c *fun.Call, do func(*Ruleset) (Answer, error)) (fun.Result, error) {
	r := For(c.Env, c.Str("family"))
	a, err := do(r)
	return fun.Result{Value: a.value(), Retcode: r.Status}, err
}

func showVersion(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, "nft", "--version")
	if err != nil {
		return fun.Result{}, err
	}
	if f := strings.Fields(out.Stdout); len(f) > 1 {
		return fun.Value(f[1])
	}
	return fun.Result{}, fun.Errorf("cannot read the version: %s", out.Fault())
}

func buildRule(_ context.Context, c *fun.Call) (fun.Result, error) {
	rule := RuleOf(c)
	ret := func(comment, rule string, ok bool) (fun.Result, error) {
		return fun.Value(value.MapOf("comment", comment, "rule", rule, "result", ok))
	}
	if c.Bool("full") {
		table, chain, command := c.Str("table"), c.Str("chain"), c.Str("command")
		switch {
		case table == "":
			return ret("Table needs to be specified", rule, false)
		case chain == "":
			return ret("Chain needs to be specified", rule, false)
		case command == "":
			return ret("Command needs to be specified", rule, false)
		}
		at := " rule " + nftFamily(c.Str("family")) + " " + table + " " + chain + " "
		if strings.EqualFold(command, "insert") {
			command = "insert"
			if p := c.Str("position"); p != "" && p != "0" {
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

func getSavedRules(_ context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("conf_file")
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

func listTables(ctx context.Context, c *fun.Call) (fun.Result, error) {
	tables, err := For(c.Env, c.Str("family")).Tables(ctx)
	out := value.NewList()
	for _, t := range tables {
		out.Append(t)
	}
	return fun.Result{Value: out}, err
}

func getRules(ctx context.Context, c *fun.Call) (fun.Result, error) {
	rules, err := For(c.Env, c.Str("family")).Rules(ctx)
	return fun.Result{Value: value.Strings(rules...)}, err
}

func getRulesJSON(ctx context.Context, c *fun.Call) (fun.Result, error) {
	items, err := For(c.Env, c.Str("family")).items(ctx, "list ruleset")
	return fun.Result{Value: value.NewList(items...)}, err
}

func save(ctx context.Context, c *fun.Call) (fun.Result, error) {
	text, err := Save(ctx, c.Env, c.Str("filename"))
	return fun.Result{Value: text}, err
}

func getRuleHandle(ctx context.Context, c *fun.Call) (fun.Result, error) {
	r := For(c.Env, c.Str("family"))
	a, handle, err := r.check(ctx, c.Str("table"), c.Str("chain"), c.Str("rule"))
	if err != nil || !a.OK {
		return fun.Result{Value: a.value(), Retcode: r.Status}, err
	}
	return fun.Value(value.MapOf("result", true, "handle", handle))
}

func check(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) {
		return r.Check(ctx, c.Str("table"), c.Str("chain"), c.Str("rule"))
	})
}

func checkChain(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) { return r.HasChain(ctx, c.Str("table"), c.Str("chain")) })
}

func checkTable(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) { return r.HasTable(ctx, c.Str("table")) })
}

func newTable(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) { return r.NewTable(ctx, c.Str("table")) })
}

func deleteTable(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) { return r.DeleteTable(ctx, c.Str("table")) })
}

func newChain(ctx context.Context, c *fun.Call) (fun.Result, error) {
	hook := Hook{c.Str("table_type"), c.Str("hook"), c.Str("priority")}
	return answer(c, func(r *Ruleset) (Answer, error) {
		return r.NewChain(ctx, c.Str("table"), c.Str("chain"), hook)
	})
}

func deleteChain(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) { return r.DeleteChain(ctx, c.Str("table"), c.Str("chain")) })
}

func appendRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) {
		return r.Add(ctx, "add", c.Str("table"), c.Str("chain"), 0, c.Str("rule"))
	})
}

func insertRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) {
		return r.Add(ctx, "insert", c.Str("table"), c.Str("chain"), c.Int("position"), c.Str("rule"))
	})
}

func deleteRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) {
		return r.Delete(ctx, c.Str("table"), c.Str("chain"), c.Int("position"), c.Str("rule"))
	})
}

func flush(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return answer(c, func(r *Ruleset) (Answer, error) { return r.Flush(ctx, c.Str("table"), c.Str("chain")) })
}

func getPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("chain") == "" {
		return fun.Value("Error: Chain needs to be specified")
	}
	policy, err := For(c.Env, c.Str("family")).Policy(ctx, c.Str("table"), c.Str("chain"))
	if policy == "" {
		return fun.Result{}, err
	}
	return fun.Result{Value: policy}, err
}

func setPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	switch {
	case c.Str("chain") == "":
		return fun.Value("Error: Chain needs to be specified")
	case c.Str("policy") == "":
		return fun.Value("Error: Policy needs to be specified")
	}
	r := For(c.Env, c.Str("family"))
	ok, err := r.SetPolicy(ctx, c.Str("table"), c.Str("chain"), c.Str("policy"))
	return fun.Result{Value: ok, Retcode: r.Status}, err
}
