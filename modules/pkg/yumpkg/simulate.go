package yumpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
)

// simulate returns what act would change, as the program works it out.
func (i *installation) simulate(ctx context.Context) (*value.Map, error) {
	holds, err := i.holdsOrNone(ctx)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(0)
	for _, step := range i.steps("--assumeno") {
		var words []string
		for _, w := range step.words {
			switch {
			case !slices.Contains(holds, w.name):
				words = append(words, w.text)
			case i.a.UpdateHolds: // act takes the hold away, without which the program knows no other version
				i.errors = append(i.errors, "what changes with "+w.name+" is not known: it is held")
			default:
				i.prevented = append(i.prevented, w.name)
			}
		}
		if len(words) == 0 {
			continue
		}
		m, said, err := i.ask(ctx, append(step.args, words...))
		if err != nil {
			return nil, err
		}
		if said != "" {
			i.errors = append(i.errors, said)
		}
		ret.Update(m)
	}
	i.errors = append(i.errors, i.heldError()...)
	return ret, nil
}

// simulatedBy is the result of a function that simulates one command line.
func (y *yum) simulatedBy(ctx context.Context, what string, args []string) (fun.Result, error) {
	m, said, err := y.ask(ctx, args)
	if err == nil && said != "" {
		err = &pkg.Error{Msg: what, Errors: []string{said}}
	}
	return fun.Result{Value: m}, err
}

// ask runs the program so that it says what it would do, and does nothing. said is
// what it says where it cannot do that.
func (y *yum) ask(ctx context.Context, args []string) (m *value.Map, said string, err error) {
	out, err := y.query(ctx, args...)
	if err != nil {
		return nil, "", err
	}
	have, err := y.versions(ctx)
	if err != nil {
		return nil, "", err
	}
	if out.Status != 0 && !strings.Contains(out.Stdout, "Transaction Summary") && !strings.Contains(strings.ToLower(out.Stdout+out.Stderr), "operation aborted") {
		return value.NewMap(0), out.Fault(), nil
	}
	return y.transaction(out.Stdout, have), "", nil
}

// actions are the beginnings of the headings of a transaction's tables.
var actions = []string{"Installing", "Upgrading", "Updating", "Downgrading", "Reinstalling", "Removing"}

// tableOf returns the action that the packages of a table are in for: "" where a line
// is not a heading, and none where it is that of something other than packages.
func tableOf(line string) (action string, is bool) {
	name, ok := strings.CutSuffix(line, ":")
	if !ok || strings.HasPrefix(line, " ") {
		return "", false
	}
	if strings.HasSuffix(name, "Groups") || strings.HasSuffix(name, "profiles") {
		return "", true
	}
	word, _, _ := strings.Cut(name, " ")
	if slices.Contains(actions, word) {
		return word, true
	}
	return "", true
}

// transaction reads the tables of what the program would do, as CompareDicts of the
// versions before and after. A row has a name, an architecture and a version; a long
// name is on a line of its own. have are the versions that are installed.
func (y *yum) transaction(text string, have *value.Map) *value.Map {
	ret := value.NewMap(0)
	action, name := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "Transaction Summary") {
			break
		}
		if next, is := tableOf(strings.TrimRight(line, " ")); is {
			action, name = next, ""
			continue
		}
		f := strings.Fields(line)
		switch {
		case action == "" || len(f) == 0 || strings.HasPrefix(line, "="):
			continue
		case f[0] == "replacing":
			y.replaced(ret, f[1:], have)
			continue
		case len(f) == 1:
			name = f[0]
			continue
		case name != "":
			f, name = append([]string{name}, f...), ""
		}
		if len(f) < 3 {
			continue
		}
		key := rpm.ResolveName(f[0], f[1], y.osarch)
		old, now := strings.Join(have.List(key).Strs(), ","), f[2]
		if action == "Removing" {
			old, now = f[2], ""
		}
		ret.Set(key, value.MapOf("old", old, "new", now))
	}
	return ret
}

// replaced notes a package that another one replaces: "foo.noarch 1.0-1", and of dnf5
// "foo noarch 1.0-1". The older version of the same package is not one.
func (y *yum) replaced(ret *value.Map, f []string, have *value.Map) {
	if len(f) < 2 {
		return
	}
	name, arch := f[0], f[1]
	if i := strings.LastIndexByte(name, '.'); i > 0 && !rpm.IsArch(arch) {
		name, arch = name[:i], name[i+1:]
	}
	key := rpm.ResolveName(name, arch, y.osarch)
	if ret.Has(key) || !have.Has(key) {
		return
	}
	ret.Set(key, value.MapOf("old", strings.Join(have.List(key).Strs(), ","), "new", ""))
}
