package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"brine/internal/core/host"
)

// A Pool is the directory of the machines of a user.
type Pool struct {
	Host host.Host
	Dir  string // absolute; only the user may write to it
	// Dial connects to a given host; nil: there are none. ResetDir is where the commands run
	// that bring them back.
	Dial     func(ctx context.Context, target string) (Remote, error)
	ResetDir string
}

// lockName is the file in the directory of a machine that is locked while its brine runs,
// and ownerName that which says which one.
const (
	lockName  = "lock"
	ownerName = "owner"
	groupName = "groups"
)

// Scratch makes a directory for the files of tests; done removes it. Clean removes it
// after a brine that was killed.
func (p *Pool) Scratch() (dir string, done func(), err error) {
	dir, lock, err := p.newDir()
	if err != nil {
		return "", nil, err
	}
	return dir, func() { _ = errors.Join(p.Host.RemoveAll(dir), lock.Close()) }, nil
}

// newDir makes the directory of a machine and locks it.
func (p *Pool) newDir() (dir string, lock io.Closer, err error) {
	if err := p.Host.MkdirAll(p.Dir, 0o700); err != nil {
		return "", nil, err
	}
	st, err := p.Host.Lstat(p.Dir)
	if err != nil {
		return "", nil, err
	}
	if !st.Mode.IsDir() || st.UID != p.Host.Geteuid() || st.Perm()&0o022 != 0 {
		return "", nil, fmt.Errorf("%s must be a directory of yours that nobody else can write to", p.Dir)
	}
	if dir, err = p.Host.MkdirTemp(p.Dir, "brine-test-"); err != nil {
		return "", nil, err
	}
	f, err := lockFile(filepath.Join(dir, lockName))
	if err != nil {
		return "", nil, err
	}
	owner := strconv.Itoa(p.Host.Getpid()) + "\n"
	return dir, f, p.Host.AppendFile(filepath.Join(dir, ownerName), []byte(owner), 0o644)
}

// lockFile locks a file, which is made; the error is EWOULDBLOCK while somebody else has
// it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Clean removes what runs of brine left that were killed, and returns of which
// processes they were.
func (p *Pool) Clean() (owners []string, err error) {
	names, err := p.Host.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		dir := filepath.Join(p.Dir, n)
		if !strings.HasPrefix(n, "brine-test-") {
			continue
		}
		owner, cleaned, err := p.cleanDir(dir)
		if err != nil {
			return owners, err
		}
		if cleaned && !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	return owners, nil
}

// cleanDir removes the directory of a machine unless its brine runs. One without an owner
// may be about to get one.
func (p *Pool) cleanDir(dir string) (owner string, cleaned bool, err error) {
	text, err := p.Host.ReadFile(filepath.Join(dir, ownerName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	f, err := lockFile(filepath.Join(dir, lockName))
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	groups, _ := p.Host.ReadFile(filepath.Join(dir, groupName))
	err = errors.Join(RemoveGroups(strings.Fields(string(groups))), p.removeContainer(dir))
	return strings.TrimSpace(string(text)), true, errors.Join(err, p.Host.RemoveAll(dir))
}

// namespaces returns the numbers of a process in each namespace of processes that it is
// in, from that of brine inwards.
func (p *Pool) namespaces(pid int) []string {
	text, err := p.Host.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return []string{""}
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			return strings.Fields(rest)
		}
	}
	return []string{""}
}

// maxWalk bounds how deep processes are followed.
const maxWalk = 12

// walk calls visit with a process and those that it started, outer ones first.
func (p *Pool) walk(pid, deep int, visit func(int)) {
	visit(pid)
	text, err := p.Host.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil || deep > maxWalk {
		return
	}
	for child := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(child); err == nil {
			p.walk(n, deep+1, visit)
		}
	}
}
