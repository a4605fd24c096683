// Package selinux is Salt's execution module "selinux": mode, booleans, modules and
// policy of SELinux, by semanage, setsebool and semodule. States use its exported
// functions.
package selinux

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "selinux".
func Module() fun.Module {
	return fun.Module{Name: "selinux", Kind: fun.Exec, Doc: "Manage SELinux.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	for _, name := range [...]string{"semanage", "setsebool", "semodule"} {
		if !tool.Has(env.Host, name) {
			return false, name + " is not in the path"
		}
	}
	if machine.Grain(env, "kernel") != "Linux" {
		return false, "Module only works on Linux with selinux installed"
	}
	return true, ""
}

// config is the file of the mode that SELinux has after a boot.
const config = "/etc/selinux/config"

// run runs a tool of SELinux.
func run(ctx context.Context, env *fun.Env, argv ...string) (tool.Out, error) {
	return tool.Run(ctx, env.Host, argv...)
}

// named refuses a word that a tool would read as an option.
func named(what, s string) error {
	if s == "" || s[0] == '-' || strings.ContainsAny(s, "\r\n\x00") {
		return fun.Errorf("invalid %s: %s", what, value.Repr(s))
	}
	return nil
}

// mountPoint returns the directory of the file system of SELinux; "" where it is
// disabled.
func mountPoint(h host.Host) string {
	for _, dir := range [...]string{"/sys/fs/selinux", "/selinux"} {
		if st, err := h.Stat(dir + "/enforce"); err == nil && st.Mode.IsRegular() {
			return dir
		}
	}
	return ""
}

func selinuxFSPath(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if dir := mountPoint(c.Env.Host); dir != "" {
		return fun.Value(dir)
	}
	return fun.Value(nil)
}

// Enforce returns the mode of the running system: Enforcing, Permissive or Disabled.
func Enforce(h host.Host) string {
	dir := mountPoint(h)
	if dir == "" {
		return "Disabled"
	}
	b, err := h.ReadFile(dir + "/enforce")
	first, _, _ := strings.Cut(string(b), "\n")
	switch {
	case err != nil:
		return "Disabled"
	case strings.TrimSpace(first) == "0":
		return "Permissive"
	}
	return "Enforcing"
}

func getenforce(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(Enforce(c.Env.Host))
}

// Config returns the mode that the system has after a boot; "" is unknown.
func Config(h host.Host) string {
	text, err := h.ReadFile(config)
	if err != nil {
		return ""
	}
	for l := range strings.Lines(value.DecodeReplace(text)) {
		if mode, ok := strings.CutPrefix(strings.TrimSpace(l), "SELINUX="); ok {
			return capitalized(strings.TrimSpace(mode))
		}
	}
	return ""
}

func capitalized(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}

func getconfig(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if mode := Config(c.Env.Host); mode != "" {
		return fun.Value(mode)
	}
	return fun.Value(nil)
}

// SetMode sets the mode of the running system, as far as it can be without a boot,
// and of the configuration.
func SetMode(ctx context.Context, env *fun.Env, mode string) error {
	if Enforce(env.Host) != "Disabled" {
		bit := "0"
		if mode == "Enforcing" {
			bit = "1"
		}
		out, err := run(ctx, env, "setenforce", bit)
		if err != nil {
			return err
		}
		if !out.OK() {
			return fun.Errorf("Could not write SELinux enforce file: %s", out.Fault())
		}
	}
	defer textfile.Lock(env, config)()
	text, err := env.Host.ReadFile(config)
	if err != nil {
		return fun.Errorf("Could not read SELinux config file: %v", host.OSError(err))
	}
	lines, found := textfile.Lines(string(text)), false
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "SELINUX=") {
			lines[i], found = "SELINUX="+mode, true
		}
	}
	if !found {
		lines = append(lines, "SELINUX="+mode)
	}
	now := textfile.Join(lines)
	if now == string(text) {
		return nil
	}
	if err := textfile.Write(env.Host, config, now); err != nil {
		return fun.Errorf("Could not write SELinux config file: %v", host.OSError(err))
	}
	return nil
}

type setenforceArgs struct {
	_    fun.Arguments
	Mode value.Value `arg:"mode,required,str|bool|int" doc:"enforcing, permissive or disabled; 1 is enforcing, 0 permissive"`
}

func setenforce(ctx context.Context, c *fun.Call, a *setenforceArgs) (fun.Result, error) {
	given := a.Mode
	mode := ""
	if n, ok := value.AsInt(given); ok {
		mode = "Permissive"
		if n != 0 {
			mode = "Enforcing"
		}
	}
	switch s := strings.ToLower(value.Str(given)); s {
	case "enforcing", "permissive", "disabled":
		mode = capitalized(s)
	}
	if mode == "" {
		return fun.Value("Invalid mode " + value.Str(given))
	}
	if err := SetMode(ctx, c.Env, mode); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(Enforce(c.Env.Host))
}

// A Bool is a boolean of the policy.
type Bool struct{ State, Default, Description string }

func (b Bool) value() *value.Map {
	return value.MapOf("State", b.State, "Default", b.Default, "Description", b.Description)
}

// Bools returns the booleans of the policy by name, and the names in order.
func Bools(ctx context.Context, env *fun.Env) (map[string]Bool, []string, error) {
	out, err := run(ctx, env, "semanage", "boolean", "-l")
	if err != nil {
		return nil, nil, err
	}
	if !out.OK() {
		return nil, nil, fun.Errorf("cannot list the booleans: %s", out.Fault())
	}
	bools, names := map[string]Bool{}, []string{}
	for i, l := range value.SplitLines(out.Stdout, false) {
		f := strings.Fields(l)
		if i == 0 || len(f) < 4 {
			continue
		}
		bools[f[0]] = Bool{State: strings.TrimPrefix(f[1], "("), Default: strings.TrimSuffix(f[3], ")"), Description: strings.Join(f[4:], " ")}
		names = append(names, f[0])
	}
	return bools, names, nil
}

func listSebool(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	bools, names, err := Bools(ctx, c.Env)
	ret := value.NewMap(len(names))
	for _, n := range names {
		ret.Set(n, bools[n].value())
	}
	return fun.Result{Value: ret}, err
}

func getsebool(ctx context.Context, c *fun.Call, a *booleanArg) (fun.Result, error) {
	bools, _, err := Bools(ctx, c.Env)
	if b, ok := bools[a.Boolean]; ok {
		return fun.Value(b.value())
	}
	return fun.Result{Value: value.NewMap(0)}, err
}

// SetBools runs setsebool with words; a failure is logged.
func SetBools(ctx context.Context, env *fun.Env, persist bool, words ...string) (tool.Out, error) {
	argv := []string{"setsebool"}
	if persist {
		argv = append(argv, "-P")
	}
	for _, w := range words {
		if err := named("boolean", w); err != nil {
			return tool.Out{}, err
		}
	}
	return logged(ctx, env, append(argv, words...)...)
}

// logged runs a tool, and logs its message where it fails.
func logged(ctx context.Context, env *fun.Env, argv ...string) (tool.Out, error) {
	out, err := run(ctx, env, argv...)
	if err == nil && !out.OK() {
		env.Log().Error(argv[0]+" failed", "argv", strings.Join(argv, " "), "err", out.Fault())
	}
	return out, err
}

func succeeded(out tool.Out, err error) (fun.Result, error) {
	return fun.Result{Value: out.OK(), Retcode: out.Status}, err
}

type setseboolArgs struct {
	booleanArg
	Value string `arg:"value,required" doc:"on or off"`
	persistArg
}

func setsebool(ctx context.Context, c *fun.Call, a *setseboolArgs) (fun.Result, error) {
	return succeeded(SetBools(ctx, c.Env, a.Persist, a.Boolean, a.Value))
}

type setseboolsArgs struct {
	Pairs *value.Map `arg:"pairs,required" doc:"values by the names of booleans"`
	persistArg
}

func setsebools(ctx context.Context, c *fun.Call, a *setseboolsArgs) (fun.Result, error) {
	var words []string
	for k, v := range a.Pairs.All() {
		words = append(words, value.Str(k)+"="+value.Str(v))
	}
	if len(words) == 0 {
		return fun.Value(value.NewMap(0))
	}
	return succeeded(SetBools(ctx, c.Env, a.Persist, words...))
}

// A Semod is a module of the policy; its Version is "" where semodule shows none.
type Semod struct {
	Enabled bool
	Version string
}

func (s Semod) value() *value.Map {
	m := value.MapOf("Enabled", s.Enabled, "Version", nil)
	if s.Version != "" {
		m.Set("Version", s.Version)
	}
	return m
}

// Semods returns the modules of the policy by name, and the names in order.
func Semods(ctx context.Context, env *fun.Env) (map[string]Semod, []string, error) {
	help, err := run(ctx, env, "semodule", "-h")
	if err != nil {
		return nil, nil, err
	}
	full := false
	for l := range strings.Lines(help.Stdout + help.Stderr) {
		full = full || strings.HasPrefix(strings.TrimSpace(l), "full")
	}
	option := "-l"
	if full {
		option = "-lfull"
	}
	out, err := run(ctx, env, "semodule", option)
	if err != nil {
		return nil, nil, err
	}
	if !out.OK() {
		return nil, nil, fun.Errorf("cannot list the modules: %s", out.Fault())
	}
	mods, names := map[string]Semod{}, []string{}
	for l := range strings.Lines(out.Stdout) {
		name, m, ok := readSemod(strings.Fields(l), full)
		if ok {
			mods[name] = m
			names = append(names, name)
		}
	}
	return mods, names, nil
}

// readSemod reads a line of semodule: "PRIORITY NAME KIND [disabled]" in full, else
// "NAME VERSION [Disabled]".
func readSemod(f []string, full bool) (name string, m Semod, ok bool) {
	switch {
	case full && len(f) >= 2:
		return f[1], Semod{Enabled: len(f) != 4}, true
	case !full && len(f) >= 2:
		return f[0], Semod{Enabled: len(f) != 3, Version: f[1]}, true
	case !full && len(f) == 1:
		return f[0], Semod{Enabled: true}, true
	}
	return "", Semod{}, false
}

func listSemod(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	mods, names, err := Semods(ctx, c.Env)
	ret := value.NewMap(len(names))
	for _, n := range names {
		ret.Set(n, mods[n].value())
	}
	return fun.Result{Value: ret}, err
}

func getsemod(ctx context.Context, c *fun.Call, a *moduleArg) (fun.Result, error) {
	mods, _, err := Semods(ctx, c.Env)
	if m, ok := mods[a.Module]; ok {
		return fun.Value(m.value())
	}
	return fun.Result{Value: value.NewMap(0)}, err
}

// SetSemod enables or disables a module.
func SetSemod(ctx context.Context, env *fun.Env, module, state string) (tool.Out, error) {
	option := map[string]string{"enabled": "-e", "disabled": "-d"}[strings.ToLower(state)]
	if option == "" {
		return tool.Out{}, fun.Errorf("invalid state of a module: %s: it is Enabled or Disabled", value.Repr(state))
	}
	if err := named("module", module); err != nil {
		return tool.Out{}, err
	}
	return logged(ctx, env, "semodule", option, module)
}

type setsemodArgs struct {
	moduleArg
	State string `arg:"state,required" doc:"Enabled or Disabled"`
}

func setsemod(ctx context.Context, c *fun.Call, a *setsemodArgs) (fun.Result, error) {
	return succeeded(SetSemod(ctx, c.Env, a.Module, a.State))
}

// InstallSemod installs a module from a file, which may be a salt:// URL.
func InstallSemod(ctx context.Context, env *fun.Env, file string) (tool.Out, error) {
	if strings.HasPrefix(file, "salt://") {
		res, err := env.Exec(ctx, "cp.cache_file", nil, file)
		if err != nil {
			return tool.Out{}, err
		}
		cached, ok := res.(string)
		if !ok || cached == "" {
			return tool.Out{}, fun.Errorf("cannot find %s", file)
		}
		file = cached
	}
	if err := named("file of a module", file); err != nil {
		return tool.Out{}, err
	}
	return logged(ctx, env, "semodule", "-i", file)
}

type installSemodArgs struct {
	_          fun.Arguments
	ModulePath string `arg:"module_path,required,path" doc:"path or salt:// URL of the module"`
}

func installSemod(ctx context.Context, c *fun.Call, a *installSemodArgs) (fun.Result, error) {
	return succeeded(InstallSemod(ctx, c.Env, a.ModulePath))
}

// RemoveSemod removes a module.
func RemoveSemod(ctx context.Context, env *fun.Env, module string) (tool.Out, error) {
	if err := named("module", module); err != nil {
		return tool.Out{}, err
	}
	return logged(ctx, env, "semodule", "-r", module)
}

func removeSemod(ctx context.Context, c *fun.Call, a *moduleArg) (fun.Result, error) {
	return succeeded(RemoveSemod(ctx, c.Env, a.Module))
}
