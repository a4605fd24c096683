// Package kmod is Salt's execution module "kmod": modules of the Linux kernel.
package kmod

import (
	"context"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "kmod".
func Module() fun.Module {
	return fun.Module{Name: "kmod", Kind: fun.Exec, Doc: "Modules of the Linux kernel.", Avail: machine.OnLinux("only for Linux"), Specs: specs}
}

// Bare returns the name of a module as the kernel has it, from one that may have
// parameters: snd-pcm and snd_pcm are the same.
func Bare(mod string) string {
	f := strings.Fields(mod)
	if len(f) == 0 {
		return ""
	}
	return strings.ReplaceAll(f[0], "-", "_")
}

// check refuses what a tool would take for an option or a file.
func check(mod string) ([]string, error) {
	f := strings.Fields(mod)
	if len(f) == 0 || strings.HasPrefix(f[0], "-") || strings.ContainsAny(mod, "/\n\x00#") {
		return nil, fun.Errorf("'%s' is not the name of a kernel module", mod)
	}
	return f, nil
}

// file returns the name of the module in a file of the kernel's, such as
// kernel/fs/ext4/ext4.ko.xz; ok is false for other files.
func file(p string) (name string, ok bool) {
	name, _, ok = strings.Cut(path.Base(strings.TrimSpace(p)), ".ko")
	return Bare(name), ok && name != ""
}

// all returns the modules that the running kernel has or could load, sorted.
func all(c *fun.Call) ([]string, error) {
	h := c.Env.Host
	u, err := h.Uname()
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	var names []string
	add := func(p string) {
		if n, ok := file(p); ok {
			names = append(names, n)
		}
	}
	dir := "/lib/modules/" + u.Release
	for _, list := range []string{"/modules.builtin", "/modules.dep"} {
		text, _ := h.ReadFile(dir + list)
		for line := range strings.Lines(string(text)) {
			p, _, _ := strings.Cut(line, ":")
			add(p)
		}
	}
	// Modules that depmod has not seen yet, where those of other packages are put.
	for _, more := range []string{"/updates", "/extra", "/updates/dkms"} {
		files, _ := h.ReadDir(dir + more)
		for _, f := range files {
			add(f)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Builtin returns the modules that are part of the running kernel itself.
func Builtin(env *fun.Env) []string {
	u, err := env.Host.Uname()
	if err != nil {
		return nil
	}
	text, _ := env.Host.ReadFile("/lib/modules/" + u.Release + "/modules.builtin")
	var names []string
	for line := range strings.Lines(string(text)) {
		if n, ok := file(line); ok {
			names = append(names, n)
		}
	}
	return names
}

func available(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return machine.Strings(all(c))
}

func checkAvailable(_ context.Context, c *fun.Call, a *modArgs) (fun.Result, error) {
	names, err := all(c)
	return machine.Bool(slices.Contains(names, Bare(a.Mod)), err)
}

// A loaded module is a line of /proc/modules.
type loaded struct {
	name, size, used string
	deps             []string
}

// parseModules reads /proc/modules: name, size, users, and the modules that use it.
func parseModules(text string) []loaded {
	var mods []loaded
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		m := loaded{name: f[0], size: f[1], used: f[2]}
		if len(f) > 3 && f[3] != "-" {
			for d := range strings.SplitSeq(f[3], ",") {
				if d != "" {
					m.deps = append(m.deps, d)
				}
			}
		}
		mods = append(mods, m)
	}
	return mods
}

// list returns the modules that are loaded.
func list(c *fun.Call) []loaded {
	text, err := c.Env.Host.ReadFile("/proc/modules")
	if err != nil {
		return nil // a kernel without loadable modules
	}
	return parseModules(value.DecodeReplace(text))
}

func lsmod(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	l := value.NewList()
	for _, m := range list(c) {
		l.Append(value.MapOf("size", m.size, "module", m.name, "depcount", m.used, "deps", value.Strings(m.deps...)))
	}
	return fun.Value(l)
}

// names returns the names of the modules that are loaded, sorted.
func names(c *fun.Call) []string {
	var out []string
	for _, m := range list(c) {
		out = append(out, m.name)
	}
	slices.Sort(out)
	return out
}

// conf is the file of the modules that are loaded at boot.
func conf(env *fun.Env) string {
	if v, ok := env.Grains.Get("systemd"); ok && v != nil || machine.Booted(env.Host) {
		return "/etc/modules-load.d/salt_managed.conf"
	}
	return "/etc/modules"
}

// lines returns the lines of the file of the modules that are loaded at boot.
func lines(c *fun.Call) []string {
	text, err := c.Env.Host.ReadFile(conf(c.Env))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(value.DecodeReplace(text), "\n"), "\n")
}

// persistent returns the modules that are loaded at boot, sorted.
func persistent(c *fun.Call) []string {
	var out []string
	for _, l := range lines(c) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, strings.Fields(l)[0])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type modListArgs struct {
	_           fun.Arguments
	OnlyPersist bool `arg:"only_persist" default:"False" doc:"those that are loaded at boot instead"`
}

func modList(_ context.Context, c *fun.Call, a *modListArgs) (fun.Result, error) {
	if a.OnlyPersist {
		return machine.Strings(persistent(c), nil)
	}
	return machine.Strings(slices.Compact(names(c)), nil)
}

func isLoaded(_ context.Context, c *fun.Call, a *modArgs) (fun.Result, error) {
	return machine.Bool(slices.Contains(names(c), Bare(a.Mod)), nil)
}

// has reports whether a list has a module, however it is written.
func has(list []string, mod string) bool {
	return slices.ContainsFunc(list, func(n string) bool { return Bare(n) == Bare(mod) })
}

func write(c *fun.Call, ls []string) error {
	text := strings.Join(ls, "\n")
	if text != "" {
		text += "\n"
	}
	return machine.Write(c.Env.Host, conf(c.Env), text)
}

// persist has a module loaded at boot and reports whether it was not.
func persist(c *fun.Call, mod string) (bool, error) {
	avail, err := all(c)
	if err != nil || has(persistent(c), mod) || !has(avail, mod) {
		return false, err
	}
	ls := lines(c)
	for i, l := range ls {
		if bare, ok := strings.CutPrefix(strings.TrimSpace(l), "#"); ok && strings.TrimSpace(bare) == mod {
			ls[i] = mod
			return true, write(c, ls)
		}
	}
	return true, write(c, append(ls, mod))
}

// forget has a module not loaded at boot and reports whether it was; comment
// keeps its line as a comment.
func forget(c *fun.Call, mod string, comment bool) (bool, error) {
	if !has(persistent(c), mod) {
		return false, nil
	}
	var left []string
	for _, l := range lines(c) {
		if Bare(l) != Bare(mod) {
			left = append(left, l)
		} else if comment {
			left = append(left, "#"+strings.TrimSpace(l))
		}
	}
	return true, write(c, left)
}

// minus returns what of a is not in b.
func minus(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// changed is the return of load and remove: what came or went, and the module
// whose start at boot changed.
func changed(mods []string, mod string, too bool, err error) (fun.Result, error) {
	if too && !slices.Contains(mods, Bare(mod)) {
		mods = append(mods, Bare(mod))
	}
	slices.Sort(mods)
	return machine.Strings(slices.Compact(mods), err)
}

type loadArgs struct {
	modArg
	Persist bool `arg:"persist" default:"False" doc:"load it at boot, too"`
}

func load(ctx context.Context, c *fun.Call, a *loadArgs) (fun.Result, error) {
	mod := a.Mod
	argv, err := check(mod)
	if err != nil {
		return fun.Result{}, err
	}
	before := names(c)
	out, err := tool.Run(ctx, c.Env.Host, append([]string{"modprobe", "--"}, argv...)...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 {
		return fun.Result{Value: "Error loading module " + mod + ": " + out.Fault(), Retcode: out.Status}, nil
	}
	came, too := minus(names(c), before), false
	if a.Persist {
		too, err = persist(c, mod)
	}
	return changed(came, mod, too, err)
}

type removeArgs struct {
	modArg
	Persist bool `arg:"persist" default:"False" doc:"do not load it at boot, either"`
	Comment bool `arg:"comment" default:"True" doc:"with persist: keep its line as a comment"`
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	mod := a.Mod
	argv, err := check(mod)
	if err != nil {
		return fun.Result{}, err
	}
	before := names(c)
	if has(before, mod) || !a.Persist {
		out, err := tool.Run(ctx, c.Env.Host, "rmmod", "--", argv[0])
		if err != nil {
			return fun.Result{}, err
		}
		if out.Status != 0 {
			return fun.Result{Value: "Error removing module " + mod + ": " + out.Fault(), Retcode: out.Status}, nil
		}
	}
	gone, too := minus(before, names(c)), false
	if a.Persist {
		too, err = forget(c, mod, a.Comment)
	}
	return changed(gone, mod, too, err)
}
