package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/core/version"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/graph"
	"brine/internal/view/lint"
	"brine/internal/view/sarif"
	"brine/outputter"
	"brine/outputter/report"
)

// A reportFile is a file of --report or --metrics.
type reportFile struct {
	path   string
	format report.Format
	mode   os.FileMode // of a new file
}

// The modes of new files: reports quote output, metrics are read by node_exporter
// as another user.
const (
	reportMode  = 0o600
	metricsMode = 0o644
)

// reportFiles reads the flags that name files for reports. It finds faults
// before anything runs: an unknown suffix, a directory that does not exist.
func reportFiles(f *app.OutFlags) ([]reportFile, error) {
	var files []reportFile
	mode, err := modeOfReports(f)
	if err != nil {
		return nil, err
	}
	add := func(path string, format report.Format, mode os.FileMode) error {
		if dir := filepath.Dir(path); !isDir(dir) {
			return fmt.Errorf("%s: there is no directory %s", path, dir)
		}
		files = append(files, reportFile{path, format, mode})
		return nil
	}
	for _, list := range f.Reports {
		for path := range strings.SplitSeq(list, ",") {
			if path == "" {
				continue
			}
			format, err := report.ForFile(path)
			if err == nil {
				err = add(path, format, mode)
			}
			if err != nil {
				return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--report: %w", err)}
			}
		}
	}
	if f.Metrics != "" {
		format, _ := report.Lookup("prometheus")
		if err := add(f.Metrics, format, metricsMode); err != nil {
			return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--metrics: %w", err)}
		}
	}
	return files, nil
}

// modeOfReports reads --report-mode.
func modeOfReports(f *app.OutFlags) (os.FileMode, error) {
	if f.ReportMode == "" {
		return reportMode, nil
	}
	n, err := strconv.ParseUint(f.ReportMode, 8, 32)
	if err != nil || n > 0o777 {
		return 0, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--report-mode: %q is not a mode, such as 0644", f.ReportMode)}
	}
	return os.FileMode(n), nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// lookupOut returns the outputter of a name: one of the reports, or Salt's.
func (s *Session) lookupOut(name string) (outputter.Func, error) {
	if f, ok := report.Lookup(name); ok {
		return func(w io.Writer, data value.Value, o *outputter.Options) error {
			return f.Write(w, s.Mask(s.named(data)), s.reportInfo(o.Retcode))
		}, nil
	}
	switch {
	case name == profileJSON:
		return s.writeProfileJSON, nil
	case name == "profile" && s.Rec != nil && s.profiles():
		return s.profile, nil
	}
	f, err := outputter.Lookup(name)
	if err != nil {
		err = outputter.Unknown(name, OutNames())
	}
	return f, err
}

// OutNames are the names of all outputters.
func OutNames() []string {
	names := append(append(outputter.Names(), report.Names()...), profileJSON)
	slices.Sort(names)
	return names
}

// IsReport reports whether the report asked for is one document over all hosts.
func (s *Session) IsReport() bool {
	_, ok := report.Lookup(s.OutAsked())
	return ok && s.OutAsked() != "ndjson" || s.profiles()
}

// Reports says that a function is run whose results reports are about.
func (s *Session) Reports(jid, name, tgt string, args fun.Args, kind fun.Kind) {
	spec := s.Table.Spec(kind, name)
	shown := redact.Args(spec.ArgNames(), args.Pos, args.Kw, spec.SecretArgs()...)
	s.Info.JID, s.Info.Fun, s.Info.Tgt = jid, name, tgt
	s.Info.Args = shownArgs(s.Mask(shown))
	if t, ok := jobs.Time(jid); ok {
		s.Info.Start = t
	}
}

// shownArgs are arguments as a command line has them.
func shownArgs(v value.Value) []string {
	l, ok := v.(*value.List)
	if !ok {
		return nil
	}
	var out []string
	for _, x := range l.Items {
		m, ok := x.(*value.Map)
		if !ok || !value.Truth(m.At("__kwarg__")) {
			out = append(out, value.Str(x))
			continue
		}
		for k, v := range m.All() {
			if k != "__kwarg__" {
				out = append(out, value.Str(k)+"="+value.Str(v))
			}
		}
	}
	return out
}

// reportInfo is what reports say of the run, which ends now.
func (s *Session) reportInfo(retcode int) report.Info {
	info := s.Info
	info.Retcode, info.Version = retcode, version.Number()
	info.Ended = s.live == nil || !s.live.open
	if info.StepFailed == nil {
		info.StepFailed = s.steps.bad
	}
	if info.End.IsZero() && !info.Start.IsZero() {
		info.End = s.App.Host.Now()
	}
	return info
}

// WriteReports writes the files of --report and --metrics, and then sends the
// traces, which may take a while. What reports have of secrets is what records
// have.
func (s *Session) WriteReports(data value.Value, retcode int) error {
	if s.reported {
		return nil
	}
	s.reported = true
	defer s.sendTrace(data, retcode)
	if len(s.ReportTo) == 0 {
		return nil
	}
	run := report.Build(s.Mask(data), s.reportInfo(retcode))
	var faults []error
	for _, f := range s.ReportTo {
		var b bytes.Buffer
		if err := f.format.Fn(&b, run); err != nil {
			faults = append(faults, fmt.Errorf("report %s: %w", f.path, err))
			continue
		}
		if err := replaceFile(f.path, b.Bytes(), s.modeOf(f)); err != nil {
			faults = append(faults, fmt.Errorf("write the report: %w", err))
		}
	}
	return errors.Join(faults...)
}

// wantsGraph reports whether a report of the run draws its requisites.
func (s *Session) wantsGraph() bool {
	return s.OutAsked() == "html" || slices.ContainsFunc(s.ReportTo, func(f reportFile) bool { return f.format.Name == "html" })
}

// A graphed run has its requisites in the report: those of the first run of
// states, which is the outermost one.
type graphed struct {
	s    *Session
	done bool
}

// RunBegins makes the graph.
func (g *graphed) RunBegins(_ string, chunks []*fun.Chunk) {
	if g.done {
		return
	}
	g.done = true
	low := value.NewList()
	for _, c := range chunks {
		low.Append(c.Low)
	}
	made := graph.Of(low)
	for i := range made.Nodes {
		n := &made.Nodes[i]
		n.ID, n.Name = g.s.Secrets.AnyText(n.ID), g.s.Secrets.AnyText(n.Name)
	}
	g.s.Info.Graph = made
}

// StateBegins is of no interest to the graph.
func (g *graphed) StateBegins(*fun.Chunk) {}

// StateEnds is of no interest to the graph: the results say it.
func (g *graphed) StateEnds(*fun.Chunk, *value.Map) {}

// RunEnds is of no interest to the graph.
func (g *graphed) RunEnds() {}

// maxFaults is how many faults reports have of a run.
const maxFaults = 10_000

// keepFault keeps a fault for the reports of the run.
func (s *Session) keepFault(err error) {
	if len(s.Info.Faults) >= maxFaults {
		return
	}
	host, faults := s.Cfg.Opts.Str("id"), source.Errors(nil)
	if f, ok := errors.AsType[*assembly.FaultError](err); ok {
		if host = f.ID; f.At != nil {
			faults = source.Errors{f.At}
		}
	} else if e, ok := errors.AsType[*source.Error](err); ok {
		faults = source.Errors{e}
	} else {
		faults, _ = errors.AsType[source.Errors](err)
	}
	for _, f := range faults {
		rule := lint.RuleOf(f)
		at := &source.Error{Pos: s.inTree(f.Pos), Hint: s.Secrets.Text(f.Hint), Salt: s.Secrets.Text(f.SaltText()), Err: errors.New(s.Secrets.Text(f.Err.Error()))}
		for _, via := range f.Via {
			at.Via = append(at.Via, s.inTree(via))
		}
		s.Info.Faults = append(s.Info.Faults, report.Fault{
			Host: host, Rule: sarif.Rule{ID: rule.ID, Doc: rule.Doc, Why: rule.Why, Level: sarif.Error}, Error: at,
		})
	}
}

// inTree names the file of a place as it is found from the working directory:
// SLS files are named by their paths within the tree.
func (s *Session) inTree(pos source.Pos) source.Pos {
	if pos.File == "" || filepath.IsAbs(pos.File) {
		pos.File = s.App.NameOf(pos.File)
		return pos
	}
	for _, name := range [...]string{"file_roots", "pillar_roots"} {
		roots, _ := s.Cfg.Opts.At(name).(*value.Map)
		for _, v := range roots.All() {
			dirs, _ := v.(*value.List)
			for i := range dirs.Len() {
				path := filepath.Join(value.Str(dirs.Items[i]), filepath.FromSlash(pos.File))
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					pos.File = s.App.NameOf(path)
					return pos
				}
			}
		}
	}
	return pos
}

// ReportFault writes reports of a command that failed before it had results: a
// CI job that looks for them finds the reason.
func (s *Session) ReportFault(err *error) {
	if *err == nil || len(s.ReportTo) == 0 && s.Exporter == nil || s.reported {
		return
	}
	s.mu.Lock()
	s.keepFault(*err)
	s.mu.Unlock()
	s.Info.Failed = map[string]string{cmp.Or(s.Cfg.Opts.Str("id"), "brine"): (*err).Error()}
	if werr := s.WriteReports(value.NewMap(0), app.ExitGeneric); werr != nil {
		s.Fault(werr)
	}
}

// modeOf returns the mode of a report: a file of the user's own that is there keeps
// its mode.
func (s *Session) modeOf(f reportFile) os.FileMode {
	st, err := s.App.Host.Lstat(f.path)
	if err == nil && st.Mode.IsRegular() && st.UID == s.App.Host.Geteuid() {
		return st.Mode.Perm()
	}
	return f.mode
}

// replaceFile writes a file whole or not at all. What is no regular file, such as
// a pipe, is written to. mode is that of the file.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o666)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), mode)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// ReportWish is what jobs.report wishes as outputter: its return is a record and
// what the job returned.
const ReportWish = "report"

// Recorded makes a recorded job what reports are about, and returns its data.
func (s *Session) Recorded(v value.Value) value.Value {
	m, ok := v.(*value.Map)
	if !ok {
		return v
	}
	at := func(key string) string {
		if x := m.At(key); x != nil {
			return value.Str(x)
		}
		return ""
	}
	s.Info = report.Info{JID: at("jid"), Fun: at("fun"), Tgt: at("tgt"), Args: shownArgs(m.At("arg")), Failed: map[string]string{}}
	s.Info.Start, _ = jobs.Time(s.Info.JID)
	s.Info.End, _ = jobs.ParseTime(at("end"))
	if missing, ok := m.At("missing").(*value.Map); ok {
		for id, why := range missing.All() {
			s.Info.Failed[value.Str(id)] = value.Str(why)
		}
	}
	if steps, ok := m.At("steps").(*value.Map); ok {
		s.Info.StepFailed = func(jid, id string) bool { return slices.Contains(items(steps.List(jid)), value.Value(id)) }
	}
	return m.At("data")
}

func items(l *value.List) []value.Value {
	if l == nil {
		return nil
	}
	return l.Items
}

// named puts the id of this machine in place of "local", under which brine call
// prints returns.
func (s *Session) named(data value.Value) value.Value {
	m, ok := data.(*value.Map)
	if id := s.Cfg.Opts.Str("id"); ok && id != "" && m.Len() == 1 && m.Has("local") {
		return value.MapOf(id, m.At("local"))
	}
	return data
}
