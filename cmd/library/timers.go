package library

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet"
	"brine/internal/view/chain"
)

// A Timer is a chain that systemd or at is to run once, later.
type Timer struct {
	ID    string // the name of the timer, or the number of the job of at
	Chain string
	At    time.Time
	User  string   // on whose behalf; "" is the user of this process
	Hosts []string // globs for the hosts that the user is limited to; none: all
	Tree  string   // the directory of the chain
	Work  string   // where the command runs
	Argv  []string
}

// timerMark begins what the description of a timer is: "brine chain CHAIN at TIME
// for USER of DIRECTORY".
const timerMark = "brine chain "

// Description is the description of a timer, which read understands.
func (t *Timer) Description() string {
	user := strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, t.User)
	if user == "" {
		user = "-"
	}
	return printable.Line(timerMark + t.Chain + " at " + t.At.Format(time.RFC3339) + " for " + user + " of " + t.Tree)
}

// readTimer reads the description of a timer of a directory of chains; nil: it is
// something else.
func readTimer(text, tree string) *Timer {
	rest, ok := strings.CutPrefix(text, timerMark)
	head, dir, cut := strings.Cut(rest, " of ")
	f := strings.Fields(head)
	if !ok || !cut || dir != printable.Line(tree) || len(f) != 5 || f[1] != "at" || f[3] != "for" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, f[2])
	if err != nil {
		return nil
	}
	t := &Timer{Chain: f[0], At: at, User: f[4], Tree: tree}
	if t.User == "-" {
		t.User = ""
	}
	return t
}

// Timers is what runs commands later: systemd, of the machine or of the user, or at.
type Timers struct {
	host    host.Host
	systemd bool
	user    bool
}

// TimersOf returns the timers of a machine: those of systemd where it runs.
func TimersOf(h host.Host) *Timers {
	st, err := h.Stat("/run/systemd/system")
	return &Timers{host: h, systemd: err == nil && st.Mode.IsDir(), user: h.Geteuid() != 0}
}

// ctl is a command line of systemctl or systemd-run.
func (x *Timers) ctl(name string, args ...string) host.Cmd {
	argv := []string{name}
	if x.user {
		argv = append(argv, "--user")
	}
	return host.Cmd{Argv: append(argv, args...)}
}

// command is the command line that installs a timer. The time zone of systemd may be
// another one than that of this process.
func (x *Timers) command(t *Timer) host.Cmd {
	if x.systemd {
		args := []string{
			"--unit=" + t.unit(), "--description=" + t.Description(), "--on-calendar=" + t.At.UTC().Format(time.DateTime) + " UTC", "--timer-property=AccuracySec=1s", "--collect",
			"--working-directory=" + t.Work,
		}
		for _, e := range t.env() {
			args = append(args, "--setenv="+e)
		}
		args = append(args, "--", t.Argv[0])
		for _, a := range t.Argv[1:] { // systemd replaces variables
			args = append(args, strings.ReplaceAll(a, "$", "$$"))
		}
		return x.ctl("systemd-run", args...)
	}
	return host.Cmd{Argv: []string{"at", "-t", t.At.Format("200601021504.05")}, Dir: t.Work, Stdin: strings.NewReader("# " + t.Description() + "\n" + t.line() + "\n")}
}

// line is the command that at runs.
func (t *Timer) line() string {
	var b strings.Builder
	for _, e := range t.env() {
		name, text, _ := strings.Cut(e, "=")
		b.WriteString(name + "=" + app.ShellWord(text) + " ")
	}
	return b.String() + shellLine(t.Argv)
}

// env is what the environment of the command has more.
func (t *Timer) env() []string {
	if t.User == "" {
		return nil
	}
	return Behalf(t.User, t.Hosts)
}

// Behalf is what the environment of a run for a user of brine ui has more. hosts are globs for
// the hosts that it may reach; none: all.
func Behalf(user string, hosts []string) []string {
	env := []string{app.OnBehalf + "=" + user}
	if len(hosts) > 0 {
		env = append(env, fleet.OnHosts+"="+strings.Join(hosts, ","))
	}
	return env
}

// HostsOf are the globs for the hosts that this process may reach, by its environment.
func HostsOf(a *app.App) []string {
	if text := a.Getenv(fleet.OnHosts); text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

func shellLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, x := range argv {
		quoted[i] = app.ShellWord(x)
	}
	return strings.Join(quoted, " ")
}

// Shell is what a person types to install a timer.
func (x *Timers) Shell(t *Timer) string {
	line := shellLine(x.command(t).Argv)
	if x.systemd {
		return line
	}
	return "cd " + app.ShellWord(t.Work) + " && printf '%s\\n' " + shellLine([]string{"# " + t.Description(), t.line()}) + " | " + line
}

func (t *Timer) unit() string {
	return fmt.Sprintf("brine-chain-%s-%s", t.Chain, t.At.Format("20060102-150405"))
}

// ErrScheduled says that a chain is to run at that time already.
var ErrScheduled = errors.New("it is scheduled for that time already")

// Add installs a timer. It returns ErrScheduled (wrapped) if there is one for the
// chain and the time.
func (x *Timers) Add(ctx context.Context, t *Timer) error {
	all, err := x.List(ctx, t.Tree)
	if err == nil && slices.ContainsFunc(all, func(o *Timer) bool { return o.Chain == t.Chain && o.At.Equal(t.At) }) {
		err = ErrScheduled
	}
	if err != nil {
		return fmt.Errorf("schedule chain %s: %w", t.Chain, err)
	}
	if err := x.run(ctx, x.command(t)); err != nil {
		return fmt.Errorf("schedule chain %s: %w", t.Chain, err)
	}
	return nil
}

func (x *Timers) run(ctx context.Context, cmd host.Cmd) error {
	_, err := x.output(ctx, cmd)
	return err
}

func (x *Timers) output(ctx context.Context, cmd host.Cmd) (string, error) {
	out, err := x.host.Run(ctx, cmd)
	if err != nil && !x.systemd {
		return "", fmt.Errorf("systemd does not run here, and at cannot be used: %w", err)
	}
	if err != nil {
		return "", err
	}
	if out.Status != 0 {
		return "", fmt.Errorf("%s: exit status %d: %s", cmd.Argv[0], out.Status, printable.Line(strings.TrimSpace(string(out.Stderr))))
	}
	return string(out.Stdout), nil
}

// Bounds of a list: how many jobs of at are looked at, and how long a command of it
// may take.
const (
	maxTimers = 200
	listTime  = 10 * time.Second
)

// List returns the timers of a directory of chains, the next one first. Where
// nothing can be scheduled, there are none.
func (x *Timers) List(ctx context.Context, tree string) (out []*Timer, err error) {
	if x.systemd {
		out, err = x.units(ctx, tree)
	} else if _, missing := x.host.LookPath("atq", ""); missing == nil {
		out, err = x.queue(ctx, tree)
	}
	if err != nil {
		return nil, fmt.Errorf("what is scheduled cannot be listed: %w", err)
	}
	slices.SortFunc(out, func(a, b *Timer) int { return a.At.Compare(b.At) })
	return out, nil
}

// units lists timers of systemd.
func (x *Timers) units(ctx context.Context, tree string) (out []*Timer, err error) {
	cmd := x.ctl("systemctl", "list-units", "--type=timer", "--all", "--plain", "--no-legend", "--no-pager", "--full", "brine-chain-*")
	cmd.ReadOnly, cmd.Timeout = true, listTime
	text, err := x.output(ctx, cmd)
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // UNIT LOAD ACTIVE SUB DESCRIPTION
		i := strings.Index(line, timerMark)
		if len(f) < 5 || i < 0 {
			continue
		}
		if t := readTimer(strings.TrimSpace(line[i:]), tree); t != nil {
			t.ID = f[0]
			out = append(out, t)
		}
	}
	return out, err
}

// queue lists jobs of at. atq lists those of everybody for root: what others have
// handed in is neither root's to run nor to be believed.
func (x *Timers) queue(ctx context.Context, tree string) (out []*Timer, err error) {
	self, err := x.host.LookupUID(x.host.Geteuid())
	if err != nil {
		return nil, err
	}
	text, err := x.output(ctx, host.Cmd{Argv: []string{"atq"}, ReadOnly: true, Timeout: listTime})
	if err != nil {
		return nil, err
	}
	looked := 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // NUMBER, the time in five fields, QUEUE USER
		if len(f) < 3 || strings.Trim(f[0], "0123456789") != "" || f[len(f)-1] != self.Name {
			continue
		}
		id := f[0]
		if looked++; looked > maxTimers {
			break
		}
		script, err := x.output(ctx, host.Cmd{Argv: []string{"at", "-c", id}, ReadOnly: true, Timeout: listTime})
		if err != nil {
			continue // it has begun
		}
		for l := range strings.Lines(script) {
			mark, ok := strings.CutPrefix(strings.TrimSpace(l), "# ")
			if t := readTimer(mark, tree); ok && t != nil {
				t.ID = id
				out = append(out, t)
				break
			}
		}
	}
	return out, nil
}

// Cancel removes a timer of a directory of chains.
func (x *Timers) Cancel(ctx context.Context, tree, id string) error {
	all, err := x.List(ctx, tree)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(t *Timer) bool { return t.ID == id }) {
		return fmt.Errorf("no run %q is scheduled; it may have begun", id)
	}
	if x.systemd {
		return x.run(ctx, x.ctl("systemctl", "stop", id))
	}
	return x.run(ctx, host.Cmd{Argv: []string{"atrm", id}})
}

// Place returns the working directory, and that of the chains as timers name it.
func (x *Timers) Place(st *chain.Store) (work, tree string, err error) {
	work, err = x.host.Getwd()
	if tree = st.Dir; !filepath.IsAbs(tree) {
		tree = filepath.Join(work, tree)
	}
	return work, tree, err
}
