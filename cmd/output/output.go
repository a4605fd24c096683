// Package output is what a run says of its results: the printed report, also while states
// run, the files of --report and --metrics, profiles and traces. Start at [Report].
package output

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/internal/summary"
	"brine/cmd/internal/trace"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/outputter"
	"brine/outputter/report"
)

// A Report is what a run prints, writes to files and sends of its results.
type Report struct {
	*session.Session
	// Runner says that the results are those of runner functions, whose own
	// outputter --out=highstate replaces as any other does.
	Runner bool

	Info     report.Info     // of the run that reports are about
	ReportTo []reportFile    // what --report and --metrics ask for
	Exporter *trace.Exporter // of traces; nil: none
	Rec      *trace.Recorder // of where the time goes; nil: nobody asks
	live     *liveReport     // what is printed while states run; nil: nothing is
	streamer *streamer       // what shows what programs print; nil: nothing does
	written  bool            // the files of ReportTo are

	mu sync.Mutex // of the faults of Info
}

// New returns the report of a run, which has the faults that the session reports
// from now on.
func New(s *session.Session) *Report {
	r := &Report{Session: s}
	s.OnFault, s.OnTook = r.keepFault, r.took
	return r
}

// maxIndent is the widest indentation of a level.
const maxIndent = 1000

// manyTargets is how many targets a step has at most whose results are printed one
// by one, where neither --group nor state_output_group says, and for Salt's programs.
const manyTargets = 100

// outputOptions joins configuration and command line.
func (r *Report) outputOptions(retcode int) (*outputter.Options, error) {
	o := &outputter.Options{Opts: r.Cfg.Opts, Retcode: retcode, StateOutput: r.Cfg.Opts.Str("state_output")}
	if v, ok := r.Cfg.Opts.Get("state_verbose"); ok {
		o.HideClean = !value.Truth(v)
	}
	if v, ok := r.Cfg.Opts.Get("state_output_profile"); ok {
		o.HideProfile = !value.Truth(v)
	}
	o.Color = r.Color()
	many := r.Group.Above(r.OutAsked() != "", manyTargets)
	if n, ok := value.AsInt(r.Cfg.Opts.At("state_output_group")); ok && n >= 0 && (r.Group == "" || r.Group == app.GroupAuto) {
		many = int(n)
	}
	if r.Runner {
		o.GroupAbove(many, func(ids []string) string { return summary.FoldSome(ids, GroupNames) })
	}
	o.Shown = r.live.printed()
	indent := r.Flags.Output.Indent
	if indent == "" {
		indent = value.Str(r.Cfg.Opts.At("output_indent"))
	}
	switch indent {
	case "", "None":
	case "pretty":
		o.Pretty = true
	default:
		var n int
		if _, err := fmt.Sscanf(indent, "%d", &n); err != nil || fmt.Sprint(n) != strings.TrimPrefix(indent, "+") {
			return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--out-indent: %q is neither a number nor \"pretty\"", indent)}
		}
		if n > maxIndent {
			return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--out-indent: at most %d", maxIndent)}
		}
		o.Indent = &n
	}
	return o, nil
}

// Color reports whether the report has colours: as the flags ask, then NO_COLOR,
// then as the configuration asks, else where stdout is a terminal.
// Salt: salt/output/__init__.py get_printout.
func (r *Report) Color() bool {
	f := r.Flags.Output
	opt := func(name string) bool { return value.Truth(r.Cfg.Opts.At(name)) }
	switch {
	case f.ForceColor:
		return true
	case f.NoColor || r.App.Getenv("NO_COLOR") != "":
		return false
	case opt("force_color"):
		return true
	case opt("no_color"):
		return false
	}
	if v, ok := r.Cfg.Opts.Get("color"); ok && v != nil {
		return value.Truth(v)
	}
	return r.App.Terminal && r.App.Getenv("TERM") != "dumb" && f.File == ""
}

// OutAsked returns the outputter that the command line or the configuration
// asks for, "" where they leave it open.
func (r *Report) OutAsked() string {
	return cmp.Or(r.Flags.Output.Out, r.Cfg.Opts.Str("output"))
}

// outputter returns the outputter asked for, else the one that the function wishes,
// else nested, which also stands for a wish that is unknown. highstate leaves
// what the function wishes, since only states can be printed so.
// Salt: salt/output/__init__.py get_printout.
func (r *Report) outputter(wish string) outputter.Func {
	name := r.OutAsked()
	if name == "" || name == "highstate" && !r.Runner {
		name = wish
	}
	if name == "" {
		name = "nested"
	}
	f, err := r.lookupOut(name)
	if err != nil {
		r.Warn(fun.Warning{Text: err.Error() + "; nested is used"})
		return outputter.Nested
	}
	return f
}

// CheckOutput finds faults in the output flags before anything runs, and has the times
// of hosts noted where a report shows them.
func (r *Report) CheckOutput() error {
	if name := r.OutAsked(); name != "" {
		if _, err := r.lookupOut(name); err != nil {
			return &app.StatusError{Status: app.ExitUsage, Err: err}
		}
	}
	var err error
	if r.ReportTo, err = reportFiles(&r.Flags.Output); err != nil {
		return err
	}
	if len(r.ReportTo) > 0 || r.IsReport() || r.OutAsked() == "ndjson" {
		times := newHostTimes(r.Watch, time.Now)
		r.Watch, r.Info.Took = times, times.of
	}
	if mode := strings.ToLower(r.Cfg.Opts.Str("state_output")); mode != "" && !outputter.IsStateOutput(mode) {
		if r.Flags.Output.StateOutput != "" && !slices.Contains(app.SaltPrograms[:], r.App.Program) {
			return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--state-output: %q is none of %s%s", mode, strings.Join(outputter.StateOutputs(), ", "), source.DidYouMean(mode, outputter.StateOutputs()))}
		}
		r.Warn(fun.Warning{Text: fmt.Sprintf("unknown state output %q%s; full is used", mode, source.DidYouMean(mode, outputter.StateOutputs()))})
	}
	if _, err = r.outputOptions(0); err == nil {
		r.stream()
	}
	return err
}

// Print prints the report.
func (r *Report) Print(data value.Value, wish string, retcode int) error {
	if wish == "quiet" && retcode == app.ExitOK && r.OutAsked() == "ndjson" { // the function has printed lines of its own
		return nil
	}
	if r.MaskAll {
		data = r.Mask(data)
	}
	f := r.outputter(wish)
	o, err := r.outputOptions(retcode)
	if err != nil {
		return err
	}
	w, done, err := r.reportWriter()
	if err != nil {
		return err
	}
	r.streamer.flush()
	r.App.Printed = true
	if err := f(w, data, o); err != nil {
		_ = done()
		return fmt.Errorf("print the report: %w", err)
	}
	if err := done(); err != nil {
		return err
	}
	terse := strings.HasPrefix(strings.ToLower(o.StateOutput), "terse")
	if out := r.OutAsked(); wish == "highstate" && (out == "profile" || terse && (out == "" || out == "highstate")) {
		r.sayWhy(data)
	}
	return nil
}

// Beside returns where a summary goes: behind a report for people, else to stderr, so that a
// document stays one.
func (r *Report) Beside() io.Writer {
	if r.OutAsked() == "" && r.Flags.Output.File == "" && !r.App.JSON {
		return r.App.Out
	}
	return r.App.Err
}

// reportWriter returns stdout or --out-file.
func (r *Report) reportWriter() (io.Writer, func() error, error) {
	f := r.Flags.Output
	path := f.File
	if path == "" {
		if r.App.Terminal {
			w := printable.NewWriter(r.App.Out)
			return w, w.Flush, nil
		}
		return r.App.Out, func() error { return nil }, nil
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if f.FileAppend {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	file, err := os.OpenFile(path, mode, 0o666)
	if err != nil {
		return nil, nil, fmt.Errorf("open the output file: %w", err)
	}
	return file, func() error {
		if err := file.Close(); err != nil {
			return fmt.Errorf("write the output file: %w", err)
		}
		return nil
	}, nil
}

// Failed prints what Salt reports of a runner that did not return, as its return,
// and hands the error on. Salt: salt/client/mixins.py SyncClientMixin.low.
func (r *Report) Failed(text string, err error) error {
	if perr := r.Print(text, "", app.ExitGeneric); perr != nil {
		return perr
	}
	return err
}

// How many names, or ranges of names, stand at most before the result of a group,
// and behind the count of those that failed.
const (
	GroupNames = 100
	TailNames  = 20
)
