// Package pip is Salt's state module "pip": Python packages.
package pip

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/pip"
)

// States returns the rows of the state module "pip".
func States() fun.Module {
	return fun.Module{Name: "pip", Kind: fun.State, Doc: "Manage Python packages.", Specs: specs, Brings: fun.Always}
}

// message returns the text of an error that a state reports in its comment; ok is
// false for others.
func message(err error) (msg string, ok bool) {
	var ce *fun.CommandError
	var missing *pip.MissingError
	if errors.As(err, &ce) || errors.As(err, &missing) {
		return err.Error(), true
	}
	return "", false
}

// An installing is one run of pip.installed.
type installing struct {
	a       *installedArgs
	c       *fun.Call
	p       *pip.Client
	in      pip.Install
	name    string
	wanted  []pip.Requirement
	missing []pip.Requirement // what pip has to install
	present []string          // what is to be said of the others
	changes *value.Map
}

func (s *installing) ret(result fun.Outcome, comment string) *fun.Ret {
	ret := fun.Ret{Name: s.name, Result: result, Comment: comment, Changes: s.changes}.ResultFirst()
	return &ret
}

func (s *installing) failed(prefix string, err error) *fun.Ret {
	msg, ok := message(err)
	if !ok {
		ret := fun.Raise(err)
		return &ret
	}
	return s.ret(fun.Failed, prefix+msg)
}

type installedArgs struct {
	Name   string      `arg:"name,required" doc:"package, with versions as for pip"`
	Pkgs   value.Value `arg:"pkgs" doc:"packages, instead of the name"`
	PipBin string      `arg:"pip_bin,path" doc:"the old name of bin_env"`
	pip.ToolArgs
	_ string `arg:"repo" doc:"accepted for compatibility"`
	pip.SourceArgs
	InstallOptions []string `arg:"install_options,comma[str]" doc:"options for setup.py install"`
	GlobalOptions  []string `arg:"global_options,comma[str]" doc:"options for setup.py, before its command"`
	pip.TrustArgs
	pip.EnvArgs
	CacheDir  string        `arg:"cache_dir,path" doc:"directory for pip's cache"`
	NoBinary  []string      `arg:"no_binary,comma[str]" doc:"packages for which no wheel is used, or :all:"`
	ExtraArgs []value.Value `arg:"extra_args" doc:"further arguments: words, or mappings of an option and its value"`
	_         fun.Kwargs
}

// installed makes sure that packages are installed: those of name or pkgs, those
// of requirements files, or an editable source tree.
// Salt: salt/states/pip_state.py installed.
func installed(ctx context.Context, c *fun.Call, a *installedArgs) fun.Ret {
	s := &installing{c: c, a: a, changes: value.NewMap(1), name: a.Name}
	s.p = pip.ClientOf(c, &a.ToolArgs, &a.TrustArgs, &a.EnvArgs)
	s.in = pip.InstallOf(&a.ToolArgs, &a.SourceArgs, &a.TrustArgs, &a.EnvArgs)
	s.in.GlobalOptions, s.in.InstallOptions, s.in.NoBinary, s.in.ExtraArgs = a.GlobalOptions, a.InstallOptions, a.NoBinary, a.ExtraArgs
	if s.in.CacheDir == "" {
		s.in.CacheDir = a.CacheDir
	}
	if s.p.BinEnv == "" {
		s.p.BinEnv = a.PipBin
	}
	s.in.SaltEnv, s.in.NoVersionCheck = c.Env.SaltEnv, true
	if c.Low != nil && c.Low.SaltEnv != "" {
		s.in.SaltEnv = c.Low.SaltEnv
	}
	files := len(s.in.Requirements) > 0 || len(s.in.Editable) > 0
	steps := []func(context.Context) *fun.Ret{s.read, s.checkPip, s.parse, s.look, s.install}
	if files {
		steps = []func(context.Context) *fun.Ret{s.read, s.checkPip, s.process}
	}
	for _, step := range steps {
		if stop := step(ctx); stop != nil {
			return *stop
		}
	}
	return *s.ret(fun.Failed, "Could not install package")
}

// read reads the packages.
func (s *installing) read(context.Context) *fun.Ret {
	texts := []string{s.a.Name}
	if v := s.a.Pkgs; value.Truth(v) {
		l, ok := v.(*value.List)
		if !ok {
			return s.ret(fun.Failed, "pkgs argument must be formatted as a list")
		}
		texts = nil
		for _, x := range l.Items {
			m, ok := x.(*value.Map)
			if !ok {
				texts = append(texts, value.Str(x))
				continue
			}
			for k, v := range m.All() {
				texts = append(texts, value.Str(k)+" "+value.Str(v))
			}
		}
	}
	s.name = strings.Join(texts, ";")
	for _, t := range texts {
		s.wanted = append(s.wanted, pip.Requirement{Text: t})
	}
	return nil
}

// checkPip checks that there is a pip, and that it has the options asked for.
func (s *installing) checkPip(ctx context.Context) *fun.Ret {
	have, err := (&pip.Client{Env: s.c.Env, BinEnv: s.p.BinEnv}).Version(ctx)
	if err != nil {
		return s.failed("Error installing '"+s.a.Name+"': ", err)
	}
	for _, o := range [...]struct {
		on   bool
		name string
	}{{s.in.UseWheel, "use_wheel"}, {s.in.NoUseWheel, "no_use_wheel"}} {
		if o.on && !pip.HasWheelOptions(have) {
			return s.ret(fun.Failed, "The '"+o.name+"' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was "+have+".")
		}
	}
	return nil
}

// parse reads what packages and versions are asked for.
func (s *installing) parse(context.Context) *fun.Ret {
	var faults []string
	for i, w := range s.wanted {
		r, err := pip.ParseRequirement(s.c.Env.Host, s.p.Cwd, w.Text)
		if err != nil {
			faults = append(faults, err.Error())
		}
		s.wanted[i] = r
	}
	if len(faults) > 0 {
		return s.ret(fun.Failed, strings.Join(faults, "\n"))
	}
	return nil
}

// look finds out which packages have to be installed.
func (s *installing) look(ctx context.Context) *fun.Ret {
	have, err := s.p.List(ctx)
	if err != nil {
		return s.failed("Error installing '"+s.a.Name+"': ", err)
	}
	for _, w := range s.wanted {
		there, comment, err := s.isThere(ctx, w, have)
		if err != nil {
			return s.failed("Error installing '"+s.a.Name+"': ", err)
		}
		if there {
			s.present = append(s.present, comment)
			continue
		}
		s.missing = append(s.missing, w)
		if !s.c.Test {
			continue
		}
		if len(s.wanted) == 1 {
			return s.ret(fun.WouldChange, "Python package "+w.Text+" is set to be installed")
		}
		all := []string{"Python package(s) set to be installed:"}
		for _, w := range s.wanted {
			all = append(all, w.Text)
		}
		return s.ret(fun.WouldChange, strings.Join(all, "\n"))
	}
	if len(s.missing) == 0 {
		last := "All specified packages are already installed"
		if s.in.Upgrade {
			last += " and up-to-date"
		}
		return s.ret(fun.OK, strings.Join(append(s.present, last), "\n"))
	}
	return nil
}

// isThere reports whether a package is installed as asked for.
// Salt: salt/states/pip_state.py _check_if_installed.
func (s *installing) isThere(ctx context.Context, w pip.Requirement, have pip.Packages) (bool, string, error) {
	p, ok := have.Find(w.Name)
	if w.Name == "" || !ok || s.in.IgnoreInstalled || s.in.ForceReinstall {
		return false, "", nil
	}
	already := "Python package " + w.Text + " was already installed"
	if !s.in.Upgrade {
		return w.Fulfills(p.Version), already, nil
	}
	from := s.in.Index
	for _, spec := range w.Specs {
		from.Alpha = from.Alpha || strings.Contains(spec[1], "a")
		from.Beta = from.Beta || strings.Contains(spec[1], "b")
		from.RC = from.RC || strings.Contains(spec[1], "rc")
	}
	if s.in.PreReleases {
		from.Alpha, from.Beta, from.RC = true, true, true
	}
	versions, err := s.p.Versions(ctx, w.Name, from)
	if err != nil {
		return false, "", err
	}
	newest := ""
	for _, v := range versions {
		if w.Fulfills(v) {
			newest = v
		}
	}
	if newest == "" {
		return true, "Python package " + w.Name + " was already installed and\nthe available upgrade doesn't fulfills the version requirements", nil
	}
	return pip.SameVersion(p.Version, newest), already, nil
}

// install installs what is missing.
func (s *installing) install(ctx context.Context) *fun.Ret {
	in := s.in
	var texts []string
	for _, m := range s.missing {
		in.Pkgs = append(in.Pkgs, m.Text)
		texts = append(texts, m.Text)
	}
	out, _, err := s.p.Install(ctx, in)
	if err != nil {
		return s.failed("Failed to install packages: "+strings.Join(texts, ", ")+". Error: ", err)
	}
	before := ""
	if len(s.present) > 0 {
		before = strings.Join(s.present, "\n") + "\n"
	}
	if out.Retcode != 0 {
		return s.ret(fun.Failed, before+"Failed to install packages: "+strings.Join(texts, ", ")+". Error: "+out.Stdout+" "+out.Stderr)
	}
	have, err := s.p.List(ctx)
	if err != nil {
		return s.failed("", err)
	}
	var unseen []string
	same := unchanged(out.Stdout)
	for _, m := range s.missing {
		p, ok := have.Find(m.Name)
		switch {
		case m.Name == "":
			s.changes.Set(m.Text+"==???", "Installed")
		case !ok:
			unseen = append(unseen, "There was no error installing package '"+m.Text+"' although it does not show when calling 'pip.freeze'.")
		case !same[pip.Normal(m.Name)]:
			s.changes.Set(m.Name+"=="+p.Version, "Installed")
		}
	}
	if len(unseen) > 0 {
		return s.ret(fun.OK, before+strings.Join(unseen, "\n"))
	}
	return s.ret(fun.OK, before+"All packages were successfully installed")
}

// unchanged returns the packages of which pip said that they are up to date.
func unchanged(stdout string) map[string]bool {
	same := map[string]bool{}
	for line := range strings.SplitSeq(stdout, "\n") {
		rest, ok := strings.CutPrefix(line, "Requirement already up-to-date: ")
		if words := strings.Fields(rest); ok && len(words) > 0 {
			same[pip.Normal(words[0])] = true
		}
	}
	return same
}

// shown shows an argument as Salt does: text as it is, a list as Python prints it.
func (s *installing) shown(name string, l []string) string {
	if s.c.Low != nil && s.c.Low.Low != nil {
		if v, ok := s.c.Low.Low.Get(name); ok {
			return value.Str(v)
		}
	}
	return strings.Join(l, ",")
}

// process installs what requirements files name, or an editable source tree.
func (s *installing) process(ctx context.Context) *fun.Ret {
	files, editable := len(s.in.Requirements) > 0, len(s.in.Editable) > 0
	var said []string
	if s.c.Test {
		if files {
			said = append(said, "Requirements file '"+s.shown("requirements", s.a.Requirements)+"' will be processed.")
		}
		if editable {
			said = append(said, "Package will be installed in editable mode (i.e. setuptools \"develop mode\") from "+s.shown("editable", s.a.Editable)+".")
		}
		return s.ret(fun.WouldChange, strings.Join(said, " "))
	}
	out, _, err := s.p.Install(ctx, s.in)
	if err != nil || out.Retcode != 0 {
		fault := "Error: " + out.Stdout + " " + out.Stderr
		if err != nil {
			msg, ok := message(err)
			if !ok {
				ret := fun.Raise(err)
				return &ret
			}
			fault = "Error: " + msg
		}
		if files {
			said = append(said, `Unable to process requirements file "`+s.shown("requirements", s.a.Requirements)+`"`)
		}
		if editable {
			said = append(said, "Unable to install from VCS checkout "+s.shown("editable", s.a.Editable)+".")
		}
		return s.ret(fun.Failed, strings.Join(append(said, fault), " "))
	}
	if files {
		if s.changed(out) {
			s.changes.Set("requirements", true)
			said = append(said, "Successfully processed requirements file "+s.shown("requirements", s.a.Requirements)+".")
		} else {
			said = append(said, "Requirements were already installed.")
		}
	}
	if editable {
		s.changes.Set("editable", true)
		said = append(said, "Package successfully installed from VCS checkout "+s.shown("editable", s.a.Editable)+".")
	}
	return s.ret(fun.OK, strings.Join(said, " "))
}

// changed reports whether pip installed something; a silent pip may have.
func (s *installing) changed(out cmd.Out) bool {
	if strings.TrimSpace(out.Stdout) == "" {
		return true
	}
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Successfully installed") || strings.HasPrefix(line, "Successfully downloaded") {
			return true
		}
	}
	return false
}

type removedArgs struct {
	_            fun.Arguments
	Name         string      `arg:"name,required" doc:"name of the package"`
	Requirements []string    `arg:"requirements,comma[str]" doc:"requirements files: paths or salt:// URLs"`
	BinEnv       string      `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	Log          string      `arg:"log,path" doc:"file to which pip writes its log"`
	Proxy        value.Value `arg:"proxy,secret,str|bool" doc:"proxy; default: the one of the configuration, False for none"`
	Timeout      value.Value `arg:"timeout" unit:"s" doc:"how long pip waits for a connection"`
	User         string      `arg:"user" doc:"account that runs pip"`
	Cwd          string      `arg:"cwd,path" doc:"working directory"`
	_            bool        `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
}

// removed makes sure that a package is not installed.
// Salt: salt/states/pip_state.py removed.
func removed(ctx context.Context, c *fun.Call, a *removedArgs) fun.Ret {
	name := a.Name
	ret := fun.Ret{}.ResultFirst()
	p := &pip.Client{Env: c.Env, BinEnv: a.BinEnv, User: a.User, Cwd: a.Cwd}
	have, err := p.List(ctx)
	if err != nil {
		msg, ok := message(err)
		if !ok {
			return fun.Raise(err)
		}
		ret.Comment = "Error uninstalling '" + name + "': " + msg
		return ret
	}
	pkg, ok := have.Find(name)
	switch {
	case !ok:
		ret.Result, ret.Comment = fun.OK, "Package is not installed."
		return ret
	case c.Test:
		ret.Result, ret.Comment = fun.WouldChange, "Package "+name+" is set to be removed"
		return ret
	}
	saltenv := c.Env.SaltEnv
	if c.Low != nil && c.Low.SaltEnv != "" {
		saltenv = c.Low.SaltEnv
	}
	out, err := p.Uninstall(ctx, pip.Uninstall{
		Pkgs: []string{pkg.Name}, Requirements: a.Requirements, SaltEnv: saltenv, Log: a.Log, Proxy: a.Proxy, Timeout: a.Timeout,
	})
	if err != nil {
		msg, ok := message(err)
		if !ok {
			return fun.Raise(err)
		}
		ret.Comment = "Could not remove package. " + msg
		return ret
	}
	if out.Retcode != 0 {
		ret.Comment = strings.TrimSpace("Could not remove package. " + out.Stderr)
		return ret
	}
	ret.Result, ret.Comment, ret.Changes = fun.OK, "Package was successfully removed.", value.MapOf(name, "Removed")
	return ret
}

type uptodateArgs struct {
	_      fun.Arguments
	_      string `arg:"name,required" doc:"name of the state"`
	BinEnv string `arg:"bin_env,path" doc:"a virtualenv, or the path of a Python or a pip; default: the python3 of the system"`
	User   string `arg:"user" doc:"account that runs pip"`
	Cwd    string `arg:"cwd,path" doc:"working directory"`
	_      bool   `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
}

// uptodate upgrades all packages.
// Salt: salt/states/pip_state.py uptodate.
func uptodate(ctx context.Context, c *fun.Call, a *uptodateArgs) fun.Ret {
	p := &pip.Client{Env: c.Env, BinEnv: a.BinEnv, User: a.User, Cwd: a.Cwd}
	ret := fun.Ret{}
	ups, err := p.Upgrades(ctx)
	if err == nil && len(ups) > 0 && !c.Test {
		changes, said, ok, upErr := p.UpgradeAll(ctx)
		if err = upErr; err == nil && !ok {
			ret.Comment, ret.Changes = said, changes
			return ret
		}
		if err == nil {
			ret.Result, ret.Comment, ret.Changes = fun.OK, "Upgrade successful.", value.MapOf("changes", changes, "result", true, "comment", said)
			return ret
		}
	}
	switch {
	case err != nil:
		msg, ok := message(err)
		if !ok {
			return fun.Raise(err)
		}
		ret.Comment = msg
	case len(ups) == 0:
		ret.Result, ret.Comment = fun.OK, "System is already up-to-date."
	default:
		ret.Result, ret.Comment = fun.WouldChange, "System update will be performed"
	}
	return ret
}
