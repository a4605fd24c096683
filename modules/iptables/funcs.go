package iptables

import (
	"context"
	"strconv"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// with calls do with the tables of the call's family. The status of the last
// program is that of the function.
func with(c *fun.Call, do func(*Tables) (value.Value, error)) (fun.Result, error) {
	t, err := For(c.Env, c.Str("family"))
	if err != nil {
		return fun.Result{}, err
	}
	v, err := do(t)
	return fun.Result{Value: v, Retcode: t.Status}, err
}

// lacks returns Salt's text for the first of some arguments that was not given; ok
// is false where all were.
func lacks(c *fun.Call, names ...string) (text string, ok bool) {
	for _, name := range names {
		if !value.Truth(c.Value(name)) {
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

func showVersion(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(c, func(t *Tables) (value.Value, error) {
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

func buildRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	r := ruleOf(c)
	if !value.Truth(c.Value("full")) {
		return fun.Value(r.Text())
	}
	return with(c, func(t *Tables) (value.Value, error) { return t.Command(ctx, r) })
}

func getRules(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(c, func(t *Tables) (value.Value, error) { return t.Rules(ctx) })
}

func getSavedRules(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(c, func(t *Tables) (value.Value, error) { return t.SavedRules(c.Str("conf_file")) })
}

func getPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		rules, err := t.Rules(ctx)
		if err != nil {
			return nil, err
		}
		return Policy(rules, c.Str("table"), c.Str("chain")), nil
	})
}

func getSavedPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		rules, err := t.SavedRules(c.Str("conf_file"))
		if err != nil {
			return nil, err
		}
		return Policy(rules, c.Str("table"), c.Str("chain")), nil
	})
}

func setPolicy(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain", "policy"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		return t.SetPolicy(ctx, c.Str("table"), c.Str("chain"), c.Str("policy"))
	})
}

func save(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(c, func(t *Tables) (value.Value, error) { return t.Save(ctx, c.Str("filename")) })
}

func check(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain", "rule"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		return t.Check(ctx, c.Str("table"), c.Str("chain"), c.Str("rule"))
	})
}

func checkChain(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) { return t.HasChain(ctx, c.Str("table"), c.Str("chain")) })
}

func newChain(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		return orTrue(t.Chain(ctx, "-N", c.Str("table"), c.Str("chain")))
	})
}

func deleteChain(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		return orTrue(t.Chain(ctx, "-X", c.Str("table"), c.Str("chain")))
	})
}

func appendRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain", "rule"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		return t.Append(ctx, c.Str("table"), c.Str("chain"), c.Str("rule"))
	})
}

// NoPosition is the failure of an insertion that says no position.
const NoPosition = "Error: Position needs to be specified or use append (-A)"

func insertRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	if c.Int("position") == 0 {
		return fun.Value(NoPosition)
	}
	if text, ok := lacks(c, "rule"); ok {
		return fun.Value(text)
	}
	return with(c, func(t *Tables) (value.Value, error) {
		fault, there, err := t.Insert(ctx, c.Str("table"), c.Str("chain"), c.Int("position"), c.Str("rule"))
		if there {
			return false, err
		}
		return fault, err
	})
}

func deleteRule(ctx context.Context, c *fun.Call) (fun.Result, error) {
	if text, ok := lacks(c, "chain"); ok {
		return fun.Value(text)
	}
	rule, position := c.Str("rule"), c.Int("position")
	switch {
	case rule != "" && position != 0:
		return fun.Value("Error: Only specify a position or a rule, not both")
	case position != 0:
		rule = strconv.FormatInt(position, 10)
	case rule == "":
		return fun.Value("Error: Rule needs to be specified")
	}
	return with(c, func(t *Tables) (value.Value, error) { return t.Delete(ctx, c.Str("table"), c.Str("chain"), rule) })
}

func flush(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(c, func(t *Tables) (value.Value, error) { return t.Chain(ctx, "-F", c.Str("table"), c.Str("chain")) })
}
