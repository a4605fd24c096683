package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

// candidates are the directories an agent may lie in, as words of sh, in the
// order in which they are tried: the roster's, the account's cache, those that
// everyone has. Each is the account's alone.
func candidates(e *roster.Entry) []string {
	var out []string
	if d := e.ThinDir; d != "" {
		switch rest, ok := strings.CutPrefix(d, "~/"); {
		case ok:
			out = append(out, `"$HOME"/`+proc.Quote(rest+"/agent"))
		case strings.HasPrefix(d, "/"):
			out = append(out, proc.Quote(d+"/agent"))
		default:
			out = append(out, `"$HOME"/`+proc.Quote(d+"/agent"))
		}
	}
	return append(out, `"${XDG_CACHE_HOME:-$HOME/.cache}/brine/agent"`, `"/var/tmp/.brine-$i"`, `"/dev/shm/.brine-$i"`, `"/tmp/.brine-$i"`)
}

// Scripts enter a directory before they look at it and then name its files
// without a path, so that nobody who may write above it can put another one in
// its place in between. The function here says whether the working directory is
// one that only this account can enter: ours, and of mode 0700; z is then the
// size of the file $1 in it. Whose it is most shells tell without a program (-O);
// else i is the account's number. away leaves it and takes it away where it is empty.
// takes enters $d, which it makes, and says whether a program in it, $t, runs; a
// directory that was there and is not ours stays as it is.
const scriptTools = `unset TIME_STYLE LS_BLOCK_SIZE BLOCK_SIZE BLOCKSIZE CDPATH
i=
here() { set -- $(LC_ALL=C ls -ldn . "$1" 2>/dev/null); z=${14}; case $1 in drwx------*) [ -O . ] 2>/dev/null || [ "$3" = "${i:=$(id -u)}" ];; *) return 1;; esac; }
away() { cd / && rmdir "$d" 2>/dev/null; case $d in */brine/agent) rmdir "${d%/agent}" 2>/dev/null;; esac; }
takes() {
s=$(command -v sh)
case $s in /*) ;; *) s=/bin/sh;; esac
m=
[ -d "$d" ] || m=1
mkdir -p "$d" 2>/dev/null
[ ! -h "$d" ] && cd -P "$d" 2>/dev/null || return 1
here . || { [ -z "$m" ] || away; return 1; }
{ echo "#!$s" >$t && chmod 700 $t; } 2>/dev/null && ./$t 2>/dev/null || { rm -f $t; away; return 1; }
}
`

// scriptHead is scriptTools for scripts that go through the candidates.
const scriptHead = scriptTools + "i=$(id -u)\n"

// setup is what the roster wants to be set before anything runs.
func setup(e *roster.Entry) string {
	s := ""
	if e.SetPath != "" {
		// "$PATH" in it stands for the account's own.
		var words []string
		for part := range strings.SplitSeq(e.SetPath, "$PATH") {
			words = append(words, proc.Quote(part))
		}
		s += "PATH=" + strings.Join(words, `"$PATH"`) + "; export PATH\n"
	}
	if e.CmdUmask != "" {
		s += "umask " + proc.Quote(e.CmdUmask) + "\n"
	}
	if e.SudoUser != "" {
		// Accounts of services have a shell that refuses, by which cmd.run could
		// run nothing.
		s += "case $SHELL in */nologin|*/false) SHELL=/bin/sh; export SHELL;; esac\n"
	}
	return s
}

// startLaunch starts the agent where it already is, by a command; else it says
// what the host is, behind mark, and ends. The xz of BusyBox, which has no filters and
// does not know -V, does not count. Where the roster has a thin_dir that takes an agent,
// insist ignores one that is elsewhere.
func (p *placer) startLaunch(e *roster.Entry, mark, command string, insist bool) launch {
	only := ""
	if insist && e.ThinDir != "" {
		only = `[ -z "$only" ] && only=1 && (umask 077; t=.new-` + token() + `; takes && rm -f $t) && break
`
	}
	if e.TTY {
		// The agent serves no terminal.
		return launchOf(e, p.atAgent(e, mark, `{ cat | ./$h `+command+` | cat; exit 0; }`, only))
	}
	l := launchOf(e, p.atAgent(e, mark, `exec ./$h `+command, only))
	if kinds := p.quickCases(); kinds != "" && e.SetPath == "" { // that would be put in front twice
		l.quick = quickScript(e, kinds, fmt.Sprintf("%s --skip %d", command, len(encode(l.script))))
	}
	return l
}

// quickScript starts the agent by a command where it most likely is, on a host of the
// most likely kind. It asks what atAgent asks, in fewer words and with one program: sh
// reads its input byte by byte, and each program that it starts takes as long as a good
// part of the agent's own start.
func quickScript(e *roster.Entry, kinds, command string) string {
	return setup(e) + `h=; q() { case $1:${14} in drwx------*:$n) [ -O . ] && exec ./$h ` + command + `;; esac; }; ` +
		`{ read -r s </proc/sys/kernel/ostype && read -r m </proc/sys/kernel/arch; } 2>/dev/null && case "$s $m" in ` + kinds + `esac && ` +
		`[ -n "$h" ] && unset TIME_STYLE LS_BLOCK_SIZE BLOCK_SIZE BLOCKSIZE CDPATH && [ ! -h ` + candidates(e)[0] + ` ] && cd -P ` + candidates(e)[0] + ` 2>/dev/null && ` +
		`[ -x $h ] && q $(LC_ALL=C ls -ldn . $h 2>/dev/null)`
}

// atAgent runs the words start in the directory where the agent is, as $h, until
// they end the script; else it says what the host is, behind mark, and ends. It looks
// first where the agent most likely is, for what the kernel says that the host is, which
// takes fewer programs than the rest. only are lines that come behind the first
// directory that was looked at.
func (p *placer) atAgent(e *roster.Entry, mark, start, only string) string {
	dirs := candidates(e)
	try := `[ ! -h "$d" ] && cd -P "$d" 2>/dev/null && here $h && [ "$z" = $n ] && [ -x $h ] && ` + start + "\n"
	return scriptTools + setup(e) + `pick() {
h=
case $1 in
` + p.cases() + `esac
}
h= only= d=` + dirs[0] + `
{ read -r s </proc/sys/kernel/ostype && read -r m </proc/sys/kernel/arch && pick "$s $m"; } 2>/dev/null
[ -n "$h" ] && ` + try + `i=$(id -u)
u=$(uname -sm)
pick "$u"
if [ -n "$h" ]; then
for d in ` + strings.Join(dirs, " ") + `; do
` + try + only + `done
fi
z=
for t in cat gzip zstd; do command -v $t >/dev/null 2>&1 && z=$z$t,; done
xz -V >/dev/null 2>&1 </dev/null && z=${z}xz,
echo ` + mark + `" $u $z-" >&2
exit 113
`
}

// command is what the agent is started with.
func (p *placer) command() string {
	if p.wipe {
		return "agent --wipe"
	}
	return "agent"
}

// wipeScript removes what brine left on a host.
func wipeScript(e *roster.Entry) string {
	return scriptHead + `for d in ` + strings.Join(candidates(e), " ") + `; do
[ -h "$d" ] && continue
cd -P "$d" 2>/dev/null && here . || continue
rm -rf ./brine-* ./.new-* ./.part-* ./cache
away
done
exit 0
`
}

// A placer puts agents on hosts and starts them.
type placer struct {
	images *Images
	opts   link.Options
	wipe   bool // agents remove themselves at their end
	turns  *turns
	// behind are the turns of the hosts behind a relay, by its id: they share the way
	// that it has, and a relay that lets them stall holds up no others.
	turnsMu sync.Mutex
	behind  map[string]*turns
	// parcels are what relays are given.
	parcels parcels
	stall   time.Duration // how long a push may go on without a byte that arrives; 0: stallTimeout

	casesOnce sync.Once
	caseText  string
	quickText string // those of the most likely hosts
}

// cases are the lines of startScript that name the agent of each platform, the
// same for all hosts.
func (p *placer) cases() string {
	p.casesOnce.Do(func() {
		var b strings.Builder
		for _, n := range p.images.platforms() {
			img, err := p.images.lookup(n)
			if err != nil || img == nil {
				continue // push says why, where it is this one
			}
			for _, u := range unames(n) {
				line := fmt.Sprintf("%s) h=brine-%s n=%d;;", proc.Quote(u), img.hash, img.size)
				b.WriteString(line + "\n")
				if n == "linux-amd64" || n == "linux-arm64" {
					p.quickText += line + " "
				}
			}
		}
		p.caseText = b.String()
	})
	return p.caseText
}

// quickCases are those of cases that most hosts are.
func (p *placer) quickCases() string {
	p.cases()
	return p.quickText
}

// options are those of the connection to an agent. A host whose key is not the
// known one is given no pillar.
func (p *placer) options(c *Client) link.Options {
	o := p.opts
	o.Relink, o.Large = c.relink, c.large
	if c.doubt != nil {
		o.Pillar = func(context.Context, string, value.Mapping, fun.PillarRequest) (*value.Map, error) {
			return nil, fmt.Errorf("no pillar is sent to %s: %w", c.ID, c.doubt)
		}
	}
	return o
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
		fleet.Enter(ctx, fleet.Starting)
		conn, missing, err := p.try(ctx, c, e, try == 0)
		var none *noShellError
		if errors.As(err, &none) && worksWithoutShell(e) {
			return p.bare(ctx, c, e, none)
		}
		if conn != nil && p.opts.Log != nil {
			p.opts.Log.Debug("agent found", "host", c.ID, "sent before", try > 0, "thin_dir", e.ThinDir)
		}
		if err != nil || conn != nil {
			return conn, err
		}
		if err := p.provide(ctx, c, e, missing, try, always); err != nil {
			return nil, err
		}
	}
}

// provide places the agent on a host that has none. try is how often it was done
// before, done that the pre-flight script has run.
func (p *placer) provide(ctx context.Context, c *Client, e *roster.Entry, missing *absent, try int, done bool) error {
	if try > 0 {
		return c.fail(Push, errors.New("the agent was copied and is gone"), "does something clean up that directory? thin_dir in the roster names another one")
	}
	if e.PreFlight != "" && !done {
		if err := p.preFlight(ctx, c, e); err != nil {
			return err
		}
	}
	return p.pushInTurn(ctx, c, e, missing)
}

// responseTimeout is how long a host has to answer once one is logged in.
func responseTimeout(e *roster.Entry) time.Duration {
	if e.Timeout > 0 {
		return e.Timeout
	}
	return defaultTimeout
}

// absent says that a host has no agent: what the host is, and the programs it
// has that unpack one, separated by commas.
type absent struct{ sys, machine, unpack string }

// try starts the agent where it lies. Both results are nil, and missing is not,
// where it is not there.
func (p *placer) try(ctx context.Context, c *Client, e *roster.Entry, insist bool) (conn *link.Conn, missing *absent, err error) {
	missing, err = p.start(ctx, c, e, p.command(), insist, func(ctx context.Context, s *stream) (err error) {
		conn, err = link.Connect(ctx, s, p.options(c))
		return err
	})
	return conn, missing, err
}

// start starts the agent by a command, and greets it. What it returns is not nil
// where the agent is not there.
func (p *placer) start(ctx context.Context, c *Client, e *roster.Entry, command string, insist bool, greet func(ctx context.Context, s *stream) error) (*absent, error) {
	mark := "brine-need-" + token()
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, responseTimeout(e))
	defer cancel()
	l := p.startLaunch(e, mark, command, insist)
	if s := c.startedAhead(ctx, p, l, command); s != nil {
		if err := greet(ctx, s); err == nil {
			s.firstOut.enough()
			c.mayStartNext(p, l, command)
			return nil, nil
		}
		_ = s.Close() // what was started ahead has ended: the agent is started now
	}
	s, err := c.start(ctx, l)
	if err != nil {
		if ctx.Err() != nil && c.readsInput(outer) {
			return nil, c.fail(Shell, errReadsInput, readsInputHint)
		}
		return nil, err
	}
	if err = greet(ctx, s); err == nil {
		s.firstOut.enough()
		c.mayStartNext(p, l, command)
		return nil, nil
	}
	_ = s.Close()
	if ctx.Err() != nil {
		if c.readsInput(outer) {
			return nil, c.fail(Shell, errReadsInput, readsInputHint)
		}
		return nil, c.fail(Agent, fmt.Errorf("the host does not start the agent within %s", responseTimeout(e)), "see the load of the host, and what its shell start files do; timeout in the roster changes the time")
	}
	status, werr := s.settled(ctx)
	text := s.complaint()
	if _, rest, ok := strings.Cut(text, mark+" "); ok {
		f := strings.Fields(rest)
		if len(f) >= 3 {
			return &absent{f[0], f[1], f[2]}, nil
		}
		return nil, c.fail(Shell, fmt.Errorf("the host does not say what it is: %s", oneLine(strings.Replace(text, mark, "", 1))),
			"see the account's PATH, where uname should be, and set_path in the roster")
	}
	return nil, p.noAgent(ctx, c, s, status, werr, err)
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

// noShellError says that a host runs no sh: the account's shell, or sshd, refused it.
type noShellError struct{ text string }

func (e *noShellError) Error() string { return "no command can be run there: " + e.text }

// noAgent words that neither the agent answered nor the script said why.
func (p *placer) noAgent(ctx context.Context, c *Client, s *stream, status int, werr, err error) error {
	errs, said := s.errs.String(), s.firstOut.String()
	text := oneLine(withoutMarks(errs + " " + said))
	if t := sudoText(errs); t != "" {
		return c.fail(Shell, errors.New(t), sudoHint(t))
	}
	switch {
	case werr != nil && c.Err() != nil:
		return c.fail(Agent, c.Err(), "")
	case (status == 126 || status == 127) && strings.Contains(text, "brine-"):
		return c.fail(Agent, fmt.Errorf("the host does not let the agent run: %s", text),
			"a policy of the host (SELinux, AppArmor, fapolicyd) may forbid programs there; thin_dir in the roster names another directory")
	case status == 126 || status == 127:
		return c.fail(Shell, &noShellError{text}, "the account needs a shell and sh in its PATH; brine ssh -r works without")
	}
	if shell := shellOf(status, text); shell != "" {
		return c.fail(Shell, errors.New(shell),
			"give the account a shell on the host (chsh, usermod -s), or log in as another one and use sudo_user")
	}
	if c.onlyFiles(ctx, status, text) {
		return c.fail(Shell, errors.New("the account is limited to SFTP, so no command can be run there, and no agent"),
			"see ForceCommand and ChrootDirectory in the host's sshd_config")
	}
	if status == 113 || strings.TrimSpace(text) != "" {
		return c.fail(Shell, ended("the command", status, text), "see the account's shell and its start files")
	}
	if c.readsInput(ctx) {
		return c.fail(Shell, errReadsInput, readsInputHint)
	}
	return c.fail(Agent, err, "check that the host is up, and that the account's shell and its start files work")
}

var errReadsInput = errors.New("the account's shell start files read standard input, which is for the command")

const readsInputHint = "look for read, cat, ssh and the like in .bashrc and its like, and run them only in a terminal: [ -t 0 ] && ..."

// probeTime is how long a host has to say what becomes of standard input.
const probeTime = 5 * time.Second

// readsInput reports whether something takes the standard input of a command before the
// command does. The command is one that ends at once.
func (c *Client) readsInput(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	s, err := c.open(ctx, `sh -c 'IFS= read -r l; echo "brine-got:$l"'`, false, 0)
	if err != nil {
		return false
	}
	defer func() { _ = s.Close() }() // its end is what is asked for
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	sign := token()
	if s.give(sign+"\n") != nil {
		return false
	}
	_ = s.stdin.Close() // what waits for more goes on
	out, err := io.ReadAll(io.LimitReader(s, tailSize))
	if err != nil || ctx.Err() != nil {
		return false
	}
	_, got, ran := strings.Cut(string(out), "brine-got:")
	return ran && !strings.HasPrefix(got, sign)
}

// shellOf says that the account has a shell that runs nothing; "" where that is not so.
func shellOf(status int, text string) string {
	switch text = strings.TrimSpace(text); {
	case status == 1 && text == "":
		return "the account's shell ended with status 1 and ran nothing, as /bin/false does"
	case status == 1 && strings.Contains(text, "account is") && strings.Contains(text, "not available"):
		return "the account's shell lets nobody in, as nologin does: " + text
	}
	return ""
}

// onlyFiles reports whether an account that did not run a command is one for
// SFTP alone: its server, which is started in the place of every command, takes
// the command's input for a packet and says no more than that it is a bad one.
func (c *Client) onlyFiles(ctx context.Context, status int, text string) bool {
	if status == 0 || status == 113 || strings.TrimSpace(text) != "" && !strings.Contains(strings.ToLower(text), "sftp") {
		return false
	}
	// sshd takes the request also where the account's shell, by which it starts the
	// server, runs nothing: the server has to answer.
	_, done, err := c.sftp(ctx)
	if err != nil {
		return false
	}
	done()
	return true
}

// imageFor returns the agent for a host, or an error that says what to do.
func (p *placer) imageFor(c *Client, sys, machine string) (*image, error) {
	platform := uname(sys, machine)
	if platform == "" {
		return nil, c.fail(Push, fmt.Errorf("there is no agent for %s %s", sys, machine), "brine ssh -r works without")
	}
	img, err := p.images.lookup(platform)
	if img != nil {
		return img, nil
	}
	name := PlatformName(platform)
	hint := "install brine-agents of the same version, or make one: " + p.images.buildCommand(name)
	if err != nil {
		return nil, c.fail(Push, fmt.Errorf("the agent for %s cannot be used: %w", name, err), hint)
	}
	var have []string
	for _, n := range p.images.platforms() {
		if i, _ := p.images.lookup(n); i != nil {
			have = append(have, PlatformName(n))
		}
	}
	return nil, c.fail(Push, fmt.Errorf("there is no agent for %s (only for %s)", name, strings.Join(have, ", ")), hint)
}

// buildCommand is the command that makes the agent for a platform.
func (m *Images) buildCommand(name string) string {
	if m.Named {
		return "brine agent build --agent-dir " + proc.Quote(m.Dir) + " " + name
	}
	return "brine agent build " + name
}
