//go:build slim

package salt

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// An agent is the only target of its orchestrations, so waves are nothing to it.

func waves(context.Context, *fun.Call, stepGiven, *fun.Job, *judging) error { return nil }

func (*returns) noteWaves(*value.Map) string { return "" }

func haltOf(error) *fun.NotBegunError { return nil }

func (*returns) warnHalt(*fun.Call) {}
