package host

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"time"
)

// A StillError says what was not done, since nothing is to be run or changed.
type StillError struct{ What string }

// Error returns the text.
func (e *StillError) Error() string { return e.What + ": nothing is to be run or changed" }

// Is reports whether target is fs.ErrPermission.
func (e *StillError) Is(target error) bool { return target == fs.ErrPermission }

// Still returns h without hands: files, accounts and the clock are read as usual, but
// no program is started, nothing is changed, and no other machine is asked. What
// would do so is a *[StillError].
func Still(h Host) Host { return still{h} }

// IsStill reports whether h is one that [Still] has made, or says that it stands over
// one, by a method Still.
func IsStill(h Host) bool {
	s, ok := h.(interface{ Still() bool })
	return ok && s.Still()
}

type still struct{ Host }

func refused(format string, a ...any) error { return &StillError{fmt.Sprintf(format, a...)} }

func (still) Still() bool { return true }

func (s still) Fork() Host  { return still{s.Host.Fork()} }
func (s still) Force() Host { return still{s.Host.Force()} }

func (still) Run(_ context.Context, c Cmd) (Output, error) {
	return Output{}, refused("run %s", program(c))
}
func (still) Start(c Cmd) (int, error) { return 0, refused("start %s", program(c)) }
func (still) Signal(pid, signal int) error {
	return refused("send signal %d to process %d", signal, pid)
}

func program(c Cmd) string {
	if len(c.Argv) == 0 {
		return "a program"
	}
	return c.Argv[0]
}

func (still) WriteFile(path string, _ io.Reader, _ WriteOptions) error {
	return refused("write %s", path)
}

func (still) AppendFile(path string, _ []byte, _ fs.FileMode) error { return refused("write %s", path) }

func (still) Mkdir(path string, _ fs.FileMode) error { return refused("create %s", path) }

func (still) MkdirAll(path string, _ fs.FileMode) error { return refused("create %s", path) }

func (still) MkdirTemp(dir, _ string) (string, error) {
	return "", refused("create a directory in %s", dir)
}
func (still) Remove(path string) error               { return refused("remove %s", path) }
func (still) RemoveAll(path string) error            { return refused("remove %s", path) }
func (still) Rename(from, _ string) error            { return refused("rename %s", from) }
func (still) Symlink(_, path string) error           { return refused("create %s", path) }
func (still) Link(_, path string) error              { return refused("create %s", path) }
func (still) Chmod(path string, _ fs.FileMode) error { return refused("change the mode of %s", path) }

func (still) Chown(path string, _, _ int) error { return refused("change the owner of %s", path) }

func (still) Lchown(path string, _, _ int) error { return refused("change the owner of %s", path) }

func (still) Chtimes(path string, _, _ time.Time) error {
	return refused("change the times of %s", path)
}
func (still) Lock(path string) (func(), error)  { return nil, refused("lock %s", path) }
func (still) OpenRoot(dir string) (Root, error) { return nil, refused("work in %s", dir) }

func (still) LookupAddr(_ context.Context, addr string) ([]string, error) {
	return nil, refused("look up %s", addr)
}

func (still) LookupIP(_ context.Context, name string) ([]net.IP, error) {
	return nil, refused("look up %s", name)
}

func (still) LookupCNAME(_ context.Context, name string) (string, error) {
	return "", refused("look up %s", name)
}

func (still) Connect(_ context.Context, address string, _ int) error {
	return refused("connect to %s", address)
}

func (still) SendUDP(_ context.Context, address string, _ int, _ []byte) error {
	return refused("send to %s", address)
}

func (still) Dial(_ context.Context, _, address string) (net.Conn, error) {
	return nil, refused("connect to %s", address)
}
