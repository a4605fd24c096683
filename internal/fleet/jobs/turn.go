package jobs

import (
	"context"
	"fmt"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Runs are the state runs of a machine that take turns: each leaves a claim, a
// file of its own, for as long as it works or waits. The claim of a process
// that is gone is ignored and removed, so a run that was killed holds nobody up.
//
// Runs of one minion id exclude each other. Those of other ids that share the
// directory do not: they are machines of their own, as in Salt.
type Runs struct {
	p     *Proc
	agent bool
}

// RunsOf returns the state runs of the machine of env.
func RunsOf(env *fun.Env) *Runs {
	p := ProcOf(env)
	p.dir = filepath.Join(filepath.Dir(p.dir), "states")
	return &Runs{p: p, agent: env.ProcDir != ""}
}

// Keys of a claim beside those of a note.
const (
	keyAgent = "__agent" // the run is an agent's
	keyWorks = "__works" // the run works; without, it waits
)

// A TurnRequest is how a run comes among the others.
type TurnRequest struct {
	JID, Fun string
	Beside   bool // whatever else runs
	Queue    bool // wait for the others
	Max      int  // wait only if fewer than Max others wait; 0 means no limit
}

// A Turn is the place of a run among the others. A run within another one of the
// same job has that one's.
type Turn struct {
	r     *Runs // nil: within another run
	path  string
	claim *value.Map
}

// Enter gives a run its place. Where others work or wait and the run is not to
// wait for them or to go beside them, others has them (with Salt's keys fun, pid
// and jid) and the turn is nil. An error is a directory that cannot be written
// to.
func (r *Runs) Enter(e TurnRequest) (t *Turn, others []*value.Map, err error) {
	if !IsJID(e.JID) {
		return nil, nil, fmt.Errorf("invalid job id %q", e.JID)
	}
	if err := r.p.host.MkdirAll(r.p.dir, 0o700); err != nil {
		return nil, nil, err
	}
	unlock, err := r.lock()
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	path := filepath.Join(r.p.dir, noteName(e.JID, r.p.id))
	if n := r.p.load(filepath.Base(path)); n != nil && n.pid == r.p.host.Getpid() {
		return &Turn{}, nil, nil
	}
	if !e.Beside && (!e.Queue || e.Max > 0) {
		for _, n := range r.others(e.JID) {
			others = append(others, n.salt())
		}
		if len(others) > 0 && (!e.Queue || len(others) >= e.Max) {
			return nil, others, nil
		}
	}
	t = &Turn{r: r, path: path, claim: value.MapOf(
		"jid", e.JID, "fun", e.Fun, "pid", int64(r.p.host.Getpid()), keyID, r.p.id, keyAgent, r.agent, keyWorks, e.Beside || !e.Queue)}
	if _, err := r.p.begin(t.claim, t.path); err != nil {
		return nil, nil, err
	}
	return t, nil, nil
}

// lock guards the claims while they are looked at and one is added.
func (r *Runs) lock() (unlock func(), err error) {
	return r.p.host.Lock(filepath.Join(r.p.dir, "lock"))
}

// Before returns the run that this one has to wait for: one that works, else the
// first that came earlier. Where it is nil, it is this one's turn.
func (t *Turn) Before() (*value.Map, error) {
	if t.r == nil || t.claim.At(keyWorks) == true {
		return nil, nil
	}
	unlock, err := t.r.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	var first *note
	for _, n := range t.r.queued(t.claim.Str("jid")) {
		if n.data.At(keyWorks) == true {
			return n.salt(), nil
		}
		if first == nil && n.data.Str("jid") < t.claim.Str("jid") {
			first = n
		}
	}
	if first != nil {
		return first.salt(), nil
	}
	t.claim.Set(keyWorks, true)
	_, err = t.r.p.begin(t.claim, t.path)
	return nil, err
}

// End gives the place up.
func (t *Turn) End() {
	if t.r != nil {
		_ = t.r.p.host.Remove(t.path)
	}
}

// claims returns the claims of runs whose processes are there, but that of jid.
func (r *Runs) claims(jid string) []*note {
	names, err := r.p.host.ReadDir(r.p.dir)
	if err != nil {
		return nil
	}
	var out []*note
	for _, name := range names {
		// A name begins with the jid, so the claims come by age.
		if n := r.p.load(name); n != nil && n.alive && n.data.Str("jid") != jid {
			out = append(out, n)
		}
	}
	return out
}

// others returns the claims that exclude the run of a jid: those of its minion id.
func (r *Runs) others(jid string) []*note {
	var out []*note
	for _, n := range r.claims(jid) {
		if n.data.Str(keyID) == r.p.id {
			out = append(out, n)
		}
	}
	return out
}

// queued returns the claims that a run waits for: those of others and, on this
// machine itself, also those of other processes, whatever id they have.
func (r *Runs) queued(jid string) []*note {
	var out []*note
	for _, n := range r.claims(jid) {
		machine := !r.agent && n.data.At(keyAgent) != true && n.pid != r.p.host.Getpid()
		if n.data.Str(keyID) == r.p.id || machine {
			out = append(out, n)
		}
	}
	return out
}

// exempt is the key of the states that take no turn, in a context: "jid JID"
// or "id ID".
type exempt struct{ what string }

// WithoutTurn returns a context in which the states of a job take no turn: those
// of an orchestration, which are steps. The jobs of its steps take theirs.
func WithoutTurn(ctx context.Context, jid string) context.Context {
	return context.WithValue(ctx, exempt{"jid " + jid}, true)
}

// WithinTurn returns the context of a state run that has its turn on the machine
// of a minion id: what it runs there is part of it.
func WithinTurn(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, exempt{"id " + id}, true)
}

// TakesTurn reports whether the states of a job take turns with others.
func TakesTurn(ctx context.Context, jid, id string) bool {
	return jid != "" && ctx.Value(exempt{"jid " + jid}) == nil && ctx.Value(exempt{"id " + id}) == nil
}
