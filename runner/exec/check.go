package exec

import (
	"context"
	"errors"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A verdict is the result of a condition.
type verdict struct {
	skip    bool // the state is not to run
	comment string
}

// conditions evaluates onlyif, unless and creates, then those of the
// configuration. It returns the return of a state that must not run, or that
// cannot run because a condition fails; otherwise nil.
//
// Salt: salt/state.py State._run_check. Difference: an empty list counts as no
// condition at all (a traceback in Salt).
func (j *job) conditions(ctx context.Context) *value.Map {
	low := j.c.Low
	var comments []value.Value
	skip := false
	for _, k := range []struct {
		name string
		eval func(context.Context, value.Value) (verdict, error)
	}{{"onlyif", j.onlyif}, {"unless", j.unless}, {"creates", j.creates}} {
		v, ok := low.Get(k.name)
		if !ok {
			continue
		}
		if text := emptyCondition(k.name, v); text != "" {
			j.warn(k.name, text)
			continue
		}
		got, err := k.eval(ctx, v)
		if err != nil {
			return j.exception(err)
		}
		skip = skip || got.skip
		comments = append(comments, got.comment)
	}
	if skip {
		return j.checkCmd(ctx, value.MapOf("result", true, "name", j.c.Name, "changes", value.NewMap(0),
			"comment", value.NewList(comments...), "skip_watch", true))
	}
	switch met, err := j.globalConditions(ctx); {
	case err != nil:
		return j.exception(err)
	case !met && !j.mock:
		return j.checkCmd(ctx, value.MapOf("name", low.At("name"), "changes", value.NewMap(0), "result", nil,
			"comment", "Failed to meet global state conditions. State not called."))
	}
	return nil
}

// onlyif lets the state run if all its commands succeed and all its functions
// return a true value.
func (j *job) onlyif(ctx context.Context, v value.Value) (verdict, error) {
	out := verdict{comment: "onlyif condition is true"}
	no := verdict{skip: true, comment: "onlyif condition is false"}
	for _, entry := range items(v) {
		switch e := entry.(type) {
		case string:
			code, err := j.retcode(ctx, e)
			if failed(err) {
				code, err = 100, nil // a command that cannot run is not true
			}
			if err != nil {
				return out, err
			}
			if code != 0 {
				return no, nil
			}
		case *value.Map:
			good, known, err := j.condition(ctx, "onlyif", e)
			if err != nil {
				return out, err
			}
			if !known {
				return verdict{comment: "no `fun` argument in onlyif: " + value.Str(e)}, nil
			}
			if !good {
				return no, nil
			}
		default:
			j.warn("onlyif", badEntry("onlyif", entry))
			return verdict{comment: "onlyif execution failed, bad type passed"}, nil
		}
	}
	return out, nil
}

// failed reports whether a command could not be run, as Salt counts it. A
// command that must not be run is different: then the state fails.
func failed(err error) bool {
	if _, ok := errors.AsType[*fun.ForbiddenError](err); ok {
		return false
	}
	_, ok := errors.AsType[*fun.CommandError](err)
	return ok
}

// unless keeps the state from running if all its commands succeed and all its
// functions return a true value.
func (j *job) unless(ctx context.Context, v value.Value) (verdict, error) {
	var out verdict
	runs := verdict{comment: "unless condition is false"}
	for _, entry := range items(v) {
		good := false
		switch e := entry.(type) {
		case string:
			code, err := j.retcode(ctx, e)
			if failed(err) {
				code, err = 0, nil // as Salt: what cannot be asked is taken to hold
			}
			if err != nil {
				return out, err
			}
			good = code == 0
		case *value.Map:
			var known bool
			var err error
			if good, known, err = j.condition(ctx, "unless", e); err != nil {
				return out, err
			}
			if !known {
				out.comment = "no `fun` argument in unless: " + value.Str(e)
				return out, nil
			}
		default:
			j.warn("unless", badEntry("unless", entry))
			out = verdict{comment: "unless condition is false, bad type passed"}
			continue
		}
		if !good {
			return runs, nil
		}
		out = verdict{skip: true, comment: "unless condition is true"}
	}
	return out, nil
}

// creates keeps the state from running if all files it names exist.
func (j *job) creates(_ context.Context, v value.Value) (verdict, error) {
	switch v := v.(type) {
	case string:
		if j.exists(v) {
			return verdict{true, v + " exists"}, nil
		}
	case *value.List:
		all := true
		for _, x := range v.Items {
			s, ok := x.(string)
			all = all && ok && j.exists(s)
		}
		if all {
			return verdict{true, "All files in creates exist"}, nil
		}
	default:
		j.warn("creates", badEntry("creates", v))
	}
	return verdict{false, "Creates files not found"}, nil
}

func (j *job) exists(path string) bool {
	if j.env.Host == nil {
		return false
	}
	if !filepath.IsAbs(path) {
		wd, err := j.env.Host.Getwd()
		if err != nil {
			return false
		}
		path = filepath.Join(wd, path)
	}
	_, err := j.env.Host.Stat(path)
	return err == nil
}

// condition calls the function of an onlyif or unless entry (fun, args, further
// keywords, get_return) and returns its truth; known is false where the entry
// names no function.
func (j *job) condition(ctx context.Context, kind string, entry *value.Map) (good, known bool, err error) {
	name, ok := entry.Get("fun")
	if !ok {
		j.warn(kind, badEntry(kind, entry))
		return false, false, nil
	}
	kw := value.NewMap(entry.Len())
	var args fun.Args
	for k, v := range entry.All() {
		switch k {
		case "fun", "get_return":
		case "args":
			args.Pos = append(args.Pos, items(v)...)
		default:
			kw.Set(k, v)
		}
	}
	for i, v := range args.Pos {
		if args.Pos[i], err = j.fill(ctx, v); err != nil {
			return false, true, err
		}
	}
	if args.Kw, err = j.fillMap(ctx, kw, nil); err != nil {
		return false, true, err
	}
	res, err := j.env.Invoker.Invoke(ctx, fun.Exec, value.Str(name), args)
	if err != nil {
		return false, true, err
	}
	got := res.Value
	if path := entry.At("get_return"); value.Truth(path) {
		got, _ = value.TraverseKey(got, path, "")
	}
	if res.Retcode != 0 {
		return false, true, nil
	}
	return value.Truth(got), true, nil
}

// cmdArgs are the arguments of a state that its conditions' commands share.
var cmdArgs = [...]string{"cwd", "root", "runas", "env", "prepend_path", "umask", "timeout", "success_retcodes"}

// retcode runs a command of a condition and returns its exit status.
func (j *job) retcode(ctx context.Context, cmd string) (int64, error) {
	low := j.c.Low
	kw := value.MapOf("ignore_retcode", true, "python_shell", true)
	not := map[string]bool{}
	for _, x := range items(low.At("cmd_opts_exclude")) {
		not[value.Str(x)] = true
	}
	for _, k := range cmdArgs {
		if v := low.At(k); v != nil && !not[k] {
			kw.Set(k, v)
		}
	}
	sh := low.At("shell")
	if sh == nil || not["shell"] {
		sh = j.grainShell()
	}
	if sh != nil && sh != "/sbin/nologin" {
		kw.Set("shell", sh)
	}
	return j.run(ctx, cmd, kw)
}

func (j *job) grainShell() value.Value {
	if j.env.Grains == nil {
		return nil
	}
	v, _ := j.env.Grains.Get("shell")
	return v
}

func (j *job) run(ctx context.Context, cmd string, kw *value.Map) (int64, error) {
	res, err := j.env.Invoker.Invoke(ctx, fun.Exec, "cmd.retcode", fun.Args{Pos: []value.Value{cmd}, Kw: kw})
	if err != nil {
		return 0, err
	}
	code, ok := value.AsInt(res.Value)
	if !ok {
		return 0, value.Raise("TypeError", "cmd.retcode returned %s", value.Repr(res.Value))
	}
	return code, nil
}

// globalConditions reports whether the option global_state_conditions lets the
// function run: {"*" or module or module.function: target or list of targets}.
// Where some of them match the function, one of the targets must match this
// machine.
// Salt: salt/state.py State._match_global_state_conditions.
func (j *job) globalConditions(ctx context.Context) (bool, error) {
	conditions := j.env.Opts.Map("global_state_conditions")
	asked := false
	for k, v := range conditions.All() {
		if k != "*" && k != j.c.State && k != j.c.State+"."+j.c.Fun {
			continue
		}
		if _, ok := v.(*value.Map); ok {
			continue
		}
		for _, target := range items(v) {
			asked = true
			res, err := j.env.Invoker.Invoke(ctx, fun.Exec, "match.compound", fun.Args{Pos: []value.Value{target}})
			if err != nil {
				return false, err
			}
			if value.Truth(res.Value) {
				return true, nil
			}
		}
	}
	return !asked, nil
}

// checkCmd lets check_cmd decide whether the state succeeded, except for
// modules that see to check_cmd themselves.
//
// Salt: salt/state.py State._run_check_cmd. Difference: a single command need
// not be a list, a parallel state is checked when it has ended, and the dry run
// for a prereq is not checked (in Salt that hides from prereq what would change).
func (j *job) checkCmd(ctx context.Context, ret *value.Map) *value.Map {
	v := j.c.Low.At("check_cmd")
	if v == nil || j.mod.OwnCheckCmd && j.spec.Declares("check_cmd") || j.dry {
		return ret
	}
	if j.plan && due(ret) {
		return ret // it would be run when the state has acted
	}
	for _, x := range items(v) {
		if text := badEntry("check_cmd", x); text != "" {
			j.warn("check_cmd", text)
		}
		kw := value.MapOf("ignore_retcode", true, "python_shell", true)
		if sh := j.grainShell(); sh != nil {
			kw.Set("shell", sh)
		}
		code, err := j.run(ctx, value.Str(x), kw)
		if err != nil {
			return j.exception(err)
		}
		if code != 0 {
			ret.Set("result", false)
			ret.Set("comment", "check_cmd determined the state failed")
			return ret
		}
		ret.Set("result", true)
		ret.Set("comment", "check_cmd determined the state succeeded")
	}
	return ret
}
