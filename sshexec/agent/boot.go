package agent

import (
	"context"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// going answers whether the machine is about to go down.
func (s *server) going(ctx context.Context, st *wire.Stream) error {
	m := value.NewMap(0)
	if s.o.Going != nil {
		m = s.o.Going(ctx)
	}
	return st.Answer(m)
}
