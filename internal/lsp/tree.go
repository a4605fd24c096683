package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"brine/internal/lint"
	"brine/internal/value"
)

// A tree is an SLS tree with the session of lint that checks it in the background.
type tree struct {
	s     *server
	dir   string
	o     lint.Options
	roots []root
	view  atomic.Pointer[lint.View]

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

// treeOf returns the tree that a file belongs to, and starts it where it is new.
// The server is locked.
func (s *server) treeOf(ctx context.Context, abs string) *tree {
	if !isTemplate(abs) {
		return s.treeFor(abs) // a file of any kind may be open beside those of a tree
	}
	for _, dir := range s.candidates(abs) {
		t := s.trees[dir]
		if t == nil {
			var err error
			if t, err = s.newTree(dir); err != nil {
				s.Log.Warn("the configuration of the tree cannot be read", "dir", dir, "err", err)
				continue
			}
		}
		if !t.has(abs) {
			continue
		}
		if s.trees[dir] == nil {
			s.trees[dir] = t
			for _, d := range s.docs {
				if t.has(d.abs) { // a file of another kind, opened before
					s.put(t, d)
				}
			}
			s.Log.Info("tree opened", "dir", dir)
			s.work.Go(func() { t.run(ctx) })
		}
		return t
	}
	return nil
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
// that have a configuration, up to its workspace folder, then the folder.
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
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		for _, m := range markers {
			if st, err := s.Disk.Stat(filepath.Join(dir, m)); err == nil && st.Mode.IsRegular() {
				dirs = append(dirs, dir)
				break
			}
		}
		if dir == top || dir == filepath.Dir(dir) || len(dirs) > 8 {
			break
		}
	}
	if top == "" {
		top = filepath.Dir(abs)
	}
	if !slices.Contains(dirs, top) {
		dirs = append(dirs, top)
	}
	return dirs
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
	t := &tree{s: s, dir: dir, o: o, touched: map[string]bool{}, wake: make(chan struct{}, 1), shown: map[string]*shownFile{}}
	for _, key := range []string{"file_roots", "pillar_roots"} {
		for _, v := range o.Opts.Map(key).All() {
			list, _ := v.(*value.List)
			for i := range list.Len() {
				d, ok := list.Items[i].(string)
				if !ok || !filepath.IsAbs(d) {
					continue
				}
				d, _, _ = strings.Cut(filepath.Clean(d), "/__env__")
				real, err := s.Disk.EvalSymlinks(d)
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

// poke says that a file changed, or that any may have.
func (t *tree) poke(abs string, relist bool) {
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

// run checks the tree whenever it changes, until ctx ends.
func (t *tree) run(ctx context.Context) {
	var session *lint.Session
	for ctx.Err() == nil {
		if !t.pause(ctx, t.s.Delay) {
			return
		}
		if session == nil {
			var err error
			if session, err = lint.NewSession(ctx, t.o); err != nil {
				t.s.Log.Warn("the tree cannot be read", "dir", t.dir, "err", err)
			}
		}
		if session != nil {
			err := t.s.guard("check", func() error { return t.check(ctx, session) })
			if err != nil && !errors.Is(err, context.Canceled) {
				t.s.Log.Error("the check failed", "dir", t.dir, "err", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-t.wake:
		}
	}
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

// publish sends the diagnostics of the files whose diagnostics changed.
func (t *tree) publish(ctx context.Context, r *lint.Report, open documents) {
	byFile := map[string][]lint.Finding{}
	for _, f := range r.Findings {
		if filepath.IsAbs(f.Pos.File) && len(byFile[f.Pos.File]) < maxDiagnostics {
			byFile[f.Pos.File] = append(byFile[f.Pos.File], f)
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
	files = slices.DeleteFunc(files, func(abs string) bool { return t.s.treeFor(abs) != t }) // a tree in this one has them
	t.s.mu.Unlock()
	for _, abs := range files {
		t.publishFile(ctx, abs, byFile[abs], open.byPath[abs])
	}
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
