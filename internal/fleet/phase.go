package fleet

import (
	"context"

	"brine/internal/core/fun"
)

// A Phase is what is being done at a target.
type Phase int

// Phases, in their order. A target that was done before may pass over some.
const (
	Waiting        Phase = iota // for its turn
	Connecting                  // a connection
	Authenticating              // the handshake of SSH
	Queued                      // others are sent the agent first
	Pushing                     // the agent is being placed
	Starting                    // the agent is being started
	Running                     // the function
)

// String names the phase as a progress line shows it.
func (p Phase) String() string {
	return [...]string{"waiting", "connecting", "authenticating", "waiting for the agent", "pushing", "starting the agent", "running"}[p]
}

// A Watcher is notified of the progress of jobs while they run. Its methods
// must be quick and safe for concurrent use.
type Watcher interface {
	// Begin is called with a job and all its targets.
	Begin(job fun.Job, targets []string)
	// Wave tells that a wave of a job begins that goes in several: which of how many,
	// and its targets.
	Wave(jid string, number, of, targets int)
	// At tells that a target has come to a phase.
	At(jid, id string, p Phase)
	// Sent tells how much of the agent has arrived at a target that is pushed to,
	// of how many bytes.
	Sent(jid, id string, done, total int64)
	// Done tells a target's return.
	Done(ret fun.Return)
	// End tells that the job is over.
	End(jid string)
}

// phaseKey is how a provider finds whom to tell in a context, sentKey whom to
// tell how much was sent.
type (
	phaseKey struct{}
	sentKey  struct{}
)

// Enter tells whoever watches the job that ctx belongs to that its target has
// come to a phase. Providers call it.
func Enter(ctx context.Context, p Phase) {
	if tell, ok := ctx.Value(phaseKey{}).(func(Phase)); ok {
		tell(p)
	}
}

// Phases returns a context whose phases are passed to tell.
func Phases(ctx context.Context, tell func(Phase)) context.Context {
	return context.WithValue(ctx, phaseKey{}, tell)
}

// Sent tells whoever watches the job that ctx belongs to how much of the agent
// has arrived at its target. Providers call it.
func Sent(ctx context.Context, done, total int64) {
	if tell, ok := ctx.Value(sentKey{}).(func(done, total int64)); ok {
		tell(done, total)
	}
}

// Sending returns a context for which tell is called with how much was sent.
func Sending(ctx context.Context, tell func(done, total int64)) context.Context {
	return context.WithValue(ctx, sentKey{}, tell)
}

// nobody watches nothing.
type nobody struct{}

func (nobody) Begin(fun.Job, []string)           {}
func (nobody) Wave(string, int, int, int)        {}
func (nobody) At(string, string, Phase)          {}
func (nobody) Sent(string, string, int64, int64) {}
func (nobody) Done(fun.Return)                   {}
func (nobody) End(string)                        {}

// beginning is a Watcher that also calls onBegin when a job begins.
type beginning struct {
	Watcher
	onBegin func(job fun.Job, targets []string)
}

// Begin calls onBegin and the Watcher.
func (b *beginning) Begin(job fun.Job, targets []string) {
	b.onBegin(job, targets)
	b.Watcher.Begin(job, targets)
}

// OnBegin returns a Watcher that does what w does, nil nothing, and calls tell
// when a job begins.
func OnBegin(w Watcher, tell func(job fun.Job, targets []string)) Watcher {
	if w == nil {
		w = nobody{}
	}
	return &beginning{w, tell}
}

func (f *Fleet) watcher() Watcher {
	if f.Watch == nil {
		return nobody{}
	}
	return f.Watch
}
