//go:build !slim

// Package vault is Salt's state module "vault": policies of HashiCorp Vault.
package vault

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/difflib"
	"brine/internal/py/value"
	vaultmod "brine/modules/vault"
)

// States returns the rows of the state module "vault".
func States() fun.Module {
	return fun.Module{Name: "vault", Kind: fun.State, Doc: "Manage policies of HashiCorp Vault.", Specs: []fun.Spec{
		{Name: "policy_present", Doc: "Create or change a policy.", Src: "states/vault.py policy_present", Do: policyPresent},
	}}
}

type policyArgs struct {
	_     fun.Arguments
	_     string `arg:"name,required" doc:"name of the policy"`
	Rules string `arg:"rules,required" doc:"its rules, as HCL or JSON"`
}

func policyPresent(ctx context.Context, c *fun.Call, a *policyArgs) fun.Ret {
	p, err := vaultmod.OpenPolicy(ctx, c, c.Name)
	if err != nil {
		return fun.Fail("Failed to get policy: %v", err)
	}
	changes := value.MapOf(c.Name, value.MapOf("old", nil, "new", a.Rules))
	verb, would, was := "create", "created", "created"
	if p.Exists {
		if p.Rules == a.Rules {
			return fun.Ret{Result: fun.OK, Comment: "Policy exists, and has the correct content"}
		}
		diff := difflib.Unified(difflib.SplitLines(p.Rules), difflib.SplitLines(a.Rules), "", "", "\n")
		changes = value.MapOf(c.Name, value.MapOf("change", strings.Join(diff, "")))
		verb, would, was = "change", "changed", "updated"
	} else if c.Test {
		changes = value.MapOf(c.Name, value.MapOf("old", "", "new", a.Rules))
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Policy would be " + would, Changes: changes}
	}
	if err := p.Write(ctx, a.Rules); err != nil {
		return fun.Fail("Failed to %s policy: %v", verb, err)
	}
	return fun.Ret{Result: fun.OK, Comment: "Policy was " + was, Changes: changes}
}
