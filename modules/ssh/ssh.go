// Package ssh is Salt's execution module "ssh": authorized keys, known hosts and
// the keys of users and of the machine.
package ssh

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "ssh".
func Module() fun.Module {
	return fun.Module{Name: "ssh", Kind: fun.Exec, Doc: "Manage SSH keys and known hosts.", Specs: specs, Avail: tool.Needs("ssh", "The module requires the ssh binary.")}
}

func auth(c *fun.Call, config string, fingerprintHashType string, user string) Auth {
	return Auth{Env: c.Env, User: user, Config: config, Hash: fingerprintHashType}
}

type authKeysArgs struct {
	User value.Value `arg:"user,str|list[str]" doc:"user, or a list of users; default: all users"`
	configArg
	hashTypeArg
}

func authKeys(_ context.Context, c *fun.Call, args *authKeysArgs) (fun.Result, error) {
	users, err := usersOf(c, args.User)
	if err != nil {
		return fun.Result{}, err
	}
	all := value.NewMap(len(users))
	for _, u := range users {
		a := auth(c, args.Config, args.FingerprintHashType, fun.TextOf(args.User))
		a.User = u
		_, path, err := a.path()
		if err != nil {
			continue
		}
		if st, err := c.Env.Host.Stat(path); err != nil || !st.Mode.IsRegular() {
			continue
		}
		f, err := a.Read()
		if err != nil {
			return fun.Result{}, fun.Errorf("Problem reading ssh key file %s", path)
		}
		keys := value.NewMap(4)
		for _, k := range f.Keys() {
			fp, err := Fingerprint(k.Key, a.Hash)
			if err != nil {
				return fun.Result{}, err
			}
			keys.Set(k.Key, value.MapOf("enc", k.Enc, "comment", k.Comment, "options", value.Strings(k.Options...), "fingerprint", fp))
		}
		all.Set(u, keys)
	}
	if one, ok := value.AsText(args.User); ok && one != "" {
		if m := all.Map(one); m != nil {
			return fun.Value(m)
		}
		return fun.Value(value.NewMap(0))
	}
	return fun.Value(all)
}

// usersOf returns user, a name or a list; without one all users.
func usersOf(c *fun.Call, user value.Value) ([]string, error) {
	if value.Truth(user) {
		return fun.StringsOf(user), nil
	}
	all, err := c.Env.Host.Users()
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	return names, err
}

type checkKeyArgs struct {
	userArg
	keyArg
	Enc     string   `arg:"enc,required" doc:"type of the key"`
	Comment string   `arg:"comment,required,str|none" doc:"comment behind the key"`
	Options []string `arg:"options,required,str|list[str]|none" doc:"options in front of the key"`
	configArg
	cacheArg
	hashTypeArg
}

func checkKey(_ context.Context, c *fun.Call, args *checkKeyArgs) (fun.Result, error) {
	a := auth(c, args.Config, args.FingerprintHashType, args.User)
	k, _, err := a.Prepare(Key{Enc: args.Enc, Key: args.Key, Comment: args.Comment, Options: args.Options})
	if err != nil {
		return fun.Result{}, err
	}
	f, err := a.Read()
	return fun.Result{Value: f.Status(k)}, err
}

// sourceKeys returns the keys of the argument source.
func sourceKeys(ctx context.Context, c *fun.Call, a *checkKeyFileArgs) (keys []Key, found bool, err error) {
	f, found, err := Source(ctx, c.Env, a.Source, a.Saltenv)
	return f.Keys(), found, err
}

// checkKeyFileArgs are the arguments of checkKeyFile, setAuthKeyFromFile and rmAuthKeyFromFile.
type checkKeyFileArgs struct {
	userArg
	sourceArg
	configArg
	saltenvArg
	hashTypeArg
}

func checkKeyFile(ctx context.Context, c *fun.Call, args *checkKeyFileArgs) (fun.Result, error) {
	keys, found, err := sourceKeys(ctx, c, args)
	if err != nil {
		return fun.Result{}, err
	}
	if found && len(keys) == 0 {
		c.Env.Log().Error(NoKeys(args.Source))
	}
	a := auth(c, args.Config, args.FingerprintHashType, args.User)
	have, err := a.Read()
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(keys))
	for _, k := range keys {
		m.Set(k.Key, have.Status(k))
	}
	return fun.Value(m)
}

type setAuthKeyArgs struct {
	userArg
	keyArg
	Enc     string   `arg:"enc" default:"ssh-rsa" doc:"type of the key"`
	Comment string   `arg:"comment" default:"" doc:"comment behind the key"`
	Options []string `arg:"options" doc:"options in front of the key"`
	configArg
	cacheArg
	hashTypeArg
}

func setAuthKey(_ context.Context, c *fun.Call, a *setAuthKeyArgs) (fun.Result, error) {
	did, err := auth(c, a.Config, a.FingerprintHashType, a.User).Set(Key{Enc: a.Enc, Key: a.Key, Comment: a.Comment, Options: a.Options})
	return fun.Result{Value: did}, err
}

func setAuthKeyFromFile(ctx context.Context, c *fun.Call, a *checkKeyFileArgs) (fun.Result, error) {
	keys, found, err := sourceKeys(ctx, c, a)
	if err != nil || !found {
		return fun.Result{}, fun.Errorf("Failed to pull key file from salt file server")
	}
	if len(keys) == 0 {
		c.Env.Log().Error(NoKeys(a.Source))
		return fun.Value("fail")
	}
	var all []string
	for _, k := range keys {
		did, err := auth(c, a.Config, a.FingerprintHashType, a.User).Set(k)
		if err != nil {
			return fun.Result{}, err
		}
		all = append(all, did)
	}
	return fun.Value(Worst(all))
}

type rmAuthKeyArgs struct {
	userArg
	keyArg
	configArg
	hashTypeArg
}

func rmAuthKey(_ context.Context, c *fun.Call, a *rmAuthKeyArgs) (fun.Result, error) {
	did, err := auth(c, a.Config, a.FingerprintHashType, a.User).Remove(a.Key)
	return fun.Result{Value: did}, err
}

func rmAuthKeyFromFile(ctx context.Context, c *fun.Call, a *checkKeyFileArgs) (fun.Result, error) {
	keys, found, err := sourceKeys(ctx, c, a)
	if err != nil || !found {
		return fun.Result{}, fun.Errorf("Failed to pull key file from salt file server")
	}
	if len(keys) == 0 {
		c.Env.Log().Error(NoKeys(a.Source))
		return fun.Value("fail")
	}
	var all []string
	for _, k := range keys {
		did, err := auth(c, a.Config, a.FingerprintHashType, a.User).Remove(k.Key)
		if err != nil {
			return fun.Result{}, err
		}
		all = append(all, did)
	}
	return fun.Value(WorstRemoval(all))
}

func known(c *fun.Call, user, config, hash string) Known {
	return Known{Env: c.Env, User: user, Config: config, Hash: hash}
}

// answer returns a *KnownError as Salt does: as a value.
func answer(v value.Value, err error) (fun.Result, error) {
	if f, ok := errors.AsType[*KnownError](err); ok {
		return fun.Value(value.MapOf("status", "error", "error", f.Msg))
	}
	return fun.Result{Value: v}, err
}

type getKnownHostEntriesArgs struct {
	User     string `arg:"user,required,str|none" doc:"user whose known hosts they are; None are those of the system"`
	Hostname string `arg:"hostname,required" doc:"name or address of the host"`
	knownConfig
	portArg
	hashTypeArg
}

func getKnownHostEntries(_ context.Context, c *fun.Call, a *getKnownHostEntriesArgs) (fun.Result, error) {
	keys, err := known(c, a.User, a.Config, a.FingerprintHashType).Keys(a.Hostname, a.Port.V)
	return answer(Values(keys), err)
}

type recvKnownHostEntriesArgs struct {
	Hostname string `arg:"hostname,required" doc:"name or address of the host"`
	Enc      string `arg:"enc" doc:"type of the key to ask for"`
	portArg
	hashArg
	timeoutArg
	hashTypeArg
}

func recvKnownHostEntries(ctx context.Context, c *fun.Call, a *recvKnownHostEntriesArgs) (fun.Result, error) {
	k := Known{Env: c.Env, Hash: a.FingerprintHashType}
	keys, err := k.Scan(ctx, Want{Host: a.Hostname, Enc: a.Enc, Port: a.Port.V, HashNames: a.HashKnownHosts, Timeout: int64(a.Timeout)})
	return answer(Values(keys), err)
}

type checkKnownHostArgs struct {
	knownUser
	hostArg
	Key         string `arg:"key" doc:"key of the host in base64"`
	Fingerprint string `arg:"fingerprint" doc:"fingerprint of the host, as pairs of hexadecimal digits"`
	knownConfig
	portArg
	hashTypeArg
}

func checkKnownHost(_ context.Context, c *fun.Call, a *checkKnownHostArgs) (fun.Result, error) {
	if a.Hostname == "" {
		return answer(nil, &KnownError{"hostname argument required"})
	}
	status, _, err := known(c, a.User, a.Config, a.FingerprintHashType).Status(Want{Host: a.Hostname, Key: a.Key, Fingerprint: a.Fingerprint, Port: a.Port.V})
	return answer(status, err)
}

type rmKnownHostArgs struct {
	knownUser
	hostArg
	knownConfig
	portArg
}

func rmKnownHost(ctx context.Context, c *fun.Call, a *rmKnownHostArgs) (fun.Result, error) {
	out, err := known(c, a.User, a.Config, "").Forget(ctx, a.Hostname, a.Port.V)
	return printed("removed", out, err)
}

type hashKnownHostsArgs struct {
	knownUser
	knownConfig
}

func hashKnownHosts(ctx context.Context, c *fun.Call, a *hashKnownHostsArgs) (fun.Result, error) {
	out, err := known(c, a.User, a.Config, "").HashNames(ctx)
	return printed("updated", out, err)
}

// printed returns what ssh-keygen printed.
func printed(status string, out tool.Out, err error) (fun.Result, error) {
	res, err := answer(value.MapOf("status", status, "comment", Printed(out)), err)
	res.Retcode = out.Status
	return res, err
}

// Printed returns stdout and stderr of a program as one text.
func Printed(out tool.Out) string {
	return strings.TrimRight(out.Stdout+out.Stderr, " \t\r\n")
}

type setKnownHostArgs struct {
	knownUser
	hostArg
	Fingerprint string `arg:"fingerprint" doc:"fingerprint that one of the keys has to have, as pairs of hexadecimal digits"`
	Key         string `arg:"key" doc:"key of the host in base64"`
	portArg
	Enc string `arg:"enc" doc:"type of the key"`
	knownConfig
	hashArg
	timeoutArg
	hashTypeArg
}

func setKnownHost(ctx context.Context, c *fun.Call, a *setKnownHostArgs) (fun.Result, error) {
	s, err := known(c, a.User, a.Config, a.FingerprintHashType).Set(ctx, Want{
		Host: a.Hostname, Key: a.Key, Fingerprint: a.Fingerprint, Enc: a.Enc,
		Port: a.Port.V, HasPort: a.Port.Given, HashNames: a.HashKnownHosts, Timeout: int64(a.Timeout),
	})
	if err != nil {
		return answer(nil, err)
	}
	if s.Exists {
		return fun.Value(value.MapOf("status", "exists", "keys", value.Strings(s.Keys...)))
	}
	return fun.Value(value.MapOf("status", "updated", "old", Values(s.Old), "new", s.NewValue))
}

type hostKeysArgs struct {
	_       fun.Arguments
	Keydir  string `arg:"keydir,path" doc:"directory of the keys; default: /etc/ssh"`
	Private bool   `arg:"private" default:"True" doc:"return private keys too"`
	Certs   bool   `arg:"certs" default:"True" doc:"return certificates too"`
}

func hostKeys(_ context.Context, c *fun.Call, a *hostKeysArgs) (fun.Result, error) {
	dir := a.Keydir
	if dir == "" {
		dir = "/etc/ssh"
	}
	names, err := c.Env.Host.ReadDir(dir)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	re := regexp.MustCompile(`^ssh_host_(.+)_key((-cert)?\.pub)?`)
	keys := value.NewMap(4)
	for _, n := range names {
		m := re.FindStringSubmatch(n)
		if m == nil || m[2] == "" && !a.Private || m[3] != "" && !a.Certs {
			continue
		}
		text, err := c.Env.Host.ReadFile(filepath.Join(dir, n))
		if err != nil {
			text = nil
		}
		s := value.DecodeReplace(text)
		const legacy = "SSH PRIVATE KEY FILE FORMAT 1.1\n"
		if strings.HasPrefix(s, legacy) {
			s = legacy
		}
		keys.Set(m[1]+m[2], strings.TrimSpace(s))
	}
	return fun.Value(keys)
}

type keyIsEncryptedArgs struct {
	_   fun.Arguments
	Key string `arg:"key,required,path" doc:"file of the key"`
}

func keyIsEncrypted(_ context.Context, c *fun.Call, a *keyIsEncryptedArgs) (fun.Result, error) {
	path := a.Key
	b, err := c.Env.Host.ReadFile(path)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	if !regexp.MustCompile(`BEGIN (?:\w+\s)*PRIVATE KEY`).Match(b) {
		return fun.Result{}, fun.Errorf("%s is not a private key", path)
	}
	return fun.Value(strings.Contains(string(b), "ENCRYPTED"))
}

type userKeysArgs struct {
	_       fun.Arguments
	User    value.Value `arg:"user,str|list[str]" doc:"user, or a list of users; default: all users"`
	Pubfile value.Value `arg:"pubfile,str|bool" doc:"file of the public key; False is none; default: all usual ones"`
	Prvfile value.Value `arg:"prvfile,str|bool" doc:"file of the private key; False is none; default: all usual ones"`
}

func userKeys(_ context.Context, c *fun.Call, args *userKeysArgs) (fun.Result, error) {
	users, err := usersOf(c, args.User)
	if err != nil {
		return fun.Result{}, err
	}
	var names []string
	for _, s := range []struct {
		given value.Value
		all   []string
	}{
		{args.Pubfile, []string{"id_rsa.pub", "id_dsa.pub", "id_ecdsa.pub", "id_ed25519.pub"}},
		{args.Prvfile, []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}},
	} {
		switch v := s.given; {
		case v == nil:
			names = append(names, s.all...)
		case v != false && value.Truth(v):
			names = append(names, value.Str(v))
		}
	}
	all := value.NewMap(len(users))
	for _, u := range users {
		acc, err := c.Env.Host.LookupUser(u)
		if err != nil {
			continue
		}
		keys := value.NewMap(2)
		for _, n := range names {
			path := n
			if !filepath.IsAbs(n) {
				path = acc.Home + "/.ssh/" + n
			} else {
				n = filepath.Base(n)
			}
			if b, err := c.Env.Host.ReadFile(path); err == nil {
				keys.Set(n, strings.TrimSpace(value.DecodeReplace(b)))
			}
		}
		if keys.Len() > 0 {
			all.Set(u, keys)
		}
	}
	return fun.Value(all)
}
