// Package sshknownhosts is Salt's state module "ssh_known_hosts".
package sshknownhosts

import (
	"context"
	"errors"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/ssh"
)

// States returns the rows of the state module "ssh_known_hosts".
func States() fun.Module {
	return fun.Module{Name: "ssh_known_hosts", Kind: fun.State, Doc: "Manage known SSH hosts.", Specs: specs}
}

// known returns the known hosts of a call, or what is wrong with the arguments.
func known(c *fun.Call, config string, user string) (ssh.Known, string) {
	k := ssh.Known{Env: c.Env, User: user, Config: config}
	switch {
	case k.Config == "" && k.User == "":
		k.Config = "/etc/ssh/ssh_known_hosts"
	case k.Config == "":
		k.Config = ".ssh/known_hosts"
	case k.User == "" && !filepath.IsAbs(k.Config):
		return k, `If not specifying a "user", specify an absolute "config".`
	}
	return k, ""
}

// failed reports err: a fault of the arguments or the machine as a comment.
func failed(err error) fun.Ret {
	if f, ok := errors.AsType[*ssh.KnownError](err); ok {
		return fun.Fail("%s", f.Msg)
	}
	return fun.Raise(err)
}

type presentArgs struct {
	nameArg
	userArg
	Fingerprint string         `arg:"fingerprint" doc:"fingerprint that one of the keys has to have, as pairs of hexadecimal digits"`
	Key         string         `arg:"key" doc:"key of the host in base64"`
	Port        fun.Opt[int64] `arg:"port" doc:"port of the host; it needs hash_known_hosts: False"`
	Enc         string         `arg:"enc" doc:"type of the key"`
	configArg
	HashKnownHosts      bool    `arg:"hash_known_hosts" default:"True" doc:"write the name of the host as a hash"`
	Timeout             float64 `arg:"timeout,duration" default:"5" unit:"s" doc:"time to wait for the host"`
	FingerprintHashType string  `arg:"fingerprint_hash_type" doc:"hash of fingerprints: md5, sha1, sha224, sha256, sha384 or sha512; default: sha256"`
}

// present makes a host known. Salt: salt/states/ssh_known_hosts.py present.
// Difference: wrong arguments are refused outside of test mode too.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	k, fault := known(c, a.Config, a.User)
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	k.Hash = a.FingerprintHashType
	w := ssh.Want{
		Host: c.Name, Key: a.Key, Fingerprint: a.Fingerprint, Enc: a.Enc, Port: a.Port.V, HasPort: a.Port.Given,
		HashNames: a.HashKnownHosts, Timeout: int64(a.Timeout),
	}
	if err := k.Check(&w); err != nil {
		return failed(err)
	}
	if c.Test {
		return predict(c, k, w)
	}
	s, err := k.Set(ctx, w)
	switch {
	case err != nil:
		return failed(err)
	case s.Exists:
		return fun.Ret{Result: fun.OK, Comment: c.Name + " already exists in " + k.Config}
	}
	what := "(key: " + w.Key + ")"
	if w.Key == "" {
		what = "(fingerprint: " + s.New[0].Fingerprint + ")"
	}
	return fun.Ret{
		Result: fun.OK, Comment: c.Name + "'s key saved to " + k.Config + " " + what,
		Changes: value.MapOf("old", ssh.Values(s.Old), "new", s.NewValue),
	}
}

// predict says what present would do. A user who is missing may be made by the run.
func predict(c *fun.Call, k ssh.Known, w ssh.Want) fun.Ret {
	status, _, err := k.Status(w)
	var missing *ssh.KnownError
	switch {
	case errors.As(err, &missing):
		status = "add"
	case err != nil:
		return fun.Raise(err)
	}
	switch status {
	case "exists":
		return fun.Ret{Result: fun.OK, Comment: "Host " + c.Name + " is already in " + k.Config}
	case "add":
		return fun.Ret{Result: fun.WouldChange, Comment: "Key for " + c.Name + " is set to be added to " + k.Config}
	}
	return fun.Ret{Result: fun.WouldChange, Comment: "Key for " + c.Name + " is set to be updated in " + k.Config}
}

type absentArgs struct {
	nameArg
	userArg
	configArg
}

// absent makes a host unknown. Salt: salt/states/ssh_known_hosts.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	k, fault := known(c, a.Config, a.User)
	if fault != "" {
		return fun.Fail("%s", fault)
	}
	have, err := k.Keys(c.Name, 0)
	var missing *ssh.KnownError
	switch {
	case errors.As(err, &missing) && c.Test:
		// A state before this one may add the user, with known hosts.
		return fun.Ret{Result: fun.WouldChange, Comment: "Key for " + c.Name + " is set to be removed from " + k.Config}
	case errors.As(err, &missing), err == nil && len(have) == 0:
		return fun.Ret{Result: fun.OK, Comment: "Host is already absent"}
	case err != nil:
		return fun.Raise(err)
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Key for " + c.Name + " is set to be removed from " + k.Config}
	}
	out, err := k.Forget(ctx, c.Name, 0)
	switch {
	case err != nil:
		return failed(err)
	case !out.OK():
		return fun.Fail("%s", ssh.Printed(out))
	}
	return fun.Ret{Result: fun.OK, Comment: ssh.Printed(out), Changes: value.MapOf("old", ssh.Values(have), "new", nil)}
}
