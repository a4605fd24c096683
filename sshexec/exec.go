package sshexec

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/internal/core/roster"
	"brine/internal/py/proc"
)

// Remote commands.
//
// The account's shell may be any: csh, fish and restricted ones read quotes,
// "!" and backslashes in ways of their own. So the command that sshd hands to
// it is always the same harmless line, which starts sh; what is to be done, a
// POSIX script, comes as the first line of stdin. Nothing of it is in argv,
// where others could read it. sh reads it byte by byte.
const bootstrap = `sh -c 'IFS= read -r l; eval "$l"'`

// encode makes a script one line for bootstrap. printf %b gives one of several lines
// these back.
func encode(script string) string {
	script = strings.TrimRight(script, "\n")
	if !strings.Contains(script, "\n") {
		return script + "\n"
	}
	line := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(script)
	return "l=" + proc.Quote(line) + `; eval "$(printf %b "$l")"` + "\n"
}

// readOn goes on with the next line of stdin, a script of its own.
const readOn = `IFS= read -r l; eval "$l"`

// A launch is a script to run on a host, and as whom.
type launch struct {
	// script is what runs. quick, a line, runs before it, and what it starts by exec
	// takes the place of script, of which it finds len(encode(script)) bytes in stdin.
	script string
	quick  string
	sudo   bool
	user   string        // of sudo; "" is root
	passwd roster.Secret // of sudo; unset: it needs none
	tty    bool
	keep   int // bytes of stderr to keep; 0 is tailSize
}

// launchOf returns the launch of a script on an entry's host.
func launchOf(e *roster.Entry, script string) launch {
	return launch{script: script, sudo: e.Sudo || e.SudoUser != "", user: e.SudoUser, passwd: e.Passwd, tty: e.TTY}
}

// input is what bootstrap is given.
func (l *launch) input() string {
	if l.quick == "" {
		return encode(l.script)
	}
	return encode(l.quick+"; "+readOn) + encode(l.script)
}

// A stream is a script under way: its stdin and stdout, and what it complains.
type stream struct {
	*session
	pre      []byte // read from stdout and not handed on yet
	errs     tail   // the first of stderr
	firstOut tail   // the first of stdout
	tty      bool

	ended  chan struct{} // closed when the command has ended
	status int           // its exit status, once it has
	broken error         // why it has none
}

// tail keeps the first bytes that are written to it, and wakes who waits.
type tail struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	max     int   // bytes to keep; 0 is tailSize
	dropped int64 // bytes that were not kept
	full    bool  // nothing more is kept
	wake    chan struct{}
}

// lost returns how many bytes were not kept.
func (t *tail) lost() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped
}

// enough drops what was kept, and keeps nothing from now on.
func (t *tail) enough() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf, t.full = bytes.Buffer{}, true
}

// tailSize is how much of what a host complains is kept.
const tailSize = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := 0
	if room := cmp.Or(t.max, tailSize) - t.buf.Len(); room > 0 && !t.full {
		kept, _ = t.buf.Write(b[:min(room, len(b))])
	}
	t.dropped += int64(len(b) - kept)
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
	return len(b), nil
}

// ReadFrom takes all that r has. Without it io.Copy, by which the session fills
// a tail, would hold 32 KiB for each connection as long as it lives.
func (t *tail) ReadFrom(r io.Reader) (int64, error) {
	var sum int64
	buf := make([]byte, 512)
	for {
		n, err := r.Read(buf)
		sum += int64(n)
		_, _ = t.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}

// more returns a channel that is closed at the next write.
func (t *tail) more() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wake == nil {
		t.wake = make(chan struct{})
	}
	return t.wake
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// outputGrace is how long the end of a command may come after that of its stdout.
const outputGrace = 2 * time.Second

// Read reads stdout.
func (s *stream) Read(b []byte) (int, error) {
	if len(s.pre) > 0 {
		n := copy(b, s.pre)
		s.pre = s.pre[n:]
		return n, nil
	}
	n, err := s.stdout.Read(b)
	_, _ = s.firstOut.Write(b[:n])
	if err != nil && n == 0 {
		// What the command complained, and how it ended, may come behind the
		// end of its stdout, and whoever sees that end closes the channel.
		select {
		case <-s.ended:
		case <-time.After(outputGrace):
		}
	}
	return n, err
}

// Write writes to stdin.
func (s *stream) Write(b []byte) (int, error) { return s.stdin.Write(b) }

// Close ends the script. It may be called while others read and write.
func (s *stream) Close() error { return s.close() }

// Wait returns the script's exit status when it has ended.
func (s *stream) Wait() (int, error) {
	<-s.ended
	return s.status, s.broken
}

// open starts a command line on a channel of its own. Of its stderr, keep bytes
// are kept; 0 is tailSize.
func (c *Client) open(ctx context.Context, line string, tty bool, keep int) (*stream, error) {
	return c.openRequest(ctx, request{line: line, tty: tty}, keep)
}

// openRequest is open of a request.
func (c *Client) openRequest(ctx context.Context, r request, keep int) (*stream, error) {
	type opened struct {
		s   *stream
		err error
	}
	done := make(chan opened, 1)
	go func() {
		s, err := c.session(r, keep)
		done <- opened{s, err}
	}()
	select {
	case o := <-done:
		return o.s, o.err
	case <-ctx.Done():
		go func() {
			if o := <-done; o.s != nil {
				_ = o.s.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func (c *Client) session(r request, keep int) (*stream, error) {
	s := &stream{tty: r.tty, errs: tail{max: keep}, ended: make(chan struct{})}
	var err error
	if s.session, err = c.way.run(r, &s.errs); err != nil {
		return nil, err
	}
	go func() {
		s.status, s.broken = s.wait()
		close(s.ended)
	}()
	return s, nil
}

// sudoError is a refusal of sudo, with what to do.
type sudoError struct{ text, hint string }

func (e *sudoError) Error() string { return e.text }

// start starts a script, by sudo where the launch says so. The script's stdin
// is what is written to the stream from then on.
func (c *Client) start(ctx context.Context, l launch) (*stream, error) {
	if c.doubt != nil && l.sudo && l.passwd.IsSet() {
		return nil, c.fail(Shell, fmt.Errorf("the password of sudo is not sent: %w", c.doubt), "remove the old key from known_hosts if the host was reinstalled")
	}
	s, err := c.open(ctx, bootstrap, l.tty, l.keep)
	if err != nil {
		return nil, c.fail(Shell, err, "check that the account may run commands")
	}
	if err := s.feed(ctx, l); err != nil {
		_ = s.Close()
		if es, ok := errors.AsType[*sudoError](err); ok {
			return nil, c.fail(Shell, errors.New(es.text), es.hint)
		}
		return nil, c.fail(Shell, err, "")
	}
	return s, nil
}

// sudoLine runs bootstrap as another account, which takes no password.
func sudoLine(user string) string {
	return "exec sudo -n -H -u " + proc.Quote(user) + " -- " + bootstrap
}

// feed gives bootstrap its script.
func (s *stream) feed(ctx context.Context, l launch) error {
	if !l.sudo {
		return s.give(l.input())
	}
	user := l.user
	if user == "" {
		user = "root"
	}
	if !l.passwd.IsSet() {
		return s.give(encode(sudoLine(user)) + l.input())
	}
	// An unread password would become the script's input, and a guess at the
	// prompt could send it to a program; so the prompt is one that nobody can
	// know, and the script reports itself before it is given anything.
	prompt, begun := promptMark+token()+":", begunMark+token()
	inner := strings.Replace(bootstrap, "'IFS=", "'echo "+begun+" >&2; IFS=", 1)
	outer := "exec sudo -S -p " + proc.Quote(prompt) + " -H -u " + proc.Quote(user) + " -- " + inner
	if err := s.give(encode(outer)); err != nil {
		return err
	}
	which, err := s.await(ctx, prompt, begun)
	if err == nil && which == prompt {
		if _, err = io.WriteString(s.stdin, l.passwd.Reveal()+"\n"); err == nil {
			which, err = s.awaitAfter(ctx, prompt, begun)
		}
	}
	if err != nil {
		if text := sudoText(s.complaint()); text != "" {
			return &sudoError{text, sudoHint(text)}
		}
		return err
	}
	if which == prompt {
		return &sudoError{"sudo does not take the password", "passwd in the roster is the one that sudo is given"}
	}
	return s.give(l.input())
}

// give writes to stdin. That the command has ended already is not an error
// here: its exit status says more.
func (s *stream) give(text string) error {
	_, err := io.WriteString(s.stdin, text)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// complaint returns what the script said on stderr (or the terminal) so far.
func (s *stream) complaint() string {
	if s.tty {
		return s.firstOut.String()
	}
	return s.errs.String()
}

// await waits until one of the marks was said, and returns it.
func (s *stream) await(ctx context.Context, marks ...string) (string, error) {
	return s.awaitFrom(ctx, 0, marks)
}

// awaitAfter is await behind the first occurrence of marks[0].
func (s *stream) awaitAfter(ctx context.Context, marks ...string) (string, error) {
	return s.awaitFrom(ctx, strings.Index(s.complaint(), marks[0])+len(marks[0]), marks)
}

func (s *stream) awaitFrom(ctx context.Context, from int, marks []string) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	for {
		more := s.errs.more()
		text := s.complaint()
		best, at := "", -1
		for _, m := range marks {
			if i := strings.Index(text[min(from, len(text)):], m); i >= 0 && (at < 0 || i < at) {
				best, at = m, i
			}
		}
		if at >= 0 {
			if s.tty {
				// What follows the mark is the script's own.
				s.pre = []byte(strings.TrimLeft(text[min(from, len(text))+at+len(best):], "\r\n"))
			}
			return best, nil
		}
		var over bool
		if s.tty {
			b := make([]byte, 4096)
			n, err := s.stdout.Read(b)
			_, _ = s.firstOut.Write(b[:n])
			over = err != nil && n == 0
		} else {
			select {
			case <-more:
			case <-s.ended:
				over = true
			}
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if over {
			return "", fmt.Errorf("the command ended: %s", oneLine(withoutMarks(s.complaint())))
		}
	}
}

// Marks that scripts print on stderr, each with a token behind it.
const (
	promptMark = "brine-password-"
	begunMark  = "brine-begun-"
)

// withoutMarks returns text without the marks, which mean nothing to a person.
// What stood behind one begins a line.
func withoutMarks(text string) string {
	for _, mark := range []string{promptMark, begunMark} {
		for {
			i := strings.Index(text, mark)
			if i < 0 {
				break
			}
			rest := strings.TrimLeft(text[i+len(mark):], "abcdefghijklmnopqrstuvwxyz0123456789")
			text = text[:i] + "\n" + strings.TrimPrefix(rest, ":")
		}
	}
	return text
}

// sudoNotices are parts of lines that sudo prints and goes on after.
var sudoNotices = [...]string{"unable to resolve host", "setrlimit(", "unable to send audit message", "unable to mkdir ", "unable to stat "}

// withoutNotices returns text without the lines in which sudo only remarks on something.
func withoutNotices(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		isNotice := func(part string) bool { return strings.Contains(line, part) }
		if strings.HasPrefix(strings.TrimSpace(line), "sudo:") && slices.ContainsFunc(sudoNotices[:], isNotice) {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// sudoText returns the line of sudo in what a host complained: the first one that is a
// refusal.
func sudoText(text string) string {
	text = withoutNotices(withoutMarks(text))
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "sudo:") || strings.Contains(line, "sudoers") {
			return line
		}
	}
	if strings.Contains(text, "sudo") {
		return oneLine(text)
	}
	return ""
}

// sudoHint says what to do about a complaint of sudo.
func sudoHint(text string) string {
	switch {
	case strings.Contains(text, "tty") || strings.Contains(text, "terminal is required"):
		return "set tty: True for it in the roster, or take requiretty out of sudoers"
	case strings.Contains(text, "password is required"):
		return "set passwd for it in the roster (or give --askpass), or NOPASSWD in sudoers"
	}
	return "see sudo, sudo_user and passwd in the roster, and sudoers on the host"
}

// oneLine returns text on one line, cut to what an error can hold.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if r := []rune(text); len(r) > 300 {
		text = string(r[:300]) + "..."
	}
	return text
}

// ended says that something ended with a status, and what it said, if anything.
func ended(what string, status int, said string) error {
	if said == "" {
		return fmt.Errorf("%s ended with status %d", what, status)
	}
	return fmt.Errorf("%s ended with status %d: %s", what, status, said)
}

// token returns text that nobody can guess.
func token() string { return strings.ToLower(rand.Text()) }
