package cmd

import (
	"context"
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
	handlers := logHandlers{textHandler(s.app.Err, console)}
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
	s.log = slog.New(handlers)
	return nil
}

func textHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
}

// logHandlers hands each record to those of the handlers that want it.
type logHandlers []slog.Handler

func (h logHandlers) Enabled(ctx context.Context, level slog.Level) bool {
	for _, x := range h {
		if x.Enabled(ctx, level) {
			return true
		}
	}
	return false
}

func (h logHandlers) Handle(ctx context.Context, r slog.Record) error {
	var first error
	for _, x := range h {
		if !x.Enabled(ctx, r.Level) {
			continue
		}
		if err := x.Handle(ctx, r.Clone()); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (h logHandlers) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(x slog.Handler) slog.Handler { return x.WithAttrs(attrs) })
}

func (h logHandlers) WithGroup(name string) slog.Handler {
	return h.with(func(x slog.Handler) slog.Handler { return x.WithGroup(name) })
}

func (h logHandlers) with(f func(slog.Handler) slog.Handler) slog.Handler {
	out := make(logHandlers, len(h))
	for i, x := range h {
		out[i] = f(x)
	}
	return out
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
