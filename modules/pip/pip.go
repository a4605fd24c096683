// Package pip is Salt's execution module "pip": Python packages.
//
// [Client] runs pip; the state modules "pip" and "virtualenv" use it, too.
package pip

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/cmd"
)

// Module returns the execution module "pip".
func Module() fun.Module {
	return fun.Module{Name: "pip", Kind: fun.Exec, Doc: "Manage Python packages.", Specs: specs}
}

// ClientOf returns the client that the arguments bin_env, user, cwd and env_vars
// describe.
func ClientOf(c *fun.Call) *Client {
	p := &Client{Env: c.Env, BinEnv: c.Str("bin_env"), Cwd: c.Str("cwd")}
	if c.Declares("user") {
		p.User = c.Str("user")
	}
	if c.Declares("env_vars") {
		p.EnvVars = c.Map("env_vars")
	}
	return p
}

func freeze(ctx context.Context, c *fun.Call) (fun.Result, error) {
	lines, err := ClientOf(c).Freeze(ctx)
	return fun.Result{Value: value.Strings(lines...)}, err
}

var rangeRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`;\s*([<>=!~])`) })

func install(ctx context.Context, c *fun.Call) (fun.Result, error) {
	in := InstallOf(c)
	in.SaltEnv, in.NoVersionCheck = c.Str("saltenv"), c.Bool("disable_version_check")
	for _, pkg := range c.Strings("pkgs") {
		// A semicolon before an operator stands for the comma of a version range.
		in.Pkgs = append(in.Pkgs, rangeRE().ReplaceAllString(pkg, ",$1"))
	}
	out, ran, err := ClientOf(c).Install(ctx, in)
	if missing, ok := errors.AsType[*MissingError](err); ok {
		return fun.Value(value.MapOf("result", false, "comment", missing.Error()))
	}
	if err == nil && !ran {
		return fun.Value(value.MapOf("retcode", int64(0), "stdout", out.Stdout))
	}
	return all(out, err)
}

func all(out cmd.Out, err error) (fun.Result, error) {
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: out.Value(), Retcode: out.Retcode}, nil
}

func isInstalled(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ps, err := ClientOf(c).List(ctx)
	_, ok := ps.Find(c.Str("pkgname"))
	return fun.Result{Value: ok}, err
}

func list(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ps, err := ClientOf(c).List(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(ps))
	prefix := strings.ToLower(c.Str("prefix"))
	for _, p := range ps {
		if strings.HasPrefix(strings.ToLower(p.Name), prefix) {
			m.Set(p.Name, p.Version)
		}
	}
	return fun.Value(m)
}

func listAllVersions(ctx context.Context, c *fun.Call) (fun.Result, error) {
	versions, err := ClientOf(c).Versions(ctx, c.Str("pkg"), Index{
		URL: c.Str("index_url"), Extra: c.Str("extra_index_url"),
		Alpha: c.Bool("include_alpha"), Beta: c.Bool("include_beta"), RC: c.Bool("include_rc"),
	})
	if err != nil || len(versions) == 0 {
		return fun.Result{}, err
	}
	return fun.Value(value.Strings(versions...))
}

// frozen returns the package that a line of pip freeze tells of.
func frozen(line string) (Package, bool) {
	if e, ok := strings.CutPrefix(line, "-e "); ok {
		if version, name, ok := strings.Cut(e, "#egg="); ok {
			return Package{name, version}, true
		}
		line = e
	}
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "-") {
		return Package{}, false
	}
	for _, sep := range [...]string{"===", "==", " @ "} {
		if name, version, ok := strings.Cut(line, sep); ok {
			return Package{name, version}, true
		}
	}
	return Package{}, false
}

func listFreezeParse(ctx context.Context, c *fun.Call) (fun.Result, error) {
	p := ClientOf(c)
	m := value.NewMap(8)
	prefix := strings.ToLower(c.Str("prefix"))
	if strings.HasPrefix("pip", prefix) {
		v, err := p.Version(ctx)
		if err != nil {
			return fun.Result{}, err
		}
		m.Set("pip", v)
	}
	lines, err := p.Freeze(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	for _, l := range lines {
		if pkg, ok := frozen(l); ok && strings.HasPrefix(strings.ToLower(pkg.Name), prefix) {
			m.Set(pkg.Name, pkg.Version)
		}
	}
	return fun.Value(m)
}

func listUpgrades(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ups, err := ClientOf(c).Upgrades(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(ups))
	for _, u := range ups {
		m.Set(u.Name, u.Latest+" ["+u.Kind+"]")
	}
	return fun.Value(m)
}

func uninstall(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := ClientOf(c).Uninstall(ctx, Uninstall{
		Pkgs: c.Strings("pkgs"), Requirements: c.Strings("requirements"), SaltEnv: c.Str("saltenv"), Log: c.Str("log"),
		Proxy: c.Value("proxy"), Timeout: c.Value("timeout"),
	})
	if missing, ok := errors.AsType[*MissingError](err); ok {
		return fun.Value(value.MapOf("result", false, "comment", missing.Error()))
	}
	return all(out, err)
}

// UpgradeAll upgrades all packages that have newer versions, one after the other,
// and returns the changed ones and what pip said on stderr. ok is false where one
// could not be upgraded.
func (p *Client) UpgradeAll(ctx context.Context) (changes *value.Map, said string, ok bool, err error) {
	old, err := p.List(ctx)
	if err != nil {
		return nil, "", false, err
	}
	ups, err := p.Upgrades(ctx)
	if err != nil {
		return nil, "", false, err
	}
	ok = true
	for _, u := range ups {
		if err := checkWord("package", u.Name); err != nil {
			return nil, "", false, err
		}
		out, err := p.Run(ctx, p.environ(), "install", "-U", u.Name)
		if err != nil {
			return nil, "", false, err
		}
		ok = ok && out.Retcode == 0
		said += out.Stderr
	}
	now, err := p.List(ctx)
	return Changes(old, now), said, ok, err
}

// Changes returns the packages that differ: mappings with old and new.
func Changes(old, now Packages) *value.Map {
	m := value.NewMap(2)
	for _, p := range now {
		was := ""
		if o, ok := old.Find(p.Name); ok {
			was = o.Version
		}
		if was != p.Version {
			m.Set(p.Name, value.MapOf("new", p.Version, "old", was))
		}
	}
	for _, p := range old {
		if _, ok := now.Find(p.Name); !ok {
			m.Set(p.Name, value.MapOf("new", "", "old", p.Version))
		}
	}
	return m
}

func upgrade(ctx context.Context, c *fun.Call) (fun.Result, error) {
	changes, said, ok, err := ClientOf(c).UpgradeAll(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("changes", changes, "result", ok, "comment", said))
}

func upgradeAvailable(ctx context.Context, c *fun.Call) (fun.Result, error) {
	ups, err := ClientOf(c).Upgrades(ctx)
	name := Normal(c.Str("pkg"))
	for _, u := range ups {
		if Normal(u.Name) == name {
			return fun.Result{Value: true}, err
		}
	}
	return fun.Result{Value: false}, err
}

func version(ctx context.Context, c *fun.Call) (fun.Result, error) {
	v, err := ClientOf(c).Version(ctx)
	if v == "" {
		return fun.Result{}, err
	}
	return fun.Result{Value: v}, err
}
