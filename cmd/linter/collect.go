package linter

import (
	"bufio"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// roomy is up to how many bytes nothing is collected.
const roomy = 1 << 30

// CollectLater has nothing be collected before the heap is large for this machine, and then
// the heap grow to three times what is in use, unless the user has said otherwise: what a
// check makes of a tree stays until its end, and the check of most trees ends before that. A
// server of an editor, which stays for long, does not do this.
func CollectLater() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	room := min(roomy, available()/2)
	if room < 64<<20 {
		debug.SetGCPercent(200)
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(room)
	// The first collection comes at the limit. It takes what nobody holds, such as this.
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(math.MaxInt64)
	}, struct{}{})
}

// available is how many bytes of memory this process may take without taking them from others,
// as far as the system says; 0 where it does not.
func available() int64 {
	var free int64
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), "MemAvailable:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			free = n << 10
		}
	}
	// In a container, its own bounds count.
	for _, files := range [...][2]string{{"memory.max", "memory.current"}, {"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"}} {
		bound, ok := number("/sys/fs/cgroup/" + files[0])
		used, ok2 := number("/sys/fs/cgroup/" + files[1])
		if ok && ok2 {
			free = min(free, max(bound-used, 0))
		}
	}
	return free
}

// number reads a file that has a number.
func number(name string) (int64, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
