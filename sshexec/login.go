package sshexec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/roster"
)

// A prompter asks a person for passwords and codes, one question at a time.
type prompter struct {
	ask  func(prompt string, echo bool) (roster.Secret, error)
	once bool // the same question for the same account is asked once

	mu    sync.Mutex
	given map[string]roster.Secret
	over  bool // nothing was answered: nothing more is asked
}

// errNoAnswer says that a person did not answer.
var errNoAnswer = errors.New("no answer to the prompt")

// get asks for a secret. key tells which questions are the same; not is the
// answer that was wrong before.
func (p *prompter) get(key, prompt string, echo bool, not roster.Secret) (roster.Secret, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return roster.Secret{}, errNoAnswer
	}
	if had, ok := p.given[key]; p.once && ok && had.Reveal() != not.Reveal() {
		return had, nil
	}
	s, err := p.ask(prompt, echo)
	if err != nil || !s.IsSet() {
		p.over = true
		return s, errNoAnswer
	}
	if p.given == nil {
		p.given = map[string]roster.Secret{}
	}
	p.given[key] = s
	return s, nil
}

// errDeclined says that a person does not take a key for the host's.
var errDeclined = errors.New("it was not accepted at the prompt")

// confirm asks about the key of a host, as ssh does: yes, its fingerprint, or no.
func (p *prompter) confirm(what, fingerprint string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return errNoAnswer
	}
	prompt := what + "\nAre you sure you want to continue connecting (yes/no/[fingerprint])? "
	for {
		s, err := p.ask(prompt, true)
		if err != nil {
			p.over = true
			return errNoAnswer
		}
		switch answer := strings.TrimSpace(s.Reveal()); {
		case strings.EqualFold(answer, "yes"), answer == fingerprint:
			return nil
		case answer == "", strings.EqualFold(answer, "no"):
			return errDeclined
		}
		prompt = "Please type 'yes', 'no' or the fingerprint: "
	}
}

// A login is one attempt to log in to a host.
type login struct {
	d       *Dialer
	t       *dest
	signers []ssh.Signer
	notes   []string     // why keys were left out
	wait    *waitContext // stands still while a person is asked

	mu      sync.Mutex
	partial []string // methods that succeeded and were not enough
	factor  string   // what the host asked for and nobody answered
	last    time.Time
}

// errDoubt says why a secret is kept from a host.
var errDoubt = errors.New("no password is sent to a host whose key has changed")

// asks reports whether a person can be asked.
func (l *login) asks() bool { return l.d.prompts.ask != nil && !l.t.batch }

// prompt asks a person, while the time of the host stands still.
func (l *login) prompt(key, prompt string, echo bool, not roster.Secret) (roster.Secret, error) {
	defer l.wait.hold()()
	return l.d.prompts.get(key, prompt, echo, not)
}

// methods are the ways to log in, in their order.
func (l *login) methods() []ssh.AuthMethod {
	var out []ssh.AuthMethod
	tries := 1
	if l.asks() {
		tries = l.t.tries
	}
	secret := l.t.passwd.IsSet() || l.asks()
	for _, m := range l.t.methods {
		switch {
		case m == "publickey" && len(l.signers) > 0:
			out = append(out, ssh.PublicKeys(l.signers...))
		case m == "password" && secret:
			out = append(out, ssh.RetryableAuthMethod(ssh.PasswordCallback(l.password()), tries))
		case m == "keyboard-interactive" && secret:
			out = append(out, ssh.RetryableAuthMethod(ssh.KeyboardInteractive(l.challenge()), tries))
		}
	}
	return out
}

// password returns the callback of the password method: the roster's password,
// else those that a person gives.
func (l *login) password() func() (string, error) {
	var last roster.Secret
	return func() (string, error) {
		if l.t.doubt.Load() != nil {
			return "", errDoubt
		}
		if !last.IsSet() && l.t.passwd.IsSet() {
			last = l.t.passwd
			return last.Reveal(), nil
		}
		if !l.asks() {
			return "", errNoAnswer
		}
		s, err := l.prompt(l.t.user+"\x00password", l.t.user+"@"+l.t.name+"'s password: ", false, last)
		last = s
		return s.Reveal(), err
	}
}

// challenge returns the callback of keyboard-interactive: the password of the
// roster answers one hidden question that asks for no code, a person the others.
func (l *login) challenge() ssh.KeyboardInteractiveChallenge {
	used := false
	wrong := map[string]roster.Secret{}
	return func(_, _ string, questions []string, echo []bool) ([]string, error) {
		if len(questions) > 0 && l.t.doubt.Load() != nil {
			return nil, errDoubt
		}
		answers := make([]string, len(questions))
		for i, q := range questions {
			if !used && !echo[i] && l.t.passwd.IsSet() && !asksCode(q) {
				answers[i], used = l.t.passwd.Reveal(), true
				continue
			}
			if !l.asks() {
				l.mu.Lock()
				l.factor = strings.TrimSpace(q)
				l.mu.Unlock()
				return nil, fmt.Errorf("the host asks %q", strings.TrimSpace(q))
			}
			s, err := l.prompt(l.t.user+"\x00"+q, "("+l.t.user+"@"+l.t.name+") "+q, echo[i], wrong[q])
			if err != nil {
				return nil, err
			}
			answers[i], wrong[q] = s.Reveal(), s
		}
		return answers, nil
	}
}

// asksCode reports whether a question asks for a one-time code, to which a
// password would be a wrong answer that counts.
func asksCode(question string) bool {
	q := strings.ToLower(question)
	return slices.ContainsFunc([]string{"code", "otp", "token", "factor", "one-time", "pin:", "duo"}, func(w string) bool { return strings.Contains(q, w) })
}

// next is called before each method with how the previous ones ended.
func (l *login) next(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := len(c.PartialSuccessMethods) + len(c.TriedMethods)
	if done > 1 { // the first is "none", which tells what is allowed
		outcome, method := "refused", ""
		if n := len(c.PartialSuccessMethods); n > len(l.partial) {
			outcome, method = "accepted, and not enough", c.PartialSuccessMethods[n-1]
		} else if n := len(c.TriedMethods); n > 0 {
			method = c.TriedMethods[n-1]
		}
		l.t.note("authentication", "method", method, "outcome", outcome, "after", time.Since(l.last).Round(time.Millisecond))
	} else {
		l.t.note("authentication", "user", l.t.user, "the host takes", strings.Join(c.AllowedMethods, ","), "keys", len(l.signers))
	}
	l.last = time.Now()
	l.partial = c.PartialSuccessMethods
	const kbd = "keyboard-interactive"
	if len(l.partial) > 0 && !l.asks() && !l.t.passwd.IsSet() && slices.Contains(c.AllowedMethods, kbd) && !slices.Contains(c.TriedMethods, kbd) {
		return ssh.KeyboardInteractive(l.challenge()), nil // to learn what it asks
	}
	return nil, nil
}

// hint says what was tried and what to do.
func (l *login) hint() string {
	t := l.t
	l.mu.Lock()
	partial, factor := l.partial, l.factor
	l.mu.Unlock()
	var hint strings.Builder
	fmt.Fprintf(&hint, "tried as %s: %s", t.user, t.offeredKeys())
	if t.passwd.IsSet() {
		hint.WriteString(", a password")
	}
	for _, n := range l.notes {
		hint.WriteString("; " + n)
	}
	switch {
	case t.doubt.Load() != nil:
		hint.WriteString("; passwords are not sent, since the host's key has changed")
	case len(partial) > 0 && factor != "":
		fmt.Fprintf(&hint, "; %s succeeded, and the host asks for a second factor: %q; run on a terminal to answer", strings.Join(partial, ", "), factor)
	case len(partial) > 0:
		fmt.Fprintf(&hint, "; %s succeeded, and the host wants a second factor", strings.Join(partial, ", "))
	case len(l.signers) == 0 && !t.passwd.IsSet():
		hint.WriteString("; set priv in the roster, or add a key to ssh-agent")
	default:
		hint.WriteString("; see user, priv and passwd in the roster, or deploy the key with --key-deploy")
	}
	return hint.String()
}

// sourcesShown are how many places of keys a message names.
const sourcesShown = 3

// offeredKeys says which keys a host was offered.
func (t *dest) offeredKeys() string {
	if t.offered == 0 {
		return "no key"
	}
	from, more := t.offeredFrom, ""
	if len(from) > sourcesShown {
		from, more = from[:sourcesShown], " and others"
	}
	return fmt.Sprintf("%s (%s%s)", plural(t.offered, "key"), strings.Join(from, ", "), more)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// refused words that a host takes nothing of what was tried: the library's error has the
// methods in brackets, with "none", by which it asks for those that there are.
func refused(err error) error {
	_, rest, ok := strings.Cut(err.Error(), "ssh: unable to authenticate, attempted methods [")
	if !ok {
		return err
	}
	list, _, _ := strings.Cut(rest, "]")
	methods := slices.DeleteFunc(strings.Fields(list), func(m string) bool { return m == "none" })
	if len(methods) == 0 {
		return errors.New("unable to authenticate: there is nothing to try that the host takes")
	}
	return fmt.Errorf("unable to authenticate by %s", strings.Join(methods, ", "))
}

// A waitContext is one with a time that stands still while a person is asked.
type waitContext struct {
	context.Context //nolint:containedctx // it is a context
	cancel          context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time
	holds int
}

func newWait(ctx context.Context, d time.Duration) *waitContext {
	inner, cancel := context.WithCancelCause(ctx)
	w := &waitContext{Context: inner, cancel: cancel, left: d, since: time.Now()}
	w.timer = time.AfterFunc(d, w.end)
	return w
}

func (w *waitContext) end() { w.cancel(context.DeadlineExceeded) }

// Err returns context.DeadlineExceeded where the time is over.
func (w *waitContext) Err() error {
	err := w.Context.Err()
	if err != nil && errors.Is(context.Cause(w.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// stop ends the context.
func (w *waitContext) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// hold stops the time until the func that it returns is called.
func (w *waitContext) hold() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holds++; w.holds == 1 && w.timer.Stop() {
		w.left -= time.Since(w.since)
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.holds--; w.holds == 0 && w.Err() == nil {
			w.since = time.Now()
			w.timer = time.AfterFunc(max(w.left, 0), w.end)
		}
	}
}
