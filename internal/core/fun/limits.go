package fun

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Limits are the options of a configuration that restrict what a run may call.
// They are read once, when an Env is made: templates see the options themselves
// and may change them. A nil *Limits restricts nothing.
type Limits struct {
	disabled map[string][]limit // by option
	white    map[string][]limit // options that allow nothing else, where they have entries
	// custom are extmod_blacklist and extmod_whitelist, by the directory of the tree.
	// One that exists and is empty allows nothing.
	customBlack, customWhite map[string][]limit
	broken                   string // why nothing may be called: an option that cannot be read
}

// A limit is one entry of such an option.
type limit struct {
	text string
	pos  source.Pos
}

// The options. Salt's loader reads a "disable_" option for each kind of module.
const (
	disableModules   = "disable_modules"
	disableStates    = "disable_states"
	disableRunners   = "disable_runners"
	disableWheels    = "disable_wheels"
	disableReturners = "disable_returners"
	disableGrains    = "disable_grains"
	disableRenderers = "disable_renders"
	disablePillars   = "disable_pillars"
	blacklistCommand = "cmd_blacklist_glob"
	blacklistRender  = "renderer_blacklist"

	blacklistCustom = "extmod_blacklist"

	whitelistCustom  = "extmod_whitelist"
	whitelistModules = "whitelist_modules"
	whitelistCommand = "cmd_whitelist_glob"
	whitelistRender  = "renderer_whitelist"
)

var (
	forbidding = [...]string{disableModules, disableStates, disableRunners, disableWheels, disableReturners, disableGrains, disableRenderers, disablePillars, blacklistCommand, blacklistRender}
	allowing   = [...]string{whitelistModules, whitelistCommand, whitelistRender}
)

// LimitOptions returns the names of the options that Limits are made of: what a
// controller hands on to targets.
func LimitOptions() []string {
	return slices.Concat(forbidding[:], allowing[:], []string{blacklistCustom, whitelistCustom})
}

// NewLimits reads the limits of options. Where one is neither a list nor text, the
// error names it, and the Limits allow nothing.
//
// Salt: salt/loader/lazy.py LazyLoader, salt/loader/__init__.py minion_mods,
// salt/modules/cmdmod.py _check_avail. Difference: text counts as a list of one
// entry, where Salt takes each of its characters for one.
func NewLimits(opts *value.Map) (*Limits, error) {
	return LimitsAt(opts, func(option string) source.Pos { return opts.Pos(option) })
}

// LimitsAt is NewLimits for options that were set at places.
func LimitsAt(opts *value.Map, at func(option string) source.Pos) (*Limits, error) {
	var l Limits
	var errs []error
	read := func(into *map[string][]limit, options []string) {
		for _, name := range options {
			v := opts.At(name)
			if v == nil {
				continue
			}
			entries, err := limitsOf(at(name), name, v)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if len(entries) > 0 {
				if *into == nil {
					*into = map[string][]limit{}
				}
				(*into)[name] = entries
			}
		}
	}
	read(&l.disabled, forbidding[:])
	read(&l.white, allowing[:])
	byKind := func(into *map[string][]limit, option string) {
		v := opts.At(option)
		if !value.Truth(v) {
			return
		}
		m, ok := v.(*value.Map)
		if !ok {
			errs = append(errs, &source.Error{Pos: at(option), Err: fmt.Errorf("the option %s must be a dict of lists, such as {modules: [mine]}, not %s", option, value.Kind(v))})
			return
		}
		*into = make(map[string][]limit, m.Len())
		for k, list := range m.All() {
			entries, err := limitsOf(m.Pos(k), value.Str(k), orEmpty(list))
			if err != nil {
				err = &source.Error{Pos: orPos(m.Pos(k), at(option)), Err: fmt.Errorf("the option %s must be a dict of lists of strings", option)}
				errs = append(errs, err)
			}
			(*into)["_"+value.Str(k)] = entries
		}
	}
	byKind(&l.customBlack, blacklistCustom)
	byKind(&l.customWhite, whitelistCustom)
	if err := errors.Join(errs...); err != nil {
		l.broken = errs[0].Error()
		return &l, err
	}
	if l.disabled == nil && l.white == nil && l.customBlack == nil && l.customWhite == nil {
		return nil, nil
	}
	return &l, nil
}

func orEmpty(v value.Value) value.Value {
	if v == nil {
		return value.NewList()
	}
	return v
}

// limitsOf returns the entries of an option.
func limitsOf(at source.Pos, name string, v value.Value) ([]limit, error) {
	var items []value.Value
	pos := func(int) source.Pos { return at }
	switch v := v.(type) {
	case string:
		if v != "" {
			items = []value.Value{v}
		}
	case *value.List:
		items, pos = v.Items, v.PosAt
	case value.Tuple:
		items = v
	case bool:
		if v {
			return nil, &source.Error{Pos: at, Err: fmt.Errorf("the option %s must be a list, not %s", name, value.Kind(v))}
		}
	default:
		return nil, &source.Error{Pos: at, Err: fmt.Errorf("the option %s must be a list, not %s", name, value.Kind(v))}
	}
	out := make([]limit, 0, len(items))
	for i, x := range items {
		if _, ok := x.(string); !ok {
			return nil, &source.Error{Pos: orPos(pos(i), at), Err: fmt.Errorf("the option %s must be a list of strings, not of %s", name, value.Kind(x))}
		}
		if name == disableGrains && (x == "core" || x == "opts") {
			return nil, &source.Error{Pos: orPos(pos(i), at), Err: fmt.Errorf("the option %s cannot name %s: brine does not run without these grains", name, x)}
		}
		out = append(out, limit{x.(string), orPos(pos(i), at)})
	}
	return out, nil
}

func orPos(p, or source.Pos) source.Pos {
	if p.IsZero() {
		return or
	}
	return p
}

// by names an option, with the place of its entry where that is known.
func (x limit) by(option string) string {
	if x.pos.IsZero() {
		return "the option " + option
	}
	return "the option " + option + " (" + x.pos.String() + ")"
}

// disables returns why an option forbids something that has one of these names;
// "" where it does not.
func (l *Limits) disables(option string, names ...string) string {
	if l == nil {
		return ""
	}
	if l.broken != "" {
		return l.broken
	}
	for _, x := range l.disabled[option] {
		if slices.Contains(names, x.text) {
			return "disabled by " + x.by(option)
		}
	}
	return ""
}

// leavesOut returns why an option that allows some names allows none of these; ""
// where it allows one, or all there are.
func (l *Limits) leavesOut(option string, names ...string) string {
	if l == nil {
		return ""
	}
	entries := l.white[option]
	if len(entries) == 0 || slices.ContainsFunc(entries, func(x limit) bool { return slices.Contains(names, x.text) }) {
		return ""
	}
	return "not in " + limit{pos: entries[0].pos}.by(option)
}

// Returner returns why the returner of these names may not be used; "" where it may.
func (l *Limits) Returner(names ...string) string { return l.disables(disableReturners, names...) }

// GrainModule returns why a module of grains may not be loaded; "" where it may.
func (l *Limits) GrainModule(name string) string { return l.disables(disableGrains, name) }

// Pillar returns why an external pillar may not be asked; "" where it may.
func (l *Limits) Pillar(name string) string { return l.disables(disablePillars, name) }

// Custom returns why a module of the tree may not be used, by its directory, such as
// "_modules", and its name; "" where it may.
// Salt: salt/utils/extmods.py sync.
func (l *Limits) Custom(dir, name string) string {
	if l == nil {
		return ""
	}
	if l.broken != "" {
		return l.broken
	}
	has := func(all []limit) bool { return slices.ContainsFunc(all, func(x limit) bool { return x.text == name }) }
	if has(l.customBlack[dir]) {
		return "disabled by the option " + blacklistCustom
	}
	if white, limited := l.customWhite[dir]; limited && !has(white) {
		return "not in the option " + whitelistCustom
	}
	return ""
}

// Renderer returns why a renderer may not be used; "" where it may. skip says that
// the pipelines which name it go on without it, as in Salt for
// renderer_blacklist and renderer_whitelist.
func (l *Limits) Renderer(name string) (skip bool, why string) {
	if why := l.disables(disableRenderers, name); why != "" {
		return false, why
	}
	if why = l.disables(blacklistRender, name); why == "" {
		why = l.leavesOut(whitelistRender, name)
	}
	return true, why
}

// Command returns an error where a command that somebody wrote may not be run: one
// that a glob of cmd_blacklist_glob matches, or none of cmd_whitelist_glob. The
// forms are what stands for the command: one matched by the first list forbids it,
// one matched by the second allows it. Programs that functions run by themselves
// are not such commands.
func (l *Limits) Command(forms ...string) error {
	if l == nil {
		return nil
	}
	if l.broken != "" {
		return &ForbiddenError{&CommandError{Msg: l.broken}}
	}
	matched := func(option string) bool {
		entries := l.disabled[option]
		if option == whitelistCommand {
			entries = l.white[option]
		}
		return slices.ContainsFunc(entries, func(x limit) bool {
			return slices.ContainsFunc(forms, func(form string) bool { return value.Fnmatch(x.text, form) })
		})
	}
	option := ""
	switch {
	case matched(blacklistCommand):
		option = blacklistCommand
	case len(l.white[whitelistCommand]) > 0 && !matched(whitelistCommand):
		option = whitelistCommand
	default:
		return nil
	}
	return &ForbiddenError{&CommandError{
		Msg:  `The shell command "` + forms[0] + `" is not permitted`,
		Hint: "the option " + option + " of the configuration says which commands may be run",
	}}
}

// A ForbiddenError is a CommandError of a command that the configuration forbids:
// it was not run, so nothing follows from how it would have ended.
type ForbiddenError struct{ *CommandError }

// Unwrap returns the CommandError.
func (e *ForbiddenError) Unwrap() error { return e.CommandError }

// option returns the option that disables modules of a kind.
func (k Kind) option() string {
	switch k {
	case State:
		return disableStates
	case Runner:
		return disableRunners
	case Wheel:
		return disableWheels
	case Exec:
	}
	return disableModules
}

// forbidden returns why a module may not serve under a name in this run; "" where
// it may. Modules are named as they serve, or as Salt names their files: cmd or
// cmdmod.
func (e *Env) forbidden(kind Kind, name string, l *loaded) string {
	if e.Limits == nil {
		return ""
	}
	names := append([]string{name, l.Name, l.serves()}, l.Also...)
	names = append(names, saltFiles(&l.get().mod)...)
	if why := e.Limits.disables(kind.option(), names...); why != "" {
		return why
	}
	if kind == Exec {
		return e.Limits.leavesOut(whitelistModules, names...)
	}
	return ""
}

// saltFiles returns the names of the files in which Salt has the functions of a
// module.
func saltFiles(m *Module) []string {
	var out []string
	for i := range m.Specs {
		file, _, _ := strings.Cut(m.Specs[i].Src, " ")
		if base, ok := strings.CutSuffix(path.Base(file), ".py"); ok && !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	return out
}

// stateUses are the execution modules that state modules stand on whose names do
// not say so; "" is none.
var stateUses = map[string]string{
	"alias": "aliases", "apt": "pkg", "blockdev": "disk", "host": "hosts", "nfs_export": "nfs3", "pkgrepo": "pkg", "process": "ps",
	"ssh_auth": "ssh", "ssh_known_hosts": "ssh", "test": "",
}

// forbiddenState returns why the states of a module may not run although the
// module itself is allowed: the execution module that Salt's state calls is not. It
// has the same name, or that name up to an underscore (mysql_user).
func (e *Env) forbiddenState(name string) string {
	if e.Limits == nil {
		return ""
	}
	mod, known := stateUses[name]
	if !known {
		if mod = name; e.Table.byName[tableKey{Exec, mod}] == nil {
			mod, _, _ = strings.Cut(name, "_")
		}
	}
	why := ""
	for _, l := range e.Table.byName[tableKey{Exec, mod}] {
		if why = e.forbidden(Exec, mod, l); why == "" {
			return ""
		}
	}
	if why != "" {
		why = "the execution module " + mod + " is " + why
	}
	return why
}
