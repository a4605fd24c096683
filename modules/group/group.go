// Package group is Salt's execution module "group": groups, read and changed.
package group

import (
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Module returns the execution module "group".
func Module() fun.Module {
	return fun.Module{Name: "group", Kind: fun.Exec, Doc: "Read and manage groups.", Specs: specs}
}

// Info returns what group.info does.
func Info(g host.Group) *value.Map {
	return value.MapOf("name", g.Name, "passwd", g.Passwd, "gid", int64(g.GID), "members", value.Strings(g.Members...))
}

func all(c *fun.Call, a *rootArg) ([]host.Group, error) {
	root := a.Root
	if root == "" {
		return c.Env.Host.Groups()
	}
	text, err := c.Env.Host.ReadFile(strings.TrimRight(root, "/") + "/etc/group")
	return host.ParseGroup(string(text)), err
}

func info(_ context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	name := a.Name
	if a.Root == "" {
		g, err := c.Env.Host.LookupGroup(name)
		if errors.Is(err, host.ErrNoAccount) {
			return fun.Value(value.NewMap(0))
		}
		if err != nil {
			return fun.Result{}, err
		}
		return fun.Value(Info(g))
	}
	gs, err := all(c, &a.rootArg)
	if err != nil {
		return fun.Result{}, err
	}
	if i := slices.IndexFunc(gs, func(g host.Group) bool { return g.Name == name }); i >= 0 {
		return fun.Value(Info(gs[i]))
	}
	return fun.Value(value.NewMap(0))
}

type getentArgs struct {
	_ bool `arg:"refresh" default:"False" doc:"accepted; groups are read each time"`
	rootArg
}

func getent(_ context.Context, c *fun.Call, a *getentArgs) (fun.Result, error) {
	gs, err := all(c, &a.rootArg)
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, g := range gs {
		l.Append(Info(g))
	}
	return fun.Value(l)
}
