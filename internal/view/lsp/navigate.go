package lsp

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

func topOf(f lint.ViewFile) location { return location{URI: uriOf(f.Abs)} }

func (q *query) place(abs string, n nameAt) location {
	d := q.document(abs)
	return location{d.uri, d.span(n.line, n.start, n.end)}
}

// definition returns where what is at the place is defined.
func (q *query) definition() (any, error) {
	out := q.definitions()
	if out == nil {
		out = []location{}
	}
	return out, nil
}

func (q *query) definitions() []location {
	if f, ok := q.named(); ok {
		return []location{topOf(f)}
	}
	if kind, keys, _, _ := q.pathAt(); kind == "pillar" {
		var out []location
		for _, p := range q.pillarAt(keys) {
			d := q.document(p.abs)
			line := max(p.line-1, 0)
			out = append(out, location{d.uri, d.span(line, indentOf(d.line(line)), len(d.line(line)))})
		}
		return out
	}
	for _, n := range q.out.extends {
		if n.in(q.line, q.col) {
			return q.defined("", n.name)
		}
	}
	for _, r := range q.out.refs {
		onState := r.line == q.line && q.col >= indentOf(q.text) && q.col < r.start
		if (onState || r.in(q.line, q.col)) && r.state != "sls" {
			return q.defined(r.state, r.name)
		}
	}
	return nil
}

// named returns the file that is named at the place: by an include, an import, a
// salt:// URL, a requisite to an SLS or a top file.
func (q *query) named() (lint.ViewFile, bool) {
	here := func(names []nameAt, find func(string) (lint.ViewFile, bool)) (lint.ViewFile, bool) {
		for _, n := range names {
			if n.in(q.line, q.col) {
				return find(n.name)
			}
		}
		return lint.ViewFile{}, false
	}
	sls := func(name string) (lint.ViewFile, bool) { return q.find(q.file, name) }
	if f, ok := here(q.out.includes, sls); ok {
		return f, true
	}
	if f, ok := here(q.out.imports, q.template); ok {
		return f, true
	}
	if f, ok := here(q.out.urls, q.url); ok {
		return f, true
	}
	if path.Base(q.file.Path) == "top.sls" {
		if m := patterns().dash.FindStringSubmatch(q.text); m != nil {
			return sls(m[2])
		}
	}
	var refs []nameAt
	for _, r := range q.out.refs {
		if r.state == "sls" {
			refs = append(refs, r.nameAt)
		}
	}
	return here(refs, sls)
}

// url returns the file of a salt:// URL.
func (q *query) url(url string) (lint.ViewFile, bool) {
	p, env, ok := fun.SplitURL(url)
	if !ok {
		return lint.ViewFile{}, false
	}
	return q.fileAt(p, env, false)
}

// defined returns where the states are that a requisite means: in what runs
// together with the document, else anywhere in the tree.
func (q *query) defined(state, name string) []location {
	files := q.scope(q.file)
	out := q.definedIn(files, state, name)
	if len(out) > 0 {
		return out
	}
	return q.definedIn(q.states(name), state, name)
}

func (q *query) definedIn(files []lint.ViewFile, state, name string) []location {
	var out []location
	for _, f := range files {
		for i := range q.outline(f.Abs).ids {
			if id := &q.outline(f.Abs).ids[i]; id.names(state, name) {
				out = append(out, q.place(f.Abs, id.nameAt))
			}
		}
	}
	return out
}

// maxSearched bounds how many files a search reads.
const maxSearched = 5000

// states returns the SLS files of states that mention a word.
func (q *query) states(word string) []lint.ViewFile {
	var out []lint.ViewFile
	for i, f := range q.view.Files {
		if i >= maxSearched {
			break
		}
		if f.Pillar || f.SLS == "" || path.Base(f.Path) == "top.sls" {
			continue
		}
		if slices.ContainsFunc(q.document(f.Abs).lines, func(line string) bool { return strings.Contains(line, word) }) {
			out = append(out, f)
		}
	}
	if !slices.ContainsFunc(out, func(f lint.ViewFile) bool { return f.Abs == q.file.Abs }) {
		out = append(out, q.file)
	}
	return out
}

// symbols returns the IDs of the document with their states.
func (q *query) symbols() (any, error) {
	out := []documentSymbol{}
	for _, id := range q.out.ids {
		last := q.doc.line(id.last)
		s := documentSymbol{
			Name: id.name, Kind: symbolKey,
			Range:          span{q.doc.pos(id.line, 0), q.doc.pos(id.last, len(last))},
			SelectionRange: q.doc.span(id.line, id.start, id.end),
		}
		var fns []string
		for _, st := range id.states {
			if q.file.Pillar {
				continue
			}
			fns = append(fns, st.fn)
			s.Children = append(s.Children, documentSymbol{
				Name: st.fn, Kind: symbolMethod, Range: q.doc.span(st.line, 0, len(q.doc.line(st.line))), SelectionRange: q.doc.span(st.line, st.start, st.end),
			})
		}
		if s.Name == "" {
			s.Name = "''"
		}
		s.Detail = strings.Join(fns, ", ")
		out = append(out, s)
	}
	return out, nil
}

// links returns the files that the document names.
func (q *query) links() (any, error) {
	out := []documentLink{}
	add := func(n nameAt, f lint.ViewFile, ok bool) {
		if ok {
			out = append(out, documentLink{q.doc.span(n.line, n.start, n.end), uriOf(f.Abs)})
		}
	}
	for _, n := range q.out.urls {
		f, ok := q.url(n.name)
		add(n, f, ok)
	}
	for _, n := range q.out.includes {
		f, ok := q.find(q.file, n.name)
		add(n, f, ok)
	}
	for _, n := range q.out.imports {
		f, ok := q.template(n.name)
		add(n, f, ok)
	}
	return out, nil
}

// A use is a mention of an ID.
type use struct {
	abs string
	nameAt
	id *idLine // where it is the declaration
}

// idHere returns the name of the ID that the place is on.
func (q *query) idHere() (n nameAt, ok bool) {
	if q.file.Pillar || path.Base(q.file.Path) == "top.sls" {
		return n, false
	}
	for _, id := range q.out.ids {
		if id.in(q.line, q.col) {
			return id.nameAt, true
		}
	}
	for _, e := range q.out.extends {
		if e.in(q.line, q.col) {
			return e, true
		}
	}
	for _, r := range q.out.refs {
		if r.in(q.line, q.col) && r.state != "sls" {
			return r.nameAt, true
		}
	}
	return n, false
}

// uses returns all mentions of the ID of a name in the tree.
func (q *query) uses(name string) []use {
	var out []use
	for _, f := range q.states(name) {
		o := q.outline(f.Abs)
		for i := range o.ids {
			if o.ids[i].name == name {
				out = append(out, use{abs: f.Abs, nameAt: o.ids[i].nameAt, id: &o.ids[i]})
			}
		}
		for _, e := range o.extends {
			if e.name == name {
				out = append(out, use{abs: f.Abs, nameAt: e})
			}
		}
		for _, r := range o.refs {
			if r.state != "sls" && r.name == name {
				out = append(out, use{abs: f.Abs, nameAt: r.nameAt})
			}
		}
	}
	return out
}

// references returns where the ID at the place is used.
func (q *query) references(declaration bool) (any, error) {
	out := []location{}
	n, ok := q.idHere()
	if !ok {
		return out, nil
	}
	for _, u := range q.uses(n.name) {
		if u.id == nil || declaration {
			out = append(out, q.place(u.abs, u.nameAt))
		}
	}
	return out, nil
}

func (q *query) prepareRename() (any, error) {
	n, ok := q.idHere()
	if !ok {
		return nil, nil
	}
	if _, err := q.renamed(n.name); err != nil {
		return nil, err
	}
	return object{"range": q.doc.span(n.line, n.start, n.end), "placeholder": n.name}, nil
}

// renamed returns the mentions of an ID if changing them all changes nothing else.
func (q *query) renamed(name string) ([]use, error) {
	if strings.Contains(name, "{{") || strings.Contains(name, "{%") {
		return nil, &refusal{"the ID is made by a template"}
	}
	if q.t != nil && q.t.view.Load() == nil {
		return nil, &refusal{"the tree is still being read: try again in a moment"}
	}
	if len(q.view.Files) > maxSearched {
		return nil, &refusal{fmt.Sprintf("the tree has more than %d files, so not all of it is searched", maxSearched)}
	}
	uses := q.uses(name)
	var id *idLine
	for _, u := range uses {
		switch {
		case u.id == nil:
		case id != nil:
			return nil, &refusal{"more than one SLS declares the ID " + name}
		default:
			id = u.id
		}
	}
	if id == nil {
		return nil, &refusal{"no SLS of the tree declares the ID " + name}
	}
	for _, s := range id.states {
		if s.name.name == "" {
			return nil, &refusal{"the ID is the name that " + s.fn + " uses: add \"- name: " + name + "\" to it first"}
		}
	}
	if len(id.states) == 0 {
		return nil, &refusal{"the ID " + name + " has no states"}
	}
	if err := q.checkOtherUses(name); err != nil {
		return nil, err
	}
	return uses, nil
}

// checkOtherUses refuses an ID that other states or requisites of the tree may mean
// by another name.
func (q *query) checkOtherUses(name string) error {
	for _, f := range q.view.Files {
		if f.Pillar || f.SLS == "" {
			continue
		}
		if q.document(f.Abs).large {
			return &refusal{f.Path + " is too large to be searched"}
		}
		o := q.outline(f.Abs)
		for _, other := range o.ids {
			for _, s := range other.states {
				if other.name != name && s.name.name == name {
					return &refusal{"another state has the name " + name + ", which requisites may mean"}
				}
			}
		}
		for _, r := range o.refs {
			if r.name != name && value.HasGlob(r.name) && value.Fnmatch(r.name, name) {
				return &refusal{"the requisite " + r.name + " of " + f.Path + " means the ID as well"}
			}
		}
	}
	return nil
}

// rename renames the ID at the place in all of the tree.
func (q *query) rename(to string) (any, error) {
	n, ok := q.idHere()
	if !ok {
		return nil, &refusal{"there is no ID here"}
	}
	if to == "" || strings.TrimSpace(to) != to || strings.ContainsAny(to, "\n\r\t#{}[]\"'&*!|>%@`") || strings.Contains(to, ": ") || strings.HasSuffix(to, ":") || strings.HasPrefix(to, "-") {
		return nil, &refusal{"an ID must be plain text without special characters of YAML"}
	}
	uses, err := q.renamed(n.name)
	if err != nil {
		return nil, err
	}
	if to != n.name && len(q.uses(to)) > 0 {
		return nil, &refusal{"the ID " + to + " is already in use"}
	}
	edit := workspaceEdit{Changes: map[string][]textEdit{}}
	for _, u := range uses {
		d := q.document(u.abs)
		edit.Changes[d.uri] = append(edit.Changes[d.uri], textEdit{d.span(u.line, u.start, u.end), to})
	}
	return edit, nil
}
