package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// RosterFleet is the name of the machines that are listed, where fleets are named.
const RosterFleet = "roster"

// targets are the machines that a job is for.
type targets struct {
	ids   []string // sorted
	owner map[string]Provider
	// unasked are machines that may be meant, with the reason why that is not known.
	unasked map[string]error
	// unavailable are the targets that cannot be asked to run the job, with the reason.
	unavailable map[string]error
	// outside are the targets that Fleet.Keep leaves out, sorted.
	outside []string
}

// all are the machines that a job runs on, or would where they could be asked.
func (t *targets) all() map[string]bool {
	out := make(map[string]bool, len(t.ids)+len(t.unavailable))
	for _, id := range t.ids {
		out[id] = true
	}
	for id := range t.unavailable {
		out[id] = true
	}
	return out
}

// targets returns the machines that a job is for, within what Keep leaves.
func (f *Fleet) targets(ctx context.Context, job fun.Job) (targets, error) {
	t, err := f.matched(ctx, job, true)
	f.cut(&t)
	return t, err
}

// matched returns the machines that a job is for, whatever Keep says; see expression
// for within.
func (f *Fleet) matched(ctx context.Context, job fun.Job, within bool) (targets, error) {
	if job.Fleet == "" || job.Fleet == RosterFleet {
		found, named, err := f.named(ctx, job)
		if err != nil {
			return targets{}, err
		}
		if named { // whatever minions of the same id were found before
			_, owner, err := f.listed(ctx, RosterFleet)
			return targets{ids: found, owner: owner}, err
		}
	}
	t, err := f.expression(ctx, job, within)
	if err != nil {
		return targets{}, err
	}
	t.unavailable = f.unavailable(job, slices.Sorted(maps.Keys(t.owner)), t.owner, t.unasked)
	return t, nil
}

// Listed returns the ids of the machines that a job is for, sorted, also of those that
// Keep leaves out, and an error for each id of a list that nobody has.
func (f *Fleet) Listed(ctx context.Context, job fun.Job) (ids []string, unlisted []error, err error) {
	found, err := f.matched(ctx, job, false)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(found.unavailable)) {
		if _, ok := errors.AsType[*fun.UnlistedError](found.unavailable[id]); ok {
			unlisted = append(unlisted, found.unavailable[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found.unasked)) {
		f.warnUnasked(id, found.unasked[id])
	}
	return found.ids, unlisted, nil
}

// warnUnlisted warns of unknown ids in a compound target or node group: they
// match nothing, and "not" does not exclude the machine that was meant. It does
// not know which minions masters have.
func (f *Fleet) warnUnlisted(job fun.Job, ids []string, owner map[string]Provider) {
	if f.Warn == nil || job.TgtType != "compound" && job.TgtType != "nodegroup" || len(f.fleets()) > 1 {
		return
	}
	words, err := target.Words(job.Tgt, job.TgtType, f.Nodegroups)
	if err != nil {
		return
	}
	told := map[string]bool{}
	for _, w := range words {
		kind, pattern, ok := target.IDWord(w)
		if !ok || kind == "pcre" || kind == "glob" && strings.ContainsAny(pattern, "*?[") {
			continue
		}
		for _, id := range unknownIDs(fun.Job{Tgt: pattern, TgtType: "list"}, owner) {
			if !told[id] {
				told[id] = true
				f.Warn(fun.Warning{Text: fmt.Sprintf("the target %q names %s, which is not in the roster%s", value.Str(job.Tgt), id, source.DidYouMean(id, ids))})
			}
		}
	}
}

// searchedFleets returns the fleets among which a target of fleet is looked for, as
// fun.UnlistedError has them; nil is the roster alone.
func (f *Fleet) searchedFleets(fleet string) []string {
	names := f.fleets()
	if fleet != "" {
		names = []string{fleet}
	}
	if i := slices.Index(names, RosterFleet); i >= 0 {
		names[i] = ""
	}
	return names
}

// expression returns the machines that an expression matches: in the lists of
// the providers, and according to providers without a list. It returns a
// *fun.TargetError for an invalid expression, and an error for machines with
// the same id in several fleets. Where within, machines that Keep leaves out are not asked
// for their grains: they are outside.
func (f *Fleet) expression(ctx context.Context, job fun.Job, within bool) (targets, error) {
	if err := f.hasFleet(job.Fleet); err != nil {
		return targets{}, err
	}
	ids, owner, err := f.listed(ctx, job.Fleet)
	if err != nil {
		return targets{}, err
	}
	t := targets{owner: owner}
	if within && f.Keep != nil && f.asks(job) {
		ids, t.outside = f.Cut(ids)
	}
	if t.ids, t.unasked, err = f.match(ctx, job.Tgt, job.TgtType, ids, owner); err != nil {
		return targets{}, err
	}
	seen := make(map[string]bool, len(t.ids))
	for _, id := range t.ids {
		seen[id] = true
	}
	for _, got := range f.resolve(ctx, job) {
		if got.err != nil && (!f.AllowUnreachable || ctx.Err() != nil) {
			return targets{}, got.err
		}
		if got.err != nil {
			f.doubt(got.err)
			continue
		}
		for _, id := range got.ids {
			mine, err := f.claim(t.owner, id, got.r)
			if err != nil {
				return targets{}, err
			}
			if mine && !seen[id] { // else it was found in a fleet that comes later
				seen[id] = true
				t.ids = append(t.ids, id)
			}
		}
		for id, why := range got.unasked {
			mine, err := f.claim(t.owner, id, got.r)
			if err != nil {
				return targets{}, err
			}
			if mine {
				t.unasked[id] = why
			}
		}
	}
	sort.Strings(t.ids)
	f.warnUnlisted(job, ids, owner)
	return t, ctx.Err()
}

// claim makes r the owner of an id, and reports whether it is: a fleet that comes
// before it in the order may have the id, too.
func (f *Fleet) claim(owner map[string]Provider, id string, r Resolver) (bool, error) {
	other := owner[id]
	if other == nil || other == Provider(r) {
		owner[id] = r
		return true, nil
	}
	a, b := fleetName(other), r.FleetName()
	i, j := slices.Index(f.Order, a), slices.Index(f.Order, b)
	if i < 0 || j < 0 {
		return false, fun.Errorf("the target %s is in two fleets: %s and %s; choose one of them with --fleet, or name both in fleet_order, where the first one wins", id, a, b)
	}
	if j < i {
		owner[id] = r
	}
	return j < i, nil
}

// fleetName returns the name of the fleet that a provider is.
func fleetName(p Provider) string {
	if r, ok := p.(Resolver); ok {
		return r.FleetName()
	}
	return RosterFleet
}

// listed is owners without the machines of those who have no list. fleet, where it
// is not "", is the only one that is looked at.
func (f *Fleet) listed(ctx context.Context, fleet string) (ids []string, owner map[string]Provider, err error) {
	if fleet != "" && fleet != RosterFleet {
		return nil, map[string]Provider{}, nil
	}
	return f.ownersAmong(ctx, func(p Provider) bool { _, ok := p.(Resolver); return !ok })
}

// A resolved is what one Resolver says of a target.
type resolved struct {
	r       Resolver
	ids     []string
	unasked map[string]error
	err     error
}

// resolve asks all those that have no list.
func (f *Fleet) resolve(ctx context.Context, job fun.Job) []resolved {
	var all []resolved
	for _, p := range f.providers() {
		if r, ok := p.(Resolver); ok && (job.Fleet == "" || job.Fleet == r.FleetName()) {
			all = append(all, resolved{r: r})
		}
	}
	var g errgroup.Group
	for i := range all {
		g.Go(func() error {
			a := &all[i]
			a.ids, a.unasked, a.err = a.r.Resolve(ctx, job.Tgt, job.TgtType, f.Nodegroups)
			return nil
		})
	}
	_ = g.Wait() // what goes wrong is in all
	return all
}

// fleets returns the names of the fleets, that of the roster first.
func (f *Fleet) fleets() []string {
	names := []string{RosterFleet}
	for _, p := range f.providers() {
		if r, ok := p.(Resolver); ok {
			names = append(names, r.FleetName())
		}
	}
	return names
}

// hasFleet returns an error where a fleet is named that is not one of the run.
func (f *Fleet) hasFleet(name string) error {
	if names := f.fleets(); name != "" && !slices.Contains(names, name) {
		return fun.Errorf("there is no fleet %q in this run; there are %s", name, strings.Join(names, ", "))
	}
	return nil
}

// fleetsOf returns the targets of each fleet that has no list.
func fleetsOf(ids []string, owner map[string]Provider) map[string][]string {
	var out map[string][]string
	for _, id := range ids {
		if r, ok := owner[id].(Resolver); ok {
			if out == nil {
				out = map[string][]string{}
			}
			out[r.FleetName()] = append(out[r.FleetName()], id)
		}
	}
	return out
}

// ownersOf adds the owners of the targets of a recorded job that are in fleets
// without a list.
func (f *Fleet) ownersOf(j *jobs.Job, owner map[string]Provider) {
	fleets := j.Load.Map("fleets")
	for _, p := range f.providers() {
		r, ok := p.(Resolver)
		if !ok {
			continue
		}
		ids := fleets.List(r.FleetName())
		for i := range ids.Len() {
			if id, ok := ids.Items[i].(string); ok {
				owner[id] = r
			}
		}
	}
}

// publish begins the job on the machines of those that can begin it on many at
// once, and calls each for every one of them. It returns the other targets: all,
// where the job goes in batches.
func (r *running) publish(ctx context.Context, ids []string, owner map[string]Provider, each func(id string)) []string {
	if r.job.Batch != "" || r.stopped(ctx) {
		return ids
	}
	rest, by := byPublisher(ids, owner)
	for p, ids := range by {
		p.Publish(ctx, r.job, ids)
		for _, id := range ids {
			each(id)
		}
	}
	return rest
}

// byPublisher parts ids by who can begin a job on many of them at once.
func byPublisher(ids []string, owner map[string]Provider) (rest []string, by map[Publisher][]string) {
	by = map[Publisher][]string{}
	for _, id := range ids {
		if p, ok := owner[id].(Publisher); ok {
			by[p] = append(by[p], id)
		} else {
			rest = append(rest, id)
		}
	}
	return rest, by
}

// IsOwnJob reports whether a jid is that of a job of this run.
func (f *Fleet) IsOwnJob(jid string) bool {
	_, ok := f.jids.Load(jid)
	return ok
}

// A follower is a Provider whose machines send events by themselves.
type follower interface {
	Follow()
	Listen(ctx context.Context)
}

// Follow has the events of the masters come to the bus; see [fun.Masters].
func (f *Fleet) Follow() {
	for _, p := range f.providers() {
		if l, ok := p.(follower); ok {
			l.Follow()
		}
	}
}

// Listen waits until the events of the masters come to the bus; see [fun.Masters].
func (f *Fleet) Listen(ctx context.Context) {
	var g errgroup.Group
	for _, p := range f.providers() {
		if l, ok := p.(follower); ok {
			g.Go(func() error {
				l.Listen(ctx)
				return nil
			})
		}
	}
	_ = g.Wait() // there is no error
}

// A master is a Provider whose machines have a master with functions of its own.
type master interface {
	CallMaster(ctx context.Context, kind fun.Kind, name string, args fun.Args) (v any, jid string, ok bool, err error)
}

// CallMaster calls a runner or wheel function of the master of a fleet; see
// [fun.Masters].
func (f *Fleet) CallMaster(ctx context.Context, fleet string, kind fun.Kind, name string, args fun.Args) (v any, jid string, ok bool, err error) {
	if err := f.hasFleet(fleet); err != nil {
		return nil, "", false, err
	}
	if f.Permit != nil && len(f.Permit.Hosts) > 0 {
		return nil, "", false, fun.Errorf("%s cannot run on the master of the fleet %s: it may reach other machines than hosts=%s", name, fleet, strings.Join(f.Permit.Hosts, ","))
	}
	if f.Keep != nil {
		return nil, "", false, fun.Errorf("%s cannot run on the master of the fleet %s: it may reach machines that --limit leaves out", name, fleet)
	}
	for _, p := range f.providers() {
		m, isMaster := p.(master)
		if r, named := p.(Resolver); isMaster && named && r.FleetName() == fleet {
			return m.CallMaster(ctx, kind, name, args)
		}
	}
	return nil, "", false, errors.New("the machines of the roster have no master")
}

var _ fun.Masters = (*Fleet)(nil)
