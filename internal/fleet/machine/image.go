package machine

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"brine/internal/core/host"
)

// Images finds and makes the root file systems of machines.
type Images struct {
	Host host.Host
	Dir  string // of those that are unpacked and built
	// Note tells what takes a while.
	Note func(format string, args ...any)
}

// A NoImageError says that there is no image of a system.
type NoImageError struct{ System, Why, Hint string }

func (e *NoImageError) Error() string { return "there is no image of " + e.System + ": " + e.Why }

// Of returns the directory of the image of a system. path is that of a directory or an
// archive; of a file with repositories, from which an image is made; or "": then it is made
// from the repositories that this machine has.
func (i *Images) Of(ctx context.Context, system, path string, r Release) (string, error) {
	if strings.HasPrefix(path, ReferencePrefix) {
		return "", &NoImageError{system, path + " is an image of containers", "use --driver podman or docker, or name a directory or an archive"}
	}
	if path == "" {
		return i.built(ctx, system, "", r)
	}
	st, err := i.Host.Stat(path)
	switch {
	case err != nil:
		return "", &NoImageError{system, err.Error(), "it is named by --image, or under images in the case file"}
	case st.Mode.IsDir():
		return path, nil
	case !st.Mode.IsRegular():
		return "", &NoImageError{system, path + " is neither a directory nor a file", ""}
	case hasRepositories(path):
		return i.built(ctx, system, path, r)
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", path, st.Size, st.Mtime.UnixNano())))[:16]
	return i.once(system+"-"+key, func(dir string) error {
		i.Note("unpacking %s", path)
		argv := []string{"tar", "-x", "-f", path, "-C", dir, "--numeric-owner", "--exclude=./dev/*", "--exclude=dev/*"}
		if i.Host.Geteuid() != 0 {
			argv = append(argv, "--no-same-owner")
		}
		return i.run(ctx, system, argv)
	})
}

// once returns a directory that is made if it is not there.
func (i *Images) once(name string, makes func(dir string) error) (string, error) {
	dir := filepath.Join(i.Dir, name)
	_, err := i.Host.Stat(dir)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := i.Host.MkdirAll(i.Dir, 0o700); err != nil {
		return "", err
	}
	if err := i.clean(); err != nil {
		return "", err
	}
	// Half an image is none: it is made beside its place, in a directory that is locked.
	dirNew, err := i.Host.MkdirTemp(i.Dir, half)
	if err != nil {
		return "", err
	}
	lock, err := lockFile(filepath.Join(dirNew, lockName))
	if err != nil {
		return "", err
	}
	defer func() { _ = errors.Join(i.Host.RemoveAll(dirNew), lock.Close()) }()
	root := filepath.Join(dirNew, "root")
	if err := i.Host.Mkdir(root, 0o755); err != nil {
		return "", err
	}
	if err := makes(root); err != nil {
		return "", err
	}
	return dir, i.Host.Rename(root, dir)
}

// half begins the names of images that are being made.
const half = ".new-"

// clean removes the halves of images that runs of brine left when they were killed. One
// without a lock may be about to get one.
func (i *Images) clean() error {
	names, err := i.Host.ReadDir(i.Dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		dir := filepath.Join(i.Dir, n)
		if !strings.HasPrefix(n, half) {
			continue
		}
		if _, err := i.Host.Stat(filepath.Join(dir, lockName)); err != nil {
			continue
		}
		lock, err := lockFile(filepath.Join(dir, lockName))
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(i.Host.RemoveAll(dir), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command that makes an image, or brings it here.
func (i *Images) run(ctx context.Context, system string, argv []string) error {
	return i.ended(ctx, system, argv[0], host.Cmd{Argv: argv, Merge: true})
}

//go:embed making.sh
var makingScript string

// make runs a command that makes an image, as root. It ends, with all that it started and
// mounted, when brine does.
func (i *Images) make(ctx context.Context, system, prog string, argv []string) error {
	held, hold := io.Pipe()
	defer func() { _ = errors.Join(hold.Close(), held.Close()) }() // closing a pipe cannot fail
	whole := []string{"unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", makingScript, prog}
	return i.ended(ctx, system, prog, host.Cmd{Argv: append(whole, argv...), Stdin: held, Merge: true})
}

// ended runs a command, of the program prog as people know it, and says why it failed.
func (i *Images) ended(ctx context.Context, system, prog string, c host.Cmd) error {
	out, err := i.Host.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &NoImageError{system, err.Error(), ""}
	case out.Status != 0:
		hint := ""
		if IsNoSpace(string(out.Stdout)) {
			hint = spaceHint
		}
		return &NoImageError{system, fmt.Sprintf("%s ended with status %d\n%s", prog, out.Status, strings.TrimSpace(string(out.Stdout))), hint}
	}
	return nil
}
