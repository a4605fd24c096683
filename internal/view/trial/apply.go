package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/host"
	"brine/internal/fleet/machine"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Lab is where cases are applied to machines.
type Lab struct {
	*World
	Pool   *machine.Pool
	Images *machine.Images
	Driver string            // of cases that name none; "" is the first that can be used
	Given  map[string]string // paths of images by system, over those of cases
	Stubs  []string          // names of empty packages that all machines can install
	Lock   *Lock             // of images; nil: there is none
	Jobs   int               // tests at a time, as far as memory has room for their machines; 0: as many as there are cores
	Exe    string            // brine, as it is put into machines
	// Done gets each result, one at a time; nil: nobody does.
	Done func(*Result)
	// Hold gets all results with their machines, which are removed when it returns; nil:
	// each machine is removed after its last check.
	Hold func(ctx context.Context, kept []Kept)
	// OnFailure gets a job that failed before its machines are removed, one at a time;
	// nil: nobody does.
	OnFailure func(ctx context.Context, kept Kept)

	// PlaceExe says that brine itself is what runs on the targets of an orchestration: it has
	// no agents.
	PlaceExe bool

	exeOnce  sync.Once
	exeSum   string // of Exe
	exeErr   error
	failures sync.Mutex
	taken    takenHosts
}

// Kept is the result of a job with its machines: those that could be made.
type Kept struct {
	*Result
	Machines []*machine.Machine
}

// Apply applies jobs to fresh machines and checks what comes of it. The error says that
// no machine can be made, or is that of ctx.
func Apply(ctx context.Context, l *Lab, jobs []Job) ([]*Result, error) {
	dir, done, err := l.Pool.Scratch()
	if err != nil {
		return nil, err
	}
	defer done()
	plans := make([]*plan, len(jobs))
	for i, j := range jobs {
		if plans[i], err = l.plan(ctx, j, filepath.Join(dir, fmt.Sprint(i))); err != nil {
			return nil, err
		}
	}
	if err := l.mayHold(plans); err != nil {
		return nil, err
	}
	l.share(plans, filepath.Join(dir, "snapshots"))
	r, err := l.room(plans)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(jobs))
	ended := make(chan *Result)
	var g errgroup.Group
	g.SetLimit(l.atATime())
	go func() {
		for i, p := range plans {
			g.Go(func() error {
				defer r.take(ctx, p)()
				results[i] = p.run(ctx)
				ended <- results[i]
				return nil
			})
		}
		_ = g.Wait() // what fails is in the results
		close(ended)
	}()
	for r := range ended {
		if l.Done != nil && ctx.Err() == nil {
			l.Done(r)
		}
	}
	err = ctx.Err()
	if l.Hold != nil && err == nil {
		l.hold(ctx, plans) // until ctx ends, which then is not a failure
	}
	for _, p := range plans {
		p.remove()
	}
	return results, err
}

// hold calls Hold.
func (l *Lab) hold(ctx context.Context, plans []*plan) {
	kept := make([]Kept, len(plans))
	for i, p := range plans {
		kept[i] = p.kept()
	}
	l.Hold(ctx, kept)
}

// kept is the job with its machines.
func (p *plan) kept() Kept {
	k := Kept{Result: p.r}
	for _, q := range p.all() {
		if q.m != nil {
			k.Machines = append(k.Machines, q.m)
		}
	}
	return k
}

// Failing returns the machines on which a check failed, else the first one.
func (k Kept) Failing() []*machine.Machine {
	failing := slices.DeleteFunc(slices.Clone(k.Machines), func(m *machine.Machine) bool {
		return !slices.ContainsFunc(k.Checks, func(c Check) bool { return c.Status == Failed && strings.HasPrefix(c.Name, m.Name+": ") })
	})
	if len(failing) == 0 && len(k.Machines) > 0 {
		return k.Machines[:1]
	}
	return failing
}

// removing names the removal of a machine that was made.
const removing = "remove the machine"

// Left says of the machines of a job what could not be removed.
func (r *Result) Left() (texts []string) {
	for _, c := range r.Checks {
		if c.Status == Failed && (strings.HasSuffix(c.Name, removing) || strings.HasSuffix(c.Name, tidying)) {
			texts = append(texts, r.Name()+": "+c.Name+": "+c.Text)
		}
	}
	return texts
}

// remove removes the machines of a job, as far as they were made.
func (p *plan) remove() {
	for _, q := range slices.Backward(p.all()) {
		if q.m == nil {
			continue
		}
		began := time.Now()
		if err := q.m.Close(); err != nil {
			q.add(Check{Name: cmp.Or(q.leaving(), removing), Status: Failed, Text: err.Error(), Pos: p.job.Case.Pos}, began)
		}
		q.m = nil
	}
	p.endSSH()
}

// A plan is a job with what it needs: its machine, or the controller of an orchestration
// and the plans of the machines that are its targets.
type plan struct {
	*Lab
	job    Job
	name   string // of a machine of an orchestration, and its controller; "" for others
	nodes  []*plan
	ssh    *sshSite
	driver *machine.Driver
	image  string
	given  *machine.Given // nil: the machine is made
	shared *snapshot      // that its machine is made from; nil: its image alone
	ws     *workspace
	roots  []string // of SLS files, on this machine

	m    *machine.Machine
	r    *Result
	made []stateRet // the states of the apply on this machine
}

// inside is where a machine has what is needed for its test.
const inside = "/.brine-test"

// add adds a check, under the name of its machine where a job has several.
func (p *plan) add(c Check, began time.Time) {
	if p.name != "" && len(p.nodes) == 0 {
		c.Name = p.name + ": " + c.Name
	}
	p.r.add(c, began)
}

// plan prepares a job: of each of its machines, the driver, the image and the files.
func (l *Lab) plan(ctx context.Context, j Job, dir string) (*plan, error) {
	if len(j.Case.Nodes) > 0 {
		return l.site(ctx, j, dir)
	}
	return l.planOf(ctx, j, dir, "")
}

// planOf prepares one machine of a job.
func (l *Lab) planOf(ctx context.Context, j Job, dir, name string) (*plan, error) {
	p := &plan{Lab: l, job: j, name: name, r: &Result{Job: j}}
	var err error
	if p.driver, err = l.driver(ctx, j.Case.Machine.Driver); err != nil {
		return nil, err
	}
	image := cmp.Or(l.Given[j.System], j.Case.Machine.Images[j.System])
	switch {
	case p.driver.TakesHosts():
		err = p.take(name)
	default:
		p.image, err = p.findImage(ctx, image)
	}
	if err != nil {
		return nil, err
	}
	if p.ws, err = newWorkspace(l.Host, dir, j.Case); err != nil {
		return nil, &source.Error{Pos: j.Case.Pos, Err: err}
	}
	if err := p.writePackages(); err != nil {
		return nil, err
	}
	p.roots = p.ws.roots(l.Opts, j.Case, same)
	return p, writeYAML(p.ws.writer(l.Host), "conf/minion", l.minionOf(p))
}

// driver returns the driver of a name, or the first that can be used.
func (l *Lab) driver(ctx context.Context, name string) (*machine.Driver, error) {
	if l.Driver != "" {
		name = l.Driver
	}
	var names []string
	var first error
	for _, d := range machine.Drivers() {
		names = append(names, d.Name)
		if name != "" && d.Name != name || name == "" && d.TakesHosts() {
			continue
		}
		err := d.Usable(ctx, l.Host)
		if err == nil {
			return &d, nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	return nil, fmt.Errorf("unknown driver %q%s: there are %s", name, source.DidYouMean(name, names), strings.Join(names, ", "))
}

// notInside are options of a configuration that are about this machine.
var notInside = []string{"cachedir", "conf_file", "config_dir", "log_file", "pki_dir", "root_dir", "sock_dir", "pidfile", "default_include", "include"}

// minionOf is the configuration in the machine.
func (l *Lab) minionOf(p *plan) *value.Map {
	conf := value.NewMap(0)
	for k, v := range l.Settings.All() {
		if !slices.Contains(notInside, value.Str(k)) {
			conf.Set(k, v)
		}
	}
	opts := p.ws.options(l.Opts, p.job.Case, p.at)
	for _, key := range []string{"file_roots", "pillar_roots", "file_client"} {
		conf.Set(key, opts.At(key))
	}
	conf.Set("id", cmp.Or(p.name, p.job.System))
	conf.Set("cachedir", "/var/cache/brine")
	if grains := p.grains(); grains.Len() > 0 {
		conf.Set("grains", grains)
	}
	return conf
}

// grains are those of the configuration, and over them those of the case.
func (p *plan) grains() *value.Map {
	grains := value.NewMap(0)
	value.Update(grains, p.Settings.Map("grains"), true, false)
	if p.job.Case.Grains != nil {
		value.Update(grains, p.job.Case.Grains, true, false)
	}
	return grains
}

// at is where the machine has a directory of this machine.
func (p *plan) at(dir string) string {
	if rel, err := filepath.Rel(p.ws.dir, dir); err == nil && filepath.IsLocal(rel) {
		return inside + "/case/" + rel
	}
	return inside + "/tree/" + strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-")
}

// binds are the files that the machine has.
func (p *plan) binds() []machine.Bind {
	binds := []machine.Bind{{From: p.Exe, To: inside + "/brine"}, {From: p.ws.dir, To: inside + "/case"}}
	add := func(dir string) {
		b := machine.Bind{From: dir, To: p.at(dir)}
		if st, err := p.Host.Stat(dir); err == nil && st.Mode.IsDir() && !slices.Contains(binds, b) && !strings.HasPrefix(b.To, inside+"/case/") {
			binds = append(binds, b)
		}
	}
	opts := p.ws.options(p.Opts, p.job.Case, same)
	for _, key := range []string{"file_roots", "pillar_roots"} {
		for _, dirs := range opts.Map(key).All() {
			l, _ := dirs.(*value.List)
			for i := range l.Len() {
				add(value.Str(l.Items[i]))
			}
		}
	}
	return binds
}

// create makes the machine.
func (p *plan) create(ctx context.Context, beside *machine.Machine) error {
	var err error
	p.m, err = p.Pool.Create(ctx, p.driver, machine.Spec{
		Name: cmp.Or(p.name, hostName(p.job.System)), Image: p.image, Over: p.shared.path(), Binds: p.binds(), Network: p.job.Case.Machine.Network, Beside: beside, Given: p.given,
	})
	return err
}

// hostName makes a host name of the name of a system.
func hostName(system string) string {
	name := strings.ToLower(strings.NewReplacer(".", "-", "_", "-").Replace(system))
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// run applies the job to fresh machines and checks it.
func (p *plan) run(ctx context.Context) *Result {
	defer p.taken.take(p.given)()
	began := time.Now()
	defer func() { p.r.Took = time.Since(began) }()
	if p.fromSnapshot(ctx) && p.createAll(ctx) {
		p.sayShared()
		p.checks(ctx)
	}
	if p.OnFailure != nil && p.r.Failed() && ctx.Err() == nil {
		p.failures.Lock()
		p.OnFailure(ctx, p.kept())
		p.failures.Unlock()
	}
	if p.Hold == nil {
		p.remove()
	}
	return p.r
}

// all are the plans of all machines of a job.
func (p *plan) all() []*plan { return append([]*plan{p}, p.nodes...) }

// createAll makes the machines of a job at the same time; false if one cannot be made.
func (p *plan) createAll(ctx context.Context) bool {
	began := time.Now()
	all := p.all()
	errs := make([]error, len(all))
	var g errgroup.Group
	var beside *machine.Machine
	for i, q := range all {
		if i == 1 && p.Host.Geteuid() != 0 {
			// The others are beside the first one: only so can a user connect them.
			if _ = g.Wait(); errs[0] != nil {
				break
			}
			beside = p.m
		}
		g.Go(func() error {
			errs[i] = q.create(ctx, beside)
			return nil
		})
	}
	_ = g.Wait() // what fails is in errs
	text := p.driver.Name
	for i, q := range all {
		if err := errs[i]; err != nil {
			c := Check{Name: "machine", Status: Failed, Text: err.Error(), Pos: p.job.Case.Pos, Hint: cmp.Or(p.startHint(err), machine.SpaceHint(err), noSpace(err.Error()))}
			if be, ok := errors.AsType[*machine.BootError](err); ok && be.Console != "" {
				if last := lastLines(be.Console, 20); !strings.Contains(c.Text, last) {
					c.Text += "\n" + last
				}
			}
			q.add(c, began)
		}
	}
	if p.r.Failed() {
		return false
	}
	if len(p.nodes) > 0 {
		text += ": the controller and " + strings.Join(names(p.nodes), ", ")
	}
	p.add(p.freshness(Check{Name: "machine", Text: text}), began)
	return true
}

// lastLines returns the end of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// A stateRet is the return of a state on a machine.
type stateRet struct {
	at  *plan
	tag string
	ret *value.Map
}

// checks runs the steps of a test. Where a step fails that others build on, those are
// not made, and say so.
func (p *plan) checks(ctx context.Context) {
	if !p.isOfSystem(ctx) {
		return
	}
	if len(p.nodes) > 0 {
		if err := p.connect(ctx); err != nil {
			p.fail("machine", time.Now(), err.Error())
			return
		}
	}
	if p.shared == nil && (!p.offer(ctx) || !p.prepare(ctx)) {
		return
	}
	before, ok := p.files(ctx)
	if !ok {
		return
	}
	began := time.Now()
	tested, ok := p.states(ctx, "test", true)
	if ok {
		p.untouched(ctx, before, began)
	}
	if !p.apply(ctx, tested) {
		for _, name := range []string{"again", "expect", "plan"} {
			p.add(Check{Name: name, Status: Skipped, Text: "not made, since the states failed"}, time.Now())
		}
		return
	}
	p.again(ctx)
	for _, q := range p.all() {
		q.expect(ctx)
	}
	p.planned(ctx)
	p.clean(ctx, before)
}

func (p *plan) fail(name string, began time.Time, text string) {
	p.add(Check{Name: name, Status: Failed, Text: text, Pos: p.job.Case.Pos, Hint: noSpace(text)}, began)
}

// noSpace says what to do where a machine is full.
func noSpace(text string) string {
	if machine.IsNoSpace(text) {
		return "what a machine changes is kept in memory, in a tmpfs of half of it at most: use a smaller case, or --jobs 1"
	}
	return ""
}

// states applies what the case applies, and returns the returns of the states in order.
// A run without states is a failure, which is added under a name.
func (p *plan) states(ctx context.Context, name string, test bool) ([]stateRet, bool) {
	began := time.Now()
	if len(p.nodes) > 0 {
		steps, err := p.orchestrate(ctx, test)
		if err != nil {
			p.fail(name, began, err.Error())
			return nil, false
		}
		return p.flatten(steps), true
	}
	return p.applySLS(ctx, name, p.job.Case.SLS, test)
}

// applySLS applies SLS files, or the highstate where there are none.
func (p *plan) applySLS(ctx context.Context, name string, sls []string, test bool) ([]stateRet, bool) {
	began := time.Now()
	args := []string{"state.apply"}
	if len(sls) > 0 {
		args = append(args, strings.Join(sls, ","))
	}
	if test {
		args = append(args, "test=True")
	}
	v, stderr, err := p.call(ctx, args...)
	if err != nil {
		p.fail(name, began, err.Error())
		return nil, false
	}
	rets, ok := statesOf(v)
	if !ok {
		p.fail(name, began, strings.TrimSpace(textOf(v)+"\n"+stderr))
		return nil, false
	}
	var out []stateRet
	for _, tag := range inOrder(rets) {
		out = append(out, stateRet{p, tag, rets[tag]})
	}
	return out, true
}

// statesOf reads the returns of states by tag.
func statesOf(v value.Value) (map[string]*value.Map, bool) {
	m, ok := v.(*value.Map)
	if !ok || m.Len() == 0 {
		return nil, false
	}
	out := map[string]*value.Map{}
	for k, ret := range m.All() {
		r, ok := ret.(*value.Map)
		if !ok || !strings.Contains(value.Str(k), "_|-") {
			return nil, false
		}
		out[value.Str(k)] = r
	}
	return out, true
}

// inOrder returns the tags of returns in the order in which the states ran.
func inOrder(rets map[string]*value.Map) []string {
	tags := slices.Sorted(maps.Keys(rets))
	num := func(tag string) int64 {
		n, _ := value.AsInt(rets[tag].At("__run_num__"))
		return n
	}
	slices.SortStableFunc(tags, func(a, b string) int { return int(num(a) - num(b)) })
	return tags
}

// apply applies the case and compares with the test run; false if a state failed.
func (p *plan) apply(ctx context.Context, tested []stateRet) bool {
	began := time.Now()
	rets, ok := p.states(ctx, "apply", false)
	if !ok {
		return false
	}
	for _, s := range rets {
		s.at.made = append(s.at.made, s)
		if s.ret.At("result") != true {
			ok = false
			s.failed(ctx, "apply", began, "failed: ")
		} else if t := find(tested, s); t != nil && t.ret.At("result") == false && !selectsSome(p.job.Case.TestFails, t.ret.Str("__id__")) {
			t.failed(ctx, "test", began, "failed with test=True, and succeeds without: ", allowed("test_fails", t.ret))
		}
	}
	p.offline(rets, began)
	switch {
	case ok && !p.idle(rets, began):
		ok = false
	case ok:
		p.add(Check{Name: "apply", Text: count(len(rets), "state")}, began)
	case !p.r.Failed(): // each state that failed was skipped for another one
		p.fail("apply", began, "states did not run, since what they require failed")
	}
	return ok
}

// idle says which states succeeded without being run, by their onlyif, unless, creates or
// onchanges: nothing was tested of them. It returns false where that is so of all, which is a
// failure.
func (p *plan) idle(rets []stateRet, began time.Time) bool {
	var ids []string
	for _, s := range rets {
		if s.idle() {
			ids = append(ids, s.ret.Str("__id__"))
		}
	}
	switch {
	case len(ids) == 0:
	case len(ids) == len(rets):
		p.fail("apply", began, "no state was run: onlyif, unless, creates or onchanges skipped each of them: "+strings.Join(ids, ", "))
		return false
	default:
		p.add(Check{
			Name: "skipped", Status: Skipped, Text: "not run, by onlyif, unless, creates or onchanges: " + strings.Join(ids, ", "),
			Hint: "another case may prepare a machine on which they run",
		}, began)
	}
	return true
}

// idle reports whether a state succeeded without being run.
func (s stateRet) idle() bool {
	return s.ret.At("result") == true && !value.Truth(s.ret.At("changes")) && (s.ret.At("skip_watch") == true || s.ret.At("__state_ran__") == false)
}

// offline says which states succeeded without a look at their service, since their machine
// has no init: as with Salt in a chroot, they start nothing there.
func (p *plan) offline(rets []stateRet, began time.Time) {
	var ids []string
	for _, s := range rets {
		if strings.HasPrefix(s.tag, "service_|-") && s.ret.At("result") == true && !s.at.m.Boots() {
			ids = append(ids, s.ret.Str("__id__"))
		}
	}
	if len(ids) > 0 {
		p.add(Check{Name: "services", Status: Skipped, Text: "not looked at, since no init runs them: " + strings.Join(ids, ", "), Hint: "use the driver nspawn"}, began)
	}
}

// find returns the return of the same state of another run; nil: it did not run.
func find(rets []stateRet, s stateRet) *stateRet {
	i := slices.IndexFunc(rets, func(o stateRet) bool { return o.at == s.at && o.tag == s.tag })
	if i < 0 {
		return nil
	}
	return &rets[i]
}

// failed adds the failure of a state, unless it did not run since another one failed.
func (s stateRet) failed(ctx context.Context, name string, began time.Time, how string, hint ...string) {
	if comment := s.ret.Str("comment"); !strings.HasPrefix(comment, "One or more requisite failed") {
		s.fail(name, began, how+comment+s.cause()+s.journal(ctx), hint...)
	}
}

// allowed says how a case allows what a state did.
func allowed(key string, ret *value.Map) string {
	return fmt.Sprintf("where that cannot be otherwise, a case file allows it: %s: [%s]", key, ret.Str("__id__"))
}

// cause is what a state that failed says of why besides its comment: what a command wrote to
// stderr, why machines returned nothing, and what they returned instead of states.
func (s stateRet) cause() string {
	changes, out := s.ret.Map("changes"), ""
	if text := strings.TrimSpace(changes.Str("stderr")); text != "" {
		out += "\n" + lastLines(text, 10)
	}
	for name, why := range s.ret.Map("no_return").All() {
		out += "\n" + value.Str(name) + ": " + strings.TrimSpace(textOf(why))
	}
	for name, ret := range changes.Map("ret").All() {
		if _, ok := statesOf(ret); !ok && len(s.at.nodes) > 0 && value.Truth(ret) {
			out += "\n" + value.Str(name) + ": " + strings.TrimSpace(textOf(ret))
		}
	}
	return out
}

// journal is what a service that failed wrote last, as its machine has it; "" if that is not known.
func (s stateRet) journal(ctx context.Context) string {
	if !strings.HasPrefix(s.tag, "service_|-") || !s.at.m.Boots() {
		return ""
	}
	out, err := s.at.m.Run(ctx, host.Cmd{Argv: []string{"journalctl", "--quiet", "--no-pager", "--output=cat", "--lines=10", "--unit=" + s.ret.Str("name")}, Timeout: callTime})
	text := strings.TrimSpace(string(out.Stdout))
	if err != nil || out.Status != 0 || text == "" {
		return ""
	}
	return "\nin its journal:\n" + lastLines(text, 10)
}

// again applies the case a second time: nothing may change.
func (p *plan) again(ctx context.Context) {
	began := time.Now()
	rets, ok := p.states(ctx, "again", false)
	if !ok {
		return
	}
	before := p.r.failures()
	for _, s := range rets {
		switch {
		case s.ret.At("result") != true:
			ok = false
			s.failed(ctx, "again", began, "failed the second time: ")
		case value.Truth(s.ret.At("changes")) && !p.always(s.ret) && !s.isCall():
			ok = false
			s.fail("again", began, "changed something the second time:\n"+textOf(s.ret.At("changes")), allowed("always_changes", s.ret))
		}
	}
	switch {
	case ok:
		p.add(Check{Name: "again", Text: "nothing changed" + calls(rets)}, began)
	case p.r.failures() == before: // each state that failed was skipped for another one
		p.fail("again", began, "states did not run the second time, since what they require failed")
	}
}

// always reports whether the case allows a state to change something each time.
func (p *plan) always(ret *value.Map) bool { return selectsSome(p.job.Case.Always, ret.Str("__id__")) }

func selectsSome(patterns []string, name string) bool {
	return len(patterns) > 0 && selects(patterns, name)
}

// planned checks that a test run has nothing left to do.
func (p *plan) planned(ctx context.Context) {
	began := time.Now()
	rets, ok := p.states(ctx, "plan", true)
	if !ok {
		return
	}
	for _, s := range rets {
		if s.ret.At("result") != true && !p.always(s.ret) && !s.isCall() {
			ok = false
			s.fail("plan", began, "would change something after it was applied: "+s.ret.Str("comment"))
		}
	}
	if ok {
		p.add(Check{Name: "plan", Text: "empty"}, began)
	}
}

// fail adds the failure of a state, at its place in the SLS. The first hint that is not empty
// is that of the failure; those of the state itself come first.
func (s stateRet) fail(name string, began time.Time, text string, hint ...string) {
	p, fn := s.at, funOf(s.tag)
	c := &compiler{w: p.World, job: p.job, roots: p.roots}
	p.add(Check{
		Name: name, Status: Failed, Pos: c.posOf(s.ret, fn), Hint: cmp.Or(append([]string{s.hint(), noSpace(text)}, hint...)...),
		Text: fmt.Sprintf("%s (%s) in %s %s", s.ret.Str("__id__"), fn, s.ret.Str("__sls__"), strings.TrimSpace(text)),
	}, began)
}

// funOf returns the function of a tag.
func funOf(tag string) string {
	parts := strings.Split(tag, "_|-")
	return parts[0] + "." + parts[len(parts)-1]
}
