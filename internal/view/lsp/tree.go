package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// A tree is an SLS tree with the session of lint that checks it in the background.
type tree struct {
	s     *server
	dir   string
	o     lint.Options
	roots []root
	view  atomic.Pointer[lint.View]
	done  chan struct{}      // closed when run has ended
	end   context.CancelFunc // ends run
	old   *tree              // the tree that this one takes the place of; nil: none

	mu      sync.Mutex
	touched map[string]bool
	relist  bool
	wake    chan struct{}
	stop    context.CancelFunc // ends the check of everything that runs; nil: none does
	shown   map[string]*shownFile
}

// A root is a directory of the tree, as configured and without links.
type root struct{ dir, real string }

// A shownFile is what the client shows of a file.
type shownFile struct {
	text     string // the diagnostics as JSON
	findings []shownFinding
}

// A shownFinding is a finding with the text of its line when it was found.
type shownFinding struct {
	lint.Finding
	diagnostic
	line string
}

// markers are the files that make a directory a tree.
var markers = []string{"minion", "master", "Saltfile", lint.ConfigName, "FORMULA"}

// isConfig reports whether a file says what a tree is, or how it is checked.
func isConfig(abs string) bool {
	dir := filepath.Base(filepath.Dir(abs))
	return slices.Contains(markers, filepath.Base(abs)) || (dir == "minion.d" || dir == "master.d") && filepath.Ext(abs) == ".conf"
}

// treeOf returns the tree that a file belongs to, and starts it where it is new.
// The server is locked.
func (s *server) treeOf(ctx context.Context, abs string) *tree {
	if !isTemplate(abs) {
		return s.treeFor(abs) // a file of any kind may be open beside those of a tree
	}
	dirs := s.candidates(abs)
	for _, dir := range dirs {
		t := s.trees[dir]
		if t == nil {
			var err error
			if t, err = s.newTree(dir); err != nil {
				s.showWarning(ctx, fmt.Sprintf("the configuration of %s cannot be read: %v", dir, err))
				continue
			}
		}
		if !t.has(abs) {
			continue
		}
		if s.trees[dir] == nil {
			s.startTree(ctx, t)
		}
		return t
	}
	if len(dirs) == 0 {
		s.Log.Info("the file is in no tree: there is no "+strings.Join(markers, ", ")+", top.sls or .git in the directories around it", "file", abs)
	}
	return nil
}

// startTree starts a tree. The server is locked.
func (s *server) startTree(ctx context.Context, t *tree) {
	s.trees[t.dir] = t
	for _, d := range s.docs {
		if t.has(d.abs) { // a file of another kind, opened before
			s.put(t, d)
		}
	}
	s.Log.Info("tree opened", "dir", t.dir)
	ctx, t.end = context.WithCancel(ctx)
	s.work.Go(func() {
		defer t.end()
		defer close(t.done)
		t.run(ctx)
	})
}

// reconfigure reads the configuration of all trees again. A tree whose configuration
// cannot be read stays as it is. The server is locked.
func (s *server) reconfigure(ctx context.Context) {
	clear(s.shownWarnings)
	for _, old := range s.trees {
		t, err := s.newTree(old.dir)
		if err != nil {
			s.showWarning(ctx, fmt.Sprintf("the configuration of %s cannot be read: %v", old.dir, err))
			continue
		}
		old.end()
		t.old = old
		s.startTree(ctx, t)
	}
	for _, d := range s.docs {
		if t := s.treeOf(ctx, d.abs); t != nil { // which may be another one now
			s.put(t, d)
		}
	}
}

// drop closes a tree none of whose documents is open, and reports whether it did.
func (s *server) drop(t *tree) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trees[t.dir] != t || s.hasOpen(t) {
		return false
	}
	delete(s.trees, t.dir)
	for _, o := range s.trees {
		o.fileChanged("", false) // one around it shows its files again
	}
	s.Log.Info("tree closed", "dir", t.dir)
	return true
}

// hasOpen reports whether a document of a tree is open. The server is locked.
func (s *server) hasOpen(t *tree) bool {
	for abs := range s.docs {
		if t.has(abs) {
			return true
		}
	}
	return false
}

// messageWarning is the type of a message that is a warning.
const messageWarning = 2

// showWarning shows the user a warning, once. The server is locked.
func (s *server) showWarning(ctx context.Context, text string) {
	if s.shownWarnings[text] || s.disconnected {
		return
	}
	s.shownWarnings[text] = true
	s.Log.Warn(text)
	if s.conn == nil {
		return
	}
	s.work.Go(func() {
		if err := s.conn.Notify(ctx, "window/showMessage", object{"type": messageWarning, "message": "brine: " + text}); err != nil {
			s.Log.Debug("message not sent", "err", err)
		}
	})
}

// isTemplate reports whether the name of a file is that of an SLS or a template.
func isTemplate(abs string) bool {
	switch filepath.Ext(abs) {
	case ".sls", ".jinja", ".jinja2", ".j2":
		return true
	}
	return false
}

// treeFor returns the tree that is open and has a file; nil for none.
func (s *server) treeFor(abs string) *tree {
	var best *tree
	for _, t := range s.trees {
		if t.has(abs) && (best == nil || len(t.dir) > len(best.dir)) {
			best = t
		}
	}
	return best
}

// candidates are the directories that may be the tree of a file: those around it
// that have a configuration, up to its workspace folder, then the folder. Without a
// folder it is the directory of a git repository or that of a top file: a file alone
// does not make the directory that it is in a tree.
func (s *server) candidates(abs string) []string {
	if s.Root != "" {
		return []string{s.Root}
	}
	top := ""
	for _, f := range s.folders {
		if under(abs, f) && len(f) > len(top) {
			top = f
		}
	}
	var dirs []string
	repo, withTop := "", ""
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(markers, func(m string) bool { return s.isFile(filepath.Join(dir, m)) }) {
			dirs = append(dirs, dir)
		}
		if _, err := s.Disk.Stat(filepath.Join(dir, ".git")); err == nil && repo == "" {
			repo = dir
		}
		if s.isFile(filepath.Join(dir, "top.sls")) {
			withTop = dir
		}
		if dir == top || dir == filepath.Dir(dir) || len(dirs) > 8 {
			break
		}
	}
	switch filepath.Base(withTop) {
	case "salt", "states", "pillar": // beside each other in a tree
		withTop = filepath.Dir(withTop)
	}
	last := cmp.Or(top, repo, withTop)
	if last != "" && !slices.Contains(dirs, last) {
		dirs = append(dirs, last)
	}
	return dirs
}

func (s *server) isFile(name string) bool {
	st, err := s.Disk.Stat(name)
	return err == nil && st.Mode.IsRegular()
}

// under reports whether a path is a directory or under it.
func under(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

func (s *server) newTree(dir string) (*tree, error) {
	o, err := s.Tree(dir)
	if err != nil {
		return nil, err
	}
	o.Disk = s.over
	t := &tree{s: s, dir: dir, o: o, done: make(chan struct{}), touched: map[string]bool{}, wake: make(chan struct{}, 1), shown: map[string]*shownFile{}}
	for _, key := range []string{"file_roots", "pillar_roots"} {
		for _, v := range o.Opts.Map(key).All() {
			list, _ := v.(*value.List)
			for i := range list.Len() {
				d, ok := list.Items[i].(string)
				if !ok || !filepath.IsAbs(d) {
					continue
				}
				d, _, _ = strings.Cut(filepath.Clean(d), "/__env__")
				real, err := s.Disk.ReadTarget(d)
				if err != nil {
					real = d
				}
				t.roots = append(t.roots, root{d, real})
			}
		}
	}
	return t, nil
}

// has reports whether a file is under the roots of the tree.
func (t *tree) has(abs string) bool {
	return slices.ContainsFunc(t.roots, func(r root) bool { return under(abs, r.dir) || under(abs, r.real) })
}

// real returns the path of a file as the tree names it: editors may resolve links.
func (t *tree) real(abs string) string {
	for _, r := range t.roots {
		if under(abs, r.dir) {
			return abs
		}
	}
	for _, r := range t.roots {
		if under(abs, r.real) {
			return r.dir + strings.TrimPrefix(abs, r.real)
		}
	}
	return abs
}

// fileChanged says that a file changed, or that any may have.
func (t *tree) fileChanged(abs string, relist bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if abs != "" {
		t.touched[abs] = true
	}
	t.relist = t.relist || relist
	if t.stop != nil {
		t.stop()
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// run checks the tree whenever it changes, until ctx ends or none of its documents
// has been open for a while.
func (t *tree) run(ctx context.Context) {
	if t.old != nil {
		<-t.old.done
		t.mu.Lock()
		maps.Copy(t.shown, t.old.shown) // what the client shows until then
		t.mu.Unlock()
		t.old = nil
	}
	var session *lint.Session
	large := false
	for ctx.Err() == nil {
		if !t.pause(ctx, t.s.Delay) {
			return
		}
		if session == nil && !large {
			var err error
			if session, err = lint.NewSession(ctx, t.o); err != nil && ctx.Err() == nil {
				large = t.refused(ctx, err)
				t.publish(ctx, &lint.Report{}, documents{})
			}
		}
		if session != nil {
			err := t.s.guard("check", func() error { return t.check(ctx, session) })
			if _, ok := errors.AsType[*lint.LargeError](err); ok { // it has grown
				session, large = nil, t.refused(ctx, err)
				t.publish(ctx, &lint.Report{}, documents{})
			} else if err != nil && !errors.Is(err, context.Canceled) {
				t.s.Log.Error("the check failed", "dir", t.dir, "err", err)
			}
		}
		t.s.mu.Lock()
		var idle <-chan time.Time
		if !t.s.hasOpen(t) {
			idle = time.After(t.s.Linger)
		}
		t.s.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-t.wake:
		case <-idle:
			// What it shows goes first: once it is dropped, another tree may show the same files.
			t.publish(ctx, &lint.Report{}, documents{})
			if t.s.drop(t) {
				return
			}
		}
	}
}

// refused tells the user that a tree is not checked, and reports whether it is too
// large, which it stays until its configuration changes.
func (t *tree) refused(ctx context.Context, err error) (large bool) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.showWarning(ctx, fmt.Sprintf("the tree %s is not checked: %v", t.dir, err))
	_, large = errors.AsType[*lint.LargeError](err)
	return large
}

// maxPauses is how many times as long as after the last change the server waits in
// all: something may write files of the workspace without end.
const maxPauses = 10

// pause waits until nothing changed for a while; it reports false if ctx ended.
func (t *tree) pause(ctx context.Context, d time.Duration) bool {
	last := time.After(maxPauses * d)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-last:
			return true
		case <-t.wake:
		case <-time.After(d):
			return true
		}
	}
}

// check checks what is nearby and, if nothing changes for a while, the rest.
func (t *tree) check(ctx context.Context, session *lint.Session) error {
	open := t.take(session)
	start := time.Now()
	report, err := session.Check(ctx, lint.Nearby, open.paths...)
	if err != nil {
		return err
	}
	t.view.Store(session.View())
	t.publish(ctx, report, open)
	t.s.Log.Debug("checked what is nearby", "dir", t.dir, "took", time.Since(start))
	if !session.Due() {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.wake:
		t.wakeAgain()
		return nil
	case <-time.After(t.s.Idle):
	}
	deep, stop := context.WithCancel(ctx)
	defer stop()
	t.mu.Lock()
	t.stop = stop
	changed := len(t.touched) > 0 || t.relist
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.stop = nil
		t.mu.Unlock()
	}()
	if changed {
		return nil // run was woken
	}
	start = time.Now()
	if report, err = session.Check(deep, lint.Everything, open.paths...); err != nil {
		return err
	}
	t.view.Store(session.View())
	t.publish(ctx, report, open)
	t.s.Log.Debug("checked everything", "dir", t.dir, "took", time.Since(start))
	return nil
}

func (t *tree) wakeAgain() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// documents are those that were open when a check began.
type documents struct {
	byPath map[string]*document
	paths  []string
}

// take tells the session what changed and returns the open documents.
func (t *tree) take(session *lint.Session) documents {
	open := documents{byPath: map[string]*document{}}
	t.s.mu.Lock()
	for abs, d := range t.s.docs {
		if t.has(abs) {
			open.byPath[t.real(abs)] = d
			open.paths = append(open.paths, t.real(abs))
		}
	}
	t.s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	for abs := range t.touched {
		session.Touch(abs)
		if !session.Has(abs) {
			t.relist = true
		}
	}
	clear(t.touched)
	if t.relist {
		session.Relist()
		t.relist = false
	}
	return open
}

// maxDiagnostics bounds the diagnostics of one file.
const maxDiagnostics = 500

// publish sends the diagnostics of the files whose diagnostics changed. Trees may be
// within each other, so one publishes at a time: what an outer one found does not
// follow what the inner one has sent.
func (t *tree) publish(ctx context.Context, r *lint.Report, open documents) {
	t.s.publishing.Lock()
	defer t.s.publishing.Unlock()
	byFile := map[string][]lint.Finding{}
	add := func(f lint.Finding) {
		if filepath.IsAbs(f.Pos.File) && len(byFile[f.Pos.File]) < maxDiagnostics {
			byFile[f.Pos.File] = append(byFile[f.Pos.File], f)
		}
	}
	for _, f := range r.Findings {
		add(f)
		// A file that imports a broken one does not work either.
		for _, pos := range f.Via {
			at := source.Pos{File: filepath.Base(f.Pos.File), Line: f.Pos.Line, Col: f.Pos.Col}
			add(lint.Finding{Rule: f.Rule, Severity: f.Severity, Pos: pos, Message: at.String() + ": " + f.Message, Hint: f.Hint})
		}
	}
	t.mu.Lock()
	files := slices.Clone(open.paths)
	for abs := range t.shown {
		files = append(files, abs)
	}
	t.mu.Unlock()
	for abs := range byFile {
		files = append(files, abs)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	t.s.mu.Lock()
	files = slices.DeleteFunc(files, func(abs string) bool {
		other := t.s.treeFor(abs)
		if other != nil && other != t { // a tree in this one has them
			if t.handOver(abs, other) {
				other.wakeAgain()
			}
			return true
		}
		for _, o := range t.s.trees { // what another has sent is replaced now
			if other != nil && o != t {
				o.handOver(abs, t)
			}
		}
		return other == nil && t.shown[abs] == nil
	})
	t.s.mu.Unlock()
	for _, abs := range files {
		t.publishFile(ctx, abs, byFile[abs], open.byPath[abs])
	}
}

// handOver leaves what the client shows of a file to a tree that has the file now, and
// that takes it back if it finds nothing there. It reports whether that tree did not know.
func (t *tree) handOver(abs string, to *tree) bool {
	t.mu.Lock()
	shown := t.shown[abs]
	delete(t.shown, abs)
	t.mu.Unlock()
	if shown == nil {
		return false
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.shown[abs] != nil {
		return false
	}
	to.shown[abs] = shown
	return true
}

func (t *tree) publishFile(ctx context.Context, abs string, findings []lint.Finding, d *document) {
	if d == nil {
		d = t.s.read(abs)
	}
	if d.large {
		findings = nil // there is no text to show them in
	}
	next := &shownFile{}
	list := make([]diagnostic, 0, len(findings))
	for _, f := range findings {
		diag := t.s.diagnose(d, f)
		list = append(list, diag)
		next.findings = append(next.findings, shownFinding{f, diag, d.line(f.Pos.Line - 1)})
	}
	params := publishParams{URI: d.uri, Diagnostics: list}
	if d.open {
		params.Version = &d.version
	}
	text, err := json.Marshal(params)
	if err != nil {
		return
	}
	next.text = string(text)
	t.mu.Lock()
	before := t.shown[abs]
	t.shown[abs] = next
	if len(list) == 0 && !d.open {
		delete(t.shown, abs)
	}
	t.mu.Unlock()
	if before != nil && before.text == next.text || before == nil && len(list) == 0 && !d.open {
		return
	}
	if err := t.s.conn.Notify(ctx, "textDocument/publishDiagnostics", params); err != nil {
		t.s.Log.Debug("diagnostics not sent", "err", err)
	}
}

// read returns the document of a file that is not open.
func (s *server) read(abs string) *document {
	var text []byte
	st, err := s.over.Stat(abs)
	large := err == nil && st.Size > maxDocument
	if err == nil && st.Mode.IsRegular() && !large {
		text, _ = s.over.ReadFile(abs)
	}
	d := newDocument(uriOf(abs), abs, 0, string(text))
	d.large = d.large || large
	return d
}

// diagnose makes a diagnostic of a finding.
func (s *server) diagnose(d *document, f lint.Finding) diagnostic {
	line := min(max(f.Pos.Line-1, 0), len(d.lines)-1)
	text := d.line(line)
	start := len(text) - len(strings.TrimLeft(text, " \t"))
	if f.Pos.Col > 0 {
		start = 0
		for n := 1; n < f.Pos.Col && start < len(text); n++ {
			_, size := utf8.DecodeRuneInString(text[start:])
			start += size
		}
	}
	end := wordEnd(text, start)
	if f.Pos.Col == 0 {
		end = len(strings.TrimRight(text, " \t"))
	}
	out := diagnostic{Range: d.span(line, start, max(start, end)), Code: f.Rule, Source: "brine", Message: f.Message}
	switch f.Severity {
	case lint.Error:
		out.Severity = severityError
	case lint.Warning:
		out.Severity = severityWarning
	default:
		out.Severity = severityInformation
	}
	if f.Hint != "" {
		out.Message += "\n" + f.Hint
	}
	if len(f.Systems) > 0 {
		out.Message += fmt.Sprintf("\n(on %s)", strings.Join(f.Systems, ", "))
	}
	if s.RulesURL != "" {
		out.CodeDescription = &codeDescription{s.RulesURL + "#" + f.Rule}
	}
	if strings.HasPrefix(f.Rule, "unused-") {
		out.Tags = []int{1} // unnecessary
	}
	return out
}

// wordEnd returns where the word at a byte of a line ends: a key, a value or a name.
func wordEnd(text string, start int) int {
	end := start
	if rest := text[start:]; rest != "" && strings.Trim(rest, " \t") == "" {
		return len(text) // trailing space
	}
	for i, r := range text[start:] {
		if i > 0 && (r == ' ' || r == '\t') || strings.ContainsRune(",[]{}()'\"|", r) && i > 0 {
			break
		}
		if r == ':' && (i+1 == len(text)-start || text[start+i+1] == ' ') {
			break
		}
		end = start + i + utf8.RuneLen(max(r, 0))
	}
	return min(max(end, start), len(text))
}
