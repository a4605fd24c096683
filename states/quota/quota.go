// Package quota is Salt's state module "quota": disk quotas.
package quota

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "quota".
func States() fun.Module {
	return fun.Module{Name: "quota", Kind: fun.State, Doc: "Manage disk quotas.", Avail: fun.Needs("quota", "quota module could not be loaded"), Specs: specs}
}

var specs = []fun.Spec{
	{
		Name: "mode", Do: mode, Src: "states/quota.py mode",
		Doc: "Turn the quotas of a file system on or off.",
	},
}

// current returns whether the quotas of the file system are "on" or "off".
func current(ctx context.Context, c *fun.Call, a *modeArgs) (string, error) {
	res, err := c.Env.Exec(ctx, "quota.get_mode", nil, c.Name)
	if err != nil {
		return "", err
	}
	m, _ := res.(*value.Map)
	if m == nil || m.Map(c.Name) == nil || !m.Map(c.Name).Has(a.Quotatype) {
		said := "no quotas are known"
		if m != nil && m.Str(c.Name) != "" && m.Map(c.Name) == nil {
			said = m.Str(c.Name)
		}
		return "", fun.Errorf("%s quota of %s: %s", a.Quotatype, c.Name, said)
	}
	return m.Map(c.Name).Str(a.Quotatype), nil
}

type modeArgs struct {
	_         fun.Arguments
	_         string `arg:"name,required,path" doc:"mount point of the file system"`
	Mode      bool   `arg:"mode,required" doc:"whether quotas are on"`
	Quotatype string `arg:"quotatype,required" doc:"user, group or project: whose quotas are looked at"`
}

// mode turns quotas on or off. Salt: salt/states/quota.py mode.
func mode(ctx context.Context, c *fun.Call, a *modeArgs) fun.Ret {
	want := "off"
	if a.Mode {
		want = "on"
	}
	now, err := current(ctx, c, a)
	switch {
	case err != nil:
		return fun.Fail("Failed to set quota for %s to %s: %v", c.Name, want, err)
	case now == want:
		return fun.Same("Quota for %s already set to %s", c.Name, want)
	case c.Test:
		return fun.Due("Quota for %s needs to be set to %s", c.Name, want)
	}
	res, err := c.Env.Exec(ctx, "quota."+want, nil, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if !value.Truth(res) {
		return fun.Fail("Failed to set quota for %s to %s", c.Name, want)
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("Set quota for %s to %s", c.Name, want), Changes: value.MapOf("quota", c.Name)}
}
