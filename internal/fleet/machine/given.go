package machine

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/proc"
)

//go:embed given.sh
var givenScript string

//go:embed reset.sh
var resetScript string

//go:embed givenfiles.sh
var givenFilesScript string

// A Given is an existing host: it is not made for a test, and not removed.
type Given struct {
	Target string // an id of the roster, or user@host:port
	// Reset is the command that brings it back, which is run on this machine before each
	// test; "": it stays as the last test left it.
	Reset string
}

// A Remote is a connection to a given host.
type Remote interface {
	// Script runs a script of sh as root and returns its exit status.
	Script(ctx context.Context, script string, in io.Reader, out io.Writer) (stderr string, status int, err error)
	// Enter is the command that a person types to get a shell there.
	Enter() []string
	Close() error
}

// Times that bound what is done with a given host.
const (
	markTime  = 15 * time.Second // it may be switched off
	busyTime  = 40 * time.Second // it may tidy after another test
	tidyTime  = 15 * time.Second
	resetTime = 15 * time.Minute
)

// givenDir is what a given host has of a test, and runningDir which sessions of it run.
const (
	givenDir   = "/.brine-test"
	runningDir = "/run/brine-test.running"
)

// busyStatus is the exit status of givenScript on a host that another test uses.
const busyStatus = 3

// TakesHosts reports whether the machines of the driver are given hosts.
func (d *Driver) TakesHosts() bool { return d.given }

// upGiven brings a given host back and makes it ready for a test.
func (m *Machine) upGiven(ctx context.Context, s Spec) error {
	if err := m.pool.holdTarget(m, s.Given.Target); err != nil {
		return err
	}
	if err := m.reset(ctx, s.Given); err != nil {
		return err
	}
	if err := m.reach(ctx, s.Given); err != nil {
		return err
	}
	said, err := m.hold(ctx, s.Given)
	if err != nil {
		return err
	}
	if err := fits(said); err != nil {
		return err
	}
	m.given.leftovers, m.given.boots = said[3] == "yes", said[4] == "yes"
	for _, b := range s.Binds {
		if err := m.send(ctx, b); err != nil {
			return fmt.Errorf("copy %s to it: %w", b.From, err)
		}
	}
	return nil
}

// holdTarget refuses a host that another brine of this user tests now, which may be while it
// is brought back and cannot say so itself.
func (p *Pool) holdTarget(m *Machine, target string) error {
	dir := filepath.Join(filepath.Dir(p.Dir), "hosts")
	if err := p.Host.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := lockFile(filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(target)))))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another brine test of yours uses the host: wait until it ends")
	}
	if err != nil {
		return err
	}
	m.given.lock = lock
	return nil
}

// fits returns an error if a host cannot run the program of this one. said is "ready", its
// kernel, its architecture, whether something was left on it, and whether it has an init.
func fits(said []string) error {
	if len(said) != 5 {
		return fmt.Errorf("it answered %q", strings.Join(said, " "))
	}
	archs := map[string][]string{"amd64": {"x86_64"}, "arm64": {"aarch64", "arm64"}, "386": {"i686", "i386", "x86_64"}, "arm": {"armv7l", "armv6l", "aarch64"}}
	names := archs[runtime.GOARCH]
	if len(names) == 0 {
		names = []string{runtime.GOARCH}
	}
	for _, n := range names {
		if said[1] == "Linux" && said[2] == n {
			return nil
		}
	}
	return fmt.Errorf("it is %s on %s, and this brine is for Linux on %s: run brine test with a brine for it", said[1], said[2], names[0])
}

// reset brings a given host back. It gets a mark before, where it answers, by which hold sees
// whether that was done.
func (m *Machine) reset(ctx context.Context, g *Given) error {
	if g.Reset == "" {
		return nil
	}
	if err := m.mark(ctx, g); err != nil {
		return err
	}
	stdin, held, err := os.Pipe() // it ends when brine does
	if err != nil {
		return err
	}
	defer stdin.Close()
	defer held.Close()
	out, err := m.pool.Host.Run(ctx, host.Cmd{
		Argv: []string{"/bin/sh", "-c", resetScript, "reset.sh", g.Reset}, Verbatim: true, Dir: m.pool.ResetDir, Stdin: stdin, Merge: true, Timeout: resetTime,
	})
	said := strings.TrimSpace(string(out.Stdout))
	if said == "" {
		said = "it printed nothing"
	}
	switch {
	case err != nil:
		return &ResetError{err.Error()}
	case out.TimedOut:
		return &ResetError{fmt.Sprintf("the command did not end within %s and was ended: %s", resetTime, said)}
	case out.Status < 0:
		return &ResetError{fmt.Sprintf("the command was ended by signal %d: %s", -out.Status, said)}
	case out.Status != 0:
		return &ResetError{fmt.Sprintf("the command ended with status %d: %s", out.Status, said)}
	}
	return nil
}

// A ResetError says that a given host could not be brought back.
type ResetError struct{ Why string }

func (e *ResetError) Error() string { return "reset: " + e.Why }

// mark marks a host that is about to be brought back. One that is switched off has no mark
// but that of a test before. The error says that another test uses the host.
func (m *Machine) mark(ctx context.Context, g *Given) error {
	dial, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	r, err := m.pool.Dial(dial, g.Target)
	if err == nil {
		return markBy(ctx, r)
	}
	return nil
}

// markBy is mark over a connection, which it ends.
func markBy(ctx context.Context, r Remote) error {
	ctx, cancel := context.WithTimeout(ctx, busyTime)
	defer cancel()
	stderr, status, err := r.Script(ctx, script("mark"), nil, io.Discard)
	_ = r.Close()
	if err == nil && status == busyStatus {
		return errors.New(strings.TrimSpace(stderr))
	}
	return nil
}

// script is givenScript with arguments.
func script(args ...string) string { return "set -- " + strings.Join(args, " ") + "\n" + givenScript }

// reach connects to a host, which may start just now if it was brought back.
func (m *Machine) reach(ctx context.Context, g *Given) error {
	began := time.Now()
	for {
		r, err := m.pool.Dial(ctx, g.Target)
		if err == nil {
			m.given.remote = r
			return nil
		}
		if g.Reset == "" || time.Since(began) > bootTime || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// hold starts the script that holds the host until its stdin ends, and returns what it said.
func (m *Machine) hold(ctx context.Context, g *Given) ([]string, error) {
	var stdin *io.PipeReader
	stdin, m.stdin = io.Pipe()
	reset := "no"
	if g.Reset != "" {
		reset = "yes"
	}
	ready := make(chan struct{})
	sig := &signal{m: m, ready: ready, mark: " no\n", or: " yes\n"}
	m.given.held = true
	held := context.WithoutCancel(ctx)
	go func() {
		defer close(m.over)
		stderr, status, err := m.given.remote.Script(held, script("use", reset), stdin, sig)
		_, _ = io.WriteString(m, stderr)
		if err != nil {
			_, _ = io.WriteString(m, err.Error())
		}
		if err == nil && status != 0 {
			err = fmt.Errorf("its script ended with status %d", status)
		}
		m.given.end = err
		_ = stdin.Close()
	}()
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	select {
	case <-ready:
		m.given.ready = true
		return strings.Fields(sig.text.String()), nil
	case <-m.over:
		return nil, m.why()
	case <-ctx.Done():
		return nil, fmt.Errorf("it is not ready after %s", bootTime)
	}
}

// A givenState is what a machine that is a given host has.
type givenState struct {
	remote    Remote
	lock      io.Closer // of the host, among tests of this user
	boots     bool
	leftovers bool  // of a test that was cut off
	held      bool  // it got the script that tidies
	ready     bool  // that script has begun the test
	end       error // of that script; set before over is closed
}

// HadLeftovers reports whether a given host had files or processes of a test that was cut off.
func (m *Machine) HadLeftovers() bool { return m.given != nil && m.given.leftovers }

// runGiven is Run on a given host.
func (m *Machine) runGiven(ctx context.Context, c host.Cmd) (host.Output, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
		defer cancel()
	}
	words := append([]string{"env", "-i"}, env...)
	for _, w := range c.Argv {
		words = append(words, proc.Quote(w))
	}
	run := strings.Join(words, " ")
	if c.Stdin == nil {
		run += " </dev/null"
	}
	if c.Merge {
		run += " 2>&1"
	}
	// It is a session of its own that the script knows which holds the host, and ends.
	const session = "read -r pid _ _ _ _ session _ </proc/self/stat\n"
	run = ": >" + runningDir + "/$pid\nstatus=0\n" + run + " || status=$?\nrm -f " + runningDir + "/$pid\nexit $status\n"
	run = session + `[ "$pid" = "$session" ] || exec setsid sh -c ` + proc.Quote(session+run) + "\n" + run
	var out host.Output
	var buf limited
	stdout := io.Writer(&buf)
	if c.Stdout != nil {
		stdout = c.Stdout
	}
	stderr, status, err := m.given.remote.Script(ctx, run, c.Stdin, stdout)
	if context.Cause(ctx) == errTimeout { //nolint:errorlint // it is the value itself
		m.endRunning()
		return host.Output{Stdout: buf.Bytes(), Status: -1, TimedOut: true}, nil
	}
	if err == nil && buf.over {
		err = fmt.Errorf("it printed more than %d MiB", maxGiven>>20)
	}
	if err != nil {
		return out, err
	}
	out.Stdout, out.Status = buf.Bytes(), status
	if c.Stderr != nil {
		_, err = io.WriteString(c.Stderr, stderr)
	} else {
		out.Stderr = []byte(stderr)
	}
	return out, err
}

var errTimeout = errors.New("the time is over")

// endRunning ends what runs on a given host.
func (m *Machine) endRunning() {
	ctx, cancel := context.WithTimeout(context.Background(), markTime)
	defer cancel()
	_, _, _ = m.given.remote.Script(ctx, script("end"), nil, io.Discard)
}

// maxGiven bounds what a command on a given host may print.
const maxGiven = 64 << 20

// limited keeps what it gets, up to a limit.
type limited struct {
	bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxGiven {
		l.over = true
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// closeGiven ends the connection to a given host, after its script has tidied there. A host
// that does not answer gets no more than a while for it.
func (m *Machine) closeGiven() error {
	g := m.given
	if g == nil {
		return nil
	}
	var errs []error
	if g.held {
		_ = m.stdin.Close()
		select {
		case <-m.over:
		case <-time.After(tidyTime):
			_ = g.remote.Close()
			<-m.over
		}
		if g.end != nil && g.ready {
			errs = append(errs, fmt.Errorf("%s and processes may be left there until the next test of it, which removes them: %w", givenDir, g.end))
		}
	}
	if g.remote != nil {
		_ = g.remote.Close() // what it did is known by now
	}
	if g.lock != nil {
		errs = append(errs, g.lock.Close())
	}
	return errors.Join(errs...)
}

// send copies a file or directory of this machine to a given host. Version control of a
// directory is left out.
func (m *Machine) send(ctx context.Context, b Bind) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(pack(w, b)) }()
	var said limited
	stderr, status, err := m.given.remote.Script(ctx, "exec tar -xzf - -C / --no-same-owner 2>&1", r, &said)
	_ = r.Close()
	if err == nil && status != 0 {
		err = fmt.Errorf("tar ended with status %d: %s", status, cmp.Or(strings.TrimSpace(said.String()), strings.TrimSpace(stderr)))
	}
	return err
}

// pack writes an archive of a file or directory.
func pack(w io.Writer, b Bind) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(z)
	err = filepath.WalkDir(b.From, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(b.From, path)
		if err != nil {
			return err
		}
		return add(archive, path, strings.TrimPrefix(filepath.Join(b.To, rel), "/"))
	})
	return errors.Join(err, archive.Close(), z.Close())
}

// add adds a file to an archive under a name. Others than files, directories and links are left out.
func add(archive *tar.Writer, path, name string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	link := ""
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	case !st.Mode().IsRegular() && !st.IsDir():
		return nil
	}
	h, err := tar.FileInfoHeader(st, link)
	if err != nil {
		return err
	}
	h.Name, h.Uid, h.Gid, h.Uname, h.Gname = name, 0, 0, "", ""
	if err := archive.WriteHeader(h); err != nil || !st.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(archive, f)
	return err
}
