package trial

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// volatile are directories whose files may change without a state.
var volatile = []string{inside, "/dev", "/proc", "/run", "/sys", "/tmp", "/var/tmp", "/var/cache", "/var/log", "/var/lib/systemd", "/var/lib/dbus", "/var/lib/apt/lists", "/var/lib/dnf", "/root/.cache", "/etc/machine-id", "/etc/resolv.conf", "/etc/hostname"}

// files lists the files of all machines.
func (p *plan) files(ctx context.Context) ([]map[string]string, bool) {
	var all []map[string]string
	for _, q := range p.all() {
		files, err := q.m.Files(ctx)
		if err != nil {
			q.fail("test", time.Now(), err.Error())
			return nil, false
		}
		all = append(all, files)
	}
	return all, true
}

// untouched checks that the test run changed no file on any machine.
func (p *plan) untouched(ctx context.Context, before []map[string]string, began time.Time) {
	after, ok := p.files(ctx)
	if !ok {
		return
	}
	for i, q := range p.all() {
		changed := changedFiles(before[i], after[i])
		if q.m.ListsAll() {
			changed = append(changed, deletedFiles(before[i], after[i])...)
		}
		if len(changed) > 0 {
			ok = false
			q.fail("test", began, "the run with test=True changed files: "+strings.Join(changed, ", "))
		}
	}
	if ok {
		p.add(Check{Name: "test", Text: "no file changed"}, began)
	}
}

// changedFiles returns the files that changed, sorted.
func changedFiles(before, after map[string]string) []string {
	var changed []string
	for path := range maps.Keys(after) {
		if after[path] != before[path] && !isVolatile(path) && !isParent(path, after, before) {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// deletedFiles returns the files that are not there any more, sorted.
func deletedFiles(before, after map[string]string) []string {
	var deleted []string
	for path := range before {
		if _, ok := after[path]; !ok && !isVolatile(path) {
			deleted = append(deleted, path)
		}
	}
	slices.Sort(deleted)
	return deleted
}

func isVolatile(path string) bool {
	return slices.ContainsFunc(volatile, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/") || strings.HasPrefix(dir, path+"/")
	})
}

// isParent reports whether a directory of the image is in the overlay only since
// something below it is: it was not there before, and has a file.
func isParent(path string, after, before map[string]string) bool {
	if !strings.HasPrefix(after[path], "d ") || before[path] != "" {
		return false
	}
	for other := range after {
		if strings.HasPrefix(other, path+"/") {
			return true
		}
	}
	return false
}
