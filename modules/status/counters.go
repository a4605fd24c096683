package status

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// diskFields and the others are the names that Salt gives to the columns of
// /proc/diskstats and /proc/net/dev. Salt: salt/modules/status.py.
var (
	diskFields = [...]string{
		"reads_issued", "reads_merged", "sectors_read", "ms_spent_reading", "writes_completed", "writes_merged", "sectors_written",
		"ms_spent_writing", "io_in_progress", "ms_spent_in_io", "weighted_ms_spent_in_io",
	}
	netFields = [...]string{
		"rx_bytes", "rx_packets", "rx_errs", "rx_drop", "rx_fifo", "rx_frame", "rx_compressed", "rx_multicast",
		"tx_bytes", "tx_packets", "tx_errs", "tx_drop", "tx_fifo", "tx_colls", "tx_carrier", "tx_compressed",
	}
)

func diskstats(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/diskstats")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(8)
	fields(text, func(f []string) {
		if len(f) < 14 {
			return
		}
		d := value.MapOf("major", number(f[0]), "minor", number(f[1]), "device", f[2])
		for i, n := range diskFields {
			d.Set(n, number(f[3+i]))
		}
		m.Set(f[2], d)
	})
	return fun.Value(m)
}

func netdev(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/net/dev")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(4)
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		f := strings.Fields(rest)
		if !ok || len(f) < len(netFields) {
			continue
		}
		name = strings.TrimSpace(name)
		d := value.MapOf("iface", name)
		for i, n := range netFields {
			d.Set(n, number(f[i]))
		}
		m.Set(name, d)
	}
	return fun.Value(m)
}

// netstats reads pairs of lines, one of names and one of numbers.
func netstats(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	text, err := proc(c, "/proc/net/netstat")
	if err != nil {
		return fun.Result{}, err
	}
	m := value.NewMap(4)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, numbers := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if len(names) == 0 || len(names) != len(numbers) {
			continue
		}
		d := value.NewMap(len(names))
		for j := 1; j < len(names); j++ {
			d.Set(names[j], number(numbers[j]))
		}
		m.Set(strings.TrimSuffix(names[0], ":"), d)
	}
	return fun.Value(m)
}

// allStatus is what the functions for a machine as a whole return, by name;
// what this machine does not have is left out.
func allStatus(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m := value.NewMap(12)
	for _, f := range []struct {
		name string
		fn   func(context.Context, *fun.Call, *fun.NoArgs) (fun.Result, error)
	}{
		{"cpuinfo", cpuinfo},
		{"cpustats", cpustats},
		{"diskstats", diskstats},
		{"diskusage", func(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
			return diskusage(ctx, c, &diskusageArgs{})
		}},
		{"loadavg", loadavg},
		{"meminfo", meminfo},
		{"netdev", netdev},
		{"netstats", netstats},
		{"uptime", uptime},
		{"vmstats", vmstats},
		{"w", who},
	} {
		if res, err := f.fn(ctx, c, &fun.NoArgs{}); err == nil {
			m.Set(f.name, res.Value)
		}
	}
	return fun.Result{Value: m}, ctx.Err()
}
