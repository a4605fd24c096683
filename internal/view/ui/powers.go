package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// powers are what a request may read, reach and run. A handler has the [Backend] only
// through [Server.back], which refuses what the row of its route does not grant.
type powers uint32

const (
	readNames    powers = 1 << iota // what is defined, and when it is to run
	readSteps                       // its steps, without the secrets that records leave out
	readText                        // chains as they are written
	readAnswers                     // the answers that are kept of a template
	readRecords                     // jobs and executions
	readRuns                        // what the pages started, and how it goes
	readHosts                       // the roster, matched by what is known of hosts
	readPillar                      // whether a whole value is in the pillar of a host
	searchPillar                    // pillar, by patterns
	reachHosts                      // hosts are asked for their grains
	runTemplates                    // templates of the tree and of the pillar, on the controller
	runDefined                      // what is defined, and test.ping
	runAny                          // any function, any recorded job
	endRuns
	answerRuns // that wait for an approval
	planRuns
	changeChains
	sendEvents // with the tags that a token names
)

// powerWords are the powers in the words of the documentation, by its columns.
var powerWords = []struct {
	power  powers
	column int // 0 reads, 1 reaches, 2 runs and changes
	text   string
}{
	{readNames, 0, "names and descriptions"},
	{readSteps, 0, "steps, redacted"},
	{readText, 0, "chains as written"},
	{readAnswers, 0, "kept answers"},
	{readRecords, 0, "records"},
	{readRuns, 0, "runs of the pages"},
	{readHosts, 0, "roster, kept grains"},
	{readPillar, 0, "pillar, whole values"},
	{searchPillar, 0, "pillar, patterns"},
	{reachHosts, 1, "hosts, for grains"},
	{runDefined | runAny, 1, "hosts, to run"},
	{runTemplates, 2, "renders on the controller"},
	{runDefined, 2, "what is defined"},
	{runAny, 2, "any function, any job again"},
	{endRuns, 2, "ends runs"},
	{answerRuns, 2, "approves runs"},
	{planRuns, 2, "schedules chains"},
	{changeChains, 2, "changes chains"},
	{sendEvents, 2, "sends events"},
}

// describe are the powers in words: what is read, what is reached, what is run and changed.
func (p powers) describe() (columns [3]string) {
	var words [3][]string
	for _, x := range powerWords {
		if p&x.power != 0 {
			words[x.column] = append(words[x.column], x.text)
		}
	}
	for i := range words {
		columns[i] = strings.Join(words[i], "; ")
	}
	return columns
}

// A MatchLevel is how far a target expression is looked up.
type MatchLevel int

const (
	// MatchKnown matches by the roster and by grains that are known here. No machine is
	// connected to, and no pillar is looked at.
	MatchKnown MatchLevel = iota
	// MatchExact also asks machines for their grains, and matches pillar by whole
	// values: no patterns, by which values could be found out a character at a time.
	MatchExact
	// MatchFull matches as a run does.
	MatchFull
	// MatchFacts matches as MatchKnown does, and by the grains that hosts returned when they
	// were last asked for all of them.
	MatchFacts
)

// A roleError says that a role may not do something.
type roleError struct {
	needs Role
	why   string
}

// Error says which role is needed, and why.
func (e *roleError) Error() string {
	return fmt.Sprintf("This needs the role %s; %s.", e.needs, e.why)
}

// errUngranted is what a request gets that asks for more than its row says.
var errUngranted = errors.New("this page asked for what its role may not have; please report this bug")

// granted is the backend of a request.
type granted struct {
	b      Backend
	may    powers
	limits *Scope // of the visitor
}

type powersKey struct{}

// back returns the backend with what the row of the route grants to the role of the
// visitor. Outside of a route, it grants nothing.
func (s *Server) back(ctx context.Context) granted {
	may, _ := ctx.Value(powersKey{}).(powers)
	limits := &Scope{}
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		limits = v.limits()
	}
	return granted{s.opts.Backend, may, limits}
}

// needs returns an error unless all of some powers are granted.
func (g granted) needs(p powers) error {
	if g.may&p != p {
		return errUngranted
	}
	return nil
}

func (g granted) catalogue(ctx context.Context) (*Catalogue, error) {
	if err := g.needs(readNames); err != nil {
		return nil, err
	}
	c, err := g.b.Catalogue(ctx)
	if err != nil {
		return nil, err
	}
	return c.within(g.limits), nil
}

func (g granted) states(ctx context.Context, f func(names []string, first func(name string) string) error) error {
	if err := g.needs(readNames); err != nil {
		return err
	}
	return g.b.States(ctx, f)
}

func (g granted) planned(ctx context.Context) ([]Planned, error) {
	if err := g.needs(readNames); err != nil {
		return nil, err
	}
	all, err := g.b.Planned(ctx)
	return slices.DeleteFunc(slices.Clone(all), func(x Planned) bool { return !g.limits.allows(kept.Chains, x.Chain) }), err
}

// recurring returns the schedules of queues, with their next times before a moment.
func (g granted) recurring(ctx context.Context, until time.Time) ([]Recurrence, error) {
	if err := g.needs(readNames); err != nil {
		return nil, err
	}
	all, err := g.b.Recurring(ctx, until)
	return slices.DeleteFunc(slices.Clone(all), func(x Recurrence) bool { return !g.limits.seesRecurring(x.Runs) }), err
}

func (g granted) addRecurring(ctx context.Context, x NewRecurrence) error {
	if err := g.needs(planRuns); err != nil {
		return err
	}
	if err := g.limits.recurs(x.Kind + " " + x.What); err != nil {
		return err
	}
	return g.b.AddRecurring(ctx, x)
}

func (g granted) changeRecurring(ctx context.Context, name, what string) error {
	if err := g.needs(planRuns); err != nil {
		return err
	}
	if err := g.limits.recursNow(ctx, g.b, name); err != nil {
		return err
	}
	return g.b.ChangeRecurring(ctx, name, what)
}

func (g granted) steps(ctx context.Context, sls string) (*value.List, string, error) {
	if err := g.needs(readSteps | runTemplates); err != nil {
		return nil, "", err
	}
	return g.b.Steps(ctx, sls)
}

func (g granted) state(ctx context.Context, sls string) (*value.List, string, error) {
	if err := g.needs(readSteps | runTemplates); err != nil {
		return nil, "", err
	}
	return g.b.State(ctx, sls)
}

// planText returns a plan that a run has made as text.
func (g granted) planText(made []byte, format string) (string, error) {
	if err := g.needs(readRuns); err != nil {
		return "", err
	}
	return g.b.PlanText(made, format)
}

// redacted returns texts as records have them.
func (g granted) redacted(ctx context.Context, texts []string) ([]string, error) {
	if err := g.needs(runTemplates); err != nil {
		return nil, err
	}
	return g.b.Redact(ctx, texts)
}

// checkPowers are those of checking a chain: its targets are looked up as a run would.
const checkPowers = readSteps | runTemplates | fullPowers

// checkChain returns what of a chain cannot work, and what cannot be judged.
func (g granted) checkChain(ctx context.Context, name string) (faults, unsure []string, err error) {
	if err := g.needs(checkPowers); err != nil {
		return nil, nil, err
	}
	return g.b.CheckChain(ctx, name)
}

// checkDefinition is checkChain for an orchestration or a template.
func (g granted) checkDefinition(ctx context.Context, kind, name string) (faults, unsure []string, err error) {
	if err := g.needs(checkPowers); err != nil {
		return nil, nil, err
	}
	if kind == kept.Templates {
		return g.b.CheckTemplate(ctx, name)
	}
	return g.b.CheckOrchestration(ctx, name)
}

// template returns a template; without the power to read answers, as if none were
// kept.
func (g granted) template(ctx context.Context, name string) (*orchestration.Template, *orchestration.Answers, error) {
	if err := g.needs(readNames); err != nil {
		return nil, nil, err
	}
	t, a, err := g.b.Template(ctx, name)
	if g.needs(readAnswers) != nil {
		a = nil
	}
	return t, a, err
}

// form returns the form of a formula; nil: it has none.
func (g granted) form(ctx context.Context, sls string) (*form.Form, error) {
	if err := g.needs(readText); err != nil {
		return nil, err
	}
	return g.b.Form(ctx, sls)
}

// match returns who matches an expression that somebody typed, as far as the role may
// see, and who may match, too.
func (g granted) match(ctx context.Context, expr string) (ids []string, note string, err error) {
	if err := g.needs(readHosts); err != nil {
		return nil, "", err
	}
	if err := g.plainTarget(ctx, expr); err != nil {
		return nil, "", err
	}
	return g.seen(g.b.Match(ctx, expr, g.sight()))
}

// sight is how far the role has target expressions looked up.
func (g granted) sight() MatchLevel {
	switch {
	case g.may&searchPillar != 0:
		return MatchFull
	case g.may&readPillar != 0:
		return MatchExact
	}
	return MatchKnown
}

// matchFacts returns who matches an expression by what is kept of hosts, and who may match,
// too. Nobody is asked.
func (g granted) matchFacts(ctx context.Context, expr string) (ids []string, note string, err error) {
	if err := g.needs(readHosts | readRecords); err != nil {
		return nil, "", err
	}
	return g.seen(g.b.Match(ctx, expr, MatchFacts))
}

// facts returns what hosts last said of themselves.
func (g granted) facts(ctx context.Context, ids []string) (map[string]*facts.Facts, []error, error) {
	if err := g.needs(readRecords); err != nil {
		return nil, nil, err
	}
	known, faults, err := g.b.Facts(ctx, g.limits.only(ids))
	return g.limits.factsSeen(known), faults, err
}

// matchDefined returns who matches an expression that a definition has.
func (g granted) matchDefined(ctx context.Context, expr string) (ids []string, note string, err error) {
	if err := g.needs(readHosts | runDefined); err != nil {
		return nil, "", err
	}
	return g.seen(g.b.Match(ctx, expr, MatchFull))
}

func (g granted) jobs(ctx context.Context, f func(*jobs.Files) error) error {
	if err := g.needs(readRecords); err != nil {
		return err
	}
	return g.b.Jobs(ctx, f)
}

func (g granted) drift(ctx context.Context) ([]*drift.Subject, []error, error) {
	if err := g.needs(readRecords); err != nil {
		return nil, nil, err
	}
	all, faults, err := g.b.Drift(ctx)
	return g.limits.driftSeen(all), faults, err
}

func (g granted) history(ctx context.Context, f func(*history.Store) error) error {
	if err := g.needs(readRecords); err != nil {
		return err
	}
	return g.b.History(ctx, f)
}

func (g granted) schedule(ctx context.Context, chain, at, user string) error {
	if err := g.needs(planRuns); err != nil {
		return err
	}
	return g.b.Schedule(ctx, chain, at, user, g.limits.Hosts)
}

func (g granted) unschedule(ctx context.Context, id string) error {
	if err := g.needs(planRuns); err != nil {
		return err
	}
	return g.b.Unschedule(ctx, id)
}

// approvals returns the questions of runs that ask a second person.
func (g granted) approvals(ctx context.Context) ([]*approval.Entry, error) {
	if err := g.needs(readRuns); err != nil {
		return nil, err
	}
	all, err := g.b.Approvals(ctx)
	return g.limits.asked(all), err
}

func (g granted) approve(ctx context.Context, id, definition string, a approval.Answer) (*approval.Entry, error) {
	if err := g.needs(answerRuns); err != nil {
		return nil, err
	}
	return g.b.Approve(ctx, id, definition, a)
}

// chains returns the directory of chains.
func (g granted) chains(ctx context.Context) (*chainStore, error) {
	if g.may&(readSteps|readText|changeChains) == 0 {
		return nil, errUngranted
	}
	st, err := g.b.Chains(ctx)
	if err != nil {
		return nil, err
	}
	return &chainStore{st, g}, nil
}

// A chainStore is the directory of chains for a request.
type chainStore struct {
	st *chain.Store
	g  granted
}

// Path returns the file of a chain.
func (s *chainStore) path(name string) string { return s.st.Path(name) }

func (s *chainStore) read(name string) (*chain.Chain, []byte, error) { return s.st.Read(name) }

func (s *chainStore) write(name string, old, text []byte) error {
	if err := s.g.needs(changeChains); err != nil {
		return err
	}
	return s.st.Write(name, old, text)
}

func (s *chainStore) rename(name, to string, old, text []byte) error {
	if err := s.g.needs(changeChains); err != nil {
		return err
	}
	return s.st.Rename(name, to, old, text)
}

func (s *chainStore) delete(name string, old []byte) error {
	if err := s.g.needs(changeChains); err != nil {
		return err
	}
	return s.st.Delete(name, old)
}

// enqueue puts what a hook starts into a queue. A delivery has no role: the signature has
// been checked, and the hook says what is started.
func (s *Server) enqueue(ctx context.Context, d Delivery) (jid string, known bool, err error) {
	return s.opts.Backend.Enqueue(ctx, d)
}

// start starts a run for the visitor of a request.
func (s *Server) start(ctx context.Context, spec runSpec, v *visit) (*run, error) {
	r, _, err := s.startOnce(ctx, spec, v)
	return r, err
}

// startOnce is start, and says whether the run had been started before.
func (s *Server) startOnce(ctx context.Context, spec runSpec, v *visit) (r *run, before bool, err error) {
	need := runDefined
	if spec.AdHoc {
		need = runAny
	}
	if err := s.back(ctx).needs(need); err != nil {
		return nil, false, err
	}
	spec.Within = v.limits().Hosts
	return s.runs.start(ctx, spec, v.name)
}

// latestRuns returns what pages show of the latest runs, without steps, and whether there
// are more.
func (s *Server) latestRuns(ctx context.Context, n int) (out []runView, more bool, err error) {
	err = s.eachRun(ctx, func(v runView) bool {
		if more = len(out) == n; !more {
			out = append(out, v)
		}
		return !more
	})
	return out, more, err
}

// eachRun calls f with what is known of each run that the visitor may see, without what it
// wrote, the latest first, until f returns false.
func (s *Server) eachRun(ctx context.Context, f func(runView) (more bool)) error {
	if err := s.back(ctx).needs(readRuns); err != nil {
		return err
	}
	limits := s.back(ctx).limits
	return s.runs.each(ctx, func(v runView) bool {
		if limits.Limited() && !limits.sees(v.Spec.Spec) {
			return true
		}
		if !limits.whole(v.Spec.Spec) {
			v.Spec.Hosts = limits.only(v.Spec.Hosts)
		}
		return f(v)
	})
}

// findRun returns a run that the pages started.
func (s *Server) findRun(ctx context.Context, id string) (*run, error) {
	if err := s.back(ctx).needs(readRuns); err != nil {
		return nil, err
	}
	return s.runs.find(ctx, id)
}

// viewRun is what a visitor sees of a run; see run.view.
func (s *Server) viewRun(ctx context.Context, x *run, after int) (runView, <-chan struct{}) {
	return x.view(after, s.back(ctx).limits)
}
