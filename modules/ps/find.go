package ps

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/pyre"
	"brine/internal/value"
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
func search(c *fun.Call, re *pyre.Regexp) ([]*Process, error) {
	full, pattern := c.Bool("full"), c.Str("pattern")
	return find(c.Env.Host, full, wanted{user: c.Value("user"), fits: func(p *Process) (bool, error) {
		if re != nil {
			return re.Has(line(p, full))
		}
		return strings.Contains(line(p, full), pattern), nil
	}})
}

// isGone reports whether an error says that a process has ended.
func isGone(err error) bool {
	return errors.Is(err, syscall.ESRCH) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "process already finished")
}

// pkill sends a signal. Salt: salt/modules/ps.py pkill. Differences: brine does not
// signal itself, and an empty pattern, which every process has, is refused.
func pkill(_ context.Context, c *fun.Call) (fun.Result, error) {
	if c.Str("pattern") == "" {
		return fun.Result{}, fun.Errorf("the pattern is empty: every process would match")
	}
	found, err := search(c, nil)
	if err != nil {
		return fun.Result{}, err
	}
	killed := value.NewList()
	for _, p := range found {
		err := c.Env.Host.Signal(p.PID, int(c.Int("signal")))
		switch {
		case err == nil:
			killed.Append(int64(p.PID))
		case !isGone(err):
			return fun.Result{}, fun.Errorf("signal %d to process %d (%s): %s", c.Int("signal"), p.PID, p.Name(), host.Strerror(err))
		}
	}
	if killed.Len() == 0 {
		return fun.Value(nil)
	}
	return fun.Value(value.MapOf("killed", killed))
}

func pgrep(_ context.Context, c *fun.Call) (fun.Result, error) {
	var re *pyre.Regexp
	if c.Bool("pattern_is_regex") {
		var err error
		if re, err = pyre.Compile(c.Str("pattern"), 0); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
	}
	found, err := search(c, re)
	if err != nil || len(found) == 0 {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, p := range found {
		l.Append(int64(p.PID))
	}
	return fun.Value(l)
}

func killPID(_ context.Context, c *fun.Call) (fun.Result, error) {
	pid := int(c.Int("pid"))
	if _, ok := Open(c.Env.Host, pid); pid <= 0 || !ok {
		return fun.Value(false)
	}
	if err := c.Env.Host.Signal(pid, int(c.Int("signal"))); err != nil {
		if isGone(err) {
			return fun.Value(false)
		}
		return fun.Result{}, fun.Errorf("signal %d to process %d: %s", c.Int("signal"), pid, host.Strerror(err))
	}
	return fun.Value(true)
}

// statusOf lists the other processes in a state. Salt: salt/modules/ps.py status.
// Difference: both ways of writing a state are known, disk_sleep of the documentation
// and disk-sleep.
func statusOf(_ context.Context, c *fun.Call) (fun.Result, error) {
	want := strings.ReplaceAll(c.Str("status"), "_", "-")
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
func lsof(ctx context.Context, c *fun.Call) (fun.Result, error) {
	out, err := tool.Look(ctx, c.Env.Host, "lsof", "-c", c.Str("name"))
	return fun.Result{Value: value.NewList(c.Str("name"), out.Text), Retcode: out.Status}, err
}

// grep returns the lines of a program's output that have a name.
func grep(ctx context.Context, c *fun.Call, argv ...string) (fun.Result, error) {
	if err := tool.Need(c.Env.Host, argv[0]); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Look(ctx, c.Env.Host, argv...)
	l, name := value.NewList(), c.Str("name")
	for _, line := range out.Lines() {
		if strings.Contains(line, name) {
			l.Append(line)
		}
	}
	return fun.Result{Value: value.NewList(name, l), Retcode: out.Status}, err
}

func netstat(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return grep(ctx, c, "netstat", "-nap")
}

func ss(ctx context.Context, c *fun.Call) (fun.Result, error) { return grep(ctx, c, "ss", "-neap") }

// psaux returns the lines of ps aux that match, but that of this call.
func psaux(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("name")
	re, err := pyre.Compile(name, 0)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	own, err := pyre.Compile("(salt|brine).+ps.psaux.+", 0)
	if err != nil {
		return fun.Result{}, err
	}
	out, err := tool.Look(ctx, c.Env.Host, "ps", "aux")
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
