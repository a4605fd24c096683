// Package shims is Salt's execution modules "rbenv" and "pyenv": versions of Ruby
// and Python that are chosen by shims. Both tools work the same way.
//
// [Client] runs one of them; the state modules use it, too.
package shims

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/machine"
)

// A Tool is rbenv or pyenv.
type Tool struct {
	Name     string // "rbenv"
	Language string // "ruby"
	sources  []source
}

// A source is a repository that the tool consists of.
type source struct{ below, url string }

// The tools.
var (
	Rbenv = &Tool{Name: "rbenv", Language: "ruby", sources: []source{
		{"", "https://github.com/rbenv/rbenv.git"}, {"plugins/ruby-build", "https://github.com/rbenv/ruby-build.git"},
	}}
	Pyenv = &Tool{Name: "pyenv", Language: "python", sources: []source{{"", "https://github.com/pyenv/pyenv.git"}}}
)

// A Client runs a tool as one account.
type Client struct {
	*Tool
	Env  *fun.Env
	User string // "" is one's own
}

// Plain returns a version without the name of the language before it.
func (t *Tool) Plain(version string) string { return strings.TrimPrefix(version, t.Language+"-") }

// Root returns the directory of the tool: the setting NAME.root, that of the
// system for root, and the account's own for others.
func (c *Client) Root(ctx context.Context) string {
	root := "/usr/local/" + c.Name
	if v := machine.Option(ctx, c.Env, c.Name+".root"); value.Truth(v) {
		root = value.Str(v)
	} else if c.User != "" && c.User != "root" {
		root = "~" + c.User + "/." + c.Name
	}
	return machine.Expand(c.Env.Host, root)
}

// Installed reports whether the tool is there.
func (c *Client) Installed(ctx context.Context) bool {
	return machine.Executable(c.Env.Host, c.program(ctx))
}

func (c *Client) program(ctx context.Context) string {
	return filepath.Join(c.Root(ctx), "bin", c.Name)
}

// run runs the tool. ok is false where it is not there or fails; what it said
// then is logged.
func (c *Client) run(ctx context.Context, looks bool, vars *value.Map, args ...string) (out cmd.Out, ok bool, err error) {
	if !c.Installed(ctx) {
		return out, false, nil
	}
	env := value.MapOf(strings.ToUpper(c.Name)+"_ROOT", c.Root(ctx))
	if vars != nil {
		env.Update(vars)
	}
	return c.start(ctx, append([]string{c.program(ctx)}, args...), cmd.Options{RunAs: c.User, Env: env, ReadOnly: looks})
}

func (c *Client) start(ctx context.Context, words []string, o cmd.Options) (out cmd.Out, ok bool, err error) {
	out, err = cmd.RunWords(ctx, c.Env, words, o)
	if err == nil && out.Retcode != 0 {
		c.Env.Log().Error(filepath.Base(words[0])+" failed", "command", strings.Join(words, " "), "status", out.Retcode, "stderr", out.Stderr)
	}
	return out, err == nil && out.Retcode == 0, err
}

// git runs git, which asks nothing.
func (c *Client) git(ctx context.Context, dir string, args ...string) (bool, error) {
	_, ok, err := c.start(ctx, append([]string{"git"}, args...), cmd.Options{
		Cwd: dir, RunAs: c.User, Env: value.MapOf("GIT_TERMINAL_PROMPT", "0"),
	})
	return ok, err
}

func (c *Client) directory(ctx context.Context, path string) string {
	if path == "" {
		return c.Root(ctx)
	}
	return machine.Expand(c.Env.Host, path)
}

// Install clones the tool to a directory, "" is the usual one, and reports
// whether it is there then.
func (c *Client) Install(ctx context.Context, path string) (bool, error) {
	root := c.directory(ctx, path)
	for _, s := range c.sources {
		dir := filepath.Join(root, s.below)
		if machine.Exists(c.Env.Host, dir) {
			continue
		}
		if ok, err := c.git(ctx, "", "clone", "--", s.url, dir); !ok {
			return false, err
		}
	}
	return true, nil
}

// Update pulls the newest version of the tool.
func (c *Client) Update(ctx context.Context, path string) (bool, error) {
	root := c.directory(ctx, path)
	for _, s := range c.sources {
		dir := filepath.Join(root, s.below)
		if !machine.Exists(c.Env.Host, dir) {
			return false, nil
		}
		if ok, err := c.git(ctx, dir, "pull"); !ok {
			return false, err
		}
	}
	return true, nil
}

// checkVersion refuses a version that the tool would take for an option.
func (c *Client) checkVersion(version string) error {
	if version == "" || strings.HasPrefix(version, "-") || strings.ContainsAny(version, "/\r\n") {
		return fun.Errorf("invalid version of %s: %s", c.Language, value.Repr(version))
	}
	return nil
}

// buildEnv returns the variables of the setting build_env: NAME=VALUE words.
func (c *Client) buildEnv(ctx context.Context) *value.Map {
	v := machine.Option(ctx, c.Env, c.Name+".build_env")
	if !value.Truth(v) && c.Env.Pillar != nil {
		if x, ok := c.Env.Pillar.Get(c.Name); ok {
			if m, ok := x.(value.Mapping); ok {
				v, _ = m.Get("build_env")
			}
		}
	}
	env := value.NewMap(2)
	if m, ok := v.(value.Mapping); ok {
		env.Update(m)
		return env
	}
	if !value.Truth(v) {
		return env
	}
	words, err := proc.Split(value.Str(v))
	if err != nil {
		c.Env.Log().Error(c.Name+".build_env cannot be read", "error", err)
	}
	for _, w := range words {
		if k, x, ok := strings.Cut(w, "="); ok {
			env.Set(k, x)
		}
	}
	return env
}

// InstallVersion builds and installs a version, and returns what the tool said.
// A version that cannot be built leaves nothing.
func (c *Client) InstallVersion(ctx context.Context, version string) (said string, ok bool, err error) {
	version = c.Plain(version)
	if err := c.checkVersion(version); err != nil {
		return "", false, err
	}
	out, ok, err := c.run(ctx, false, c.buildEnv(ctx), "install", version)
	if err != nil {
		return "", false, err
	}
	if !ok {
		// What was half built is not to be listed as a version.
		_, err = c.UninstallVersion(ctx, version)
		return "", false, err
	}
	return out.Stderr, true, c.Rehash(ctx)
}

// UninstallVersion removes a version, and reports whether the tool could.
func (c *Client) UninstallVersion(ctx context.Context, version string) (bool, error) {
	version = c.Plain(version)
	if err := c.checkVersion(version); err != nil {
		return false, err
	}
	have, err := c.Versions(ctx)
	if err != nil || !slices.Contains(have, version) {
		return err == nil, err
	}
	_, ok, err := c.run(ctx, false, nil, "uninstall", "--force", version)
	return ok, err
}

// Versions returns the installed versions.
func (c *Client) Versions(ctx context.Context) ([]string, error) {
	out, _, err := c.run(ctx, true, nil, "versions", "--bare")
	return trimmed(out.Stdout), err
}

// List returns the versions that can be installed.
func (c *Client) List(ctx context.Context) ([]string, error) {
	out, _, err := c.run(ctx, true, nil, "install", "--list")
	lines := trimmed(out.Stdout)
	return slices.DeleteFunc(lines, func(l string) bool { return l == "Available versions:" }), err
}

func trimmed(s string) []string {
	lines := value.SplitLines(s, false)
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return lines
}

// Default returns the default version, "" where there is none.
func (c *Client) Default(ctx context.Context) (string, error) {
	out, _, err := c.run(ctx, true, nil, "global")
	return strings.TrimSpace(out.Stdout), err
}

// SetDefault makes a version the default one, and reports whether that worked.
func (c *Client) SetDefault(ctx context.Context, version string) (bool, error) {
	if err := c.checkVersion(version); err != nil {
		return false, err
	}
	_, ok, err := c.run(ctx, false, nil, "global", version)
	return ok, err
}

// Rehash makes the shims of programs that are new.
func (c *Client) Rehash(ctx context.Context) error {
	_, _, err := c.run(ctx, false, nil, "rehash")
	return err
}

// Do runs a command line with the shims, of a version ("" is the default one).
func (c *Client) Do(ctx context.Context, line, version string, vars *value.Map) (fun.Result, error) {
	words, err := proc.Split(line)
	switch {
	case err != nil:
		return fun.Result{}, fun.Errorf("invalid command line %s: %v", value.Repr(line), err)
	case len(words) == 0:
		return fun.Result{}, fun.Errorf("Command must be specified")
	}
	env := value.NewMap(3)
	if vars != nil {
		env.Update(vars)
	}
	env.Set(strings.ToUpper(c.Name)+"_ROOT", c.Root(ctx))
	if version != "" {
		env.Set(strings.ToUpper(c.Name)+"_VERSION", version)
	}
	out, ok, err := c.start(ctx, words, cmd.Options{RunAs: c.User, Env: env, PrependPath: filepath.Join(c.Root(ctx), "shims")})
	if !ok {
		return fun.Result{Value: false, Retcode: out.Retcode}, err
	}
	return fun.Result{Value: out.Stdout}, c.Rehash(ctx)
}
