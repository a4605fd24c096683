package process_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/ps"
	"brine/states/process"
)

// put adds a process.
func put(h *host.Fake, pid, ppid, uid int, state, name, cmdline string) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	h.PutFile(dir+"stat", fmt.Sprintf("%d (%s) %s %d 1 1 34816 1 0 0 0 0 0 150 50 3 4 20 0 2 0 100 0 0\n", pid, name, state, ppid), 0o444)
	h.PutFile(dir+"cmdline", cmdline, 0o444)
	h.PutFile(dir+"status", fmt.Sprintf("Name:\t%s\nUid:\t%d\t%d\t%d\t%d\nGid:\t5\t6\t7\t8\nVmSize:\t  400 kB\nCpus_allowed_list:\t0-1,3\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t8\n", name, uid, uid, uid, uid), 0o444)
	h.PutFile(dir+"statm", "100 50 40 3 2 1 0\n", 0o444)
}

func machine() *host.Fake {
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000})
	h.PutFile("/proc/stat", "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\nbtime 1700000000\n", 0o444)
	h.PutFile("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nBuffers: 50 kB\nCached: 300 kB\nSReclaimable: 20 kB\nShmem: 5 kB\nActive: 6 kB\nInactive: 7 kB\nSlab: 8 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\n", 0o444)
	put(h, 1, 0, 0, "S", "systemd", "/sbin/init\x00")
	h.PutFile("/proc/1/task/1/stat", h.Text("/proc/1/stat"), 0o444)
	h.PutFile("/proc/1/smaps_rollup", "55-7f ---p [rollup]\nPss:  4 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 2 kB\nSwap: 5 kB\nSwapPss: 9 kB\n", 0o444)
	put(h, 50, 1, 1000, "S", "bash", "bash\x00-c\x00brine call ps.pkill sleep\x00")
	put(h, h.PID, 50, 0, "R", "brine", "brine\x00call\x00ps.pkill\x00sleep\x00")
	put(h, 60, 1, 1000, "S", "sleep", "sleep\x00999\x00")
	put(h, 70, 1, 4711, "Z", "a (b) c", "")
	put(h, 80, 1, 0, "I", "kworker/very/lo", "")
	put(h, 90, 1, 0, "S", "a-name-too-long", "/usr/bin/a-name-too-long-for-it\x00sleep\x00")
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "ps", Load: ps.Module}, fun.Entry{Kind: fun.State, Name: "process", Load: process.States})
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	h := machine()
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"test process.absent {name: sleep}", "None: 2 processes will be killed {}"},
		{"test process.absent {name: nothing}", "True: No matching processes running {}"},
		{"state process.absent {name: nothing}", "True: No matching processes running {}"},
		{"state process.absent {name: sleep, user: ann, signal: 9}", "True: Killed 1 processes {'killed': [60]}"},
		{"state process.absent {name: sleep}", "True: Killed 2 processes {'killed': [60, 90]}"},
		{"state process.absent {name: bash}", "True: Killed 1 processes {'killed': [50]}"},
		{"state process.absent {name: ''}", "False: the name is empty: every process would match {}"},
	})
	if got := strings.Join(h.Signals(), ", "); got != "60 9, 60 15, 90 15, 50 15" {
		t.Errorf("signals %s", got)
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutExe("/usr/bin/ss")
	h.OnCommand("ss -neap", host.Output{Stdout: []byte("u_str a sleep\nu_str b other\n")})
	h.OnCommand("lsof -c sleep", host.Output{Stdout: []byte("COMMAND\n")})
	h.OnCommand("ps aux", host.Output{Stdout: []byte("USER PID\nann 60 sleep 999\nroot 9 brine call ps.psaux sleep\n")})
	rig(h).Steps(t, []calltest.Step{
		{"call ps.get_pid_list []", "[1, 50, 60, 70, 80, 90, 4242]"},
		{"call ps.pgrep [sleep]", "[60]"},
		{"call ps.pgrep {pattern: '^s.*e', pattern_is_regex: true}", "[1, 60]"},
		{"call ps.pgrep {pattern: '(', pattern_is_regex: true}", "error: missing ), unterminated subpattern at position 0"},
		{"call ps.pgrep [too-long-for]", "[90]"},
		{"call ps.pgrep [a (b]", "[70]"},
		{"call ps.pgrep {pattern: sleep, user: root}", "None"},
		{"call ps.pkill [nothing]", "None"},
		{"call ps.pkill ['']", "error: the pattern is empty: every process would match"},
		{"call ps.kill_pid [60]", "True"},
		{"call ps.kill_pid [61]", "False"},
		{"call ps.kill_pid [-1]", "False"},
		{"call ps.status [zombie]", "[{'pid': 70, 'name': 'a (b) c'}]"},
		{"call ps.status ['']", "error: Filter is required for ps.status"},
		{"call ps.proc_info {pid: 1, attrs: [name, ppid]}", "{'name': 'systemd', 'ppid': 0}"},
		{"call ps.proc_info {pid: 60, attrs: [cpu_times, memory_info, memory_percent, create_time, uids, gids, username, terminal, nice, num_threads, cpu_affinity, num_ctx_switches, cmdline, status]}", "{'cpu_times': [1.5, 0.5, 0.03, 0.04, 0.0], 'memory_info': [204800, 409600, 163840, 12288, 8192, 4096, 0], 'memory_percent': 20.0, 'create_time': 1700000001.0, 'uids': [1000, 1000, 1000], 'gids': [5, 6, 7], 'username': 'ann', 'terminal': '/dev/pts/0', 'nice': 0, 'num_threads': 2, 'cpu_affinity': [0, 1, 3], 'num_ctx_switches': [9, 8], 'cmdline': ['sleep', '999'], 'status': 'sleeping'}"},
		{"call ps.proc_info {pid: 70, attrs: [username, cwd, io_counters, num_fds, environ]}", "{'username': '4711', 'cwd': None, 'io_counters': None, 'num_fds': None, 'environ': None}"},
		{"call ps.proc_info {pid: 1, attrs: [threads, memory_full_info]}", "{'threads': [[1, 1.5, 0.5]], 'memory_full_info': [204800, 409600, 163840, 12288, 8192, 4096, 0, 3072, 4096, 5120]}"},
		{"call ps.status [running]", "[]"},
		{"call ps.proc_info {pid: 61}", "error: process PID not found (pid=61)"},
		{"call ps.proc_info {pid: 1, attrs: [nam]}", "error: invalid attr name 'nam'"},
		{"call ps.top {num_processes: 1}", "[{'cmd': ['/sbin/init'], 'user': 'root', 'status': 'sleeping', 'pid': 1, 'create_time': 1700000001.0, 'cpu': {'user': 1.5, 'system': 0.5, 'children_user': 0.03, 'children_system': 0.04, 'iowait': 0.0}, 'mem': {'rss': 204800, 'vms': 409600, 'shared': 163840, 'text': 12288, 'lib': 8192, 'data': 4096, 'dirty': 0}}]"},
		{"call ps.ss [sleep]", "['sleep', ['u_str a sleep']]"},
		{"call ps.netstat [sleep]", "error: The 'netstat' binary was not found in $PATH."},
		{"call ps.lsof [sleep]", "['sleep', 'COMMAND']"},
		{"call ps.psaux [sl.+p]", "['sl.+p', ['ann 60 sleep 999'], '1 occurence(s).']"},
	})
}

func TestSystem(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/proc/vmstat", "pswpin 2\npswpout 3\n", 0o444)
	h.PutFile("/proc/filesystems", "nodev\ttmpfs\n\text4\nnodev\tzfs\n", 0o444)
	h.PutFile("/proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\ntmpfs /a\\040b tmpfs rw 0 0\nnone /n ext4 ro 0 0\n", 0o444)
	h.Space = map[string]host.Statfs{"/": {BlockSize: 10, Blocks: 100, Free: 40, Avail: 20}}
	h.PutFile("/proc/net/dev", "Inter-| Receive\n face |bytes\n    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n  eth0: 10 20 30 40 0 0 0 0 50 60 70 80 0 0 0 0\n", 0o444)
	h.PutFile("/proc/diskstats", "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 1 sda1 1 1 1 1 1 1 1 1 1 1 1\n", 0o444)
	h.PutDir("/sys/block/sda", 0o755)
	rec := make([]byte, 384)
	binary.NativeEndian.PutUint16(rec, 7)
	binary.NativeEndian.PutUint32(rec[4:], 77)
	copy(rec[8:], "pts/0")
	copy(rec[44:], "ann")
	copy(rec[76:], "10.0.0.1")
	binary.NativeEndian.PutUint32(rec[340:], 1700000100)
	h.PutFile("/var/run/utmp", string(make([]byte, 384))+string(rec)+"short", 0o644)
	rig(h).Steps(t, []calltest.Step{
		{"call ps.virtual_memory []", "{'total': 1024000, 'available': 614400, 'percent': 40.0, 'used': 542720, 'free': 102400, 'active': 6144, 'inactive': 7168, 'buffers': 51200, 'cached': 327680, 'shared': 5120, 'slab': 8192}"},
		{"call ps.swap_memory []", "{'total': 204800, 'used': 51200, 'free': 153600, 'percent': 25.0, 'sin': 8192, 'sout': 12288}"},
		{"call ps.total_physical_memory []", "1024000"},
		{"call ps.num_cpus []", "1"},
		{"call ps.cpu_times []", "{'user': 1.0, 'nice': 0.0, 'system': 0.5, 'idle': 8.0, 'iowait': 0.5, 'irq': 0.0, 'softirq': 0.0, 'steal': 0.0, 'guest': 0.0, 'guest_nice': 0.0}"},
		{"call ps.cpu_percent []", "0.0"},
		{"call ps.cpu_percent {per_cpu: true}", "[0.0]"},
		{"call ps.boot_time []", "1700000000"},
		{"call ps.boot_time ['%Y-%m']", "'2023-11'"},
		{"call ps.disk_partitions []", "[{'device': '/dev/sda1', 'mountpoint': '/', 'fstype': 'ext4', 'opts': 'rw', 'maxfile': 255, 'maxpath': 4096}]"},
		{"call ps.disk_usage [/]", "{'total': 1000, 'used': 600, 'free': 200, 'percent': 75.0}"},
		{"call ps.disk_partition_usage []", "[{'device': '/dev/sda1', 'mountpoint': '/', 'fstype': 'ext4', 'opts': 'rw', 'maxfile': 255, 'maxpath': 4096, 'total': 1000, 'used': 600, 'free': 200, 'percent': 75.0}]"},
		{"call ps.network_io_counters [eth0]", "{'bytes_sent': 50, 'bytes_recv': 10, 'packets_sent': 60, 'packets_recv': 20, 'errin': 30, 'errout': 70, 'dropin': 40, 'dropout': 80}"},
		{"call ps.network_io_counters [eth9]", "False"},
		{"call ps.disk_io_counters []", "{'read_count': 1, 'write_count': 5, 'read_bytes': 1536, 'write_bytes': 3584, 'read_time': 4, 'write_time': 8, 'read_merged_count': 2, 'write_merged_count': 6, 'busy_time': 10}"},
		{"call ps.disk_io_counters [sdz]", "False"},
		{"call ps.get_users []", "[{'name': 'ann', 'terminal': 'pts/0', 'host': '10.0.0.1', 'started': 1700000100.0, 'pid': 77}]"},
	})
}

func FuzzProc(f *testing.F) {
	f.Add("1 (a) S 0 1", "a\x00b", "Uid:\t1\t2\t3\nCpus_allowed_list:\t0-\n", "cpu 1\ncpu0\nbtime x")
	f.Fuzz(func(t *testing.T, stat, cmdline, status, all string) {
		h := host.NewFake()
		h.PutFile("/proc/stat", all, 0o444)
		h.PutFile("/proc/7/stat", stat, 0o444)
		h.PutFile("/proc/7/cmdline", cmdline, 0o444)
		h.PutFile("/proc/7/status", status, 0o444)
		h.PutFile("/var/run/utmp", all, 0o444)
		h.PutFile("/proc/self/mounts", status, 0o444)
		r := rig(h)
		for _, call := range []string{"proc_info [7]", "top [3, 0]", "pgrep [a, null, true]", "cpu_times []", "get_users []", "disk_partitions [true]", "boot_time []"} {
			name, args, _ := strings.Cut(call, " ")
			r.Fn(t, "ps."+name, args)
		}
	})
}
