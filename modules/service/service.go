// Package service is what the providers of the execution module "service" share:
// running their tools, and the forms that Salt's functions have in all of them.
//
// The providers are the packages modules/systemd, modules/openrc, modules/sysv
// and modules/runit; the states are in states/service.
package service

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// NameArg is the argument for the service.
type NameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the service"`
}

// SigArg is the argument for the process of a service.
type SigArg struct {
	_   fun.Arguments
	Sig string `arg:"sig" doc:"regular expression that finds the service's process in ps"`
}

// Check refuses a name that a tool without "--" would take for an option or that
// names a file elsewhere.
func Check(name string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "/\x00") {
		return fun.Errorf("'%s' is not the name of a service", name)
	}
	return nil
}

// StatusArgs are the arguments of the function "status".
type StatusArgs struct {
	NameArg
	SigArg
}

// HasGlob reports whether Salt's status takes name for a pattern.
func HasGlob(name string) bool {
	if strings.ContainsAny(name, "*?") {
		return true
	}
	open := strings.IndexByte(name, '[')
	return open >= 0 && strings.LastIndexByte(name, ']') > open+1
}

// A Lister returns the names of all services, sorted.
type Lister func(ctx context.Context, c *fun.Call) ([]string, error)

// A Prober tells whether one service runs.
type Prober func(ctx context.Context, c *fun.Call, name string) (bool, error)

// Status is the function "status": whether a service runs, or a dict of those
// whose names a pattern matches. An argument sig asks for a process instead.
func Status(ctx context.Context, c *fun.Call, all Lister, probe Prober) (fun.Result, error) {
	return fun.ExecFunc(func(ctx context.Context, c *fun.Call, a *StatusArgs) (fun.Result, error) {
		return a.Status(ctx, c, all, probe)
	}).Exec(ctx, c)
}

// Status is the function [Status] where the arguments are at hand.
func (a *StatusArgs) Status(ctx context.Context, c *fun.Call, all Lister, probe Prober) (fun.Result, error) {
	if a.Sig != "" {
		res, err := c.Env.Exec(ctx, "status.pid", nil, a.Sig)
		return fun.Result{Value: value.Truth(res)}, err
	}
	name := a.Name
	if !HasGlob(name) {
		ok, err := probe(ctx, c, name)
		return fun.Result{Value: ok}, err
	}
	names, err := all(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	out := value.NewMap(8)
	for _, n := range value.FnmatchFilter(names, name) {
		ok, err := probe(ctx, c, n)
		if err != nil {
			return fun.Result{}, err
		}
		out.Set(n, ok)
	}
	return fun.Value(out)
}
