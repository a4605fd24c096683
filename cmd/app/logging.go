package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/internal/core/config"
	"brine/internal/core/redact"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// OpenLog makes the logger: stderr from log_level on (default warning), and the
// file, where one is named, from log_level_logfile on (default log_level). It
// returns the level of stderr, and what closes the file; nil where there is none.
func OpenLog(stderr io.Writer, opts *value.Map, file string, secrets *redact.Set) (log *slog.Logger, console slog.Level, done func(), err error) {
	console, err = logLevel(opts.Str("log_level"))
	if err != nil {
		return nil, 0, nil, &StatusError{
			Status: ExitUsage, Err: err, Hint: "-l is --log-level, as in Salt's programs; the target, or --limit where a command has it, says where a function runs",
		}
	}
	handlers := []slog.Handler{textHandler(Masker{stderr, secrets}, console)}
	if file != "" {
		level := console
		if v := opts.At("log_level_logfile"); value.Truth(v) {
			if level, err = logLevel(value.Str(v)); err != nil {
				return nil, 0, nil, &StatusError{Status: ExitUsage, Err: fmt.Errorf("log file: %w", err)}
			}
		}
		f, err := openLogFile(file)
		if err != nil {
			return nil, 0, nil, err
		}
		done = func() { f.Close() }
		handlers = append(handlers, textHandler(Masker{f, secrets}, level))
	}
	return slog.New(slog.NewMultiHandler(handlers...)), console, done, nil
}

// A noLogError says that a log file cannot be written.
type noLogError struct{ err error }

func (e *noLogError) Error() string { return "open the log file: " + e.err.Error() }
func (e *noLogError) Unwrap() error { return e.err }

// IsNoLog reports whether err says that a log file cannot be written.
func IsNoLog(err error) bool {
	_, ok := errors.AsType[*noLogError](err)
	return ok
}

// openLogFile opens a log file, whose directory it makes. Salt's sockets of syslog
// are not files.
func openLogFile(file string) (*os.File, error) {
	if scheme, _, ok := strings.Cut(file, "://"); ok {
		return nil, &noLogError{fmt.Errorf("%s: log_file names a file, not %s://", file, scheme)}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, &noLogError{err}
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, &noLogError{err}
	}
	return f, nil
}

// ConfiguredLog returns the log file that a configuration names, "" where none
// does: Salt's defaults count as no file.
func ConfiguredLog(cfg *config.Config, section string) string {
	keys := []string{"log_file"}
	if section == "salt-ssh" {
		keys = []string{"ssh_log_file", "log_file"}
	}
	for _, k := range keys {
		if cfg.Given(k) && value.Truth(cfg.Opts.At(k)) {
			return cfg.Opts.Str(k)
		}
	}
	return ""
}

// Masker writes lines without secrets.
type Masker struct {
	W       io.Writer
	Secrets *redact.Set
}

// Write writes a line.
func (m Masker) Write(p []byte) (int, error) {
	if _, err := io.WriteString(m.W, m.Secrets.Line(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func textHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
}

// levelQuiet is above every level.
const levelQuiet = slog.LevelError + 100

// LogLevels returns the names of the levels.
func LogLevels() []string {
	return []string{"quiet", "critical", "error", "warning", "info", "debug", "trace", "all"}
}

// logLevel returns the level of one of Salt's names.
func logLevel(name string) (slog.Level, error) {
	switch strings.ToLower(name) {
	case "", "warning":
		return slog.LevelWarn, nil
	case "quiet":
		return levelQuiet, nil
	case "critical", "error", "fatal":
		return slog.LevelError, nil
	case "info", "profile":
		return slog.LevelInfo, nil
	case "debug", "trace", "all", "garbage":
		return slog.LevelDebug, nil
	}
	return 0, fmt.Errorf("unknown log level %q%s; there are %s", name, source.DidYouMean(name, LogLevels()), strings.Join(LogLevels(), ", "))
}
