// Package kmod is Salt's state module "kmod": modules of the Linux kernel.
package kmod

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	kernel "brine/modules/kmod"
	"brine/states/dryrun"
)

// States returns the rows of the state module "kmod".
func States() fun.Module {
	return fun.Module{Name: "kmod", Kind: fun.State, Doc: "Load and unload modules of the Linux kernel.", Avail: fun.Needs("kmod", ""), Specs: specs}
}

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the module"`
}

type modsArg struct {
	_    fun.Arguments
	Mods []string `arg:"mods" doc:"names of several modules instead"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "absent", Doc: "Unload modules of the kernel.", Src: "states/kmod.py absent", Do: absent,
	},
	{
		Name: "present", Doc: "Load modules of the kernel.", Src: "states/kmod.py present", Do: present,
	},
}

// A job is one state in progress.
type job struct {
	c       *fun.Call
	mods    []string
	lines   []string
	changes *value.Map
}

func newJob(c *fun.Call, a *modsArg) *job {
	j := &job{c: c, mods: a.Mods, changes: value.NewMap(2)}
	if len(j.mods) == 0 {
		j.mods = []string{c.Name}
	}
	return j
}

// say adds a line about modules: what is before "ernel module", their names, and
// what they are, "" for a line that ends with the names.
func (j *job) say(mods []string, before, after string) {
	text, verb := before+"ernel module ", " is "
	if len(mods) > 1 {
		text, verb = before+"ernel modules ", " are "
	}
	if after == "" {
		verb = ""
	}
	if len(mods) > 0 {
		j.lines = append(j.lines, text+strings.Join(mods, ", ")+verb+after)
	}
}

func (j *job) ret(result fun.Outcome) fun.Ret {
	return fun.Ret{Result: result, Changes: j.changes, Comment: strings.Join(j.lines, "\n")}
}

// list calls mod_list.
func (j *job) list(ctx context.Context, atBoot bool) ([]string, error) {
	res, err := j.c.Env.Exec(ctx, "kmod.mod_list", nil, atBoot)
	l, _ := res.(*value.List)
	return l.Strs(), err
}

// has reports whether a list has a module, however it is written.
func has(list []string, mod string) bool {
	return slices.ContainsFunc(list, func(n string) bool { return kernel.Bare(n) == kernel.Bare(mod) })
}

// split returns the modules for which in holds, and the others.
func split(mods []string, in func(string) bool) (yes, no []string) {
	for _, m := range mods {
		if in(m) {
			yes = append(yes, m)
		} else {
			no = append(no, m)
		}
	}
	return yes, no
}

// now returns what is loaded, and with persist what is loaded at boot.
func (j *job) now(ctx context.Context, persist bool) (loaded, atBoot []string, err error) {
	if loaded, err = j.list(ctx, false); err == nil && persist {
		atBoot, err = j.list(ctx, true)
	}
	return loaded, atBoot, err
}

type presentArgs struct {
	nameArg
	Persist bool `arg:"persist" default:"False" doc:"load them at boot, too"`
	modsArg
}

// present loads modules. Salt: salt/states/kmod.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	j := newJob(c, &a.modsArg)
	loaded, atBoot, err := j.now(ctx, a.Persist)
	if err != nil {
		return fun.Fail("%v", err)
	}
	loaded = append(loaded, kernel.Builtin(c.Env)...)
	there, missing := split(j.mods, func(m string) bool { return has(loaded, m) && (!a.Persist || has(atBoot, m)) })
	j.say(there, "K", "already present")
	if len(missing) == 0 {
		return j.ret(fun.OK)
	}
	res, err := c.Env.Exec(ctx, "kmod.available", nil)
	if err != nil {
		return fun.Fail("%v", err)
	}
	l, _ := res.(*value.List)
	avail := l.Strs()
	can, cannot := split(missing, func(m string) bool { return has(avail, m) })
	if c.Test && (len(cannot) == 0 || !dryrun.Certain(c)) {
		j.say(missing, "K", "set to be loaded")
		return j.ret(fun.WouldChange)
	}
	j.say(cannot, "K", "unavailable")
	ret := fun.OK
	if len(cannot) > 0 {
		ret = fun.Failed
	}
	if c.Test {
		return j.ret(ret)
	}
	if !j.each(ctx, can, "load", "loaded", []value.Value{a.Persist}) {
		ret = fun.Failed
	}
	return j.ret(ret)
}

type absentArgs struct {
	nameArg
	Persist bool `arg:"persist" default:"False" doc:"do not load them at boot, either"`
	Comment bool `arg:"comment" default:"True" doc:"with persist: keep the module's line as a comment"`
	modsArg
}

// absent unloads modules. Salt: salt/states/kmod.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	j := newJob(c, &a.modsArg)
	loaded, atBoot, err := j.now(ctx, a.Persist)
	if err != nil {
		return fun.Fail("%v", err)
	}
	there, _ := split(j.mods, func(m string) bool { return has(loaded, m) || has(atBoot, m) })
	switch {
	case len(there) == 0:
		j.say(j.mods, "K", "already removed")
		return j.ret(fun.OK)
	case c.Test:
		j.say(there, "K", "set to be removed")
		return j.ret(fun.WouldChange)
	}
	if !j.each(ctx, there, "remove", "removed", []value.Value{a.Persist, a.Comment}) {
		return j.ret(fun.Failed)
	}
	return j.ret(fun.OK)
}

// each calls load or remove for modules, one that came or went with another but
// once, and reports whether all went well.
func (j *job) each(ctx context.Context, mods []string, fn, past string, args []value.Value) bool {
	var yes, no, failed []string
	for _, m := range mods {
		if j.changes.Has(kernel.Bare(m)) {
			yes = append(yes, m)
			continue
		}
		res, err := j.c.Env.Exec(ctx, "kmod."+fn, nil, append([]value.Value{m}, args...)...)
		l, ok := res.(*value.List)
		switch {
		case err != nil:
			failed = append(failed, m+": "+err.Error())
		case !ok:
			failed = append(failed, m+": "+value.Str(res))
		case l.Len() == 0:
			no = append(no, m)
		default:
			yes = append(yes, m)
			for _, x := range l.Items {
				j.changes.Set(x, past)
			}
		}
	}
	j.say(yes, strings.ToUpper(past[:1])+past[1:]+" k", "")
	j.say(no, "Failed to "+fn+" k", "")
	for _, f := range failed {
		j.lines = append(j.lines, "Failed to "+fn+" kernel module "+f)
	}
	return len(no) == 0 && len(failed) == 0
}
