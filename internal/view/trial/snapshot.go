package trial

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A snapshot has what the shared part of several tests changed: packages and SLS files that
// they apply before the test itself. Each of them starts on a fresh machine over it.
type snapshot struct {
	dir  string
	by   string // the test that it was made for first
	once sync.Once
	// checks are those of the shared part; one that failed fails all tests of it.
	checks []Check
}

// path is the directory over the image; "" if there is none.
func (s *snapshot) path() string {
	if s == nil {
		return ""
	}
	return s.dir
}

// share finds tests that have the same image, tree, pillar and grains and prepare the same.
func (l *Lab) share(plans []*plan, dir string) {
	of := map[string][]*plan{}
	for _, p := range plans {
		if len(p.job.Case.Prepare) == 0 || !p.driver.Saves(l.Host) {
			continue
		}
		if key, err := p.shareKey(); err == nil { // else it prepares itself
			of[key] = append(of[key], p)
		}
	}
	for key, same := range of {
		if len(same) < 2 {
			continue
		}
		s := &snapshot{dir: filepath.Join(dir, key[:16])}
		for _, p := range same {
			p.shared = s
		}
	}
}

// shareKey is equal for tests whose machines are the same before the test itself.
func (p *plan) shareKey() (string, error) {
	c := p.job.Case
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %v %q\n", p.driver.Name, p.image, p.job.System, c.Prepare, c.Machine.Network, p.roots)
	err := filepath.WalkDir(p.ws.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(p.ws.dir, path)
		if err != nil {
			return err
		}
		text, err := p.Host.ReadFile(path)
		// What it expects is for after the test.
		if rel != filepath.Join("states", expectSLS+".sls") {
			fmt.Fprintf(sum, "%q %d %s\n", rel, len(text), text)
		}
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// fromSnapshot makes the snapshot that a test starts from, or waits until it is made; false if
// the shared part failed.
func (p *plan) fromSnapshot(ctx context.Context) bool {
	s := p.shared
	if s == nil {
		return true
	}
	s.once.Do(func() {
		s.by = p.r.Name()
		q := *p
		q.r, q.shared = &Result{Job: p.job}, nil
		if q.createAll(ctx) && q.offer(ctx) && q.prepare(ctx) {
			began := time.Now()
			if err := q.m.Save(ctx, s.dir); err != nil {
				q.fail("snapshot", began, err.Error())
			}
		}
		q.remove()
		s.checks = q.r.Checks
	})
	failed := slices.DeleteFunc(slices.Clone(s.checks), func(c Check) bool { return c.Status != Failed })
	p.r.Checks = append(p.r.Checks, failed...)
	return len(failed) == 0
}

// sayShared says what was done before the test, and for which test it was done.
func (p *plan) sayShared() {
	if p.shared == nil {
		return
	}
	for _, c := range p.shared.checks {
		if c.Name == "prepare" || c.Status == Skipped && c.Name != "machine" {
			if c.Name == "prepare" {
				c.Text += ", from a snapshot made for " + p.shared.by
			}
			p.r.Checks = append(p.r.Checks, c)
		}
	}
}

// prepare applies what a case needs before its test; false if that fails.
func (p *plan) prepare(ctx context.Context) bool {
	if len(p.job.Case.Prepare) == 0 {
		return true
	}
	began := time.Now()
	rets, ok := p.applySLS(ctx, "prepare", p.job.Case.Prepare, false)
	if !ok {
		return false
	}
	for _, s := range rets {
		if s.ret.At("result") != true {
			ok = false
			s.failed(ctx, "prepare", began, "failed: ")
		}
	}
	switch {
	case ok:
		p.add(Check{Name: "prepare", Text: count(len(rets), "state")}, began)
	case !p.r.Failed():
		p.fail("prepare", began, "states did not run, since what they require failed")
	}
	return ok
}

// clean applies what undoes the case, and compares the files of the machine with those before.
func (p *plan) clean(ctx context.Context, before []map[string]string) {
	if len(p.job.Case.Clean) == 0 {
		return
	}
	began := time.Now()
	rets, ok := p.applySLS(ctx, "clean", p.job.Case.Clean, false)
	if !ok {
		return
	}
	failed := p.r.failures()
	for _, s := range rets {
		if s.ret.At("result") != true {
			ok = false
			s.failed(ctx, "clean", began, "failed: ")
		}
	}
	after, listed := p.files(ctx)
	if !listed {
		return
	}
	left, err := p.left(ctx, before[0], after[0])
	if err != nil {
		p.fail("clean", began, err.Error())
		return
	}
	switch {
	case len(left) > 0:
		p.fail("clean", began, "the machine is not as it was before: "+strings.Join(left, ", "))
	case !ok && p.r.failures() == failed:
		p.fail("clean", began, "states did not run, since what they require failed")
	case ok:
		text := "the files are as before"
		if p.m.ListsAll() {
			text += ", by name, mode, owner and size"
		}
		p.add(Check{Name: "clean", Text: text}, began)
	}
}

// kept are what package managers and programs for accounts keep of what was undone.
var kept = []string{"/etc/ld.so.cache", "/lib/apk/db", "/usr/lib/sysimage/rpm", "/var/lib/dpkg", "/var/lib/pacman", "/var/lib/rpm"}

// accountFiles are the backups of the files of accounts, and their lock.
var accountFiles = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/etc/(passwd-|shadow-|group-|gshadow-|subuid-|subgid-|\.pwd\.lock)$`)
})

// left returns the files that are other than before, after what made them was undone. Times do
// not count: a file that is written again has another one.
func (p *plan) left(ctx context.Context, before, after map[string]string) ([]string, error) {
	before, after = timeless(before), timeless(after)
	left := slices.DeleteFunc(append(changedFiles(before, after), deletedFiles(before, after)...), func(path string) bool {
		return accountFiles().MatchString(path) || slices.ContainsFunc(kept, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
	})
	if p.m.ListsAll() || len(left) == 0 {
		return left, nil
	}
	return p.m.Unlike(ctx, left)
}

// timeless is a list of files without their times.
func timeless(files map[string]string) map[string]string {
	out := make(map[string]string, len(files))
	for path, attrs := range files {
		if words := strings.Fields(attrs); len(words) > 4 { // type, mode, owner, size, time, target
			attrs = strings.Join(append(words[:4:4], words[5:]...), " ")
		}
		out[path] = attrs
	}
	return out
}
