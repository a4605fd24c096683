package fun

import "context"

// A Starter is a Fleet that can tell when its machines start: what a minion
// says by the event salt/minion/ID/start when it comes up.
type Starter interface {
	// Watched returns those of ids whose start can be told. With Fresh that is
	// every machine that is reached over a connection; without, those that a
	// step of this run asked to go down, or found to have booted again.
	Watched(ctx context.Context, w StartWait) []string
	// Starts waits until each machine, which Watched returned, has started since
	// the step before this one began, and hands over each as it has, one call at
	// a time. It returns why the others have not when ctx ends.
	//
	// A machine has started when a new connection finds another boot than the
	// one that was known when the step before began. Where it is not about to
	// go down, a new connection and agent count as the start: see Start.
	Starts(ctx context.Context, w StartWait, each func(Start)) []Late
}

// A StartWait is a wait for the starts of machines.
type StartWait struct {
	IDs []string
	// Fresh takes a new connection for the start of a machine that is not about
	// to go down.
	Fresh bool
	Step  string // ID of the step that waits
}

// A Start is a machine that has started.
type Start struct {
	ID string
	// Rebooted says that the machine was booted again. Otherwise no reboot was
	// pending, and it was connected to again.
	Rebooted bool
}

// A Late is a machine that has not started.
type Late struct{ ID, Why string }

// A Rebooter is a Fleet that knows which boots its machines run in. What it knows
// can be handed to the Fleet of a run that goes on where another ended.
type Rebooter interface {
	// Boots returns what is known at the end of a step, by id.
	Boots() map[string]Boot
	// Remember takes what another run knew of machines that this one has not met.
	Remember(boots map[string]Boot)
}

// A Boot is what is known of the boots of a machine.
type Boot struct {
	ID     string // of the newest connection
	Before string // the one that was known when the last step began, where it is another
	Asked  string // the function that asked this boot to end; "" is none
}
