// Package keyboard is Salt's execution module "keyboard": the layout of the
// console's keyboard, and of X's.
package keyboard

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// Module returns the execution module "keyboard".
func Module() fun.Module {
	return fun.Module{Name: "keyboard", Kind: fun.Exec, Doc: "Keyboard layouts.", Avail: available, Specs: specs}
}

func available(env *fun.Env) (bool, string) {
	if file, _ := where(env); file != "" || tool.Has(env.Host, "localectl") {
		return true, ""
	}
	return false, "only works on Redhat, Debian or Gentoo systems or if localectl binary in path."
}

type layoutArgs struct {
	_      fun.Arguments
	Layout value.Value `arg:"layout,required,str" doc:"keyboard layout, such as us or de-latin1"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_sys", Doc: "Return the keyboard layout of the console.", Src: "modules/keyboard.py get_sys", Do: getSys},
	{Name: "get_x", Doc: "Return the keyboard layout of X.", Src: "modules/keyboard.py get_x", Do: getX},
	{Name: "set_sys", Doc: "Set the keyboard layout of the console.", Src: "modules/keyboard.py set_sys", Do: setSys},
	{Name: "set_x", Doc: "Set the keyboard layout of X.", Src: "modules/keyboard.py set_x", Do: setX},
}

// where returns the file that has the layout without systemd, and its variable.
func where(env *fun.Env) (file, key string) {
	family := machine.Grain(env, "os_family")
	for _, f := range []struct{ family, file, key string }{
		{"RedHat", "/etc/sysconfig/keyboard", "LAYOUT"},
		{"Debian", "/etc/default/keyboard", "XKBLAYOUT"},
		{"Gentoo", "/etc/conf.d/keymaps", "keymap"},
	} {
		if strings.Contains(family, f.family) {
			return f.file, f.key
		}
	}
	return "", ""
}

// localectl reports whether systemd keeps the layout.
func localectl(env *fun.Env) bool {
	return tool.Has(env.Host, "localectl") && machine.Booted(env.Host)
}

// field returns what follows "NAME:" in the output of a program.
func field(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

func getSys(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if localectl(c.Env) {
		out, err := tool.Look(ctx, c.Env.Host, "localectl", "--no-pager", "status")
		if err == nil && out.Status != 0 {
			err = fun.Errorf("localectl failed: %s", out.Fault())
		}
		v, _ := field(out.Stdout, "VC Keymap")
		return fun.Result{Value: v}, err
	}
	file, key := where(c.Env)
	v, ok := machine.Setting(c.Env.Host, file, key)
	if !ok {
		return fun.Result{}, fun.Errorf("there is no %s in %s", key, file)
	}
	return fun.Value(v)
}

// check refuses what is not a layout: it goes into files and to programs.
func check(layout string) error {
	for i := range len(layout) {
		c := layout[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("_.,()+:-", c) < 0 || i == 0 && c == '-' {
			return fun.Errorf("'%s' is not the name of a keyboard layout", layout)
		}
	}
	if layout == "" {
		return fun.Errorf("'' is not the name of a keyboard layout")
	}
	return nil
}

// run runs a program and returns the layout.
func run(ctx context.Context, c *fun.Call, a *layoutArgs, argv ...string) (fun.Result, error) {
	out, err := tool.Run(ctx, c.Env.Host, argv...)
	if err == nil && out.Status != 0 {
		err = fun.Errorf("%s failed: %s", argv[0], out.Fault())
	}
	return fun.Result{Value: a.Layout}, err
}

func setSys(ctx context.Context, c *fun.Call, a *layoutArgs) (fun.Result, error) {
	layout := fun.TextOf(a.Layout)
	if err := check(layout); err != nil {
		return fun.Result{}, err
	}
	if localectl(c.Env) {
		return run(ctx, c, a, "localectl", "--no-ask-password", "set-keymap", layout)
	}
	file, key := where(c.Env)
	if file == "" {
		return fun.Result{}, fun.Errorf("the layout is kept by systemd, which does not run")
	}
	return fun.Result{Value: layout}, machine.Set(c.Env.Host, file, key, key+`="`+layout+`"`, true)
}

func getX(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out, err := tool.Look(ctx, c.Env.Host, "setxkbmap", "-query")
	if err != nil {
		return fun.Result{}, err
	}
	v, ok := field(out.Stdout, "layout")
	if !ok {
		return fun.Result{}, fun.Errorf("setxkbmap -query does not tell the layout: %s", out.Fault())
	}
	return fun.Value(v)
}

func setX(ctx context.Context, c *fun.Call, a *layoutArgs) (fun.Result, error) {
	if err := check(fun.TextOf(a.Layout)); err != nil {
		return fun.Result{}, err
	}
	return run(ctx, c, a, "setxkbmap", fun.TextOf(a.Layout))
}
