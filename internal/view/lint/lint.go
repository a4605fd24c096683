// Package lint finds faults in an SLS tree without touching a machine.
//
// [Run] renders and compiles every SLS of the tree, its top files and its pillar,
// once for each of several systems (recorded grains of distributions), with the
// passes that a real run uses. Execution functions that only compute answer
// templates; all others answer an unknown value, and what depends on one is not
// judged. The rules are in rules.go; checks of compiled states in states.go,
// of text in text.go.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/star"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Options say what is checked and how.
type Options struct {
	Opts  *value.Map // configuration: its file_roots and pillar_roots are checked
	Table *fun.Table
	Disk  host.Files // only read
	// Systems are the grains that the tree is compiled for; nil: [Systems].
	Systems []System
	// Chosen says that the user named the systems: a fault that one has counts as one that
	// all have.
	Chosen bool
	Config Config
	// MaxFiles bounds the files and directories of a saltenv, and MaxText the bytes
	// that are read of files that are neither SLS files nor templates: the rest of
	// these is left out. Of SLS files and templates twice as much is read. More of
	// them, or more files, are a [LargeError]. 0 is the default.
	MaxFiles int
	MaxText  int64
}

// A Finding is a fault at a place.
type Finding struct {
	Rule     string
	Severity Severity
	Pos      source.Pos // File is an absolute path, where the file is known
	Message  string
	Hint     string   // what the user can do; may be empty
	Systems  []string // where the fault is, if it is not on all systems
	LeftOut  bool     // the tree names other systems, and none of these
	Fix      *Edit    // what corrects it without a change of meaning; nil: nothing
	mild     bool     // a run does not fail: no more than a warning
	// Via are the statements (include, import) of other files that led to the place.
	Via []source.Pos
}

// An Edit replaces the bytes of a line from Start to End with New.
type Edit struct {
	Start, End int
	New        string
	Line       string // the text of the line, which is edited only if it still is this
}

// A Report is the result of a run.
type Report struct {
	Findings []Finding // by file, line and column
	SLS      int       // how many SLS files were compiled
	Unread   int       // how many files other than SLS files and templates were not read, since the tree has too much text
	Used     *Used     // what the tree uses
}

// Count returns how many findings have a severity; what was not judged is a finding
// only where it counts as an error or a warning.
func (r *Report) Count(s Severity) int {
	n := 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == s && !f.aside() {
			n++
		}
	}
	return n
}

// NotJudged returns how many places could not be checked.
func (r *Report) NotJudged() int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Rule == notJudged {
			n++
		}
	}
	return n
}

// aside reports whether a finding only says that something was not judged.
func (f *Finding) aside() bool { return f.Rule == notJudged && f.Severity == Info }

// Unjudged returns a finding for each place of SLS files that was not read on a
// system, or could not be judged, so that not all they use is known.
func (r *Report) Unjudged() []Finding {
	var out []Finding
	for i := range r.Findings {
		switch f := &r.Findings[i]; f.Rule {
		case notJudged, unreachableSLS:
			out = append(out, *f)
		case renderError, undefinedVariable, yamlTab, duplicateKey:
			if path.Ext(f.Pos.File) == ".sls" {
				out = append(out, *f)
			}
		}
	}
	return out
}

// Run checks a tree. The error says that the tree cannot be read or that ctx ended.
func Run(ctx context.Context, o Options) (*Report, error) {
	s, err := NewSession(ctx, o)
	if err != nil {
		return nil, err
	}
	r, err := s.Check(ctx, Everything)
	if err != nil {
		return nil, err
	}
	r.Used.resolve(s.l.paths)
	return r, nil
}

// A linter is what is known of a tree. What several systems write to is behind mu.
type linter struct {
	o               Options
	states, pillars *fileserver.Server
	seen            *seen      // of the check under way; nil: there is none
	table           *fun.Table // what templates may call: all that Salt has, too
	known           *fun.Table // what brine has, and the custom modules of the tree

	files []*file // of both roots
	sls   []*file // those that are compiled as states
	// paths are the absolute paths of files by their names under the roots, and
	// keys what runs call the files of an absolute path (see [depOf]).
	paths  map[string]string
	keys   map[string][]string
	exists map[string]bool // "saltenv path" of the files under the file roots
	used   *Used
	// grains are the names of the grains that machines may have, and own those that the
	// tree sets or makes; renderers are its custom renderers.
	grains, own, renderers map[string]bool
	// broken are the files that cannot be read (see [depOf]), and backends what else of the
	// configuration has files.
	broken   map[string]bool
	backends string
	lost     []Finding // SLS files that no name leads to
	// text is how many bytes of SLS files and templates were read, other how many of
	// other files, and unread how many files were not.
	text, other int64
	unread      int

	mu sync.Mutex
	// givenKeys are the pillar keys that orchestrations give to states.
	givenKeys map[string]bool
}

// A file is a file of the tree.
type file struct {
	fun.FileInfo
	saltenv string
	sls     string // its SLS name; "" where it is none
	pillar  bool
	mtime   int64    // in nanoseconds, of the text that was read
	unread  bool     // its text was not read, since the tree has too much
	broken  bool     // it cannot be read
	lost    bool     // it is an SLS that no name leads to
	lines   []string // of text that is checked; without line ends
	words   map[string]bool
	ignores ignores
	found   []Finding   // what the text alone shows
	star    *star.Facts // of a Starlark file
}

// A key tells findings apart: a fault that several systems or includers have is one.
type key struct {
	rule string
	pos  source.Pos
	msg  string
}

// add notes a finding of the text of a file. Its column counts bytes; those of
// findings count characters, as the compiler's do.
func (f *file) add(found Finding) {
	if i := found.Pos.Line - 1; found.Fix != nil && i >= 0 && i < len(f.lines) {
		found.Fix.Line = f.lines[i]
	}
	if i, at := found.Pos.Line-1, found.Pos.Col-1; i >= 0 && i < len(f.lines) && at > 0 && at <= len(f.lines[i]) {
		found.Pos.Col = utf8.RuneCountInString(f.lines[i][:at]) + 1
	}
	f.found = append(f.found, found)
}

// addf notes a finding of the text of a file.
func (f *file) addf(line, col int, rule, hint, format string, args ...any) {
	f.add(Finding{Rule: rule, Pos: source.Pos{File: f.Abs, Line: line, Col: col}, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// A merge joins the findings of files and systems.
type merge struct {
	l     *linter
	found map[key]*Finding
	where map[key]map[string]bool // the systems of a finding; none: of the text
}

// maxVia bounds the places that led to a finding.
const maxVia = 1000

// add notes a finding; system is "" where the text alone shows it.
func (m *merge) add(system string, f Finding) {
	if f.Pos.File != "" && !filepath.IsAbs(f.Pos.File) {
		if abs := m.l.paths[f.Pos.File]; abs != "" {
			f.Pos.File = abs
		}
	}
	m.elsewhereToo(&f)
	k := key{f.Rule, f.Pos, f.Message}
	via := f.Via
	if f.Via = nil; m.found[k] == nil {
		m.found[k] = &f
		m.where[k] = map[string]bool{}
	}
	for _, pos := range via {
		pos.File = m.l.abs(pos.File)
		if all := &m.found[k].Via; pos.File != f.Pos.File && len(*all) < maxVia && !slices.Contains(*all, pos) {
			*all = append(*all, pos)
		}
	}
	if system != "" {
		m.where[k][system] = true
	}
}

// A statement is what a finding says, and where.
type statement struct {
	pos     source.Pos
	message string
}

// result returns the findings that the configuration wants, in order.
func (m *merge) result() []Finding {
	l := m.l
	byPath := map[string]*file{}
	for _, f := range l.files {
		byPath[f.Abs] = f
	}
	unknown := map[source.Pos]bool{} // places where the text shows an unknown function
	judged := map[statement]bool{}
	named, places := l.named(), m.placesOf()
	for k, f := range m.found {
		if k.rule != notJudged {
			judged[statement{k.pos, f.Message}] = true
		}
		if k.rule == unknownFunction || k.rule == notInBrine {
			unknown[source.Pos{File: k.pos.File, Line: k.pos.Line}] = true
		}
	}
	var out []Finding
	for k, f := range m.found {
		if k.rule == undefinedVariable && unknown[source.Pos{File: k.pos.File, Line: k.pos.Line}] {
			continue // the same fault, found while rendering
		}
		if _, attr, ok := strings.Cut(f.Message, "has no attribute '"); ok && k.rule == undefinedVariable && l.givenKeys[strings.TrimSuffix(attr, "'")] {
			continue
		}
		if k.rule == notJudged && judged[statement{k.pos, strings.TrimSuffix(f.Message, " ("+machineOnly+")")}] {
			continue // it is wrong whatever the machine has
		}
		rule := ruleOf(f.Rule)
		if f.Severity = rule.Severity; f.mild {
			f.Severity = min(f.Severity, Warning)
		}
		if n := len(m.where[k]); n > 0 && n < len(l.o.Systems) {
			f.Systems = slices.Sorted(maps.Keys(m.where[k]))
			l.partly(f, rule, &named, slices.Sorted(maps.Keys(places[place{k.rule, k.pos}])), byPath[f.Pos.File])
		}
		if !l.o.Config.wants(f) {
			continue
		}
		if file := byPath[f.Pos.File]; file != nil && file.ignores.has(f.Rule, f.Pos.Line) {
			continue
		}
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Pos.File, b.Pos.File), a.Pos.Line-b.Pos.Line, a.Pos.Col-b.Pos.Col,
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	return out
}

// noteGiven notes the keys of the pillar that an orchestration gives.
func (l *linter) noteGiven(pillar value.Value) {
	m, _ := pillar.(*value.Map)
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range m.All() {
		l.givenKeys[value.Str(k)] = true
	}
}

// Bounds of what is read of a tree.
const (
	maxText         = 1 << 20 // bytes of a file whose text is checked
	defaultMaxText  = 256 << 20
	defaultMaxFiles = 200_000
)

// A LargeError is a tree that is not read, since it has more files or more text than
// a tree has.
type LargeError struct{ Reason string }

func (e *LargeError) Error() string { return e.Reason }

// list finds the files of the tree. Of a file that is as it was, it keeps what is
// known; it returns those that changed, and whether files came or went.
func (l *linter) list(ctx context.Context) (changed []*file, moved bool, err error) {
	before := map[string]*file{}
	for _, f := range l.files {
		before[f.id()] = f
	}
	had := l.exists
	l.files, l.sls, l.paths, l.keys, l.exists, l.broken = nil, nil, map[string]string{}, map[string][]string{}, map[string]bool{}, map[string]bool{}
	l.text, l.other, l.unread = 0, 0, 0
	for _, side := range []struct {
		server *fileserver.Server
		pillar bool
	}{{l.states, false}, {l.pillars, true}} {
		side.server.Forget()
		envs, err := side.server.Envs(ctx)
		if err != nil {
			return changed, moved, err
		}
		for _, env := range envs {
			infos, err := fun.ListFiles(ctx, side.server, env, "")
			if large, ok := errors.AsType[*fileserver.LargeError](err); ok {
				return changed, moved, &LargeError{large.Error()}
			}
			if err != nil {
				return changed, moved, fmt.Errorf("list the tree: %w", err)
			}
			for _, fi := range infos {
				f, isNew := l.addFile(fi, env, side.pillar, before)
				if isNew {
					changed = append(changed, f)
				}
				moved = moved || f != nil && before[f.id()] == nil
				if l.text > 2*l.o.MaxText {
					return changed, moved, &LargeError{fmt.Sprintf("the SLS files and templates of the tree have more than %d MB", 2*l.o.MaxText>>20)}
				}
			}
		}
	}
	l.leaveLost()
	return changed, moved || len(before) > 0 && len(l.files) != len(before) || had != nil && !maps.Equal(had, l.exists), ctx.Err()
}

// id tells the files of a tree apart.
func (f *file) id() string { return depOf(f.pillar, f.saltenv, f.Path) + "\x00" + f.Abs }

// depOf is what runs call a file that they depend on.
func depOf(pillar bool, saltenv, path string) string {
	if pillar {
		return "pillar " + saltenv + " " + path
	}
	return "salt " + saltenv + " " + path
}

// addFile adds a file of a listing; it returns nil for one that is not checked,
// and whether it is another than before.
func (l *linter) addFile(fi fun.FileInfo, env string, pillar bool, before map[string]*file) (*file, bool) {
	if !pillar {
		l.exists[env+" "+fi.Path] = true
	}
	if fi.Abs != "" {
		l.keys[fi.Abs] = append(l.keys[fi.Abs], depOf(pillar, env, fi.Path))
	}
	if fi.Link != "" && !fi.Mode.IsRegular() && !l.o.Config.excludes(fi.Path) {
		return l.addLink(fi, env, pillar, before)
	}
	if !fi.Mode.IsRegular() || l.o.Config.excludes(fi.Path) || fi.Abs == "" {
		return nil, false
	}
	f := &file{FileInfo: fi, saltenv: env, pillar: pillar}
	if st, err := l.o.Disk.Stat(f.Abs); err == nil {
		f.mtime, f.Size = st.Mtime.UnixNano(), st.Size
	}
	isNew := true
	if old := before[f.id()]; old != nil && old.mtime == f.mtime && old.Size == f.Size && !old.broken {
		f, isNew = old, false
	}
	if name, ok := fun.SLSName(fi.Path); ok {
		f.sls = name
	}
	l.files = append(l.files, f)
	if !pillar {
		if l.paths[fi.Path] == "" {
			l.paths[fi.Path] = f.Abs
		}
		if f.sls != "" && path.Base(fi.Path) != "top.sls" && !ofModules(fi.Path) {
			l.sls = append(l.sls, f)
		}
	}
	if isNew {
		l.read(f)
	}
	switch {
	case f.lines != nil && f.isTemplate():
		l.text += f.Size
	case f.lines != nil:
		l.other += f.Size
	case f.unread:
		l.unread++
	}
	return f, isNew
}

// addLink adds a link of the tree that leads to no file in it, if there are, or may be, SLS
// files behind it: a run refuses them.
func (l *linter) addLink(fi fun.FileInfo, env string, pillar bool, before map[string]*file) (*file, bool) {
	st, err := l.o.Disk.Stat(fi.Abs)
	if _, isSLS := fun.SLSName(fi.Path); !isSLS && (err != nil || !st.Mode.IsDir()) {
		return nil, false
	}
	f := &file{FileInfo: fi, saltenv: env, pillar: pillar}
	old := before[f.id()]
	if old != nil {
		f = old
	} else if err != nil {
		f.addf(1, 1, notJudged, "", "the link leads to %s, where nothing is", fi.Link)
	} else {
		f.addf(1, 1, notJudged, "put it into the tree, or add its directory to file_roots", "the link leads out of the roots, to %s: runs refuse it", fi.Link)
	}
	l.files = append(l.files, f)
	return f, old == nil
}

// ofModules reports whether a path is in a directory of custom modules.
func ofModules(p string) bool {
	dir, _, below := strings.Cut(p, "/")
	switch strings.TrimPrefix(dir, "_") {
	case "auth", "beacons", "cache", "clouds", "engines", "executors", "fileserver", "grains", "log_handlers", "matchers", "modules", "netapi",
		"output", "pillar", "proxy", "queues", "renderers", "returners", "roster", "runners", "sdb", "serializers", "states", "thorium", "tokens",
		"tops", "utils", "wheel", "wrapper":
		return below && strings.HasPrefix(dir, "_")
	}
	return false
}

// read reads the text of a file.
func (l *linter) read(f *file) {
	f.lines, f.words, f.ignores, f.found, f.star, f.broken = nil, nil, ignores{}, nil, nil, false
	f.unread = f.Size <= maxText && !f.isTemplate() && l.other+f.Size > l.o.MaxText
	if f.Size > maxText || f.unread {
		l.readable(f, nil)
		return
	}
	text, err := l.o.Disk.ReadFile(f.Abs)
	f.broken = err != nil
	delete(l.broken, depOf(f.pillar, f.saltenv, f.Path))
	if f.broken {
		l.broken[depOf(f.pillar, f.saltenv, f.Path)] = true
	}
	l.readable(f, err)
	if err != nil || strings.Contains(string(text), "\x00") {
		return
	}
	f.lines = strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	var faults []badIgnore
	if f.isStar() {
		facts := star.Check(f.Abs, text)
		f.star = &facts
	}
	// Any file may be a template of one: its comments count.
	if f.ignores, faults = readIgnores(f.lines); !f.isTemplate() && !f.isStar() {
		faults = nil
	}
	for _, b := range faults {
		f.addf(b.line, b.col, unknownRule, "'brine lint --rules' lists the rules", "unknown rule %q%s", b.name, source.DidYouMean(b.name, ruleIDs()))
	}
}

// isStar reports whether a file is one in Starlark.
func (f *file) isStar() bool { return path.Ext(f.Path) == ".star" && !f.pillar }

// isTemplate reports whether a file is an SLS or a template that SLS files import.
func (f *file) isTemplate() bool {
	switch path.Ext(f.Path) {
	case ".sls", ".jinja", ".j2", ".jinja2":
		return true
	}
	return false
}
