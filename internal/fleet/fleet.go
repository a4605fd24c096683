// Package fleet runs functions on machines: targets are found among the
// providers (this process, SSH), a job goes to each, and its returns come back
// one by one.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/core/tee"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Provider reaches machines of one kind.
type Provider interface {
	// IDs returns the ids of all its machines.
	IDs(ctx context.Context) ([]string, error)
	// Minion returns what a machine is matched by.
	Minion(ctx context.Context, id string) target.Minion
	// Run runs the job on one of its machines. What goes wrong is in the Return.
	// begun is called when the machine has been given the function: from then on
	// it is asked, by FindJob, where it is silent.
	Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return
	// FindJob asks machines whether a job runs there and calls tell with each
	// answer: the pid, or 0 if it does not run. It is not called for machines
	// that do not answer before ctx ends. It may be called concurrently.
	FindJob(ctx context.Context, jid string, ids []string, tell func(id string, pid int))
}

// A Preparer is a Provider that asks the person for what it needs (a
// passphrase) before machines are worked on at once.
type Preparer interface {
	Prepare(ctx context.Context, ids []string)
}

// A Resolver is a Provider that has no list of its machines, but is asked for each
// target which of them it means.
type Resolver interface {
	Provider
	// FleetName is the name that its machines are configured under.
	FleetName() string
	// Resolve returns the ids that a target means, sorted, and those that it may
	// mean, with the reason why that is not known.
	Resolve(ctx context.Context, tgt value.Value, tgtType string, groups *value.Map) (ids []string, unasked map[string]error, err error)
}

// A Publisher is a Provider that can begin a job on many machines at once. Where
// Publish was called, Run waits for the return of one of them.
type Publisher interface {
	Publish(ctx context.Context, job fun.Job, ids []string)
}

// DefaultLimit is how many targets are worked on at once.
const DefaultLimit = 64

// DefaultTimeout is how long a target may be silent before it is asked, and
// DefaultGather how long it has to answer, where the configuration says nothing.
const (
	DefaultTimeout = 5 * time.Second
	// DefaultMaxWait is how long a target may work on a job at most.
	DefaultMaxWait = 24 * time.Hour
	DefaultGather  = 10 * time.Second
)

// A Fleet is all machines of a run. It is safe for concurrent use.
type Fleet struct {
	Providers []Provider // from the time when there are jobs on, see Add
	// Name makes the machines of a target that is not an expression over those that
	// there are, but names them (an address, a node set), and returns their ids.
	// roster is the kind of roster that the job asks for, "" is that of the run. It
	// returns false where the target is an expression. nil: every target is one.
	Name func(ctx context.Context, roster string, target []string) (ids []string, named bool, err error)

	// Order names fleets (RosterFleet is the machines that are listed): where several
	// have a machine of the same id, that of the first is taken. Two that are not
	// both named must not have the same id.
	Order []string

	large      sync.Mutex // held while a large return is handed over
	lean       sync.Once
	mu         sync.RWMutex // guards Providers
	jids       sync.Map     // of the jobs that were run
	Nodegroups *value.Map
	Bus        event.Bus
	NewJID     func() string
	// Table names the arguments of functions; nil: nothing does.
	Table *fun.Table
	Limit int // 0 is DefaultLimit
	User  string
	// Jobs records what is run; nil records nothing.
	Jobs jobs.Recorder
	// OldEvents fires the events of old releases beside those of today: Salt's
	// new_job, and returns tagged by the bare jid.
	OldEvents bool
	// Warn, if not nil, is called with what goes wrong outside the job itself.
	Warn func(fun.Warning)
	// AllowUnreachable passes over machines that cannot be asked for the grains
	// that they are matched by, with a warning; else they are targets that failed.
	AllowUnreachable bool
	// Keep, if not nil, tells which machines jobs may run on. The others are left out of
	// the targets of jobs, and [Fleet.LeftOut] names them. What only looks (Match, the
	// mine) sees all.
	Keep    func(id string) bool
	leftOut leftOut
	// Watch, if not nil, is notified of the progress of jobs.
	Watch Watcher
	// Output is who listens to what programs print on machines; nil: nobody.
	Output *tee.Hub
	// Gate is asked before a target is begun; see fun.Jobs.OnStart. nil is open.
	Gate func(ctx context.Context, c *fun.Chunk) bool
	// Timeout is how long a target may be silent before it is asked whether it
	// still works on its job, Gather how long it has to answer. Timeout 0 asks
	// nobody.
	Timeout, Gather time.Duration
	// MaxWait is how long a target may say that it still works on a job; then it
	// is given up. 0 is DefaultMaxWait.
	MaxWait time.Duration
	// Waiting, if not nil, is called now and then with the targets that a job
	// waits for and since when.
	Waiting func(jid string, ids []string, since time.Duration)
	// Store is where the jobs of this machine are read from; nil: nowhere.
	Store jobs.Store
	// Background has another process work on the machines of this one for a job
	// that is to outlive it; nil: there is no such process.
	Background func(job fun.Job, ids []string, rec jobs.Record) error
	// Stay has work on machines of this process done beside what comes next, before
	// the process ends; where it is to end at once, it ends the context of the work.
	// nil, and no Background: such jobs are refused.
	Stay func(jid string, ids []string, work func(ctx context.Context))
	// AskJID makes the jids of such questions, which are not recorded; nil:
	// NewJID.
	AskJID func() string
	// Mine, if not nil, is notified of the machines that jobs work on.
	Mine *Mine
	// Permit says who may run what; nil: anybody may run anything.
	Permit *Permit
}

// Add adds a provider, whose machines jobs are run on from now on.
func (f *Fleet) Add(p Provider) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Providers = append(f.Providers, p)
}

func (f *Fleet) providers() []Provider {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.Providers)
}

// owners returns the provider of each id that is known; the first provider that
// has one wins.
func (f *Fleet) owners(ctx context.Context) (ids []string, owner map[string]Provider, err error) {
	return f.ownersAmong(ctx, func(Provider) bool { return true })
}

// ownersAmong is owners of the providers that are wanted.
func (f *Fleet) ownersAmong(ctx context.Context, wanted func(Provider) bool) (ids []string, owner map[string]Provider, err error) {
	owner = map[string]Provider{}
	for _, p := range f.providers() {
		if !wanted(p) {
			continue
		}
		list, err := p.IDs(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range list {
			if owner[id] == nil {
				owner[id] = p
				ids = append(ids, id)
			}
		}
	}
	sort.Strings(ids)
	return ids, owner, nil
}

// Close ends the connections of the providers.
func (f *Fleet) Close() error {
	var errs []error
	for _, p := range f.providers() {
		if c, ok := p.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// prepare lets providers ask for what they need for their machines among ids.
func prepare(ctx context.Context, ids []string, owner map[string]Provider) {
	mine := map[Preparer][]string{}
	for _, id := range ids {
		if p, ok := owner[id].(Preparer); ok {
			mine[p] = append(mine[p], id)
		}
	}
	for p, ids := range mine {
		p.Prepare(ctx, ids)
	}
}

// Match returns the ids that an expression matches, sorted. It returns an error
// for an invalid expression.
func (f *Fleet) Match(ctx context.Context, tgt value.Value, tgtType string) ([]string, error) {
	if tgt != "*" { // that is all that are known, whatever their rosters
		if ids, named, err := f.named(ctx, fun.Job{Tgt: tgt, TgtType: tgtType}); named || err != nil {
			return ids, err
		}
	}
	found, err := f.expression(ctx, fun.Job{Tgt: tgt, TgtType: tgtType}, false)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(found.unasked)) {
		f.warnUnasked(id, found.unasked[id])
	}
	return found.ids, nil
}

// named returns the ids of machines that a target names, and that no list need
// have; false where it is an expression.
func (f *Fleet) named(ctx context.Context, job fun.Job) ([]string, bool, error) {
	target := words(job.Tgt)
	if f.Name == nil || len(target) == 0 || !slices.Contains([]string{"", "glob", "list"}, job.TgtType) {
		return nil, false, nil
	}
	kind := job.Roster
	if job.Published { // an argument of jobs over SSH
		kind = ""
	}
	ids, named, err := f.Name(ctx, kind, target)
	if err != nil {
		return nil, false, &fun.TargetError{Err: err}
	}
	sort.Strings(ids)
	return ids, named, nil
}

// words returns the words of a target: text is one of them.
func words(tgt value.Value) []string {
	switch t := tgt.(type) {
	case string:
		return []string{t}
	case *value.List:
		out := make([]string, t.Len())
		for i, x := range t.Items {
			out[i] = value.Str(x)
		}
		return out
	}
	return nil
}

// warnUnasked warns of a machine that could not be asked whether it is meant.
func (f *Fleet) warnUnasked(id string, err error) {
	if f.Warn != nil {
		f.Warn(fun.Warning{Text: fmt.Sprintf("the grains of %s are not known, so it is not matched by them: %v", id, err)})
	}
}

// match returns the ids that an expression names, and those of machines that it
// may name, with the reason why that is not known.
func (f *Fleet) match(ctx context.Context, tgt value.Value, tgtType string, ids []string, owner map[string]Provider) (found []string, unasked map[string]error, err error) {
	m, err := target.Compile(tgt, tgtType, f.Nodegroups)
	if err != nil {
		return nil, nil, &fun.TargetError{Err: err}
	}
	for _, w := range m.Warnings() {
		if f.Warn != nil {
			f.Warn(fun.Warning{Text: w})
		}
	}
	matches := make([]bool, len(ids))
	unknown := make([]error, len(ids))
	var g errgroup.Group
	g.SetLimit(1)
	if grains, pillar := m.Needs(); grains || pillar {
		// Machines may have to be asked.
		g.SetLimit(DefaultLimit)
		prepare(ctx, ids, owner)
	}
	for i, id := range ids {
		g.Go(func() error {
			minion := owner[id].Minion(ctx, id)
			ok, err := m.Match(minion)
			if err != nil {
				return fmt.Errorf("match %s: %w", id, err)
			}
			matches[i] = ok
			if !ok && minion.Unknown != nil {
				unknown[i] = minion.Unknown()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	unasked = map[string]error{}
	for i, id := range ids {
		if matches[i] {
			found = append(found, id)
		} else if unknown[i] != nil {
			unasked[id] = unknown[i]
		}
	}
	return found, unasked, ctx.Err()
}

// unavailable returns the targets of a job that cannot be asked to run it, with the
// reason: those of a list that nobody has, and those that may be meant.
func (f *Fleet) unavailable(job fun.Job, ids []string, owner map[string]Provider, unasked map[string]error) map[string]error {
	out := map[string]error{}
	for _, id := range unknownIDs(job, owner) {
		out[id] = &fun.UnlistedError{ID: id, Hint: source.DidYouMean(id, ids), Fleets: f.searchedFleets(job.Fleet)}
	}
	for id, err := range unasked {
		out[id] = fmt.Errorf("it is not known whether %s is meant: %w", id, err)
	}
	if job.Only != nil {
		keep := make(map[string]bool, len(job.Only))
		for _, id := range job.Only {
			keep[id] = true
		}
		maps.DeleteFunc(out, func(id string, _ error) bool { return !keep[id] })
	}
	if f.AllowUnreachable {
		for _, id := range slices.Sorted(maps.Keys(unasked)) {
			if out[id] != nil {
				f.warnUnasked(id, unasked[id])
				delete(out, id)
			}
		}
	}
	return out
}

// Run runs a job; see [fun.Fleet]. An id of a list target that no provider has
// gets a return of its own that says so.
func (f *Fleet) Run(ctx context.Context, job fun.Job, each func(fun.Return) error) (fun.Summary, error) {
	if !job.Peer {
		f.step()
	}
	limits, err := f.Permit.functions(job)
	if err != nil {
		return fun.Summary{}, err
	}
	found, err := f.targets(ctx, job)
	if err != nil {
		return fun.Summary{}, err
	}
	if err := f.permit(ctx, limits, job, found.ids); err != nil {
		return fun.Summary{}, err
	}
	if err := f.Permit.reaches(job, slices.Sorted(maps.Keys(found.all()))); err != nil {
		return fun.Summary{}, err
	}
	f.leftOut.add(found.outside, len(found.ids)+len(found.unavailable) > 0)
	targets, away, owner := found.ids, found.unavailable, found.owner
	unknown := slices.Sorted(maps.Keys(away))
	if job.Only != nil {
		targets = only(targets, job.Only)
	}
	if job.Subset > 0 && job.Subset < len(targets) {
		rand.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
		targets = targets[:job.Subset]
		sort.Strings(targets)
	}
	limit, err := f.limit(job.Batch, len(targets))
	if err != nil {
		return fun.Summary{}, err
	}
	waves, err := f.waves(ctx, job, targets)
	if err != nil {
		return fun.Summary{}, err
	}
	passed := only(targets, job.Passed)
	targets = without(targets, passed)
	sum := fun.Summary{Passed: passed, Outside: found.outside, Targets: append(append([]string(nil), targets...), unknown...)}
	sort.Strings(sum.Targets)
	if len(sum.Targets) == 0 {
		return sum, nil
	}
	switch {
	case job.JID != "":
	case job.Unrecorded && f.AskJID != nil:
		job.JID = f.AskJID()
	default:
		job.JID = f.NewJID()
	}
	if job.User == "" {
		job.User = f.User
	}
	sum.JID = job.JID
	if !job.Unrecorded {
		f.jids.Store(job.JID, true)
	}
	f.Mine.works(targets)
	defer f.Mine.works(targets)
	r := &running{f: f, job: job, each: each, rec: f.record(job, sum.Targets, fleetsOf(targets, owner)), begun: len(unknown)}
	if len(waves) > 0 {
		r.enter(1, waves)
	}
	f.watcher().Begin(job, sum.Targets)
	defer f.watcher().End(job.JID)
	if job.Async && jobs.FileOf(r.rec) == nil {
		return sum, fmt.Errorf("the job was not started: it cannot be recorded, so nobody could look up what it returned")
	}
	if !job.Continued {
		f.announce(job, sum.Targets)
	}
	for _, id := range unknown {
		r.deliver(fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable, Err: away[id]})
	}
	prepare(ctx, targets, owner)
	if job.Async {
		r.detach(ctx, targets, owner, limit)
	} else {
		r.run(ctx, waves, passed, owner, limit)
	}
	sort.Strings(r.missing)
	sum.Missing = r.missing
	if !r.stillRunning {
		f.doubt(r.conclude(ctx))
	}
	return sum, r.err
}

// record begins the job's record.
func (f *Fleet) record(job fun.Job, targets []string, fleets map[string][]string) jobs.Record {
	if f.Jobs == nil || job.Unrecorded {
		return jobs.Nothing{}
	}
	rec, err := f.Jobs.Begin(jobs.Load{
		JID: job.JID, Fun: name(job), Arg: args(f.Table, job), Tgt: job.Tgt, TgtType: typeOf(job), User: job.User, Ret: job.Returner,
		RetConfig: job.RetConfig, RetKwargs: job.RetKwargs,
		LeftOut: jobs.LeftOutOf(f.Table, job), Metadata: job.Metadata, Minions: targets, Fleets: fleets, OrchJID: job.OrchJID, Step: job.Step, PID: os.Getpid(),
		Detached: job.Async || job.Continued, Continued: job.Continued,
	})
	f.doubt(err)
	return rec
}

// doubt warns of what could not be recorded.
func (f *Fleet) doubt(err error) {
	if err != nil && f.Warn != nil {
		f.Warn(fun.Warning{Text: err.Error()})
	}
}

// rawName is what records have as the function of a raw shell command, which has
// none.
const rawName = "ssh._raw"

// name is the function of a job.
func name(job fun.Job) string {
	if job.Shell != "" {
		return rawName
	}
	return job.Fun
}

// only returns those of ids that are among keep.
func only(ids, keep []string) []string {
	kept := make(map[string]bool, len(keep))
	for _, id := range keep {
		kept[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !kept[id] })
}

// unknownIDs returns the ids of a list target that nobody has.
func unknownIDs(job fun.Job, owner map[string]Provider) []string {
	if job.TgtType != "list" {
		return nil
	}
	var ids, out []string
	switch t := job.Tgt.(type) {
	case *value.List:
		for _, x := range t.Items {
			ids = append(ids, value.Str(x))
		}
	default:
		for s := range strings.SplitSeq(value.Str(t), ",") {
			ids = append(ids, strings.TrimSpace(s))
		}
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if id != "" && owner[id] == nil && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// limit returns how many of n targets may run at once: the batch ("3", "25%" or
// "%25") or the fleet's own limit.
func (f *Fleet) limit(batch string, n int) (int, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	if batch == "" {
		return limit, nil
	}
	share, err := fun.ParseShare(batch)
	if err != nil || share.N == 0 && share.Percent == 0 {
		return 0, fun.Errorf("Invalid batch size '%s': it must be a number of targets or a percentage", batch)
	}
	return min(limit, max(1, share.Of(n))), nil
}

// announce fires the events of a new job. Salt: salt/master.py publish.
func (f *Fleet) announce(job fun.Job, targets []string) {
	if f.Bus == nil || job.Unrecorded {
		return
	}
	minions := value.Strings(targets...)
	f.Bus.Fire(job.JID, value.MapOf("minions", minions))
	data := value.MapOf(
		"jid", job.JID, "tgt_type", typeOf(job), "tgt", job.Tgt, "user", job.User, "fun", jobs.FunOf(name(job)),
		"arg", args(f.Table, job), "minions", minions, "missing", value.NewList(),
	)
	if job.Metadata != nil {
		data.Set("metadata", job.Metadata)
	}
	if f.OldEvents {
		f.Bus.Fire("new_job", data)
	}
	f.Bus.Fire("salt/job/"+job.JID+"/new", data)
}

func typeOf(job fun.Job) string {
	if job.TgtType == "" {
		return "glob"
	}
	return job.TgtType
}

// args are the arguments as events and records show them. Those of a raw
// command are its text.
func args(t *fun.Table, job fun.Job) *value.List {
	if job.Shell != "" {
		return value.NewList(job.Shell)
	}
	return jobs.ArgsOf(t, job)
}

// running is one job under way.
type running struct {
	f    *Fleet
	job  fun.Job
	each func(fun.Return) error
	rec  jobs.Record

	mu            sync.Mutex
	err           error
	missing       []string
	wave          int      // that is under way, from 1
	of            int      // waves
	begun         int      // targets of the waves that have begun
	bad           int      // of them, those that failed
	waveSucceeded []string // of this wave, those that succeeded
	waveFailed    []string // of this wave, those that failed
	ran           bool     // this wave was not passed over
	halt          error    // why nothing further begins: an ErrNotBegun
	detached      int      // targets that work on without this process
	stillRunning  bool     // targets work on in this process, which ends the record
}

// run works on the targets, wave by wave.
func (r *running) run(ctx context.Context, waves [][]string, passed []string, owner map[string]Provider, limit int) {
	d := &dispatching{r: r, owner: owner, ask: r.f.asker(ctx, r.job), in: r.newAdmission(ctx), sem: make(chan struct{}, limit)}
	defer d.ask.end()
	defer d.in.end()
	for i, all := range waves {
		ids := without(all, passed)
		if len(ids) > 0 && i > 0 && !r.stopped(ctx) {
			r.between(ctx)
		}
		r.enter(i+1, waves)
		r.passOver(only(all, passed), len(ids) > 0)
		if len(ids) == 0 {
			continue
		}
		told := len(waves) > 1 && !r.stopped(ctx)
		if told {
			r.reportWave(waveStarted, ids)
		}
		d.work(ctx, ids)
		if told {
			r.reportWave(waveEnded, ids)
		}
	}
}

// dispatching is how the targets of a job are worked on.
type dispatching struct {
	r     *running
	owner map[string]Provider
	ask   *asker
	in    *admission
	sem   chan struct{} // a slot for each target that is worked on at once
}

// one works on a target; free is called when the next one may begin.
func (d *dispatching) one(ctx context.Context, id string, free func()) {
	r := d.r
	own := Sending(ctx, func(done, total int64) { r.f.watcher().Sent(r.job.JID, id, done, total) })
	own = r.f.Output.Context(own, tee.Place{JID: r.job.JID, Host: id}, heard(r.job))
	own, left := d.in.admit(own, id, func(p Phase) { r.f.watcher().At(r.job.JID, id, p) })
	ret := r.notBegun(own, d.ask.call(own, d.owner[id], r.job, id))
	left()
	r.deliver(ret)
	free()
}

// heard is the function of a job whose programs are heard as its own; "": those of its
// states are.
func heard(job fun.Job) string {
	if job.OfState() {
		return ""
	}
	return job.Fun
}

// work works on targets and waits until all have returned, or were left out.
func (d *dispatching) work(ctx context.Context, ids []string) {
	r := d.r
	var wg sync.WaitGroup
	for _, id := range r.publish(ctx, ids, d.owner, func(id string) { wg.Go(func() { d.one(ctx, id, func() {}) }) }) {
		taken := false
		select {
		case d.sem <- struct{}{}:
			taken = true
		case <-ctx.Done():
		}
		if r.stopped(ctx) {
			if taken {
				<-d.sem
			}
			r.deliver(fun.Return{ID: id, JID: r.job.JID, Stage: fun.Refused, Err: r.whyStopped(ctx)})
			continue
		}
		wg.Go(func() {
			d.one(ctx, id, func() {
				r.waitForBatch(ctx)
				<-d.sem
			})
		})
	}
	wg.Wait()
}

// stopped reports whether no further target may begin.
func (r *running) stopped(ctx context.Context) bool {
	if ctx.Err() != nil || r.f.Gate != nil && !r.f.Gate(ctx, nil) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil || r.halt != nil
}

// whyStopped is the reason of the targets that did not begin.
func (r *running) whyStopped(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && r.halt != nil && ctx.Err() == nil {
		return r.halt
	}
	return fun.ErrStopped
}

// waitForBatch keeps a slot of the batch free for BatchWait.
func (r *running) waitForBatch(ctx context.Context) {
	if r.job.BatchWait <= 0 {
		return
	}
	t := time.NewTimer(r.job.BatchWait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// largeReturn is how many bytes a return has, about, that is handed over while no
// other large one is.
const largeReturn = 1 << 20

// leanGC is the GOGC of a process that was given large returns: what was decoded and
// printed of one does not stay for as long as the next is.
const leanGC = 25

// collectOften sets leanGC, unless the environment says how often to collect.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(leanGC)
	}
}

// deliver hands one return over, once it is recorded. It is decoded once for the record,
// the event and who judges it. Large ones are handed over one after the other.
func (r *running) deliver(ret fun.Return) {
	if ret.Larger(largeReturn) {
		r.f.large.Lock()
		defer r.f.large.Unlock()
		r.f.lean.Do(collectOften)
	}
	ret = ret.Decoded()
	if errors.Is(ret.Err, context.Canceled) && errors.Unwrap(ret.Err) == nil {
		ret.Err = fun.ErrEnded
	}
	left := errors.Is(ret.Err, fun.ErrNotBegun) || errors.Is(ret.Err, fun.ErrStopped)
	var failed, good bool
	if !left {
		if failed, good = r.judge(ret); !good {
			ret = ret.Condemned()
		}
	}
	r.f.doubt(r.rec.Return(ret))
	r.mu.Lock()
	defer r.mu.Unlock()
	if ret.Stage != fun.Returned {
		r.missing = append(r.missing, ret.ID)
	}
	if !left {
		r.count(ret.ID, failed, good)
	}
	r.f.watcher().Done(ret)
	r.f.returned(r.job, ret)
	if r.err == nil {
		r.err = r.each(ret)
	}
}

// LocalIDs returns the ids of the machines that are this one: those that are not
// reached over a connection.
func (f *Fleet) LocalIDs() []string {
	var out []string
	for _, p := range f.Providers {
		if l, ok := p.(*Local); ok {
			out = append(out, l.Names...)
		}
	}
	return out
}
