package iptables

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// with calls do with the tables of the call's family. The status of the last
// program is that of the function.
func with(c *fun.Call, a *familyArg, do func(*Tables) (value.Value, error)) (fun.Result, error) {
	t, err := For(c.Env, a.Family)
	if err != nil {
		return fun.Result{}, err
	}
	v, err := do(t)
	return fun.Result{Value: v, Retcode: t.Status}, err
}

// missingText returns Salt's text for the first of some arguments that was not given; ok
// is false where all were. given are pairs of a name and a value.
func missingText(given ...string) (text string, ok bool) {
	for i := 0; i < len(given); i += 2 {
		if name := given[i]; given[i+1] == "" {
			return "Error: " + strings.ToUpper(name[:1]) + name[1:] + " needs to be specified", true
		}
	}
	return "", false
}

// orTrue is a failure's text, or true for none.
func orTrue(fault string, err error) (value.Value, error) {
	if fault == "" {
		return true, err
	}
	return fault, err
}

func showVersion(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	return with(c, a, func(t *Tables) (value.Value, error) {
		out, err := t.run(ctx, t.path, "--version")
		if err != nil {
			return nil, err
		}
		if f := strings.Fields(out.Stdout); len(f) > 1 {
			return f[1], nil
		}
		return nil, fun.Errorf("cannot read the version: %s", out.Fault())
	})
}

type buildRuleArgs struct {
	tableArg
	chainArg
	Command  string      `arg:"command" doc:"with full: option such as A, I, D or insert"`
	Position value.Value `arg:"position,str|int" default:"''" doc:"with full: number of the rule in the chain"`
	Full     value.Value `arg:"full,bool" doc:"return the whole command line, which needs table, chain and command"`
	familyArg
	Rest fun.Kwargs
}

func buildRule(ctx context.Context, c *fun.Call, a *buildRuleArgs) (fun.Result, error) {
	r := ruleOf(a)
	if !value.Truth(a.Full) {
		return fun.Value(r.Text())
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) { return t.Command(ctx, r) })
}

func getRules(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	return with(c, a, func(t *Tables) (value.Value, error) { return t.Rules(ctx) })
}

type getSavedRulesArgs struct {
	fileArg
	familyArg
}

func getSavedRules(ctx context.Context, c *fun.Call, a *getSavedRulesArgs) (fun.Result, error) {
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) { return t.SavedRules(a.ConfFile) })
}

func getPolicy(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		rules, err := t.Rules(ctx)
		if err != nil {
			return nil, err
		}
		return Policy(rules, a.Table, a.Chain), nil
	})
}

type getSavedPolicyArgs struct {
	tableArg
	chainArg
	fileArg
	familyArg
}

func getSavedPolicy(ctx context.Context, c *fun.Call, a *getSavedPolicyArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		rules, err := t.SavedRules(a.ConfFile)
		if err != nil {
			return nil, err
		}
		return Policy(rules, a.Table, a.Chain), nil
	})
}

type setPolicyArgs struct {
	tableArg
	chainArg
	Policy string `arg:"policy" doc:"ACCEPT or DROP; required"`
	familyArg
}

func setPolicy(ctx context.Context, c *fun.Call, a *setPolicyArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain, "policy", a.Policy); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		return t.SetPolicy(ctx, a.Table, a.Chain, a.Policy)
	})
}

type saveArgs struct {
	Filename string `arg:"filename,path" doc:"the file; default: the one that this system reads when it starts"`
	familyArg
}

func save(ctx context.Context, c *fun.Call, a *saveArgs) (fun.Result, error) {
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) { return t.Save(ctx, a.Filename) })
}

// checkArgs are the arguments of check and appendRule.
type checkArgs struct {
	tableArg
	chainArg
	ruleArg
	familyArg
}

func check(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain, "rule", a.Rule); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		return t.Check(ctx, a.Table, a.Chain, a.Rule)
	})
}

func checkChain(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) { return t.HasChain(ctx, a.Table, a.Chain) })
}

func newChain(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		return orTrue(t.Chain(ctx, "-N", a.Table, a.Chain))
	})
}

func deleteChain(ctx context.Context, c *fun.Call, a *chainArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		return orTrue(t.Chain(ctx, "-X", a.Table, a.Chain))
	})
}

func appendRule(ctx context.Context, c *fun.Call, a *checkArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain, "rule", a.Rule); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		return t.Append(ctx, a.Table, a.Chain, a.Rule)
	})
}

// NoPosition is the failure of an insertion that says no position.
const NoPosition = "Error: Position needs to be specified or use append (-A)"

type insertRuleArgs struct {
	tableArg
	chainArg
	Position int64 `arg:"position" doc:"number that the rule gets in the chain; a negative one counts from the end; required"`
	ruleArg
	familyArg
}

func insertRule(ctx context.Context, c *fun.Call, a *insertRuleArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	if a.Position == 0 {
		return fun.Value(NoPosition)
	}
	if text, ok := missingText("rule", a.Rule); ok {
		return fun.Value(text)
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) {
		fault, there, err := t.Insert(ctx, a.Table, a.Chain, a.Position, a.Rule)
		if there {
			return false, err
		}
		return fault, err
	})
}

type deleteRuleArgs struct {
	Table string `arg:"table,required" doc:"table that has the chain"`
	chainArg
	Position int64  `arg:"position" doc:"number of the rule in the chain, from 1"`
	Rule     string `arg:"rule" doc:"the rule, unless position is given"`
	familyArg
}

func deleteRule(ctx context.Context, c *fun.Call, a *deleteRuleArgs) (fun.Result, error) {
	if text, ok := missingText("chain", a.Chain); ok {
		return fun.Value(text)
	}
	rule, position := a.Rule, a.Position
	switch {
	case rule != "" && position != 0:
		return fun.Value("Error: Only specify a position or a rule, not both")
	case position != 0:
		rule = strconv.FormatInt(position, 10)
	case rule == "":
		return fun.Value("Error: Rule needs to be specified")
	}
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) { return t.Delete(ctx, a.Table, a.Chain, rule) })
}

type flushArgs struct {
	tableArg
	Chain string `arg:"chain" default:"" doc:"the chain; empty is all chains of the table"`
	familyArg
}

func flush(ctx context.Context, c *fun.Call, a *flushArgs) (fun.Result, error) {
	return with(c, &a.familyArg, func(t *Tables) (value.Value, error) { return t.Chain(ctx, "-F", a.Table, a.Chain) })
}
