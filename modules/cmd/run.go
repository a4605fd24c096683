package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

// Options are how a command is run. The zero Options are Salt's defaults for a
// command that another function runs.
type Options struct {
	Cwd         string // "" is the home of the account, else /
	Stdin       string
	RunAs       string // account; "" is one's own
	Group       string
	Shell       string // "" is the grain shell
	PythonShell bool   // run by the shell; else the words are run as they are
	Env         *value.Map
	CleanEnv    bool // pass on nothing of one's own environment
	PrependPath string
	Template    string // engine that renders the command, "" is none
	Pillar      *value.Map
	NoStrip     bool   // keep blanks and line ends at the end of the output
	Umask       string // octal
	Timeout     time.Duration
	KeepLocale  bool // do not set the locale to C
	Merge       bool // stderr goes to stdout
	HideOutput  bool
	Private     bool // nobody sees the output while the command runs
	LeaveOn     bool // a Timeout ends the command alone, not what it started
	Background  bool
	SaltEnv     string
	Root        string // chroot
	ReadOnly    bool   // the command only looks: see host.Cmd
	// Alone are directories below which the command writes, or whose contents it may
	// run: as root it gets only those that nobody else can change, and does not see
	// what others can put on the way to them (host.CheckOwn). AloneArg is the
	// argument of the call that names the account, as the error says it.
	Alone    []string
	AloneArg string
	// Makes is the directory that the command makes, if it does: see host.MakeOwn. It is
	// among Alone.
	Makes string
	words bool // brine made the command line
	// Success* make a command that failed one that succeeded.
	SuccessRetcodes []int64
	SuccessStdout   []string
	SuccessStderr   []string
	// Written says that somebody wrote the command: the limits of the configuration
	// hold for it. Forms are what else stands for it: see [fun.Limits.Command].
	Written bool
	Forms   []string
	// Fault is what is wrong with the options; Run returns it.
	Fault error
}

// An Out is how a command ended.
type Out struct {
	PID            int
	Retcode        int
	Stdout, Stderr string
	TimedOut       bool
	Background     bool // it was started, and nobody waits for its end
}

// Value returns the dict of cmd.run_all. The retcode of a command in the
// background is None.
func (o Out) Value() *value.Map {
	return value.MapOf("pid", int64(o.PID), "retcode", o.Status(), "stdout", o.Stdout, "stderr", o.Stderr)
}

// Status returns the retcode, None where nobody waits for it.
func (o Out) Status() value.Value {
	if o.Background {
		return nil
	}
	return int64(o.Retcode)
}

// Err returns what a command that failed printed as an error: on stderr, else on stdout.
func (o Out) Err() error {
	if o.Stderr == "" {
		return fun.Errorf("%s", o.Stdout)
	}
	return fun.Errorf("%s", o.Stderr)
}

// places makes the directory that the command is to write to, and checks that nobody
// else can lead a program of root's elsewhere. undo removes what was made.
func places(h host.Host, c *host.Cmd, command string, o Options) (undo func(), err error) {
	undo = func() {}
	if c.User != nil {
		return undo, nil
	}
	if o.Makes != "" {
		if undo, err = host.MakeOwn(h, o.Makes); err != nil {
			return nil, fun.Errorf("Unable to create %s: %s", o.Makes, host.OSError(err))
		}
	}
	if err := host.CheckOwn(h, o.AloneArg, o.Alone...); err != nil {
		undo()
		return nil, fun.Errorf("Unable to run command '%s': %s", command, host.OSError(err))
	}
	c.Alone, c.AloneArg = o.Alone, o.AloneArg
	return undo, nil
}

// umaskOf returns the umask of a command; nil where none is asked for.
func umaskOf(o Options) (*int, error) {
	if o.Umask == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(o.Umask, 8, 32)
	if err != nil {
		return nil, fun.Errorf("Invalid umask: '%s'", o.Umask)
	}
	mask := int(n)
	return &mask, nil
}

// Run runs a command on env's host.
//
// It returns a *fun.CommandError in Salt's words where the command cannot be
// started: an account, a directory or a program that is not there, an umask
// that is not an octal number.
// Salt: salt/modules/cmdmod.py _run.
func Run(ctx context.Context, env *fun.Env, command string, o Options) (ended Out, fault error) {
	if o.Fault != nil {
		return Out{}, o.Fault
	}
	if o.Template != "" {
		text, err := renderCommand(ctx, env, command, o)
		if err != nil {
			return Out{}, err
		}
		command = text
	}
	if o.Written {
		if err := env.Limits.Command(append([]string{command}, o.Forms...)...); err != nil {
			return Out{}, err
		}
	}
	c := host.Cmd{Timeout: o.Timeout, Leave: o.LeaveOn, Merge: o.Merge, ReadOnly: o.ReadOnly, Private: o.HideOutput || o.Private, Verbatim: !o.words}
	if err := account(ctx, env, &c, &o); err != nil {
		return Out{}, err
	}
	if err := directory(env.Host, &c, o); err != nil {
		return Out{}, err
	}
	undo, err := places(env.Host, &c, command, o)
	if err != nil {
		return Out{}, err
	}
	defer func() {
		if fault != nil || ended.Retcode != 0 {
			undo()
		}
	}()
	if err := environment(env, &c, o); err != nil {
		return Out{}, err
	}
	if c.Umask, err = umaskOf(o); err != nil {
		return Out{}, err
	}
	if err := argv(env, &c, command, o); err != nil {
		return Out{}, err
	}
	if o.Stdin != "" {
		c.Stdin = strings.NewReader(o.Stdin)
	}
	if o.Background {
		pid, err := env.Host.Start(c)
		if err != nil {
			return Out{}, startError(command, o, err)
		}
		return Out{PID: pid, Background: true}, nil
	}
	out, err := env.Host.Run(ctx, c)
	if err != nil {
		return Out{}, startError(command, o, err)
	}
	if ctx.Err() != nil {
		return Out{}, ctx.Err()
	}
	if out.TimedOut {
		return Out{PID: out.PID, Retcode: 1, TimedOut: true, Stdout: fmt.Sprintf("%s : Timed out after %s seconds", command, seconds(o.Timeout))}, nil
	}
	res := Out{PID: out.PID, Retcode: out.Status, Stdout: text(out.Stdout, o), Stderr: text(out.Stderr, o)}
	if res.Retcode != 0 && succeeded(res, o) {
		res.Retcode = 0
	}
	if o.HideOutput {
		res.Stdout, res.Stderr = "", ""
	}
	return res, nil
}

// RunWords is Run for a command whose words are known; no shell sees them.
func RunWords(ctx context.Context, env *fun.Env, words []string, o Options) (Out, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		if strings.ContainsRune(w, 0) {
			return Out{}, fun.Errorf("an argument of %s has a null byte", words[0])
		}
		quoted[i] = proc.Quote(w)
	}
	o.words = true
	return Run(ctx, env, strings.Join(quoted, " "), o)
}

func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10)
	}
	return value.FloatRepr(d.Seconds())
}

func text(b []byte, o Options) string {
	s := value.DecodeReplace(b)
	if o.NoStrip {
		return s
	}
	return strings.TrimRight(s, " \t\n\r\v\f")
}

// succeeded reports whether the caller counts the outcome as success.
func succeeded(out Out, o Options) bool {
	if slices.Contains(o.SuccessRetcodes, int64(out.Retcode)) {
		return true
	}
	found := func(list []string, s string) bool {
		for _, x := range list {
			if strings.Contains(s, x) {
				return true
			}
		}
		return false
	}
	return found(o.SuccessStdout, out.Stdout) || found(o.SuccessStderr, out.Stderr)
}

func startError(command string, o Options, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if o.RunAs != "" && errors.Is(err, syscall.EPERM) {
		return fun.Errorf("Unable to run command '%s', reason: only root can run commands as another user (runas: %s)", command, o.RunAs)
	}
	return fun.Errorf("Unable to run command '%s'%s, reason: %v", command, contextText(o.Cwd, o.Shell), err)
}

// account resolves runas and group.
func account(ctx context.Context, env *fun.Env, c *host.Cmd, o *Options) error {
	if o.RunAs == "" {
		o.RunAs = fun.RunAsFrom(ctx).User
	}
	if o.RunAs != "" {
		a, err := env.Host.LookupUser(o.RunAs)
		if err != nil {
			return fun.Errorf("User '%s' is not available", o.RunAs)
		}
		if a.UID != env.Host.Geteuid() {
			c.User = &a
		}
	}
	if o.Group != "" {
		g, err := env.Host.LookupGroup(o.Group)
		if err != nil {
			return fun.Errorf("Group '%s' is not available", o.Group)
		}
		c.Group = &g.GID
	}
	return nil
}

// directory resolves cwd: the home directory where none is given, and / where
// that cannot be entered.
func directory(h host.Host, c *host.Cmd, o Options) error {
	if o.Cwd != "" {
		st, err := h.Stat(o.Cwd)
		if !filepath.IsAbs(o.Cwd) || err != nil || !st.Mode.IsDir() {
			return fun.Errorf("Specified cwd '%s' either not absolute or does not exist", o.Cwd)
		}
		c.Dir = o.Cwd
		return nil
	}
	home := ""
	if c.User != nil {
		home = c.User.Home
	} else {
		home = lookupEnv(h.Environ(), "HOME")
	}
	if st, err := h.Stat(home); home == "" || err != nil || !st.Mode.IsDir() || !enterable(h, st, c.User) {
		home = "/"
	}
	c.Dir = home
	return nil
}

// enterable reports whether the account may change into a directory.
func enterable(h host.Host, st host.Stat, a *host.Account) bool {
	if a == nil {
		return true
	}
	bits := st.Perm()
	switch {
	case a.UID == 0 || bits&0o001 != 0:
		return true
	case st.UID == a.UID:
		return bits&0o100 != 0
	}
	ids, err := h.GroupIDs(a.Name)
	if err != nil {
		return false
	}
	if slices.Contains(ids, st.GID) {
		return bits&0o010 != 0
	}
	return false
}

func lookupEnv(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// localeNames are what Salt sets so that programs speak English.
var localeNames = [...]string{
	"LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY", "LC_MESSAGES", "LC_PAPER", "LC_NAME",
	"LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION", "LANGUAGE",
}

// environment makes the environment: one's own (the account's for runas), the
// C locale, then what the caller gave.
func environment(env *fun.Env, c *host.Cmd, o Options) error {
	m := map[string]string{}
	if !o.CleanEnv {
		for _, kv := range env.Host.Environ() {
			if k, v, ok := strings.Cut(kv, "="); ok {
				m[k] = v
			}
		}
	}
	if c.User != nil {
		m["HOME"], m["SHELL"], m["USER"], m["LOGNAME"] = c.User.Home, c.User.Shell, c.User.Name, c.User.Name
		delete(m, "XDG_RUNTIME_DIR")
		delete(m, "XDG_CACHE_HOME")
	}
	if !o.KeepLocale {
		for _, n := range localeNames {
			m[n] = "C"
		}
	}
	for k, v := range o.Env.All() {
		switch v := v.(type) {
		case string:
			m[value.Str(k)] = v
		case nil:
			m[value.Str(k)] = ""
		default:
			m[value.Str(k)] = value.Str(v)
		}
	}
	if o.PrependPath != "" {
		m["PATH"] = strings.TrimSuffix(o.PrependPath+":"+m["PATH"], ":")
	}
	c.Env = make([]string, 0, len(m))
	for k, v := range m {
		switch {
		case strings.Contains(k, "="):
			return value.Raise("ValueError", "illegal environment variable name")
		case strings.Contains(k+v, "\x00"):
			return value.Raise("ValueError", "embedded null byte")
		}
		c.Env = append(c.Env, k+"="+v)
	}
	sort.Strings(c.Env)
	return nil
}

// argv makes the words: the shell with the command, or the command's own.
func argv(env *fun.Env, c *host.Cmd, command string, o Options) error {
	shell := o.Shell
	if shell == "" {
		// The configured one need not be a path; one that is asked for must be.
		if shell = DefaultShell(env); !filepath.IsAbs(shell) {
			if p, err := env.Host.LookPath(shell, ""); err == nil {
				shell = p
			}
		}
	}
	if o.PythonShell || o.Shell != "" {
		if st, err := env.Host.Stat(shell); err != nil || !st.Mode.IsRegular() || st.Perm()&0o111 == 0 {
			return fun.Errorf("The shell %s is not available", shell)
		}
	}
	if o.PythonShell {
		c.Argv = []string{shell, "-c", command}
	} else {
		words, err := proc.Split(command)
		if err != nil {
			return fun.Errorf("Unable to run command '%s', reason: %v", command, err)
		}
		if len(words) == 0 {
			return fun.Errorf("Unable to run command '%s', reason: it has no words", command)
		}
		c.Argv = words
	}
	if o.Root != "" {
		c.Argv = append([]string{"chroot", o.Root}, c.Argv...)
	}
	if !filepath.IsAbs(c.Argv[0]) && !strings.Contains(c.Argv[0], "/") {
		p, err := env.Host.LookPath(c.Argv[0], lookupEnv(c.Env, "PATH"))
		if err != nil {
			return fun.Errorf("Unable to run command '%s'%s, reason: command not found", reprWords(c.Argv), contextText(c.Dir, ""))
		}
		c.Argv[0] = p
	}
	return nil
}

func reprWords(words []string) string { return value.Repr(value.Strings(words...)) }

// contextText says in which directory and by which shell a command was to run, as
// far as that is known.
func contextText(dir, shell string) string {
	var parts []string
	if dir != "" {
		parts = append(parts, "cwd="+dir)
	}
	if shell != "" {
		parts = append(parts, "shell="+shell)
	}
	if len(parts) == 0 {
		return ""
	}
	return " with the context '" + strings.Join(parts, ", ") + "'"
}

// DefaultShell returns the shell that runs commands: the grain shell.
// Salt: salt/modules/cmdmod.py DEFAULT_SHELL.
func DefaultShell(env *fun.Env) string {
	if env.Grains != nil {
		if v, ok := env.Grains.Get("shell"); ok {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
	}
	return "/bin/sh"
}

// renderCommand renders the command as a template.
func renderCommand(ctx context.Context, env *fun.Env, command string, o Options) (string, error) {
	return render.For(env).Template(ctx, o.Template, render.Input{
		Path: "command", SaltEnv: env.SaltEnv, Text: []byte(command),
	})
}

// ParseEnv makes a dict of what Salt takes as env: a dict, or a list of dicts
// of one key each, in which text is a name without a value. hint says what is
// wrong where Salt drops the whole silently.
//
// Salt: salt/modules/cmdmod.py _parse_env.
func ParseEnv(v value.Value) (m *value.Map, slip string) {
	m = value.NewMap(4)
	switch v := v.(type) {
	case *value.Map:
		m.Update(v)
	case *value.List:
		for _, x := range v.Items {
			switch x := x.(type) {
			case *value.Map:
				if x.Len() != 1 {
					return nil, "none of env is set: each item of the list must have one variable, not " + value.Repr(x)
				}
				m.Update(x)
			case string, bool, int64, float64:
				m.Set(value.Str(x), nil)
			default:
				return nil, "none of env is set: an item of the list must be a dict of one variable, not " + value.Repr(x)
			}
		}
	default:
		if value.Truth(v) {
			return nil, "none of env is set: it must be a dict, or a list of dicts, not " + value.Repr(v)
		}
	}
	return m, ""
}

// Which returns the path of a program, "" where there is none.
func Which(env *fun.Env, name string) string {
	if name == "" {
		return ""
	}
	if strings.Contains(name, "/") {
		if st, err := env.Host.Stat(name); err == nil && st.Mode.IsRegular() && st.Perm()&0o111 != 0 {
			return name
		}
		return ""
	}
	p, err := env.Host.LookPath(name, "")
	if err != nil {
		return ""
	}
	return p
}
