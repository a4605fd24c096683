package git

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Clone clones a URL without credentials into dir, which git makes.
func (g *Client) Clone(ctx context.Context, source, dir string, opts ...string) error {
	if err := plain("url", source); err != nil {
		return err
	}
	args := append([]string{"clone"}, opts...)
	// Not the home directory, which the account may not be able to enter.
	if _, err := g.Run(ctx, "/tmp", append(args, "--", source, dir)...); err != nil {
		return err
	}
	return g.keep(ctx, dir)
}

// GitDir returns the directory with the data of the repository at dir.
func (g *Client) GitDir(ctx context.Context, dir string) (string, error) {
	out, err := g.Run(ctx, dir, "rev-parse", "--git-dir")
	if err != nil || filepath.IsAbs(out.Stdout) {
		return out.Stdout, err
	}
	return filepath.Join(dir, out.Stdout), nil
}

// RevParse returns the output of git rev-parse.
func (g *Client) RevParse(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := g.Run(ctx, dir, append([]string{"rev-parse"}, args...)...)
	return out.Stdout, err
}

// Branches returns the names of the local branches, Tags those of the tags.
func (g *Client) Branches(ctx context.Context, dir string) ([]string, error) {
	return g.refs(ctx, dir, "refs/heads/")
}

// Tags returns the names of the tags.
func (g *Client) Tags(ctx context.Context, dir string) ([]string, error) {
	return g.refs(ctx, dir, "refs/tags/")
}

func (g *Client) refs(ctx context.Context, dir, below string) ([]string, error) {
	out, err := g.Run(ctx, dir, "for-each-ref", "--format", "%(refname:short)", below)
	return lines(out.Stdout), err
}

// IsWorktree reports whether dir is a worktree of another repository: its .git
// is a file that names the directory with the data.
func (g *Client) IsWorktree(ctx context.Context, dir string) (bool, error) {
	out, err := g.Run(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		if IsFailure(err) {
			return false, nil
		}
		return false, err
	}
	p := filepath.Join(out.Stdout, ".git")
	st, err := g.Env.Host.Stat(p)
	if err != nil || !st.Mode.IsRegular() || st.Size > 1<<16 {
		return false, nil
	}
	text, err := g.Env.Host.ReadFile(p)
	if err != nil {
		return false, nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	label, at, ok := split2(first)
	return ok && label == "gitdir:" && filepath.IsAbs(at), nil
}

// A Ref is a name in a repository and the commit or tag that it stands for.
type Ref struct{ Name, SHA string }

// Refs are the refs of a repository, in git's order.
type Refs []Ref

// Get returns what a ref stands for, "" where there is none.
func (r Refs) Get(name string) string {
	for _, x := range r {
		if x.Name == name {
			return x.SHA
		}
	}
	return ""
}

// LsRemote asks a repository for its refs. args are those of git ls-remote.
func (g *Client) LsRemote(ctx context.Context, dir string, args ...string) (Refs, error) {
	out, err := g.Run(ctx, dir, append([]string{"ls-remote"}, args...)...)
	if err != nil {
		return nil, err
	}
	var refs Refs
	for _, line := range lines(out.Stdout) {
		if sha, name, ok := split2(line); ok {
			refs = append(refs, Ref{name, sha})
		}
	}
	return refs, nil
}

// Remotes returns the URLs of the remotes by name: mappings with fetch and push.
func (g *Client) Remotes(ctx context.Context, dir string, redact bool) (*value.Map, error) {
	out, err := g.Run(ctx, dir, "remote", "--verbose")
	if err != nil {
		return nil, err
	}
	m := value.NewMap(2)
	for _, line := range lines(out.Stdout) {
		name, info, ok := split2(line)
		i := strings.LastIndexAny(info, " \t")
		if !ok || i < 0 {
			continue
		}
		at, action := strings.TrimRight(info[:i], " \t"), strings.ToLower(strings.Trim(info[i+1:], "()"))
		// A partial clone shows "(fetch) [blob:none]".
		if j := strings.LastIndexAny(at, " \t"); j >= 0 && strings.HasPrefix(action, "[") {
			action = strings.ToLower(strings.Trim(at[j+1:], "()"))
			at = strings.TrimRight(at[:j], " \t")
		}
		if action != "fetch" && action != "push" {
			continue
		}
		if redact {
			at = Redact(at)
		}
		urls := m.Map(name)
		if urls == nil {
			urls = value.NewMap(2)
			m.Set(name, urls)
		}
		urls.Set(action, at)
	}
	return m, nil
}

// SetRemote makes remote the name of a URL without credentials.
func (g *Client) SetRemote(ctx context.Context, dir, remote, source string) error {
	if err := plain("remote", remote, "url", source); err != nil {
		return err
	}
	have, err := g.Remotes(ctx, dir, true)
	if err != nil {
		return err
	}
	if have.Has(remote) {
		if _, err := g.Run(ctx, dir, "remote", "rm", remote); err != nil {
			return err
		}
	}
	if _, err := g.Run(ctx, dir, "remote", "add", remote, source); err != nil {
		return err
	}
	return g.keep(ctx, dir)
}

var updateRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\s*]*(?:([0-9a-f]+)\.\.([0-9a-f]+)|\[(?:new (tag|branch)|tag update)\])\s+(.+)->`)
})

// Fetch fetches; args are those of git fetch. It returns what git says of new and
// updated refs.
func (g *Client) Fetch(ctx context.Context, dir string, args ...string) (*value.Map, error) {
	out, err := g.run(ctx, dir, mode{merge: true}, append([]string{"fetch"}, args...)...)
	if err != nil {
		return nil, err
	}
	return fetched(out.Stdout), nil
}

func fetched(text string) *value.Map {
	ret := value.NewMap(2)
	add := func(key, name string) {
		if l, ok := ret.At(key).(*value.List); ok {
			l.Items = append(l.Items, name)
			return
		}
		ret.Set(key, value.Strings(name))
	}
	for line := range strings.SplitSeq(text, "\n") {
		m := updateRE().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.TrimRight(m[4], " \t\r\v\f")
		switch {
		case m[3] == "tag":
			add("new tags", name)
		case m[3] == "branch":
			add("new branches", name)
		case m[1] != "":
			updated := ret.Map("updated branches")
			if updated == nil {
				updated = value.NewMap(1)
				ret.Set("updated branches", updated)
			}
			updated.Set(name, value.MapOf("old", m[1], "new", m[2]))
		default:
			add("updated tags", name)
		}
	}
	return ret
}

// IsAncestor reports whether a commit is an ancestor of another.
func (g *Client) IsAncestor(ctx context.Context, dir, older, newer string) (bool, error) {
	if err := plain("ref", older, "ref", newer); err != nil {
		return false, err
	}
	out, err := g.run(ctx, dir, mode{soft: true}, "merge-base", "--is-ancestor", older, newer)
	return err == nil && out.Retcode == 0, err
}

// Init makes a repository.
type Init struct {
	Bare                     bool
	Template, SeparateGitDir value.Value
	Shared                   value.Value
	GitOpts, Opts            []string
}

// Init makes a repository in dir and returns what git said.
func (g *Client) Init(ctx context.Context, dir string, o Init) (string, error) {
	args := append([]string{}, o.GitOpts...)
	args = append(args, "init")
	if o.Bare {
		args = append(args, "--bare")
	}
	if o.Template != nil {
		args = append(args, "--template="+value.Str(o.Template))
	}
	if o.SeparateGitDir != nil {
		args = append(args, "--separate-git-dir="+value.Str(o.SeparateGitDir))
	}
	switch v := o.Shared.(type) {
	case nil:
	case string:
		args = append(args, "--shared="+v)
	case bool:
		args = append(args, "--shared="+strings.ToLower(value.Str(v)))
	default:
		args = append(args, "--shared=0"+value.Str(v))
	}
	args = append(args, o.Opts...)
	out, err := g.Run(ctx, "", append(args, "--", dir)...)
	return out.Stdout, err
}

// A Config is where git configuration is read and written.
type Config struct {
	Dir    string // repository, with Global "" for none
	Global bool
}

func (f Config) scope() string {
	if f.Global {
		return "--global"
	}
	return "--local"
}

// ConfigGet returns the values of a key; found is false where there are none.
func (g *Client) ConfigGet(ctx context.Context, f Config, key string) (vals []string, status int, err error) {
	if err := plain("key", key); err != nil {
		return nil, 0, err
	}
	out, err := g.run(ctx, f.Dir, mode{soft: true}, "config", f.scope(), "--get-all", key)
	if err != nil || out.Retcode == 1 {
		return nil, out.Retcode, err
	}
	return lines(out.Stdout), out.Retcode, nil
}

// ConfigMatch returns the values of the keys that match a regular expression,
// and with valueRE only the values that match that one.
func (g *Client) ConfigMatch(ctx context.Context, f Config, keyRE string, valueRE value.Value) (*value.Map, int, error) {
	if err := plain("key", keyRE); err != nil {
		return nil, 0, err
	}
	args := []string{"config", f.scope(), "--get-regexp", keyRE}
	if valueRE != nil {
		args = append(args, value.Str(valueRE))
	}
	out, err := g.run(ctx, f.Dir, mode{soft: true}, args...)
	m := value.NewMap(2)
	if err != nil || out.Retcode == 1 {
		return m, out.Retcode, err
	}
	for _, line := range lines(out.Stdout) {
		key, val, ok := split2(line)
		if !ok {
			continue
		}
		if l, have := m.At(key).(*value.List); have {
			l.Items = append(l.Items, val)
			continue
		}
		m.Set(key, value.Strings(val))
	}
	return m, out.Retcode, nil
}

// ConfigSet sets a key to values and returns the values that it then has.
func (g *Client) ConfigSet(ctx context.Context, f Config, key string, vals []string, add bool) ([]string, error) {
	if err := plain("key", key); err != nil {
		return nil, err
	}
	prefix := []string{"config"}
	if f.Global {
		prefix = append(prefix, "--global")
	}
	for _, v := range vals {
		how := "--replace-all"
		if add {
			how = "--add"
		}
		if _, err := g.Run(ctx, f.Dir, append(slices.Clip(prefix), how, key, v)...); err != nil {
			return nil, err
		}
		add = true
	}
	now, _, err := g.ConfigGet(ctx, f, key)
	return now, err
}

// ConfigUnset removes values of a key: with all those that match valueRE, else
// the only one.
func (g *Client) ConfigUnset(ctx context.Context, f Config, key string, valueRE value.Value, all bool) error {
	if err := plain("key", key); err != nil {
		return err
	}
	how := "--unset"
	if all {
		how = "--unset-all"
	}
	args := []string{"config", f.scope(), how, key}
	if valueRE != nil {
		args = append(args, value.Str(valueRE))
	}
	out, err := g.run(ctx, f.Dir, mode{soft: true}, args...)
	if err != nil || out.Retcode == 0 {
		return err
	}
	switch out.Retcode {
	case 1:
		return fun.Errorf("Section or key is invalid")
	case 5:
		vals, _, err := g.ConfigGet(ctx, f, key)
		switch {
		case err != nil:
			return err
		case vals == nil:
			return fun.Errorf("Key '%s' does not exist", key)
		case valueRE != nil:
			return fun.Errorf("Multiple values exist for key '%s' and value_regex matches multiple values", key)
		}
		return fun.Errorf("Multiple values exist for key '%s'", key)
	case 6:
		return fun.Errorf("The value_regex is invalid")
	}
	msg := "Failed to unset key '" + key + "', git config returned exit code " + value.Str(int64(out.Retcode))
	if out.Stderr != "" {
		msg += "; " + Redact(out.Stderr)
	}
	return fun.Errorf("%s", msg)
}
