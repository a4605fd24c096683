//go:build !slim

// Package etcd is Salt's state module "etcd": keys of etcd.
package etcd

import (
	"context"
	"fmt"
	"path"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/core/sdb"
	"brine/internal/py/value"
	"brine/modules/etcd"
)

// States returns the rows of the state module "etcd".
func States() fun.Module {
	return fun.Module{Name: "etcd", Kind: fun.State, Doc: "Manage keys of etcd.", Watch: modWatch, Specs: []fun.Spec{
		{Name: "directory", Doc: "Make sure that a directory exists, which version 2 has.", Src: "states/etcd_mod.py directory", Do: directory},
		{Name: "rm", Doc: "Make sure that a key does not exist.", Src: "states/etcd_mod.py rm", Do: rm},
		{Name: "set", Doc: "Make sure that a key has a value.", Src: "states/etcd_mod.py set_", Do: set},
		{Name: "wait_rm", Doc: "Remove a key if a watched state changed.", Src: "states/etcd_mod.py wait_rm", Do: waits[rmArgs]},
		{Name: "wait_set", Doc: "Give a key a value if a watched state changed.", Src: "states/etcd_mod.py wait_set", Do: waits[setArgs]},
	}}
}

type directoryArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"the directory"`
	etcd.Profile
	etcd.Server
}

type rmArgs struct {
	_       fun.Arguments
	_       string `arg:"name,required" doc:"the key"`
	Recurse bool   `arg:"recurse" doc:"remove what is below it, too"`
	etcd.Profile
	etcd.Server
}

type setArgs struct {
	_     fun.Arguments
	_     string      `arg:"name,required" doc:"the key"`
	Value value.Value `arg:"value,required" doc:"its value"`
	etcd.Profile
	TTL value.Value `arg:"ttl,int" doc:"for how long it stays, in seconds; default: for ever"`
	etcd.Server
}

// waits does nothing: what it stands for runs by mod_watch.
func waits[A any](context.Context, *fun.Call, *A) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: ""}
}

// modWatch writes or removes what wait_set and wait_rm stand for.
// Salt: salt/states/etcd_mod.py mod_watch.
func modWatch(ctx context.Context, c *fun.Call) fun.Ret {
	switch fn := c.Spec.Name; fn {
	case "wait_set":
		return fun.StateFunc(set).State(ctx, c)
	case "wait_rm":
		return fun.StateFunc(rm).State(ctx, c)
	default:
		return fun.Ret{Comment: fmt.Sprintf("etcd.%s does not work with the watch requisite, please use etcd.wait_set or etcd.wait_rm", fn)}
	}
}

// found is the key of the call as it is; nil where there is none.
func found(ctx context.Context, c *fun.Call, p etcd.Profile, s *etcd.Server) (*sdb.Etcd, *sdb.EtcdKey, error) {
	e, err := etcd.Open(ctx, c.Env, p, s)
	if err != nil {
		return nil, nil, err
	}
	k, err := e.Get(ctx, c.Name)
	return e, k, err
}

// set gives a key a value.
//
// Salt: salt/states/etcd_mod.py set_. Differences: a dry run writes nothing, what goes wrong
// fails, and it needs no profile.
func set(ctx context.Context, c *fun.Call, a *setArgs) fun.Ret {
	ttl, err := etcd.Lifetime(a.TTL)
	if err != nil {
		return fun.Fail("%v", err)
	}
	e, k, err := found(ctx, c, a.Profile, &a.Server)
	if err != nil {
		return fun.Fail("%v", err)
	}
	if k != nil && k.Dir {
		return fun.Fail("%s is a directory, and not a key with a value", c.Name)
	}
	wanted, err := e.Stored(a.Value)
	if err != nil {
		return fun.Fail("%v", err)
	}
	comment, would := "New key created", "Key would be created"
	if k != nil {
		if value.Equal(k.Value, wanted) {
			if ttl > 0 && !c.Test { // it stays for as long from now on
				if _, err := e.Set(ctx, c.Name, a.Value, ttl); err != nil {
					return fun.Fail("%v", err)
				}
			}
			return fun.Ret{Result: fun.OK, Comment: "Key contains correct value"}
		}
		comment, would = "Key value updated", "Key value would be updated"
	}
	changes := value.MapOf(c.Name, redact.Named(path.Base(c.Name), a.Value))
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: would, Changes: changes}
	}
	if _, err := e.Set(ctx, c.Name, a.Value, ttl); err != nil {
		return fun.Fail("%v", err)
	}
	return fun.Ret{Result: fun.OK, Comment: comment, Changes: changes}
}

// directory makes a directory.
//
// Salt: salt/states/etcd_mod.py directory. Differences: a dry run makes nothing, an empty
// directory exists, a key with a value is not replaced, and what goes wrong fails.
func directory(ctx context.Context, c *fun.Call, a *directoryArgs) fun.Ret {
	e, k, err := found(ctx, c, a.Profile, &a.Server)
	if err != nil {
		return fun.Fail("%v", err)
	}
	changes := value.MapOf(c.Name, "Created")
	switch {
	case !e.HasDirs():
		return fun.Fail("%v", sdb.ErrNoDirs)
	case k != nil && !k.Dir:
		return fun.Fail("%v", k.NoDir())
	case k != nil:
		return fun.Ret{Result: fun.OK, Comment: "Directory exists"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Directory would be created", Changes: changes}
	}
	made, err := e.MakeDir(ctx, c.Name, 0)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case !made:
		return fun.Ret{Result: fun.OK, Comment: "Directory exists"}
	}
	return fun.Ret{Result: fun.OK, Comment: "New directory created", Changes: changes}
}

// rm removes a key.
//
// Salt: salt/states/etcd_mod.py rm. Differences: a dry run removes nothing, a key with a
// value of version 2 is removed, and what cannot be removed fails.
func rm(ctx context.Context, c *fun.Call, a *rmArgs) fun.Ret {
	e, k, err := found(ctx, c, a.Profile, &a.Server)
	if err != nil {
		return fun.Fail("%v", err)
	}
	there := k != nil
	if !there && a.Recurse { // version 3 has keys below one that does not exist
		m, err := e.Tree(ctx, c.Name)
		if err != nil {
			return fun.Fail("%v", err)
		}
		there = m != nil
	}
	switch {
	case !there:
		return fun.Ret{Result: fun.OK, Comment: "Key does not exist"}
	case k != nil && k.Dir && !a.Recurse:
		return fun.Fail("Unable to remove key: %s is a directory, which recurse: True removes", c.Name)
	}
	changes := value.MapOf(c.Name, "Deleted")
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Key would be removed", Changes: changes}
	}
	removed, err := e.Remove(ctx, c.Name, a.Recurse)
	switch {
	case err != nil:
		return fun.Fail("Unable to remove key: %v", err)
	case !removed:
		return fun.Ret{Result: fun.OK, Comment: "Key does not exist"}
	}
	return fun.Ret{Result: fun.OK, Comment: "Key removed", Changes: changes}
}
