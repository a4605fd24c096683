package ssh

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/summary"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/py/value"
)

// exitNoReturn is salt's status where no target matched.
const exitNoReturn = 2

// saltNoMatch reports as salt does that no target matched: in words, or as an
// empty document.
// Salt: salt/client/__init__.py _check_pub_data, salt/cli/salt.py _output_ret.
func saltNoMatch(rep *output.Report, err error) error {
	s := rep.Session
	if !s.App.JSON {
		fmt.Fprintln(s.App.Out, "No minions matched the target. No command was sent, no jid was assigned.")
	} else if perr := rep.Print(value.NewMap(0), "", exitNoReturn); perr != nil {
		return perr
	}
	_, hint := app.Classify(err)
	return &app.StatusError{Status: exitNoReturn, Err: err, Hint: hint}
}

// warnUnmet names the ids of --limit that the target does not match.
func warnUnmet(s *session.Session, o *target.Options, job fun.Job, sum fun.Summary) {
	limit := s.Limit()
	if limit == nil || o.RetryFailed != "" || job.Subset > 0 {
		return
	}
	var unmet []string
	for _, id := range limit.IDs {
		if _, ok := slices.BinarySearch(sum.Targets, id); !ok && !slices.Contains(unmet, id) {
			unmet = append(unmet, id)
		}
	}
	if len(unmet) == 0 {
		return
	}
	slices.SortFunc(unmet, summary.CompareIDs)
	s.Warn(fun.Warning{Text: fmt.Sprintf("--limit names %s, which the target does not match", summary.FoldIDs(unmet))})
}

// noTargets says that there is nobody in the rosters, whom a job looked for.
func noTargets(s *session.Session, job fun.Job) error {
	if kinds := roster.KindsOf(s.Cfg.Opts); roster.AllFromTarget(kinds) {
		hint := fmt.Sprintf("the roster %s has no list: the target itself is an address, a network or a set of nodes", strings.Join(kinds, ", "))
		if tgt := value.Str(job.Tgt); tgt != "*" && (job.TgtType == "glob" || job.TgtType == "list") {
			return &app.StatusError{
				Status: app.ExitGeneric, Err: fmt.Errorf("no target answers at %s", tgt),
				Hint: "ssh_scan_ports (--scan-ports) and ssh_scan_timeout (--scan-timeout, 0.01 s) say what is tried",
			}
		}
		return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("there is no target"), Hint: hint}
	}
	hint := fmt.Sprintf("it is %s; --roster-file names another one, 'brine init' writes one to start from", s.RosterPath())
	here, err := os.Stat("roster")
	if used, uerr := os.Stat(s.RosterPath()); err == nil && (uerr != nil || !os.SameFile(here, used)) {
		hint = fmt.Sprintf("it is %s; -c . takes the configuration and the roster of this directory", s.RosterPath())
	}
	return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("the roster has no targets"), Hint: hint}
}
