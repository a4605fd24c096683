package target

import (
	"fmt"

	"brine/internal/py/source"
)

// A ConnectionsMode says what is done with the connections that are kept; "" is nothing.
type ConnectionsMode string

// The modes.
const (
	ListConnections  ConnectionsMode = "list"
	CloseConnections ConnectionsMode = "close"
)

// String returns the mode.
func (m *ConnectionsMode) String() string { return string(*m) }

// Set takes a mode by its name.
func (m *ConnectionsMode) Set(s string) error {
	names := []string{string(ListConnections), string(CloseConnections)}
	for _, n := range names {
		if s == n {
			*m = ConnectionsMode(n)
			return nil
		}
	}
	return fmt.Errorf("%q is none of list, close%s", s, source.DidYouMean(s, names))
}

// Type names the kind of value in help.
func (m *ConnectionsMode) Type() string { return "mode" }
