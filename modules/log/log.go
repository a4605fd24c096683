// Package log is Salt's execution module "log": a template's way to the log.
package log

import (
	"context"
	"log/slog"

	"brine/internal/fun"
	"brine/internal/value"
)

// critical is above slog's own levels, as Python's is.
const critical = slog.LevelError + 4

// Module returns the rows of the execution module "log".
func Module() fun.Module {
	row := func(name, level string, l slog.Level) fun.Spec {
		return fun.Spec{
			Name: name, Doc: "Log a message as " + level + ". Returns true.", Src: "modules/logmod.py " + name,
			Args: []fun.Arg{{Name: "message", Type: fun.Any, Required: true, Doc: "what to log; data is printed as Python prints it"}},
			Fn:   write(l),
		}
	}
	return fun.Module{
		Name: "log", Kind: fun.Exec, Doc: "Messages of templates to the log.",
		Specs: []fun.Spec{
			row("critical", "critical", critical),
			row("debug", "debug", slog.LevelDebug),
			row("error", "an error", slog.LevelError),
			row("exception", "an error", slog.LevelError),
			row("info", "information", slog.LevelInfo),
			row("warning", "a warning", slog.LevelWarn),
		},
	}
}

// write returns the function that logs at a level.
func write(l slog.Level) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		if c.Env.Log != nil && c.Env.Log.Enabled(ctx, l) {
			c.Env.Log.Log(ctx, l, "message of a template", "text", value.Str(c.Value("message")))
		}
		return fun.Value(true)
	}
}
