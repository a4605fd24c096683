package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/py/proc"
)

// deploy adds the public key of an entry's private key to the authorized_keys
// of the account that logs in.
func (d *Dialer) deploy(ctx context.Context, c *Client, e *roster.Entry) error {
	t, err := d.dest(ctx, e)
	if err != nil {
		return c.fail(Shell, err, "")
	}
	var line string
	for _, p := range append(append([]string{t.priv}, t.identities...), d.defaultKeys()...) {
		text, err := d.o.Host.ReadFile(p + ".pub")
		if p == "" || err != nil {
			continue
		}
		key, comment, _, _, err := ssh.ParseAuthorizedKey(text)
		if err != nil {
			return c.fail(Auth, fmt.Errorf("%s.pub: %w", p, err), "")
		}
		line = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)) + " " + comment)
		line = strings.Join(strings.Fields(line), " ")
		break
	}
	if line == "" {
		return c.fail(Auth, errors.New("there is no public key to deploy"), "make one: ssh-keygen -t ed25519; and name it by --priv")
	}
	blob := strings.Fields(line)[1]
	script := `umask 077
mkdir -p "$HOME/.ssh" && f=$HOME/.ssh/authorized_keys || exit 1
grep -qF -- ` + proc.Quote(blob) + ` "$f" 2>/dev/null && exit 0
if [ -s "$f" ] && [ -n "$(tail -c 1 "$f")" ]; then echo >>"$f"; fi
printf '%s\n' ` + proc.Quote(line) + ` >>"$f"
`
	s, err := c.start(ctx, launch{script: script})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the script's status was judged
	status, err := s.settled(ctx)
	if err == nil && status != 0 {
		err = fmt.Errorf("authorized_keys cannot be written: %s", oneLine(s.complaint()))
	}
	if err != nil {
		return c.fail(Shell, err, "")
	}
	return nil
}

// preFlight runs a script of the controller on a host before anything else.
func (p *placer) preFlight(ctx context.Context, c *Client, e *roster.Entry) error {
	text, err := c.files.ReadFile(e.PreFlight)
	if err != nil {
		return c.fail(Shell, fmt.Errorf("ssh_pre_flight: %w", err), "")
	}
	words := make([]string, len(e.PreFlightArgs))
	for i, a := range e.PreFlightArgs {
		words[i] = proc.Quote(a)
	}
	fleet.Enter(ctx, fleet.Pushing)
	script := setup(e) + `t=$(umask 077; mktemp "${TMPDIR:-/tmp}/brine-pre-XXXXXXXX") || exit 1
trap 'rm -f "$t"' EXIT
trap 'exit 1' HUP INT TERM PIPE
head -c ` + fmt.Sprint(len(text)) + ` >"$t" && chmod 700 "$t" && "$t" ` + strings.Join(words, " ") + ` </dev/null
`
	s, err := c.start(ctx, launchOf(e, script))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the script's status was judged
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	go func() { _, _ = io.Copy(io.Discard, s) }()
	if _, err := s.Write(text); err != nil && !errors.Is(err, io.EOF) {
		return c.fail(Shell, fmt.Errorf("ssh_pre_flight: %w", err), "")
	}
	status, err := s.settled(ctx)
	if err == nil && status != 0 {
		err = ended("ssh_pre_flight "+e.PreFlight, status, oneLine(s.errs.String()+" "+s.firstOut.String()))
	}
	if err != nil {
		return c.fail(Shell, err, "")
	}
	return nil
}
