package machine

import (
	"testing"

	"brine/internal/core/host"
)

// TestRoom: machines have room in the memory of this machine, and in that of the control
// groups around brine.
func TestRoom(t *testing.T) {
	t.Parallel()
	const gib = "MemTotal: 9 kB\nMemAvailable:    1048576 kB\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		room  int
	}{
		{"nothing is known", nil, 0},
		{"of this machine", map[string]string{"/proc/meminfo": gib}, 4},
		{"little is one", map[string]string{"/proc/meminfo": "MemAvailable: 1024 kB\n"}, 1},
		{"no limit", map[string]string{"/proc/meminfo": gib, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n"}, 4},
		{"a limit around", map[string]string{
			"/proc/meminfo": gib, "/proc/self/cgroup": "1:name=systemd:/x\n0::/a/b\n",
			"/sys/fs/cgroup/a/memory.max": "805306368\n", "/sys/fs/cgroup/a/memory.current": "268435456\n",
		}, 2},
		{"files in memory are free", map[string]string{
			"/proc/meminfo": gib, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 536870912\n",
			"/sys/fs/cgroup/memory.max": "1073741824\n", "/sys/fs/cgroup/memory.current": "1073741824\n",
		}, 2},
		{"nothing is left", map[string]string{
			"/proc/meminfo": gib, "/proc/self/cgroup": "0::/\n",
			"/sys/fs/cgroup/memory.max": "10\n", "/sys/fs/cgroup/memory.current": "20\n",
		}, 1},
	} {
		h := host.NewFake()
		for path, text := range tt.files {
			h.PutFile(path, text, 0o644)
		}
		if room, _ := (&Pool{Host: h}).Room(); room != tt.room {
			t.Errorf("%s: Room() = %d, want %d", tt.name, room, tt.room)
		}
	}
}
