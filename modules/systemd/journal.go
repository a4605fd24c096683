package systemd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/py/source"
	"brine/modules/tool"
)

// How much of a unit's journal is shown on stderr, and how much a cause has of it: lines,
// and bytes of them together.
const (
	journalLines = 10
	causeLines   = 3
	causeBytes   = 2 << 10
)

// readJournal returns the last lines of the journal's entries that match, without secrets.
func readJournal(ctx context.Context, env *fun.Env, lines int, match ...string) string {
	argv := []string{"journalctl", "--quiet", "--no-pager", "--output", "cat", "--lines", strconv.Itoa(lines)}
	out, err := tool.Look(ctx, env.Host, append(argv, match...)...)
	if err != nil || out.Status != 0 {
		return ""
	}
	return redact.URLs(env.Secrets.Text(strings.TrimSpace(out.Stdout)))
}

func sinceArg(t time.Time) string { return "@" + strconv.FormatInt(t.Unix(), 10) }

// showJournal shows on stderr what a unit wrote to the journal since a time.
func showJournal(ctx context.Context, env *fun.Env, at source.Pos, name string, since time.Time) {
	unit := canonical(name)
	if !plain(unit) {
		return
	}
	// What the unit has just said may not be in the journal yet.
	const patience = 5 * time.Second
	within, cancel := context.WithTimeout(ctx, patience)
	_, _ = tool.Look(within, env.Host, "journalctl", "--sync")
	cancel()
	text := readJournal(ctx, env, journalLines, "--unit", unit, "--since", sinceArg(since))
	if text == "" {
		// A unit file that is wrong was complained of when it was read.
		text = readJournal(ctx, env, journalLines, "--unit", unit)
	}
	if text == "" {
		return
	}
	hint := "'journalctl -u " + unit + "' and 'systemctl status " + unit + "' say more"
	env.Fault(&source.Error{Pos: at, Err: fmt.Errorf("%s: the last lines of its journal:\n  %s", unit, strings.ReplaceAll(printable.Text(text), "\n", "\n  ")), Hint: hint})
}

// Why returns why a unit did not start, or stop, since a time: the exit status of its main
// process, 0 where that did not end with one, and the last lines that its own processes
// wrote to the journal, else those that systemd wrote of it. It reads what [ShowJournal]
// or a function that failed has waited for.
func Why(ctx context.Context, env *fun.Env, name string, since time.Time) (status int64, output string) {
	unit := canonical(name)
	if !plain(unit) {
		return 0, ""
	}
	if u, err := Look(ctx, env, name); err == nil {
		status = u.exited()
	}
	// systemd's own lines would come last, and say only that the unit failed.
	output = readJournal(ctx, env, causeLines, "--since", sinceArg(since), "_SYSTEMD_UNIT="+unit)
	if output == "" {
		output = readJournal(ctx, env, causeLines, "--since", sinceArg(since), "--unit", unit)
	}
	if n := len(output) - causeBytes; n > 0 {
		output = "..." + strings.ToValidUTF8(output[n:], "")
	}
	return status, output
}
