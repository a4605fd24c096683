package lsp

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// A query is a question about a place in a document.
type query struct {
	s    *server
	t    *tree // nil: the document belongs to no tree
	view *lint.View
	doc  *document
	line int
	col  int // in bytes
	text string
	out  *outline
	file lint.ViewFile // what the tree knows of the document

	outlines map[string]*outline
	docs     map[string]*document
}

// query returns a question about a place; nil if the document is not open.
func (s *server) query(_ context.Context, uri string, at position) *query {
	abs := pathOf(uri)
	s.mu.Lock()
	d := s.docs[abs]
	t := s.treeFor(abs)
	s.mu.Unlock()
	if d == nil {
		return nil
	}
	q := &query{s: s, t: t, doc: d, view: &lint.View{Table: s.Table}, outlines: map[string]*outline{}, docs: map[string]*document{}}
	q.line, q.col = d.at(at)
	q.text = d.line(q.line)
	q.out = outlineOf(d.lines)
	if t != nil {
		if v := t.view.Load(); v != nil {
			q.view = v
		}
		abs = t.real(abs)
		for _, f := range q.view.Files {
			if f.Abs == abs {
				q.file = f
				break
			}
		}
	}
	q.outlines[abs], q.docs[abs] = q.out, d
	if q.file.Abs == "" {
		q.file = lint.ViewFile{Abs: abs, Path: filepath.Base(abs), SaltEnv: "base"}
	}
	return q
}

// document returns the document of a file of the tree.
func (q *query) document(abs string) *document {
	if d := q.docs[abs]; d != nil {
		return d
	}
	d := q.s.read(abs)
	q.s.mu.Lock()
	for p, open := range q.s.docs {
		if p == abs || q.t != nil && q.t.real(p) == abs {
			d = open
		}
	}
	q.s.mu.Unlock()
	q.docs[abs] = d
	return d
}

// outline returns the outline of a file of the tree.
func (q *query) outline(abs string) *outline {
	o := q.outlines[abs]
	if o == nil {
		o = outlineOf(q.document(abs).lines)
		q.outlines[abs] = o
	}
	return o
}

// find returns the file of an SLS that a file names.
func (q *query) find(from lint.ViewFile, sls string) (lint.ViewFile, bool) {
	name := q.absolute(from, sls)
	for _, f := range q.view.Files {
		if f.SLS == name && f.Pillar == from.Pillar && (f.SaltEnv == from.SaltEnv || from.SaltEnv == "") {
			return f, true
		}
	}
	return lint.ViewFile{}, false
}

// absolute returns the name of an SLS that a file may name from itself: ".common".
func (q *query) absolute(from lint.ViewFile, name string) string {
	rest := strings.TrimLeft(name, ".")
	levels := len(name) - len(rest)
	if levels == 0 {
		return name
	}
	parts := strings.Split(from.SLS, ".")
	if path.Base(from.Path) == "init.sls" {
		parts = append(parts, "init")
	}
	if levels > len(parts) {
		return name
	}
	return fun.PlainSLS(strings.Join(append(slices.Clip(parts[:len(parts)-levels]), rest), "."))
}

// maxScope bounds how many SLS files a scope has.
const maxScope = 200

// scope returns the files whose states run together with those of a file: itself,
// and what it includes.
func (q *query) scope(from lint.ViewFile) []lint.ViewFile {
	files := []lint.ViewFile{from}
	seen := map[string]bool{from.Abs: true}
	for i := 0; i < len(files) && len(files) < maxScope; i++ {
		for _, inc := range q.outline(files[i].Abs).includes {
			if f, ok := q.find(files[i], inc.name); ok && !seen[f.Abs] {
				seen[f.Abs] = true
				files = append(files, f)
			}
		}
	}
	return files
}

// names reports whether a requisite to a state and name means an ID.
func (id *idLine) names(state, name string) bool {
	if id.name == name && (state == "" || state == "id") {
		return true
	}
	for _, s := range id.states {
		mod, _, _ := strings.Cut(s.fn, ".")
		if (state == "" || state == "id" || state == mod) && (id.name == name || s.name.name == name) {
			return true
		}
	}
	return false
}

// spec returns the row of a function, with its module.
func (q *query) spec(kind fun.Kind, name string) (*fun.Module, *fun.Spec) {
	mod, spec, ok := q.view.Table.Lookup(kind, name)
	if !ok {
		return nil, nil
	}
	return mod, spec
}

// fileAt returns the file of a path under the roots.
func (q *query) fileAt(p, saltenv string, pillar bool) (lint.ViewFile, bool) {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	for _, f := range q.view.Files {
		if f.Path == p && f.Pillar == pillar && (saltenv == "" || f.SaltEnv == saltenv) {
			return f, true
		}
	}
	return lint.ViewFile{}, false
}

// template returns the file that a template names.
func (q *query) template(name string) (lint.ViewFile, bool) {
	if p, env, ok := fun.SplitURL(name); ok {
		return q.fileAt(p, env, q.file.Pillar)
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(path.Dir(q.file.Path), name)
	}
	return q.fileAt(name, q.file.SaltEnv, q.file.Pillar)
}

// A pillarPlace is a value of the pillar and where its key is.
type pillarPlace struct {
	abs  string
	line int
	val  value.Value
}

// pillarAt returns where the pillar has a path of keys.
func (q *query) pillarAt(keys []string) []pillarPlace {
	var out []pillarPlace
	seen := map[pillarPlace]bool{}
	for _, p := range q.view.Pillar {
		m := p.Data
		for i, k := range keys {
			if !m.Has(k) {
				break
			}
			if i == len(keys)-1 {
				place := pillarPlace{abs: p.Abs, line: m.Pos(k).Line}
				if !seen[place] {
					seen[place] = true
					place.val = m.At(k)
					out = append(out, place)
				}
				break
			}
			m = value.ToMap(m.At(k))
			if m == nil {
				break
			}
		}
	}
	return out
}

// keysUnder returns the keys of the pillar, or of grains, under a path.
func keysUnder(maps []*value.Map, path []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range maps {
		for _, k := range path {
			if m = value.ToMap(m.At(k)); m == nil {
				break
			}
		}
		if m == nil {
			continue
		}
		for k := range m.All() {
			if s, ok := k.(string); ok && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (q *query) pillars() []*value.Map {
	var out []*value.Map
	for _, p := range q.view.Pillar {
		out = append(out, p.Data)
	}
	return out
}
