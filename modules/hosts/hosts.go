// Package hosts is Salt's execution module "hosts": the names of addresses in
// /etc/hosts, or in the file that the option hosts.file names.
package hosts

import (
	"context"
	"slices"

	"brine/internal/fun"
	"brine/internal/value"
)

// Module returns the execution module "hosts".
func Module() fun.Module {
	return fun.Module{Name: "hosts", Kind: fun.Exec, Doc: "Manage the hosts file.", Specs: specs}
}

func addHost(_ context.Context, c *fun.Call) (fun.Result, error) {
	err := Admin{c.Env}.Add(c.Str("ip"), c.Str("alias"))
	return fun.Result{Value: err == nil}, err
}

func getAlias(_ context.Context, c *fun.Call) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	if err != nil {
		return fun.Result{}, err
	}
	if e := f.Find(c.Str("ip")); e != nil {
		return fun.Value(value.Strings(e.Aliases...))
	}
	return fun.Value(value.NewList())
}

func getIP(_ context.Context, c *fun.Call) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	if err != nil {
		return fun.Result{}, err
	}
	for _, e := range f {
		if e.Addr != "" && slices.Contains(e.Aliases, c.Str("host")) {
			return fun.Value(e.Addr)
		}
	}
	return fun.Value("")
}

func hasPair(_ context.Context, c *fun.Call) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	return fun.Result{Value: f.Has(c.Str("ip"), c.Strings("alias")...)}, err
}

func listHosts(_ context.Context, c *fun.Call) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(f.value())
}

func rmHost(_ context.Context, c *fun.Call) (fun.Result, error) {
	err := Admin{c.Env}.Remove(c.Str("ip"), c.Str("alias"))
	return fun.Result{Value: err == nil}, err
}

func setComment(_ context.Context, c *fun.Call) (fun.Result, error) {
	ok, err := Admin{c.Env}.Comment(c.Str("ip"), c.Str("comment"))
	return fun.Result{Value: ok}, err
}

func setHost(_ context.Context, c *fun.Call) (fun.Result, error) {
	err := Admin{c.Env}.Set(c.Str("ip"), c.Str("alias"), c.Str("comment"))
	return fun.Result{Value: err == nil}, err
}
