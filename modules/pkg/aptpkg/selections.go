package aptpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/pkg"
	"brine/modules/pkg/dpkg"
)

type getSelectionsArgs struct {
	_       fun.Arguments
	Pattern string `arg:"pattern" doc:"pattern of names; default: all"`
	State   string `arg:"state" doc:"return only the packages with this state"`
}

func getSelections(_ context.Context, c *fun.Call, a *getSelectionsArgs) (fun.Result, error) {
	db, err := dpkg.Read(c.Env)
	if err != nil {
		return fun.Result{}, err
	}
	all := db.Selections(a.Pattern)
	if state := a.State; state != "" {
		list := all.List(state)
		if list == nil {
			list = value.NewList()
		}
		return fun.Value(value.MapOf(state, list))
	}
	return fun.Value(all)
}

// wants are what may be selected for a package.
var wants = []string{"install", "hold", "deinstall", "purge"}

type setSelectionsArgs struct {
	_         fun.Arguments
	Path      string      `arg:"path,path" doc:"path or URL of a file with selections, as dpkg --get-selections prints them"`
	Selection value.Value `arg:"selection,str|dict" doc:"mapping of a state to a list of names"`
	Clear     bool        `arg:"clear" default:"False" doc:"first mark all packages but essential ones to be removed"`
	Saltenv   string      `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
}

func setSelections(ctx context.Context, c *fun.Call, args *setSelectionsArgs) (fun.Result, error) {
	file := args.Path
	selection, _ := args.Selection.(*value.Map)
	if text, ok := args.Selection.(string); ok && text != "" {
		v, err := yamlsalt.LoadString(text)
		if err != nil {
			return fun.Result{}, &fun.InvocationError{Msg: "Improperly-formatted selection: " + err.Error()}
		}
		if selection, ok = v.(*value.Map); !ok {
			return fun.Result{}, &fun.InvocationError{Msg: "Improperly-formatted selection: not a mapping", Arg: "selection"}
		}
	}
	if file != "" && selection.Len() > 0 {
		return fun.Result{}, &fun.InvocationError{Msg: "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, and cannot be specified together"}
	}
	if file != "" {
		var err error
		if selection, err = readSelections(ctx, c.Env, file, args.Saltenv); err != nil {
			return fun.Result{}, err
		}
	}
	a := newApt(c)
	test := pkg.TestMode(c)
	var asked []selected
	var bad []string
	for want, names := range selection.All() {
		if s, _ := want.(string); !slices.Contains(wants, s) {
			bad = append(bad, value.Str(want))
			continue
		}
		items, err := value.Items(names)
		if s, ok := names.(string); ok {
			items, err = []value.Value{s}, nil
		}
		if err != nil {
			return fun.Result{}, &fun.InvocationError{Msg: "Improperly-formatted selection: " + value.Repr(names) + " is not a list of packages", Arg: "selection"}
		}
		for _, n := range items {
			asked = append(asked, selected{value.Str(n), want.(string)})
		}
	}
	if bad != nil {
		return fun.Result{}, &fun.InvocationError{Msg: "Invalid state(s): " + strings.Join(bad, ", ")}
	}
	if selection.Len() > 0 && args.Clear && !test {
		out, err := a.run(ctx, "dpkg", "--clear-selections")
		if err != nil {
			return fun.Result{}, err
		}
		if out.Status != 0 {
			return fun.Result{}, fun.Errorf("Running dpkg --clear-selections failed: %s", out.Stderr)
		}
	}
	if test {
		return fun.Value(value.NewMap(0))
	}
	m, err := a.choose(ctx, asked)
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(m)
}

// readSelections reads a file as dpkg --get-selections prints it.
func readSelections(ctx context.Context, env *fun.Env, file, saltenv string) (*value.Map, error) {
	local, err := pkg.Fetch(ctx, env, file, saltenv)
	if err != nil {
		return nil, err
	}
	if local == "" {
		return nil, fun.Errorf("Unable to retrieve %s from saltenv '%s'", file, saltenv)
	}
	text, err := env.Host.ReadFile(local)
	if err != nil {
		return nil, err
	}
	m := value.NewMap(4)
	for l := range strings.SplitSeq(value.DecodeReplace(text), "\n") {
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fun.Errorf("%s is not a list of selections: %s", file, l)
		}
		if list := m.List(f[1]); list != nil {
			list.Append(f[0])
		} else {
			m.Set(f[1], value.NewList(f[0]))
		}
	}
	return m, nil
}

// A selected is what is wanted of a package.
type selected struct{ name, want string }

// choose sets what is wanted of packages where that is another than now. It
// returns by name what was and what is; a package that dpkg does not know is left
// out.
func (a *apt) choose(ctx context.Context, asked []selected) (*value.Map, error) {
	ret := value.NewMap(len(asked))
	before, err := dpkg.Read(a.env)
	if err != nil {
		return nil, err
	}
	var in strings.Builder
	for _, s := range asked {
		if err := checkName(s.name); err != nil {
			return nil, err
		}
		if strings.ContainsAny(s.name, " \t") {
			return nil, fun.Errorf("invalid package name %s", value.Repr(s.name))
		}
		if wanted(before, s.name) != s.want {
			in.WriteString(s.name + " " + s.want + "\n")
		}
	}
	if in.Len() == 0 {
		return ret, nil
	}
	out, err := a.locked(ctx, in.String(), "dpkg", "--set-selections")
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		a.env.Log().Error("dpkg --set-selections failed", "stderr", out.Stderr)
	}
	after, err := dpkg.Read(a.env)
	if err != nil {
		return nil, err
	}
	for _, s := range asked {
		was := wanted(before, s.name)
		if was == s.want || wanted(after, s.name) != s.want {
			continue
		}
		var old value.Value
		if was != "" {
			old = was
		}
		ret.Set(s.name, value.MapOf("old", old, "new", s.want))
	}
	return ret, nil
}

// wanted is what is selected for a package, "" for one that dpkg does not know.
func wanted(db *dpkg.Database, name string) string {
	for _, p := range db.Find(name) {
		return p.Want
	}
	return ""
}

// held returns the names of packages that are on hold, without the machine's
// architecture.
func held(env *fun.Env) ([]string, error) {
	db, err := dpkg.Read(env)
	if err != nil {
		return nil, err
	}
	var list []string
	for i := range db.Packages {
		if p := &db.Packages[i]; p.Want == "hold" {
			list = append(list, db.FullName(p))
		}
	}
	return list, nil
}

// holdGiven are the arguments of hold and unhold.
type holdGiven struct {
	pkg.HoldArgs
	_ fun.Kwargs
}

func hold(ctx context.Context, c *fun.Call, a *holdGiven) (fun.Result, error) {
	return changeHolds(ctx, c, a, holdWords{
		want: "hold", same: "Package %s is already set to be held.",
		test: "Package %s is set to be held.", done: "Package %s is now being held.", unknown: "Package %s is not known to dpkg, which cannot hold it.",
	})
}

func unhold(ctx context.Context, c *fun.Call, a *holdGiven) (fun.Result, error) {
	return changeHolds(ctx, c, a, holdWords{
		want: "install", same: "Package %s is already set not to be held.",
		test: "Package %s is set not to be held.", done: "Package %s is no longer being held.", unknown: "Package %s does not have a state.",
	})
}

// holdWords are what hold and unhold say.
type holdWords struct{ want, same, test, done, unknown string }

func changeHolds(ctx context.Context, c *fun.Call, args *holdGiven, w holdWords) (fun.Result, error) {
	list, err := args.Names()
	if err != nil {
		return fun.Result{}, err
	}
	a := newApt(c)
	m, err := a.setHolds(ctx, list, w, pkg.TestMode(c))
	if err != nil {
		return fun.Result{}, err
	}
	return a.result(m)
}

func (a *apt) setHolds(ctx context.Context, names []string, w holdWords, test bool) (*value.Map, error) {
	db, err := dpkg.Read(a.env)
	if err != nil {
		return nil, err
	}
	var asked []selected
	for _, n := range names {
		if (wanted(db, n) == "hold") != (w.want == "hold") && !test {
			asked = append(asked, selected{n, w.want})
		}
	}
	changes, err := a.choose(ctx, asked)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(len(names))
	for _, n := range names {
		was := wanted(db, n)
		comment, result := w.done, value.Value(true)
		change, changed := changes.Get(n)
		switch {
		case was == "" && (w.want != "hold" || !test && !changed):
			comment, result = w.unknown, false
		case (was == "hold") == (w.want == "hold"):
			comment = w.same
		case test:
			comment, result = w.test, nil
		case !changed:
			comment, result = w.unknown, false
		}
		if !changed {
			change = value.NewMap(0)
		}
		ret.Set(n, value.MapOf("name", n, "changes", change, "result", result, "comment", strings.Replace(comment, "%s", n, 1)))
	}
	return ret, nil
}
