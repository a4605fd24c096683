package ps

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// line returns what a pattern is looked for in.
func line(p *Process, full bool) string {
	if full {
		return strings.Join(p.Cmdline(), " ")
	}
	return p.Name()
}

// search returns the processes that a call of pkill or pgrep means.
func search(c *fun.Call, argFull bool, argPattern string, argUser value.Value, re *pyre.Regexp) ([]*Process, error) {
	full, pattern := argFull, argPattern
	return find(c.Env.Host, full, wanted{user: argUser, fits: func(p *Process) (bool, error) {
		if re != nil {
			return re.Has(line(p, full))
		}
		return strings.Contains(line(p, full), pattern), nil
	}})
}

// hasEnded reports whether an error says that a process has ended.
func hasEnded(err error) bool {
	return errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "process already finished")
}

type pkillArgs struct {
	Pattern string `arg:"pattern,required" doc:"text in the name"`
	userArg
	signalArg
	fullArg
}

// pkill sends a signal. Salt: salt/modules/ps.py pkill. Differences: brine does not
// signal itself, and an empty pattern, which every process has, is refused.
func pkill(_ context.Context, c *fun.Call, a *pkillArgs) (fun.Result, error) {
	if a.Pattern == "" {
		return fun.Result{}, fun.Errorf("the pattern is empty: every process would match")
	}
	found, err := search(c, a.Full, a.Pattern, a.User, nil)
	if err != nil {
		return fun.Result{}, err
	}
	killed := value.NewList()
	for _, p := range found {
		err := c.Env.Host.Signal(p.PID, int(a.Signal))
		switch {
		case err == nil:
			killed.Append(int64(p.PID))
		case !hasEnded(err):
			return fun.Result{}, fun.Errorf("signal %d to process %d (%s): %s", a.Signal, p.PID, p.Name(), host.Strerror(err))
		}
	}
	if killed.Len() == 0 {
		return fun.Value(nil)
	}
	return fun.Value(value.MapOf("killed", killed))
}

type pgrepArgs struct {
	Pattern string `arg:"pattern,required" doc:"text in the name"`
	userArg
	fullArg
	PatternIsRegex bool `arg:"pattern_is_regex" default:"False" doc:"the pattern is a regular expression"`
}

func pgrep(_ context.Context, c *fun.Call, a *pgrepArgs) (fun.Result, error) {
	var re *pyre.Regexp
	if a.PatternIsRegex {
		var err error
		if re, err = pyre.Compile(a.Pattern, 0); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
	}
	found, err := search(c, a.Full, a.Pattern, a.User, re)
	if err != nil || len(found) == 0 {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, p := range found {
		l.Append(int64(p.PID))
	}
	return fun.Value(l)
}

type killPIDArgs struct {
	Pid int64 `arg:"pid,required" doc:"number of the process"`
	signalArg
}

func killPID(_ context.Context, c *fun.Call, a *killPIDArgs) (fun.Result, error) {
	pid := int(a.Pid)
	if _, ok := Open(c.Env.Host, pid); pid <= 0 || !ok {
		return fun.Value(false)
	}
	if err := c.Env.Host.Signal(pid, int(a.Signal)); err != nil {
		if hasEnded(err) {
			return fun.Value(false)
		}
		return fun.Result{}, fun.Errorf("signal %d to process %d: %s", a.Signal, pid, host.Strerror(err))
	}
	return fun.Value(true)
}

type statusOfArgs struct {
	_      fun.Arguments
	Status string `arg:"status,required" doc:"running, sleeping, disk_sleep, stopped, tracing_stop, zombie, dead, wake_kill, waking, parked, idle"`
}

// statusOf lists the other processes in a state. Salt: salt/modules/ps.py status.
// Difference: both ways of writing a state are known, disk_sleep of the documentation
// and disk-sleep.
func statusOf(_ context.Context, c *fun.Call, a *statusOfArgs) (fun.Result, error) {
	want := strings.ReplaceAll(a.Status, "_", "-")
	if want == "" {
		return fun.Result{}, &fun.InvocationError{Msg: "Filter is required for ps.status"}
	}
	all, err := List(c.Env.Host)
	l := value.NewList()
	for _, p := range all {
		if p.Status() == want && p.PID != c.Env.Host.Getpid() {
			l.Append(value.MapOf("pid", int64(p.PID), "name", p.Name()))
		}
	}
	return fun.Result{Value: l}, err
}

// lsof runs lsof(8) for a program.
func lsof(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	out, err := tool.LookMerged(ctx, c.Env.Host, "lsof", "-c", a.Name)
	return fun.Result{Value: value.NewList(a.Name, out.Text), Retcode: out.Status}, err
}

// grep returns the lines of a program's output that have a name.
func grep(ctx context.Context, c *fun.Call, a *nameArg, argv ...string) (fun.Result, error) {
	if err := tool.Need(c.Env.Host, argv[0]); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, argv...)
	l, name := value.NewList(), a.Name
	for _, line := range out.Lines() {
		if strings.Contains(line, name) {
			l.Append(line)
		}
	}
	return fun.Result{Value: value.NewList(name, l), Retcode: out.Status}, err
}

func netstat(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	return grep(ctx, c, a, "netstat", "-nap")
}

func ss(ctx context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	return grep(ctx, c, a, "ss", "-neap")
}

type psauxArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"a regular expression"`
}

// psaux returns the lines of ps aux that match, but that of this call.
func psaux(ctx context.Context, c *fun.Call, a *psauxArgs) (fun.Result, error) {
	name := a.Name
	re, err := pyre.Compile(name, 0)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	own, err := pyre.Compile("(salt|brine).+ps.psaux.+", 0)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, "ps", "aux")
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, line := range out.Lines() {
		ok, err := re.Has(line)
		if err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
		if mine, err := own.Has(line); ok && !mine && err == nil {
			l.Append(line)
		}
	}
	return fun.Result{Value: value.NewList(name, l, value.Str(int64(l.Len()))+" occurence(s)."), Retcode: out.Status}, nil //nolint:misspell // Salt's text
}
