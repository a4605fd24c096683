package ps

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// lines returns the words of the lines of a file; a file that cannot be read has none.
func lines(h host.Host, path string) [][]string {
	b, err := h.ReadFile(path)
	if err != nil {
		return nil
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// meminfo reads /proc/meminfo, in bytes.
func meminfo(h host.Host) map[string]int64 {
	m := map[string]int64{}
	for _, f := range lines(h, "/proc/meminfo") {
		if len(f) > 1 {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			m[strings.TrimSuffix(f[0], ":")] = n * 1024
		}
	}
	return m
}

// percent returns the share of a part, with one digit after the point.
func percent(part, whole float64) value.Value {
	if whole <= 0 {
		return 0.0
	}
	return round1(part / whole * 100)
}

func round1(f float64) value.Value {
	v, err := value.Round(f, 1, false)
	if err != nil {
		return 0.0
	}
	return v
}

// memory is psutil's virtual_memory.
func memory(h host.Host) *value.Map {
	m := meminfo(h)
	total, free, cached, buffers := m["MemTotal"], m["MemFree"], m["Cached"]+m["SReclaimable"], m["Buffers"]
	used := total - free - cached - buffers
	if used < 0 { // in a container, whose numbers may not fit together
		used = total - free
	}
	available, ok := m["MemAvailable"]
	if !ok {
		available = free + cached + buffers
	}
	if available > total {
		available = free
	}
	return value.MapOf("total", total, "available", available, "percent", percent(float64(total-available), float64(total)), "used", used, "free", free,
		"active", m["Active"], "inactive", m["Inactive"], "buffers", buffers, "cached", cached, "shared", m["Shmem"], "slab", m["Slab"])
}

func virtualMemory(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(memory(c.Env.Host))
}

func totalMemory(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(meminfo(c.Env.Host)["MemTotal"])
}

func swapMemory(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m := meminfo(c.Env.Host)
	total, free := m["SwapTotal"], m["SwapFree"]
	in, out := int64(0), int64(0)
	for _, f := range lines(c.Env.Host, "/proc/vmstat") {
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "pswpin":
			in = n * 4096
		case "pswpout":
			out = n * 4096
		}
	}
	return fun.Value(value.MapOf("total", total, "used", total-free, "free", free, "percent", percent(float64(total-free), float64(total)), "sin", in, "sout", out))
}

// cpuFields name the numbers of a line of /proc/stat.
var cpuFields = [...]string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"}

// A cpu is the time of a processor, or of all, by what it did.
type cpu [len(cpuFields)]float64

// cpus returns the times of all processors together, and of each.
func cpus(h host.Host) (all cpu, each []cpu) {
	for _, f := range lines(h, "/proc/stat") {
		if !strings.HasPrefix(f[0], "cpu") {
			continue
		}
		var t cpu
		for i, s := range f[1:] {
			if i < len(t) {
				n, _ := strconv.ParseInt(s, 10, 64)
				t[i] = seconds(n)
			}
		}
		if f[0] == "cpu" {
			all = t
		} else {
			each = append(each, t)
		}
	}
	return all, each
}

func (t cpu) value() *value.Map {
	m := value.NewMap(len(t))
	for i, name := range cpuFields {
		m.Set(name, t[i])
	}
	return m
}

// busy returns how busy a processor was between two looks. The time of guests is part
// of user and nice.
func (t cpu) busy(before cpu) value.Value {
	total, idle := 0.0, 0.0
	for i := range t[:8] {
		d := max(t[i]-before[i], 0)
		total += d
		if name := cpuFields[i]; name == "idle" || name == "iowait" {
			idle += d
		}
	}
	return percent(total-idle, total)
}

func cpuTimes(_ context.Context, c *fun.Call, a *perCPUArg) (fun.Result, error) {
	all, each := cpus(c.Env.Host)
	if !a.PerCPU {
		return fun.Value(all.value())
	}
	l := value.NewList()
	for _, t := range each {
		l.Append(t.value())
	}
	return fun.Value(l)
}

type cpuPercentArgs struct {
	Interval float64 `arg:"interval,duration" default:"0.1" unit:"s" doc:"how long to look"`
	perCPUArg
}

func cpuPercent(ctx context.Context, c *fun.Call, a *cpuPercentArgs) (fun.Result, error) {
	h := c.Env.Host
	before, beforeEach := cpus(h)
	if err := h.Sleep(ctx, time.Duration(a.Interval*float64(time.Second))); err != nil {
		return fun.Result{}, err
	}
	after, each := cpus(h)
	if !a.PerCPU {
		return fun.Value(after.busy(before))
	}
	l := value.NewList()
	for i, t := range each {
		if i < len(beforeEach) {
			l.Append(t.busy(beforeEach[i]))
		}
	}
	return fun.Value(l)
}

func numCPUs(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	_, each := cpus(c.Env.Host)
	return fun.Value(int64(len(each)))
}

type bootTimeFnArgs struct {
	_          fun.Arguments
	TimeFormat string `arg:"time_format" doc:"format for strftime(3); the return is text then"`
}

func bootTimeFn(_ context.Context, c *fun.Call, a *bootTimeFnArgs) (fun.Result, error) {
	boot, err := bootTime(c.Env.Host)
	if err != nil {
		return fun.Result{}, err
	}
	if format := a.TimeFormat; format != "" {
		return fun.Value(pyformat.Strftime(time.Unix(int64(boot), 0).In(c.Env.Host.Now().Location()), format))
	}
	return fun.Value(int64(boot))
}

// netCounters adds the counters of interfaces; "" is all.
func netCounters(h host.Host, name string) (m *value.Map, ok bool) {
	var sum [8]int64
	b, err := h.ReadFile("/proc/net/dev")
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(string(b)) {
		i := strings.LastIndexByte(line, ':')
		if i < 0 {
			continue
		}
		f := strings.Fields(line[i+1:])
		if len(f) < 16 || name != "" && strings.TrimSpace(line[:i]) != name {
			continue
		}
		ok = true
		// bytes and packets sent and received, errors in and out, drops in and out
		for j, column := range [...]int{8, 0, 9, 1, 2, 10, 3, 11} {
			n, _ := strconv.ParseInt(f[column], 10, 64)
			sum[j] += n
		}
	}
	m = value.NewMap(len(sum))
	for i, key := range [...]string{"bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "errin", "errout", "dropin", "dropout"} {
		m.Set(key, sum[i])
	}
	return m, ok
}

type networkIOArgs struct {
	_         fun.Arguments
	Interface string `arg:"interface" doc:"name of the interface; None is all"`
}

func networkIO(_ context.Context, c *fun.Call, a *networkIOArgs) (fun.Result, error) {
	m, ok := netCounters(c.Env.Host, a.Interface)
	if !ok && a.Interface != "" {
		return fun.Value(false)
	}
	return fun.Value(m)
}

type diskIOArgs struct {
	_      fun.Arguments
	Device string `arg:"device" doc:"name of the device; None is all disks"`
}

// diskIO adds the counters of one device, or of all that are whole disks.
func diskIO(_ context.Context, c *fun.Call, a *diskIOArgs) (fun.Result, error) {
	h, device := c.Env.Host, a.Device
	var sum [9]int64
	found := false
	for _, f := range lines(h, "/proc/diskstats") {
		if len(f) < 14 || device != "" && f[2] != device {
			continue
		}
		if device == "" && !machine.Exists(h, "/sys/block/"+strings.ReplaceAll(f[2], "/", "!")) {
			continue
		}
		found = true
		// reads and writes: count, bytes, ms, merged; ms busy
		for i, column := range [...]int{3, 7, 5, 9, 6, 10, 4, 8, 12} {
			n, _ := strconv.ParseInt(f[column], 10, 64)
			if i == 2 || i == 3 {
				n *= 512
			}
			sum[i] += n
		}
	}
	if !found && device != "" {
		return fun.Value(false)
	}
	m := value.NewMap(len(sum))
	for i, key := range [...]string{"read_count", "write_count", "read_bytes", "write_bytes", "read_time", "write_time", "read_merged_count", "write_merged_count", "busy_time"} {
		m.Set(key, sum[i])
	}
	return fun.Value(m)
}

// mounts are the lines of /proc/self/mounts; without all, only those of devices.
func mounts(h host.Host, all bool) []*value.Map {
	known := map[string]bool{}
	for _, f := range lines(h, "/proc/filesystems") {
		switch {
		case f[0] != "nodev":
			known[f[0]] = true
		case len(f) > 1 && f[1] == "zfs":
			known["zfs"] = true
		}
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var out []*value.Map
	for _, f := range lines(h, "/proc/self/mounts") {
		if len(f) < 4 {
			continue
		}
		device := unescape.Replace(f[0])
		if device == "none" {
			device = ""
		}
		if !all && (device == "" || !known[f[2]]) {
			continue
		}
		out = append(out, value.MapOf("device", device, "mountpoint", unescape.Replace(f[1]), "fstype", f[2], "opts", f[3], "maxfile", int64(255), "maxpath", int64(4096)))
	}
	return out
}

func diskPartitions(_ context.Context, c *fun.Call, a *allArg) (fun.Result, error) {
	l := value.NewList()
	for _, m := range mounts(c.Env.Host, a.All) {
		l.Append(m)
	}
	return fun.Value(l)
}

// space tells how full the file system of a path is.
func space(h host.Host, path string) (*value.Map, error) {
	st, err := h.Statfs(path)
	if err != nil {
		return nil, err
	}
	total, used, free := int64(st.Blocks)*st.BlockSize, int64(st.Blocks-st.Free)*st.BlockSize, int64(st.Avail)*st.BlockSize
	return value.MapOf("total", total, "used", used, "free", free, "percent", percent(float64(used), float64(used+free))), nil
}

type diskUsageArgs struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"a path on it"`
}

func diskUsage(_ context.Context, c *fun.Call, a *diskUsageArgs) (fun.Result, error) {
	m, err := space(c.Env.Host, a.Path)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s: %s", a.Path, host.Strerror(err))
	}
	return fun.Value(m)
}

// partitionUsage joins disk_partitions and disk_usage. A mount that this account may
// not look into has no numbers.
func partitionUsage(_ context.Context, c *fun.Call, a *allArg) (fun.Result, error) {
	l := value.NewList()
	for _, m := range mounts(c.Env.Host, a.All) {
		if use, err := space(c.Env.Host, m.Str("mountpoint")); err == nil {
			m.Update(use)
		}
		l.Append(m)
	}
	return fun.Value(l)
}

// The layout of a record of utmp(5) on Linux, in bytes.
const (
	utmpSize     = 384
	utmpPID      = 4
	utmpLine     = 8
	utmpUser     = 44
	utmpHost     = 76
	utmpHostEnd  = 332
	utmpTime     = 340
	nameLen      = 32
	userProcess  = 7
	utmpFile     = "/var/run/utmp"
	localDisplay = ":0"
)

// getUsers reads who is logged in.
func getUsers(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	b, _ := c.Env.Host.ReadFile(utmpFile)
	text := func(b []byte) string {
		s, _, _ := strings.Cut(string(b), "\x00")
		return value.DecodeReplace([]byte(s))
	}
	l := value.NewList()
	for ; len(b) >= utmpSize; b = b[utmpSize:] {
		if binary.NativeEndian.Uint16(b) != userProcess {
			continue
		}
		var terminal value.Value
		if s := text(b[utmpLine : utmpLine+nameLen]); s != "" {
			terminal = s
		}
		from := text(b[utmpHost:utmpHostEnd])
		if from == localDisplay || from == localDisplay+".0" {
			from = "localhost"
		}
		l.Append(value.MapOf("name", text(b[utmpUser:utmpUser+nameLen]), "terminal", terminal, "host", from,
			"started", float64(binary.NativeEndian.Uint32(b[utmpTime:])), "pid", int64(binary.NativeEndian.Uint32(b[utmpPID:]))))
	}
	return fun.Value(l)
}
