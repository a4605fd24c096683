package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Without a systemd that knows it, a machine has the control groups below those of
// the process that boots it, under names that are the same for every machine. Two
// machines then share the group of a unit that both have: one removes it while the
// other starts the unit, which fails with the status 219/CGROUP. Each machine is
// therefore booted in groups of its own.

// JoinGroups is a script that enters the groups before "--", then becomes the
// command after it.
const JoinGroups = `while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit; shift; done; shift; exec "$@"`

// OwnGroups makes a control group of this name in each hierarchy that systemd
// uses, below the group of this process, and returns their directories. The name
// is the same in all of them, as systemd-nspawn expects.
func OwnGroups(name string) ([]string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	var made []string
	for _, dir := range groupDirs(string(mounts), string(groups)) {
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return made, fmt.Errorf("make a control group: %w", err)
		}
		made = append(made, dir)
	}
	return made, nil
}

// groupDirs returns the directories of a process's control groups: that of the
// unified hierarchy and that which is named systemd. The arguments are its
// mountinfo and cgroup in /proc.
func groupDirs(mounts, groups string) []string {
	var dirs []string
	for line := range strings.Lines(groups) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 || part[1] != "" && part[1] != "name=systemd" {
			continue
		}
		for mount := range strings.Lines(mounts) {
			if point, root := groupMount(mount, part[1]); point != "" {
				below, err := filepath.Rel(root, part[2])
				if err == nil && filepath.IsLocal(below) {
					dirs = append(dirs, filepath.Join(point, below))
					break
				}
			}
		}
	}
	return dirs
}

// groupMount returns where a line of mountinfo mounts the hierarchy of this name
// ("" is the unified one), and what of it; "" where it does not.
func groupMount(line, hierarchy string) (point, root string) {
	left, right, ok := strings.Cut(line, " - ")
	of, what := strings.Fields(left), strings.Fields(right)
	if !ok || len(of) < 5 || len(what) < 3 {
		return "", ""
	}
	options := strings.Split(what[2], ",")
	if hierarchy == "" && what[0] == "cgroup2" || hierarchy != "" && what[0] == "cgroup" && slices.Contains(options, hierarchy) {
		return of[4], of[3]
	}
	return "", ""
}

// RemoveGroups removes control groups with those below them. Processes that are
// about to end may be in them for a moment, and others remove some of them.
func RemoveGroups(dirs []string) error {
	for _, dir := range dirs {
		err := removeGroup(dir)
		for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); err = removeGroup(dir) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			return fmt.Errorf("remove a control group: %w", err)
		}
	}
	return nil
}

func removeGroup(dir string) error {
	var dirs []string
	walk := func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil // a group that is gone, or that cannot be removed: see below
	}
	if err := filepath.WalkDir(dir, walk); err != nil {
		return err
	}
	for _, d := range slices.Backward(dirs) { // what is below comes first
		if err := os.Remove(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
