package agent

import (
	"context"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// pendingShutdown answers whether the machine is about to go down.
func (s *server) pendingShutdown(ctx context.Context, st *wire.Stream) error {
	m := value.NewMap(0)
	if s.o.PendingShutdown != nil {
		m = s.o.PendingShutdown(ctx)
	}
	return st.Answer(m)
}
