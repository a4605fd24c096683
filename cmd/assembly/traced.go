package assembly

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/core/redact"
)

// A tracedHost is a Host that logs each program that it runs, with its status and
// time.
type tracedHost struct {
	host.Host
	log     *slog.Logger
	secrets *redact.Set
}

// traced returns h, which logs what it runs where the log is for debugging.
func traced(ctx context.Context, h host.Host, log *slog.Logger, secrets *redact.Set) host.Host {
	if log == nil || !log.Enabled(ctx, slog.LevelDebug) {
		return h
	}
	return tracedHost{h, log, secrets}
}

// Run runs a program.
func (t tracedHost) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	began := time.Now()
	out, err := t.Host.Run(ctx, c)
	attrs := []any{"argv", t.secrets.Source(strings.Join(c.Argv, " ")), "status", out.Status, "time", time.Since(began)}
	if c.Dir != "" {
		attrs = append(attrs, "dir", c.Dir)
	}
	if c.User != nil {
		attrs = append(attrs, "user", c.User.Name)
	}
	if err != nil {
		attrs = append(attrs, "err", err)
	} else if text := strings.TrimSpace(string(out.Stderr)); text != "" && out.Status != 0 {
		attrs = append(attrs, "stderr", t.secrets.Text(text))
	}
	t.log.Debug("command", attrs...)
	return out, err
}

// Still reports whether the machine is one without hands.
func (t tracedHost) Still() bool { return host.IsStill(t.Host) }

// Fork returns the same machine with an environment of its own.
func (t tracedHost) Fork() host.Host { return tracedHost{t.Host.Fork(), t.log, t.secrets} }

// Force returns the same machine, whose system directories may be removed.
func (t tracedHost) Force() host.Host { return tracedHost{t.Host.Force(), t.log, t.secrets} }
