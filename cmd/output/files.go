package output

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
	"brine/cmd/internal/trace"
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
				return nil, &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--report: %w", err), Hint: homeHint(path)}
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

// homeHint is the hint for a path with a ~ that is left: a shell replaces it only where a
// word begins.
func homeHint(path string) string {
	if !strings.HasPrefix(path, "~") {
		return ""
	}
	return "the shell replaces ~ only at the beginning of a word: write --report FILE once for each file, or $HOME for ~"
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
func (r *Report) lookupOut(name string) (outputter.Func, error) {
	if f, ok := report.Lookup(name); ok {
		return func(w io.Writer, data value.Value, o *outputter.Options) error {
			return f.Write(w, r.Mask(r.named(data)), r.reportInfo(o.Retcode))
		}, nil
	}
	switch {
	case name == profileJSON:
		return r.writeProfileJSON, nil
	case name == "profile" && r.Rec != nil && r.profiles():
		return r.profile, nil
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
func (r *Report) IsReport() bool {
	_, ok := report.Lookup(r.OutAsked())
	return ok && r.OutAsked() != "ndjson" || r.profiles()
}

// Reports says that a function is run whose results reports are about.
func (r *Report) Reports(jid, name, tgt string, args fun.Args, kind fun.Kind) {
	spec := r.Table.Spec(kind, name)
	shown := redact.Args(spec.ArgNames(), args.Pos, args.Kw, spec.SecretArgs()...)
	r.Info.JID, r.Info.Fun, r.Info.Tgt = jid, name, tgt
	r.Info.Args = shownArgs(r.Mask(shown))
	if t, ok := jobs.Time(jid); ok {
		r.Info.Start = t
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
func (r *Report) reportInfo(retcode int) report.Info {
	info := r.Info
	info.Retcode, info.Version = retcode, version.Number()
	info.Ended = r.live == nil || !r.live.open
	if info.StepFailed == nil {
		info.StepFailed = r.StepFailed
	}
	if info.End.IsZero() && !info.Start.IsZero() {
		info.End = r.App.Host.Now()
	}
	return info
}

// WriteReports writes the files of --report and --metrics, and then sends the
// traces, which may take a while. What reports have of secrets is what records
// have.
func (r *Report) WriteReports(data value.Value, retcode int) error {
	if r.written {
		return nil
	}
	r.written = true
	defer r.sendTrace(data, retcode)
	if r.Flags.Output.Timing && r.Rec != nil && !r.profiles() {
		if err := trace.Text(r.App.Err, r.traced(data, retcode)); err != nil {
			return err
		}
	}
	if len(r.ReportTo) == 0 {
		return nil
	}
	run := report.Build(r.Mask(data), r.reportInfo(retcode))
	var faults []error
	for _, f := range r.ReportTo {
		var b bytes.Buffer
		if err := f.format.Fn(&b, run); err != nil {
			faults = append(faults, fmt.Errorf("report %s: %w", f.path, err))
			continue
		}
		if err := replaceFile(f.path, b.Bytes(), r.modeOf(f)); err != nil {
			faults = append(faults, fmt.Errorf("write the report: %w", err))
		}
	}
	return errors.Join(faults...)
}

// wantsGraph reports whether a report of the run draws its requisites.
func (r *Report) wantsGraph() bool {
	return r.OutAsked() == "html" || slices.ContainsFunc(r.ReportTo, func(f reportFile) bool { return f.format.Name == "html" })
}

// A graphed run has its requisites in the report: those of the first run of
// states, which is the outermost one.
type graphed struct {
	s    *Report
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
func (r *Report) keepFault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.Info.Faults) >= maxFaults {
		return
	}
	host, faults := r.Cfg.Opts.Str("id"), source.Errors(nil)
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
		at := &source.Error{Pos: r.inTree(f.Pos), Hint: r.Secrets.Text(f.Hint), Salt: r.Secrets.Text(f.SaltText()), Err: errors.New(r.Secrets.Text(f.Err.Error()))}
		for _, via := range f.Via {
			at.Via = append(at.Via, r.inTree(via))
		}
		r.Info.Faults = append(r.Info.Faults, report.Fault{
			Host: host, Rule: sarif.Rule{ID: rule.ID, Doc: rule.Doc, Why: rule.Why, Level: sarif.Error}, Error: at,
		})
	}
}

// inTree names the file of a place as it is found from the working directory:
// SLS files are named by their paths within the tree.
func (r *Report) inTree(pos source.Pos) source.Pos {
	if pos.File == "" || filepath.IsAbs(pos.File) {
		pos.File = r.App.NameOf(pos.File)
		return pos
	}
	for _, name := range [...]string{"file_roots", "pillar_roots"} {
		roots, _ := r.Cfg.Opts.At(name).(*value.Map)
		for _, v := range roots.All() {
			dirs, _ := v.(*value.List)
			for i := range dirs.Len() {
				path := filepath.Join(value.Str(dirs.Items[i]), filepath.FromSlash(pos.File))
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					pos.File = r.App.NameOf(path)
					return pos
				}
			}
		}
	}
	return pos
}

// ReportFault writes reports of a command that failed before it had results: a
// CI job that looks for them finds the reason.
func (r *Report) ReportFault(err *error) {
	if *err == nil || len(r.ReportTo) == 0 && r.Exporter == nil || r.written {
		return
	}
	r.keepFault(*err)
	r.Info.Failed = map[string]string{cmp.Or(r.Cfg.Opts.Str("id"), "brine"): (*err).Error()}
	if werr := r.WriteReports(value.NewMap(0), app.ExitGeneric); werr != nil {
		r.Fault(werr)
	}
}

// modeOf returns the mode of a report: a file of the user's own that exists keeps
// its mode.
func (r *Report) modeOf(f reportFile) os.FileMode {
	st, err := r.App.Host.Lstat(f.path)
	if err == nil && st.Mode.IsRegular() && st.UID == r.App.Host.Geteuid() {
		return st.Mode.Perm()
	}
	return f.mode
}

// replaceFile writes a file whole or not at all. A file that is not regular, such as
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

// ReportOut is what jobs.report asks for as outputter: its return is a record and
// what the job returned.
const ReportOut = "report"

// Recorded makes a recorded job what reports are about, and returns its data.
func (r *Report) Recorded(v value.Value) value.Value {
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
	r.Info = report.Info{JID: at("jid"), Fun: at("fun"), Tgt: at("tgt"), Args: shownArgs(m.At("arg")), Failed: map[string]string{}}
	r.Info.Start, _ = jobs.Time(r.Info.JID)
	r.Info.End, _ = jobs.ParseTime(at("end"))
	if missing, ok := m.At("missing").(*value.Map); ok {
		for id, why := range missing.All() {
			r.Info.Failed[value.Str(id)] = value.Str(why)
		}
	}
	if steps, ok := m.At("steps").(*value.Map); ok {
		r.Info.StepFailed = func(jid, id string) bool { return slices.Contains(steps.List(jid).Elems(), value.Value(id)) }
	}
	return m.At("data")
}

// named puts the id of this machine in place of "local", under which brine call
// prints returns.
func (r *Report) named(data value.Value) value.Value {
	m, ok := data.(*value.Map)
	if id := r.Cfg.Opts.Str("id"); ok && id != "" && m.Len() == 1 && m.Has("local") {
		return value.MapOf(id, m.At("local"))
	}
	return data
}
