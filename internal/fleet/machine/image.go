package machine

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/core/host"
)

// Images finds and makes the root file systems of machines.
type Images struct {
	Host host.Host
	Dir  string // of those that are unpacked and built
	// Note tells what takes a while.
	Note func(format string, args ...any)
	// Every is the time between notes of what is still being made; 0 is 20 seconds.
	Every time.Duration
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

// unreached are what package managers and their like print where there is no network, or no
// mirror.
var unreached = []string{
	"temporary failure resolving", "could not resolve", "couldn't resolve", "unable to connect to", "network is unreachable", "failed to fetch",
	"failed to download metadata", "failed to synchronize", "no route to host", "connection refused", "connection timed out",
}

// hintOf says what to do where no image could be made, by what the program printed.
func hintOf(system, text string) string {
	lower := strings.ToLower(text)
	switch {
	case IsNoSpace(text):
		return spaceHint
	case slices.ContainsFunc(unreached, func(s string) bool { return strings.Contains(lower, s) }):
		return fmt.Sprintf("the mirror is not reached: name a file with repositories that are, or an image that you have: --image %s=PATH; --compile needs neither", system)
	}
	return ""
}

// lastLines returns the end of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

//go:embed making.sh
var makingScript string

// make runs a command that makes an image, as root. It ends, with all that it started and
// mounted, when brine does.
func (i *Images) make(ctx context.Context, system, prog string, argv []string) error {
	held, hold := io.Pipe()
	defer func() { _ = errors.Join(hold.Close(), held.Close()) }() // closing a pipe cannot fail
	whole := []string{"unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", makingScript, prog}
	last := &lastOutput{}
	defer i.tell(system, last, cmp.Or(i.Every, 20*time.Second))()
	return i.ended(ctx, system, prog, host.Cmd{Argv: append(whole, argv...), Stdin: held, Stdout: last, Stderr: last})
}

// tell notes how long an image has been in the making, and what its program said last, until
// the function that it returns is called.
func (i *Images) tell(system string, last *lastOutput, every time.Duration) (stop func()) {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		began, tick := time.Now(), time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				i.Note("still making the image of %s (%s)%s", system, time.Since(began).Round(time.Second), last.line())
			}
		}
	}()
	return func() {
		close(ended)
		<-over
	}
}

// lastOutput keeps the end of what a program prints.
type lastOutput struct {
	mu   sync.Mutex
	text []byte
}

// keptOutput is how much of it is kept, in bytes.
const keptOutput = 8 << 10

func (o *lastOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	o.text = o.text[max(0, len(o.text)-keptOutput):]
	return len(p), nil
}

// String is what is kept; a line that a program wrote over several times is as it was at last.
func (o *lastOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lines []string
	for line := range strings.SplitSeq(string(o.text), "\n") {
		line = strings.TrimRight(line, "\r ")
		if line = line[strings.LastIndexByte(line, '\r')+1:]; line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// line is the last line, behind a colon; "" if there is none.
func (o *lastOutput) line() string {
	text := o.String()
	if text == "" {
		return ""
	}
	return ": " + text[strings.LastIndexByte(text, '\n')+1:]
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
		text := strings.TrimSpace(string(out.Stdout))
		if last, ok := c.Stdout.(*lastOutput); ok {
			text = last.String()
		}
		return &NoImageError{system, fmt.Sprintf("%s ended with status %d\n%s", prog, out.Status, lastLines(text, 15)), hintOf(system, text)}
	}
	return nil
}
