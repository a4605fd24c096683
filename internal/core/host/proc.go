package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// grace is how long a process group has between SIGTERM and SIGKILL.
	grace = 3 * time.Second
	// drain is how long pipes are read on after a group was killed: a process
	// that left the group may hold them open for ever.
	drain = 500 * time.Millisecond
	// defaultMaxOutput bounds what is kept of an output.
	defaultMaxOutput = 256 << 20
)

// ErrClosed is returned (wrapped) by Run and Start after [Local.CloseAll].
var ErrClosed = errors.New("the run is being ended")

// Run runs c to its end; see [Processes]. The program leads a process group of
// its own. Run returns when the program ended and its output is closed, as
// Python's communicate does; a Timeout or the end of ctx ends the whole group.
func (l *Local) Run(ctx context.Context, c Cmd) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	r := &running{cmd: c}
	defer r.closeAll()
	if c.Foreground {
		return r.foreground(ctx, l)
	}
	cmd, err := r.prepare(l)
	if err != nil {
		return Output{}, err
	}
	// Another account gets no part in this session: it could type into its
	// terminal. A new session is a process group, too.
	if c.User != nil && c.User.UID != os.Geteuid() {
		cmd.SysProcAttr.Setsid = true
	} else {
		cmd.SysProcAttr.Setpgid = true
	}
	if !c.ReadOnly {
		l.changes.Add(1)
		defer l.changes.Add(1)
	}
	if err := l.launch(cmd, r); err != nil {
		return Output{}, err
	}
	defer l.release(cmd.Process.Pid)
	p := c.printing(ctx)
	if p == nil {
		return r.finish(ctx, cmd)
	}
	for i, s := range r.outs {
		s.seen = seen{p, i > 0}
	}
	out, err := r.finish(ctx, cmd)
	p.End(out)
	return out, err
}

// foreground runs a program that a person works with, such as an editor: it has
// brine's own terminal and process group.
func (r *running) foreground(ctx context.Context, l *Local) (Output, error) {
	cmd, err := r.prepareDetached(l)
	if err != nil {
		return Output{}, err
	}
	if l.isClosed() {
		return Output{}, ErrClosed
	}
	l.changes.Add(1)
	defer l.changes.Add(1)
	if err := startUmask(cmd, r.cmd.Umask, r.apart); err != nil {
		return Output{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	if err := cmd.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			return Output{}, err
		}
	}
	return Output{Status: cmd.ProcessState.ExitCode()}, ctx.Err()
}

// Start starts c detached: a session of its own, no terminal, input and output
// at /dev/null unless c names others. The child is reaped if it ends before
// brine does.
func (l *Local) Start(c Cmd) (int, error) {
	r := &running{cmd: c}
	cmd, err := r.prepareDetached(l)
	defer r.closeAll()
	if err != nil {
		return 0, err
	}
	cmd.SysProcAttr.Setsid = true
	if l.isClosed() {
		return 0, ErrClosed
	}
	l.changes.Add(1)
	if err := startUmask(cmd, c.Umask, r.apart); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // ends with the child, which may outlive us
	return cmd.Process.Pid, nil
}

// A running is a program and the pipes to it.
type running struct {
	cmd      Cmd
	child    []*os.File // ends that only the child needs
	in       *os.File   // our end of its stdin
	outs     []*stream
	copies   sync.WaitGroup // of outs
	inCopied chan struct{}
	apart    *apart // what it does not see
}

// A stream is an output of a program on its way to us.
type stream struct {
	pipe      *os.File
	to        io.Writer // nil: buf
	seen      io.Writer // gets what buf does; nil: nobody
	buf       pieces
	max       int64
	truncated bool
	err       error // of to
}

func (r *running) closeAll() {
	for _, f := range r.child {
		_ = f.Close()
	}
	r.child = nil
	if r.in != nil {
		_ = r.in.Close()
	}
	for _, s := range r.outs {
		_ = s.pipe.Close()
	}
}

func (r *running) base(l *Local) (*exec.Cmd, error) {
	c := r.cmd
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, fmt.Errorf("run: no command: %w", fs.ErrInvalid)
	}
	env := c.Env
	if env == nil {
		env = l.Environ()
	}
	path, err := lookPath(c.Argv[0], pathOf(env), c.Dir)
	if err != nil {
		return nil, err
	}
	cred, err := l.credential(c)
	if err != nil {
		return nil, err
	}
	dir := c.Dir
	if cred == nil || cred.Uid == 0 {
		if r.apart, err = planApart(l, c.AloneArg, c.Alone); err != nil {
			return nil, err
		}
		if err := r.apart.admits(c); err != nil {
			return nil, err
		}
	}
	if cred == nil { // else the kernel decides by that user's rights
		if dir != "" && r.apart == nil {
			var held *os.File
			if held, dir, err = hold(c.Dir); err != nil {
				return nil, err
			}
			r.child = append(r.child, held)
		}
		if !c.Verbatim {
			if err := checkWords(c.Argv[1:], c.ReadOnly); err != nil {
				return nil, err
			}
		}
	}
	return &exec.Cmd{
		Path: path, Args: c.Argv, Env: env, Dir: dir,
		SysProcAttr: &syscall.SysProcAttr{Credential: cred},
	}, nil
}

// prepare makes the command with pipes.
func (r *running) prepare(l *Local) (*exec.Cmd, error) {
	cmd, err := r.base(l)
	if err != nil {
		return nil, err
	}
	if err := r.stdin(cmd); err != nil {
		return nil, err
	}
	if cmd.Stdout, err = r.output(r.cmd.Stdout); err != nil {
		return nil, err
	}
	if r.cmd.Merge {
		cmd.Stderr = cmd.Stdout
		return cmd, nil
	}
	cmd.Stderr, err = r.output(r.cmd.Stderr)
	return cmd, err
}

// prepareDetached makes the command with files only; nil is /dev/null.
func (r *running) prepareDetached(l *Local) (*exec.Cmd, error) {
	if r.cmd.Net != nil {
		return nil, fmt.Errorf("a detached program in a network of its own: %w", errors.ErrUnsupported)
	}
	cmd, err := r.base(l)
	if err != nil {
		return nil, err
	}
	c := r.cmd
	if c.Stdin != nil {
		f, ok := c.Stdin.(*os.File)
		if !ok { // given whole in a file that has no name any more
			if f, err = unnamedFile(c.Stdin); err != nil {
				return nil, err
			}
			r.child = append(r.child, f)
		}
		cmd.Stdin = f
	}
	if f, ok := c.Stdout.(*os.File); ok {
		cmd.Stdout = f
	}
	if f, ok := c.Stderr.(*os.File); ok {
		cmd.Stderr = f
	}
	if c.Merge {
		cmd.Stderr = cmd.Stdout
	}
	return cmd, nil
}

func unnamedFile(content io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "brine-stdin-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	if _, err = io.Copy(f, content); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (r *running) stdin(cmd *exec.Cmd) error {
	switch in := r.cmd.Stdin.(type) {
	case nil: // os/exec opens /dev/null
	case *os.File:
		cmd.Stdin = in
	default:
		pr, pw, err := os.Pipe()
		if err != nil {
			return err
		}
		r.child, r.in = append(r.child, pr), pw
		cmd.Stdin = pr
	}
	return nil
}

// output returns the file that a child writes to.
func (r *running) output(to io.Writer) (*os.File, error) {
	if f, ok := to.(*os.File); ok {
		return f, nil
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &stream{pipe: pr, to: to, max: r.cmd.MaxOutput}
	if s.max <= 0 {
		s.max = defaultMaxOutput
	}
	r.child = append(r.child, pw)
	r.outs = append(r.outs, s)
	return pw, nil
}

// finish feeds and drains a started program and waits for its end.
func (r *running) finish(ctx context.Context, cmd *exec.Cmd) (Output, error) {
	for _, f := range r.child {
		_ = f.Close()
	}
	r.child = nil
	for _, s := range r.outs {
		r.copies.Go(s.copy)
	}
	r.inCopied = make(chan struct{})
	go r.feed(r.in)

	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		r.copies.Wait()
		ended <- err
	}()
	out := Output{PID: cmd.Process.Pid}
	err, ctxErr := r.await(ctx, cmd.Process.Pid, ended, &out)
	if r.in != nil {
		_ = r.in.Close() // the feeder's next write fails
		r.in = nil
	}
	select {
	case <-r.inCopied:
	case <-time.After(drain): // a source that blocks; it ends with its reader
	}
	if cmd.ProcessState != nil {
		out.Status = status(cmd.ProcessState)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = nil
	}
	for i, s := range r.outs {
		if i == 0 && r.cmd.Stdout == nil {
			out.Stdout = s.buf.join()
		} else {
			out.Stderr = s.buf.join()
		}
		out.Truncated = out.Truncated || s.truncated
		if err == nil {
			err = s.err
		}
	}
	if ctxErr != nil {
		err = ctxErr
	}
	return out, err
}

// await waits for the end, and makes it come where ctx or the time-out says.
// The second error is ctx's where ctx ended the program.
func (r *running) await(ctx context.Context, pid int, ended <-chan error, out *Output) (err, ctxErr error) {
	var timeout <-chan time.Time
	if r.cmd.Timeout > 0 {
		t := time.NewTimer(r.cmd.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case err := <-ended:
		return err, nil
	case <-timeout:
		out.TimedOut = true
		if r.cmd.Leave {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			for _, s := range r.outs {
				_ = s.pipe.SetReadDeadline(time.Now())
			}
			return <-ended, nil
		}
	case <-ctx.Done():
		ctxErr = ctx.Err()
	}
	_ = syscall.Kill(-pid, syscall.SIGTERM)
	_ = syscall.Kill(-pid, syscall.SIGCONT) // a stopped one could not end
	select {
	case err := <-ended:
		return err, ctxErr
	case <-time.After(grace):
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	select {
	case err := <-ended:
		return err, ctxErr
	case <-time.After(drain):
	}
	for _, s := range r.outs { // held open by a process outside of the group
		_ = s.pipe.SetReadDeadline(time.Now())
	}
	return <-ended, ctxErr
}

// feed copies the input to w, which is nil where the program has none. finish
// may close w meanwhile.
func (r *running) feed(w *os.File) {
	defer close(r.inCopied)
	if w != nil {
		_, _ = io.Copy(w, r.cmd.Stdin) // a program need not read all its input
		_ = w.Close()
	}
}

func (s *stream) copy() {
	if s.to != nil {
		_, s.err = io.Copy(s.to, s.pipe)
		if s.err != nil {
			if errors.Is(s.err, os.ErrDeadlineExceeded) {
				s.err = nil
			}
			_, _ = io.Copy(io.Discard, s.pipe)
		}
		return
	}
	var from io.Reader = s.pipe
	if s.seen != nil {
		from = io.TeeReader(from, s.seen)
	}
	n, err := io.CopyN(&s.buf, from, s.max)
	if err == nil && n == s.max {
		rest, _ := io.Copy(io.Discard, s.pipe)
		s.truncated = rest > 0
	}
}

// status is the exit status, or minus the signal that ended the program.
func status(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return p.ExitCode()
}

// launch starts cmd and notes its group, all under the lock, so that CloseAll
// sees every group or none starts after it.
func (l *Local) launch(cmd *exec.Cmd, r *running) error {
	if l.isClosed() {
		return ErrClosed
	}
	var err error
	switch {
	case r.cmd.Net == nil:
		err = startUmask(cmd, r.cmd.Umask, r.apart)
	case r.apart != nil || r.cmd.Umask != nil:
		err = fmt.Errorf("a program with a view or umask in a network of its own: %w", errors.ErrUnsupported)
	default:
		err = r.cmd.Net.start(cmd)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.groups[cmd.Process.Pid] = struct{}{}
	(*l.mine)[cmd.Process.Pid] = struct{}{}
	closed := l.closed
	l.mu.Unlock()
	if closed { // began after CloseAll looked
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return nil
}

func (l *Local) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *Local) release(pid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.groups, pid)
	delete(*l.mine, pid)
	if l.idle != nil && len(l.groups) == 0 {
		close(l.idle)
		l.idle = nil
	}
}

// CloseAll ends the process groups of all programs that run: SIGTERM, then
// after 3 seconds (or when ctx ends) SIGKILL. Temporary files being written
// are removed. It returns within 5 seconds; Run fails from now on. Detached
// programs live on.
func (l *Local) CloseAll(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	idle := l.idle
	if idle == nil {
		idle = make(chan struct{})
		if len(l.groups) == 0 {
			close(idle)
		} else {
			l.idle = idle
		}
	}
	l.mu.Unlock()
	l.signalAll(syscall.SIGTERM)
	l.signalAll(syscall.SIGCONT)
	select {
	case <-idle:
	case <-ctx.Done():
	case <-time.After(grace):
	}
	l.signalAll(syscall.SIGKILL)
	select {
	case <-idle:
	case <-time.After(2 * drain):
	}
	l.mu.Lock()
	temps := l.temps
	l.temps = map[*tempFile]struct{}{}
	l.mu.Unlock()
	for t := range temps {
		_ = t.root.Remove(t.name)
	}
}

func (l *Local) signalAll(sig syscall.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for pid := range l.groups {
		_ = syscall.Kill(-pid, sig)
	}
}

// startRetry starts cmd; it tries again while a program that was just written
// is still held open by a sibling between fork and exec.
func startRetry(cmd *exec.Cmd) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || wait > 200*time.Millisecond {
			return err
		}
		time.Sleep(wait)
		again := exec.Cmd{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, SysProcAttr: cmd.SysProcAttr, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr}
		*cmd = again
	}
}

// startShell starts cmd under a shell that sets the umask for it.
func startShell(cmd *exec.Cmd, umask int) error {
	cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`umask %04o && exec "$@"`, umask&0o777), "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return startRetry(cmd)
}

// credential returns the identity of c's program; nil is one's own.
func (l *Local) credential(c Cmd) (*syscall.Credential, error) {
	if c.User == nil && c.Group == nil {
		return nil, nil
	}
	uid, gid := os.Geteuid(), os.Getegid()
	cred := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if c.User != nil {
		cred.Uid, cred.Gid = uint32(c.User.UID), uint32(c.User.GID)
	}
	if c.Group != nil {
		cred.Gid = uint32(*c.Group)
	}
	if int(cred.Uid) == uid && int(cred.Gid) == gid {
		return nil, nil
	}
	if uid != 0 || c.User == nil {
		cred.NoSetGroups = true // only root may; without a user one's own groups stay
		return cred, nil
	}
	ids, err := l.GroupIDs(c.User.Name)
	if err != nil {
		return nil, err
	}
	cred.Groups = []uint32{cred.Gid}
	for _, id := range ids {
		if !slices.Contains(cred.Groups, uint32(id)) {
			cred.Groups = append(cred.Groups, uint32(id))
		}
	}
	return cred, nil
}

// LookPath finds an executable; see [Processes]. A name with a slash is not
// searched for.
func (l *Local) LookPath(name, path string) (string, error) {
	if path == "" {
		path = pathOf(l.Environ())
	}
	return lookPath(name, path, "")
}

// defaultPath is what the C library searches where PATH is not set.
const defaultPath = "/bin:/usr/bin"

func pathOf(env []string) string {
	path := defaultPath
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	return path
}

// lookPath finds name in path; dir is where relative names start.
func lookPath(name, path, dir string) (string, error) {
	if strings.ContainsRune(name, '/') {
		at := name
		if !filepath.IsAbs(at) && dir != "" {
			at = filepath.Join(dir, at)
		}
		if err := executable(at); err != nil {
			return "", &exec.Error{Name: name, Err: err}
		}
		return name, nil
	}
	found := fs.ErrNotExist
	for _, d := range filepath.SplitList(path) {
		if d == "" {
			d = "."
		}
		at := filepath.Join(d, name)
		if !filepath.IsAbs(at) {
			if dir != "" {
				at = filepath.Join(dir, at)
			}
			if abs, err := filepath.Abs(at); err == nil {
				at = abs
			}
		}
		fi, err := os.Stat(at)
		if err != nil {
			continue // also a directory that this user may not search
		}
		if runnable(fi) {
			return at, nil
		}
		found = fs.ErrPermission
	}
	return "", &exec.Error{Name: name, Err: found}
}

func executable(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			return pe.Err
		}
		return err
	}
	if !runnable(fi) {
		return fs.ErrPermission
	}
	return nil
}

func runnable(fi fs.FileInfo) bool { return !fi.IsDir() && fi.Mode()&0o111 != 0 }

// Signal sends a signal by number to a process, or to a group (negative pid).
func (*Local) Signal(pid, signal int) error { return syscall.Kill(pid, syscall.Signal(signal)) }

// Getwd returns the working directory of this process.
func (*Local) Getwd() (string, error) { return os.Getwd() }

// Getpid returns the id of this process.
func (*Local) Getpid() int { return os.Getpid() }
