// Package history keeps what orchestrations, chains and templates did: their
// definitions, each stored once, apart from their executions. A [Recorder]
// writes while a run goes on, a [Store] is read from: a SQLite file of this
// machine, or the database of a job cache.
package history

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"brine/internal/py/value"
)

// The kinds of definitions.
const (
	Orchestration = "orchestration"
	Chain         = "chain"
	Template      = "template"
)

// The states of an execution.
const (
	Running     = "running"     // a process works on it
	Succeeded   = "succeeded"   // it came to its end
	Failed      = "failed"      // a step failed
	Interrupted = "interrupted" // it was stopped, or its process is gone
	Killed      = "killed"      // a signal ended its process
	Refused     = "refused"     // a person did not approve it
	Waiting     = "waiting"     // it waits for the approval of a person
	Unfinished  = "unfinished"  // it has no end, and another controller ran it
)

// Statuses returns the states of executions.
func Statuses() []string {
	return []string{Failed, Interrupted, Killed, Refused, Running, Succeeded, Unfinished, Waiting}
}

// The results of steps and of their targets.
const (
	OK      = "ok"
	Bad     = "failed"
	Would   = "test"    // in test mode: it would change something
	Missing = "missing" // the target gave no return
	Pending = "pending" // the step has not ended, or never ran
)

// A Definition is what is executed, without the targets and values that people
// choose for an execution: the OrchestrationState of the RFC. Equal definitions
// have one hash.
type Definition struct {
	Hash        string
	Kind, Name  string
	Description string
	// Source is the hash of the file that people write, where a definition is made
	// of one: a chain.
	Source  string
	Created time.Time // when it was first executed
	Steps   []Step
}

// A Step is one step of a definition.
type Step struct {
	Order    int    // from 1
	ID       string // of the SLS
	Label    string // what it does, in words; "" where nobody says
	Fun      string // such as salt.state
	Target   string // target expression; "" where an execution chooses it
	ActionID string
	Args     *value.Map // all other arguments, without secrets
}

// An Execution is one run of a definition.
type Execution struct {
	JID        string
	Definition string // hash
	Kind, Name string
	User       string
	Controller string // its id
	Cache      string // its cache directory
	PID        int
	Program    string // version of the brine that ran it; "" before version 2 of the tables
	Started    time.Time
	Ended      time.Time // zero: it has no end
	Status     string
	Signal     int // that ended it, where the status is Killed
	Test       bool
	Resumes    string // jid of the execution that it continues
	Parent     string // jid of the orchestration that it is a step of
	Limit      string // the part of its targets that it was for, of --limit; "": all, or not known, before version 3
	Revision   string // commit of the tree
	Pillar     string // digest of the pillar
	// Steps, Done and FailedSteps count steps: of the definition, those that ended,
	// and those that failed. Hosts is how many targets returned or should have.
	Steps, Done, FailedSteps, Hosts int
}

// Duration is how long an execution took; 0 where it has no end, or one before its
// begin by the clock.
func (e *Execution) Duration() time.Duration {
	if e.Ended.IsZero() {
		return 0
	}
	return max(0, e.Ended.Sub(e.Started))
}

// An ExecutionStep is a step of an execution.
type ExecutionStep struct {
	JID      string // of the execution
	Order    int
	ID       string
	Label    string
	Fun      string
	ActionID string
	StepJID  string // of its job; "" where it has none
	Result   string
	Started  time.Time
	Duration time.Duration
	Comment  string
	Target   string // as it was executed
	Pillar   string // digest of what it was given; "" where it was given none
	Hosts    []HostResult
}

// A HostResult is what one target made of a step.
type HostResult struct {
	JID     string // of the execution
	StepJID string
	Order   int // of the step; 0: the step has not ended; of an earlier try, below 0
	Host    string
	Result  string
	// Duration is the time of the target's states, of other functions the time until
	// the return.
	Duration time.Duration
	Changed  int // states that changed something
	Ended    time.Time
	// Detail has the names of states that changed something ("changed") or would
	// ("would_change"), the comments of failed ones by their names ("failed"), why there is no return
	// ("why"), or the beginning of what a function returned ("return").
	Detail *value.Map
}

// hash returns the hash of a definition.
func (d *Definition) hash() string {
	steps := value.NewList()
	for i := range d.Steps {
		steps.Append(d.Steps[i].mapOf())
	}
	sum := sha256.Sum256(value.EncodeJSON(value.MapOf("kind", d.Kind, "name", d.Name, "description", d.Description, "source", d.Source, "steps", steps)))
	return hex.EncodeToString(sum[:])
}

// mapOf is a step as rows have it.
func (s *Step) mapOf() *value.Map {
	return value.MapOf("id", s.ID, "label", s.Label, "fun", s.Fun, "tgt", s.Target, "action_id", s.ActionID, "args", s.Args)
}

// layout is how moments are stored, in UTC: text that sorts by time.
const layout = "2006-01-02 15:04:05.000000"

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

func moment(s string) time.Time {
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
