package systemd

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/modules/machine"
	"brine/modules/service"
	"brine/modules/tool"
)

// at returns where a path lies in another root.
func at(root, p string) string {
	if root == "" {
		return p
	}
	return path.Join(root, p)
}

// rooted puts --root in front of arguments of systemctl.
func rooted(root string, argv ...string) []string {
	if root == "" {
		return argv
	}
	return append([]string{"--root", root}, argv...)
}

// ready makes systemd read its files again before they are changed; in another
// root there is none.
func (m *manager) ready(ctx context.Context, name, root string) error {
	if root != "" || !machine.Booted(m.h) {
		return nil
	}
	return m.fresh(ctx, name)
}

type enableArgs struct {
	service.NameArg
	noBlockArg
	unmaskArgs
	rootArgs
	_ fun.Kwargs
}

func enable(ctx context.Context, c *fun.Call, a *enableArgs) (fun.Result, error) {
	m := newManager(c.Env)
	name, root := a.Name, a.Root
	if err := m.ready(ctx, name, root); err != nil {
		return fun.Result{}, err
	}
	if err := m.unmaskAsked(ctx, name, &a.unmaskArgs, root); err != nil {
		return fun.Result{}, err
	}
	if m.isSysv(name, root) {
		return m.sysvSwitch(ctx, name, true)
	}
	out, err := m.act(ctx, blocking(a.NoBlock, rooted(root, "enable", "--", canonical(name))...)...)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("%s", strings.TrimSpace(out.Stderr))
	}
	return machine.Bool(true, err)
}

type disableArgs struct {
	service.NameArg
	noBlockArg
	rootArg
	_ fun.Kwargs
}

func disable(ctx context.Context, c *fun.Call, a *disableArgs) (fun.Result, error) {
	m := newManager(c.Env)
	name, root := a.Name, a.Root
	if err := m.ready(ctx, name, root); err != nil {
		return fun.Result{}, err
	}
	if m.isSysv(name, root) {
		return m.sysvSwitch(ctx, name, false)
	}
	out, err := m.act(ctx, blocking(a.NoBlock, rooted(root, "disable", "--", canonical(name))...)...)
	return machine.Bool(out.Status == 0, err)
}

type enabledArgs struct {
	service.NameArg
	rootArg
	_ fun.Kwargs
}

func enabled(ctx context.Context, c *fun.Call, a *enabledArgs) (fun.Result, error) {
	return machine.Bool(newManager(c.Env).enabled(ctx, a.Name, a.Root))
}

// disabledArgs are the arguments of disabled and show.
type disabledArgs struct {
	service.NameArg
	rootArg
}

func disabled(ctx context.Context, c *fun.Call, a *disabledArgs) (fun.Result, error) {
	on, err := newManager(c.Env).enabled(ctx, a.Name, a.Root)
	return machine.Bool(!on, err)
}

// enabled returns whether a unit starts at boot. Old versions of systemd cannot
// tell of instances of templates, and none can of all init scripts.
func (m *manager) enabled(ctx context.Context, name, root string) (bool, error) {
	var st fileState
	var err error
	if root == "" {
		st, err = m.fileState(ctx, name)
	} else {
		st, err = m.isEnabled(ctx, root, canonical(name))
	}
	switch {
	case err != nil:
		return false, err
	case st.on:
		return true, nil
	case strings.Contains(name, "@"):
		return st.word == "" && m.linked(canonical(name), root), nil
	case m.isSysv(name, root):
		return m.sysvEnabled(ctx, name, root)
	}
	return false, nil
}

// linked reports whether a link of a unit is in the directories where systemctl
// enable makes them.
func (m *manager) linked(unit, root string) bool {
	dir := at(root, unitDirs[0])
	names, _ := m.h.ReadDir(dir)
	for _, n := range names {
		if strings.HasSuffix(n, ".wants") || strings.HasSuffix(n, ".requires") {
			if _, err := m.h.Readlink(path.Join(dir, n, unit)); err == nil {
				return true
			}
		}
	}
	_, err := m.h.Readlink(path.Join(dir, unit))
	return err == nil
}

// masked reports whether a unit is masked, until the next boot or for good.
func (m *manager) masked(name string, runtime bool, root string) bool {
	unit := canonical(name)
	if strings.ContainsAny(unit, "/\x00") {
		return false
	}
	dir := "/etc"
	if runtime {
		dir = "/run"
	}
	target, err := m.h.Readlink(path.Join(at(root, dir), "systemd/system", unit))
	return err == nil && target == "/dev/null"
}

// isMaskedArgs are the arguments of isMasked, mask and unmask.
type isMaskedArgs struct {
	service.NameArg
	runtimeArg
	rootArg
}

func isMasked(_ context.Context, c *fun.Call, a *isMaskedArgs) (fun.Result, error) {
	return fun.Value(newManager(c.Env).masked(a.Name, a.Runtime, a.Root))
}

// setMask masks or unmasks a unit.
func (m *manager) setMask(ctx context.Context, action, name string, runtime bool, root string) (tool.Out, error) {
	argv := []string{action}
	if runtime {
		argv = append(argv, "--runtime")
	}
	return m.act(ctx, rooted(root, append(argv, "--", canonical(name))...)...)
}

func mask(ctx context.Context, c *fun.Call, a *isMaskedArgs) (fun.Result, error) {
	m := newManager(c.Env)
	name, root := a.Name, a.Root
	if err := m.ready(ctx, name, root); err != nil {
		return fun.Result{}, err
	}
	out, err := m.setMask(ctx, "mask", name, a.Runtime, root)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("Failed to mask service '%s'%s", name, info(out))
	}
	return machine.Bool(true, err)
}

// info is a tool's output as Salt appends it to an error.
func info(out tool.Out) string {
	text := strings.TrimSpace(out.Stdout + out.Stderr)
	if text == "" {
		return ""
	}
	return ". Additional info follows:\n\n" + text
}

func unmask(ctx context.Context, c *fun.Call, a *isMaskedArgs) (fun.Result, error) {
	return machine.Bool(true, newManager(c.Env).unmask(ctx, a.Name, a.Runtime, a.Root))
}

// unmask takes a mask away, if there is one.
func (m *manager) unmask(ctx context.Context, name string, runtime bool, root string) error {
	if err := m.ready(ctx, name, root); err != nil {
		return err
	}
	if !m.masked(name, runtime, root) {
		return nil
	}
	out, err := m.setMask(ctx, "unmask", name, runtime, root)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("Failed to unmask service '%s'%s", name, reasonOf(out))
	}
	return err
}

// unmaskAsked takes the masks away that the arguments of a call name.
func (m *manager) unmaskAsked(ctx context.Context, name string, a *unmaskArgs, root string) error {
	if a.Unmask {
		if err := m.unmask(ctx, name, false, root); err != nil {
			return err
		}
	}
	if a.UnmaskRuntime {
		return m.unmask(ctx, name, true, root)
	}
	return nil
}

// initDir is where init scripts are.
const initDir = "/etc/init.d"

// isSysv reports whether a service is an init script without a unit file.
func (m *manager) isSysv(name, root string) bool {
	if name == "" || strings.ContainsAny(name, "/\x00") || !machine.Executable(m.h, at(root, initDir)+"/"+name) {
		return false
	}
	return !slices.ContainsFunc(listedDirs, func(dir string) bool { return machine.Exists(m.h, at(root, dir)+"/"+canonical(name)) })
}

// sysvSwitch has an init script run at boot or not.
func (m *manager) sysvSwitch(ctx context.Context, name string, on bool) (fun.Result, error) {
	if err := service.Check(name); err != nil {
		return fun.Result{}, err
	}
	var argv []string
	if _, err := m.h.LookPath("update-rc.d", ""); err == nil {
		argv = []string{"update-rc.d", "-f", name, "remove"}
		if on {
			argv = []string{"update-rc.d", "-f", name, "defaults", "99"}
		}
	} else if _, err := m.h.LookPath("chkconfig", ""); err == nil {
		argv = []string{"chkconfig", name, "off"}
		if on {
			argv[2] = "on"
		}
	} else {
		return fun.Result{}, fun.Errorf("Unable to find sysv service manager (tried update-rc.d, chkconfig)")
	}
	out, err := tool.Run(ctx, m.h, argv...)
	return machine.Bool(out.Status == 0, err)
}

// sysvEnabled reports whether an init script has a link among those of the
// runlevel that start something.
func (m *manager) sysvEnabled(ctx context.Context, name, root string) (bool, error) {
	level, err := m.runlevel(ctx)
	if err != nil {
		return false, err
	}
	names, _ := m.h.ReadDir(at(root, "/etc/rc"+level+".d"))
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, "S"); ok && strings.TrimLeft(rest[:min(2, len(rest))], "0123456789")+rest[min(2, len(rest)):] == name {
			return true, nil
		}
	}
	return false, nil
}

type runlevelKey struct{}

// runlevel returns the current runlevel, or the one that is meant to be.
func (m *manager) runlevel(ctx context.Context) (string, error) {
	if m.env.Memo != nil {
		if v, ok := m.env.Memo.Load(runlevelKey{}); ok {
			return v.(string), nil
		}
	}
	level := ""
	if _, err := m.h.LookPath("runlevel", ""); err == nil {
		out, err := tool.Look(ctx, m.h, "runlevel")
		if err != nil {
			return "", err
		}
		if f := strings.Fields(out.Stdout); len(f) > 1 {
			level = f[1]
		}
	}
	if level == "" {
		level = m.defaultRunlevel()
	}
	if m.env.Memo != nil {
		m.env.Memo.Store(runlevelKey{}, level)
	}
	return level, nil
}

// defaultRunlevel reads the runlevel from the files that have it on machines
// which once ran another init. Salt: salt/modules/systemd_service.py
// _default_runlevel.
func (m *manager) defaultRunlevel() string {
	level := "2"
	text, err := m.h.ReadFile("/etc/init/rc-sysinit.conf")
	if err != nil {
		return level
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "env DEFAULT_RUNLEVEL") {
			level = strings.TrimSpace(line[strings.LastIndexByte(line, '=')+1:])
		}
	}
	text, _ = m.h.ReadFile("/etc/inittab")
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, ":"); !strings.HasPrefix(line, "#") && strings.Contains(line, "initdefault") && len(f) > 1 {
			level = f[1]
		}
	}
	text, _ = m.h.ReadFile("/proc/cmdline")
	for word := range strings.FieldsSeq(string(text)) {
		if regexp.MustCompile(`^([0-6sS]|-s|single)$`).MatchString(word) {
			level = word
		}
	}
	return level
}
