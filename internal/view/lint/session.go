package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
)

// A Session keeps what a tree came to, so that after a change only what depends
// on it is compiled again. Its methods are not safe for concurrent use.
type Session struct {
	l    *linter
	runs []*run

	touched map[string]bool // absolute paths of files that changed
	relist  bool            // files may have come or gone
	moved   bool            // files have come or gone, and that is not acted on yet
	// edited are the files that changed since the last check of everything, by
	// their names in findings, and last the findings of then.
	edited map[string]bool
	last   map[key]bool
}

// A Depth is how much a check compiles.
type Depth int

// The depths of a check.
const (
	// Nearby compiles the files that changed and some of what includes them: the
	// rest is judged as it was.
	Nearby Depth = iota
	// Everything compiles all that depends on what changed.
	Everything
)

// Bounds of a check of what is nearby.
const (
	maxNearUnits = 40 // units that are compiled again
	maxNearSLS   = 60 // SLS files in a unit of the top file
)

// NewSession reads a tree; [Session.Check] checks it. The error says that the tree
// cannot be read or that ctx ended.
func NewSession(ctx context.Context, o Options) (*Session, error) {
	l := &linter{o: o, used: newUsed(), givenKeys: map[string]bool{}}
	if l.o.Systems == nil {
		l.o.Systems = Systems()
	}
	l.states = fileserver.New(o.Disk, fileserver.RootsOf(o.Opts, "file_roots"))
	l.pillars = fileserver.New(o.Disk, fileserver.RootsOf(o.Opts, "pillar_roots"))
	s := &Session{l: l, touched: map[string]bool{}, edited: map[string]bool{}, last: map[key]bool{}}
	l.backends = backends(o.Opts)
	l.o.MaxFiles, l.o.MaxText = cmp.Or(o.MaxFiles, defaultMaxFiles), cmp.Or(o.MaxText, defaultMaxText)
	l.states.MaxFiles, l.pillars.MaxFiles = l.o.MaxFiles, l.o.MaxFiles
	changed, _, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	l.table, l.known = l.tables()
	l.learn()
	for _, f := range changed {
		l.scan(f)
	}
	s.restart()
	return s, nil
}

// restart forgets all that was compiled.
func (s *Session) restart() {
	s.runs = nil
	for i, sys := range s.l.o.Systems {
		r := s.l.newRun(sys)
		r.explores = i == len(s.l.o.Systems)/2
		s.runs = append(s.runs, r)
	}
}

// Touch says that the text of a file changed. A file that is new is found by
// [Session.Relist].
func (s *Session) Touch(abs string) { s.touched[abs] = true }

// Relist says that any files may have changed, come or gone.
func (s *Session) Relist() { s.relist = true }

// Has reports whether a file belongs to the tree.
func (s *Session) Has(abs string) bool { return len(s.l.keys[abs]) > 0 }

// Due reports whether something is left to compile after a check of what is
// nearby.
func (s *Session) Due() bool {
	if s.relist || len(s.touched) > 0 {
		return true
	}
	return slices.ContainsFunc(s.runs, func(r *run) bool { return r.due() })
}

func (r *run) due() bool {
	if r.top == nil {
		return true
	}
	for _, u := range r.units {
		if u.stale {
			return true
		}
	}
	return false
}

// Check compiles what changed since the last check and returns all findings. The
// report of a check of what is nearby lacks what only the rest of the tree could
// tell. The error says that the tree cannot be read or that ctx ended; then the
// next check continues. open are absolute paths of files that are nearby in any
// case.
func (s *Session) Check(ctx context.Context, d Depth, open ...string) (*Report, error) {
	if err := s.update(ctx); err != nil {
		return nil, err
	}
	s.l.seen = &seen{}
	defer func() { s.l.seen = nil }()
	dirty := map[string]bool{}
	for abs := range s.touched {
		for _, dep := range s.l.keys[abs] {
			dirty[dep] = true
		}
		s.edited[abs] = true
		for _, f := range s.l.files {
			if f.Abs == abs {
				s.edited[f.Path] = true
			}
		}
	}
	near := maps.Clone(dirty)
	for _, abs := range open {
		for _, dep := range s.l.keys[abs] {
			near[dep] = true
		}
	}
	for _, r := range s.runs {
		r.invalidate(dirty)
	}
	clear(s.touched)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, r := range s.runs {
		g.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = &failure{p, debug.Stack()}
				}
			}()
			return r.work(ctx, d, near)
		})
	}
	if err := g.Wait(); err != nil {
		if _, ok := errors.AsType[*failure](err); ok {
			s.restart() // what was compiled may be incomplete
		}
		return nil, err
	}
	m := &merge{l: s.l, found: map[key]*Finding{}, where: map[key]map[string]bool{}}
	for _, f := range s.l.files {
		for _, found := range f.found {
			m.add("", found)
		}
	}
	for _, found := range s.l.lost {
		m.add("", found)
	}
	for _, r := range s.runs {
		r.report(m, s)
	}
	s.unused(m)
	if !s.Due() {
		clear(s.edited)
		clear(s.last)
		for k := range m.found {
			s.last[key{k.rule, source.Pos{File: k.pos.File}, k.msg}] = true
		}
	}
	return &Report{Findings: m.result(), SLS: len(s.l.sls), Unread: s.l.unread, Used: s.l.used}, nil
}

// A failure is a bug of brine that some text of the tree reaches: an editor's
// session goes on after it.
type failure struct {
	what  any
	stack []byte
}

func (f *failure) Error() string { return fmt.Sprintf("internal error: %v\n%s", f.what, f.stack) }

// update reads the files that changed.
func (s *Session) update(ctx context.Context) error {
	if s.relist {
		changed, moved, err := s.l.list(ctx)
		for _, f := range changed { // also those of a listing that was cut short: the next one knows them
			s.touched[f.Abs] = true
		}
		s.moved = s.moved || moved
		if err != nil {
			return err
		}
		s.relist = false
		if s.moved {
			s.moved = false
			s.l.table, s.l.known = s.l.tables()
			s.l.learn()
			for _, f := range s.l.files {
				s.l.rescan(f)
			}
			s.restart()
		}
	}
	custom, learns := false, false
	for _, f := range s.l.files {
		if !s.touched[f.Abs] {
			continue
		}
		if st, err := s.l.o.Disk.Stat(f.Abs); err == nil {
			f.Size, f.mtime = st.Size, st.Mtime.UnixNano()
		}
		s.l.rescan(f)
		_, _, is := f.custom()
		custom = custom || is
		learns = learns || strings.HasPrefix(f.Path, "_grains/") || f.setsGrains()
	}
	if own := s.l.own; learns {
		if s.l.learn(); !maps.Equal(own, s.l.own) {
			for _, f := range s.l.files {
				s.l.rescan(f)
			}
		}
	}
	if custom {
		s.l.table, s.l.known = s.l.tables()
		s.restart()
	}
	return nil
}

func (l *linter) rescan(f *file) {
	l.read(f)
	l.scan(f)
}

// maxChanges bounds how many times files change before the engine of a run, which
// keeps the templates of all texts that it saw, is made again.
const maxChanges = 200

// invalidate marks what depends on changed files as to be done again.
func (r *run) invalidate(dirty map[string]bool) {
	if len(dirty) == 0 {
		return
	}
	if r.changes++; r.changes > maxChanges {
		r.changes = 0
		r.env.Memo = &fun.Memo{}
	}
	hit := func(p *pass) bool {
		for dep := range dirty {
			if p.deps[dep] {
				return true
			}
		}
		return false
	}
	for k, e := range r.cache {
		if hit(&e.pass) {
			delete(r.cache, k)
		}
	}
	for k, p := range r.templates {
		if hit(p) {
			delete(r.templates, k)
		}
	}
	for _, u := range r.units {
		u.stale = u.stale || hit(&u.pass)
	}
	for k, p := range r.pillarFiles {
		if hit(&p.pass) {
			delete(r.pillarFiles, k)
			r.pillarDue = true
		}
	}
	if r.top != nil && hit(r.top) {
		r.top = nil
	}
}

// work compiles what is to be compiled.
func (r *run) work(ctx context.Context, d Depth, near map[string]bool) error {
	if r.pillarDue && r.pillar(ctx) {
		clear(r.cache)
		clear(r.templates)
		for _, u := range r.units {
			u.stale = true
		}
		r.top = nil
	}
	if ctx.Err() == nil && (r.top == nil || r.tops == nil && len(r.units) == 0) {
		r.plan(ctx)
	}
	left := maxNearUnits
	for _, f := range r.l.sls {
		u := r.units[unitKey(f)]
		if u == nil || !u.stale {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		own := near[depOf(false, f.saltenv, f.Path)]
		if d == Everything || own || left > 0 && u.reads(near) {
			r.compile(ctx, u)
			if !own {
				left--
			}
		}
	}
	for _, u := range r.tops {
		if err := ctx.Err(); err != nil {
			return err
		}
		if u.stale && (d == Everything || left > 0 && u.size() <= maxNearSLS && len(u.deps) <= maxNearSLS && u.reads(near)) {
			r.compile(ctx, u)
			left--
		}
	}
	return ctx.Err()
}

// reads reports whether a unit depended on one of some files when it was compiled.
func (u *unit) reads(files map[string]bool) bool {
	for dep := range files {
		if u.deps[dep] {
			return true
		}
	}
	return false
}

func unitKey(f *file) string { return f.saltenv + "\x00" + f.sls }

// plan reads the top file and makes the units: those of it, and one of each SLS.
func (r *run) plan(ctx context.Context) {
	top := newPass()
	var matches []company
	r.within(top, func() { matches = r.readTop(ctx) })
	if ctx.Err() != nil {
		return
	}
	r.top = top
	before := r.units
	r.units = make(map[string]*unit, len(r.l.sls)+len(matches))
	keep := func(key, own string, matches ...high.Match) *unit {
		u := before[key]
		if u == nil {
			u = &unit{matches: matches, own: own, stale: true}
		}
		r.units[key] = u
		return u
	}
	r.tops = []*unit{}
	for _, m := range matches {
		// The key differs from that of the SLS alone, which is compiled anyway.
		u := keep("top\x00"+keyOf(m.matches), "", m.matches...)
		u.targets = m.targets
		r.tops = append(r.tops, u)
	}
	for _, f := range r.l.sls {
		keep(unitKey(f), f.saltenv+"\x00"+f.sls+"\x00"+f.Path, high.Match{SaltEnv: f.saltenv, SLS: []string{f.sls}})
	}
}

// report adds the findings of a run.
func (r *run) report(m *merge, s *Session) {
	note := func(p *pass, stale bool) {
		for _, f := range p.found {
			if !stale || !s.edited[f.Pos.File] { // else its place is not known
				m.add(r.sys.Name, f)
			}
		}
	}
	if r.top != nil {
		note(r.top, false)
	}
	for _, e := range r.cache {
		note(&e.pass, false)
	}
	for _, p := range r.pillarFiles {
		note(&p.pass, false)
	}
	for _, u := range r.units {
		note(&u.pass, u.stale)
		for _, f := range u.explored.found {
			if !u.stale || !s.edited[f.Pos.File] {
				m.add("", f)
			}
		}
	}
	r.requisitesOf(m, s)
}

// requisitesOf adds the requisites that no unit of a run meets.
func (r *run) requisitesOf(m *merge, s *Session) {
	due := false
	open, maybe, many := map[source.Pos]Finding{}, map[source.Pos]Finding{}, map[source.Pos]bool{}
	for _, u := range r.units {
		due = due || u.stale
		for pos, f := range u.open {
			if !u.stale || !s.edited[pos.File] {
				open[pos] = f
				many[pos] = many[pos] || u.many
			}
		}
		for pos, f := range u.maybe {
			if !u.stale || !s.edited[pos.File] {
				maybe[pos] = f
			}
		}
	}
	for pos, f := range maybe {
		delete(open, pos)
		if !r.met(pos) {
			m.add(r.sys.Name, Finding{Rule: notJudged, Pos: pos, Message: f.Message + " (" + machineOnly + ")"})
		}
	}
	for pos, f := range open {
		if r.met(pos) || r.apart(pos) || due && !s.last[key{f.Rule, source.Pos{File: r.l.abs(pos.File)}, f.Message}] {
			continue // it is met, or what may meet it is still to be compiled
		}
		if many[pos] {
			m.add("", f) // other systems leave it to this one
			continue
		}
		m.add(r.sys.Name, f)
	}
	if !due {
		r.lackedInTop(m, maybe)
	}
}

// lackedInTop adds the requisites that some unit meets, and not what the machines of a target of the
// top file have. Those in maybe may be met.
func (r *run) lackedInTop(m *merge, maybe map[source.Pos]Finding) {
	for _, u := range r.tops {
		for pos, f := range u.open {
			if _, unknown := maybe[pos]; unknown || u.stale || !r.met(pos) || u.met[pos] || u.loose[pos] > 0 {
				continue
			}
			left := slices.DeleteFunc(slices.Clone(u.targets), func(e topEntry) bool { return r.mayMeet(e, pos) })
			if len(left) > 0 {
				f.Message += ", in what the top file has for " + textsOf(left)
				m.add(r.sys.Name, f)
			}
		}
	}
}

// mayMeet reports whether some machine of a target of the top file may have what a requisite names,
// from another target.
func (r *run) mayMeet(e topEntry, pos source.Pos) bool {
	return slices.ContainsFunc(r.tops, func(u *unit) bool {
		return u.met[pos] && slices.ContainsFunc(u.targets, func(other topEntry) bool { return e.means.meets(other.means) })
	})
}

// abs returns the absolute path of a file that a finding names.
func (l *linter) abs(name string) string {
	if !path.IsAbs(name) && l.paths[name] != "" {
		return l.paths[name]
	}
	return name
}

// met reports whether some unit has what a requisite names.
func (r *run) met(pos source.Pos) bool {
	loose, ran := 0, 0
	for _, u := range r.units {
		if u.met[pos] {
			return true
		}
		loose += u.loose[pos]
		if u.ran[pos.File] {
			ran++
		}
	}
	return loose > 0 && loose < ran
}

// A View is what an editor asks of a tree. It does not change.
type View struct {
	Table *fun.Table
	Files []ViewFile
	// Pillar are the data of the files of the pillar, whose maps know their places,
	// by absolute path; those of several systems follow each other.
	Pillar []ViewPillar
	Grains []*value.Map
}

// A ViewFile is a file of the tree.
type ViewFile struct {
	Abs, Path, SaltEnv, SLS string // SLS is "" where it is none
	Pillar                  bool
}

// A ViewPillar is a file of the pillar.
type ViewPillar struct {
	Abs  string
	Data *value.Map
}

// View returns what is known of the tree after the last check.
func (s *Session) View() *View {
	v := &View{Table: s.l.known}
	for _, f := range s.l.files {
		v.Files = append(v.Files, ViewFile{f.Abs, f.Path, f.saltenv, f.sls, f.pillar})
	}
	for _, r := range s.runs {
		grains := r.sys.Grains.Copy()
		for name := range strings.FieldsSeq(machineGrains) {
			if !grains.Has(name) {
				grains.Set(name, nil)
			}
		}
		v.Grains = append(v.Grains, grains)
		for _, f := range s.l.files {
			if p := r.pillarFiles[f.id()]; p != nil && p.data.Len() > 0 {
				v.Pillar = append(v.Pillar, ViewPillar{f.Abs, p.data})
			}
		}
	}
	return v
}
