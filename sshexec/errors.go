// Package sshexec reaches machines over SSH: it dials them, places an agent on
// them and hands them to the fleet.
//
// Start at [Provider], which is what the fleet sees. A [Dialer] opens
// connections as ssh_config, known_hosts and the roster say; place.go puts the
// agent where it can run; sshexec/link speaks to it.
package sshexec

import (
	"errors"
	"fmt"

	"brine/internal/core/printable"
)

// A Stage is how far a connection came before it failed.
type Stage string

// The stages, in their order.
const (
	Resolve   Stage = "resolve"
	Connect   Stage = "connect"
	Handshake Stage = "handshake"
	HostKey   Stage = "host key"
	Auth      Stage = "authentication"
	Shell     Stage = "shell"
	Push      Stage = "push"
	Agent     Stage = "agent"
)

// An Error says why a target cannot be worked on: which, where, how far it
// came, and what to do.
type Error struct {
	ID    string // the roster id, or the name of a jump host
	Addr  string // host:port as dialled
	Stage Stage
	Err   error
	Hint  string
}

// Error returns one line with everything in it.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s (%s): %s: %v", e.ID, e.Addr, e.Stage, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return printable.Line(s)
}

// Reason returns the line without the target and its address, which are what
// targets that fail alike differ in.
func (e *Error) Reason() string {
	if of, ok := errors.AsType[alikeError](e.Err); ok {
		return printable.Line(fmt.Sprintf("%s: %s", e.Stage, of.Alike()))
	}
	s := fmt.Sprintf("%s: %v", e.Stage, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return printable.Line(s)
}

// An alikeError names the host; Alike says the same, and what to do, for all hosts that fail
// so.
type alikeError interface {
	error
	Alike() string
}

func (e *Error) Unwrap() error { return e.Err }

// NotPlaced reports whether the agent could not be placed on the target.
func (e *Error) NotPlaced() bool { return e.Stage == Push }
