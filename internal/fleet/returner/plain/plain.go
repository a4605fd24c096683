// Package plain is the returners that need no server: local, local_cache,
// rawfile_json and syslog.
package plain

import (
	"context"
	"fmt"
	"log/syslog"
	"os"
	"path/filepath"
	"strings"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Specs returns the returners, alphabetically.
func Specs() []returner.Spec {
	return []returner.Spec{
		{Name: "local", Doc: "Print returns on stdout.", Src: "returners/local.py", New: newLocal, ForThisRun: true},
		{Name: "local_cache", Doc: "Keep returns in the job cache of this machine.", Src: "returners/local_cache.py", New: newCache, Reads: true, ForThisRun: true},
		{
			Name: "rawfile_json", Doc: "Append returns and events to a file, a line of JSON each.", Src: "returners/rawfile_json.py", New: newRawfile,
			Keys: []returner.Key{{Name: "filename", Default: "/var/log/salt/events", Doc: "the file", Where: true}},
		},
		{
			Name: "syslog", Doc: "Send returns to the system log.", Src: "returners/syslog_return.py", New: newSyslog, Prepare: prepareSyslog,
			Keys: returner.Keys(`
			level = LOG_INFO -- LOG_EMERG to LOG_DEBUG
			facility = LOG_USER -- LOG_USER, LOG_DAEMON, LOG_LOCAL0, ...
			tag = salt-minion -- name in front of each line
			options -- accepted: LOG_PID and others depend on the system
		`),
		},
	}
}

// nothing is the part of a returner that ends nothing.
type nothing struct{}

func (nothing) Close() error { return nil }

type local struct {
	print func(string)
	text  []string
}

func newLocal(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	if s.Env.OnPrint == nil {
		return nil, fmt.Errorf("there is no stdout to print on")
	}
	return &local{print: s.Env.OnPrint}, nil
}

// Return keeps each return, as Python prints a dict, until the run has printed
// its report.
func (l *local) Return(_ context.Context, rets []*value.Map) error {
	for _, r := range rets {
		l.text = append(l.text, value.Repr(r))
	}
	return nil
}

// Close prints what was kept.
func (l *local) Close() error {
	for _, s := range l.text {
		l.print(s)
	}
	return nil
}

// cache reads the job cache; what is recorded is recorded by the run itself.
type cache struct {
	nothing
	*jobs.Files
}

func newCache(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	return &cache{Files: jobs.NewFiles(s.Env.CacheDir, 0, s.Env.Host.Now)}, nil
}

// Return has nothing to do: the run records its jobs in the cache itself.
func (c *cache) Return(context.Context, []*value.Map) error { return nil }

// Close closes nothing.
func (c *cache) Close() error { return c.nothing.Close() }

type rawfile struct{ f *os.File }

func newRawfile(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	path := s.Str("filename")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, err
	}
	return &rawfile{f}, nil
}

// Return appends a line a return.
func (r *rawfile) Return(_ context.Context, rets []*value.Map) error {
	return r.write(returner.ReturnLines(rets))
}

// SaveEvents appends a line an event.
func (r *rawfile) SaveEvents(_ context.Context, events []jobs.EventRow) error {
	return r.write(returner.EventLines(events))
}

// write adds whole lines: a write that fails half-way is taken back, since all
// of it comes again.
func (r *rawfile) write(b []byte) error {
	st, err := r.f.Stat()
	if err != nil {
		return err
	}
	n, err := r.f.Write(b)
	if err != nil && n > 0 {
		_ = r.f.Truncate(st.Size())
	}
	return err
}

func (r *rawfile) Close() error { return r.f.Close() }

type sysLog struct{ w *syslog.Writer }

var levels = [...]string{"EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG"}

// facilities are numbered as syslog numbers them; 12 to 15 have no name.
var facilities = [...]string{"KERN", "USER", "MAIL", "DAEMON", "AUTH", "SYSLOG", "LPR", "NEWS", "UUCP", "CRON", "AUTHPRIV", "FTP", "", "", "", "", "LOCAL0", "LOCAL1", "LOCAL2", "LOCAL3", "LOCAL4", "LOCAL5", "LOCAL6", "LOCAL7"}

// number finds a LOG_ name.
func number(names []string, key, s string) (int, error) {
	name := strings.TrimPrefix(strings.ToUpper(s), "LOG_")
	for i, n := range names {
		if n == name && n != "" {
			return i, nil
		}
	}
	var all []string
	for _, n := range names {
		if n != "" {
			all = append(all, "LOG_"+n)
		}
	}
	return 0, fmt.Errorf("syslog.%s: there is no %q%s", key, s, source.DidYouMean(s, all))
}

// prepareSyslog checks the names.
func prepareSyslog(s returner.Settings) (returner.Settings, error) {
	if _, err := number(levels[:], "level", s.Str("level")); err != nil {
		return s, err
	}
	_, err := number(facilities[:], "facility", s.Str("facility"))
	return s, err
}

func newSyslog(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	level, err := number(levels[:], "level", s.Str("level"))
	if err != nil {
		return nil, err
	}
	facility, err := number(facilities[:], "facility", s.Str("facility"))
	if err != nil {
		return nil, err
	}
	w, err := syslog.New(syslog.Priority(facility<<3|level), s.Str("tag"))
	if err != nil {
		return nil, err
	}
	return &sysLog{w}, nil
}

// Return logs a line a return.
func (l *sysLog) Return(_ context.Context, rets []*value.Map) error {
	for _, r := range rets {
		if _, err := l.w.Write(value.StrictJSON(r)); err != nil {
			return err
		}
	}
	return nil
}

func (l *sysLog) Close() error { return l.w.Close() }
