package host

import (
	"context"
	"maps"
	"os"
	"path"
	"sync"
)

// A Netns is a network of its own in which programs run: nothing is connected to it, and the
// rules for packets that they set hold there alone. The first program makes it, with the
// rights that this needs; it ends with the process, or once nobody uses it. It is safe for
// concurrent use.
type Netns struct {
	mu sync.Mutex
	ns *os.File
}

// A Simulation answers for a program: what it changes, it changes elsewhere than on the
// machine h.
type Simulation func(ctx context.Context, h Host, c Cmd) (Output, error)

// simulated are the programs of an overlay that run elsewhere. Forks of it share them.
type simulated struct {
	mu       sync.Mutex
	programs map[string]Simulation
	begun    map[string]error
}

// Simulate calls begin once for each name, with the machine below, and has what it returns
// answer from then on for programs, by the last element of their paths. It returns the error
// of begin, again each time: what was done before is lost then.
func (o *Overlay) Simulate(name string, begin func(h Host) (map[string]Simulation, error)) error {
	o.sims.mu.Lock()
	defer o.sims.mu.Unlock()
	if err, ok := o.sims.begun[name]; ok {
		return err
	}
	more, err := begin(o.Host)
	o.sims.begun[name] = err
	maps.Copy(o.sims.programs, more)
	return err
}

// simulation returns what answers for a program; nil: the machine does.
func (o *Overlay) simulation(c Cmd) Simulation {
	if len(c.Argv) == 0 {
		return nil
	}
	o.sims.mu.Lock()
	defer o.sims.mu.Unlock()
	return o.sims.programs[path.Base(c.Argv[0])]
}

// simulate runs a program elsewhere than on the machine.
func (o *Overlay) simulate(ctx context.Context, run Simulation, c Cmd) (Output, error) {
	if !c.ReadOnly {
		o.mu.Lock()
		o.changes++
		o.mu.Unlock()
		c.ReadOnly = true // for the machine
	}
	return run(ctx, o.Host, c)
}

// Simulates reports whether something else than the machine answers for a program where h is
// an overlay, or looks at one.
func Simulates(h Host, program string) bool {
	switch x := h.(type) {
	case *Overlay:
		return x.simulation(Cmd{Argv: []string{program}}) != nil
	case looking:
		return Simulates(x.Overlay, program)
	case forced:
		return Simulates(x.Host, program)
	}
	return false
}
