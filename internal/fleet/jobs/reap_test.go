package jobs

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// killable is a machine whose processes can be killed.
type killable struct {
	*host.Fake
	killed []string
}

func (k *killable) Signal(pid, sig int) error {
	if _, err := k.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return syscall.ESRCH
	}
	if sig == 9 {
		k.killed = append(k.killed, fmt.Sprint(pid))
	}
	return nil
}

// table is a machine with processes: "pid (name) state parent group session",
// the path of the program and its arguments.
func table(t *testing.T, lines ...string) *killable {
	t.Helper()
	h := host.NewFake()
	put := func(p, text string) {
		if err := h.AppendFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.MkdirAll("/proc/sys/kernel/random", 0o755); err != nil {
		t.Fatal(err)
	}
	put("/proc/sys/kernel/random/boot_id", "boot\n")
	for _, l := range lines {
		f := strings.Split(l, "|")
		pid, _, _ := strings.Cut(f[0], " ")
		dir := "/proc/" + pid
		if err := h.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		put(dir+"/stat", f[0]+strings.Repeat(" 0", 15)+" 77 0\n")
		if len(f) > 2 {
			if err := h.Symlink(f[1], dir+"/exe"); err != nil {
				t.Fatal(err)
			}
			put(dir+"/cmdline", strings.ReplaceAll(f[2], " ", "\x00")+"\x00")
		}
	}
	return &killable{Fake: h}
}

func TestReap(t *testing.T) {
	t.Parallel()
	const exe = "/root/.cache/brine/agent/brine-00"
	h := table(
		t,
		"1 (init) S 0 1 1", "20 (sshd) S 1 20 20",
		"30 (brine-00) T 1 30 30|"+exe+"|brine agent", "31 (sh) S 30 31 30", "32 (sleep) S 31 31 30", // stopped, and alone
		"40 (brine-00) T 20 40 40|"+exe+"|brine agent",                         // its connection is there
		"50 (brine-00) S 1 50 50|"+exe+"|brine agent",                          // about to end by itself
		"60 (brine-00) T 1 60 60|"+exe+"|brine agent --detached --cache-dir x", // stopped on purpose
		"70 (vim) T 1 70 70|/usr/bin/vim|vim",                                  // something else
		"80 (sudo) S 1 80 80", "81 (brine-01) T 80 80 80|"+exe+"1|brine agent", // by sudo
		"90 (brine-00) T 1 90 90|/tmp/brine-00|brine agent", // of somewhere else
		"101 (sh) S 1 101 100", "102 (sleep) S 101 101 100", // of the detached agent 100, which is gone
		"103 (daemon) S 1 104 100", // left in the background: its shell 104 has ended
		"111 (sh) S 1 111 110",     // of an agent before the last start of the machine
		"120 (brine-00) S 1 120 120|"+exe+"|brine agent --detached", "121 (sh) S 120 121 120", // at work
	)
	dir := "/root/.cache/brine/agent/cache"
	p := ProcAt(h, dir, "web1")
	for pid, start := range map[int]string{100: "boot 77", 110: "before 77", 120: "boot 77"} {
		if err := h.MkdirAll(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		note := value.MapOf("jid", jobID, "pid", int64(pid), keyStart, start, keyDetached, true, keyID, "web1")
		if err := h.AppendFile(p.dir+"/"+noteName(jobID, fmt.Sprint(pid)), value.EncodeJSON(note), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !Unfinished(h, dir) || Unfinished(h, "/none") {
		t.Error("Unfinished")
	}
	if Listened(h, dir) || Listened(h, "/none") {
		t.Error("Listened without a socket")
	}
	if err := h.AppendFile(dir+"/"+SocketPrefix+"00", nil, 0o600); err != nil || !Listened(h, dir) {
		t.Errorf("not Listened: %v", err)
	}
	Reap(h, dir, exe)
	slices.Sort(h.killed)
	if got, want := strings.Join(slices.Compact(h.killed), " "), "101 102 30 31 32 81"; got != want {
		t.Errorf("killed %s, want %s", got, want)
	}
}
