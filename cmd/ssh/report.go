package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/progress"
	"brine/cmd/internal/summary"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet"
	"brine/internal/py/value"
)

// exitDeploy says that the agent could not be placed on a target; exitCollection
// that one of the targets failed. Salt: EX_THIN_DEPLOY, EX_AGGREGATE.
const (
	exitDeploy     = 11
	exitCollection = 20
)

// A jobReport shows the returns of a job on targets: as they come, or all at the
// end.
type jobReport struct {
	s   *session.Session
	rep *output.Report
	o   *target.Options
	job fun.Job

	stream    bool
	all       *value.Map // id → value, where they are printed at the end
	kept      *value.Map // id → value, for the files of --report
	outputter string
	failed    []string
	why       map[string]string // by id, of those that failed
	deploy    bool
	silent    []string // that did not answer
	away      []string // that gave no return for another reason
	highest   int      // return code
	outcomes  []summary.Outcome
	header    bool
	count     int      // of returns
	same      grouping // results that are printed together
}

func newReport(rep *output.Report, o *target.Options, job fun.Job) *jobReport {
	s := rep.Session
	out := s.Flags.Output.Out
	if out == "" {
		out = s.Cfg.Opts.Str("output")
	}
	r := &jobReport{s: s, rep: rep, o: o, job: job, all: value.NewMap(8), kept: value.NewMap(0), why: map[string]string{}}
	if o.Prog == target.SaltCLI {
		o.Summary = o.Summary || value.Truth(s.Cfg.Opts.At("cli_summary"))
		// What state_output: filter leaves out and shortens may be among the
		// arguments of the function. Salt: salt/output/highstate.py _format_host.
		for _, name := range [...]string{"exclude", "terse"} {
			if v, ok := job.Args.Kw.Get(name); ok {
				s.Cfg.Opts.Set("state_output_"+name, v)
			}
		}
	}
	// JSON stays one document; tables need all rows.
	r.stream = !o.Static && out != "json" && out != "table" && !r.rep.IsReport() && s.Flags.Output.File == "" && !r.docs()
	return r
}

// docs reports whether the returns are documentation, which salt prints once and
// not of each target. Salt: salt/cli/salt.py SaltCMD._print_docs.
func (r *jobReport) docs() bool {
	return r.o.Prog == target.SaltCLI && r.job.Fun == "sys.doc" && r.rep.OutAsked() == ""
}

// began prints the header of the job that is reported; nil reports none. p is notified
// where results are printed on the terminal as they come.
func (r *jobReport) began(job fun.Job, p *progress.Progress) {
	if r != nil && job.JID == r.job.JID && !job.Async {
		r.begin()
	}
	if r != nil && r.stream && r.s.App.Terminal && !r.groups() {
		p.Reported()
	}
}

// begin prints the header of -v, on stderr where stdout is one document.
func (r *jobReport) begin() {
	if r.header || !r.o.Verbose && !r.o.Published.ShowJID {
		return
	}
	r.header = true
	w := r.s.App.Out
	if !r.stream {
		w = r.s.App.Err
	}
	if !r.o.Verbose {
		fmt.Fprintln(w, "jid: "+r.job.JID)
		return
	}
	msg := "Executing job with jid " + r.job.JID
	fmt.Fprintf(w, "%s\n%s\n\n", msg, strings.Repeat("-", len(msg)))
}

// add takes one return.
func (r *jobReport) add(ret fun.Return) error {
	r.begin()
	v, err := r.value(ret)
	if err != nil {
		return err
	}
	r.count++
	bad := !ret.Success()
	if bad {
		r.failed = append(r.failed, ret.ID)
		r.why[ret.ID] = failure(ret)
	}
	if len(r.rep.ReportTo) > 0 || r.rep.Exporter != nil {
		r.kept.Set(ret.ID, v)
	}
	var np interface{ NotPlaced() bool }
	if errors.As(ret.Err, &np) && np.NotPlaced() {
		r.deploy = true
	}
	switch {
	case ret.Stage == fun.TimedOut:
		r.silent = append(r.silent, ret.ID)
	case ret.Stage != fun.Returned:
		r.away = append(r.away, ret.ID)
	}
	r.highest = max(r.highest, ret.Retcode)
	if r.recaps() {
		r.outcomes = append(r.outcomes, summary.Of(ret, v, r.s.Secrets.AnyText))
	}
	switch {
	case ret.Out == "" && ret.States() != nil:
		ret.Out = "highstate"
	case ret.Stage == fun.Returned || r.o.Prog != target.SaltCLI:
	case r.o.Published.HideTime:
		return nil
	default:
		ret.Out = "no_return"
	}
	switch {
	case r.groups():
		r.same.add(ret, v)
		return nil
	case r.stream:
		if bad {
			r.rep.Info.Failed = map[string]string{ret.ID: r.why[ret.ID]}
		} else {
			r.rep.Info.Failed = nil
		}
		return r.rep.Print(value.MapOf(ret.ID, v), ret.Out, ret.Retcode)
	}
	r.all.Set(ret.ID, v)
	if r.outputter == "" && ret.Stage == fun.Returned || ret.Out == "highstate" {
		r.outputter = ret.Out
	}
	return nil
}

// value is what the report shows for a target. salt-ssh shows what went wrong
// before or around the function as a command's outcome.
func (r *jobReport) value(ret fun.Return) (value.Value, error) {
	if ret.Stage == fun.Returned {
		v, err := ret.Value()
		if err != nil || !ret.Raised || r.o.Prog == target.SaltCLI {
			return v, err
		}
		text, ok := v.(string)
		if !ok {
			return v, nil
		}
		code := ret.Retcode
		if _, _, known := r.s.Table.Lookup(fun.Exec, r.job.Fun); !known {
			code = app.ExitNoFunction
		}
		return value.MapOf("stdout", "", "stderr", text, "retcode", int64(code)), nil
	}
	if states := ret.States(); states != nil {
		return states, nil
	}
	if none, ok := errors.AsType[*fleet.NoReturnError](ret.Err); ok {
		return none.Error(), nil
	}
	why := ret.Stage.String()
	switch {
	case errors.Is(ret.Err, context.Canceled):
		why = "interrupted"
	case ret.Err != nil:
		why = ret.Err.Error()
	}
	if r.o.Prog == target.SaltCLI {
		return "Minion did not return. [" + why + "]", nil
	}
	return value.MapOf("stdout", "", "stderr", why, "retcode", int64(255)), nil
}

// finish prints what is left: the results, the summary, the file of failures.
func (r *jobReport) finish() error {
	r.begin()
	sort.Strings(r.failed)
	r.rep.Info.Failed = r.why
	if err := r.rep.WriteReports(sortedByID(r.kept), r.status()); err != nil {
		return err
	}
	if r.docs() && r.printDocs() {
		r.hint()
		return nil
	}
	switch {
	case r.groups():
		if err := r.printGroups(); err != nil {
			return err
		}
	case !r.stream:
		if err := r.rep.Print(sortedByID(r.all), r.outputter, r.status()); err != nil {
			return err
		}
	}
	if r.recaps() {
		w := r.s.App.Out
		if !r.stream {
			w = r.s.App.Err
		}
		if r.o.Prog == target.SaltCLI {
			r.saltSummary(w)
		} else {
			summary.Print(w, r.outcomes)
		}
	}
	r.tail()
	if r.o.FailedFile != "" {
		var text strings.Builder
		for _, id := range r.failed {
			text.WriteString(id + "\n")
		}
		if err := os.WriteFile(r.o.FailedFile, []byte(text.String()), 0o666); err != nil {
			return fmt.Errorf("write --failed-file: %w", err)
		}
	}
	r.hint()
	return nil
}

// recaps reports whether a line for each target, or for several, ends the report: where
// --summary asks for it, and below the states of groups.
func (r *jobReport) recaps() bool { return r.o.Summary || r.groups() && r.job.OfState() }

// sortedByID returns a mapping with its keys in order.
func sortedByID(m *value.Map) *value.Map {
	ids := make([]string, 0, m.Len())
	for k := range m.All() {
		ids = append(ids, value.Str(k))
	}
	sort.Strings(ids)
	sorted := value.NewMap(len(ids))
	for _, id := range ids {
		sorted.Set(id, m.At(id))
	}
	return sorted
}

// failure says why a target failed, where its return does not.
func failure(ret fun.Return) string {
	switch {
	case ret.Stage != fun.Returned && ret.Err != nil:
		return ret.Err.Error()
	case ret.Stage != fun.Returned:
		return ret.Stage.String()
	}
	return fmt.Sprintf("return code %d", ret.Retcode)
}

// hint names the function that was most likely meant, where targets failed and
// the one that was asked for is none of brine's own.
func (r *jobReport) hint() {
	if r.job.Shell != "" || len(r.failed) == 0 {
		return
	}
	calls := r.job.Compound()
	if calls == nil {
		calls = []fun.Job{r.job}
	}
	for _, call := range calls {
		if _, _, ok := r.s.Table.Lookup(fun.Exec, call.Fun); ok {
			continue
		}
		if _, hint := app.Classify(r.s.Table.NotFound(fun.Exec, call.Fun)); hint != "" {
			fmt.Fprintln(r.s.App.Err, "hint:", printable.Line(hint))
		}
	}
}

// status is the exit status of the job.
func (r *jobReport) status() int {
	switch {
	case len(r.failed) == 0:
		return app.ExitOK
	case r.o.Prog == target.SaltCLI && r.job.Batch != "" && !r.o.Static && r.highest != 0:
		return app.StatusOf(int64(r.highest))
	case r.o.Prog == target.SaltCLI:
		return app.ExitGeneric
	case r.deploy:
		return exitDeploy
	}
	return exitCollection
}

// saltSummary is the summary as salt prints it.
// Salt: salt/cli/salt.py SaltCMD._print_returns_summary.
func (r *jobReport) saltSummary(w io.Writer) {
	rule := strings.Repeat("-", 43)
	missing := append(slices.Clone(r.away), r.silent...)
	failed := slices.DeleteFunc(slices.Clone(r.failed), func(id string) bool { return slices.Contains(missing, id) })
	fmt.Fprintf(w, "\n\n%s\nSummary\n%s\n", rule, rule)
	fmt.Fprintf(w, "# of minions targeted: %d\n# of minions returned: %d\n", len(r.outcomes), len(r.outcomes)-len(missing))
	fmt.Fprintf(w, "# of minions that did not return: %d\n# of minions with errors: %d\n", len(missing), len(failed))
	for _, x := range []struct {
		text string
		ids  []string
	}{{"not connected", r.away}, {"not responding", r.silent}, {"with failures", failed}} {
		if len(x.ids) > 0 && r.o.Verbose {
			fmt.Fprintf(w, "Minions %s: %s\n", x.text, printable.Line(strings.Join(x.ids, " ")))
		}
	}
	fmt.Fprintln(w, rule)
}

// printDocs prints the documentation of each function once; false where a target
// returned none.
func (r *jobReport) printDocs() bool {
	docs := map[string]string{}
	for _, v := range r.all.All() {
		m, ok := v.(*value.Map)
		if !ok {
			return false
		}
		for name, text := range m.All() {
			docs[value.Str(name)] = value.Str(text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		fmt.Fprintf(r.s.App.Out, "%s:\n\n", printable.Line(name))
		for line := range strings.Lines(docs[name]) {
			fmt.Fprintf(r.s.App.Out, "    %s\n", printable.Line(strings.TrimRight(line, "\r\n")))
		}
		fmt.Fprintln(r.s.App.Out)
	}
	return true
}
