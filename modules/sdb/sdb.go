// Package sdb is Salt's execution and runner module "sdb": values that are kept
// outside of configuration and pillar.
package sdb

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/sdb"
	"brine/internal/py/value"
)

// Module returns the execution module "sdb".
func Module() fun.Module {
	return fun.Module{Name: "sdb", Kind: fun.Exec, Doc: "Read and write values of a database, named by sdb:// URIs.", Specs: specs}
}

// Runners returns the runner module "sdb".
func Runners() fun.Module {
	return fun.Module{Name: "sdb", Kind: fun.Runner, Doc: "Read and write values of a database, named by sdb:// URIs.", Specs: runnerSpecs}
}

type getArgs struct {
	uriArg
	Strict bool `arg:"strict" default:"False" doc:"a URI that does not name a profile is an error"`
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	return read(ctx, c, a.URI, a.Strict)
}

// runnerGet is get of the runner, which has no argument strict.
func runnerGet(ctx context.Context, c *fun.Call, a *uriArg) (fun.Result, error) {
	return read(ctx, c, a.URI, false)
}

func read(ctx context.Context, c *fun.Call, uri value.Value, strict bool) (fun.Result, error) {
	v, err := sdb.Get(ctx, c.Env, uri, strict)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(v)
}

func set(ctx context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	ok, err := sdb.Set(ctx, c.Env, a.URI, a.Value)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(ok)
}

func remove(ctx context.Context, c *fun.Call, a *uriArg) (fun.Result, error) {
	ok, err := sdb.Delete(ctx, c.Env, a.URI)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(ok)
}

func getOrSetHash(ctx context.Context, c *fun.Call, a *hashArgs) (fun.Result, error) {
	v, err := sdb.GetOrSetHash(ctx, c.Env, a.URI, a.Length, a.Chars)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(v)
}
