package assembly

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/custom"
	"brine/internal/py/source"
	"brine/internal/py/value"
	sysmod "brine/modules/sys"
	jobsrun "brine/runner/fn/jobs"
)

// allReturners returns the returners of a run: those of the build, and the
// custom ones of the tree, which come first.
func allReturners(ctx context.Context, env *fun.Env) []returner.Spec {
	return slices.DeleteFunc(append(custom.Find(ctx, env), Returners()...), func(s returner.Spec) bool {
		return env.Limits.Returner(returnerNames(&s)...) != ""
	})
}

// returnerNames are the names by which disable_returners may know a returner: its
// own, and that of Salt's file.
func returnerNames(s *returner.Spec) []string {
	names := append([]string{s.Name}, s.Aliases...)
	return append(names, strings.TrimSuffix(path.Base(s.Src), ".py"))
}

// CheckReturner returns an error for a name that no returner has, with the
// nearest one, and for a returner that the configuration disables.
func CheckReturner(env *fun.Env, name string) error {
	names := []string{name}
	spec, ok := returner.Find(Returners(), name)
	if ok {
		names = append(names, returnerNames(spec)...)
	}
	if why := env.Limits.Returner(names...); why != "" {
		return fmt.Errorf("the returner %s is %s", name, why)
	}
	if ok {
		return nil
	}
	specs := allReturners(context.Background(), env)
	if _, ok := returner.Find(specs, name); ok {
		return nil
	}
	if why := absent.ReasonSuffix(absent.Returner, name); why != "" {
		return fmt.Errorf("there is no returner %q%s", name, why)
	}
	return fmt.Errorf("there is no returner %q%s", name, source.DidYouMean(name, returner.Names(specs)))
}

// ReturnerName returns the name of a returner that may be named by another one of its.
func ReturnerName(name string) string {
	if spec, ok := returner.Find(Returners(), name); ok {
		return spec.Name
	}
	return name
}

// ForThisRun reports whether a returner serves the user of a run alone: a later
// run has no use for what it was not given.
func ForThisRun(name string) bool {
	spec, ok := returner.Find(Returners(), name)
	return ok && spec.ForThisRun
}

// MayKeep reports whether settings of a returner may be written down: none of
// them is a secret.
func MayKeep(name string, kwargs *value.Map) bool {
	if len(redact.LeftOut(nil, nil, kwargs)) > 0 {
		return false
	}
	spec, ok := returner.Find(Returners(), name)
	if !ok {
		return true
	}
	for _, k := range spec.Keys {
		if k.Secret && kwargs.Has(k.Name) {
			return false
		}
	}
	return true
}

// UnknownSettings returns an error for a key that no returner among names has as a
// setting. Those of executables are not known. from is where the keys were given.
func UnknownSettings(from string, names []string, kwargs *value.Map) error {
	var known []string
	for _, n := range names {
		spec, ok := returner.Find(Returners(), n)
		if !ok {
			return nil
		}
		for _, k := range spec.Keys {
			known = append(known, k.Name)
		}
	}
	for _, k := range kwargs.Keys() {
		if !slices.Contains(known, value.Str(k)) {
			return fmt.Errorf("%s: %s has no setting %q%s", from, strings.Join(names, ", "), value.Str(k), source.DidYouMean(value.Str(k), known))
		}
	}
	return nil
}

// OpenReturner connects to a returner by name. The error of a name that is not
// there has the nearest one; that of a connection leaves the name to the caller.
func OpenReturner(ctx context.Context, env *fun.Env, name string, s returner.Settings) (jobs.Returner, error) {
	if err := CheckReturner(env, name); err != nil {
		return nil, err
	}
	spec, _ := returner.Find(allReturners(ctx, env), name)
	if spec.New == nil {
		return nil, fmt.Errorf("returner %s cannot be used on its own", name)
	}
	s.Spec, s.Env, s.Log = spec, env, env.Log()
	s, err := s.Check()
	if err != nil {
		return nil, err
	}
	return spec.New(ctx, s)
}

// CheckSettings returns the settings that a returner is made with, or an error for
// one that cannot work as it is configured, before anything is handed to it.
func CheckSettings(ctx context.Context, env *fun.Env, name string, s returner.Settings) (returner.Settings, error) {
	if err := CheckReturner(env, name); err != nil {
		return s, err
	}
	s.Spec, _ = returner.Find(allReturners(ctx, env), name)
	s.Env, s.Log = env, env.Log()
	if s.Spec.New == nil {
		return s, fmt.Errorf("returner %s cannot be used on its own", name)
	}
	checked, err := s.Check()
	if err != nil {
		return s, fmt.Errorf("returner %s is not configured: %w; 'brine run returner.settings %s' lists its settings", name, err, s.Spec.Name)
	}
	return checked, nil
}

// openStore opens a returner to read from.
func openStore(ctx context.Context, env *fun.Env, name string) (jobs.Store, func(), error) {
	if spec, ok := returner.Find(allReturners(ctx, env), name); ok && !spec.Reads {
		var readers []string
		for _, s := range Returners() {
			if s.Reads {
				readers = append(readers, s.Name)
			}
		}
		return nil, nil, fmt.Errorf("returner %s cannot be read from; these can: %s", name, strings.Join(readers, ", "))
	}
	if err := CheckReturner(env, name); err != nil {
		return nil, nil, err
	}
	var sp Spool
	if set, err := CheckSettings(ctx, env, name, returner.Settings{}); err == nil {
		sp = SpoolOf(env.CacheDir, name, set, nil)
		if err := jobs.Hung(sp.Down); err != nil {
			return nil, nil, fmt.Errorf("returner %s: %w", name, err)
		}
	}
	r, err := OpenReturner(ctx, env, name, returner.Settings{})
	if err != nil {
		if sp.Down != "" {
			jobs.NoteHung(sp.Down, err)
		}
		return nil, nil, fmt.Errorf("returner %s: %w", name, err)
	}
	s, ok := r.(jobs.Store)
	if !ok {
		_ = r.Close()
		return nil, nil, fmt.Errorf("returner %s cannot be read from", name)
	}
	if sp.Dir != "" {
		s = asideStore{s, name, sp.Dir}
	}
	return s, func() { _ = r.Close() }, nil
}

// returnerRunner is the runner module "returner": what returners need.
func returnerRunner() fun.Module {
	return fun.Module{Name: "returner", Kind: fun.Runner, Doc: "Show what returners need.", Specs: returnerSpecs}
}

type returnerArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the returner"`
}

var returnerSpecs = []fun.Spec{
	{
		Name: "aside", Do: aside,
		Doc: "List, send again or drop the rows that returners did not take and that were put aside.",
	},
	{
		Name: "schema", Src: "the documentation of Salt's returners", Do: schema,
		Doc: "Print the SQL that creates the tables of a returner.",
	},
	{
		Name: "settings", Src: "the documentation of Salt's returners", Do: settings,
		Doc: "Return the settings of a returner with their defaults.",
	},
}

func findReturner(ctx context.Context, c *fun.Call, name string) (*returner.Spec, error) {
	if err := CheckReturner(c.Env, name); err != nil {
		return nil, fun.Errorf("%v", err)
	}
	spec, _ := returner.Find(allReturners(ctx, c.Env), name)
	return spec, nil
}

func schema(ctx context.Context, c *fun.Call, a *returnerArgs) (fun.Result, error) {
	spec, err := findReturner(ctx, c, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	if spec.Schema == "" {
		return fun.Result{}, fun.Errorf("returner %s has no tables", spec.Name)
	}
	return fun.Result{Value: strings.TrimSuffix(spec.Schema, "\n")}, nil
}

func settings(ctx context.Context, c *fun.Call, a *returnerArgs) (fun.Result, error) {
	spec, err := findReturner(ctx, c, a.Name)
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(len(spec.Keys))
	for _, k := range spec.Keys {
		key := value.MapOf("default", k.Default, "doc", k.Doc)
		if k.Required {
			key.Set("required", true)
		}
		m.Set(spec.Name+"."+k.Name, key)
	}
	return fun.Value(m)
}

// sysModule joins the execution module "sys" with what it tells of returners.
func sysModule() fun.Module {
	m := sysmod.Module()
	m.Specs = slices.Concat(m.Specs, listReturnersSpecs)
	return m
}

var listReturnersSpecs = []fun.Spec{
	{
		Name: "list_returners", Src: "modules/sysmod.py list_returners", Do: listReturners,
		Doc: "List available returners.",
	},
}

type listReturnersArgs struct {
	Globs fun.Varargs
}

func listReturners(ctx context.Context, c *fun.Call, a *listReturnersArgs) (fun.Result, error) {
	names := returner.Names(allReturners(ctx, c.Env))
	sort.Strings(names)
	l := value.NewList()
	for i, n := range names {
		if (i == 0 || names[i-1] != n) && wanted(n, a.Globs) {
			l.Append(n)
		}
	}
	return fun.Value(l)
}

// wanted reports whether a name matches one of globs; none match all.
func wanted(name string, globs []value.Value) bool {
	for _, g := range globs {
		if value.Fnmatch(value.Str(g), name) {
			return true
		}
	}
	return len(globs) == 0
}

func auditRunner() fun.Module { return jobsrun.Audit(openStore) }

func jobsRunner() fun.Module { return jobsrun.Runners(openStore) }
