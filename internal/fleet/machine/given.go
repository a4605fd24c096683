package machine

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/proc"
)

//go:embed given.sh
var givenScript string

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
	resetTime = 15 * time.Minute
)

// givenDir is what a given host has of a test.
const givenDir = "/.brine-test"

// TakesHosts reports whether the machines of the driver are given hosts.
func (d *Driver) TakesHosts() bool { return d.given }

// upGiven brings a given host back and makes it ready for a test.
func (m *Machine) upGiven(ctx context.Context, s Spec) error {
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
	m.given.boots = said[3] == "yes"
	for _, b := range s.Binds {
		if err := m.send(ctx, b); err != nil {
			return fmt.Errorf("copy %s to it: %w", b.From, err)
		}
	}
	return nil
}

// fits returns an error if a host cannot run the program of this one. said is "ready", its
// kernel, its architecture, and whether it has an init.
func fits(said []string) error {
	if len(said) != 4 {
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
	m.mark(ctx, g)
	out, err := m.pool.Host.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-c", g.Reset}, Verbatim: true, Dir: m.pool.ResetDir, Merge: true, Timeout: resetTime})
	switch {
	case err != nil:
		return fmt.Errorf("reset: %w", err)
	case out.TimedOut:
		return fmt.Errorf("reset: the command did not end within %s", resetTime)
	case out.Status != 0:
		return fmt.Errorf("reset: the command ended with status %d: %s", out.Status, strings.TrimSpace(string(out.Stdout)))
	}
	return nil
}

// mark marks a host that is about to be brought back. One that is switched off has no mark
// but that of a test before.
func (m *Machine) mark(ctx context.Context, g *Given) {
	ctx, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	r, err := m.pool.Dial(ctx, g.Target)
	if err != nil {
		return
	}
	_, _, _ = r.Script(ctx, script("mark"), nil, io.Discard)
	_ = r.Close()
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
	sig := &signal{m: m, ready: ready, mark: "no\n", or: "yes\n"}
	held := context.WithoutCancel(ctx)
	go func() {
		defer close(m.over)
		stderr, _, err := m.given.remote.Script(held, script("use", reset), stdin, sig)
		_, _ = io.WriteString(m, stderr)
		if err != nil {
			_, _ = io.WriteString(m, err.Error())
		}
		_ = stdin.Close()
	}()
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	select {
	case <-ready:
		return strings.Fields(sig.text.String()), nil
	case <-m.over:
		return nil, m.why()
	case <-ctx.Done():
		return nil, fmt.Errorf("it is not ready after %s", bootTime)
	}
}

// A givenState is what a machine that is a given host has.
type givenState struct {
	remote Remote
	boots  bool
}

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
	// Its process group is known to the script that holds the host, which ends it.
	run := "read -r _ _ _ _ group _ </proc/self/stat; : >" + givenDir + "/running/$group\nstatus=0\n" + strings.Join(words, " ")
	if c.Stdin == nil {
		run += " </dev/null"
	}
	if c.Merge {
		run += " 2>&1"
	}
	run += " || status=$?\nrm -f " + givenDir + "/running/$group\nexit $status\n"
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
	kill := "for f in " + givenDir + "/running/*; do kill -KILL -- \"-${f##*/}\"; rm -f \"$f\"; done"
	_, _, _ = m.given.remote.Script(ctx, kill, nil, io.Discard)
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

// closeGiven ends the connection to a given host. Its script has ended then.
func (m *Machine) closeGiven() error {
	if m.given == nil || m.given.remote == nil {
		return nil
	}
	return m.given.remote.Close()
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
