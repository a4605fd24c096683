// Package status is Salt's execution module "status": load, memory, processes
// and disks of a Linux machine.
package status

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/pyformat"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// Module returns the execution module "status".
func Module() fun.Module {
	return fun.Module{Name: "status", Kind: fun.Exec, Doc: "Load, memory, processes and disks.", Specs: specs}
}

// proc returns the content of a file of /proc.
func proc(c *fun.Call, path string) (string, error) {
	b, err := c.Env.Host.ReadFile(path)
	if err != nil {
		return "", fun.Errorf("File %s was not found.", path)
	}
	return string(b), nil
}

// output runs a program in the C locale and returns its output's lines.
func output(ctx context.Context, c *fun.Call, argv ...string) ([]string, error) {
	out, err := tool.Merged(ctx, c.Env.Host, argv...)
	return strings.Split(out.Text, "\n"), err
}

func number(s string) value.Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	return int64(0)
}

// fields calls each with the words of every line that has at least two.
func fields(text string, each func([]string)) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 {
			each(f)
		}
	}
}

func uptime(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/uptime")
	if err != nil {
		return fun.Result{}, err
	}
	f := strings.Fields(text)
	if len(f) == 0 {
		return fun.Result{}, fun.Errorf("File /proc/uptime is empty.")
	}
	up, err := strconv.ParseFloat(f[0], 64)
	if err != nil {
		return fun.Result{}, fmt.Errorf("read /proc/uptime: %w", err)
	}
	seconds := int64(up)
	boot := c.Env.Host.Now().UTC().Add(-time.Duration(seconds) * time.Second)
	iso := boot.Format("2006-01-02T15:04:05.000000")
	rest := seconds % (24 * 3600)
	m := value.MapOf(
		"seconds", seconds, "since_iso", strings.TrimSuffix(iso, ".000000"), "since_t", boot.Unix(),
		"days", seconds/(24*3600), "time", fmt.Sprintf("%d:%d", rest/3600, rest%3600/60),
	)
	if _, err := c.Env.Host.LookPath("who", ""); err == nil {
		if lines, err := output(ctx, c, "who", "-s"); err == nil {
			m.Set("users", int64(len(lines)))
		}
	}
	return fun.Value(m)
}

func loadavg(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/loadavg")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(3)
	f := strings.Fields(text)
	for i, name := range []string{"1-min", "5-min", "15-min"} {
		x := 0.0
		if i < len(f) {
			x, _ = strconv.ParseFloat(f[i], 64)
		}
		m.Set(name, x)
	}
	return fun.Value(m)
}

func cpustats(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/stat")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(16)
	counts := func(f []string, key string) *value.Map {
		l := value.NewList()
		for _, s := range f[2:] {
			l.Append(number(s))
		}
		return value.MapOf("total", number(f[1]), key, l)
	}
	fields(text, func(f []string) {
		switch {
		case f[0] == "cpu" && len(f) > 8:
			m.Set("cpu", value.MapOf("idle", number(f[4]), "iowait", number(f[5]), "irq", number(f[6]), "nice", number(f[2]),
				"softirq", number(f[7]), "steal", number(f[8]), "system", number(f[3]), "user", number(f[1])))
		case f[0] == "intr":
			m.Set("intr", counts(f, "irqs"))
		case f[0] == "softirq":
			m.Set("softirq", counts(f, "softirqs"))
		default:
			m.Set(f[0], number(f[1]))
		}
	})
	return fun.Value(m)
}

func meminfo(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/meminfo")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(64)
	fields(text, func(f []string) {
		d := value.MapOf("value", f[1])
		if len(f) > 2 {
			d.Set("unit", f[2])
		}
		m.Set(strings.ReplaceAll(f[0], ":", ""), d)
	})
	return fun.Value(m)
}

func cpuinfo(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/cpuinfo")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(32)
	for line := range strings.Lines(text) {
		key, val, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		val, _, _ = strings.Cut(val, ":")
		if key = strings.TrimSpace(key); key == "flags" {
			m.Set(key, value.Strings(strings.Fields(val)...))
		} else {
			m.Set(key, strings.TrimSpace(val))
		}
	}
	return fun.Value(m)
}

func vmstats(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/vmstat")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(128)
	fields(text, func(f []string) { m.Set(f[0], number(f[1])) })
	return fun.Value(m)
}

func version(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/version")
	return fun.Result{Value: strings.TrimSpace(text)}, err
}

func nproc(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	v, ok := c.Env.Grains.Get("num_cpus")
	if !ok {
		v = int64(0)
	}
	return fun.Value(v)
}

type diskusageArgs struct{ More fun.Varargs }

func diskusage(_ context.Context, c *fun.Call, a *diskusageArgs) (fun.Result, error) {
	var paths, types []string
	for _, v := range a.More {
		if s := value.Str(v); strings.HasPrefix(s, "/") {
			paths = append(paths, s)
		} else {
			types = append(types, s)
		}
	}
	if len(a.More) == 0 {
		types = []string{"*"}
	}
	if len(types) > 0 {
		text, err := proc(c, "/proc/mounts")
		if err != nil {
			return fun.Result{}, err
		}
		fields(text, func(f []string) {
			if len(f) > 2 && slices.ContainsFunc(types, func(p string) bool { return value.Fnmatch(p, f[2]) }) {
				paths = append(paths, unescapeMount(f[1]))
			}
		})
	}
	m := value.NewMap(len(paths))
	for _, p := range paths {
		st, err := c.Env.Host.Statfs(p)
		if err != nil {
			if slices.ContainsFunc(a.More, func(v value.Value) bool { return value.Equal(v, p) }) {
				return fun.Result{}, fun.Errorf("%v", err)
			}
			continue // a mount that this user may not see into
		}
		m.Set(p, value.MapOf("available", int64(st.Avail)*st.BlockSize, "total", int64(st.Blocks)*st.BlockSize))
	}
	return fun.Value(m)
}

// unescapeMount replaces the octal escapes of /proc/mounts.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// psLines returns the lines of the ps command that the grain names.
func psLines(ctx context.Context, c *fun.Call) ([]string, error) {
	v, _ := c.Env.Grains.Get("ps")
	cmd, _ := v.(string)
	if cmd == "" {
		cmd = "ps -efHww"
	}
	return output(ctx, c, "/bin/sh", "-c", cmd)
}

func procs(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := psLines(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	head := strings.Fields(lines[0])
	column := func(names ...string) int {
		for _, n := range names {
			if i := slices.Index(head, n); i >= 0 {
				return i
			}
		}
		return 0
	}
	user, id, cmd := column("USER", "UID"), column("PID"), column("COMMAND", "CMD")
	m := value.NewMap(len(lines))
	for _, line := range lines[1:] {
		if f := strings.Fields(line); len(f) > max(user, id, cmd) {
			m.Set(f[id], value.MapOf("user", f[user], "cmd", strings.Join(f[cmd:], " ")))
		}
	}
	return fun.Value(m)
}

type pidArgs struct {
	_   fun.Arguments
	Sig string `arg:"sig,required" doc:"the regular expression"`
}

func pid(ctx context.Context, c *fun.Call, a *pidArgs) (fun.Result, error) {
	re, err := pyre.Compile(a.Sig, 0)
	if err != nil {
		return fun.Result{}, fun.Errorf("status.pid: %v", err)
	}
	lines, err := psLines(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	var ids []string
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) < 2 || strings.Contains(line, "status.pid") {
			continue
		}
		ok, err := re.Has(line)
		if err != nil {
			return fun.Result{}, fun.Errorf("status.pid: %v", err)
		}
		if ok {
			ids = append(ids, f[1])
		}
	}
	return fun.Value(strings.Join(ids, "\n"))
}

func who(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := output(ctx, c, "w", "-fh")
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, line := range lines {
		if f := strings.Fields(line); len(f) > 6 {
			l.Append(value.MapOf("idle", f[3], "jcpu", f[4], "login", f[2], "pcpu", f[5], "tty", f[1], "user", f[0], "what", strings.Join(f[6:], " ")))
		}
	}
	return fun.Value(l)
}

type timeFnArgs struct {
	_      fun.Arguments
	Format string `arg:"format" default:"%A, %d. %B %Y %I:%M%p" doc:"format for strftime(3)"`
}

func timeFn(_ context.Context, c *fun.Call, a *timeFnArgs) (fun.Result, error) {
	return fun.Value(pyformat.Strftime(c.Env.Host.Now(), a.Format))
}

// custom returns what the options status.FUNCTION.custom list of what the functions
// return. Salt: salt/modules/status.py custom.
func custom(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m := value.NewMap(8)
	for k, v := range c.Env.Opts.All() {
		name := value.Str(k)
		i := strings.LastIndexByte(name, '.')
		if !strings.HasPrefix(name, "status.") || i < len("status.") || name[:i] == "status.custom" {
			continue
		}
		keys, err := value.Items(v)
		if err != nil {
			return fun.Result{}, fun.Errorf("the option %s is not a list", name)
		}
		res, err := c.Env.Exec(ctx, name[:i], nil)
		if err != nil {
			c.Env.Log().Warn("a custom status cannot be had", "function", name[:i], "error", err)
			continue
		}
		all, _ := res.(*value.Map)
		for _, key := range keys {
			if x, ok := all.Get(key); ok {
				m.Set(key, x)
			} else {
				m.Set(key, "UNKNOWN")
			}
		}
	}
	return fun.Value(m)
}
