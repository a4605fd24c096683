// Package virtualenv is Salt's state module "virtualenv": Python environments.
package virtualenv

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/cp"
	"brine/modules/machine"
	"brine/modules/pip"
	"brine/modules/textfile"
	"brine/modules/virtualenv"
)

// States returns the rows of the state module "virtualenv".
func States() fun.Module {
	return fun.Module{Name: "virtualenv", Kind: fun.State, Doc: "Manage Python environments.", Specs: specs, Brings: fun.Always}
}

// A managing is one run of virtualenv.managed.
type managing struct {
	a       *managedArgs
	c       *fun.Call
	name    string
	python  string
	exists  bool
	saltenv string
	ret     fun.Ret
	changes *value.Map
}

// fail reports a failure.
func (m *managing) fail(comment string) *fun.Ret {
	m.ret.Result, m.ret.Comment = fun.Failed, comment
	return &m.ret
}

func (m *managing) failed(err error) *fun.Ret {
	if ce, ok := errors.AsType[*fun.CommandError](err); ok {
		return m.fail(ce.Msg)
	}
	ret := fun.Raise(err)
	return &ret
}

type managedArgs struct {
	Name                   string      `arg:"name,required,path" doc:"directory of the environment"`
	VenvBin                string      `arg:"venv_bin" doc:"virtualenv program, or python3 -m venv; default: virtualenv if available, else python3 -m venv"`
	Requirements           []string    `arg:"requirements,comma[str]" doc:"requirements files: paths or salt:// URLs"`
	SystemSitePackages     bool        `arg:"system_site_packages" default:"False" doc:"let the environment see the packages of the system"`
	Distribute             bool        `arg:"distribute" default:"False" doc:"accepted; it is used by virtualenv before 1.10 only"`
	UseWheel               bool        `arg:"use_wheel" default:"False" doc:"prefer wheels; pip 1.4 to 9.0.3 only"`
	Clear                  bool        `arg:"clear" default:"False" doc:"delete what is in the environment first"`
	Python                 string      `arg:"python" doc:"Python of the environment"`
	ExtraSearchDir         []string    `arg:"extra_search_dir,comma[str]" doc:"directories with wheels for virtualenv"`
	NeverDownload          value.Value `arg:"never_download,bool" doc:"virtualenv downloads nothing"`
	Prompt                 string      `arg:"prompt" doc:"text that the shell shows before its prompt"`
	User                   string      `arg:"user" doc:"account that creates the environment"`
	Cwd                    string      `arg:"cwd,path" doc:"working directory of pip"`
	IndexURL               string      `arg:"index_url" doc:"URL of the package index"`
	ExtraIndexURL          string      `arg:"extra_index_url" doc:"URL of a further package index"`
	PreReleases            bool        `arg:"pre_releases" default:"False" doc:"take pre-releases, too"`
	NoDeps                 bool        `arg:"no_deps" default:"False" doc:"do not install dependencies"`
	PipDownload            string      `arg:"pip_download,path" doc:"download to this directory instead of installing; old pip only"`
	PipDownloadCache       string      `arg:"pip_download_cache,path" doc:"directory for pip's cache"`
	PipExistsAction        string      `arg:"pip_exists_action" doc:"what to do where a path exists: s, i, w or b"`
	PipIgnoreInstalled     bool        `arg:"pip_ignore_installed" default:"False" doc:"install whatever is installed"`
	Proxy                  value.Value `arg:"proxy,secret,str|bool" doc:"proxy; default: the one of the configuration"`
	_                      bool        `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
	EnvVars                *value.Map  `arg:"env_vars" doc:"environment variables for pip"`
	NoUseWheel             bool        `arg:"no_use_wheel" default:"False" doc:"do not use wheels; pip 1.4 to 9.0.3 only"`
	PipUpgrade             bool        `arg:"pip_upgrade" default:"False" doc:"upgrade packages that are installed"`
	PipPkgs                []string    `arg:"pip_pkgs,comma[str]" doc:"packages to install"`
	PipNoCacheDir          bool        `arg:"pip_no_cache_dir" default:"False" doc:"do not use pip's cache"`
	PipCacheDir            string      `arg:"pip_cache_dir,path" doc:"directory for pip's cache"`
	ProcessDependencyLinks bool        `arg:"process_dependency_links" default:"False" doc:"follow dependency links; old pip only"`
	NoBinary               []string    `arg:"no_binary,comma[str]" doc:"packages for which no wheel is used, or :all:"`
	fun.SystemPath
	_ fun.Kwargs
}

// managed makes sure that an environment exists, and with requirements or
// pip_pkgs that packages are installed in it.
// Salt: salt/states/virtualenv_mod.py managed.
func managed(ctx context.Context, c *fun.Call, a *managedArgs) fun.Ret {
	m := &managing{c: c, a: a, name: a.Name, saltenv: c.Env.SaltEnv, changes: value.NewMap(2)}
	if c.Low != nil && c.Low.SaltEnv != "" {
		m.saltenv = c.Low.SaltEnv
	}
	m.python = filepath.Join(m.name, "bin/python")
	m.exists = machine.Exists(c.Env.Host, m.python)
	m.ret = fun.Ret{Changes: m.changes, Result: fun.OK}.ResultFirst()
	for _, step := range []func(context.Context) *fun.Ret{m.checkFiles, m.cleared, m.test, m.create, m.checkPip, m.populate} {
		if stop := step(ctx); stop != nil {
			return *stop
		}
	}
	return m.ret
}

// checkFiles checks that requirements files of the file server exist.
func (m *managing) checkFiles(ctx context.Context) *fun.Ret {
	for _, r := range m.a.Requirements {
		if cp.Scheme(r) != "salt" {
			continue
		}
		found, err := cp.New(m.c.Env, m.saltenv).Exists(ctx, r)
		if err != nil {
			return m.fail("pip requirements file '" + r + "' cannot be read: " + err.Error())
		}
		if !found {
			return m.fail("pip requirements file '" + r + "' not found")
		}
	}
	return nil
}

// pythonVersion returns what python -V prints on stderr: the version of a Python
// 2; later ones print it on stdout, and Salt reports an empty text.
func (m *managing) pythonVersion(ctx context.Context) (string, error) {
	out, err := cmd.RunWords(ctx, m.c.Env, []string{m.python, "-V"}, cmd.Options{ReadOnly: true})
	return strings.Trim(out.Stderr, "\n"), err
}

func (m *managing) cleared(ctx context.Context) *fun.Ret {
	if !m.exists || !m.a.Clear {
		return nil
	}
	if err := m.c.Env.Host.CheckSystem(m.name, true); err != nil {
		return m.failed(err)
	}
	lines, err := (&pip.Client{Env: m.c.Env, BinEnv: m.name}).Freeze(ctx)
	if err != nil {
		return m.failed(err)
	}
	m.changes.Set("cleared_packages", value.Strings(lines...))
	old, err := m.pythonVersion(ctx)
	if err != nil {
		return m.failed(err)
	}
	m.changes.Set("old", old)
	return nil
}

func (m *managing) test(context.Context) *fun.Ret {
	if !m.c.Test {
		return nil
	}
	switch {
	case m.exists && m.a.Clear:
		m.ret.Result, m.ret.Comment = fun.WouldChange, "Virtualenv "+m.name+" is set to be cleared"
	case m.exists:
		m.ret.Comment = "Virtualenv " + m.name + " is already created"
	default:
		m.ret.Result, m.ret.Comment = fun.WouldChange, "Virtualenv "+m.name+" is set to be created"
	}
	return &m.ret
}

func (m *managing) create(ctx context.Context) *fun.Ret {
	if m.exists && !m.a.Clear {
		m.ret.Comment = "virtualenv exists"
		return nil
	}
	out, err := virtualenv.Create(ctx, m.c.Env, virtualenv.Want{
		Path: m.name, Bin: m.a.VenvBin, SystemSite: m.a.SystemSitePackages, Distribute: m.a.Distribute, Clear: m.a.Clear,
		Python: strings.TrimSpace(m.a.Python), ExtraSearchDirs: m.a.ExtraSearchDir, NeverDownload: m.a.NeverDownload,
		Prompt: strings.TrimSpace(m.a.Prompt), User: m.a.User, SaltEnv: m.saltenv,
	})
	if err != nil {
		ret := fun.Raise(err)
		return &ret
	}
	if out.Retcode != 0 {
		return m.fail(out.Stdout + out.Stderr)
	}
	now, err := m.pythonVersion(ctx)
	if err != nil {
		return m.failed(err)
	}
	m.changes.Set("new", now)
	m.ret.Comment = "Created new virtualenv"
	if m.a.Clear {
		m.ret.Comment = "Cleared existing virtualenv"
	}
	return nil
}

// checkPip checks that the environment's pip has the options asked for.
func (m *managing) checkPip(ctx context.Context) *fun.Ret {
	for _, option := range [...]struct {
		name string
		set  bool
	}{{"use_wheel", m.a.UseWheel}, {"no_use_wheel", m.a.NoUseWheel}} {
		if !option.set {
			continue
		}
		have, err := (&pip.Client{Env: m.c.Env, BinEnv: m.name}).Version(ctx)
		if err != nil {
			return m.failed(err)
		}
		if !pip.HasWheelOptions(have) {
			return m.fail("The '" + option.name + "' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was " + have + ".")
		}
	}
	return nil
}

// populate installs packages.
func (m *managing) populate(ctx context.Context) *fun.Ret {
	c := m.c
	files, pkgs := m.a.Requirements, m.a.PipPkgs
	if len(files) == 0 && len(pkgs) == 0 {
		return nil
	}
	p := &pip.Client{Env: c.Env, BinEnv: m.name, User: m.a.User, EnvVars: m.a.EnvVars}
	before, err := p.Freeze(ctx)
	if err != nil {
		return m.failed(err)
	}
	p.Cwd = m.a.Cwd
	if len(files) > 0 && cp.Scheme(files[0]) != "salt" && !filepath.IsAbs(files[0]) && p.Cwd == "" {
		if wd, err := c.Env.Host.Getwd(); err == nil {
			p.Cwd = filepath.Dir(filepath.Join(wd, files[0]))
			for i, f := range files {
				files[i] = filepath.Join(wd, f)
			}
		}
	}
	in := pip.Install{
		Pkgs: pkgs, Requirements: files, SaltEnv: m.saltenv, DependencyLinks: m.a.ProcessDependencyLinks,
		UseWheel: m.a.UseWheel, NoUseWheel: m.a.NoUseWheel, NoBinary: m.a.NoBinary,
		Index:    pip.Index{URL: m.a.IndexURL, Extra: m.a.ExtraIndexURL},
		Download: m.a.PipDownload, CacheDir: m.a.PipDownloadCache, PreReleases: m.a.PreReleases,
		ExistsAction: m.a.PipExistsAction, IgnoreInstalled: m.a.PipIgnoreInstalled, Upgrade: m.a.PipUpgrade,
		NoDeps: m.a.NoDeps, Proxy: m.a.Proxy, NoCacheDir: m.a.PipNoCacheDir,
	}
	if in.CacheDir == "" {
		in.CacheDir = m.a.PipCacheDir
	}
	out, _, err := p.Install(ctx, in)
	if err != nil {
		return m.failed(err)
	}
	if out.Retcode != 0 {
		m.ret.Result = fun.Failed
		m.ret.Comment = value.Str(m.ret.Comment) + "\n" + out.Stdout + "\n" + out.Stderr
	}
	after, err := (&pip.Client{Env: c.Env, BinEnv: m.name}).Freeze(ctx)
	if err != nil {
		return m.failed(err)
	}
	fresh, gone := textfile.Without(after, before), textfile.Without(before, after)
	if len(fresh)+len(gone) > 0 {
		m.changes.Set("packages", value.MapOf("new", listed(fresh), "old", listed(gone)))
	}
	return nil
}

func listed(lines []string) value.Value {
	if len(lines) == 0 {
		return ""
	}
	return value.Strings(lines...)
}
