// Package nfsexport is Salt's state module "nfs_export": directories that an NFS
// server exports.
package nfsexport

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/nfs3"
	"brine/modules/tool"
)

// States returns the rows of the state module "nfs_export".
func States() fun.Module {
	return fun.Module{Name: "nfs_export", Kind: fun.State, Doc: "Directories that an NFS server exports.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if !tool.Has(env.Host, "exportfs") {
		return false, "The nfs_exports state module failed to load: the exportfs binary is not in the path"
	}
	return true, ""
}

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required,path" doc:"the directory"`
}

type exportsArg struct {
	_       fun.Arguments
	Exports value.Value `arg:"exports,path" default:"/etc/exports" doc:"the file"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "absent", Doc: "Remove the export of a directory.", Src: "states/nfs_export.py absent", Do: absent},
	{
		Name: "present", Doc: "Export a directory.", Src: "states/nfs_export.py present", Do: present,
	},
}

// list returns who may mount the directory; nil where it is not exported.
func list(ctx context.Context, c *fun.Call, a *exportsArg) (*value.List, error) {
	if _, err := c.Env.Host.Stat(fun.TextOf(a.Exports)); err != nil {
		return nil, nil // no file, no exports
	}
	res, err := c.Env.Exec(ctx, "nfs3.list_exports", nil, a.Exports)
	if err != nil {
		return nil, err
	}
	m, _ := res.(*value.Map)
	return m.List(c.Name), nil
}

// wanted returns who is to mount the directory.
func wanted(c *fun.Call, a *presentArgs) (*value.List, error) {
	clients := a.Clients
	if len(clients) == 0 {
		if fun.TextOf(a.Hosts) == "" {
			return nil, fun.Errorf("Either 'clients' or 'hosts' must be defined")
		}
		clients = []value.Value{value.MapOf("hosts", a.Hosts, "options", a.Options)}
	}
	l := value.NewList()
	for _, v := range clients {
		m, _ := v.(*value.Map)
		hosts, ok := m.At("hosts").(string)
		if !ok || hosts == "" {
			return nil, fun.Errorf("hosts argument must be a string")
		}
		options := value.NewList()
		switch o := m.At("options").(type) {
		case nil:
		case *value.List:
			options = o
		default:
			options = value.Strings(strings.Split(value.Str(o), ",")...)
		}
		words := make([]string, options.Len())
		for i, o := range options.Items {
			words[i] = value.Str(o)
		}
		if err := nfs3.Check(c.Name, hosts, words); err != nil {
			return nil, err
		}
		l.Append(value.MapOf("hosts", hosts, "options", options))
	}
	return l, nil
}

// reload has the server read its exports.
func reload(ctx context.Context, c *fun.Call) (ok bool, said string, err error) {
	res, err := c.Env.Exec(ctx, "nfs3.reload_exports", nil)
	if err != nil {
		return false, "", err
	}
	m, _ := res.(*value.Map)
	return value.Truth(m.At("result")), m.Str("stderr"), nil
}

type presentArgs struct {
	nameArg
	Clients []value.Value `arg:"clients,list[dict]" doc:"mappings of hosts and options"`
	Hosts   value.Value   `arg:"hosts,str" doc:"the only hosts, without clients"`
	Options value.Value   `arg:"options,comma[str]" doc:"their options"`
	exportsArg
}

// present exports a directory. Salt: salt/states/nfs_export.py present. Difference:
// without options the second run finds nothing to do.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	clients, err := wanted(c, a)
	if err != nil {
		return fun.Fail("%s", err)
	}
	old, err := list(ctx, c, &a.exportsArg)
	if err != nil {
		return fun.Raise(err)
	}
	if old != nil && value.Equal(old, clients) {
		return fun.Same("Export %s already configured", c.Name)
	}
	changes, verb := value.MapOf("new", clients, "old", old), "changed"
	if old == nil {
		changes, verb = value.MapOf("old", nil, "new", clients), "added"
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("Export %s would be %s", c.Name, verb), Changes: changes}
	}
	if old != nil {
		if _, err := c.Env.Exec(ctx, "nfs3.del_export", nil, a.Exports, c.Name); err != nil {
			return fun.Raise(err)
		}
	}
	for _, v := range clients.Items {
		m := v.(*value.Map)
		if _, err := c.Env.Exec(ctx, "nfs3.add_export", nil, a.Exports, c.Name, m.At("hosts"), m.At("options")); err != nil {
			return fun.Raise(err)
		}
	}
	ok, said, err := reload(ctx, c)
	if err != nil {
		return fun.Raise(err)
	}
	ret := fun.Ret{Result: fun.OK, Comment: said, Changes: changes}
	if !ok {
		ret.Result = fun.Failed
	}
	return ret
}

type absentArgs struct {
	nameArg
	exportsArg
}

func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	old, err := list(ctx, c, &a.exportsArg)
	if err != nil {
		return fun.Raise(err)
	}
	if old == nil {
		return fun.Same("Export %s already absent", c.Name)
	}
	changes := value.MapOf(c.Name, old)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("Export %s would be removed", c.Name), Changes: changes}
	}
	if _, err := c.Env.Exec(ctx, "nfs3.del_export", nil, a.Exports, c.Name); err != nil {
		return fun.Raise(err)
	}
	ok, said, err := reload(ctx, c)
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		return fun.Ret{Comment: said, Changes: changes}
	}
	return fun.Ret{Result: fun.OK, Comment: fmt.Sprintf("Export %s removed", c.Name), Changes: changes}
}
