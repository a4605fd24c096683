package ui

import (
	"context"
	"errors"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/drift"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// The texts of all errors of a [Backend] are without the secrets that records leave out.

// ErrNotFound is returned (wrapped) by a [Backend] for something that does not
// exist.
var ErrNotFound = errors.New("not found")

// A Backend is what the command line can do. Each method reads the configuration,
// the tree and the roster as they are then. It is safe for concurrent use.
type Backend interface {
	// Catalogue returns what can be run.
	Catalogue(ctx context.Context) (*Catalogue, error)
	// Steps returns the low data of an orchestration, without the secrets that records
	// leave out, and the beginning of its file, where comments describe it.
	Steps(ctx context.Context, sls string) (low *value.List, text string, err error)
	// Match returns the IDs that a target expression means, as far as sight goes; see
	// orchestration.ParseExpr. note says who else may be meant; "": nobody.
	Match(ctx context.Context, expr string, sight MatchLevel) (ids []string, note string, err error)
	// Redact returns texts without the secrets that records leave out, as far as the
	// controller knows them.
	Redact(ctx context.Context, texts []string) ([]string, error)
	// Chains returns the directory of the chains.
	Chains(ctx context.Context) (*chain.Store, error)
	// CheckChain returns what of a chain cannot work as the tree and the roster are now,
	// and in unsure, what cannot be judged before it runs; both without the secrets that
	// records leave out.
	CheckChain(ctx context.Context, name string) (faults, unsure []string, err error)
	// CheckOrchestration is CheckChain for an orchestration, and CheckTemplate for a template,
	// with sample values.
	CheckOrchestration(ctx context.Context, sls string) (faults, unsure []string, err error)
	CheckTemplate(ctx context.Context, name string) (faults, unsure []string, err error)
	// Template returns a template, with the answers of its last execution, without those
	// that are secret; nil if there are none.
	Template(ctx context.Context, name string) (*orchestration.Template, *orchestration.Answers, error)
	// Form returns the form of an SLS that is a formula with a form; nil: it has none.
	Form(ctx context.Context, sls string) (*form.Form, error)
	// Jobs calls a function with the job cache.
	Jobs(ctx context.Context, f func(*jobs.Files) error) error
	// History calls a function with the history of executions.
	History(ctx context.Context, f func(*history.Store) error) error
	// Drift returns what is kept of the hosts' agreement with their states, and the
	// faults of files that cannot be read.
	Drift(ctx context.Context) (subjects []*drift.Subject, faults []error, err error)
	// Facts returns what hosts last said of themselves, by ID, and the faults of files that
	// cannot be read.
	Facts(ctx context.Context, ids []string) (known map[string]*facts.Facts, faults []error, err error)
	// States calls a function with the names of all SLS files of the tree, and with
	// what returns the beginning of the file of one.
	States(ctx context.Context, f func(names []string, first func(name string) string) error) error
	// State is Steps for an SLS file as the controller compiles it. It returns the
	// beginning of the file also where that fails.
	State(ctx context.Context, sls string) (low *value.List, text string, err error)
	// Planned returns when chains are to run later, the next one first.
	Planned(ctx context.Context) ([]Planned, error)
	// Schedule has a chain run once at a time for a user: a date and time in the time
	// zone of the controller. A chain runs once at that time, even if it is asked for
	// twice. hosts are globs for the hosts that the user is limited to; none: all.
	Schedule(ctx context.Context, chain, at, user string, hosts []string) error
	// Unschedule cancels what Planned returned.
	Unschedule(ctx context.Context, id string) error
	// Recurring returns the schedules of the queue, by name, with their next times before
	// a moment. Where no queue is configured there are none.
	Recurring(ctx context.Context, until time.Time) ([]Recurrence, error)
	// AddRecurring adds a schedule of a chain, or of an orchestration that Catalogue has.
	AddRecurring(ctx context.Context, x NewRecurrence) error
	// ChangeRecurring pauses, resumes or removes a schedule.
	ChangeRecurring(ctx context.Context, name, what string) error
	// Approvals returns the questions of runs that ask a second person, the newest first.
	Approvals(ctx context.Context) ([]*approval.Entry, error)
	// Approve answers one of them for somebody who may; definition is what was seen.
	Approve(ctx context.Context, id, definition string, a approval.Answer) (*approval.Entry, error)
	// Runs returns the runs that are kept.
	Runs(ctx context.Context) (*kept.Store, error)
	// Start starts brine with the arguments of a run, as a process that goes on when this
	// one ends. Answers of a template are handed over in a file that only the user of brine
	// can read, and that is removed afterwards; nil: there are none. Of a run of
	// kept.Functions, they are its arguments: the list arg and the mapping kwarg.
	Start(ctx context.Context, spec kept.Spec, answers *value.Map) (*kept.Run, error)
	// PlanText is a plan in one of the formats text, diff and markdown.
	PlanText(made []byte, format string) (string, error)
	// End ends what a run does, at once.
	End(ctx context.Context, r *kept.Run) error
	// Drain has a run start nothing new.
	Drain(ctx context.Context, jid string) error
	// Enqueue puts what a hook starts into a queue, unless a delivery with one of its ids
	// was put there before: known, with the jid of that one.
	Enqueue(ctx context.Context, d Delivery) (jid string, known bool, err error)
	// SendEvent sends an event to those who hear the events of this controller. by says in
	// words who took it; the error is ErrNotSent if nobody did.
	SendEvent(ctx context.Context, tag string, data *value.Map) (by string, err error)
	// Events calls each for the events of the runs of this controller, without the secrets that
	// records leave out, until it returns false or ctx ends; ready when none is missed any more.
	Events(ctx context.Context, ready func(), each func(tag string, data *value.Map) bool) error
	// Record puts what a user did into the audit record.
	Record(ctx context.Context, a Action) error
}

// An Action is something that a user did, or tried to do.
type Action struct {
	User, Name, On string
	// Details say what was asked for, such as the change of a chain; "": nothing
	// beside On. They have no passwords and no values of pillars.
	Details string
	// Defined says that Details have texts of what is defined, and nothing that somebody
	// typed who may not read its secrets: those of the pillar are left out, too.
	Defined bool
	OK      bool // it was allowed
}

// A Catalogue is what can be run.
type Catalogue struct {
	Orchestrations []string // names of SLS files
	Chains         []Entry
	Templates      []Entry
}

// A Planned is a chain that is to run once, later.
type Planned struct {
	ID, Chain string
	At        time.Time
	User      string // who asked for it; "" where nobody knows
}

// An Entry is a chain or template.
type Entry struct {
	Name, Description string
	Fault             string // why it cannot be read
}
