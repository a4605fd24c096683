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

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cmd"
)

// Module returns the execution module "pip".
func Module() fun.Module {
	return fun.Module{Name: "pip", Kind: fun.Exec, Doc: "Manage Python packages.", Specs: specs}
}

func (a *whereArgs) client(c *fun.Call) *Client {
	return &Client{Env: c.Env, BinEnv: a.BinEnv, User: a.User, Cwd: a.Cwd}
}

type freezeArgs struct {
	whereArgs
	_       bool       `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
	EnvVars *value.Map `arg:"env_vars" doc:"environment variables for pip"`
	_       fun.Kwargs
}

func freeze(ctx context.Context, c *fun.Call, a *freezeArgs) (fun.Result, error) {
	p := a.client(c)
	p.EnvVars = a.EnvVars
	lines, err := p.Freeze(ctx)
	return fun.Result{Value: value.Strings(lines...)}, err
}

var rangeRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`;\s*([<>=!~])`) })

type installArgs struct {
	Pkgs []string `arg:"pkgs,comma[str]" doc:"packages, with versions as for pip"`
	ToolArgs
	SourceArgs
	GlobalOptions  []string `arg:"global_options,comma[str]" doc:"options for setup.py, before its command"`
	InstallOptions []string `arg:"install_options,comma[str]" doc:"options for setup.py install"`
	TrustArgs
	Saltenv string `arg:"saltenv" default:"base" doc:"saltenv of salt:// requirements files"`
	EnvArgs
	ExtraArgs           []value.Value `arg:"extra_args" doc:"further arguments: words, or mappings of an option and its value"`
	CacheDir            string        `arg:"cache_dir,path" doc:"directory for pip's cache"`
	NoBinary            []string      `arg:"no_binary,comma[str]" doc:"packages for which no wheel is used, or :all:"`
	DisableVersionCheck bool          `arg:"disable_version_check" default:"False" doc:"do not look for a newer pip"`
	_                   fun.Kwargs
}

func install(ctx context.Context, c *fun.Call, a *installArgs) (fun.Result, error) {
	in := InstallOf(&a.ToolArgs, &a.SourceArgs, &a.TrustArgs, &a.EnvArgs)
	in.GlobalOptions, in.InstallOptions, in.NoBinary, in.ExtraArgs = a.GlobalOptions, a.InstallOptions, a.NoBinary, a.ExtraArgs
	if in.CacheDir == "" {
		in.CacheDir = a.CacheDir
	}
	in.SaltEnv, in.NoVersionCheck = a.Saltenv, a.DisableVersionCheck
	for _, pkg := range a.Pkgs {
		// A semicolon before an operator stands for the comma of a version range.
		in.Pkgs = append(in.Pkgs, rangeRE().ReplaceAllString(pkg, ",$1"))
	}
	out, ran, err := ClientOf(c, &a.ToolArgs, &a.TrustArgs, &a.EnvArgs).Install(ctx, in)
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

type isInstalledArgs struct {
	Pkgname string `arg:"pkgname,required" doc:"name of the package"`
	whereArgs
}

func isInstalled(ctx context.Context, c *fun.Call, a *isInstalledArgs) (fun.Result, error) {
	ps, err := a.client(c).List(ctx)
	_, ok := ps.Find(a.Pkgname)
	return fun.Result{Value: ok}, err
}

// listArgs are the arguments of list and listFreezeParse.
type listArgs struct {
	Prefix string `arg:"prefix" doc:"only packages whose name starts with this"`
	whereArgs
	EnvVars *value.Map `arg:"env_vars" doc:"environment variables for pip"`
	_       fun.Kwargs
}

func list(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	p := a.client(c)
	p.EnvVars = a.EnvVars
	ps, err := p.List(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(ps))
	prefix := strings.ToLower(a.Prefix)
	for _, pkg := range ps {
		if strings.HasPrefix(strings.ToLower(pkg.Name), prefix) {
			m.Set(pkg.Name, pkg.Version)
		}
	}
	return fun.Value(m)
}

type listAllVersionsArgs struct {
	_             fun.Arguments
	Pkg           string `arg:"pkg,required" doc:"name of the package"`
	BinEnv        string `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	IncludeAlpha  bool   `arg:"include_alpha" default:"False" doc:"take alpha versions"`
	IncludeBeta   bool   `arg:"include_beta" default:"False" doc:"take beta versions"`
	IncludeRc     bool   `arg:"include_rc" default:"False" doc:"take release candidates"`
	User          string `arg:"user" doc:"account that runs pip"`
	Cwd           string `arg:"cwd,path" doc:"working directory"`
	IndexURL      string `arg:"index_url" doc:"URL of the package index"`
	ExtraIndexURL string `arg:"extra_index_url" doc:"URL of a further package index"`
}

func listAllVersions(ctx context.Context, c *fun.Call, a *listAllVersionsArgs) (fun.Result, error) {
	versions, err := (&Client{Env: c.Env, BinEnv: a.BinEnv, User: a.User, Cwd: a.Cwd}).Versions(ctx, a.Pkg, Index{
		URL: a.IndexURL, Extra: a.ExtraIndexURL,
		Alpha: a.IncludeAlpha, Beta: a.IncludeBeta, RC: a.IncludeRc,
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

func listFreezeParse(ctx context.Context, c *fun.Call, a *listArgs) (fun.Result, error) {
	p := a.client(c)
	p.EnvVars = a.EnvVars
	m := value.NewMap(8)
	prefix := strings.ToLower(a.Prefix)
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

func listUpgrades(ctx context.Context, c *fun.Call, a *whereArgs) (fun.Result, error) {
	ups, err := a.client(c).Upgrades(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(ups))
	for _, u := range ups {
		m.Set(u.Name, u.Latest+" ["+u.Kind+"]")
	}
	return fun.Value(m)
}

type uninstallArgs struct {
	_            fun.Arguments
	Pkgs         []string    `arg:"pkgs,comma[str]" doc:"packages, with versions as for pip"`
	Requirements []string    `arg:"requirements,comma[str]" doc:"requirements files: paths or salt:// URLs"`
	BinEnv       string      `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	Log          string      `arg:"log,path" doc:"file to which pip writes its log"`
	Proxy        value.Value `arg:"proxy,secret,str|bool" doc:"proxy; default: the one of the configuration, False for none"`
	Timeout      value.Value `arg:"timeout" unit:"s" doc:"how long pip waits for a connection"`
	User         string      `arg:"user" doc:"account that runs pip"`
	Cwd          string      `arg:"cwd,path" doc:"working directory"`
	Saltenv      string      `arg:"saltenv" default:"base" doc:"saltenv of salt:// requirements files"`
	_            bool        `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
}

func uninstall(ctx context.Context, c *fun.Call, a *uninstallArgs) (fun.Result, error) {
	out, err := (&Client{Env: c.Env, BinEnv: a.BinEnv, User: a.User, Cwd: a.Cwd}).Uninstall(ctx, Uninstall{
		Pkgs: a.Pkgs, Requirements: a.Requirements, SaltEnv: a.Saltenv, Log: a.Log,
		Proxy: a.Proxy, Timeout: a.Timeout,
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

type upgradeArgs struct {
	whereArgs
	_ bool `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
}

func upgrade(ctx context.Context, c *fun.Call, a *upgradeArgs) (fun.Result, error) {
	changes, said, ok, err := a.client(c).UpgradeAll(ctx)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("changes", changes, "result", ok, "comment", said))
}

type upgradeAvailableArgs struct {
	Pkg string `arg:"pkg,required" doc:"name of the package"`
	whereArgs
}

func upgradeAvailable(ctx context.Context, c *fun.Call, a *upgradeAvailableArgs) (fun.Result, error) {
	ups, err := a.client(c).Upgrades(ctx)
	name := Normal(a.Pkg)
	for _, u := range ups {
		if Normal(u.Name) == name {
			return fun.Result{Value: true}, err
		}
	}
	return fun.Result{Value: false}, err
}

type versionArgs struct {
	_      fun.Arguments
	BinEnv string `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	Cwd    string `arg:"cwd,path" doc:"working directory"`
	User   string `arg:"user" doc:"account that runs pip"`
}

func version(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	v, err := (&Client{Env: c.Env, BinEnv: a.BinEnv, User: a.User, Cwd: a.Cwd}).Version(ctx)
	if v == "" {
		return fun.Result{}, err
	}
	return fun.Result{Value: v}, err
}
