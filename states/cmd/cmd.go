// Package cmd is Salt's state module "cmd": commands as states.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/proc"
	"brine/internal/py/source"
	"brine/internal/py/value"
	commands "brine/modules/cmd"
)

// States returns the rows of the state module "cmd".
func States() fun.Module {
	return fun.Module{Name: "cmd", Kind: fun.State, Doc: "Run commands, always or if a watched state changed.", Watch: modWatch, Specs: specs}
}

// waits does nothing: what it stands for runs by mod_watch.
func waits[A any](context.Context, *fun.Call, *A) fun.Ret {
	return fun.Ret{Result: fun.OK, Comment: ""}
}

// modWatch runs what wait, watch, wait_script and wait_call stand for.
// Salt: salt/states/cmd.py mod_watch.
func modWatch(ctx context.Context, c *fun.Call) fun.Ret {
	fn := c.Spec.Name
	switch fn {
	case "wait", "run", "watch":
		return again(ctx, c, "run")
	case "wait_script", "script":
		return again(ctx, c, "script")
	case "wait_call", "call":
		return again(ctx, c, "call")
	}
	return fun.Ret{Comment: fmt.Sprintf("cmd.%s does not work with the watch requisite, please use cmd.wait or cmd.wait_script", fn)}
}

// again calls another function of this module with the chunk's arguments.
func again(ctx context.Context, c *fun.Call, name string) fun.Ret {
	mod, spec, ok := c.Env.Table.Lookup(fun.State, "cmd."+name)
	if !ok {
		return fun.Fail("cmd.%s is not available", name)
	}
	call, err := c.Env.Invoker.Bind(mod, spec, fun.Args{Kw: c.Low.Low})
	if err != nil {
		return fun.Raise(err)
	}
	call.Name, call.Test, call.Low, call.Env = c.Name, c.Test, c.Low, c.Env
	return spec.State(ctx, call)
}

// statefulOf returns whether the output is read, and the command for test
// mode: True, or a list with test_name, ask for it. Salt takes anything else
// for False silently; a warning says so.
// Salt: salt/states/cmd.py run.
func statefulOf(c *fun.Call, stateful value.Value) (on bool, testName string) {
	switch v := stateful.(type) {
	case nil:
	case bool:
		return v, ""
	case *value.List:
		if v.Len() > 0 {
			if m, ok := v.Items[0].(*value.Map); ok {
				testName = m.Str("test_name")
			}
		}
		return v.Len() > 0, testName
	default:
		if c.Low != nil {
			c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: fmt.Sprintf("stateful: %s has no effect: it takes True, or a list with test_name", value.Repr(v))})
		}
	}
	return false, ""
}

// envFault reports an env that is neither a dict nor a list.
func envFault(env value.Value) (bool, fun.Ret) {
	switch env.(type) {
	case nil, *value.Map, *value.List:
		return false, fun.Ret{}
	}
	return true, fun.Fail("Invalidly-formatted 'env' parameter. See documentation.")
}

// noDict reports a value that is given and no dict.
func noDict(v value.Value) bool { return value.Truth(v) && fun.MapOf(v) == nil }

// run runs a command. Salt: salt/states/cmd.py run.
func run(ctx context.Context, c *fun.Call, a *runArgs) fun.Ret {
	if bad, ret := envFault(a.Env); bad {
		return ret
	}
	stateful, testName := statefulOf(c, a.Stateful)
	command := c.Name
	if c.Test {
		if testName == "" {
			return fun.Due("Command \"%s\" would have been executed", c.Name)
		}
		command = testName
	}
	// A shell does nothing and is content; Salt fails as well, with an IndexError.
	if strings.TrimSpace(command) == "" {
		return fun.Ret{Comment: "There is no command to run: the name is empty"}
	}
	if cwd := a.Cwd; cwd != "" && !isDir(c.Env, cwd) {
		return fun.Ret{Comment: fmt.Sprintf("Desired working directory \"%s\" is not available", cwd)}
	}
	// shell: none is given means the configured one, which need not be a path.
	args := fun.Args{Pos: []value.Value{command}, Kw: runKw(c)}
	if a.IgnoreTimeout {
		args.Kw.Set("ignore_timeout", true)
	}
	all, err := runAll(ctx, c, args)
	if err != nil {
		return fun.Ret{Comment: textOf(c, err)}
	}
	ret := fun.Ret{Changes: all, Comment: fmt.Sprintf("Command \"%s\" run", command)}
	if !value.Truth(all.At("retcode")) {
		ret.Result = fun.OK
	}
	if rc, _ := value.AsInt(all.At("retcode")); a.IgnoreTimeout && rc == 1 && strings.Contains(all.Str("stdout"), "Timed out after") {
		all.Set("retcode", int64(0))
		ret.Result = fun.OK
	}
	return outcome(c, ret, all, stateful)
}

// outcome is how a command's end counts: by its output where the state is
// stateful, and as a change that is due in test mode.
func outcome(c *fun.Call, ret fun.Ret, all *value.Map, stateful bool) fun.Ret {
	if stateful {
		ret = reinterpret(ret, all)
	}
	if rc, ok := value.AsInt(all.At("retcode")); c.Test && ok && rc == 0 && value.Truth(ret.Changes) {
		ret.Result = fun.WouldChange
	}
	return ret
}

// textOf returns what Salt says of err; where a template is wrong is shown beside
// the report.
func textOf(c *fun.Call, err error) string {
	var placed *source.Error
	if !errors.As(err, &placed) {
		return err.Error()
	}
	c.Env.Fault(placed)
	return placed.SaltText()
}

func isDir(env *fun.Env, path string) bool {
	st, err := env.Host.Stat(path)
	return err == nil && st.Mode.IsDir()
}

// runKw are the arguments that go on to cmd.run_all or cmd.script, also those that
// the state does not read.
func runKw(c *fun.Call) *value.Map {
	kw := value.NewMap(24)
	for k, v := range c.Args.All() {
		switch k {
		case "name", "stateful", "ignore_timeout", "source":
		case "root":
			if v != nil {
				kw.Set(k, v)
			}
		case "env":
			env, slip := commands.ParseEnv(v)
			if slip != "" && c.Low != nil {
				c.Env.Warn(fun.Warning{Where: c.Low.Pos.String(), Text: slip})
			}
			kw.Set(k, env)
		default:
			kw.Set(k, v)
		}
	}
	return kw
}

func runAll(ctx context.Context, c *fun.Call, args fun.Args) (*value.Map, error) {
	res, err := c.Env.Exec(ctx, "cmd.run_all", args.Kw, args.Pos...)
	if err != nil {
		return nil, err
	}
	m, ok := res.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("cmd.run_all returned %s", value.TypeName(res))
	}
	return m, nil
}

// reinterpret reads changes and comment out of the output of a stateful
// command: a JSON dict, or a last line of name=value pairs.
// Salt: salt/states/cmd.py _reinterpreted_state. Difference: where that line
// is the only one, Salt leaves all but its last character in stdout.
func reinterpret(ret fun.Ret, all *value.Map) fun.Ret {
	out := all.Str("stdout")
	ret.Changes, ret.Comment = nil, ""
	if out == "" {
		if value.Truth(all.At("stderr")) {
			ret.Comment = all.At("stderr")
		}
		return ret
	}
	var data *value.Map
	rest := ""
	if v, err := value.DecodeJSON(strings.NewReader(out)); err == nil {
		m, ok := v.(*value.Map)
		if !ok {
			return fun.Ret{Name: ret.Name, Comment: "script JSON output must be a JSON object (e.g., {})!"}
		}
		data = m
	} else {
		var ok bool
		if data, rest, ok = parsePairs(out); !ok {
			return fun.Ret{Name: ret.Name, Changes: all, Comment: "Failed parsing script output! Stdout must be JSON or a line of name=value pairs."}
		}
	}
	changed, err := isTrue(data)
	if err != nil {
		return fun.Raise(err)
	}
	if v, ok := data.Get("comment"); ok {
		ret.Comment = v
		data.Delete("comment")
	}
	if !changed {
		return ret
	}
	for k, v := range all.All() {
		if !data.Has(k) {
			data.Set(k, v)
		}
	}
	data.Set("stdout", rest)
	ret.Changes = data
	return ret
}

// parsePairs reads the last line of out as name=value pairs; rest is what is
// before it.
func parsePairs(out string) (data *value.Map, rest string, ok bool) {
	out = strings.TrimRight(out, " \t\r\n")
	last := out
	if i := strings.LastIndexByte(out, '\n'); i >= 0 {
		rest, last = out[:i], out[i+1:]
	}
	words, err := proc.Split(last)
	if err != nil {
		return nil, "", false
	}
	data = value.NewMap(len(words))
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if !ok || strings.Contains(v, "=") {
			return nil, "", false
		}
		data.Set(k, v)
	}
	return data, rest, true
}

// isTrue reads changed, which is "no" where it is missing.
// Salt: salt/states/cmd.py _is_true.
func isTrue(data *value.Map) (bool, error) {
	v, ok := data.Get("changed")
	if !ok {
		return false, nil
	}
	switch strings.ToLower(value.Str(v)) {
	case "true", "yes", "1":
		return true, nil
	case "false", "no", "0":
		return false, nil
	}
	return false, value.Raise("ValueError", "Failed parsing boolean value: %s", value.Str(v))
}

// script runs a script. Salt: salt/states/cmd.py script.
func script(ctx context.Context, c *fun.Call, a *scriptArgs) fun.Ret {
	if bad, ret := envFault(a.Env); bad {
		return ret
	}
	switch {
	case noDict(a.Context):
		return fun.Fail("Invalidly-formatted 'context' parameter. Must be formed as a dict.")
	case noDict(a.Defaults):
		return fun.Fail("Invalidly-formatted 'defaults' parameter. Must be formed as a dict.")
	}
	stateful, testName := statefulOf(c, a.Stateful)
	name := c.Name
	if c.Test {
		if testName == "" {
			return fun.Due("Command '%s' would have been executed", c.Name)
		}
		name = testName
	}
	source := a.Source
	if source == "" {
		source = name
	}
	if cwd := a.Cwd; cwd != "" && !isDir(c.Env, cwd) {
		return fun.Ret{Name: name, Comment: fmt.Sprintf("Desired working directory \"%s\" is not available", cwd)}
	}
	kw := runKw(c)
	if _, args, ok := strings.Cut(name, " "); ok && a.Args == "" {
		kw.Set("args", args)
	}
	kw.Set("saltenv", c.Low.SaltEnv)
	kw.Set("python_shell", true) // a script need not name its interpreter
	res, err := c.Env.Exec(ctx, "cmd.script", kw, source)
	if err != nil {
		return fun.Ret{Name: name, Comment: textOf(c, err)}
	}
	all, ok := res.(*value.Map)
	if !ok {
		return fun.Fail("cmd.script returned %s", value.TypeName(res))
	}
	ret := fun.Ret{Name: name, Changes: all, Comment: fmt.Sprintf("Command '%s' run", name)}
	if !value.Truth(all.At("retcode")) {
		ret.Result = fun.OK
	}
	if value.Truth(all.At("cache_error")) {
		ret.Comment = fmt.Sprintf("Unable to cache script %s from saltenv '%s'", source, c.Low.SaltEnv)
	}
	return outcome(c, ret, all, stateful)
}

// call calls an execution function. Salt: salt/states/cmd.py call.
// Difference: Salt takes a Python function, which only a Python SLS can give.
func call(ctx context.Context, c *fun.Call, a *callArgs) fun.Ret {
	name := a.Func
	if c.Test {
		return fun.Due("Function %s would have been called", name)
	}
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, name, fun.Args{Pos: a.Args, Kw: a.Kws})
	if err != nil {
		return fun.Ret{Comment: err.Error()}
	}
	if m, ok := res.Value.(*value.Map); ok && m.Has("result") {
		ret := fun.Ret{Changes: m.At("changes"), Comment: m.At("comment")}
		if r := m.At("result"); r == nil {
			ret.Result = fun.WouldChange
		} else if value.Truth(r) {
			ret.Result = fun.OK
		}
		return ret
	}
	ret := fun.Ret{Changes: value.MapOf("retval", res.Value), Comment: ""}
	if res.Retcode == 0 && (res.Value == nil || value.Truth(res.Value)) {
		ret.Result = fun.OK
	}
	if s, ok := res.Value.(string); ok {
		ret.Comment = s
	}
	return ret
}
