// Package hosts is Salt's execution module "hosts": the names of addresses in
// /etc/hosts, or in the file that the option hosts.file names.
package hosts

import (
	"context"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Module returns the execution module "hosts".
func Module() fun.Module {
	return fun.Module{Name: "hosts", Kind: fun.Exec, Doc: "Manage the hosts file.", Specs: specs}
}

// addHostArgs are the arguments of addHost and rmHost.
type addHostArgs struct {
	ipArg
	aliasArg
}

func addHost(_ context.Context, c *fun.Call, a *addHostArgs) (fun.Result, error) {
	err := Admin{c.Env}.Add(a.IP, a.Alias)
	return fun.Result{Value: err == nil}, err
}

func getAlias(_ context.Context, c *fun.Call, a *ipArg) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	if err != nil {
		return fun.Result{}, err
	}
	if e := f.Find(a.IP); e != nil {
		return fun.Value(value.Strings(e.Aliases...))
	}
	return fun.Value(value.NewList())
}

type getIPArgs struct {
	_    fun.Arguments
	Host string `arg:"host,required" doc:"host name"`
}

func getIP(_ context.Context, c *fun.Call, a *getIPArgs) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	if err != nil {
		return fun.Result{}, err
	}
	for _, e := range f {
		if e.Addr != "" && slices.Contains(e.Aliases, a.Host) {
			return fun.Value(e.Addr)
		}
	}
	return fun.Value("")
}

type hasPairArgs struct {
	ipArg
	Alias []string `arg:"alias,required" doc:"host name, or a list of them"`
}

func hasPair(_ context.Context, c *fun.Call, a *hasPairArgs) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	return fun.Result{Value: f.Has(a.IP, a.Alias...)}, err
}

func listHosts(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	f, err := Admin{c.Env}.Read()
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(f.value())
}

func rmHost(_ context.Context, c *fun.Call, a *addHostArgs) (fun.Result, error) {
	err := Admin{c.Env}.Remove(a.IP, a.Alias)
	return fun.Result{Value: err == nil}, err
}

type setCommentArgs struct {
	ipArg
	Comment string `arg:"comment,required" doc:"comment"`
}

func setComment(_ context.Context, c *fun.Call, a *setCommentArgs) (fun.Result, error) {
	ok, err := Admin{c.Env}.Comment(a.IP, a.Comment)
	return fun.Result{Value: ok}, err
}

type setHostArgs struct {
	ipArg
	Alias   string `arg:"alias,required" doc:"host names, separated by blanks"`
	Comment string `arg:"comment" doc:"comment behind the names"`
}

func setHost(_ context.Context, c *fun.Call, a *setHostArgs) (fun.Result, error) {
	err := Admin{c.Env}.Set(a.IP, a.Alias, a.Comment)
	return fun.Result{Value: err == nil}, err
}
