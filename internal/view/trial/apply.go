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
	Jobs   int               // machines at a time
	Exe    string            // brine, as it is put into machines
	// Codename returns the code name of the release of a system, "" if there is none.
	Codename func(system string) string
	// Done gets each result, one at a time; nil: nobody does.
	Done func(*Result)
	// Hold gets all results with their machines, which are removed when it returns; nil:
	// each machine is removed after its last check.
	Hold func(ctx context.Context, kept []Kept)
}

// Kept is the result of a job with its machine, which is nil if it could not be made.
type Kept struct {
	*Result
	Machine *machine.Machine
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
	results := make([]*Result, len(jobs))
	ended := make(chan *Result)
	var g errgroup.Group
	g.SetLimit(max(l.Jobs, 1))
	go func() {
		for i, p := range plans {
			g.Go(func() error {
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
	if l.Hold != nil {
		l.hold(ctx, plans)
	}
	return results, ctx.Err()
}

// hold calls Hold, and then removes the machines.
func (l *Lab) hold(ctx context.Context, plans []*plan) {
	kept := make([]Kept, len(plans))
	for i, p := range plans {
		kept[i] = Kept{p.r, p.m}
	}
	l.Hold(ctx, kept)
	for _, p := range plans {
		p.remove()
	}
}

// remove removes the machine of a job, if it has one.
func (p *plan) remove() {
	if p.m == nil {
		return
	}
	began := time.Now()
	if err := p.m.Close(); err != nil {
		p.r.add(Check{Name: "remove the machine", Status: Failed, Text: err.Error()}, began)
	}
}

// A plan is a job with what it needs.
type plan struct {
	*Lab
	job    Job
	driver *machine.Driver
	image  string
	ws     *workspace
	roots  []string // of SLS files, on this machine

	m       *machine.Machine
	r       *Result
	applied map[string]*value.Map // returns of the states of the apply, by tag
}

// inside is where a machine has what is needed for its test.
const inside = "/.brine-test"

// plan prepares a job: the driver, the image and the files of its case.
func (l *Lab) plan(ctx context.Context, j Job, dir string) (*plan, error) {
	p := &plan{Lab: l, job: j}
	var err error
	if p.driver, err = l.driver(j.Case.Machine.Driver); err != nil {
		return nil, err
	}
	if p.image, err = l.Images.Of(ctx, j.System, cmp.Or(l.Given[j.System], j.Case.Machine.Images[j.System]), l.Codename(j.System)); err != nil {
		return nil, err
	}
	if p.ws, err = newWorkspace(l.Host, dir, j.Case); err != nil {
		return nil, &source.Error{Pos: j.Case.Pos, Err: err}
	}
	p.roots = p.ws.roots(l.Opts, j.Case, same)
	return p, p.ws.minion(l.Host, l.minionOf(p))
}

// driver returns the driver of a name, or the first that can be used.
func (l *Lab) driver(name string) (*machine.Driver, error) {
	if l.Driver != "" {
		name = l.Driver
	}
	var names []string
	var first error
	for _, d := range machine.Drivers() {
		names = append(names, d.Name)
		if name != "" && d.Name != name {
			continue
		}
		err := d.Usable(l.Host)
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
	conf.Set("id", p.job.System)
	conf.Set("cachedir", "/var/cache/brine")
	grains := value.NewMap(0)
	value.Update(grains, l.Settings.Map("grains"), true, false)
	if p.job.Case.Grains != nil {
		value.Update(grains, p.job.Case.Grains, true, false)
	}
	if grains.Len() > 0 {
		conf.Set("grains", grains)
	}
	return conf
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
func (p *plan) create(ctx context.Context) error {
	var err error
	p.m, err = p.Pool.Create(ctx, p.driver, machine.Spec{Name: hostName(p.job.System), Image: p.image, Binds: p.binds(), Network: p.job.Case.Machine.Network})
	return err
}

// hostName makes a host name of the name of a system.
func hostName(system string) string {
	name := strings.ToLower(strings.NewReplacer(".", "-", "_", "-").Replace(system))
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// run applies the job to a fresh machine and checks it.
func (p *plan) run(ctx context.Context) *Result {
	p.r = &Result{Job: p.job}
	began := time.Now()
	defer func() { p.r.Took = time.Since(began) }()
	if err := p.create(ctx); err != nil {
		c := Check{Name: "machine", Status: Failed, Text: err.Error(), Pos: p.job.Case.Pos}
		if be, ok := errors.AsType[*machine.BootError](err); ok && be.Console != "" {
			c.Text += "\n" + lastLines(be.Console, 20)
		}
		p.r.add(c, began)
		return p.r
	}
	p.r.add(Check{Name: "machine", Text: p.driver.Name}, began)
	p.checks(ctx)
	if p.Hold == nil {
		p.remove()
	}
	return p.r
}

// lastLines returns the end of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// checks runs the steps of a test. Where a step fails that others build on, those are
// not made, and say so.
func (p *plan) checks(ctx context.Context) {
	before, err := p.m.Files(ctx)
	if err != nil {
		p.fail("test", time.Now(), err.Error())
		return
	}
	began := time.Now()
	tested, ok := p.states(ctx, "test", true)
	if ok {
		p.untouched(ctx, before, began)
	}
	if !p.apply(ctx, tested) {
		for _, name := range []string{"again", "expect", "plan"} {
			p.r.add(Check{Name: name, Status: Skipped, Text: "not made, since the states failed"}, time.Now())
		}
		return
	}
	p.again(ctx)
	p.expect(ctx)
	p.planned(ctx)
}

func (p *plan) fail(name string, began time.Time, text string) {
	p.r.add(Check{Name: name, Status: Failed, Text: text, Pos: p.job.Case.Pos, Hint: noSpace(text)}, began)
}

// noSpace says what to do where a machine is full.
func noSpace(text string) string {
	if strings.Contains(text, "No space left on device") || strings.Contains(text, "no space left on device") {
		return "what a machine changes is kept in memory, in a tmpfs of half of it at most: use a smaller case, or --jobs 1"
	}
	return ""
}

// states applies what the case applies, and returns the returns of the states by tag. A
// run without states is a failure, which is added under a name.
func (p *plan) states(ctx context.Context, name string, test bool) (map[string]*value.Map, bool) {
	began := time.Now()
	args := []string{"state.apply"}
	if len(p.job.Case.SLS) > 0 {
		args = append(args, strings.Join(p.job.Case.SLS, ","))
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
	return rets, true
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

// volatile are directories whose files may change without a state.
var volatile = []string{inside, "/dev", "/proc", "/run", "/sys", "/tmp", "/var/tmp", "/var/cache", "/var/log", "/var/lib/systemd", "/var/lib/dbus", "/var/lib/apt/lists", "/var/lib/dnf", "/root/.cache", "/etc/machine-id", "/etc/resolv.conf", "/etc/hostname"}

// untouched checks that the test run changed no file.
func (p *plan) untouched(ctx context.Context, before map[string]string, began time.Time) {
	after, err := p.m.Files(ctx)
	if err != nil {
		p.fail("test", began, err.Error())
		return
	}
	var changed []string
	for path := range maps.Keys(after) {
		if after[path] != before[path] && !isVolatile(path) && !isParent(path, after, before) {
			changed = append(changed, path)
		}
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		p.fail("test", began, "the run with test=True changed files: "+strings.Join(changed, ", "))
		return
	}
	p.r.add(Check{Name: "test", Text: "no file changed"}, began)
}

func isVolatile(path string) bool {
	return slices.ContainsFunc(volatile, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/") || strings.HasPrefix(dir, path+"/")
	})
}

// isParent reports whether a directory of the image is in the overlay only since
// something below it is: it was not there before, and has a file.
func isParent(path string, after, before map[string]string) bool {
	if !strings.HasPrefix(after[path], "d ") || before[path] != "" {
		return false
	}
	for other := range after {
		if strings.HasPrefix(other, path+"/") {
			return true
		}
	}
	return false
}

// apply applies the case and compares with the test run; false if a state failed.
func (p *plan) apply(ctx context.Context, tested map[string]*value.Map) bool {
	began := time.Now()
	rets, ok := p.states(ctx, "apply", false)
	if !ok {
		return false
	}
	p.applied = rets
	for _, tag := range inOrder(rets) {
		ret := rets[tag]
		if ret.At("result") != true {
			ok = false
			p.failed("apply", began, tag, ret, "failed: ")
		} else if t := tested[tag]; t != nil && t.At("result") == false && !selectsSome(p.job.Case.TestFails, t.Str("__id__")) {
			p.failed("test", began, tag, t, "failed with test=True, and succeeds without: ")
		}
	}
	switch {
	case ok:
		p.r.add(Check{Name: "apply", Text: count(len(rets), "state")}, began)
	case !p.r.Failed(): // each state that failed was skipped for another one
		p.fail("apply", began, "states did not run, since what they require failed")
	}
	return ok
}

// failed adds the failure of a state, unless it did not run since another one failed.
func (p *plan) failed(name string, began time.Time, tag string, ret *value.Map, how string) {
	if comment := ret.Str("comment"); !strings.HasPrefix(comment, "One or more requisite failed") {
		p.failState(name, began, tag, ret, how+comment)
	}
}

// again applies the case a second time: nothing may change.
func (p *plan) again(ctx context.Context) {
	began := time.Now()
	rets, ok := p.states(ctx, "again", false)
	if !ok {
		return
	}
	for _, tag := range inOrder(rets) {
		ret := rets[tag]
		switch {
		case ret.At("result") != true:
			ok = false
			p.failed("again", began, tag, ret, "failed the second time: ")
		case value.Truth(ret.At("changes")) && !p.always(ret):
			ok = false
			p.failState("again", began, tag, ret, "changed something the second time:\n"+textOf(ret.At("changes")))
		}
	}
	if ok {
		p.r.add(Check{Name: "again", Text: "nothing changed"}, began)
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
	for _, tag := range inOrder(rets) {
		if ret := rets[tag]; ret.At("result") != true && !p.always(ret) {
			ok = false
			p.failState("plan", began, tag, ret, "would change something after it was applied: "+ret.Str("comment"))
		}
	}
	if ok {
		p.r.add(Check{Name: "plan", Text: "empty"}, began)
	}
}

// failState adds the failure of a state, at its place in the SLS.
func (p *plan) failState(name string, began time.Time, tag string, ret *value.Map, text string) {
	fn := funOf(tag)
	c := &compiler{w: p.World, job: p.job, roots: p.roots}
	p.r.add(Check{
		Name: name, Status: Failed, Pos: c.posOf(ret, fn), Hint: noSpace(text),
		Text: fmt.Sprintf("%s (%s) in %s %s", ret.Str("__id__"), fn, ret.Str("__sls__"), strings.TrimSpace(text)),
	}, began)
}

// funOf returns the function of a tag.
func funOf(tag string) string {
	parts := strings.Split(tag, "_|-")
	return parts[0] + "." + parts[len(parts)-1]
}

// minion writes the configuration of the machine.
func (w *workspace) minion(h host.Host, conf *value.Map) error {
	write := func(name, text string) error {
		path := filepath.Join(w.dir, name)
		if err := h.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := host.FileMode(0o644)
		return h.WriteFile(path, strings.NewReader(text), host.WriteOptions{Mode: &mode})
	}
	return writeYAML(write, "conf/minion", conf)
}
