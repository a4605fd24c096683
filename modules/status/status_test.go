package status_test

import (
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/status"
)

func TestModule(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/proc/uptime", "93784.56 1000.00\n", 0o444)
	h.PutFile("/proc/loadavg", "0.20 0.18 0.12 1/80 11206\n", 0o444)
	h.PutFile("/proc/meminfo", "MemTotal:       24684936 kB\nHugePages_Total:       0\n", 0o444)
	h.PutFile("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: Some CPU\nflags\t\t: fpu vme\n", 0o444)
	h.PutFile("/proc/stat", "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 9 2 3 4 5 6 7 8 0 0\nintr 100 1 2\nctxt 55\n", 0o444)
	h.PutFile("/proc/vmstat", "nr_free_pages 5\nnr_dirty 7\n", 0o444)
	h.PutFile("/proc/diskstats", "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 0 0\n", 0o444)
	h.PutFile("/proc/net/dev", "Inter-|   Receive\n face |bytes packets\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", 0o444)
	h.PutFile("/proc/net/netstat", "TcpExt: A B\nTcpExt: 1 2\nIpExt: C\nIpExt: 3\n", 0o444)
	h.PutFile("/proc/version", "Linux version 6.1\n", 0o444)
	h.PutFile("/proc/mounts", "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\n/dev/sdb1 /mnt/my\\040disk xfs rw 0 0\n", 0o444)
	h.Space = map[string]host.Statfs{"/": {BlockSize: 4096, Blocks: 100, Avail: 10}, "/proc": {BlockSize: 4096}, "/mnt/my disk": {BlockSize: 512, Blocks: 8, Avail: 4}}
	h.PutExe("/usr/bin/who")
	h.OnCommand("who -s", host.Output{Stdout: []byte("root tty1\nann pts/0\n")})
	h.OnCommand("/bin/sh -c ps -efHww", host.Output{Stdout: []byte("UID        PID  PPID  C STIME TTY          TIME CMD\nroot         1     0  0 10:00 ?        00:00:01 /sbin/init splash\nann         42     1  0 10:00 ?        00:00:00 bash\n")})
	h.OnCommand("w -fh", host.Output{Stdout: []byte("root tty1 10:00 1:00 0.01s 0.02s -bash -l\n")})
	env := &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Grains: value.MapOf("num_cpus", int64(2), "ps", "ps -efHww")}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "status", Load: status.Module}})
	env.Invoker = dispatch.New(env)
	for _, tt := range []struct{ fun, pos, want string }{
		{"uptime", "[]", "{seconds: 93784, since_iso: '2024-01-01T01:01:01.678901', since_t: 1704070861, days: 1, time: '2:3', users: 2}"},
		{"loadavg", "[]", "{1-min: 0.2, 5-min: 0.18, 15-min: 0.12}"},
		{"meminfo", "[]", "{MemTotal: {value: '24684936', unit: kB}, HugePages_Total: {value: '0'}}"},
		{"cpuinfo", "[]", "{processor: '1', flags: [fpu, vme], model name: Some CPU}"},
		{"cpustats", "[]", "{cpu: {idle: 4, iowait: 5, irq: 6, nice: 2, softirq: 7, steal: 8, system: 3, user: 1}, cpu0: 9, intr: {total: 100, irqs: [1, 2]}, ctxt: 55}"},
		{"vmstats", "[]", "{nr_free_pages: 5, nr_dirty: 7}"},
		{"version", "[]", "Linux version 6.1"},
		{"diskstats", "[]", "{sda: {major: 8, minor: 0, device: sda, reads_issued: 1, reads_merged: 2, sectors_read: 3, ms_spent_reading: 4, writes_completed: 5, writes_merged: 6, sectors_written: 7, ms_spent_writing: 8, io_in_progress: 9, ms_spent_in_io: 10, weighted_ms_spent_in_io: 11}}"},
		{"netdev", "[]", "{lo: {iface: lo, rx_bytes: 1, rx_packets: 2, rx_errs: 3, rx_drop: 4, rx_fifo: 5, rx_frame: 6, rx_compressed: 7, rx_multicast: 8, tx_bytes: 9, tx_packets: 10, tx_errs: 11, tx_drop: 12, tx_fifo: 13, tx_colls: 14, tx_carrier: 15, tx_compressed: 16}}"},
		{"netstats", "[]", "{TcpExt: {A: 1, B: 2}, IpExt: {C: 3}}"},
		{"nproc", "[]", "2"},
		{"diskusage", "[]", "{/: {available: 40960, total: 409600}, /proc: {available: 0, total: 0}, /mnt/my disk: {available: 2048, total: 4096}}"},
		{"diskusage", "['ext?']", "{/: {available: 40960, total: 409600}}"},
		{"diskusage", "[/]", "{/: {available: 40960, total: 409600}}"},
		{"procs", "[]", "{'1': {user: root, cmd: /sbin/init splash}, '42': {user: ann, cmd: bash}}"},
		{"pid", "['init|bash']", `"1\n42"`},
		{"pid", "[none]", "''"},
		{"time", "['%Y-%m-%d']", "'2024-01-02'"},
		{"w", "[]", "[{idle: '1:00', jcpu: 0.01s, login: '10:00', pcpu: 0.02s, tty: tty1, user: root, what: -bash -l}]"},
	} {
		load := func(s string) value.Value {
			v, err := yamlsalt.LoadString(s)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "status."+tt.fun, fun.Args{Pos: load(tt.pos).(*value.List).Items})
		if err != nil || !value.Equal(res.Value, load(tt.want)) {
			t.Errorf("status.%s %s = %s, %v, want %s", tt.fun, tt.pos, value.Repr(res.Value), err, tt.want)
		}
	}
}
