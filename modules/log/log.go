// Package log is Salt's execution module "log": a template's way to the log.
package log

import (
	"context"
	"log/slog"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// levelCritical is above slog's own levels, as Python's is.
const levelCritical = slog.LevelError + 4

// Module returns the execution module "log".
func Module() fun.Module {
	return fun.Module{Name: "log", Kind: fun.Exec, Doc: "Log messages from templates.", Specs: specs}
}

// write logs the message at a level.
func write(ctx context.Context, c *fun.Call, a *messageArg, l slog.Level) (fun.Result, error) {
	if c.Env.Log().Enabled(ctx, l) {
		c.Env.Log().Log(ctx, l, "message of a template", "text", value.Str(a.Message))
	}
	return fun.Value(true)
}

func debug(ctx context.Context, c *fun.Call, a *messageArg) (fun.Result, error) {
	return write(ctx, c, a, slog.LevelDebug)
}

func info(ctx context.Context, c *fun.Call, a *messageArg) (fun.Result, error) {
	return write(ctx, c, a, slog.LevelInfo)
}

func warning(ctx context.Context, c *fun.Call, a *messageArg) (fun.Result, error) {
	return write(ctx, c, a, slog.LevelWarn)
}

func logError(ctx context.Context, c *fun.Call, a *messageArg) (fun.Result, error) {
	return write(ctx, c, a, slog.LevelError)
}

func critical(ctx context.Context, c *fun.Call, a *messageArg) (fun.Result, error) {
	return write(ctx, c, a, levelCritical)
}
