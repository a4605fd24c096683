package fun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"brine/internal/py/value"
)

// A Fleet runs functions on other machines.
type Fleet interface {
	// Match returns the ids that a target expression names, sorted.
	Match(ctx context.Context, tgt value.Value, tgtType string) ([]string, error)
	// Run runs job on its targets and hands over each return as it comes, one
	// call at a time. An error of the callback ends the run. The Summary names
	// every target once.
	Run(ctx context.Context, job Job, each func(Return) error) (Summary, error)
}

// Masters is a Fleet some of whose machines have masters with functions of their
// own.
type Masters interface {
	// CallMaster calls a runner or wheel function of the master of a fleet. jid is
	// the master's, ok says whether the function succeeded. The error is that the
	// fleet is unknown, or its master did not call the function.
	CallMaster(ctx context.Context, fleet string, kind Kind, name string, args Args) (v value.Value, jid string, ok bool, err error)
	// Follow has the events of the masters come to the bus from now on; Listen waits
	// until they do, or it is known that they cannot be had.
	Follow()
	Listen(ctx context.Context)
}

// A Limited is a Fleet of which a run may use a part (--limit).
type Limited interface {
	// Cut returns those of ids that jobs may run on, and the others.
	Cut(ids []string) (kept, outside []string)
}

// A Rehearser is a Fleet of a run that only shows what it would do, such as the
// making of a plan. In test mode, a step tells it which runner functions it would
// call. A step that fails keeps none behind it from being looked at.
type Rehearser interface {
	// Rehearse takes a call of a runner function by the step c, with the arguments as
	// the function would get them. id is the id of the step, or that of one of
	// several parallel runners.
	Rehearse(ctx context.Context, c *Call, id, name string, args Args)
}

// A Job is a function to run on targets.
type Job struct {
	Tgt      value.Value // text, or a list for tgt_type list
	TgtType  string      // "" is glob
	Fun      string
	Args     Args
	JID      string // "" makes one
	OrchJID  string
	User     string
	Metadata value.Value
	Timeout  time.Duration // 0: configuration's
	Gather   time.Duration // gather_job_timeout; 0: configuration's
	// MaxWait is how long a target may say that it still works on the job; 0: the
	// configuration's.
	MaxWait  time.Duration
	Batch    string // "", "3" or "25%"
	Subset   int    // 0: all
	Returner string // comma list for each return
	// RetConfig and RetKwargs are the configuration and the settings of the
	// returners.
	RetConfig string
	RetKwargs *value.Map
	Roster    string
	// Fleet, where it is not "", is the only fleet whose machines are meant.
	Fleet string
	// Published says that the function is to see the __pub_ arguments of a
	// minion that got the job from a master, not those of a call over SSH.
	Published bool
	// Peer says that a machine of the run asked for the job: it is not a step of its own.
	Peer bool
	// Caller is the id of the machine that asked for the job, "" where none did: a
	// function that takes any keyword arguments sees it as __pub_id.
	Caller   string
	FailHard bool // with Batch: no new batch after a failure
	// BatchWait is how long a slot of the batch rests after each return.
	BatchWait time.Duration
	// Waves, where there are any, are how far each wave of targets goes; those that
	// are left form one more. A wave begins when all targets of the one before have
	// returned, WaveWait has passed and WaveCheck, where it is not nil, has succeeded.
	Waves     []Wave
	WaveWait  time.Duration
	WaveCheck func(ctx context.Context, w WaveDone) error
	// MaxFailures is how many targets may fail before nothing further starts: a
	// percentage is one of the targets of the waves that have begun. nil: any number,
	// and none where there are waves.
	MaxFailures *Share
	// Judge says whether a return counts as a failure for MaxFailures, and whether the
	// job succeeded on the target: it does neither where a failure is tolerated. A
	// return that it finds no success is recorded as a failure, whatever its code.
	// nil: as Return.Success says.
	Judge func(Return) (failed, good bool)
	// Passed are targets on which an earlier run of the job succeeded: they count for
	// the sizes of waves and are not run again.
	Passed []string
	// Async has the job go on without this process: there are no returns but
	// those of targets on which it could not be started.
	Async bool
	// Continued says that the job was begun by another process, which announced
	// and recorded it.
	Continued bool
	// Only, where it is not nil, are the ids that the target is cut down to.
	Only []string
	// Shell is a raw shell command to run instead of Fun; it needs nothing on
	// the target. The return is a dict of stdout, stderr and retcode.
	Shell string
	// Step is the ID of the step of an orchestration that asks for the job.
	Step string
	// Plan says that the job is part of the making of a plan, and NoSlots that no slot
	// may be evaluated: see [Jobs].
	Plan, NoSlots bool
	// Unrecorded says that the job is a question that is asked again and again: it leaves
	// no record, and no events.
	Unrecorded bool
}

// Compound returns the calls of a job that is several functions, nil where it is
// one: Fun has their names with commas between, Args.Pos a list of arguments for
// each, which ends in a dict with __kwarg__ where some go by name.
func (j Job) Compound() []Job {
	names := strings.Split(j.Fun, ",")
	if len(names) < 2 || len(names) != len(j.Args.Pos) || j.Args.Kw.Len() > 0 {
		return nil
	}
	calls := make([]Job, len(names))
	for i, name := range names {
		args, ok := j.Args.Pos[i].(*value.List)
		if !ok {
			return nil
		}
		calls[i] = j
		calls[i].Fun, calls[i].Args = name, Args{Kw: value.NewMap(0)}
		for _, v := range args.Items {
			if m, ok := v.(*value.Map); ok && m.At("__kwarg__") == true {
				calls[i].Args.Kw = m.Copy()
				calls[i].Args.Kw.Delete("__kwarg__")
				continue
			}
			calls[i].Args.Pos = append(calls[i].Args.Pos, v)
		}
	}
	return calls
}

// Plain returns the arguments of a job as its targets report them: without the
// mark __kwarg__, also in the lists of a job that is several functions.
func Plain(name string, args *value.List) *value.List {
	out := value.NewList()
	if args == nil {
		return out
	}
	for _, v := range args.Items {
		switch x := v.(type) {
		case *value.Map:
			if x.At("__kwarg__") == true {
				x = x.Copy()
				x.Delete("__kwarg__")
				v = x
			}
		case *value.List:
			if strings.Contains(name, ",") {
				v = Plain("", x)
			}
		}
		out.Append(v)
	}
	return out
}

// OfState reports whether the job calls a function of the module state.
func (j Job) OfState() bool { return strings.Contains(","+j.Fun, ",state.") }

// A Stage is how far a target came.
type Stage int

// Stages. Only Returned has the function's own answer.
const (
	Returned    Stage = iota
	Unreachable       // no connection
	TimedOut          // no return in time and the job runs no more
	Lost              // connection lost after the call began
	Refused           // the target would not run it (no such function, wrong arguments)
)

// ErrNotBegun is the reason of a Refused return whose target was left out
// because one before it failed and the job fails hard; see also [NotBegunError].
var ErrNotBegun = errors.New("not begun: a target before it failed")

// ErrStopped is the reason of a Refused return whose target was left out because
// the run was stopped.
var ErrStopped = errors.New("not begun: the run was stopped")

// ErrEnded is the reason of a Lost return whose call was ended with the run, by a
// second Ctrl-C for one. It is a [context.Canceled].
var ErrEnded error = endedError{}

type endedError struct{}

func (endedError) Error() string        { return "the run was ended" }
func (endedError) Is(target error) bool { return target == context.Canceled }

// String names the stage as results show it.
func (s Stage) String() string {
	return [...]string{"returned", "unreachable", "timed out", "lost", "refused"}[s]
}

// A Return is one target's answer.
type Return struct {
	ID      string
	JID     string
	Stage   Stage
	Retcode int
	Raised  bool // the function ended with an error, whose text is the value
	// Each has, of a job that is several functions, the return code of each by name
	// or in order; nil instead of a code where the function ended with an error.
	// Retcode and Raised are those of all together then.
	Each value.Value
	Out  string // outputter that the function wishes
	Body Body   // the value, as JSON; nil where Stage is not Returned
	Err  error  // why, where Stage is not Returned
	// Away says that the target may work on, and keeps its return for a later look,
	// where Stage is Lost or TimedOut.
	Away bool
	// Partial has the returns of a state run's states that were done, by tag,
	// and Total is how many states there were, where the return of the run
	// itself did not come. nil: none is known.
	Partial *value.Map
	Total   int
	// Interrupted says that the run was cut short: Body has what was done until then.
	Interrupted bool
	// Fleet is the fleet that the target is in, and FleetJID the jid that its master
	// has for the job; "" where there is no master.
	Fleet, FleetJID string
}

// EachOf reads what another process says that [Return.Each] is; nil where it is
// none.
func EachOf(v value.Value) value.Value {
	isCode := func(code value.Value) bool { _, ok := code.(int64); return ok || code == nil }
	switch each := v.(type) {
	case *value.Map:
		for name, code := range each.All() {
			if _, ok := name.(string); !ok || !isCode(code) {
				return nil
			}
		}
		return each
	case *value.List:
		for _, code := range each.Items {
			if !isCode(code) {
				return nil
			}
		}
		return each
	}
	return nil
}

// Progress returns how far a state run came whose own return did not come:
// "after state 2 of 5"; "" where that is not known.
func (r Return) Progress() string {
	if r.Partial.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("after state %d of %d", r.Partial.Len(), max(r.Total, r.Partial.Len()))
}

// States returns what is known of a state run whose own return did not come:
// the returns of the states that were done, by tag, and behind them a failed
// one that says how far the run came and why it went no further. It returns nil
// where nothing is known.
func (r Return) States() *value.Map {
	after := r.Progress()
	if r.Stage == Returned || after == "" {
		return nil
	}
	why := r.Stage.String()
	switch {
	case errors.Is(r.Err, context.Canceled):
		why = "interrupted"
	case r.Err != nil:
		why = r.Err.Error()
	}
	if !strings.Contains(why, after) {
		why = after + ": " + why
		if r.Stage == Lost {
			why = "lost " + why
		}
	}
	m := r.Partial.Copy()
	next := int64(0)
	for _, v := range m.All() {
		if ret, ok := v.(*value.Map); ok {
			if n, ok := value.AsInt(ret.At("__run_num__")); ok {
				next = max(next, n+1)
			}
		}
	}
	m.Set("no_|-return_|-return_|-None", value.MapOf(
		"name", "No Return", "changes", value.NewMap(0), "result", false, "comment", why, "__run_num__", next,
	))
	return m
}

// Value returns the decoded return; Err's text where there is none.
func (r Return) Value() (value.Value, error) {
	if r.Body == nil {
		if r.Err != nil {
			return r.Err.Error(), nil
		}
		return nil, nil
	}
	if v, ok := r.Body.(ValueBody); ok {
		return v.V, nil
	}
	f, err := r.Body.Open()
	if err != nil {
		return nil, fmt.Errorf("return of %s: %w", r.ID, err)
	}
	defer f.Close()
	v, err := value.DecodeJSONSized(f, r.Body.Size())
	if err != nil {
		return nil, fmt.Errorf("return of %s: %w", r.ID, err)
	}
	return v, nil
}

// Larger reports whether the value takes more than n bytes, about.
func (r Return) Larger(n int) bool {
	switch b := r.Body.(type) {
	case nil:
		return false
	case ValueBody:
		return value.Outweighs(b.V, n)
	default:
		return b.Size() > int64(n)
	}
}

// Decoded returns the return with its value in memory, decoded once for all who
// read it, and forgets what it was decoded from. One that cannot be decoded stays
// as it is.
func (r Return) Decoded() Return {
	v, err := r.Value()
	if err != nil || r.Body == nil {
		return r
	}
	if c, ok := r.Body.(io.Closer); ok {
		_ = c.Close()
	}
	r.Body = ValueBody{v}
	return r
}

// A Body is a return's value as JSON; large ones are spilled to disk.
type Body interface {
	Size() int64
	Open() (io.ReadCloser, error)
}

// A ValueBody is a Body that was never encoded: a target in this process.
type ValueBody struct{ V value.Value }

// Size returns the length of the JSON.
func (b ValueBody) Size() int64 { return int64(len(value.EncodeJSON(b.V))) }

// Open returns the JSON.
func (b ValueBody) Open() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(value.EncodeJSON(b.V))), nil
}

// A Summary is what a job did.
type Summary struct {
	JID     string
	Targets []string // all that were matched, sorted
	Missing []string // those without a return, sorted
	Passed  []string // those of Job.Passed that were matched, sorted; no Targets
	Outside []string // those that --limit leaves out, sorted; no Targets
}
