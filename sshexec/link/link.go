// Package link is the controller's end of a connection to an agent: it calls
// functions on the target, serves it files and its own pillar, and receives its
// returns and events.
//
// Start at [Connect]. The frames are those of sshexec/wire; the other end is
// sshexec/agent. What the agent sends is limited and parsed as data: it can
// neither make the controller hold more than the [Options] allow nor keep a
// call waiting beyond its context.
package link

import (
	"context"
	"io"
	"log/slog"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Options are what a connection serves and how much it bears. Tree is shared
// by all connections of a run.
type Options struct {
	// Tree is the snapshot of the files that targets may read, made by
	// [NewTree] once for all connections. nil: one is made of Files.
	Tree *Tree
	// Files are the roots behind salt://. nil: there are none.
	Files fun.Files
	// Pillar renders the pillar of one target with the grains that it reports.
	// It is called for the connection's own id only. nil: the pillar is empty.
	Pillar func(ctx context.Context, id string, grains value.Mapping, req fun.PillarRequest) (*value.Map, error)
	// PillarGrains names grains that Pillar most likely reads: targets send
	// them at once, others are asked for. It is called once. nil: none.
	PillarGrains func() []string
	// Bus gets the events that the target fires, their id set to the target's.
	// nil: they are dropped.
	Bus event.Bus
	// Forward gets the events that a function of the target sends (event.send,
	// event.fire_master) and that Bus gets. It must not wait. nil: none.
	Forward func(tag string, data *value.Map)
	// Push takes a file that the target sends (cp.push); path is as the target
	// names it and not to be trusted. nil: refused.
	Push func(ctx context.Context, id, path string, r io.Reader) error
	// Large sends a large file to the target by a way of its own, sealed, and
	// returns what the agent needs to open it. If it returns an error, the file
	// is sent like others. nil sends all files like others.
	Large func(ctx context.Context, f Large) (*value.Map, error)
	// Mine keeps what the target lets others read and shows it what they do, by
	// requests with the connection's own id. nil: refused.
	Mine fun.Mine
	// Publisher calls functions on other machines for the target. nil: refused.
	Publisher fun.Publisher
	// Warn and Fault get what the target warns of, and the places of faults in
	// its SLS files and templates, as lines for the user. nil: they are dropped.
	// at is the fault itself, nil where the target does not say it.
	Warn  func(id string, w fun.Warning)
	Fault func(id, text string, at *source.Error)
	// Secret gets the values that the target says to be secrets, before what may have
	// them: those of arguments that were written in the SLS, for example. nil: dropped.
	Secret func(id, value string)
	Log    *slog.Logger // nil: none

	MaxNoise  int64  // bytes before the agent's hello that are skipped; 0 is 64 KiB
	MaxFrame  int64  // bytes of a frame; 0 is 1 MiB
	MaxReturn int64  // bytes of a return; 0 is 64 MiB
	Spill     int64  // returns beyond this many bytes go to a file; 0 is 64 KiB
	SpillDir  string // where such files lie; "" is the system's place
	// Relink makes another way to an agent, named by the token of its hello, when
	// the one before broke while calls are under way. An error that is
	// wire.ErrUnknownChannel ends the tries. nil: a connection that breaks is lost.
	Relink func(ctx context.Context, token string) (io.ReadWriteCloser, error)
	// Reconnect is how long it is tried. An agent that nobody came back to works
	// on, and keeps the return. 0: a connection that breaks is lost, and with it
	// what runs.
	Reconnect time.Duration
	Heartbeat time.Duration // how often a silent peer is asked; three unanswered end it; 0 is 15 s
}

// Facts are what an agent says of itself.
type Facts struct {
	Proto    int
	Version  string // of brine
	OS, Arch string // as Go names them
	PID, UID int
	BootID   string // another one after a reboot
	Hostname string
}

// A Target is what a connection becomes: a minion with an id.
type Target struct {
	ID     string
	Opts   *value.Map // configuration for the target: see [TargetOpts]; the roster's minion_opts go over it
	Grains *value.Map // of the roster: over those that the target has
}

// A Running is a call that an agent works on.
type Running struct {
	JID, Fun string
	Args     fun.Args
	PID      int // of the agent
	Started  time.Time
}
