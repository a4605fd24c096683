// Package rsync is Salt's state module "rsync": directories that are copies of others.
package rsync

import (
	"context"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/machine"
)

// States returns the rows of the state module "rsync".
func States() fun.Module {
	return fun.Module{Name: "rsync", Kind: fun.State, Doc: "Directories that are copies of others.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if !machine.Has(env.Host, "rsync") {
		return false, "Command not found: rsync"
	}
	return true, ""
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{{
	Name: "synchronized", Shared: [][]fun.Arg{fun.SystemPath}, Doc: "Make a directory a copy of another.", Src: "states/rsync.py synchronized", State: synchronized,
	Args: []fun.Arg{
		{Name: "name", Type: fun.Path, Required: true, Doc: "the directory"},
		{Name: "source", Type: fun.Str, Required: true, Doc: "what it is a copy of: a path, host:path or salt://path"},
		{Name: "delete", Type: fun.Bool, Default: false, Doc: "remove what the source does not have"},
		{Name: "force", Type: fun.Bool, Default: false, Doc: "also remove directories that are not empty; the directory may be missing"},
		{Name: "update", Type: fun.Bool, Default: false, Doc: "leave files that are newer alone"},
		{Name: "passwordfile", Type: fun.Path, Doc: "file with the password of a daemon"},
		{Name: "exclude", Type: fun.Strs, Doc: "patterns of what to leave out"},
		{Name: "excludefrom", Type: fun.Path, Doc: "file with such patterns"},
		{Name: "prepare", Type: fun.Bool, Default: false, Doc: "make the directory where it is missing"},
		{Name: "dryrun", Type: fun.Bool, Default: false, Doc: "change nothing, tell what would be done"},
		{Name: "additional_opts", Type: fun.Strs, Doc: "further options of rsync(1)"},
	},
}}

// summary returns the last paragraph of the output, one line for each number.
func summary(out string) string {
	parts := strings.Split(out, "\n\n")
	lines := strings.Split(strings.ReplaceAll(parts[len(parts)-1], "  ", "\n"), "\n")
	return "- " + strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n- ")
}

// changed returns what was copied and deleted, by the first paragraph of the output;
// nil where nothing was.
func changed(out string) *value.Map {
	first, _, _ := strings.Cut(out, "\n\n")
	var copied, deleted []string
	for _, line := range strings.Split(first, "\n")[1:] {
		if name, ok := strings.CutPrefix(line, "deleting "); ok {
			deleted = append(deleted, name)
		} else {
			copied = append(copied, line)
		}
	}
	join := func(names []string) string {
		slices.Sort(names)
		if s := strings.Join(names, "\n"); s != "" {
			return s
		}
		return "N/A"
	}
	m := value.MapOf("copied", join(copied), "deleted", join(deleted))
	if m.Str("copied") == "N/A" && m.Str("deleted") == "N/A" {
		return nil
	}
	return m
}

// synchronized copies. Salt: salt/states/rsync.py synchronized. Differences: test mode
// makes no directory, and is True where nothing is to be copied.
func synchronized(ctx context.Context, c *fun.Call) fun.Ret {
	h := c.Env.Host
	_, err := h.Stat(c.Name)
	if err != nil && !c.Bool("force") && !c.Bool("prepare") {
		return fun.Fail("Destination directory %s was not found.", c.Name)
	}
	if err != nil && c.Bool("prepare") && !c.Test {
		if err := h.MkdirAll(c.Name, 0o777); err != nil {
			return fun.Raise(fun.Errorf("%v", err))
		}
	}
	if err := h.CheckSystem(c.Name, true); err != nil && c.Bool("delete") {
		return fun.Fail("%s", err)
	}
	kw := value.MapOf("dryrun", c.Test || c.Bool("dryrun"))
	for _, name := range []string{"delete", "force", "update", "passwordfile", "exclude", "excludefrom", "additional_opts", fun.SystemPath[0].Name} {
		kw.Set(name, c.Value(name))
	}
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "rsync.rsync", fun.Args{Pos: []value.Value{c.Value("source"), c.Name}, Kw: kw})
	if err != nil {
		return fun.Raise(err)
	}
	m, _ := res.Value.(*value.Map)
	if !value.Equal(m.At("retcode"), int64(0)) {
		return fun.Fail("%s", m.Str("stderr"))
	}
	out := m.Str("stdout")
	ret := fun.Ret{Result: fun.OK, Comment: summary(out)}
	changes := changed(out)
	switch {
	case c.Test && changes == nil:
	case c.Test || c.Bool("dryrun"):
		ret.Result = fun.WouldChange
	case changes != nil:
		ret.Changes = changes
	}
	return ret
}
