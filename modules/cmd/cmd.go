// Package cmd is Salt's execution module "cmd": commands of the machine.
package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// Module returns the execution module "cmd".
func Module() fun.Module {
	return fun.Module{Name: "cmd", Kind: fun.Exec, Doc: "Run commands and scripts.", Specs: specs}
}

// commandOptions reads the arguments for a command.
func commandOptions(c *fun.Call, a ofCommand) Options {
	o := options(c, a)
	o.CleanEnv, o.PrependPath, o.NoStrip = a.clean(), a.prepend(), !a.strip()
	return o
}

// rareArgs and rootArg are arguments that Salt takes by name only.
type rareArgs struct {
	_ fun.Arguments
	_ bool `arg:"ignore_timeout,kw" default:"False" doc:"leave a command that runs longer than timeout running"`
	_ bool `arg:"stdin_raw_newlines,kw" default:"False" doc:"leave the characters \\n of stdin as they are"`
}

type rootArg struct {
	_ fun.Arguments
	_ string `arg:"root,kw,path" doc:"directory that becomes the root of the command"`
}

// options reads the arguments that commands and scripts have.
func options(c *fun.Call, a common) Options {
	user, success, limit := a.user(), a.success(), a.limit()
	o := Options{
		Cwd: a.dir(), Stdin: a.input(), RunAs: user.RunAs, Group: user.Group, Shell: user.Shell,
		Template: a.engine(), Umask: a.mask(), HideOutput: a.hidden(), Private: a.quiet(), SaltEnv: a.fileEnv(), Background: a.background(),
		Root: value.Str(value.OrEmpty(c.Args.At("root"))), LeaveOn: value.Truth(c.Args.At("ignore_timeout")),
	}
	env, slip := ParseEnv(a.vars())
	if o.Env = env; slip != "" {
		c.Env.Warn(fun.Warning{Text: slip})
	}
	o.Fault = value.Fault(a.vars(), "bool")
	o.SuccessStdout, o.SuccessStderr = success.SuccessStdout, success.SuccessStderr
	o.KeepLocale = !limit.ResetSystemLocale
	if !value.Truth(c.Args.At("stdin_raw_newlines")) {
		o.Stdin = strings.ReplaceAll(o.Stdin, `\n`, "\n") // a newline as command lines have it
	}
	for _, x := range success.SuccessRetcodes {
		n, err := value.ToInt(x)
		if err != nil {
			o.Fault = &fun.InvocationError{Msg: "success_retcodes must be a list of integers"}
			break
		}
		if code, ok := value.AsInt(n); ok {
			o.SuccessRetcodes = append(o.SuccessRetcodes, code)
		}
	}
	switch v := limit.Timeout.(type) {
	case nil, bool, int64, float64:
		o.Timeout, _ = value.Seconds(v) // a number
	default:
		if value.Truth(v) {
			o.Fault = value.Raise("salt.exceptions.TimedProcTimeoutError", "Error: timeout %s must be a number", value.Str(v))
		}
	}
	o.PythonShell, o.Written = pythonShell(c, a.inShell()), true
	return o
}

// pythonShell resolves python_shell: where it is not given, a call from the
// command line or a job (it has a jid) uses the shell, one from a template does
// not. Salt: salt/modules/cmdmod.py _python_shell_default.
func pythonShell(c *fun.Call, given fun.Opt[bool]) bool {
	if given.Given {
		return given.V
	}
	if c.Kw.Has("__pub_jid") {
		return true
	}
	safe, ok := c.Env.Opts.Get("cmd_safe")
	return ok && safe == false
}

// command returns the command of a call; a list is joined to words.
func command(cmd value.Value) string {
	switch v := cmd.(type) {
	case *value.List:
		words := make([]string, v.Len())
		for i, x := range v.Items {
			words[i] = proc.Quote(value.Str(x))
		}
		return strings.Join(words, " ")
	case nil:
		return ""
	default:
		return value.Str(v)
	}
}

// finish runs the command and makes the result of pick.
func finish(ctx context.Context, c *fun.Call, a ofOne, o Options, pick func(Out) value.Value) (fun.Result, error) {
	cmd := command(a.command())
	out, err := Run(ctx, c.Env, cmd, o)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Retcode != 0 && !out.TimedOut && !a.ignored() && a.raises() {
		return fun.Result{}, fun.Errorf("%s", out.Stdout)
	}
	res := fun.Result{Value: pick(out), Retcode: out.Retcode}
	// Salt counts a command that ran out of time as no failure of cmd.run.
	if a.ignored() || out.TimedOut {
		res.Retcode = 0
	}
	return res, nil
}

func stdout(o Out) value.Value { return o.Stdout }

type runOutputArgs struct {
	cmdArgs
	stdinArgs
	userArgs
	pythonShellArgs
	envArgs
	cleanEnvArgs
	templateArgs
	rstripArgs
	umaskArgs
	logArgs
	hideArgs
	timeoutArgs
	ignoreArgs
	saltenvArgs
	vtArgs
	bgArgs
	passwordArgs
	encodedArgs
	raiseArgs
	prependArgs
	successArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func runOutput(ctx context.Context, c *fun.Call, a *runOutputArgs) (fun.Result, error) {
	o := commandOptions(c, a)
	o.Merge = true
	return finish(ctx, c, a, o, stdout)
}

type shellOutputArgs struct {
	cmdArgs
	stdinArgs
	userArgs
	envArgs
	cleanEnvArgs
	templateArgs
	rstripArgs
	umaskArgs
	logArgs
	hideArgs
	timeoutArgs
	ignoreArgs
	saltenvArgs
	vtArgs
	bgArgs
	passwordArgs
	prependArgs
	successArgs
	pythonShellArgs
	encodedArgs
	raiseArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func shellOutput(ctx context.Context, c *fun.Call, a *shellOutputArgs) (fun.Result, error) {
	o := commandOptions(c, a)
	o.Merge, o.PythonShell = true, true
	return finish(ctx, c, a, o, stdout)
}

// runStdoutArgs are the arguments of runStdout and runStderr.
type runStdoutArgs struct {
	cmdArgs
	stdinArgs
	userArgs
	pythonShellArgs
	envArgs
	cleanEnvArgs
	templateArgs
	rstripArgs
	umaskArgs
	logArgs
	hideArgs
	timeoutArgs
	ignoreArgs
	saltenvArgs
	vtArgs
	passwordArgs
	prependArgs
	successArgs
	bgArgs
	encodedArgs
	raiseArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func runStdout(ctx context.Context, c *fun.Call, a *runStdoutArgs) (fun.Result, error) {
	return finish(ctx, c, a, commandOptions(c, a), stdout)
}

func runStderr(ctx context.Context, c *fun.Call, a *runStdoutArgs) (fun.Result, error) {
	return finish(ctx, c, a, commandOptions(c, a), func(o Out) value.Value { return o.Stderr })
}

type runAllArgs struct {
	cmdArgs
	stdinArgs
	userArgs
	pythonShellArgs
	envArgs
	cleanEnvArgs
	templateArgs
	rstripArgs
	umaskArgs
	logArgs
	hideArgs
	timeoutArgs
	ignoreArgs
	saltenvArgs
	vtArgs
	RedirectStderr bool `arg:"redirect_stderr" default:"False" doc:"send stderr to stdout"`
	passwordArgs
	encodedArgs
	prependArgs
	successArgs
	bgArgs
	raiseArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func runAll(ctx context.Context, c *fun.Call, a *runAllArgs) (fun.Result, error) {
	o := commandOptions(c, a)
	o.Merge = a.RedirectStderr
	return finish(ctx, c, a, o, func(o Out) value.Value { return o.Value() })
}

type retcodeArgs struct {
	cmdArgs
	stdinArgs
	userArgs
	pythonShellArgs
	envArgs
	cleanEnvArgs
	templateArgs
	umaskArgs
	logArgs
	timeoutArgs
	ignoreArgs
	saltenvArgs
	vtArgs
	passwordArgs
	successArgs
	rstripArgs
	hideArgs
	bgArgs
	encodedArgs
	raiseArgs
	prependArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func retcode(ctx context.Context, c *fun.Call, a *retcodeArgs) (fun.Result, error) {
	o := commandOptions(c, a)
	o.Merge = true
	return finish(ctx, c, a, o, func(o Out) value.Value { return o.Status() })
}

type runBgArgs struct {
	cmdArgs
	userArgs
	pythonShellArgs
	envArgs
	cleanEnvArgs
	templateArgs
	umaskArgs
	timeoutArgs
	logArgs
	ignoreArgs
	saltenvArgs
	passwordArgs
	prependArgs
	successArgs
	stdinArgs
	rstripArgs
	hideArgs
	vtArgs
	bgArgs
	encodedArgs
	raiseArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func runBg(ctx context.Context, c *fun.Call, a *runBgArgs) (fun.Result, error) {
	o := commandOptions(c, a)
	o.Background = true
	return finish(ctx, c, a, o, func(o Out) value.Value { return value.MapOf("pid", int64(o.PID)) })
}

func hasExec(_ context.Context, c *fun.Call, a *programArg) (fun.Result, error) {
	return fun.Value(Which(c.Env, a.Cmd) != "")
}

func which(_ context.Context, c *fun.Call, a *programArg) (fun.Result, error) {
	if p := Which(c.Env, a.Cmd); p != "" {
		return fun.Value(p)
	}
	return fun.Value(nil)
}

type whichBinArgs struct {
	_    fun.Arguments
	Cmds []string `arg:"cmds,required" doc:"the programs"`
}

func whichBin(_ context.Context, c *fun.Call, a *whichBinArgs) (fun.Result, error) {
	for _, name := range a.Cmds {
		if p := Which(c.Env, name); p != "" {
			return fun.Value(p)
		}
	}
	return fun.Value(nil)
}

func shells(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	l := value.NewList()
	b, err := c.Env.Host.ReadFile("/etc/shells")
	if err != nil {
		return fun.Value(l)
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if line != "" && !strings.HasPrefix(line, "#") {
			l.Append(line)
		}
	}
	return fun.Value(l)
}

// execCodeArgs are the arguments of execCode and execCodeAll.
type execCodeArgs struct {
	codeArgs
	Rest fun.Kwargs
}

func execCode(ctx context.Context, c *fun.Call, a *execCodeArgs) (fun.Result, error) {
	res, err := execCodeAll(ctx, c, a)
	if m, ok := res.Value.(*value.Map); ok {
		res.Value = m.At("stdout")
	}
	return res, err
}

// execCodeAll runs a program text as cmd.run_all runs a command: further
// arguments are those of cmd.run_all.
func execCodeAll(ctx context.Context, c *fun.Call, a *execCodeArgs) (fun.Result, error) {
	lang := a.Lang
	ext := ".code"
	switch {
	case strings.HasPrefix(lang, "powershell"):
		ext = ".ps1"
	case strings.HasPrefix(lang, "python"):
		ext = ".py"
	}
	path, done, err := tempScript(c.Env.Host, []byte(a.Code), ext, 0o600)
	if err != nil {
		return fun.Result{}, err
	}
	defer done()
	user, _ := a.Rest.At("runas").(string)
	if err := handOver(ctx, c.Env.Host, path, user); err != nil {
		return fun.Result{}, err
	}
	kw := a.Rest.Copy()
	kw.Set("cwd", a.Cwd)
	kw.Set("python_shell", false)
	words := value.Strings(append([]string{lang, path}, a.Args...)...)
	return c.Env.Invoker.Invoke(ctx, fun.Exec, "cmd.run_all", fun.Args{Pos: []value.Value{words}, Kw: kw})
}

// handOver gives a script to the account that is to run it.
func handOver(ctx context.Context, h host.Host, path, user string) error {
	if user == "" {
		user = fun.RunAsFrom(ctx).User
	}
	if user == "" {
		return nil
	}
	a, err := h.LookupUser(user)
	if err != nil {
		return fun.Errorf("User '%s' is not available", user)
	}
	// The file first: once the directory is the account's, it can put anything in
	// the place of the file.
	for _, p := range []string{path, filepath.Dir(path)} {
		if err := h.Lchown(p, a.UID, -1); err != nil {
			return fun.Errorf("Unable to hand the script to %s: %v", user, err)
		}
	}
	return nil
}

// tempScript writes a script to a directory of its own, so that nobody can
// replace it before it runs.
func tempScript(h host.Host, text []byte, ext string, mode fs.FileMode) (path string, done func(), err error) {
	dir, err := h.MkdirTemp("", "brine-script-")
	if err != nil {
		return "", nil, fun.Errorf("Unable to make a directory for the script: %v", err)
	}
	done = func() { _ = h.RemoveAll(dir) }
	path = filepath.Join(dir, "script"+ext)
	// A program that another state starts meanwhile would hold the script open
	// for writing until it runs, and a shell refuses a file that is.
	syscall.ForkLock.RLock()
	err = h.WriteFile(path, bytes.NewReader(text), host.WriteOptions{Mode: &mode})
	syscall.ForkLock.RUnlock()
	if err != nil {
		done()
		return "", nil, fun.Errorf("Unable to write the script: %v", err)
	}
	return path, done, nil
}

type scriptGiven struct {
	scriptArgs
	stdinArgs
	userArgs
	pythonShellArgs
	envArgs
	templateArgs
	umaskArgs
	logArgs
	hideArgs
	timeoutArgs
	saltenvArgs
	vtArgs
	bgArgs
	passwordArgs
	successArgs
	contextArgs
	ignoreArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func script(ctx context.Context, c *fun.Call, a *scriptGiven) (fun.Result, error) {
	out, cached, err := runScript(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	m := out.Value()
	if !cached {
		m.Set("cache_error", true)
	}
	res := fun.Result{Value: m}
	if ran(out, cached) && !a.IgnoreRetcode {
		res.Retcode = out.Retcode
	}
	return res, nil
}

// ran reports whether the status of a script is one of its own: Salt notes no
// other as the status of the call, which is success then.
func ran(out Out, cached bool) bool { return cached && !out.TimedOut }

type scriptRetcodeArgs struct {
	scriptArgs
	stdinArgs
	userArgs
	pythonShellArgs
	envArgs
	Template string `arg:"template" default:"jinja" doc:"engine that renders the script first"`
	umaskArgs
	timeoutArgs
	saltenvArgs
	logArgs
	vtArgs
	passwordArgs
	successArgs
	hideArgs
	bgArgs
	contextArgs
	ignoreArgs
	rareArgs
	rootArg
	_ fun.Kwargs
}

func (a *scriptRetcodeArgs) engine() string { return a.Template }

func scriptRetcode(ctx context.Context, c *fun.Call, a *scriptRetcodeArgs) (fun.Result, error) {
	out, cached, err := runScript(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	res := fun.Result{Value: int64(out.Retcode)}
	if ran(out, cached) {
		res.Retcode = out.Retcode
	}
	return res, nil
}

// runScript runs the script of a call. cached is false where the script could not be
// had. Salt: salt/modules/cmdmod.py script.
func runScript(ctx context.Context, c *fun.Call, a ofScript) (out Out, cached bool, err error) {
	source, args := a.script().Source, a.script().Args
	text, err := scriptText(ctx, c, a)
	if err != nil {
		return Out{}, false, err
	}
	if text == nil {
		return Out{Retcode: 1}, false, nil
	}
	path, done, err := tempScript(c.Env.Host, text, filepath.Ext(source), 0o500)
	if err != nil {
		return Out{}, false, err
	}
	defer done()
	o := options(c, a)
	if err := handOver(ctx, c.Env.Host, path, o.RunAs); err != nil {
		return Out{}, false, err
	}
	cmd := proc.Quote(path)
	o.Forms = []string{source}
	if args != "" {
		cmd += " " + args
		o.Forms[0] += " " + args
	}
	o.Template = ""
	out, err = Run(ctx, c.Env, cmd, o)
	return out, true, err
}

// maxScript bounds the size of a script, in bytes.
const maxScript = 64 << 20

// scriptText returns the script, rendered where a template engine is named;
// nil where it is not there.
func scriptText(ctx context.Context, c *fun.Call, a ofScript) ([]byte, error) {
	source := a.script().Source
	cl := cp.New(c.Env, a.fileEnv())
	r, err := cl.Open(ctx, source, cp.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		if p := strings.TrimPrefix(source, "file://"); a.engine() == "" && strings.HasPrefix(p, "/") {
			return nil, fun.Errorf("[Errno 2] No such file or directory: '%s'", p)
		}
		return nil, nil
	}
	if err != nil {
		return nil, fun.Errorf("Unable to read the script %s: %v", source, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	if err != nil {
		return nil, fun.Errorf("Unable to read the script %s: %v", source, err)
	}
	if len(b) > maxScript {
		return nil, fun.Errorf("The script %s is larger than %d bytes", source, maxScript)
	}
	engine, given := a.engine(), a.templateVars()
	if engine == "" {
		return b, nil
	}
	s, err := cl.Render(ctx, engine, source, b, cp.Vars(nil, given.Defaults, given.Context))
	if err != nil {
		return nil, err
	}
	return []byte(s), nil
}
