package ssh

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/textfile"
)

// DefaultKeys is where the keys of a user are, from the home directory.
const DefaultKeys = ".ssh/authorized_keys"

// An Auth edits the authorized keys of a user.
type Auth struct {
	Env    *fun.Env
	User   string
	Config string // a path; %u and %h are user and home
	Hash   string // hash type of fingerprints
}

// ErrNoHome says that keys cannot be added because the user or the home directory
// does not exist.
var ErrNoHome = errors.New("the user or the home directory does not exist")

// path returns the account and the file of its keys.
// Salt: salt/modules/ssh.py _get_config_file.
func (a Auth) path() (host.Account, string, error) {
	acc, err := a.Env.Host.LookupUser(a.User)
	if err != nil {
		return acc, "", fun.Errorf("User '%s' does not exist", a.User)
	}
	config := a.Config
	if config == "" {
		config = DefaultKeys
	}
	var b strings.Builder
	for i := 0; i < len(config); i++ {
		if config[i] != '%' {
			b.WriteByte(config[i])
			continue
		}
		if i++; i == len(config) {
			return acc, "", fun.Errorf("AuthorizedKeysFile path: Last character can't be escape character")
		}
		switch config[i] {
		case '%':
			b.WriteByte('%')
		case 'u':
			b.WriteString(a.User)
		case 'h':
			b.WriteString(acc.Home)
		default:
			return acc, "", fun.Errorf(`AuthorizedKeysFile path: unknown token character "%%%c"`, config[i])
		}
	}
	full := b.String()
	if !filepath.IsAbs(full) {
		full = filepath.Join(acc.Home, full)
	}
	return acc, full, nil
}

// Read returns the keys of the user; none where the user or the file does not
// exist.
func (a Auth) Read() (KeyFile, error) {
	_, path, err := a.path()
	if err != nil {
		return nil, nil
	}
	if st, err := a.Env.Host.Stat(path); err != nil || !st.Mode.IsRegular() {
		return nil, nil
	}
	text, err := textfile.Read(a.Env.Host, path)
	return ParseKeys(text), err
}

// Prepare returns the entry that is written for k: the full name of its type, and
// options that are no longer than they have to be. invalid says that k is not a key.
func (a Auth) Prepare(k Key) (out Key, invalid bool, err error) {
	k.Enc, err = Type(k.Enc)
	if err != nil {
		return k, false, err
	}
	for _, s := range append([]string{k.Comment}, k.Options...) {
		if strings.ContainsAny(s, "\r\n\x00") {
			return k, true, nil
		}
	}
	k.Comment = strings.Join(strings.Fields(k.Comment), " ")
	fp, err := Fingerprint(k.Key, a.Hash)
	return k, fp == "" || len(strings.Fields(k.Key)) != 1, err
}

// Set puts a key in. It returns what Salt's set_auth_key does: new, replace, no
// change, fail or "Invalid public key".
func (a Auth) Set(k Key) (string, error) {
	if len(strings.Fields(k.Key)) > 1 {
		return "invalid", nil
	}
	k, invalid, err := a.Prepare(k)
	if err != nil {
		return "", err
	}
	acc, path, err := a.path()
	if err != nil {
		if _, missing := a.Env.Host.LookupUser(a.User); missing != nil {
			return "fail", nil
		}
		return "", err
	}
	if invalid {
		return "Invalid public key", nil
	}
	if flaw := Flaw(k.Enc, k.Key); flaw != "" {
		a.Env.Warn(fun.Warning{Text: "sshd will not accept the " + k.Enc + " key of " + a.User + ": " + flaw})
	}
	defer textfile.Lock(a.Env, path)()
	have, err := a.Read()
	if err != nil {
		return "", err
	}
	switch have.Status(k) {
	case "exists":
		return "no change", nil
	case "update":
		return "replace", a.write(acc, path, have.Set(k))
	}
	if st, err := a.Env.Host.Stat(acc.Home); strings.HasPrefix(path, acc.Home) && (err != nil || !st.Mode.IsDir()) {
		return "fail", nil
	}
	return "new", a.write(acc, path, have.Set(k))
}

// Remove takes a key out. It returns what Salt's rm_auth_key does.
func (a Auth) Remove(key string) (string, error) {
	acc, path, err := a.path()
	if err != nil {
		return "Key not present", nil
	}
	defer textfile.Lock(a.Env, path)()
	have, err := a.Read()
	if err != nil {
		return "", err
	}
	if _, ok := have.Find(key); !ok {
		return "Key not present", nil
	}
	left, _ := have.Drop(key)
	return "Key removed", a.write(acc, path, left)
}

func (a Auth) write(acc host.Account, path string, f KeyFile) error {
	err := WriteOwned(a.Env.Host, &acc, path, f.String(), 0o600)
	if err != nil {
		return fun.Errorf("Could not write to key file: %s", host.OSError(err))
	}
	return nil
}

// WriteOwned replaces a file that belongs to an account, nil for the system. Its
// directory and the file itself are made for the account if they are missing.
//
// Where the path leads through links of the user to what belongs to somebody else
// it writes nothing: the user could have root overwrite it.
func WriteOwned(h host.Host, acc *host.Account, path, text string, mode uint32) error {
	dir := filepath.Dir(path)
	if _, err := h.Stat(dir); err != nil {
		if err := h.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if acc != nil {
			if err := own(h, acc, dir); err != nil {
				return err
			}
			if err := h.Chmod(dir, 0o700); err != nil {
				return err
			}
		}
	}
	if err := trusted(h, acc, path); err != nil {
		return err
	}
	opts := host.WriteOptions{FollowLinks: true}
	if _, err := h.Stat(path); err != nil {
		m := host.FileMode(mode)
		opts.Mode = &m
		if acc != nil && h.Geteuid() == 0 {
			opts.UID, opts.GID = &acc.UID, &acc.GID
		}
	}
	return h.WriteFile(path, strings.NewReader(text), opts)
}

func own(h host.Host, acc *host.Account, path string) error {
	if h.Geteuid() != 0 {
		return nil
	}
	return h.Lchown(path, acc.UID, acc.GID)
}

// trusted refuses a path below the home of a user that links lead to what belongs
// to another one.
func trusted(h host.Host, acc *host.Account, path string) error {
	if acc == nil || acc.UID == 0 || h.Geteuid() != 0 || !strings.HasPrefix(path, strings.TrimRight(acc.Home, "/")+"/") {
		return nil
	}
	for _, p := range []string{filepath.Dir(path), path} {
		if _, err := h.Lstat(p); err != nil {
			continue
		}
		real, err := h.EvalSymlinks(p)
		if err != nil {
			return fun.Errorf("%s is a link that leads nowhere", p)
		}
		st, err := h.Stat(real)
		if err != nil {
			return err
		}
		if real != p && st.UID != acc.UID {
			return fun.Errorf("%s leads to %s, which does not belong to %s", p, real, acc.Name)
		}
	}
	return nil
}

// Source returns the keys of a file on the file server or at a URL; found is false
// where there is none.
func Source(ctx context.Context, env *fun.Env, source, saltenv string) (f KeyFile, found bool, err error) {
	path, err := cp.New(env, saltenv).CacheFile(ctx, source, cp.Options{})
	if err != nil || path == "" {
		return nil, false, err
	}
	text, err := env.Host.ReadFile(path)
	return ParseKeys(value.DecodeReplace(text)), err == nil, err
}

// NoKeys is what there is to say of a source without keys.
func NoKeys(source string) string {
	return "No keys detected in " + source + ". Is file properly formatted?"
}

// Worst returns the most important of what Set returned for several keys.
func Worst(all []string) string {
	for _, w := range []string{"fail", "invalid", "Invalid public key", "replace", "new"} {
		if slices.Contains(all, w) {
			return w
		}
	}
	return "no change"
}

// WorstRemoval is Worst for what Remove returned.
func WorstRemoval(all []string) string {
	for _, w := range []string{"Key not removed", "Key removed"} {
		if slices.Contains(all, w) {
			return w
		}
	}
	return "Key not present"
}
