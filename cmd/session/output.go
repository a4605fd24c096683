package session

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"brine/cmd/app"
	"brine/cmd/internal/summary"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/outputter"
)

// maxIndent is the widest indentation of a level.
const maxIndent = 1000

// manyTargets is how many targets a step has at most whose results are printed one
// by one, where state_output_group does not say.
const manyTargets = 100

// outputOptions joins configuration and command line.
func (s *Session) outputOptions(retcode int) (*outputter.Options, error) {
	o := &outputter.Options{Opts: s.Cfg.Opts, Retcode: retcode, StateOutput: s.Cfg.Opts.Str("state_output")}
	if v, ok := s.Cfg.Opts.Get("state_verbose"); ok {
		o.HideClean = !value.Truth(v)
	}
	if v, ok := s.Cfg.Opts.Get("state_output_profile"); ok {
		o.HideProfile = !value.Truth(v)
	}
	o.Color = s.Color()
	many := manyTargets
	if n, ok := value.AsInt(s.Cfg.Opts.At("state_output_group")); ok && n >= 0 {
		many = int(n)
	}
	if s.Runner {
		o.GroupAbove(many, func(ids []string) string { return summary.FoldSome(ids, GroupNames) })
	}
	o.Shown = s.live.printed()
	indent := s.Flags.Output.Indent
	if indent == "" {
		indent = value.Str(s.Cfg.Opts.At("output_indent"))
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
func (s *Session) Color() bool {
	f := s.Flags.Output
	opt := func(name string) bool { return value.Truth(s.Cfg.Opts.At(name)) }
	switch {
	case f.ForceColor:
		return true
	case f.NoColor || s.App.Getenv("NO_COLOR") != "":
		return false
	case opt("force_color"):
		return true
	case opt("no_color"):
		return false
	}
	if v, ok := s.Cfg.Opts.Get("color"); ok && v != nil {
		return value.Truth(v)
	}
	return s.App.Terminal && s.App.Getenv("TERM") != "dumb" && f.File == ""
}

// OutAsked returns the outputter that the command line or the configuration
// asks for, "" where they leave it open.
func (s *Session) OutAsked() string {
	return cmp.Or(s.Flags.Output.Out, s.Cfg.Opts.Str("output"))
}

// outputter returns the outputter asked for, else the one that the function wishes,
// else nested, which also stands for a wish that is unknown. highstate leaves
// what the function wishes, since only states can be printed so.
// Salt: salt/output/__init__.py get_printout.
func (s *Session) outputter(wish string) outputter.Func {
	name := s.OutAsked()
	if name == "" || name == "highstate" && !s.Runner {
		name = wish
	}
	if name == "" {
		name = "nested"
	}
	f, err := s.lookupOut(name)
	if err != nil {
		s.Warn(fun.Warning{Text: err.Error() + "; nested is used"})
		return outputter.Nested
	}
	return f
}

// CheckOutput finds faults in the output flags before anything runs.
func (s *Session) CheckOutput() error {
	if name := s.OutAsked(); name != "" {
		if _, err := s.lookupOut(name); err != nil {
			return &app.StatusError{Status: app.ExitUsage, Err: err}
		}
	}
	var err error
	if s.ReportTo, err = reportFiles(&s.Flags.Output); err != nil {
		return err
	}
	if mode := strings.ToLower(s.Cfg.Opts.Str("state_output")); mode != "" && !outputter.IsStateOutput(mode) {
		s.Warn(fun.Warning{Text: fmt.Sprintf("unknown state output %q%s; full is used", mode, source.DidYouMean(mode, outputter.StateOutputs()))})
	}
	_, err = s.outputOptions(0)
	return err
}

// Print prints the report.
func (s *Session) Print(data value.Value, wish string, retcode int) error {
	if s.maskAll {
		data = s.Mask(data)
	}
	f := s.outputter(wish)
	o, err := s.outputOptions(retcode)
	if err != nil {
		return err
	}
	w, done, err := s.reportWriter()
	if err != nil {
		return err
	}
	s.App.Printed = true
	if err := f(w, data, o); err != nil {
		_ = done()
		return fmt.Errorf("print the report: %w", err)
	}
	if err := done(); err != nil {
		return err
	}
	if out := s.OutAsked(); wish == "highstate" && (out == "" || out == "highstate") && strings.HasPrefix(strings.ToLower(o.StateOutput), "terse") {
		s.sayWhy(data)
	}
	return nil
}

// reportWriter returns stdout or --out-file.
func (s *Session) reportWriter() (io.Writer, func() error, error) {
	f := s.Flags.Output
	path := f.File
	if path == "" {
		if s.App.Terminal {
			w := printable.NewWriter(s.App.Out)
			return w, w.Flush, nil
		}
		return s.App.Out, func() error { return nil }, nil
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

// Told prints what Salt reports of a runner that did not return, as its return,
// and hands the error on. Salt: salt/client/mixins.py SyncClientMixin.low.
func Told(s *Session, text string, err error) error {
	if perr := s.Print(text, "", app.ExitGeneric); perr != nil {
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
