package cmd

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
func (s *session) outputOptions(retcode int) (*outputter.Options, error) {
	o := &outputter.Options{Opts: s.cfg.Opts, Retcode: retcode, StateOutput: s.cfg.Opts.Str("state_output")}
	if v, ok := s.cfg.Opts.Get("state_verbose"); ok {
		o.HideClean = !value.Truth(v)
	}
	if v, ok := s.cfg.Opts.Get("state_output_profile"); ok {
		o.HideProfile = !value.Truth(v)
	}
	o.Color = s.color()
	many := manyTargets
	if n, ok := value.AsInt(s.cfg.Opts.At("state_output_group")); ok && n >= 0 {
		many = int(n)
	}
	if s.runner {
		o.GroupAbove(many, func(ids []string) string { return summary.FoldSome(ids, groupNames) })
	}
	o.Shown = s.live.printed()
	indent := s.flags.Output.Indent
	if indent == "" {
		indent = value.Str(s.cfg.Opts.At("output_indent"))
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

// color reports whether the report has colours: as the flags ask, then NO_COLOR,
// then as the configuration asks, else where stdout is a terminal.
// Salt: salt/output/__init__.py get_printout.
func (s *session) color() bool {
	f := s.flags.Output
	opt := func(name string) bool { return value.Truth(s.cfg.Opts.At(name)) }
	switch {
	case f.ForceColor:
		return true
	case f.NoColor || s.app.Getenv("NO_COLOR") != "":
		return false
	case opt("force_color"):
		return true
	case opt("no_color"):
		return false
	}
	if v, ok := s.cfg.Opts.Get("color"); ok && v != nil {
		return value.Truth(v)
	}
	return s.app.Terminal && s.app.Getenv("TERM") != "dumb" && f.File == ""
}

// outAsked returns the outputter that the command line or the configuration
// asks for, "" where they leave it open.
func (s *session) outAsked() string {
	return cmp.Or(s.flags.Output.Out, s.cfg.Opts.Str("output"))
}

// out returns the outputter asked for, else the one that the function wishes,
// else nested, which also stands for a wish that is unknown. highstate leaves
// what the function wishes, since only states can be printed so.
// Salt: salt/output/__init__.py get_printout.
func (s *session) out(wish string) outputter.Func {
	name := s.outAsked()
	if name == "" || name == "highstate" && !s.runner {
		name = wish
	}
	if name == "" {
		name = "nested"
	}
	f, err := s.lookupOut(name)
	if err != nil {
		s.warn(fun.Warning{Text: err.Error() + "; nested is used"})
		return outputter.Nested
	}
	return f
}

// checkOutput finds faults in the output flags before anything runs.
func (s *session) checkOutput() error {
	if name := s.outAsked(); name != "" {
		if _, err := s.lookupOut(name); err != nil {
			return &app.StatusError{Status: app.ExitUsage, Err: err}
		}
	}
	var err error
	if s.reportTo, err = reportFiles(&s.flags.Output); err != nil {
		return err
	}
	if mode := strings.ToLower(s.cfg.Opts.Str("state_output")); mode != "" && !outputter.IsStateOutput(mode) {
		s.warn(fun.Warning{Text: fmt.Sprintf("unknown state output %q%s; full is used", mode, source.DidYouMean(mode, outputter.StateOutputs()))})
	}
	_, err = s.outputOptions(0)
	return err
}

// print prints the report.
func (s *session) print(data value.Value, wish string, retcode int) error {
	if s.maskAll {
		data = s.mask(data)
	}
	f := s.out(wish)
	o, err := s.outputOptions(retcode)
	if err != nil {
		return err
	}
	w, done, err := s.reportWriter()
	if err != nil {
		return err
	}
	s.app.Printed = true
	if err := f(w, data, o); err != nil {
		_ = done()
		return fmt.Errorf("print the report: %w", err)
	}
	if err := done(); err != nil {
		return err
	}
	if out := s.outAsked(); wish == "highstate" && (out == "" || out == "highstate") && strings.HasPrefix(strings.ToLower(o.StateOutput), "terse") {
		s.sayWhy(data)
	}
	return nil
}

// reportWriter returns stdout or --out-file.
func (s *session) reportWriter() (io.Writer, func() error, error) {
	f := s.flags.Output
	path := f.File
	if path == "" {
		if s.app.Terminal {
			w := printable.NewWriter(s.app.Out)
			return w, w.Flush, nil
		}
		return s.app.Out, func() error { return nil }, nil
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

// told prints what Salt reports of a runner that did not return, as its return,
// and hands the error on. Salt: salt/client/mixins.py SyncClientMixin.low.
func told(s *session, text string, err error) error {
	if perr := s.print(text, "", app.ExitGeneric); perr != nil {
		return perr
	}
	return err
}
