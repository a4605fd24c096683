package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Verdict says what becomes of something that a run changed.
type Verdict int

// Verdicts.
const (
	Back    Verdict = iota // it can be, or was, brought back
	Already                // it is as it was before the run
	Since                  // something else has changed it since the run
	Cannot                 // nothing is known that would bring it back
	Fault                  // to bring it back failed
)

// An Item is something that a run changed: a path, a fact, or what a state did beside those.
type Item struct {
	Kind, Name string
	ID         string // of the state that changed it
	Verdict    Verdict
	Comment    string
	Changes    *value.Map // what becomes of it: {"old": .., "new": ..} by aspect
	Began      time.Time
	Took       time.Duration

	path  *Path
	fact  *Fact
	state *State
	after bool // it is a restart of a service, after all
}

// Options are those of an undo.
type Options struct {
	// Test only says what would be done.
	Test bool
	// Force brings back what was changed since the run, too, or what the run was killed at.
	Force bool
}

// A restorer brings back what a run changed.
type restorer struct {
	env *fun.Env
	o   Options
	rec *Record
	// removed are paths that are, or would be, removed.
	removed map[string]bool
	// freed are mount points that are not mounted any more, or would not be.
	freed map[string]bool
	// acted says that a path was, or would be, changed.
	acted bool
	// made are files with several names that were made again, by the inodes that they had.
	made map[string]string
	// dirs are the directories in which files with several names may have others.
	dirs []string
	done map[*Path]bool
}

// Undo brings back what a run has changed, or says what it would bring back. Each item is
// looked at before and behind, and none is left out: what cannot be brought back is named.
func (s *Store) Undo(ctx context.Context, env *fun.Env, jid string, o Options) ([]*Item, error) {
	rec, err := s.Read(jid)
	if err != nil {
		return nil, err
	}
	if env.JID == jid {
		return nil, fun.Errorf("a run cannot undo itself")
	}
	if !o.Test {
		end, err := s.keepUndo(ctx, &env, rec)
		if err != nil {
			return nil, fun.Errorf("nothing was brought back, since what that changes cannot be kept: %v", err)
		}
		defer end()
	}
	r := &restorer{env: env, o: o, rec: rec, removed: map[string]bool{}, freed: map[string]bool{}, made: map[string]string{}, done: map[*Path]bool{}}
	own := r.ownTimes()
	items := r.items()
	if rec.Unread > 0 {
		items = slices.Insert(items, 0, &Item{Kind: "record", Name: jid, ID: jid})
	}
	whole := true
	for i, it := range items {
		if err := ctx.Err(); err != nil {
			return items[:i], err
		}
		it.Began = env.Host.Now()
		r.do(ctx, it)
		it.Took = env.Host.Now().Sub(it.Began)
		r.done[it.path] = true
		whole = whole && (it.Verdict == Back || it.Verdict == Already)
	}
	if !o.Test {
		r.times(items)
	}
	for _, it := range r.restoreTimes(own, items) {
		whole = whole && it.Verdict == Back
		items = append(items, it)
	}
	if !o.Test && whole {
		err = s.note(jid, value.MapOf("undone", env.JID, "at", env.Host.Now().UTC().Format(time.RFC3339)))
	}
	return items, err
}

// times sets the times of directories that were made again, after what is in them.
func (r *restorer) times(items []*Item) {
	for _, it := range slices.Backward(items) {
		if p := it.path; p != nil && it.Verdict == Back && p.Was != nil && p.Was.Type == "dir" && (p.Now == nil || p.Now.Type != "dir") {
			_ = r.env.Host.Chtimes(p.Name, r.env.Host.Now(), p.Was.Mtime)
		}
	}
}

// Folded returns items without those of files in a directory that comes back, or goes, as a
// whole: its own item counts them.
func Folded(items []*Item) []*Item {
	dirs := map[string]*Item{}
	for _, it := range items {
		if it.path != nil && it.whole() {
			dirs[it.path.By+" "+it.Name] = it
		}
	}
	below := map[*Item]int{}
	out := items[:0:0]
	for _, it := range items {
		if it.path != nil && (it.Verdict == Back || it.Verdict == Already) {
			var top *Item
			for at := path.Dir(it.Name); at != "/" && at != "."; at = path.Dir(at) {
				if d := dirs[it.path.By+" "+at]; d != nil && d.Verdict == it.Verdict {
					top = d
				}
			}
			if top != nil {
				below[top]++
				continue
			}
		}
		out = append(out, it)
	}
	for _, it := range out {
		if n := below[it]; n > 0 {
			it.Comment += fmt.Sprintf(", with %d below it", n)
		}
	}
	return out
}

// whole reports whether an item is a directory that exists only before the run, or only after it.
func (it *Item) whole() bool {
	p := it.path
	return p.Was != nil && p.Was.Type == "dir" && p.Now == nil || p.Was == nil && p.Now != nil && p.Now.Type == "dir"
}

// keepUndo has what an undo changes be kept like what a run changes: it can be undone in
// turn.
func (s *Store) keepUndo(ctx context.Context, env **fun.Env, rec *Record) (end func(), err error) {
	e := *env
	kept, err := Begin(e)
	if err != nil {
		return nil, err
	}
	c := &fun.Chunk{State: "undo", Fun: "run", ID: rec.JID, Name: rec.JID, Low: value.NewMap(0)}
	w := kept.watch(ctx, e, c, func(context.Context, *fun.Env, *fun.Chunk) []subject {
		var out []subject
		for _, f := range rec.Facts {
			out = append(out, subject{f.Kind, f.Name})
		}
		return out
	})
	w.covered = true
	*env = e.With(func(e *fun.Env) { e.Host = w.k })
	return func() {
		kept.after(ctx, w, value.MapOf("result", true, "changes", value.NewMap(0)))
		kept.End(e)
	}, nil
}

// items returns what a run changed, in the order in which it is brought back: what the last
// state changed comes first, and of each state facts before paths, and what it made before
// what it removed.
func (r *restorer) items() []*Item {
	ids := map[string]string{}
	var order []string
	by := map[string][]*Item{}
	add := func(tag string, it *Item) {
		if by[tag] == nil {
			order = append(order, tag)
		}
		by[tag] = append(by[tag], it)
	}
	for _, p := range r.rec.Paths {
		if p.Looked && asBefore(p.Was, p.Now) && (p.Why == "" || p.Was == nil) && !p.Lines {
			continue
		}
		add(p.By, &Item{Kind: p.kind(), Name: p.Name, path: p})
	}
	var restarts []*Item
	for _, f := range r.rec.Facts {
		if !f.Looked || !f.unchanged() {
			add(f.By, &Item{Kind: f.Kind, Name: f.Name, fact: f})
		}
		if f.Restarted {
			restarts = append(restarts, &Item{Kind: f.Kind, Name: f.Name, fact: f, after: true})
		}
	}
	for _, s := range r.rec.States {
		ids[s.Tag] = s.ID
		if !s.Seen {
			add(s.Tag, &Item{Kind: "state", Name: s.Fun, state: s})
		}
	}
	var out []*Item
	slices.Reverse(order)
	for _, tag := range order {
		items := by[tag]
		slices.SortStableFunc(items, func(a, b *Item) int {
			if x, y := a.rank(), b.rank(); x != y || x == 0 {
				return x - y
			}
			if a.rank() == 1 { // what was made goes from below
				return strings.Compare(b.Name, a.Name)
			}
			return strings.Compare(a.Name, b.Name)
		})
		for _, it := range items {
			if it.ID = ids[tag]; it.ID == "" {
				it.ID = idOf(tag)
			}
		}
		out = append(out, items...)
	}
	return append(nested(out), restarts...)
}

// nested returns items in an order in which each can be done: what the run made goes before
// the directory that it is in, or what takes the place of that, and what was there comes
// behind its directory. Else the order stays.
func nested(items []*Item) []*Item {
	o := &ordering{at: map[string]*Item{}, put: map[*Item]bool{}, out: make([]*Item, 0, len(items))}
	for _, it := range items {
		if it.path != nil {
			o.at[it.Name] = it
			o.names = append(o.names, it.Name)
		}
	}
	slices.Sort(o.names)
	for _, it := range items {
		o.emit(it)
	}
	return o.out
}

// An ordering is the state of [nested].
type ordering struct {
	at    map[string]*Item
	names []string // sorted
	put   map[*Item]bool
	out   []*Item
}

func (o *ordering) emit(it *Item) {
	if o.put[it] {
		return
	}
	o.put[it] = true
	if it.path != nil {
		o.made(it.Name + "/")
		if it.path.Was != nil {
			o.above(it.Name)
		}
	}
	o.out = append(o.out, it)
}

// made emits what the run made below a directory, whose name ends with a slash.
func (o *ordering) made(dir string) {
	first, _ := slices.BinarySearch(o.names, dir)
	for _, n := range o.names[first:] {
		if !strings.HasPrefix(n, dir) {
			return
		}
		if it := o.at[n]; it.path.Was == nil {
			o.emit(it)
		}
	}
}

// above emits the directory of a path that was there before the run, with those above it.
func (o *ordering) above(name string) {
	for dir := path.Dir(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if it := o.at[dir]; it != nil && it.path.Was != nil {
			o.emit(it)
			return
		}
	}
}

// idOf is the ID in the tag of a state.
func idOf(tag string) string {
	if f := strings.Split(tag, "_|-"); len(f) > 1 {
		return f[1]
	}
	return tag
}

// rank is the place of an item among those of its state.
func (it *Item) rank() int {
	switch {
	case it.path == nil:
		return 0
	case it.path.Was == nil:
		return 1
	}
	return 2
}

// kind is what a path is called.
func (p *Path) kind() string {
	st := p.Was
	if st == nil {
		st = p.Now
	}
	switch {
	case st == nil:
		return "path"
	case p.Lines:
		return "accounts"
	}
	return st.Type
}

// unchanged reports whether a run left a fact as it was.
func (f *Fact) unchanged() bool {
	if f.Kind == "packages" {
		return f.Now.Len() == 0
	}
	return f.alike(f.Was, f.Now)
}

// same reports whether two Stats are of the same file. Of a file whose content is not kept
// only owner and mode count.
func same(a, b *Stat) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Type != b.Type || a.UID != b.UID || a.GID != b.GID || a.Target != b.Target {
		return false
	}
	if a.Type == "link" {
		return true
	}
	return a.Mode == b.Mode && len(unlike(a, b)) == 0 && (a.Sum == b.Sum || a.Sum == "" || b.Sum == "")
}

// asBefore reports whether a path is as it was, the time of a file's content included.
func asBefore(was, now *Stat) bool {
	return same(was, now) && (was == nil || was.Type != "file" || was.Mtime.Equal(now.Mtime))
}

// do brings an item back, or says what becomes of it.
func (r *restorer) do(ctx context.Context, it *Item) {
	var judge func() (Verdict, string)
	var act func() error
	switch {
	case it.Kind == "record":
		it.Verdict, it.Comment = Cannot, fmt.Sprintf("lines of what was kept of the run that cannot be read: %d", r.rec.Unread)
		return
	case it.state != nil:
		it.Verdict, it.Comment = Cannot, "it "+list(it.state.Did, 5)+", and what that changed is not known"
		if len(it.state.Did) == 0 {
			it.Comment = "what it changed is not known"
		}
		return
	case it.path != nil && it.path.Lines:
		r.lines(it)
		return
	case it.path != nil:
		judge, act = func() (Verdict, string) { return r.judgePath(it) }, func() error { return r.restorePath(it.path) }
	case it.after:
		r.restart(ctx, it)
		return
	default:
		judge, act = func() (Verdict, string) { return r.judgeFact(ctx, it) }, func() error { return r.restoreFact(ctx, it) }
	}
	it.Verdict, it.Comment = judge()
	if it.Verdict == Since && r.o.Force {
		it.Verdict, it.Comment = Back, it.Comment+"; it is brought back all the same"
	}
	if it.Verdict != Back {
		return
	}
	if it.path != nil {
		r.acted = true
		if it.path.Was == nil {
			r.removed[it.Name] = true
		}
	}
	if it.fact != nil && it.Kind == "mount" && it.fact.Was == nil {
		r.freed[it.Name] = true
	}
	if r.o.Test {
		return
	}
	if err := act(); err != nil {
		it.Verdict, it.Comment = Fault, err.Error()
		return
	}
	changes := it.Changes
	switch v, why := judge(); v {
	case Already:
		it.Changes = changes
	case Fault:
		it.Verdict, it.Comment = v, why
	default:
		if it.path != nil && v != Cannot {
			why = r.unlikeBefore(it.path)
		}
		it.Verdict, it.Comment = Fault, "it was brought back, and is not as it was before the run: "+why
	}
}

const killed = "the run was ended before it looked at what it left"

// judgePath says what becomes of a path.
func (r *restorer) judgePath(it *Item) (Verdict, string) {
	p := it.path
	if strings.HasSuffix(p.Name, "/*") || p.Why != "" && p.Was == nil && !p.Looked {
		return Cannot, "it could not be kept: " + p.Why
	}
	cur, err := look(r.env.Host, p.Name, p.Was != nil && p.Was.Sum != "" || p.Now != nil && p.Now.Sum != "")
	if err != nil {
		return Fault, err.Error()
	}
	it.Changes = pathChanges(cur, p.Was)
	if p.Why != "" && (p.Was == nil || p.Was.Type == "file" && p.Was.Sum == "") {
		return Cannot, "its content could not be kept: " + p.Why
	}
	if asBefore(p.Was, cur) {
		return r.judgeNames(p, cur)
	}
	if p.Was != nil && cur != nil && p.Was.Type == "file" && p.Was.Sum == "" && cur.Type != "file" || p.Was != nil && cur == nil && p.Was.Type == "file" && p.Was.Sum == "" {
		return Since, "it is gone since the run, which only changed its owner or mode"
	}
	if p.Was != nil && !slices.Contains([]string{"file", "dir", "link"}, p.Was.Type) && (cur == nil || cur.Type != p.Was.Type) {
		return Cannot, "it was a " + p.Was.Type
	}
	if !p.Looked {
		return Since, killed
	}
	if r.o.Test && r.freed[p.Name] && p.Was == nil {
		return Back, "it is removed once nothing is mounted there"
	}
	if !same(cur, p.Now) {
		if cur == nil && p.Now != nil && r.removed[path.Dir(p.Name)] {
			return Already, "it is gone with its directory"
		}
		return Since, "it was changed since the run: " + difference(p.Now, cur)
	}
	if p.Was == nil && cur != nil && cur.Type == "dir" {
		return r.judgeMade(p)
	}
	return Back, r.backTo(p, cur)
}

// judgeNames says what becomes of a path that is as it was before the run, but perhaps for
// its other names.
func (r *restorer) judgeNames(p *Path, cur *Stat) (Verdict, string) {
	lost := lostNames(p.Was, cur)
	switch {
	case lost == "" || r.more(p):
		return Already, "it is as it was before the run"
	case r.twin(p, cur) == "":
		return Cannot, lost
	}
	return Back, r.backTo(p, cur)
}

// unlikeBefore says what of a path is not as it was before the run.
func (r *restorer) unlikeBefore(p *Path) string {
	cur, err := look(r.env.Host, p.Name, p.Was != nil && p.Was.Sum != "")
	switch {
	case err != nil:
		return err.Error()
	case same(p.Was, cur):
		return "the time of its content is another one"
	}
	return difference(p.Was, cur)
}

// judgeMade says what becomes of a directory that the run made.
func (r *restorer) judgeMade(p *Path) (Verdict, string) {
	if p.Tree != "" {
		if treeSum(r.env.Host, p.Name) == p.Tree {
			return Back, "it and what the run put into it are removed"
		}
		return Since, "something in it was changed since the run"
	}
	names, err := r.env.Host.ReadDir(p.Name)
	if err != nil {
		return Fault, err.Error()
	}
	var others []string
	for _, n := range names {
		if !r.removed[path.Join(p.Name, n)] {
			others = append(others, n)
		}
	}
	if len(others) > 0 {
		return Since, "it holds what the run did not make: " + list(others, 3)
	}
	return Back, "it is removed"
}

// backTo says what a path becomes.
func (r *restorer) backTo(p *Path, cur *Stat) string {
	switch was := p.Was; {
	case was == nil:
		return "it is removed"
	case was.Type == "file" && was.Sum == "":
		return "owner and mode are as before"
	case was.Links > 1 && r.joins(p, cur):
		return fmt.Sprintf("it is as before the run, one of the %d names of its file (hard links)", was.Links)
	case was.Links > 1:
		return fmt.Sprintf("it is as before the run, but a file of its own: the file had %d names (hard links)", was.Links)
	}
	return "it is as before the run"
}

// lostNames says that a file which had further names is one of its own now: those have what
// the run, or others, wrote to them.
func lostNames(was, cur *Stat) string {
	if was == nil || cur == nil || was.Links <= 1 || cur.Links >= was.Links {
		return ""
	}
	return fmt.Sprintf("its content, owner and mode are as before, but it is a file of its own now: the file had %d names (hard links), and the others are as they are", was.Links)
}

// difference says in what two Stats differ.
func difference(want, got *Stat) string {
	switch {
	case got == nil:
		return "it is gone"
	case want == nil:
		return "there is a " + got.Type + " now"
	case want.Type != got.Type:
		return "it is a " + got.Type + " now"
	case want.Target != got.Target:
		return "it leads to " + got.Target + " now"
	case want.Sum != got.Sum && want.Sum != "" && got.Sum != "":
		return "its content is another one"
	case want.Mode != got.Mode:
		return fmt.Sprintf("its mode is %04o now", got.Mode)
	case want.UID == got.UID && want.GID == got.GID:
		return "its extended attributes (" + list(unlike(want, got), 3) + ") are others now"
	}
	return fmt.Sprintf("it belongs to %d:%d now", got.UID, got.GID)
}

// unlike returns the names of the extended attributes that are known to differ, sorted.
func unlike(a, b *Stat) (names []string) {
	if a.Unasked || b.Unasked {
		return nil
	}
	for _, x := range [][2]map[string]string{{a.Xattrs, b.Xattrs}, {b.Xattrs, a.Xattrs}} {
		for name, text := range x[0] {
			if other, ok := x[1][name]; (!ok || other != text) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// pathChanges says what becomes of what, without contents, which may be secret.
func pathChanges(cur, was *Stat) *value.Map {
	out := value.NewMap(4)
	set := func(k string, old, to value.Value) {
		if !value.Equal(old, to) {
			out.Set(k, value.MapOf("old", old, "new", to))
		}
	}
	if cur == nil || was == nil {
		set("there", typeName(cur), typeName(was))
		return out
	}
	set("type", cur.Type, was.Type)
	if was.Type == "link" || cur.Type == "link" {
		set("target", cur.Target, was.Target)
	} else {
		set("mode", fmt.Sprintf("%04o", cur.Mode), fmt.Sprintf("%04o", was.Mode))
	}
	set("user", int64(cur.UID), int64(was.UID))
	set("group", int64(cur.GID), int64(was.GID))
	if was.Type == "file" && cur.Type == "file" {
		set("mtime", cur.Mtime.UTC().Format(time.RFC3339Nano), was.Mtime.UTC().Format(time.RFC3339Nano))
	}
	if was.Sum != "" && cur.Sum != was.Sum {
		set("sha256", cur.Sum, was.Sum)
	}
	if names := unlike(cur, was); len(names) > 0 {
		out.Set("xattrs", value.Strings(names...))
	}
	return out
}

func typeName(s *Stat) value.Value {
	if s == nil {
		return nil
	}
	return s.Type
}

// restorePath has a path be as it was.
func (r *restorer) restorePath(p *Path) error {
	h, was := r.env.Host, p.Was
	cur, err := look(h, p.Name, false)
	if err != nil {
		return err
	}
	if was == nil {
		switch {
		case cur == nil:
			return nil
		case cur.Type == "dir" && p.Tree != "":
			return h.RemoveAll(p.Name)
		case cur.Type == "dir":
			// It is empty, and the run itself had made it.
			return h.Force().Remove(p.Name)
		}
		return h.Remove(p.Name)
	}
	if cur != nil && cur.Type != was.Type {
		if err := h.Remove(p.Name); err != nil {
			return err
		}
		cur = nil
	}
	switch was.Type {
	case "file":
		if was.Sum != "" {
			return r.restoreFile(p)
		}
	case "link":
		if cur != nil {
			if err := h.Remove(p.Name); err != nil {
				return err
			}
		}
		if err := h.Symlink(was.Target, p.Name); err != nil {
			return err
		}
		return h.Lchown(p.Name, was.UID, was.GID)
	case "dir":
		if cur == nil {
			if err := h.Mkdir(p.Name, 0o700); err != nil {
				return err
			}
		}
	}
	if err := h.Lchown(p.Name, was.UID, was.GID); err != nil {
		return err
	}
	if err := h.Chmod(p.Name, host.FileMode(was.Mode)); err != nil {
		return err
	}
	if err := restoreXattrs(h, p); err != nil || was.Type != "file" {
		return err
	}
	return h.Chtimes(p.Name, h.Now(), was.Mtime)
}

// restoreXattrs comes after owner and mode: a change of the owner takes capabilities
// away, and one of the mode changes an ACL.
func restoreXattrs(h host.Host, p *Path) error {
	now, err := host.Xattrs(h, p.Name)
	if p.Was.Unasked || err != nil || maps.Equal(now, p.Was.Xattrs) {
		return err
	}
	return host.SetXattrs(h, p.Name, p.Was.Xattrs)
}

func (r *restorer) restoreFile(p *Path) error {
	if p.Was.Links > 1 {
		return r.restoreLinked(p)
	}
	return r.restoreContent(p)
}

func (r *restorer) restoreContent(p *Path) error {
	content, err := r.rec.content(p.Was.Sum)
	if err != nil {
		return fmt.Errorf("what was kept of it cannot be read: %w", err)
	}
	defer content.Close()
	mode := host.FileMode(p.Was.Mode)
	uid, gid := p.Was.UID, p.Was.GID
	if err := r.env.Host.WriteFile(p.Name, content, host.WriteOptions{Mode: &mode, UID: &uid, GID: &gid, Sync: true}); err != nil {
		return err
	}
	if err := restoreXattrs(r.env.Host, p); err != nil {
		return err
	}
	return r.env.Host.Chtimes(p.Name, r.env.Host.Now(), p.Was.Mtime)
}

// judgeFact says what becomes of a fact.
func (r *restorer) judgeFact(ctx context.Context, it *Item) (Verdict, string) {
	f := it.fact
	now, err := kinds[f.Kind].read(ctx, r.env, f.Name)
	if err != nil {
		return Fault, err.Error()
	}
	if !f.Looked && f.Kind == "packages" {
		f.Now = differing(f.Was, now)
	}
	it.Changes = f.changesOf(now)
	switch {
	case f.alike(f.Was, now):
		return Already, "as before the run"
	case !f.Looked:
		return Since, killed
	case f.alike(f.Now, now):
		return Back, "as before the run"
	case f.Kind == "packages":
		return Since, "changed since the run: " + list(f.others(f.Now, now), 5)
	}
	return Since, "it was changed since the run"
}

func (r *restorer) restoreFact(ctx context.Context, it *Item) error {
	now, err := kinds[it.fact.Kind].read(ctx, r.env, it.fact.Name)
	if err != nil {
		return err
	}
	return kinds[it.fact.Kind].restore(ctx, r.env, it.fact, now)
}

// restart restarts a service that the run restarted because what it watches had changed,
// where that was brought back.
func (r *restorer) restart(ctx context.Context, it *Item) {
	now, err := readService(ctx, r.env, it.Name)
	if err != nil {
		it.Verdict, it.Comment = Fault, err.Error()
		return
	}
	if !r.acted || now.At("running") != true {
		it.Verdict, it.Comment = Already, "it need not be restarted"
		return
	}
	it.Verdict, it.Comment = Back, "it is restarted, as the run did when what it watches changed"
	it.Changes = value.MapOf("restarted", true)
	if r.o.Test {
		return
	}
	if v, err := r.env.Exec(ctx, "service.restart", value.MapOf("name", it.Name)); err != nil || v == false {
		it.Verdict, it.Comment = Fault, fmt.Sprint("it could not be restarted: ", errors.Join(err))
		return
	}
	if now, err = readService(ctx, r.env, it.Name); err != nil || now.At("running") != true {
		it.Verdict, it.Comment = Fault, "it does not run after its restart"
	}
}

// IsNone reports whether an error says that nothing is kept of a run.
func IsNone(err error) bool { return errors.Is(err, errNone) || errors.Is(err, fs.ErrNotExist) }
