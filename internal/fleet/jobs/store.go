package jobs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Recorder writes down what jobs do, while they do it. It is safe for
// concurrent use.
type Recorder interface {
	// Begin records that a job begins. Where it fails, the Record records
	// nothing, and the error says why; the job may run all the same.
	Begin(l Load) (Record, error)
}

// A Record is one job under way. It is safe for concurrent use.
type Record interface {
	// Return records a target's answer; it is durable when Return is back.
	Return(r fun.Return) error
	// Note records a part of an orchestration's history.
	Note(kind string, data *value.Map) error
	// End records that the job came to its end.
	End() error
	// Leave closes the record of a job that goes on without this process.
	Leave() error
}

// A Job is a record read back.
type Job struct {
	JID  string
	Load *value.Map
	// Returns are the answers of targets in the order they came, by id, each
	// with return and, where they are known, retcode, success and out.
	Returns *value.Map
	// Missing are the targets that gave no answer, and why.
	Missing map[string]string
	// Partial are, by id, the states that are known of targets among Missing
	// whose state run was lost: see fun.Return.States.
	Partial *value.Map
	// Definition and Steps are the history of an orchestration; nil for others.
	Definition *value.Map
	Steps      []*value.Map
	// Passed are, by the tag of a step that goes in waves, the targets on which it
	// succeeded.
	Passed map[string][]string
	// Unread are the targets whose returns the store has not whole, and why.
	Unread  map[string]string
	State   State
	EndTime string // in the format of JIDTime; "" if it has not ended
	// Running are the targets that work on a detached job, with the pid there, and
	// Silent those that could not be asked, and why, as far as they were asked.
	Running map[string]int
	Silent  map[string]string

	// Damage is what is wrong with the record, and Repaired what was, before
	// jobs.check made up for it; "" is nothing. Of a damaged load, Load has what can
	// be read.
	Damage, Repaired string

	// Killed is the signal that ended the process of the job, and KilledAt the
	// time, in the format of JIDTime; 0 and "" if none is known.
	Killed   int
	KilledAt string

	// Where is the controller that works or worked on the job, where a store that
	// several share tells, and Silence how long ago it was heard of.
	Where   string
	Silence time.Duration

	// lostTargets are the targets that were lost and may have kept their return, with the jid
	// that their Salt master has it under; "" is the job's own.
	lostTargets map[string]string
	worker      int     // pid of the process of this machine that works on it
	trim        *Trim   // of returns, while the record is read; nil: they are read whole
	faults      []fault // of the record, in order
	explained   int     // how many of them jobs.check made up for
}

// A State is how far a job came.
type State int

// The states of a job.
const (
	Complete    State = iota
	Active            // a process works on it
	Interrupted       // its process is gone and it did not come to its end
	Detached          // it goes on without a process of this machine
)

// String names the state as job listings show it.
func (s State) String() string {
	return [...]string{"complete", "running", "interrupted", "detached"}[s]
}

// An Entry is a job in a listing.
type Entry struct {
	JID   string
	Load  *value.Map
	State State // as far as the store tells
}

// A Store is job records that can be read back.
type Store interface {
	// Job returns a job; nil where there is no such job.
	Job(ctx context.Context, jid string) (*Job, error)
	// Jobs returns the jobs whose jid is at least from and at most to ("" is
	// no bound), in order of jid.
	Jobs(ctx context.Context, from, to string) ([]Entry, error)
}

// A Sharer is a Store that knows what several controllers work on.
type Sharer interface {
	// Unended returns jobs that have not come to their end, in order: those that are
	// Active, and the orchestrations that are Interrupted because their controller died
	// and that nobody went on with.
	Unended(ctx context.Context) ([]*Job, error)
}

// A Walker is a Store that goes through its jobs without holding them all.
type Walker interface {
	// Walk calls each for the jobs whose jid is at least from and at most to (""
	// is no bound), from the newest back, until it returns false.
	Walk(ctx context.Context, from, to string, each func(*Row) bool) error
}

// Nothing is the Record of a job that is not recorded.
type Nothing struct{}

// Return records nothing.
func (Nothing) Return(fun.Return) error { return nil }

// Note records nothing.
func (Nothing) Note(string, *value.Map) error { return nil }

// End records nothing.
func (Nothing) End() error { return nil }

// Leave records nothing.
func (Nothing) Leave() error { return nil }

// Failed returns the targets of a job that did not succeed: those whose return
// code is not 0, and those that gave no return.
func (j *Job) Failed() []string {
	var out []string
	l := j.Load.List("Minions")
	for i := range l.Len() {
		id := value.Str(l.Items[i])
		r := j.Returns.Map(id)
		if r == nil {
			out = append(out, id)
			continue
		}
		if !Succeeded(r) {
			out = append(out, id)
		}
	}
	return out
}

// NewJob returns a job of which a load is known; nil is an empty one.
func NewJob(jid string, load *value.Map) *Job {
	if load == nil {
		load = value.NewMap(0)
	}
	return &Job{JID: jid, Load: load, Returns: value.NewMap(8), Missing: map[string]string{}, Partial: value.NewMap(0), Unread: map[string]string{}}
}

// Got adds an answer as a store has it; see [FullReturn]. An answer outranks that
// there is none.
func (j *Job) Got(id string, full *value.Map) {
	if stage := full.Str(stageKey); stage != "" {
		if !j.Returns.Has(id) {
			j.Missing[id] = full.Str("reason")
			if states := full.Map("return"); states != nil {
				j.Partial.Set(id, states)
			}
		}
		return
	}
	delete(j.Missing, id)
	j.Partial.Delete(id)
	j.Returns.Set(id, full)
}

// Cut notes that the store has an answer not whole, and why. What else is known
// of it may be added by Got.
func (j *Job) Cut(id, why string) {
	j.Unread[id] = why
	if !j.Returns.Has(id) {
		j.Returns.Set(id, value.NewMap(0))
	}
}

// Pass adds the data of a note of the kind "passed" to Passed.
func (j *Job) Pass(data *value.Map) {
	if j.Passed == nil {
		j.Passed = map[string][]string{}
	}
	tag, ids := data.Str("tag"), data.List("ids")
	for i := range ids.Len() {
		j.Passed[tag] = append(j.Passed[tag], value.Str(ids.Items[i]))
	}
}

// Detached reports whether the job goes on without the process that began it.
func (j *Job) Detached() bool { return j.Load.At("detached") == true }

// Status names how far the job came, as its State does, or says that it was
// killed.
func (j *Job) Status() string {
	if j.State == Interrupted && j.Killed != 0 {
		return "killed"
	}
	return j.State.String()
}

// PID returns the process of this machine that works on the job, as far as it is
// known.
func (j *Job) PID() int {
	if j.worker != 0 {
		return j.worker
	}
	n, _ := value.AsInt(j.Load.At("pid"))
	return int(n)
}

// Outstanding returns the targets of which nothing was recorded, in order. Those
// of a detached job whose return is damaged are among them: they still have it.
func (j *Job) Outstanding() []string {
	var out []string
	l := j.Load.List("Minions")
	for i := range l.Len() {
		id := value.Str(l.Items[i])
		if _, missing := j.Missing[id]; missing {
			continue
		}
		if r := j.Returns.Map(id); r == nil || j.Detached() && r.Has("damaged") {
			out = append(out, id)
		}
	}
	return out
}

// Took adds an answer that was recorded after the job was read.
func (j *Job) Took(r fun.Return) error {
	line, err := returnLine(r, "")
	if err != nil {
		return err
	}
	j.add(line)
	return nil
}

// Owed returns the targets that may have kept a return which is not recorded, in
// order: those that a detached job, or one whose process is gone, still has, and
// those whose connection was lost while they worked.
func (j *Job) Owed() []string {
	owed := slices.Collect(maps.Keys(j.lostTargets))
	if j.Detached() && j.State != Complete || j.State == Interrupted {
		owed = append(owed, j.Outstanding()...)
	}
	slices.Sort(owed)
	return slices.Compact(owed)
}

func (j *Job) setLost(id string, away bool, jid string) {
	if !away {
		delete(j.lostTargets, id)
		return
	}
	if j.lostTargets == nil {
		j.lostTargets = map[string]string{}
	}
	j.lostTargets[id] = jid
}

// KeptAs returns the jid under which a target, or its Salt master, keeps the return.
func (j *Job) KeptAs(id string) string { return cmp.Or(j.lostTargets[id], j.JID) }
