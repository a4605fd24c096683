package sshexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/fleet"
	"brine/internal/proc"
	"brine/internal/roster"
	"brine/sshexec/link"
)

// candidates are the directories an agent may lie in, as words of sh, in the
// order in which they are tried: the roster's, the account's cache, those that
// everyone has. Each is the account's alone.
func candidates(e *roster.Entry) []string {
	var out []string
	if d := e.ThinDir; d != "" {
		if rest, ok := strings.CutPrefix(d, "~/"); ok {
			out = append(out, `"$HOME"/`+proc.Quote(rest+"/agent"))
		} else {
			out = append(out, proc.Quote(d+"/agent"))
		}
	}
	return append(out, `"${XDG_CACHE_HOME:-$HOME/.cache}/brine/agent"`, `"/var/tmp/.brine-$i"`, `"/dev/shm/.brine-$i"`, `"/tmp/.brine-$i"`)
}

// The function ours says whether a directory is one that only this account can
// write to: no link, ours, mode 0700.
const scriptHead = `i=$(id -u)
ours() { set -- $(ls -ldn "$1" 2>/dev/null); case $1 in drwx------*) [ "$3" = "$i" ];; *) return 1;; esac; }
`

// setup is what the roster wants to be set before anything runs.
func setup(e *roster.Entry) string {
	s := ""
	if e.SetPath != "" {
		// "$PATH" in it stands for the account's own.
		var words []string
		for _, part := range strings.Split(e.SetPath, "$PATH") {
			words = append(words, proc.Quote(part))
		}
		s += "PATH=" + strings.Join(words, `"$PATH"`) + "; export PATH\n"
	}
	if e.CmdUmask != "" {
		s += "umask " + proc.Quote(e.CmdUmask) + "\n"
	}
	return s
}

// runScript starts the agent where it lies already; else it says what the host
// is, behind mark, and ends.
func (p *placer) runScript(e *roster.Entry, mark string) (string, error) {
	var cases strings.Builder
	list := p.images.platforms()
	names := make([]string, 0, len(list))
	for n := range list {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		h, err := p.images.sum(list[n])
		if err != nil {
			return "", fmt.Errorf("read the agent for %s: %w", n, err)
		}
		for _, u := range unames(n) {
			fmt.Fprintf(&cases, "%s) h=%s;;\n", proc.Quote(u), h)
		}
	}
	start := `exec "$f" agent`
	if e.TTY {
		// The agent serves no terminal.
		start = `cat | "$f" agent | cat; exit 0`
	}
	return scriptHead + setup(e) + `u=$(uname -sm)
h=
case $u in
` + cases.String() + `esac
if [ -n "$h" ]; then
for d in ` + strings.Join(candidates(e), " ") + `; do
f=$d/brine-$h
if [ -x "$f" ] && ours "$d"; then ` + start + `; fi
done
fi
z=cat
command -v gzip >/dev/null 2>&1 && z=gzip
echo ` + mark + `" $u $z" >&2
exit 113
`, nil
}

// pushScript takes the agent from stdin and puts it in the first directory,
// from the one numbered skip on, that takes it and lets it run. The new file
// has another name until it is whole, so that who comes at the same time finds
// all of it or nothing.
func pushScript(e *roster.Entry, img *image, mark, unzip string, skip int) string {
	name := ".new-" + token()
	return scriptHead + `umask 077
n=0
for d in ` + strings.Join(candidates(e), " ") + `; do
n=$((n+1))
[ $n -gt ` + strconv.Itoa(skip) + ` ] || continue
mkdir -p "$d" 2>/dev/null
ours "$d" || continue
t=$d/` + name + `
trap 'rm -f "$t"; rmdir "$d" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM
{ echo "#!/bin/sh" >"$t" && chmod 700 "$t"; } 2>/dev/null && "$t" 2>/dev/null || { rm -f "$t"; rmdir "$d" 2>/dev/null; continue; }
` + unzip + ` >"$t" || { echo ` + mark + `" full $n $d" >&2; exit 114; }
s=$({ sha256sum "$t" || sha256 -q "$t" || shasum -a 256 "$t" || openssl dgst -sha256 -r "$t"; } 2>/dev/null)
s=${s%% *}
if [ -z "$s" ]; then [ $(wc -c <"$t") -eq ` + strconv.FormatInt(img.size, 10) + ` ] && s=` + img.hash + `; fi
[ "$s" = ` + img.hash + ` ] || { echo ` + mark + `" bad $n $d" >&2; exit 114; }
mv -f "$t" "$d/brine-` + img.hash + `" || { echo ` + mark + `" full $n $d" >&2; exit 114; }
ls -t "$d" | grep "^brine-" | tail -n +4 | while read -r o; do rm -f "$d/$o"; done
find "$d" -name ".new-*" -mtime +0 -exec rm -f {} \; 2>/dev/null
echo ` + mark + `" done $n $d" >&2
exit 0
done
echo ` + mark + `" nowhere 0 -" >&2
exit 114
`
}

// wipeScript removes what brine left on a host.
func wipeScript(e *roster.Entry) string {
	return scriptHead + `for d in ` + strings.Join(candidates(e), " ") + `; do
ours "$d" || continue
rm -rf "$d"
case $d in */brine/agent) rmdir "${d%/agent}" 2>/dev/null;; esac
done
exit 0
`
}

// A placer puts agents on hosts and starts them.
type placer struct {
	images *Images
	opts   link.Options
}

// agent starts the agent of an entry on its host, after placing it there where
// it is not, and greets it.
//
// A pre-flight script of the roster runs before the agent is placed; always
// asks for it also where the agent is there already.
func (p *placer) agent(ctx context.Context, c *Client, e *roster.Entry, always bool) (*link.Conn, error) {
	if always && e.PreFlight != "" {
		if err := p.preFlight(ctx, c, e); err != nil {
			return nil, err
		}
	}
	for try := 0; ; try++ {
		conn, missing, err := p.try(ctx, c, e)
		if err != nil || conn != nil {
			return conn, err
		}
		if try > 0 {
			return nil, c.fail(Push, errors.New("the agent was placed and is not there"), "does something clean up that directory? thin_dir in the roster names another one")
		}
		if e.PreFlight != "" && !always {
			if err := p.preFlight(ctx, c, e); err != nil {
				return nil, err
			}
		}
		fleet.Enter(ctx, fleet.Pushing)
		if err := p.push(ctx, c, e, missing); err != nil {
			return nil, err
		}
	}
}

// pushTimeout is how long a host has to take the agent.
const pushTimeout = 10 * time.Minute

// patience is how long a host has to answer once one is logged in.
func patience(e *roster.Entry) time.Duration {
	if e.Timeout > 0 {
		return e.Timeout
	}
	return defaultTimeout
}

// absent says that a host has no agent: what the host is, and how it unpacks.
type absent struct{ sys, machine, unzip string }

// try starts the agent where it lies. Both results are nil, and missing is not,
// where it is not there.
func (p *placer) try(ctx context.Context, c *Client, e *roster.Entry) (*link.Conn, *absent, error) {
	mark := "brine-need-" + token()
	script, err := p.runScript(e, mark)
	if err != nil {
		return nil, nil, c.fail(Push, err, "see --agent-dir")
	}
	ctx, cancel := context.WithTimeout(ctx, patience(e))
	defer cancel()
	s, err := c.start(ctx, launchOf(e, script))
	if err != nil {
		return nil, nil, err
	}
	conn, err := link.Connect(ctx, s, p.opts)
	if err == nil {
		return conn, nil, nil
	}
	_ = s.Close()
	if ctx.Err() != nil {
		return nil, nil, c.fail(Agent, fmt.Errorf("the host does not start the agent within %s", patience(e)), "see the load of the host, and what its shell start files do; timeout in the roster changes the time")
	}
	status, werr := s.settled(ctx)
	text := s.complaint()
	if _, rest, ok := strings.Cut(text, mark+" "); ok {
		f := strings.Fields(rest)
		if len(f) >= 3 {
			return nil, &absent{f[0], f[1], f[2]}, nil
		}
	}
	return nil, nil, p.noAgent(c, s, status, werr, err)
}

// settled waits for the end of a script whose stream is over.
func (s *stream) settled(ctx context.Context) (int, error) {
	select {
	case <-s.ended:
		return s.Wait()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// noAgent words that neither the agent answered nor the script said why.
func (p *placer) noAgent(c *Client, s *stream, status int, werr, err error) error {
	errs, said := s.errs.String(), s.said.String()
	if t := sudoText(errs); t != "" {
		return c.fail(Shell, errors.New(t), "see sudo, sudo_user and passwd in the roster, and sudoers on the host")
	}
	text := oneLine(errs + " " + said)
	switch {
	case werr != nil && c.Err() != nil:
		return c.fail(Agent, c.Err(), "")
	case status == 126 || status == 127:
		return c.fail(Shell, fmt.Errorf("no command can be run there: %s", text), "the account needs a shell and sh in its PATH; brine ssh -r works without")
	case status == 113 || strings.TrimSpace(text) != "":
		return c.fail(Shell, fmt.Errorf("the command ended with status %d: %s", status, text), "see the account's shell and its start files")
	}
	if c.onlyFiles() {
		return c.fail(Shell, errors.New("commands end there without a word, while SFTP works"), "the account may be limited to SFTP (ForceCommand in sshd_config), which runs no agent")
	}
	return c.fail(Agent, err, "")
}

// onlyFiles reports whether the host serves SFTP.
func (c *Client) onlyFiles() bool {
	sess, err := c.ssh.NewSession()
	if err != nil {
		return false
	}
	defer sess.Close()
	return sess.RequestSubsystem("sftp") == nil
}

// push places the agent.
func (p *placer) push(ctx context.Context, c *Client, e *roster.Entry, a *absent) error {
	platform := uname(a.sys, a.machine)
	img := p.images.platforms()[platform]
	if img == nil {
		have := make([]string, 0, 4)
		for n := range p.images.platforms() {
			have = append(have, n)
		}
		sort.Strings(have)
		what := platform
		if what == "" {
			what = a.sys + " " + a.machine
			return c.fail(Push, fmt.Errorf("there is no agent for %s", what), "brine ssh -r works without")
		}
		return c.fail(Push, fmt.Errorf("there is no agent for %s (only for %s)", what, strings.Join(have, ", ")),
			fmt.Sprintf("build brine for it and name the directory of brine-%s by --agent-dir", what))
	}
	var tried []string
	for skip := 0; ; {
		n, dir, fault, err := p.pushOnce(ctx, c, e, img, a.unzip, skip)
		if err != nil {
			return err
		}
		switch fault {
		case "done":
			return nil
		case "full", "bad":
			tried = append(tried, dir)
			if n > skip {
				skip = n
				continue
			}
		}
		why := "no directory there can hold it and let it run"
		if len(tried) > 0 {
			why = "it could not be written whole to " + strings.Join(tried, ", ")
		}
		return c.fail(Push, errors.New(why), "see the room on the host's disk and noexec mounts; thin_dir in the roster names another directory")
	}
}

// pushOnce sends the image once. fault is done, full, bad or nowhere.
func (p *placer) pushOnce(ctx context.Context, c *Client, e *roster.Entry, img *image, unzip string, skip int) (n int, dir, fault string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	var (
		body io.Reader
		size int64
		cmd  = "cat"
	)
	if unzip == "gzip" {
		gz, err := img.compressed()
		if err != nil {
			return 0, "", "", c.fail(Push, err, "")
		}
		body, size, cmd = bytes.NewReader(gz), int64(len(gz)), "gzip -dc"
	} else {
		f, err := os.Open(img.path)
		if err != nil {
			return 0, "", "", c.fail(Push, err, "")
		}
		defer f.Close()
		body, size = f, img.size
	}
	if e.TTY {
		// A terminal that passes all bytes has no end of input.
		cmd = "head -c " + strconv.FormatInt(size, 10) + " | " + cmd
	}
	mark := "brine-push-" + token()
	s, err := c.start(ctx, launchOf(e, pushScript(e, img, mark, cmd, skip)))
	if err != nil {
		return 0, "", "", err
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	go func() { _, _ = io.Copy(io.Discard, s) }()
	_, werr := io.Copy(s.stdin, body)
	if !e.TTY {
		_ = s.stdin.Close()
	}
	status, err := s.settled(ctx)
	if ctx.Err() != nil {
		return 0, "", "", c.fail(Push, fmt.Errorf("the agent could not be sent within %s", pushTimeout), "see the network on the way")
	}
	_, rest, ok := strings.Cut(s.complaint(), mark+" ")
	f := strings.Fields(rest)
	if !ok || len(f) < 3 {
		switch {
		case err != nil:
			return 0, "", "", c.fail(Push, err, "")
		case werr != nil && !errors.Is(werr, io.EOF):
			return 0, "", "", c.fail(Push, werr, "")
		}
		return 0, "", "", c.fail(Push, fmt.Errorf("the command ended with status %d: %s", status, oneLine(s.complaint())), "")
	}
	n, _ = strconv.Atoi(f[1])
	return n, strings.SplitN(strings.TrimSpace(rest), "\n", 2)[0][len(f[0])+len(f[1])+2:], f[0], nil
}
