package cmd

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"brine/internal/redact"
	"brine/internal/source"
	"brine/internal/value"
)

// openLog makes the logger: stderr from log_level on (default warning), and the
// file, where one is named, from log_level_logfile on (default log_level). It
// returns the level of stderr, and what closes the file; nil where there is none.
func openLog(stderr io.Writer, opts *value.Map, file string, secrets *redact.Set) (log *slog.Logger, console slog.Level, done func(), err error) {
	console, err = logLevel(opts.Str("log_level"))
	if err != nil {
		return nil, 0, nil, &statusError{status: exitUsage, err: err}
	}
	handlers := []slog.Handler{textHandler(masker{stderr, secrets}, console)}
	if file != "" {
		level := console
		if v := opts.At("log_level_logfile"); value.Truth(v) {
			if level, err = logLevel(value.Str(v)); err != nil {
				return nil, 0, nil, &statusError{status: exitUsage, err: fmt.Errorf("log file: %w", err)}
			}
		}
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, 0, nil, fmt.Errorf("open the log file: %w", err)
		}
		done = func() { f.Close() }
		handlers = append(handlers, textHandler(masker{f, secrets}, level))
	}
	return slog.New(slog.NewMultiHandler(handlers...)), console, done, nil
}

// masker writes lines without secrets.
type masker struct {
	w       io.Writer
	secrets *redact.Set
}

// Write writes a line.
func (m masker) Write(p []byte) (int, error) {
	if _, err := io.WriteString(m.w, m.secrets.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func textHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
}

// levelQuiet is above every level.
const levelQuiet = slog.LevelError + 100

// logLevels returns the names of the levels.
func logLevels() []string {
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
	return 0, fmt.Errorf("unknown log level %q%s; there are %s", name, source.DidYouMean(name, logLevels()), strings.Join(logLevels(), ", "))
}
