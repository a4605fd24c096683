// Package rsync is Salt's state module "rsync": directories that are copies of others.
package rsync

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// States returns the rows of the state module "rsync".
func States() fun.Module {
	return fun.Module{Name: "rsync", Kind: fun.State, Doc: "Directories that are copies of others.", Avail: tool.Needs("rsync", "Command not found: rsync"), Specs: specs}
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{{
	Name: "synchronized", Doc: "Make a directory a copy of another.", Src: "states/rsync.py synchronized", Do: synchronized,
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

type synchronizedArgs struct {
	_               string      `arg:"name,required,path" doc:"the directory"`
	Source          value.Value `arg:"source,required,str" doc:"what it is a copy of: a path, host:path or salt://path"`
	Delete          bool        `arg:"delete" default:"False" doc:"remove what the source does not have"`
	Force           bool        `arg:"force" default:"False" doc:"also remove directories that are not empty; the directory may be missing"`
	Update          bool        `arg:"update" default:"False" doc:"leave files that are newer alone"`
	Passwordfile    value.Value `arg:"passwordfile,path" doc:"file with the password of a daemon"`
	Exclude         value.Value `arg:"exclude,list[str]" doc:"patterns of what to leave out"`
	Excludefrom     value.Value `arg:"excludefrom,path" doc:"file with such patterns"`
	Prepare         bool        `arg:"prepare" default:"False" doc:"make the directory where it is missing"`
	Dryrun          bool        `arg:"dryrun" default:"False" doc:"change nothing, tell what would be done"`
	AdditionalOpts  value.Value `arg:"additional_opts,list[str]" doc:"further options of rsync(1)"`
	ForceSystemPath bool        `arg:"force_system_path,kw" default:"False" doc:"accept system directories such as /etc, /usr and /home"`
}

// synchronized copies. Salt: salt/states/rsync.py synchronized. Differences: test mode
// makes no directory, and is True where nothing is to be copied.
func synchronized(ctx context.Context, c *fun.Call, a *synchronizedArgs) fun.Ret {
	h := c.Env.Host
	_, err := h.Stat(c.Name)
	if err != nil && !a.Force && !a.Prepare {
		return fun.Fail("Destination directory %s was not found.", c.Name)
	}
	if err != nil && a.Prepare && !c.Test {
		if err := h.MkdirAll(c.Name, 0o777); err != nil {
			return fun.Raise(fun.Errorf("%v", err))
		}
	}
	if err := h.CheckSystem(c.Name, true); err != nil && a.Delete {
		return fun.Fail("%s", err)
	}
	kw := value.MapOf(
		"dryrun", c.Test || a.Dryrun, "delete", a.Delete, "force", a.Force, "update", a.Update, "passwordfile", a.Passwordfile,
		"exclude", a.Exclude, "excludefrom", a.Excludefrom, "additional_opts", a.AdditionalOpts, "force_system_path", a.ForceSystemPath,
	)
	res, err := c.Env.Exec(ctx, "rsync.rsync", kw, a.Source, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	m, _ := res.(*value.Map)
	if !value.Equal(m.At("retcode"), int64(0)) {
		return fun.Fail("%s", m.Str("stderr"))
	}
	out := m.Str("stdout")
	ret := fun.Ret{Result: fun.OK, Comment: summary(out)}
	changes := changed(out)
	switch {
	case c.Test && changes == nil:
	case c.Test || a.Dryrun:
		ret.Result = fun.WouldChange
	case changes != nil:
		ret.Changes = changes
	}
	return ret
}
