package link

import (
	"context"
	"errors"
	"time"

	"brine/internal/core/printable"

	"brine/internal/py/value"
)

// A Shutdown is one that a target was asked for and that is not over yet.
type Shutdown struct {
	Mode string    // reboot, poweroff, halt, kexec; "" is not known
	At   time.Time // when it begins; the zero time where it has begun or that is not known
	By   string    // the source on the target that reports it
}

// PendingShutdown asks whether the target is about to go down.
func (c *Conn) PendingShutdown(ctx context.Context) (Shutdown, bool, error) {
	v, err := c.m.Call(ctx, "going", nil, maxSmall)
	if err != nil {
		return Shutdown{}, false, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return Shutdown{}, false, errors.New("the agent's answer about shutdowns is invalid")
	}
	s := Shutdown{Mode: word(m.Str("mode")), By: word(m.Str("by"))}
	if n, ok := m.At("at").(int64); ok && n != 0 {
		s.At = time.UnixMicro(n)
	}
	return s, m.Len() > 0, nil
}

// word returns text of a target that is to be short and of one line.
func word(s string) string {
	if s = printable.Line(cut(s)); len(s) > 64 {
		s = s[:64]
	}
	return s
}
