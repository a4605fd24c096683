package pillar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/internal/core/absent"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// An extArgs is what configuration gives an external pillar: a single value,
// a list of arguments, or arguments by name.
type extArgs struct {
	pos []value.Value
	kw  *value.Map
}

func argsOf(v value.Value) extArgs {
	switch v := v.(type) {
	case *value.Map:
		return extArgs{kw: v}
	case *value.List:
		return extArgs{pos: v.Items}
	}
	return extArgs{pos: []value.Value{v}}
}

// get returns argument n of a function, by its place or name.
func (a extArgs) get(n int, name string) value.Value {
	if n < len(a.pos) {
		return a.pos[n]
	}
	return a.kw.At(name)
}

// An extFunc is an external pillar: it gets what was rendered so far.
type extFunc func(j *job, ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error)

// allExtNames are the external pillars, those of extMore included.
func allExtNames() []string { return slices.Concat(extNames[:], extMoreNames()) }

// extNames are the external pillars that are here.
var extNames = [...]string{"cmd_json", "cmd_yaml", "cmd_yamlex", "file_tree", "git", "stack"}

// ext calls one external pillar. pillar is what was rendered so far. ok is
// false where there is none of the name.
func (j *job) ext(ctx context.Context, name string, pillar *value.Map, a extArgs) (m value.Mapping, ok bool, err error) {
	switch name {
	case "cmd_yaml", "cmd_yamlex":
		m, err = j.extCommand(ctx, a, name, func(text string) (value.Value, error) {
			return yamlsalt.Load(yamlsalt.LoadOptions{Extended: name == "cmd_yamlex"}, []byte(text))
		})
	case "cmd_json":
		m, err = j.extCommand(ctx, a, name, value.ParseJSON)
	case "file_tree":
		m, err = j.extFileTree(ctx, a)
	case "git":
		m, err = j.extGit(ctx, a)
	case "stack":
		m, err = j.extStack(ctx, pillar, a)
	default:
		if f := extMore(name); f != nil {
			m, err = f(j, ctx, pillar, a)
			break
		}
		if !python.Exists(ctx, j.env, "pillar", name) {
			return nil, false, nil
		}
		m, err = j.extPython(ctx, name, pillar, a)
	}
	return m, true, err
}

// extPython calls ext_pillar of a module of _pillar with the id, the pillar so far
// and the arguments.
func (j *job) extPython(ctx context.Context, name string, pillar *value.Map, a extArgs) (value.Mapping, error) {
	mod, err := python.Open(ctx, j.env, "pillar", name)
	if err != nil {
		return nil, err
	}
	v, err := mod.CallFor(ctx, j.env.SubjectGrains(), "ext_pillar", value.NewList(append([]value.Value{j.env.ID, pillar}, a.pos...)...), a.kw)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok && value.Truth(v) {
		return nil, fmt.Errorf("ext_pillar of salt://_pillar/%s.py returned %s instead of a dict", name, value.TypeName(v))
	}
	if m == nil {
		return nil, nil
	}
	return m, nil
}

// onDemand adds what was asked for to the configured external pillars, if
// on_demand_ext_pillar allows it; else it warns and leaves it out. A target gets
// none of those here: their arguments are programs and paths of the controller.
func (j *job) onDemand(configured, ext value.Value, foreign bool) value.Value {
	m, ok := ext.(*value.Map)
	if !ok {
		j.warn(source.Pos{}, "On-demand pillar %s is not formatted as a dictionary", value.Str(ext))
		return configured
	}
	var bad []string
	for k := range m.All() {
		name, allowed := value.Str(k), false
		l := j.opts.List("on_demand_ext_pillar")
		for i := range l.Len() {
			allowed = allowed || value.Str(l.Items[i]) == name
		}
		if foreign && (slices.Contains(allExtNames(), name) || python.Exists(context.Background(), j.env, "pillar", name)) {
			j.warn(source.Pos{}, "ext_pillar %s is not served to a target on demand: it would name a program or path of this controller", name)
			return configured
		}
		if !allowed {
			bad = append(bad, name)
		}
	}
	if len(bad) > 0 {
		j.warn(source.Pos{}, "ext_pillar %s is not allowed on demand; the option on_demand_ext_pillar lists those that are", strings.Join(bad, ", "))
		return configured
	}
	all := value.NewList()
	if l, ok := configured.(*value.List); ok {
		all.Append(l.Items...)
	}
	all.Append(m)
	return all
}

// extPillar merges the configured external pillars over pillar.
//
// Salt: salt/pillar/__init__.py ext_pillar.
func (j *job) extPillar(ctx context.Context, pillar *value.Map, ext value.Value) *value.Map {
	if ext == nil {
		return pillar
	}
	const malformed = `The "ext_pillar" option is malformed`
	list, ok := ext.(*value.List)
	if !ok {
		j.fail(malformed, at(j.opts.Pos("ext_pillar"), "ext_pillar must be a list, not %s", value.Kind(ext)))
		return pillar
	}
	if list.Len() > 0 && j.override.Len() > 0 {
		pillar = j.merge(pillar, j.override)
	}
	exclude := map[string]bool{}
	l := j.opts.List("exclude_ext_pillar")
	for i := range l.Len() {
		exclude[value.Str(l.Items[i])] = true
	}
	for i, item := range list.Items {
		run, ok := item.(*value.Map)
		if !ok {
			j.fail(malformed, at(list.PosAt(i), "an item of ext_pillar must be a mapping, not %s", value.Kind(item)))
			return value.NewMap(0)
		}
		if run.Len() > 0 && exclude[value.Str(run.Keys()[0])] {
			continue
		}
		var got value.Mapping // as in Salt, of several in one dict the last one counts
		for k, v := range run.All() {
			if ctx.Err() != nil {
				return pillar
			}
			name := value.Str(k)
			if why := j.env.Limits.Pillar(name); why != "" {
				j.fail("Failed to load ext_pillar "+name, at(run.Pos(k), "the external pillar %s is %s", name, why))
				return pillar
			}
			m, known, err := j.ext(ctx, name, pillar, argsOf(v))
			switch {
			case !known:
				if why := absent.ReasonSuffix(absent.Pillar, name); why != "" {
					j.warn(run.Pos(k), "ext_pillar %q is not in brine%s", name, why)
					break
				}
				j.warn(run.Pos(k), "ext_pillar %q is not in brine%s; there are %s", name,
					source.DidYouMean(name, allExtNames()), strings.Join(allExtNames(), ", "))
			case err != nil && ctx.Err() == nil:
				j.fail(fmt.Sprintf("Failed to load ext_pillar %s: %s", name, saltText(err)), placed(name, err, run.Pos(k)))
			case err == nil:
				got = m
			}
		}
		if got != nil && got.Len() > 0 {
			pillar = j.merge(pillar, got)
		}
	}
	return pillar
}

// placed gives the error of an external pillar a place where it has none.
func placed(name string, err error, pos source.Pos) error {
	if _, ok := errors.AsType[*source.Error](err); ok {
		return err
	}
	return &source.Error{Pos: pos, Err: fmt.Errorf("ext_pillar %s: %w", name, err)}
}

// extTimeout bounds a command of an external pillar.
const extTimeout = 10 * time.Minute

// extCommand runs a shell command, in which %s stands for the id, and parses
// what it prints. As in Salt, a command that prints no such data gives
// nothing; here with a warning.
func (j *job) extCommand(ctx context.Context, a extArgs, name string, parse func(string) (value.Value, error)) (value.Mapping, error) {
	cmd, ok := a.get(0, "command").(string)
	if !ok || cmd == "" {
		return nil, fmt.Errorf("%s needs a command", name)
	}
	cmd, err := withID(cmd, j.env.ID)
	if err != nil {
		return nil, err
	}
	out, err := j.env.Host.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-c", cmd}, Timeout: extTimeout})
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", cmd, err)
	}
	note := ""
	if out.Status != 0 || out.TimedOut {
		note = fmt.Sprintf(" (it ended with status %d: %s)", out.Status, firstLine(string(out.Stderr)))
		if out.TimedOut {
			note = fmt.Sprintf(" (it was ended after %s)", extTimeout)
		}
	}
	v, err := parse(string(out.Stdout))
	if err != nil {
		j.warn(source.Pos{}, "ext_pillar %s: what %q printed does not parse: %v%s", name, cmd, err, note)
		return nil, nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		if v != nil || note != "" {
			j.warn(source.Pos{}, "ext_pillar %s: %q printed no mapping but %s%s", name, cmd, value.Kind(v), note)
		}
		return nil, nil
	}
	if note != "" {
		j.warn(source.Pos{}, "ext_pillar %s: %q failed%s", name, cmd, note)
	}
	return m, nil
}

// withID puts an id where a command has %s: as it is where no shell makes
// anything of it, else in quotes. It is an error where the command has quotes of
// its own around it, or might have.
func withID(cmd, id string) (string, error) {
	if !strings.Contains(cmd, "%s") {
		return cmd, nil
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@%+,/="
	if strings.Trim(id, plain) == "" && !strings.HasPrefix(id, "-") {
		return strings.ReplaceAll(cmd, "%s", id), nil
	}
	if strings.ContainsAny(cmd, "'\"`\\$<(") || strings.HasPrefix(id, "-") || strings.ContainsRune(id, 0) {
		return "", fmt.Errorf("the id %q has characters that are special to a shell, it is not put into %q", id, cmd)
	}
	return strings.ReplaceAll(cmd, "%s", "'"+strings.ReplaceAll(id, "'", `'\''`)+"'"), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// ExtNames returns the names of the external pillars that there are.
func ExtNames() []string { return allExtNames() }
