// Package virtualenv is Salt's execution module "virtualenv": Python
// environments.
package virtualenv

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/pkgversion"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cmd"
	"brine/modules/cp"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "virtualenv".
func Module() fun.Module {
	return fun.Module{Name: "virtualenv", Kind: fun.Exec, Doc: "Create Python environments.", Specs: specs}
}

// A Want is how an environment is created.
type Want struct {
	Path            string
	Bin             string // program; "" is the configured one, or the one that exists
	SystemSite      bool
	Distribute      bool
	Clear           bool
	Python          string
	ExtraSearchDirs []string
	NeverDownload   value.Value // true, false, or nil where it is not given
	Prompt          string
	Pip             bool
	Symlinks        value.Value
	Upgrade         value.Value
	User            string
	SaltEnv         string
}

// program returns the words of the program that creates environments.
func program(e *fun.Env, bin string) ([]string, error) {
	if bin == "" && e.Opts != nil && e.Opts.At("venv_bin") != nil {
		bin = e.Opts.Str("venv_bin")
	}
	if bin == "" && e.Pillar != nil {
		if v, ok := e.Pillar.Get("venv_bin"); ok && v != nil {
			bin = value.Str(v)
		}
	}
	if bin == "" {
		for _, name := range []string{"virtualenv", "virtualenv3"} {
			if tool.Has(e.Host, name) {
				return []string{name}, nil
			}
		}
		if tool.Has(e.Host, "python3") {
			return []string{"python3", "-m", "venv"}, nil
		}
		return []string{"virtualenv"}, nil
	}
	if strings.HasPrefix(bin, "-") {
		return nil, fun.Errorf("invalid venv_bin '%s': it must not start with a dash", bin)
	}
	if machine.Exists(e.Host, bin) {
		return []string{bin}, nil
	}
	words, err := proc.Split(bin)
	if err != nil || len(words) == 0 {
		return nil, fun.Errorf("invalid venv_bin '%s'", bin)
	}
	return words, nil
}

// standard reports whether a program is the module venv of Python, not
// virtualenv.
func standard(words []string) bool {
	n := len(words)
	return strings.Contains(words[0], "pyvenv") || n > 2 && words[n-2] == "-m" && words[n-1] == "venv"
}

var (
	numberRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d.\d*`) })
	tailRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(rc|\+ds|\+|\.dev|\.post|a|b).*$`) })
)

// version returns the version of virtualenv.
func version(ctx context.Context, e *fun.Env, words []string, user string) (string, error) {
	argv := append(append([]string{}, words...), "--version")
	out, err := cmd.RunWords(ctx, e, argv, cmd.Options{RunAs: user, Merge: true, ReadOnly: true})
	if err != nil {
		return "", err
	}
	for w := range strings.FieldsSeq(out.Stdout) {
		if out.Retcode == 0 && numberRE().MatchString(w) {
			return tailRE().ReplaceAllString(w, ""), nil
		}
	}
	return "", fun.Errorf("Unable to get the virtualenv version output using '%s'. Returned data: %s", value.Repr(value.Strings(argv...)), value.Repr(out.Value()))
}

// Create creates an environment.
// Salt: salt/modules/virtualenv_mod.py create.
func Create(ctx context.Context, e *fun.Env, w Want) (cmd.Out, error) {
	if strings.HasPrefix(w.Path, "-") || w.Path == "" {
		return cmd.Out{}, fun.Errorf("invalid path '%s': it must not be empty or start with a dash", w.Path)
	}
	if err := e.Host.CheckSystem(w.Path, true); err != nil && w.Clear {
		return cmd.Out{}, fun.Errorf("%s", err)
	}
	words, err := program(e, w.Bin)
	if err != nil {
		return cmd.Out{}, err
	}
	if standard(words) {
		words, err = w.standardArgs(e, words)
	} else {
		words, err = w.virtualenvArgs(ctx, e, words)
	}
	if err != nil {
		return cmd.Out{}, err
	}
	if w.Clear {
		words = append(words, "--clear")
	}
	if w.SystemSite {
		words = append(words, "--system-site-packages")
	}
	out, err := cmd.RunWords(ctx, e, append(words, w.Path), cmd.Options{RunAs: w.User, Alone: []string{w.Path}, Makes: w.Path, AloneArg: "user"})
	if err != nil || out.Retcode != 0 || !w.Pip || machine.Exists(e.Host, filepath.Join(w.Path, "bin/pip")) {
		return out, err
	}
	more, err := w.installPip(ctx, e)
	if err != nil {
		return out, err
	}
	out.Retcode = more.Retcode
	out.Stdout = strings.TrimSpace(out.Stdout + "\n" + more.Stdout)
	out.Stderr = strings.TrimSpace(out.Stderr + "\n" + more.Stderr)
	return out, nil
}

func (w Want) virtualenvArgs(ctx context.Context, e *fun.Env, words []string) ([]string, error) {
	bin := strings.Join(words, " ")
	if w.Upgrade != nil {
		return nil, fun.Errorf("The `upgrade`(`--upgrade`) option is not supported by '%s'", bin)
	}
	if w.Symlinks != nil {
		return nil, fun.Errorf("The `symlinks`(`--symlinks`) option is not supported by '%s'", bin)
	}
	have, err := version(ctx, e, words, w.User)
	if err != nil {
		return nil, err
	}
	if w.Distribute && pkgversion.PEP440(have, "1.10") < 0 {
		words = append(words, "--distribute")
	}
	if w.Python != "" {
		if !tool.Has(e.Host, w.Python) {
			return nil, fun.Errorf("Cannot find requested python (%s).", w.Python)
		}
		words = append(words, "--python="+w.Python)
	}
	for _, d := range w.ExtraSearchDirs {
		words = append(words, "--extra-search-dir="+d)
	}
	if w.NeverDownload == true && (pkgversion.PEP440(have, "1.10") < 0 || pkgversion.PEP440(have, "14.0.0") >= 0) {
		words = append(words, "--never-download")
	}
	if w.Prompt != "" {
		words = append(words, "--prompt="+w.Prompt)
	}
	return words, nil
}

func (w Want) standardArgs(e *fun.Env, words []string) ([]string, error) {
	bin := strings.Join(words, " ")
	unsupported := func(name string) ([]string, error) {
		return nil, fun.Errorf("The `%[1]s`(`--%[2]s`) option is not supported by '%[3]s'", name, strings.ReplaceAll(name, "_", "-"), bin)
	}
	switch {
	case w.Python != "" && w.Bin == "" && bin == "python3 -m venv":
		// brine chose the program: the Python that is asked for has the module, too.
		if !tool.Has(e.Host, w.Python) {
			return nil, fun.Errorf("Cannot find requested python (%s).", w.Python)
		}
		words = []string{w.Python, "-m", "venv"}
	case w.Python != "":
		return unsupported("python")
	}
	switch {
	case len(w.ExtraSearchDirs) > 0:
		return unsupported("extra_search_dir")
	case w.NeverDownload != nil:
		return unsupported("never_download")
	case w.Prompt != "" && strings.Contains(words[0], "pyvenv"):
		return unsupported("prompt")
	case w.Prompt != "":
		words = append(words, "--prompt", w.Prompt)
	}
	if w.Upgrade == true {
		words = append(words, "--upgrade")
	}
	if w.Symlinks == true {
		words = append(words, "--symlinks")
	}
	return words, nil
}

// installPip installs pip by the script of its authors.
func (w Want) installPip(ctx context.Context, e *fun.Env) (cmd.Out, error) {
	const source = "https://bootstrap.pypa.io/get-pip.py"
	r, err := cp.New(e, w.SaltEnv).Open(ctx, source, cp.Options{})
	if err != nil {
		return cmd.Out{}, fun.Errorf("%s: %v", source, err)
	}
	defer func() { _ = r.Close() }()
	dir, err := e.Host.MkdirTemp("", "brine-venv-")
	if err != nil {
		return cmd.Out{}, fun.Errorf("Unable to store %s: %s", source, host.OSError(err))
	}
	defer func() { _ = e.Host.RemoveAll(dir) }()
	script := filepath.Join(dir, "get-pip.py")
	mode := host.FileMode(0o644)
	if err = e.Host.WriteFile(script, r, host.WriteOptions{Mode: &mode}); err == nil {
		err = e.Host.Chmod(dir, 0o755)
	}
	if err != nil {
		return cmd.Out{}, fun.Errorf("Unable to store %s: %s", source, host.OSError(err))
	}
	return cmd.RunWords(ctx, e, []string{filepath.Join(w.Path, "bin/python"), script},
		cmd.Options{RunAs: w.User, Cwd: w.Path, Env: value.MapOf("VIRTUAL_ENV", w.Path)})
}

type createArgs struct {
	Path               string      `arg:"path,required,path" doc:"directory of the environment"`
	VenvBin            string      `arg:"venv_bin" doc:"virtualenv program, or python3 -m venv; default: virtualenv if available, else python3 -m venv"`
	SystemSitePackages bool        `arg:"system_site_packages" default:"False" doc:"let the environment see the packages of the system"`
	Distribute         bool        `arg:"distribute" default:"False" doc:"accepted; it is used by virtualenv before 1.10 only"`
	Clear              bool        `arg:"clear" default:"False" doc:"delete what is in the environment first"`
	Python             string      `arg:"python" doc:"Python of the environment"`
	ExtraSearchDir     []string    `arg:"extra_search_dir,comma[str]" doc:"directories with wheels for virtualenv"`
	NeverDownload      value.Value `arg:"never_download,bool" doc:"virtualenv downloads nothing"`
	Prompt             string      `arg:"prompt" doc:"text that the shell shows before its prompt"`
	Pip                bool        `arg:"pip" default:"False" doc:"install pip where the environment has none"`
	Symlinks           value.Value `arg:"symlinks,bool" doc:"link the Python instead of copying it; python3 -m venv only"`
	Upgrade            value.Value `arg:"upgrade,bool" doc:"update an environment after an update of Python; python3 -m venv only"`
	User               string      `arg:"user" doc:"account that creates the environment"`
	_                  bool        `arg:"use_vt" default:"False" doc:"accepted; output is not shown while it runs"`
	Saltenv            string      `arg:"saltenv" default:"base" doc:"accepted for compatibility"`
	fun.SystemPath
	_ fun.Kwargs
}

func create(ctx context.Context, c *fun.Call, a *createArgs) (fun.Result, error) {
	out, err := Create(ctx, c.Env, Want{
		Path: a.Path, Bin: a.VenvBin, SystemSite: a.SystemSitePackages, Distribute: a.Distribute, Clear: a.Clear,
		Python: strings.TrimSpace(a.Python), ExtraSearchDirs: a.ExtraSearchDir, NeverDownload: a.NeverDownload,
		Prompt: strings.TrimSpace(a.Prompt), Pip: a.Pip, Symlinks: a.Symlinks, Upgrade: a.Upgrade, User: a.User, SaltEnv: a.Saltenv,
	})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Result{Value: out.Value(), Retcode: out.Retcode}, nil
}

// python runs Python code in an environment; args are its sys.argv[1:].
func python(ctx context.Context, c *fun.Call, argVenv string, code string, args ...string) (fun.Result, error) {
	venv := argVenv
	bin := filepath.Join(venv, "bin/python")
	if !machine.Exists(c.Env.Host, bin) {
		return fun.Result{}, fun.Errorf("Path '%s' does not appear to be a virtualenv: bin/python not found.", venv)
	}
	out, err := cmd.RunWords(ctx, c.Env, append([]string{bin, "-c", code}, args...), cmd.Options{ReadOnly: true})
	if err != nil {
		return fun.Result{}, err
	}
	if out.Retcode != 0 {
		return fun.Result{}, fun.Errorf("%s\n%s", out.Stdout, out.Stderr)
	}
	return fun.Value(out.Stdout)
}

type getSitePackagesArgs struct {
	_    fun.Arguments
	Venv string `arg:"venv,required,path" doc:"directory of the environment"`
}

func getSitePackages(ctx context.Context, c *fun.Call, a *getSitePackagesArgs) (fun.Result, error) {
	return python(ctx, c, a.Venv, `import sysconfig; print(sysconfig.get_path("purelib"))`)
}

type getDistributionPathArgs struct {
	_            fun.Arguments
	Venv         string `arg:"venv,required,path" doc:"directory of the environment"`
	Distribution string `arg:"distribution,required" doc:"name of a package"`
}

func getDistributionPath(ctx context.Context, c *fun.Call, a *getDistributionPathArgs) (fun.Result, error) {
	return python(ctx, c, a.Venv, `import sys, pkg_resources; print(pkg_resources.get_distribution(sys.argv[1]).location)`, a.Distribution)
}

// getResourcePathArgs are the arguments of getResourcePath and getResourceContent.
type getResourcePathArgs struct {
	_        fun.Arguments
	Venv     string `arg:"venv,required,path" doc:"directory of the environment"`
	Package  string `arg:"package" doc:"name of a package"`
	Resource string `arg:"resource" doc:"path in the package"`
}

func getResourcePath(ctx context.Context, c *fun.Call, a *getResourcePathArgs) (fun.Result, error) {
	return python(ctx, c, a.Venv, `import sys, pkg_resources; print(pkg_resources.resource_filename(sys.argv[1], sys.argv[2]))`, a.Package, a.Resource)
}

func getResourceContent(ctx context.Context, c *fun.Call, a *getResourcePathArgs) (fun.Result, error) {
	return python(ctx, c, a.Venv, `import sys, pkg_resources; print(pkg_resources.resource_string(sys.argv[1], sys.argv[2]))`, a.Package, a.Resource)
}

type virtualenvVerArgs struct {
	VenvBin string `arg:"venv_bin,required" doc:"virtualenv program, or python3 -m venv; default: virtualenv if available, else python3 -m venv"`
	User    string `arg:"user" doc:"account that creates the environment"`
	_       fun.Kwargs
}

func virtualenvVer(ctx context.Context, c *fun.Call, a *virtualenvVerArgs) (fun.Result, error) {
	words, err := program(c.Env, a.VenvBin)
	if err != nil {
		return fun.Result{}, err
	}
	v, err := version(ctx, c.Env, words, a.User)
	if err != nil {
		return fun.Result{}, err
	}
	parts := &value.List{}
	for p := range strings.SplitSeq(v, ".") {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return fun.Result{}, fun.Errorf("Unable to read the virtualenv version %s", v)
		}
		parts.Items = append(parts.Items, n)
	}
	return fun.Value(parts)
}
