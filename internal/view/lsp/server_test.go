package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/internal/py/value"
	. "brine/internal/testkit/lspclient"
	"brine/internal/view/lint"
	"brine/internal/view/lsp"
)

// A session is a server with a tree and a client.
type session struct {
	*Client
	t    *testing.T
	dir  string
	done chan error
	in   io.Closer
}

// start serves a tree.
func start(t *testing.T, files map[string]string, change ...func(*lsp.Options)) *session {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &session{t: t, dir: dir, done: make(chan error, 1), in: inW}
	disk := host.NewLocal()
	o := lsp.Options{
		In: inR, Out: outW, Version: "1", Disk: disk, Table: assembly.Table(), Delay: time.Millisecond, Idle: time.Millisecond,
		RulesURL: "file:///docs/lint.md",
		Tree: func(dir string) (lint.Options, error) {
			cfg, err := lintConfig(filepath.Join(dir, lint.ConfigName))
			return lint.Options{
				Config: cfg,
				Table:  assembly.Table(), Disk: disk, Systems: lint.Systems()[2:3],
				Opts: value.MapOf("renderer", "jinja|yaml", "state_top", "top.sls", "cachedir", "/var/cache/salt", "file_roots", value.MapOf("base", value.NewList(dir+"/salt")),
					"pillar_roots", value.MapOf("base", value.NewList(dir+"/pillar"))),
			}, err
		},
	}
	for _, f := range change {
		f(&o)
	}
	go func() {
		s.done <- lsp.Serve(context.Background(), o)
		outW.Close()
	}()
	s.Client = New(t, outR, inW)
	s.Ask("initialize", M{"rootUri": "file://" + dir, "capabilities": M{}}, nil)
	s.Tell("initialized", M{})
	return s
}

// lintConfig reads the configuration of lint; a file that is not there has none.
func lintConfig(name string) (lint.Config, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return lint.Config{}, nil
	}
	return lint.ParseConfig(name, text)
}

// write changes a file of the tree, as another program does, and tells the server.
func (s *session) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.Tell("workspace/didChangeWatchedFiles", M{"changes": []M{{"uri": s.uri(name), "type": 2}}})
}

func (s *session) uri(name string) string { return "file://" + s.dir + "/" + name }

// open opens a document whose text has the cursor at a "|"; it returns where.
func (s *session) open(name, text string) (line, character int) {
	s.t.Helper()
	before, after, ok := strings.Cut(text, "‸")
	s.Tell("textDocument/didOpen", Open(s.uri(name), before+after))
	if !ok {
		return 0, 0
	}
	line = strings.Count(before, "\n")
	last := before[strings.LastIndex(before, "\n")+1:]
	for _, r := range last {
		if character++; r > 0xffff {
			character++
		}
	}
	return line, character
}

// end shuts the server down.
func (s *session) end() {
	s.t.Helper()
	s.Ask("shutdown", nil, nil)
	s.Tell("exit", nil)
	select {
	case err := <-s.done:
		if err != nil {
			s.t.Errorf("Serve = %v", err)
		}
	case <-time.After(Timeout):
		s.t.Error("the server does not end")
	}
}

func site() map[string]string {
	return map[string]string{
		"salt/top.sls":          "base:\n  '*':\n    - web\n",
		"salt/common/init.sls":  "include:\n  - common.users\ntools:\n  pkg.installed:\n    - name: curl\n",
		"salt/common/users.sls": "deploy:\n  user.present:\n    - name: deploy\n",
		"salt/web.sls":          "include:\n  - common\nnginx:\n  pkg.installed: []\n",
		"salt/map.jinja":        "{% set port = 80 %}\n",
		"salt/files/a.conf":     "x\n",
		"salt/files/b.conf":     "x\n",
		"pillar/top.sls":        "base:\n  '*':\n    - app\n",
		"pillar/app.sls":        "app:\n  port: 80\n  user:\n    name: web\nother: 1\n",
	}
}

// TestCompletion: what is offered at the cursor (‸) has these and lacks those.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		has, lacks string
		first      string
	}{
		{"state", "a:\n  pkg.‸\n", "pkg.installed pkg.latest", "file.managed", ""},
		{"state, half a module", "a:\n  serv‸\n", "service.running service", "pkg.installed", ""},
		{"module", "a:\n  ‸\n", "pkg file service", "", ""},
		{"argument", "a:\n  file.managed:\n    - source: x\n    - ‸\n", "contents mode user require onlyif", "source", ""},
		{"required first", "a:\n  file.symlink:\n    - ‸\n", "target force", "", "target"},
		{"half an argument", "a:\n  file.managed:\n    - cont‸\n    - mode: '0644'\n", "contents", "mode", ""},
		{"function of a module", "a:\n  pkg:\n    - ‸\n", "installed removed", "", ""},
		{"boolean", "a:\n  service.running:\n    - enable: ‸\n", "True False", "", ""},
		{"requisite", "include:\n  - common\na:\n  test.nop:\n    - require:\n      - ‸\nb:\n  file.managed: []\n", "pkg:_tools user:_deploy file:_b sls", "test:_a", ""},
		{"target", "include:\n  - common\na:\n  test.nop:\n    - require:\n      - pkg: ‸\nb:\n  file.managed: []\n", "tools", "deploy b a", ""},
		{"requisite to an SLS", "a:\n  test.nop:\n    - require:\n      - sls: ‸\n", "common common.users", "top", ""},
		{"include", "include:\n  - ‸\n", "common common.users", "top a", ""},
		{"extend", "include:\n  - common\nextend:\n  ‸\n", "tools deploy", "nginx", ""},
		{"file", "a:\n  file.managed:\n    - source: salt://‸\n", "files/ map.jinja", "app.sls", ""},
		{"file in a directory", "a:\n  file.managed:\n    - source: salt://files/‸\n", "files/a.conf files/b.conf", "map.jinja", ""},
		{"execution function", "a: {{ salt['cmd.‸\n", "cmd.run cmd.shell", "cmd.wait", ""},
		{"attribute", "a: {{ salt.cmd.‸\n", "cmd.run", "", ""},
		{"pillar", "a: {{ pillar.get('‸') }}\n", "app other", "port", ""},
		{"nested pillar", "a: {{ pillar['app']['‸'] }}\n", "port user", "app", ""},
		{"pillar path", "a: {{ salt['pillar.get']('app:user:‸') }}\n", "name", "port", ""},
		{"pillar by attributes", "a: {{ pillar.app.‸ }}\n", "port user", "app", ""},
		{"pillar by both", "a: {{ pillar['app'].user.‸ }}\n", "name", "port", ""},
		{"grains by attributes", "a: {{ grains.‸ }}\n", "os os_family id", "efi-secure-boot", ""},
		{"an attribute of a function's module", "a: {{ salt.grains.‸ }}\n", "grains.get", "os", ""},
		{"template engine", "a:\n  file.managed:\n    - template: ‸\n", "jinja mako py", "wempy", ""},
		{"grains", "a: {{ grains['os‸'] }}\n", "os os_family", "", ""},
		{"filter", "a: {{ x | to‸ }}\n", "tojson upper yaml_encode", "", ""},
		{"variable", "{% set here = 1 %}\na: {{ ‸ }}\n", "pillar grains salt here", "", ""},
		{"template", "{% from '‸' import x %}\n", "map.jinja", "files/a.conf", ""},
		{"top level", "inc‸\n", "include extend", "", ""},
		{"after an astral character", "a:\n  file.managed:\n    - name: '𝒳é' # {{ pillar['‸\n", "app", "", ""},
		{"in a comment of a value", "a:\n  cmd.run:\n    - name: foo ‸\n", "", "pkg", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, site())
			defer s.end()
			s.open("salt/b.sls", "b:\n  test.nopp: []\n")
			s.Wait(s.uri("salt/b.sls"), "unknown-state") // the tree was read
			line, char := s.open("salt/a.sls", tt.text)
			var got struct {
				Items []struct {
					Label, SortText string
					TextEdit        struct {
						Range   Range
						NewText string
					}
				}
			}
			s.Ask("textDocument/completion", At(s.uri("salt/a.sls"), line, char), &got)
			var labels []string
			first, least := "", "~"
			for _, it := range got.Items {
				labels = append(labels, strings.ReplaceAll(it.Label, " ", "_"))
				if it.SortText < least {
					first, least = it.Label, it.SortText
				}
				if it.TextEdit.Range.End != Pos(line, char) {
					t.Errorf("%s replaces %v, the cursor is at %d:%d", it.Label, it.TextEdit.Range, line, char)
				}
			}
			for want := range strings.FieldsSeq(tt.has) {
				if !slices.Contains(labels, want) {
					t.Errorf("%s is not offered: %q", want, labels)
				}
			}
			for not := range strings.FieldsSeq(tt.lacks) {
				if slices.Contains(labels, not) {
					t.Errorf("%s is offered: %q", not, labels)
				}
			}
			if tt.first != "" && first != tt.first {
				t.Errorf("first is %s, want %s", first, tt.first)
			}
		})
	}
}

// TestBrokenImport: a file that is broken, in text that is not saved, is reported in the
// SLS files that import it, until it is whole again.
func TestBrokenImport(t *testing.T) {
	t.Parallel()
	files := site()
	files["salt/web.sls"] = "nginx:\n  test.nop: []\n{% from 'map.jinja' import port %}\nx:\n  test.nop:\n    - text: {{ port }}\n"
	s := start(t, files)
	defer s.end()
	s.open("salt/map.jinja", "{% set port = %}\n")
	d := s.Wait(s.uri("salt/web.sls"), "render-error")
	if len(d) != 1 || d[0].Range.Start.Line != 2 || !strings.HasPrefix(d[0].Message, "map.jinja:1:") {
		t.Errorf("the SLS shows %+v", d)
	}
	s.open("salt/map.jinja", "{% set port = 80 %}\n")
	s.Wait(s.uri("salt/web.sls"))
}

// TestPlaces: hover, definition, references and links at the cursor (‸).
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := start(t, site())
	defer s.end()
	s.open("salt/b.sls", "b:\n  test.nopp: []\n")
	s.Wait(s.uri("salt/b.sls"), "unknown-state")
	for _, tt := range []struct {
		name, text string
		hover      string
		def        string // "file:line"
	}{
		{"state", "a:\n  pkg.inst‸alled: []\n", "**pkg.installed** (state function)", ""},
		{"joined state", "a:\n  pkg:\n    - inst‸alled\n", "**pkg.installed** (state function)", ""},
		{"argument", "a:\n  file.managed:\n    - cont‸ents: x\n", "`contents`: ", ""},
		{"global", "a:\n  file.managed:\n    - onchang‸es: []\n", "Run only if one of these states has changes", ""},
		{"function", "a: {{ salt['cmd.r‸un']('x') }}\n", "**cmd.run** (execution function)", ""},
		{"grains", "a: {{ grains['os_fam‸ily'] }}\n", "'Debian'", ""},
		{"pillar", "a: {{ pillar['ap‸p']['port'] }}\n", "in `app.sls`", "pillar/app.sls:1"},
		{"nested pillar", "a: {{ pillar['app']['po‸rt'] }}\n", "int in", "pillar/app.sls:2"},
		{"pillar path", "a: {{ salt['pillar.get']('app:user:na‸me') }}\n", "str in", "pillar/app.sls:4"},
		{"rule", "a: # brine: ignore unknown-st‸ate\n  test.nop: []\n", "neither Salt nor the tree has", ""},
		{"include", "include:\n  - comm‸on\n", "", "salt/common/init.sls:1"},
		{"relative include", "include:\n  - .comm‸on\n", "", "salt/common/init.sls:1"},
		{"url", "a:\n  file.managed:\n    - source: salt://files/a.c‸onf\n", "", "salt/files/a.conf:1"},
		{"import", "{% from 'map.ji‸nja' import port %}\n", "", "salt/map.jinja:1"},
		{"requisite", "a:\n  test.nop:\n    - require:\n      - test: b‸b\nbb:\n  test.nop: []\n", "", "salt/a.sls:5"},
		{"requisite to an include", "include:\n  - common\na:\n  test.nop:\n    - require:\n      - user: dep‸loy\n", "", "salt/common/users.sls:1"},
		{"requisite by name", "include:\n  - common\na:\n  test.nop:\n    - require:\n      - pkg: cu‸rl\n", "", "salt/common/init.sls:3"},
		{"requisite elsewhere", "a:\n  test.nop:\n    - require:\n      - pkg: ngi‸nx\n", "", "salt/web.sls:3"},
		{"requisite to an SLS", "a:\n  test.nop:\n    - require:\n      - sls: comm‸on\n", "", "salt/common/init.sls:1"},
		{"extend", "include:\n  - common\nextend:\n  too‸ls:\n    pkg:\n      - require: []\n", "", "salt/common/init.sls:3"},
		{"nothing", "a:\n  test.nop: []‸\n", "", ""},
	} {
		line, char := s.open("salt/a.sls", tt.text)
		var h struct{ Contents struct{ Value string } }
		s.Ask("textDocument/hover", At(s.uri("salt/a.sls"), line, char), &h)
		if !strings.Contains(h.Contents.Value, tt.hover) || tt.hover == "" && h.Contents.Value != "" {
			t.Errorf("%s: hover %q, want %q", tt.name, h.Contents.Value, tt.hover)
		}
		var defs []struct {
			URI   string
			Range Range
		}
		s.Ask("textDocument/definition", At(s.uri("salt/a.sls"), line, char), &defs)
		got := ""
		for _, d := range defs {
			got += strings.TrimPrefix(d.URI, s.uri("")) + ":" + string(rune('1'+d.Range.Start.Line))
		}
		if got != tt.def {
			t.Errorf("%s: definition %q, want %q", tt.name, got, tt.def)
		}
	}
}

// edits returns the text of an edit as "line:start-end text", by file.
func edits(t *testing.T, s *session, raw json.RawMessage) map[string][]string {
	t.Helper()
	var e struct {
		Changes map[string][]struct {
			Range   Range
			NewText string
		}
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for uri, list := range e.Changes {
		for _, c := range list {
			b, _ := json.Marshal([]int{c.Range.Start.Line, c.Range.Start.Character, c.Range.End.Character})
			out[strings.TrimPrefix(uri, s.uri(""))] = append(out[strings.TrimPrefix(uri, s.uri(""))], string(b)+c.NewText)
		}
	}
	return out
}

// TestRename: an ID is renamed wherever it is named, if that changes nothing else.
func TestRename(t *testing.T) {
	t.Parallel()
	s := start(t, map[string]string{
		"salt/a.sls": "include:\n  - b\nx:\n  test.nop:\n    - require:\n      - user: deploy\n    - watch: [{user: deploy}]\nextend:\n  deploy:\n    user:\n      - require: []\n",
		"salt/b.sls": "deploy:\n  user.present:\n    - name: joe\n\nplain:\n  pkg.installed: []\ntwice:\n  test.nop:\n    - name: t\n",
		"salt/c.sls": "twice:\n  test.nop:\n    - name: t\ny:\n  test.nop:\n    - name: z\n    - require:\n      - test: tw*\n",
	})
	defer s.end()
	s.open("salt/a.sls", "include:\n  - b\nx:\n  test.nopp:\n    - require:\n      - user: deploy\n    - watch: [{user: deploy}]\nextend:\n  deploy:\n    user:\n      - require: []\n")
	s.Wait(s.uri("salt/a.sls"), "unknown-state")
	s.open("salt/b.sls", "deploy:\n  user.present:\n    - name: joe\n\nplain:\n  pkg.installed: []\ntwice:\n  test.nop:\n    - name: t\n")
	rename := func(line int, to string) (json.RawMessage, error) {
		var raw json.RawMessage
		p := At(s.uri("salt/b.sls"), line, 1)
		p["newName"] = to
		err := s.Try("textDocument/rename", p, &raw)
		return raw, err
	}
	raw, err := rename(0, "joe the user")
	if err != nil {
		t.Fatal(err)
	}
	got := edits(t, s, raw)
	if want := []string{"[5,14,20]joe the user", "[6,21,27]joe the user", "[8,2,8]joe the user"}; !equalSet(got["salt/a.sls"], want) {
		t.Errorf("a.sls: %q, want %q", got["salt/a.sls"], want)
	}
	if want := []string{"[0,0,6]joe the user"}; !equalSet(got["salt/b.sls"], want) {
		t.Errorf("b.sls: %q, want %q", got["salt/b.sls"], want)
	}
	for _, tt := range []struct {
		line     int
		to, want string
	}{
		{4, "other", "add \"- name: plain\""},
		{6, "other", "more than one SLS declares"},
		{0, "x", "already in use"},
		{0, "a: b", "plain text"},
		{0, "", "plain text"},
		{3, "x", "no ID here"},
	} {
		if _, err := rename(tt.line, tt.to); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("rename of line %d to %q: %v, want %q", tt.line, tt.to, err, tt.want)
		}
	}
	var refs []any
	p := At(s.uri("salt/b.sls"), 0, 1)
	p["context"] = M{"includeDeclaration": true}
	s.Ask("textDocument/references", p, &refs)
	if len(refs) != 4 {
		t.Errorf("references: %v", refs)
	}
}

func equalSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// TestActions: a fix, a likely name and a comment for each finding.
func TestActions(t *testing.T) {
	t.Parallel()
	s := start(t, site())
	defer s.end()
	s.open("salt/a.sls", "é:\n  file.managed:\n    - name: /é\n    - mode: 0644\n    - contens: x\nc:\n  cmd.run:\n    - name: |\n        echo {{ pillar.get('app:port') }}\n")
	diags := s.Wait(s.uri("salt/a.sls"), "pillar-colon", "unknown-argument", "yaml-octal")
	for _, d := range diags {
		if d.Code == "yaml-octal" && d.Range != Span(3, 12, 3, 16) {
			t.Errorf("yaml-octal is at %v", d.Range)
		}
		if d.CodeDescription.Href != "file:///docs/lint.md#"+d.Code {
			t.Errorf("%s links to %q", d.Code, d.CodeDescription.Href)
		}
	}
	got := func(line int, only ...string) map[string]string {
		var actions []struct {
			Title string
			Edit  json.RawMessage
		}
		s.Ask("textDocument/codeAction", M{
			"textDocument": M{"uri": s.uri("salt/a.sls")}, "range": Span(line, 0, line, 0), "context": M{"only": only},
		}, &actions)
		out := map[string]string{}
		for _, a := range actions {
			out[a.Title] = strings.Join(edits(t, s, a.Edit)["salt/a.sls"], ";")
		}
		return out
	}
	for _, tt := range []struct {
		line        int
		title, want string
	}{
		{3, "Fix yaml-octal", "[3,12,16]'0644'"},
		{3, "Ignore yaml-octal on this line", "[3,16,16]  # brine: ignore yaml-octal"},
		{3, "Ignore yaml-octal in this file", "[0,0,0]# brine: ignore-file yaml-octal\n"},
		{4, "Change to contents", "[4,6,13]contents"},
		{8, "Ignore pillar-colon on this line", "[8,41,41]{# brine: ignore pillar-colon #}"},
		{2, "", ""},
	} {
		actions := got(tt.line)
		if actions[tt.title] != tt.want {
			t.Errorf("line %d: %q: %q, want %q", tt.line, tt.title, actions[tt.title], tt.want)
		}
	}
	if all := got(0, "source.fixAll"); all["Fix all that brine can fix"] != "[3,12,16]'0644'" || len(all) != 1 {
		t.Errorf("fix all: %q", all)
	}
}

// TestSync: changes of ranges, closing, and documents that are not on disk.
func TestSync(t *testing.T) {
	t.Parallel()
	s := start(t, site())
	defer s.end()
	uri := s.uri("salt/new/é x.sls")
	uri = strings.ReplaceAll(strings.ReplaceAll(uri, "é", "%C3%A9"), " ", "%20")
	s.Tell("textDocument/didOpen", Open(uri, "a:\r\n  test.nop: []\r\n"))
	web := s.uri("salt/web.sls")
	s.Tell("textDocument/didOpen", Open(web, site()["salt/web.sls"]))
	s.Wait(web)
	change := func(from, to Position, text string) {
		s.Tell("textDocument/didChange", M{"textDocument": M{"uri": web, "version": 2}, "contentChanges": []M{{"range": Range{Start: from, End: to}, "text": text}}})
	}
	change(Pos(3, 6), Pos(3, 15), "inst")
	s.Wait(web, "unknown-state")
	change(Pos(3, 10), Pos(3, 10), "alled")
	s.Wait(web)
	change(Pos(1, 4), Pos(1, 10), "gone")
	s.Wait(web, "missing-include")
	s.Tell("textDocument/didClose", M{"textDocument": M{"uri": web}})
	s.Wait(web)
	if err := s.Try("textDocument/hover", At(web, 3, 4), nil); err != nil {
		t.Errorf("hover of a closed document: %v", err)
	}
}

// TestConfig: a configuration that changes counts at once; one that cannot be read
// is told, and changes nothing.
func TestConfig(t *testing.T) {
	t.Parallel()
	s := start(t, site())
	defer s.end()
	web, common := s.uri("salt/web.sls"), s.uri("salt/common/init.sls")
	s.Tell("textDocument/didOpen", Open(web, "a:\n  test.nopp: []\n"))
	s.Wait(web, "unknown-state")
	s.write("salt/common/init.sls", "b:\n  test.nopp: []\n")
	s.Wait(common, "unknown-state")
	s.write(lint.ConfigName, "ignore: [unknown-state]\n")
	s.Wait(web)
	s.Wait(common)
	s.write(lint.ConfigName, "ignor: []\n")
	s.WaitTold(`unknown option "ignor"`)
	s.Tell("textDocument/didChange", M{"textDocument": M{"uri": web, "version": 2}, "contentChanges": []M{{"text": "a:\n  test.nopp:\n    - x: {{ y.z }}\n"}}})
	s.Wait(web, "undefined-variable")
	s.write(lint.ConfigName, "ignore: [undefined-variable, render-error]\n")
	s.Wait(web)
	s.Wait(common, "unknown-state")
}

// TestTreeCloses: the tree of closed documents goes, with what it showed, and comes
// back.
func TestTreeCloses(t *testing.T) {
	t.Parallel()
	files := site()
	files["salt/common/init.sls"] = "b:\n  test.nopp: []\n"
	s := start(t, files, func(o *lsp.Options) { o.Linger = time.Millisecond })
	defer s.end()
	web, common := s.uri("salt/web.sls"), s.uri("salt/common/init.sls")
	for range 3 {
		s.Tell("textDocument/didOpen", Open(web, "a:\n  test.nopp: []\n"))
		s.Wait(web, "unknown-state")
		s.Wait(common, "unknown-state")
		s.Tell("textDocument/didClose", M{"textDocument": M{"uri": web}})
		s.Wait(web)
		s.Wait(common)
	}
}

// TestLargeTree: a tree with too many files is not read, and the user is told.
func TestLargeTree(t *testing.T) {
	t.Parallel()
	s := start(t, site(), func(o *lsp.Options) {
		tree := o.Tree
		o.Tree = func(dir string) (lint.Options, error) {
			lo, err := tree(dir)
			lo.MaxFiles = 3
			return lo, err
		}
	})
	defer s.end()
	web := s.uri("salt/web.sls")
	s.Tell("textDocument/didOpen", Open(web, "a:\n  test.no\n"))
	s.WaitTold("salt has more than 3 files")
	var list struct{ Items []struct{ Label string } }
	s.Ask("textDocument/completion", At(web, 1, 9), &list)
	if len(list.Items) == 0 {
		t.Error("nothing is completed without a tree")
	}
}

// TestGrownTree: a tree that becomes too large is no longer checked, what it showed
// goes, and the user is told.
func TestGrownTree(t *testing.T) {
	t.Parallel()
	s := start(t, site(), func(o *lsp.Options) {
		tree := o.Tree
		o.Tree = func(dir string) (lint.Options, error) {
			lo, err := tree(dir)
			lo.MaxFiles = 50
			return lo, err
		}
	})
	defer s.end()
	web := s.uri("salt/web.sls")
	s.Tell("textDocument/didOpen", Open(web, "a:\n  test.nopp: []\n"))
	s.Wait(web, "unknown-state")
	for i := range 50 {
		if err := os.WriteFile(filepath.Join(s.dir, "salt", fmt.Sprintf("f%d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.write("salt/f", "")
	s.Wait(web)
	s.WaitTold("salt has more than 50 files")
}

// TestHostile: URIs that are no files, ranges outside of a document, and one that
// is too large.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := start(t, site())
	defer s.end()
	web := s.uri("salt/web.sls")
	for _, uri := range []string{"", "x", "http://h/x.sls", "file://h/x.sls", "file:relative", "untitled:1", "file:///%00", "%"} {
		s.Tell("textDocument/didOpen", Open(uri, "a"))
		s.Tell("textDocument/didChange", M{"textDocument": M{"uri": uri}, "contentChanges": []M{{"text": "b"}}})
		if err := s.Try("textDocument/hover", At(uri, 0, 0), nil); err != nil {
			t.Errorf("hover of %q: %v", uri, err)
		}
		s.Tell("textDocument/didClose", M{"textDocument": M{"uri": uri}})
	}
	s.Tell("textDocument/didOpen", Open(web, "a:\n  test.nopp: []\n"))
	s.Wait(web, "unknown-state")
	s.Tell("textDocument/didChange", M{"textDocument": M{"uri": web}, "contentChanges": []M{
		{"range": Span(-1, -5, -2, 9), "text": "é\r\n"}, {"range": Span(9, 9, 3, 1), "text": "x"}, {"range": nil, "text": strings.Repeat("x", 3<<20)},
	}})
	s.Wait(web) // it is too large to be read
	s.Tell("textDocument/didChange", M{"textDocument": M{"uri": web}, "contentChanges": []M{{"text": "a:\n  test.nopp: []\n"}}})
	s.Wait(web, "unknown-state")
	for _, method := range []string{"completion", "hover", "definition", "references", "prepareRename", "rename", "documentSymbol", "documentLink", "codeAction"} {
		for _, at := range [][2]int{{-1, -1}, {0, 1 << 30}, {1 << 30, 0}} {
			if err := s.Try("textDocument/"+method, At(web, at[0], at[1]), nil); err != nil && method != "rename" && method != "prepareRename" {
				t.Errorf("%s at %v: %v", method, at, err)
			}
		}
	}
}

// TestLifecycle: requests before initialize and after shutdown, unknown methods,
// a client that leaves.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	s := start(t, site())
	if err := s.Try("initialize", M{}, nil); err == nil || !strings.Contains(err.Error(), "invalid request") {
		t.Errorf("second initialize: %v", err)
	}
	if err := s.Try("no/such", M{}, nil); err == nil || !strings.Contains(err.Error(), "unknown method") {
		t.Errorf("unknown method: %v", err)
	}
	if err := s.Try("textDocument/hover", M{"position": "x"}, nil); err == nil || !strings.Contains(err.Error(), "invalid parameters") {
		t.Errorf("bad parameters: %v", err)
	}
	s.Tell("$/cancelRequest", M{"id": 99})
	s.Tell("$/unknown", nil)
	s.Ask("shutdown", nil, nil)
	if err := s.Try("textDocument/hover", At("file:///x", 0, 0), nil); err == nil || !strings.Contains(err.Error(), "invalid request") {
		t.Errorf("request after shutdown: %v", err)
	}
	s.Tell("exit", nil)
	if err := <-s.done; err != nil {
		t.Errorf("Serve = %v", err)
	}
	s = start(t, site())
	last := make(chan error, 1)
	s.Later("shutdown", last)
	s.Tell("exit", nil)
	if err := <-last; err != nil {
		t.Errorf("shutdown with exit behind it: %v", err)
	}
	if err := <-s.done; err != nil {
		t.Errorf("Serve = %v", err)
	}
	s = start(t, site())
	s.in.Close()
	if err := <-s.done; !errors.Is(err, lsp.ErrNotShutDown) {
		t.Errorf("Serve = %v, want %v", err, lsp.ErrNotShutDown)
	}
}
