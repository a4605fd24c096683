package cmd

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"brine/internal/source"
	"brine/internal/value"
)

// openLog makes the logger: stderr from log_level on (default warning), and the
// file of --log-file from log_level_logfile on (default log_level).
func (s *session) openLog() error {
	console, err := logLevel(s.cfg.Opts.Str("log_level"))
	if err != nil {
		return &statusError{status: exitUsage, err: err}
	}
	s.level = console
	handlers := []slog.Handler{textHandler(s.app.Err, console)}
	if s.flags.logFile != "" {
		level := console
		if v := s.cfg.Opts.At("log_level_logfile"); value.Truth(v) {
			if level, err = logLevel(value.Str(v)); err != nil {
				return &statusError{status: exitUsage, err: fmt.Errorf("log file: %w", err)}
			}
		}
		f, err := os.OpenFile(s.flags.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open the log file: %w", err)
		}
		s.close = append(s.close, func() { f.Close() })
		handlers = append(handlers, textHandler(f, level))
	}
	s.log = slog.New(slog.NewMultiHandler(handlers...))
	return nil
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
