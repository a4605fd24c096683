package machine

import (
	"path"
	"strconv"
	"strings"
)

// Memory that a machine may take: what runs in it, and what it changes.
const machineMemory = 256 << 20

// Room returns how many machines the free memory has room for, at least one; free is how
// much that is, in bytes. Where it is not known, room is 0.
func (p *Pool) Room() (room int, free int64) {
	free = p.meminfo()
	for _, dir := range p.memoryGroups() {
		limit, ok := p.number(path.Join(dir, "memory.max"))
		used, known := p.number(path.Join(dir, "memory.current"))
		if used -= p.cached(dir); ok && known && (free == 0 || limit-used < free) {
			free = max(limit-used, 1)
		}
	}
	if free == 0 {
		return 0, 0
	}
	return max(int(free/machineMemory), 1), free
}

// meminfo returns the memory that this machine has free, 0 if that is not known.
func (p *Pool) meminfo() int64 {
	text, err := p.Host.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "MemAvailable:" {
			kib, _ := strconv.ParseInt(words[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// cached returns how much of the memory that a control group uses has files that nobody has
// used of late: it is free as soon as somebody needs it.
func (p *Pool) cached(group string) int64 {
	text, err := p.Host.ReadFile(path.Join(group, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "inactive_file "); ok {
			bytes, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			return bytes
		}
	}
	return 0
}

// memoryGroups are the control groups that this process is in, outer ones last.
func (p *Pool) memoryGroups() (dirs []string) {
	text, err := p.Host.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ok {
			dirs = append(dirs, path.Join("/sys/fs/cgroup", group))
			if ok = group != "/"; ok {
				group = path.Dir(path.Clean("/" + group))
			}
		}
	}
	return dirs
}

// number reads a file that has a number; "max" is none.
func (p *Pool) number(path string) (int64, bool) {
	text, err := p.Host.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
