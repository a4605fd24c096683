package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/sourcegraph/jsonrpc2"

	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// testQuery returns a question about a document that belongs to a tree with a pillar.
func testQuery(s *server, text string, line, character int) *query {
	s.docs["/srv/salt/a.sls"] = newDocument("file:///srv/salt/a.sls", "/srv/salt/a.sls", 1, text)
	q := s.query(nil, "file:///srv/salt/a.sls", position{line, character}) //nolint:staticcheck // no request
	q.file = lint.ViewFile{Abs: "/srv/salt/a.sls", Path: "a.sls", SLS: "a", SaltEnv: "base"}
	q.view = &lint.View{
		Table: s.Table, Files: []lint.ViewFile{q.file}, Grains: []*value.Map{value.MapOf("os", "x")},
		Pillar: []lint.ViewPillar{{Abs: "/srv/pillar/p.sls", Data: value.MapOf("app", value.MapOf("port", int64(1)))}},
	}
	return q
}

func testServer() *server {
	return &server{
		Options: Options{Log: slog.New(slog.DiscardHandler), Disk: host.NewFake(), Table: assembly.Table()},
		over:    lint.NewOverlay(host.NewFake()), docs: map[string]*document{}, trees: map[string]*tree{}, shownWarnings: map[string]bool{},
	}
}

var seeds = []string{
	"", "a", "a:\n  pkg.", "include:\n  - ", "a:\n  test.nop:\n    - require:\n      - ", "{{ pillar['", "{% from '", "a: {{ salt['", "- - -", ":", "'a': 1", "\"",
	"include:\r\n  - b\r\n\r\na:\r\n  file.managed:\r\n    - source: salt://", "𝒳: é\n  𝒳.", "a:\n  file.managed:\n    - contents: |\n        - x\n    - ", "\xff\xfe:\n - \xff",
	"extend:\n  a:\n    b:\n      - ", "a:\n  pkg:\n    - installed\n    - require: [{pkg: a}]\n", "a: # brine: ignore x\n", "{{ salt['pillar.get']('a:b", "\t- x:\n\t\t- y",
}

// FuzzQuery: no text and no place makes an answer fail, and ranges lie in the text.
func FuzzQuery(f *testing.F) {
	for i, text := range seeds {
		f.Add(text, i, len(text))
	}
	s := testServer()
	f.Fuzz(func(t *testing.T, text string, line, character int) {
		q := testQuery(s, text, line, character)
		for _, h := range []func(*query) (any, error){
			(*query).completion, (*query).hover, (*query).definition, (*query).symbols, (*query).links, (*query).prepareRename,
			func(q *query) (any, error) { return q.references(true) }, func(q *query) (any, error) { return q.rename("new") },
		} {
			got, err := h(q)
			if err != nil {
				continue
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		}
		for _, id := range q.out.ids {
			if id.start > id.end || id.end > len(q.doc.line(id.line)) || id.last < id.line {
				t.Errorf("ID %+v is not in %q", id, text)
			}
		}
		for i := range q.doc.lines {
			sf := shownFinding{Finding: lint.Finding{Rule: "secret", Hint: `did you mean "x"?`, Message: text}}
			sf.Pos.Line, sf.Pos.Col = i+1, character
			s.diagnose(q.doc, sf.Finding)
			suggestedEdit(q.doc, i, sf)
			ignoreLine(q.doc, i, "secret")
			ignoreFile(q.doc, "secret")
			if i > 50 {
				break
			}
		}
	})
}

// FuzzEdit: an edit of a range gives what it gives on the text as UTF-16.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\r\né𝒳z", 1, 0, 2, 2, "x\ny")
	f.Add("", 0, 0, 0, 0, "\r")
	f.Add("a\rb\n\n", 0, 1, 1, 0, "")
	f.Add("ab\r\ncd", 0, 2, 1, 1, "")
	f.Fuzz(func(t *testing.T, text string, l1, c1, l2, c2 int, with string) {
		text, with = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(with, "?")
		d := newDocument("", "", 1, text)
		if d.text() != text {
			t.Fatalf("text %q, want %q", d.text(), text)
		}
		from, to := position{l1, c1}, position{l2, c2}
		got := d.edit(2, []change{{&span{from, to}, with}})
		at := func(p position) int { // in UTF-16 code units of the whole text
			line, col := d.at(p)
			n := 0
			for i := range line {
				n += len(utf16.Encode([]rune(d.lines[i] + d.ends[i])))
			}
			return n + len(utf16.Encode([]rune(d.lines[line][:col])))
		}
		all := utf16.Encode([]rune(text))
		a, b := at(from), at(to)
		b = max(a, b)
		want := string(utf16.Decode(append(append(append([]uint16{}, all[:a]...), utf16.Encode([]rune(with))...), all[b:]...)))
		if got.text() != want {
			t.Errorf("edit of %q at %v to %v with %q: %q, want %q", text, from, to, with, got.text(), want)
		}
		if again := newDocument("", "", 2, want); strings.Join(again.lines, "\n") != strings.Join(got.lines, "\n") {
			t.Errorf("lines %q, want %q", got.lines, again.lines)
		}
	})
}

// TestLarge: a document that is too large stays so until its whole text comes, and
// the file on disk counts for the tree.
func TestLarge(t *testing.T) {
	t.Parallel()
	s := testServer()
	tree := &tree{s: s, touched: map[string]bool{}, wake: make(chan struct{}, 1)}
	full := strings.Repeat("x", maxDocument+1)
	at := &span{position{0, 0}, position{0, 0}}
	d := newDocument("file:///srv/salt/a.sls", "/srv/salt/a.sls", 1, "a: 1\n")
	for _, step := range []struct {
		name  string
		c     change
		large bool
		text  string
	}{
		{"a small edit", change{at, "b"}, false, "ba: 1\n"},
		{"a large edit", change{at, full}, true, ""},
		{"an edit of what is unknown", change{at, "c: 1\n"}, true, ""},
		{"a large text", change{nil, full}, true, ""},
		{"a small text", change{nil, "a:\n"}, false, "a:\n"},
		{"many edits", change{at, full[:maxDocument-3]}, false, full[:maxDocument-3] + "a:\n"},
		{"one more", change{at, "b"}, true, ""},
	} {
		d = d.edit(d.version+1, []change{step.c})
		s.put(tree, d)
		if d.large != step.large || d.text() != step.text || s.over.IsOpen(d.abs) == step.large || !d.open {
			t.Fatalf("after %s: large is %v, with %d bytes", step.name, d.large, len(d.text()))
		}
	}
}

// TestRenameWhole: an ID is renamed in all of a tree, or not at all.
func TestRenameWhole(t *testing.T) {
	t.Parallel()
	s := testServer()
	for want, change := range map[string]func(q *query){
		"":                     func(*query) {},
		"the tree is still":    func(q *query) { q.t = &tree{} },
		"more than 5000 files": func(q *query) { q.view.Files = make([]lint.ViewFile, maxSearched+1) },
		"b.sls is too large to be": func(q *query) {
			q.view.Files = append(q.view.Files, lint.ViewFile{Abs: "/srv/salt/b.sls", Path: "b.sls", SLS: "b", SaltEnv: "base"})
			q.docs["/srv/salt/b.sls"] = newDocument("", "", 1, strings.Repeat("x", maxDocument+1))
		},
	} {
		q := testQuery(s, "a:\n  test.nop:\n    - name: x\n", 0, 0)
		change(q)
		_, err := q.rename("b")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("rename: %v, want %q", err, want)
		}
	}
}

// TestGone: a request behind exit begins nothing, since nobody would wait for it.
func TestGone(t *testing.T) {
	t.Parallel()
	s := testServer()
	s.inited, s.disconnected = true, true
	s.slots, s.cancels = make(chan struct{}, 1), map[jsonrpc2.ID]context.CancelFunc{}
	close(s.ready())
	params := json.RawMessage(`{"textDocument":{"uri":"file:///srv/salt/a.sls"}}`)
	s.Handle(t.Context(), nil, &jsonrpc2.Request{Method: "textDocument/hover", Params: &params})
	s.Handle(t.Context(), nil, &jsonrpc2.Request{Method: "textDocument/didOpen", Params: &params, Notif: true})
	if len(s.slots) > 0 || len(s.cancels) > 0 || len(s.docs) > 0 {
		t.Error("work has begun")
	}
}

// TestOpenBefore: a document that was open before its tree counts for the tree.
func TestOpenBefore(t *testing.T) {
	t.Parallel()
	s := testServer()
	s.folders = []string{"/srv/salt"}
	s.Tree = func(dir string) (lint.Options, error) {
		return lint.Options{Opts: value.MapOf("file_roots", value.MapOf("base", value.NewList(dir)))}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no check is needed
	for _, name := range []string{"map.yaml", "a.sls"} {
		var p openParams
		p.TextDocument.URI = "file:///srv/salt/" + name
		s.opened(ctx, p)
	}
	s.work.Wait()
	if !s.over.IsOpen("/srv/salt/map.yaml") || !s.over.IsOpen("/srv/salt/a.sls") {
		t.Error("the tree does not see a document")
	}
}

// TestCandidates: which directories may be the tree of a file. Without a workspace
// folder, no directory is one that has no mark of a tree.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file, folder, files, want string
	}{
		{"a file alone", "/home/u/a.sls", "", "", ""},
		{"a configuration", "/srv/t/salt/a.sls", "", "/srv/t/minion", "/srv/t"},
		{"nested ones", "/srv/t/f/salt/a.sls", "", "/srv/t/master /srv/t/f/FORMULA", "/srv/t/f /srv/t"},
		{"a repository", "/home/u/r/salt/web/a.sls", "", "/home/u/r/.git/HEAD", "/home/u/r"},
		{"a top file", "/home/u/x/web/a.sls", "", "/home/u/x/top.sls", "/home/u/x"},
		{"a top file of a whole tree", "/srv/salt/web/a.sls", "", "/srv/salt/top.sls", "/srv"},
		{"one of the pillar", "/srv/pillar/a.sls", "", "/srv/pillar/top.sls", "/srv"},
		{"a folder", "/w/salt/a.sls", "/w", "/w/salt/top.sls", "/w"},
		{"a folder in a tree", "/srv/t/salt/a.sls", "/srv/t/salt", "/srv/t/minion", "/srv/t/salt"},
		{"another folder", "/home/u/a.sls", "/w", "", ""},
	} {
		s := testServer()
		fake := host.NewFake()
		s.Disk = fake
		for name := range strings.FieldsSeq(tt.files) {
			if err := fake.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := fake.WriteFile(name, strings.NewReader(""), host.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if tt.folder != "" {
			s.folders = []string{tt.folder}
		}
		if got := strings.Join(s.candidates(tt.file), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestPause: a tree is checked although its files never stop changing.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tree := &tree{touched: map[string]bool{}, wake: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		defer work.Wait()
		defer cancel()
		work.Go(func() {
			for ctx.Err() == nil {
				tree.fileChanged("", true)
				time.Sleep(time.Millisecond)
			}
		})
		start := time.Now()
		if !tree.pause(ctx, 20*time.Millisecond) || time.Since(start) > time.Second {
			t.Errorf("the pause ended after %s", time.Since(start))
		}
	})
}

// FuzzStream: no bytes make reading fail otherwise than by an error, and what is
// written is read.
func FuzzStream(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 99999999999\r\n\r\n{}"))
	f.Add([]byte("Content-Length: -1\r\n\r\n{}"))
	f.Add([]byte("content-length:2\nX: y\n\n[]Content-Length: 1\r\n\r\n1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s := newStream(bytes.NewReader(in), &bytes.Buffer{}, slog.New(slog.DiscardHandler))
		for {
			var v map[string]any
			if s.ReadObject(&v) != nil {
				break
			}
		}
		var out bytes.Buffer
		msg := map[string]any{"a": strconv.Quote(string(in))}
		if err := newStream(nil, &out, nil).WriteObject(msg); err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := newStream(&out, nil, slog.New(slog.DiscardHandler)).ReadObject(&back); err != nil || len(back) != 1 {
			t.Errorf("read %v, %v", back, err)
		}
	})
}

// TestUnits: positions count UTF-16 code units.
func TestUnits(t *testing.T) {
	t.Parallel()
	const line = "é𝒳z"
	for _, tt := range []struct{ units, bytes int }{{0, 0}, {1, 2}, {3, 6}, {4, 7}} {
		if got := offset(line, tt.units); got != tt.bytes {
			t.Errorf("offset %d = %d, want %d", tt.units, got, tt.bytes)
		}
		if got := units(line, tt.bytes); got != tt.units {
			t.Errorf("units %d = %d, want %d", tt.bytes, got, tt.units)
		}
	}
	if got := offset(line, 2); got != 2 {
		t.Errorf("within a pair: %d, want 2", got)
	}
}

// TestGlobals: each argument of every state is one that the state system reads.
func TestGlobals(t *testing.T) {
	t.Parallel()
	for _, name := range requisites {
		if globalOf(name) == nil {
			t.Errorf("%s is not documented", name)
		}
	}
}
