package ps

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// An attribute is something that psutil tells of a process.
type attribute struct {
	name string
	of   func(*Process) value.Value
}

// attributes are those that /proc has, in alphabetical order.
var attributes = [...]attribute{
	{"cmdline", func(p *Process) value.Value { return value.Strings(p.Cmdline()...) }},
	{"cpu_affinity", (*Process).affinity},
	{"cpu_num", func(p *Process) value.Value { return p.field(36) }},
	{"cpu_percent", func(*Process) value.Value { return 0.0 }}, // since the last look, of which there is none
	{"cpu_times", func(p *Process) value.Value { return items(p.times()) }},
	{"create_time", (*Process).created},
	{"cwd", func(p *Process) value.Value { return p.link("cwd") }},
	{"environ", (*Process).environ},
	{"exe", func(p *Process) value.Value { return p.link("exe") }},
	{"gids", func(p *Process) value.Value { return p.ids("Gid") }},
	{"io_counters", (*Process).io},
	{"memory_full_info", (*Process).memoryFull},
	{"memory_info", func(p *Process) value.Value { return items(p.memory()) }},
	{"memory_percent", (*Process).memoryPercent},
	{"name", func(p *Process) value.Value { return p.Name() }},
	{"nice", func(p *Process) value.Value { return p.field(16) }},
	{"num_ctx_switches", (*Process).switches},
	{"num_fds", (*Process).fds},
	{"num_threads", func(p *Process) value.Value { return p.field(17) }},
	{"pid", func(p *Process) value.Value { return int64(p.PID) }},
	{"ppid", func(p *Process) value.Value { return int64(p.Parent()) }},
	{"status", func(p *Process) value.Value { return p.Status() }},
	{"terminal", (*Process).terminal},
	{"threads", (*Process).threads},
	{"uids", func(p *Process) value.Value { return p.ids("Uid") }},
	{"username", func(p *Process) value.Value {
		if name, ok := p.Username(); ok {
			return name
		}
		return nil
	}},
}

// items returns the values of a mapping: psutil's named tuples print so.
func items(m *value.Map) value.Value {
	l := value.NewList()
	for _, v := range m.All() {
		l.Append(v)
	}
	return l
}

// times are the seconds on processors.
func (p *Process) times() *value.Map {
	return value.MapOf("user", seconds(p.field(11)), "system", seconds(p.field(12)), "children_user", seconds(p.field(13)),
		"children_system", seconds(p.field(14)), "iowait", seconds(p.field(39)))
}

// memory is what statm tells in pages, in bytes. How large a page is follows from
// VmSize, which is the first number in units of 1024 bytes.
func (p *Process) memory() *value.Map {
	var n [7]int64
	b, _ := p.h.ReadFile(p.path("statm"))
	for i, s := range strings.Fields(string(b)) {
		if i < len(n) {
			n[i], _ = strconv.ParseInt(s, 10, 64)
		}
	}
	page := int64(4096)
	if f := p.statusLine("VmSize"); len(f) > 0 && n[0] > 0 {
		if kib, err := strconv.ParseInt(f[0], 10, 32); err == nil {
			page = kib * 1024 / n[0]
		}
	}
	return value.MapOf("rss", n[1]*page, "vms", n[0]*page, "shared", n[2]*page, "text", n[3]*page, "lib", n[4]*page, "data", n[5]*page, "dirty", n[6]*page)
}

// memoryFull is memory with what is the process's alone, its share of what it shares,
// and what is in swap; None where that may not be seen.
func (p *Process) memoryFull() value.Value {
	b, err := p.h.ReadFile(p.path("smaps_rollup"))
	if err != nil {
		return nil
	}
	var uss, pss, swap int64
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(f[1], 10, 64)
		switch {
		case strings.HasPrefix(f[0], "Private_"):
			uss += kib * 1024
		case f[0] == "Pss:":
			pss = kib * 1024
		case f[0] == "Swap:":
			swap = kib * 1024
		}
	}
	m := p.memory()
	m.Set("uss", uss)
	m.Set("pss", pss)
	m.Set("swap", swap)
	return items(m)
}

// threads returns the number of each thread and its seconds on processors.
func (p *Process) threads() value.Value {
	names, err := p.h.ReadDir(p.path("task"))
	if err != nil {
		return nil
	}
	l := value.NewList()
	for _, n := range names {
		id, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			continue
		}
		if t, ok := open(p.h, int(id), p.path("task/"+n+"/stat")); ok {
			l.Append(value.NewList(id, seconds(t.field(11)), seconds(t.field(12))))
		}
	}
	return l
}

func (p *Process) memoryPercent() value.Value {
	total := meminfo(p.h)["MemTotal"]
	rss, _ := value.AsInt(p.memory().At("rss"))
	if total == 0 {
		return 0.0
	}
	return float64(rss) / float64(total) * 100
}

// created is when the process was started, in seconds since 1970.
func (p *Process) created() value.Value {
	boot, err := bootTime(p.h)
	if err != nil {
		return nil
	}
	return boot + seconds(p.field(19))
}

// link returns where a link of the process leads; None where that may not be seen.
func (p *Process) link(name string) value.Value {
	to, err := p.h.Readlink(p.path(name))
	if err != nil {
		return nil
	}
	return to
}

func (p *Process) environ() value.Value {
	b, err := p.h.ReadFile(p.path("environ"))
	if err != nil {
		return nil
	}
	m := value.NewMap(16)
	for kv := range strings.SplitSeq(value.DecodeReplace(b), "\x00") {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			m.Set(k, v)
		}
	}
	return m
}

// ids returns the real, effective and saved number of an account or group.
func (p *Process) ids(key string) value.Value {
	f := p.statusLine(key)
	if len(f) < 3 {
		return nil
	}
	l := value.NewList()
	for _, s := range f[:3] {
		n, _ := strconv.ParseInt(s, 10, 64)
		l.Append(n)
	}
	return l
}

// io reads the counters of reading and writing; None where they may not be seen.
func (p *Process) io() value.Value {
	b, err := p.h.ReadFile(p.path("io"))
	if err != nil {
		return nil
	}
	of := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		key, v, _ := strings.Cut(line, ":")
		of[key], _ = strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	}
	return value.NewList(of["syscr"], of["syscw"], of["read_bytes"], of["write_bytes"], of["rchar"], of["wchar"])
}

// affinity reads a list such as 0-3,8.
func (p *Process) affinity() value.Value {
	f := p.statusLine("Cpus_allowed_list")
	if len(f) == 0 {
		return nil
	}
	l := value.NewList()
	for part := range strings.SplitSeq(f[0], ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || b-a > 1<<16 {
			return nil
		}
		for ; a <= b; a++ {
			l.Append(int64(a))
		}
	}
	return l
}

func (p *Process) switches() value.Value {
	l := value.NewList()
	for _, key := range []string{"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"} {
		f := p.statusLine(key)
		if len(f) == 0 {
			return nil
		}
		n, _ := strconv.ParseInt(f[0], 10, 64)
		l.Append(n)
	}
	return l
}

func (p *Process) fds() value.Value {
	names, err := p.h.ReadDir(p.path("fd"))
	if err != nil {
		return nil
	}
	return int64(len(names))
}

// terminal names the controlling terminal by its device number.
func (p *Process) terminal() value.Value {
	dev := p.field(4)
	if dev == 0 {
		return nil
	}
	major, minor := dev>>8&0xfff, dev&0xff|dev>>12&0xfff00
	switch {
	case major >= 136 && major <= 143:
		return "/dev/pts/" + strconv.FormatInt((major-136)<<20|minor, 10)
	case major == 4 && minor >= 64:
		return "/dev/ttyS" + strconv.FormatInt(minor-64, 10)
	case major == 4:
		return "/dev/tty" + strconv.FormatInt(minor, 10)
	case major == 5 && minor == 1:
		return "/dev/console"
	}
	return nil
}

type procInfoArgs struct {
	_     fun.Arguments
	Pid   int64             `arg:"pid,required" doc:"number of the process"`
	Attrs fun.Opt[[]string] `arg:"attrs" doc:"names of attributes; None is all"`
}

// procInfo returns attributes of a process. Salt: salt/modules/ps.py proc_info.
func procInfo(_ context.Context, c *fun.Call, args *procInfoArgs) (fun.Result, error) {
	pid := args.Pid
	want := attributes[:]
	if args.Attrs.Given {
		want = nil
		var bad []string
		for _, name := range args.Attrs.V {
			i, ok := slices.BinarySearchFunc(attributes[:], name, func(a attribute, n string) int { return cmp.Compare(a.name, n) })
			if !ok {
				bad = append(bad, value.Repr(name))
				continue
			}
			want = append(want, attributes[i])
		}
		if len(bad) == 1 {
			return fun.Result{}, value.Raise("ValueError", "invalid attr name %s", bad[0])
		}
		if len(bad) > 1 {
			return fun.Result{}, value.Raise("ValueError", "invalid attr names %s", strings.Join(bad, ", "))
		}
	}
	if pid < 0 || pid > math.MaxInt32 {
		return fun.Result{}, value.Raise("ValueError", "pid must be a positive integer (got %d)", pid)
	}
	p, ok := Open(c.Env.Host, int(pid))
	if !ok {
		return fun.Result{}, fun.Errorf("process PID not found (pid=%d)", pid)
	}
	m := value.NewMap(len(want))
	for _, a := range want {
		m.Set(a.name, a.of(p))
	}
	return fun.Value(m)
}

type topArgs struct {
	_            fun.Arguments
	NumProcesses int64   `arg:"num_processes" default:"5" doc:"how many"`
	Interval     float64 `arg:"interval,duration" default:"3" unit:"s" doc:"how long to look"`
}

// top returns the processes that used most time on processors while it waited.
func top(ctx context.Context, c *fun.Call, args *topArgs) (fun.Result, error) {
	h := c.Env.Host
	before, err := List(h)
	if err != nil {
		return fun.Result{}, err
	}
	if err := h.Sleep(ctx, time.Duration(args.Interval*float64(time.Second))); err != nil {
		return fun.Result{}, err
	}
	type use struct {
		p    *Process
		time float64
	}
	var uses []use
	for _, old := range before {
		// A number that another process has meanwhile is not the same process.
		if p, ok := Open(h, old.PID); ok && p.field(19) == old.field(19) {
			uses = append(uses, use{p, p.used() - old.used()})
		}
	}
	sort.SliceStable(uses, func(i, j int) bool { return uses[i].time > uses[j].time })
	l := value.NewList()
	for _, u := range uses[:min(len(uses), max(int(args.NumProcesses), 1))] {
		var cmdline, user value.Value = u.p.Name(), nil
		if words := u.p.Cmdline(); len(words) > 0 {
			cmdline = value.Strings(words...)
		}
		if name, ok := u.p.Username(); ok {
			user = name
		}
		l.Append(value.MapOf("cmd", cmdline, "user", user, "status", u.p.Status(), "pid", int64(u.p.PID), "create_time", u.p.created(), "cpu", u.p.times(), "mem", u.p.memory()))
	}
	return fun.Value(l)
}
