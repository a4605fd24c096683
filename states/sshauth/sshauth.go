// Package sshauth is Salt's state module "ssh_auth": authorized keys of users.
package sshauth

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/ssh"
)

// States returns the rows of the state module "ssh_auth".
func States() fun.Module {
	return fun.Module{Name: "ssh_auth", Kind: fun.State, Doc: "Manage authorized SSH keys.", Specs: specs}
}

const invalid = "Invalid public ssh key, most likely has spaces or invalid syntax"

func auth(c *fun.Call, user string, a *keyArgs) ssh.Auth {
	return ssh.Auth{Env: c.Env, User: user, Config: a.Config, Hash: a.FingerprintHashType}
}

// keyOf returns the key that text and the arguments describe: [OPTIONS] TYPE KEY
// [COMMENT], or KEY [COMMENT].
func keyOf(a *keyArgs, text string) ssh.Key {
	k := ssh.Key{Enc: a.Enc, Comment: a.Comment, Options: a.Options}
	if given, ok := ssh.ParseKey(text); ok {
		k.Enc, k.Key = given.Enc, given.Key
		if len(given.Options) > 0 {
			k.Options = given.Options
		}
		if given.Comment != "" {
			k.Comment = given.Comment
		}
		return k
	}
	words := strings.Fields(text)
	if len(words) > 0 {
		k.Key = words[0]
	}
	if len(words) > 1 {
		k.Comment = strings.Join(words[1:], " ")
	}
	return k
}

// source returns the keys of the argument source; fault says why there are none.
func source(ctx context.Context, c *fun.Call, a *keyArgs, what string) (keys []ssh.Key, fault string, err error) {
	f, found, err := ssh.Source(ctx, c.Env, a.Source, c.Low.SaltEnv)
	if err != nil {
		return nil, "", err
	}
	if !found {
		return nil, "Failed to " + what + " the ssh key. Source file " + a.Source + " is missing", nil
	}
	keys = f.Keys()
	if len(keys) == 0 {
		return nil, ssh.NoKeys(a.Source), nil
	}
	for i := range keys {
		if len(keys[i].Options) == 0 {
			keys[i].Options = a.Options
		}
	}
	return keys, "", nil
}

type presentArgs struct {
	nameArg
	userArg
	keyArgs
	_ fun.Kwargs
}

// present adds keys. Salt: salt/states/ssh_auth.py present. Difference: with
// source it reports what was done to all of its keys, not to the last one.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	if a.Source == "" {
		return presentKey(c, a.User, &a.keyArgs, a.Name)
	}
	return presentSource(ctx, c, a.User, &a.keyArgs)
}

// presentSource adds the keys of the argument source.
func presentSource(ctx context.Context, c *fun.Call, user string, a *keyArgs) fun.Ret {
	keys, fault, err := source(ctx, c, a, "add")
	if err != nil {
		return fun.Raise(err)
	}
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	if c.Test {
		return predictSource(c, user, a, keys)
	}
	var all []string
	for _, k := range keys {
		did, err := auth(c, user, a).Set(k)
		if err != nil {
			return fun.Raise(err)
		}
		all = append(all, did)
	}
	return report(user, c.Name, ssh.Worst(all))
}

func predictSource(c *fun.Call, user string, a *keyArgs, keys []ssh.Key) fun.Ret {
	to := auth(c, user, a)
	have, err := to.Read()
	if err != nil {
		return fun.Raise(err)
	}
	var comment strings.Builder
	for _, k := range keys {
		k, _, err := to.Prepare(k)
		if err != nil {
			return fun.Raise(err)
		}
		if s := have.Status(k); s != "exists" {
			comment.WriteString("Set to " + s + ": " + k.Key + "\n")
		}
	}
	if comment.String() == "" {
		return fun.Ret{Result: fun.OK, Comment: "All host keys in file " + a.Source + " are already present"}
	}
	return fun.Ret{Result: fun.WouldChange, Comment: comment.String()}
}

// presentKey adds one key.
func presentKey(c *fun.Call, user string, a *keyArgs, text string) fun.Ret {
	to := auth(c, user, a)
	k, bad, err := to.Prepare(keyOf(a, text))
	if err != nil {
		return fun.Raise(err)
	}
	if bad {
		return fun.Fail("%s", invalid)
	}
	if !c.Test {
		did, err := to.Set(k)
		if err != nil {
			return fun.Raise(err)
		}
		return report(user, k.Key, did)
	}
	have, err := to.Read()
	if err != nil {
		return fun.Raise(err)
	}
	switch have.Status(k) {
	case "exists":
		return fun.Ret{Result: fun.OK, Comment: "The authorized host key " + k.Key + " is already present for user " + user}
	case "update":
		return fun.Ret{Result: fun.WouldChange, Comment: "Key " + k.Key + " for user " + user + " is set to be updated"}
	}
	return fun.Ret{Result: fun.WouldChange, Comment: "Key " + k.Key + " for user " + user + " is set to be added"}
}

// report returns what Set did, in Salt's words.
func report(user, key, did string) fun.Ret {
	what := "The authorized host key " + key
	switch did {
	case "replace":
		return fun.Ret{Result: fun.OK, Comment: what + " for user " + user + " was updated", Changes: value.MapOf(key, "Updated")}
	case "new":
		return fun.Ret{Result: fun.OK, Comment: what + " for user " + user + " was added", Changes: value.MapOf(key, "New")}
	case "no change":
		return fun.Ret{Result: fun.OK, Comment: what + " is already present for user " + user}
	case "fail":
		return fun.Fail("Failed to add the ssh key. Is the home directory available, and/or does the key file exist?")
	}
	return fun.Fail("%s", invalid)
}

type absentArgs struct {
	nameArg
	userArg
	keyArgs
}

// absent removes keys. Salt: salt/states/ssh_auth.py absent.
func absent(ctx context.Context, c *fun.Call, args *absentArgs) fun.Ret {
	a := auth(c, args.User, &args.keyArgs)
	keys := []ssh.Key{keyOf(&args.keyArgs, args.Name)}
	src := args.Source
	if src != "" {
		var fault string
		var err error
		if keys, fault, err = source(ctx, c, &args.keyArgs, "remove"); err != nil {
			return fun.Raise(err)
		}
		if fault != "" {
			return fun.Fail("%s", fault)
		}
	}
	if c.Test {
		return predictAbsent(args.Source, a, keys)
	}
	var all []string
	for _, k := range keys {
		did, err := a.Remove(k.Key)
		if err != nil {
			return fun.Raise(err)
		}
		all = append(all, did)
	}
	ret := fun.Ret{Result: fun.OK, Comment: ssh.WorstRemoval(all)}
	if ret.Comment == "Key removed" {
		name := c.Name
		if src == "" {
			name = keys[0].Key
		}
		ret.Changes = value.MapOf(name, "Removed")
	}
	return ret
}

func predictAbsent(src string, a ssh.Auth, keys []ssh.Key) fun.Ret {
	have, err := a.Read()
	if err != nil {
		return fun.Raise(err)
	}
	comment := ""
	for _, k := range keys {
		if _, ok := have.Find(k.Key); !ok {
			continue
		}
		if src == "" {
			comment = "Key " + k.Key + " for user " + a.User + " is set for removal"
		} else {
			comment += "Set to remove: " + k.Key + "\n"
		}
	}
	switch {
	case comment != "":
		return fun.Ret{Result: fun.WouldChange, Comment: comment}
	case src != "":
		return fun.Ret{Result: fun.OK, Comment: "All host keys in file " + src + " are already absent"}
	}
	return fun.Ret{Result: fun.OK, Comment: "Key is already absent"}
}

type manageArgs struct {
	_       string   `arg:"name,required" doc:"accepted; the keys are in ssh_keys"`
	SSHKeys []string `arg:"ssh_keys,required" doc:"list of keys"`
	userArg
	keyArgs
	_ fun.Kwargs
}

// manage gives a user the listed keys and no others.
// Salt: salt/states/ssh_auth.py manage. Difference: other keys are removed from
// the file that config names, and a dry run lists all of them.
func manage(ctx context.Context, c *fun.Call, args *manageArgs) fun.Ret {
	a := auth(c, args.User, &args.keyArgs)
	have, err := a.Read()
	if err != nil {
		return fun.Raise(err)
	}
	var wanted []string
	for _, text := range args.SSHKeys {
		wanted = append(wanted, keyOf(&args.keyArgs, text).Key)
	}
	if args.Source != "" {
		keys, fault, err := source(ctx, c, &args.keyArgs, "add")
		if err != nil {
			return fun.Raise(err)
		}
		if fault != "" {
			return fun.Fail("%s", fault)
		}
		for _, k := range keys {
			wanted = append(wanted, k.Key)
		}
	}
	ret := fun.Ret{Result: fun.OK}
	changes := value.NewMap(4)
	var comments []string
	for _, k := range have.Keys() {
		if slices.Contains(wanted, k.Key) {
			continue
		}
		if c.Test {
			comments = append(comments, k.Key+" Key set for removal")
			ret.Result = fun.WouldChange
			continue
		}
		did, err := a.Remove(k.Key)
		if err != nil {
			return fun.Raise(err)
		}
		changes.Set(k.Key, did)
	}
	rets := []fun.Ret{}
	for _, text := range args.SSHKeys {
		rets = append(rets, presentKey(c, args.User, &args.keyArgs, text))
	}
	if args.Source != "" {
		rets = append(rets, presentSource(ctx, c, args.User, &args.keyArgs))
	}
	for _, one := range rets {
		if one.Err != nil {
			return one
		}
		if m, _ := one.Changes.(*value.Map); m != nil {
			changes.Update(m)
		} else {
			comments = append(comments, value.Str(one.Comment))
		}
		if one.Result != fun.OK && ret.Result != fun.Failed {
			ret.Result = one.Result
		}
	}
	ret.Changes, ret.Comment = changes, strings.TrimSpace(strings.Join(comments, "\n"))
	return ret
}
