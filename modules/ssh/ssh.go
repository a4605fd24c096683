// Package ssh is Salt's execution module "ssh": authorized keys, known hosts and
// the keys of users and of the machine.
package ssh

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	"brine/modules/tool"
)

// Module returns the execution module "ssh".
func Module() fun.Module {
	return fun.Module{Name: "ssh", Kind: fun.Exec, Doc: "Manage SSH keys and known hosts.", Specs: specs, Avail: available}
}

func available(e *fun.Env) (bool, string) {
	if _, err := e.Host.LookPath("ssh", ""); err != nil {
		return false, "The module requires the ssh binary."
	}
	return true, ""
}

func auth(c *fun.Call) Auth {
	return Auth{Env: c.Env, User: c.Str("user"), Config: c.Str("config"), Hash: c.Str("fingerprint_hash_type")}
}

func authKeys(_ context.Context, c *fun.Call) (fun.Result, error) {
	users, err := usersOf(c)
	if err != nil {
		return fun.Result{}, err
	}
	all := value.NewMap(len(users))
	for _, u := range users {
		a := auth(c)
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
	if one, ok := value.AsText(c.Value("user")); ok && one != "" {
		if m := all.Map(one); m != nil {
			return fun.Value(m)
		}
		return fun.Value(value.NewMap(0))
	}
	return fun.Value(all)
}

// usersOf returns the argument user, a name or a list; without it all users.
func usersOf(c *fun.Call) ([]string, error) {
	if value.Truth(c.Value("user")) {
		return c.Strings("user"), nil
	}
	all, err := c.Env.Host.Users()
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	return names, err
}

func keyOf(c *fun.Call) Key {
	return Key{Enc: c.Str("enc"), Key: c.Str("key"), Comment: c.Str("comment"), Options: c.Strings("options")}
}

func checkKey(_ context.Context, c *fun.Call) (fun.Result, error) {
	a := auth(c)
	k, _, err := a.Prepare(keyOf(c))
	if err != nil {
		return fun.Result{}, err
	}
	f, err := a.Read()
	return fun.Result{Value: f.Status(k)}, err
}

// sourceKeys returns the keys of the argument source.
func sourceKeys(ctx context.Context, c *fun.Call) (keys []Key, found bool, err error) {
	f, found, err := Source(ctx, c.Env, c.Str("source"), c.Str("saltenv"))
	return f.Keys(), found, err
}

func checkKeyFile(ctx context.Context, c *fun.Call) (fun.Result, error) {
	keys, found, err := sourceKeys(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	if found && len(keys) == 0 {
		c.Env.Log().Error(NoKeys(c.Str("source")))
	}
	a := auth(c)
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

func setAuthKey(_ context.Context, c *fun.Call) (fun.Result, error) {
	did, err := auth(c).Set(keyOf(c))
	return fun.Result{Value: did}, err
}

func setAuthKeyFromFile(ctx context.Context, c *fun.Call) (fun.Result, error) {
	keys, found, err := sourceKeys(ctx, c)
	if err != nil || !found {
		return fun.Result{}, fun.Errorf("Failed to pull key file from salt file server")
	}
	if len(keys) == 0 {
		c.Env.Log().Error(NoKeys(c.Str("source")))
		return fun.Value("fail")
	}
	var all []string
	for _, k := range keys {
		did, err := auth(c).Set(k)
		if err != nil {
			return fun.Result{}, err
		}
		all = append(all, did)
	}
	return fun.Value(Worst(all))
}

func rmAuthKey(_ context.Context, c *fun.Call) (fun.Result, error) {
	did, err := auth(c).Remove(c.Str("key"))
	return fun.Result{Value: did}, err
}

func rmAuthKeyFromFile(ctx context.Context, c *fun.Call) (fun.Result, error) {
	keys, found, err := sourceKeys(ctx, c)
	if err != nil || !found {
		return fun.Result{}, fun.Errorf("Failed to pull key file from salt file server")
	}
	if len(keys) == 0 {
		c.Env.Log().Error(NoKeys(c.Str("source")))
		return fun.Value("fail")
	}
	var all []string
	for _, k := range keys {
		did, err := auth(c).Remove(k.Key)
		if err != nil {
			return fun.Result{}, err
		}
		all = append(all, did)
	}
	return fun.Value(WorstRemoval(all))
}

func known(c *fun.Call) Known {
	k := Known{Env: c.Env, User: c.Str("user"), Config: c.Str("config")}
	if c.Declares("fingerprint_hash_type") {
		k.Hash = c.Str("fingerprint_hash_type")
	}
	return k
}

// answer returns a *KnownError as Salt does: as a value.
func answer(v value.Value, err error) (fun.Result, error) {
	if f, ok := errors.AsType[*KnownError](err); ok {
		return fun.Value(value.MapOf("status", "error", "error", f.Msg))
	}
	return fun.Result{Value: v}, err
}

func getKnownHostEntries(_ context.Context, c *fun.Call) (fun.Result, error) {
	keys, err := known(c).Keys(c.Str("hostname"), c.Int("port"))
	return answer(Values(keys), err)
}

func recvKnownHostEntries(ctx context.Context, c *fun.Call) (fun.Result, error) {
	k := Known{Env: c.Env, Hash: c.Str("fingerprint_hash_type")}
	keys, err := k.Scan(ctx, Want{Host: c.Str("hostname"), Enc: c.Str("enc"), Port: c.Int("port"), HashNames: c.Bool("hash_known_hosts"), Timeout: int64(c.Float("timeout"))})
	return answer(Values(keys), err)
}

func checkKnownHost(_ context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("hostname") == "" {
		return answer(nil, &KnownError{"hostname argument required"})
	}
	status, _, err := known(c).Status(Want{Host: c.Str("hostname"), Key: c.Str("key"), Fingerprint: c.Str("fingerprint"), Port: c.Int("port")})
	return answer(status, err)
}

func rmKnownHost(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := known(c).Forget(ctx, c.Str("hostname"), c.Int("port"))
	return said("removed", out, err)
}

func hashKnownHosts(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := known(c).HashNames(ctx)
	return said("updated", out, err)
}

// said returns what ssh-keygen printed.
func said(status string, out tool.Out, err error) (fun.Result, error) {
	res, err := answer(value.MapOf("status", status, "comment", Said(out)), err)
	res.Retcode = out.Status
	return res, err
}

// Said returns stdout and stderr of a program as one text.
func Said(out tool.Out) string {
	return strings.TrimRight(out.Stdout+out.Stderr, " \t\r\n")
}

func setKnownHost(ctx context.Context, c *fun.Call) (fun.Result, error) {
	s, err := known(c).Set(ctx, Want{
		Host: c.Str("hostname"), Key: c.Str("key"), Fingerprint: c.Str("fingerprint"), Enc: c.Str("enc"),
		Port: c.Int("port"), HasPort: !c.IsNone("port"), HashNames: c.Bool("hash_known_hosts"), Timeout: int64(c.Float("timeout")),
	})
	if err != nil {
		return answer(nil, err)
	}
	if s.Exists {
		return fun.Value(value.MapOf("status", "exists", "keys", value.Strings(s.Keys...)))
	}
	return fun.Value(value.MapOf("status", "updated", "old", Values(s.Old), "new", s.NewValue))
}

func hostKeys(_ context.Context, c *fun.Call) (fun.Result, error) {
	dir := c.Str("keydir")
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
		if m == nil || m[2] == "" && !c.Bool("private") || m[3] != "" && !c.Bool("certs") {
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

func keyIsEncrypted(_ context.Context, c *fun.Call) (fun.Result, error) {
	path := c.Str("key")
	b, err := c.Env.Host.ReadFile(path)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	if !regexp.MustCompile(`BEGIN (?:\w+\s)*PRIVATE KEY`).Match(b) {
		return fun.Result{}, fun.Errorf("%s is not a private key", path)
	}
	return fun.Value(strings.Contains(string(b), "ENCRYPTED"))
}

func userKeys(_ context.Context, c *fun.Call) (fun.Result, error) {
	users, err := usersOf(c)
	if err != nil {
		return fun.Result{}, err
	}
	var names []string
	for _, s := range []struct {
		arg string
		all []string
	}{
		{"pubfile", []string{"id_rsa.pub", "id_dsa.pub", "id_ecdsa.pub", "id_ed25519.pub"}},
		{"prvfile", []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}},
	} {
		switch v := c.Value(s.arg); {
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
