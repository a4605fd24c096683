package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/summary"
	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/py/value"
)

// exitNoReturn is salt's status where no target matched.
const exitNoReturn = 2

// saltNoMatch reports as salt does that no target matched: in words, or as an
// empty document.
// Salt: salt/client/__init__.py _check_pub_data, salt/cli/salt.py _output_ret.
func (s *session) saltNoMatch(err error) error {
	if !s.app.JSON {
		fmt.Fprintln(s.app.Out, "No minions matched the target. No command was sent, no jid was assigned.")
	} else if perr := s.print(value.NewMap(0), "", exitNoReturn); perr != nil {
		return perr
	}
	_, hint := app.Classify(err)
	return &app.StatusError{Status: exitNoReturn, Err: err, Hint: hint}
}

func (o *sshOpts) noMatch(job fun.Job) error {
	switch {
	case o.retryFailed != "" && o.limit != "":
		return fmt.Errorf("no target that failed in job %s is in --limit and matches %q", o.retryFailed, value.Str(job.Tgt))
	case o.retryFailed != "":
		return fmt.Errorf("no target that failed in job %s matches %q (%s)", o.retryFailed, value.Str(job.Tgt), job.TgtType)
	case job.Only != nil && len(job.Only) == 0:
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("--limit %s names no target", o.limit), Hint: "the file of --failed-file is empty where no target failed"}
	case job.Only != nil:
		return fmt.Errorf("no target of the roster matches %q within --limit", value.Str(job.Tgt))
	}
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("no target of the roster matches %q (%s)", value.Str(job.Tgt), job.TgtType),
		Hint: "'brine ssh --hosts' lists the targets; --roster-file names the roster",
	}
}

// warnUnmet names the ids of --limit that the target does not match.
func (s *session) warnUnmet(o *sshOpts, job fun.Job, sum fun.Summary) {
	if o.limit == "" || o.retryFailed != "" || job.Subset > 0 {
		return
	}
	var unmet []string
	for _, id := range job.Only {
		if _, ok := slices.BinarySearch(sum.Targets, id); !ok && !slices.Contains(unmet, id) {
			unmet = append(unmet, id)
		}
	}
	if len(unmet) == 0 {
		return
	}
	slices.SortFunc(unmet, summary.CompareIDs)
	s.warn(fun.Warning{Text: fmt.Sprintf("--limit names %s, which the target does not match", summary.FoldIDs(unmet))})
}

// rosterPath is where the roster is looked for.
func (s *session) rosterPath() string {
	if p := value.Str(s.cfg.Opts.At("roster_file")); s.cfg.Opts.At("roster_file") != nil && p != "" {
		return p
	}
	return filepath.Join(s.cfg.Dir, "roster")
}

// noTargets says that there is nobody in the rosters, whom a job looked for.
func (s *session) noTargets(job fun.Job) error {
	if kinds := roster.KindsOf(s.cfg.Opts); roster.AllFromTarget(kinds) {
		hint := fmt.Sprintf("the roster %s has no list: the target itself is an address, a network or a set of nodes", strings.Join(kinds, ", "))
		if tgt := value.Str(job.Tgt); tgt != "*" && (job.TgtType == "glob" || job.TgtType == "list") {
			return &app.StatusError{
				Status: app.ExitGeneric, Err: fmt.Errorf("no target answers at %s", tgt),
				Hint: "ssh_scan_ports (--scan-ports) and ssh_scan_timeout (--scan-timeout, 0.01 s) say what is tried",
			}
		}
		return &app.StatusError{Status: app.ExitGeneric, Err: errors.New("there is no target"), Hint: hint}
	}
	hint := fmt.Sprintf("it is %s; --roster-file names another one, 'brine init' writes one to start from", s.rosterPath())
	if _, err := os.Stat("roster"); err == nil && s.rosterPath() != "roster" {
		hint = fmt.Sprintf("it is %s; -c . takes the configuration and the roster of this directory", s.rosterPath())
	}
	return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("the roster has no targets"), Hint: hint}
}
