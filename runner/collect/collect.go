// Package collect fetches the events that wait in the spools of machines, where beacons
// put them: 'brine beacon spool' hands them over, over SSH. Start at [Visit.Run].
package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/beacon"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// A Visit fetches the events of machines.
type Visit struct {
	Fleet   fun.Fleet
	Tgt     value.Value
	TgtType string
	// Take takes an event. After an error the machine keeps its batch, so that the events
	// come again in the next visit.
	Take func(context.Context, beacon.Event) error
}

// A Machine is what a visit found at a machine.
type Machine struct {
	ID     string
	Events int // that were taken
	Left   int // that wait for another visit
	Err    error
}

const (
	// maxRounds bounds how many batches of a machine a visit takes: what a full spool has.
	maxRounds = 25
	// maxNames bounds the machines that one command is for, which has the names of their
	// batches.
	maxNames = 1000
	// command hands over a batch.
	command = "brine beacon spool"
)

// Run visits the machines, and returns what was found at each, sorted. It takes batch after
// batch until the spools are empty; each is removed when all of it was taken. The error is
// one of the target.
func (v *Visit) Run(ctx context.Context) ([]*Machine, error) {
	r := &round{Visit: v, found: map[string]*Machine{}}
	if err := r.ask(ctx, v.Tgt, v.TgtType, nil); err != nil {
		return nil, err
	}
	for n := 1; n < maxRounds && len(r.batches) > 0 && ctx.Err() == nil; n++ {
		batches := r.batches
		r.batches = nil
		for part := range slices.Chunk(sortedKeys(batches), maxNames) {
			var names []string
			for _, id := range part {
				names = append(names, batches[id])
			}
			if err := r.ask(ctx, value.Strings(part...), "list", names); err != nil {
				return nil, err
			}
		}
	}
	out := make([]*Machine, 0, len(r.found))
	for _, id := range sortedKeys(r.found) {
		out = append(out, r.found[id])
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A round is one question to machines.
type round struct {
	*Visit
	found   map[string]*Machine
	batches map[string]string // those that were taken, by machine
}

// ask has machines remove the batches done, and takes the next ones.
func (r *round) ask(ctx context.Context, tgt value.Value, tgtType string, done []string) error {
	line := command
	if len(done) > 0 {
		line += " --done " + strings.Join(done, ",")
	}
	job := fun.Job{Tgt: tgt, TgtType: tgtType, Shell: line, Args: fun.Args{Kw: value.NewMap(0)}, Unrecorded: true}
	_, err := r.Fleet.Run(ctx, job, func(ret fun.Return) error {
		m := r.found[ret.ID]
		if m == nil {
			m = &Machine{ID: ret.ID}
			r.found[ret.ID] = m
		}
		batch, err := r.take(ctx, m, ret)
		if m.Err == nil { // each round may have the same
			m.Err = err
		}
		if batch != "" {
			if r.batches == nil {
				r.batches = map[string]string{}
			}
			r.batches[ret.ID] = batch
		}
		return nil
	})
	return err
}

// take takes what a machine handed over, and returns the name of the batch.
func (r *round) take(ctx context.Context, m *Machine, ret fun.Return) (batch string, err error) {
	text, err := handedOver(ret)
	if err != nil {
		return "", err
	}
	b, refused, err := beacon.Decode(text, ret.ID)
	if err != nil {
		return "", fmt.Errorf("what it handed over is not taken: %w", err)
	}
	for _, e := range b.Events {
		if err := r.Take(ctx, e); err != nil {
			return "", err
		}
		m.Events++
	}
	m.Left = b.Left
	if refused.N > 0 {
		err = fmt.Errorf("%d of its events are refused: %s", refused.N, refused.Why)
	}
	if len(b.Events)+refused.N == 0 {
		return "", nil
	}
	return b.Name, err
}

// handedOver returns what a machine printed.
func handedOver(ret fun.Return) (string, error) {
	if ret.Stage != fun.Returned {
		return "", fmt.Errorf("%s: %w", ret.Stage, ret.Err)
	}
	v, err := ret.Value()
	if err != nil {
		return "", err
	}
	m, _ := v.(*value.Map)
	code, ok := value.AsInt(m.At("retcode"))
	said := printable.Line(strings.TrimSpace(m.Str("stderr")))
	const noCommand = 127
	switch {
	case m == nil || !ok:
		return "", fmt.Errorf("it returned %.200s", printable.Line(value.Str(v)))
	case code == noCommand:
		return "", fmt.Errorf("brine is not in the PATH of its account: %.200s", said)
	case code != 0:
		return "", fmt.Errorf("'%s' failed there (%d): %.500s", command, code, said)
	}
	return m.Str("stdout"), nil
}

// Send sends an event of a machine to whoever listens to this controller.
func Send(env *fun.Env, e beacon.Event) {
	if env.Bus != nil {
		env.Bus.Fire(e.Tag, e.Data)
	}
	if env.Peers != nil {
		env.Peers.Send(e.Tag, e.Data)
	}
}
