package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// pyTree lays out testdata/pytree for a site: modules, states, grains, runners and
// returners of the shapes that public trees have.
func pyTree(t *testing.T, s *site) {
	t.Helper()
	if err := copyTree("testdata/pytree", s.dir); err != nil {
		t.Fatal(err)
	}
	more := "ext_pillar:\n  - derived: {prefix: 'x-'}\njsonlog.path: " + s.path("returns.log") + "\njsonlog.mark: m\nmaster_tops: {classes: true, ext_nodes: 'printf \"classes: [shut, %s]\"'}\n"
	s.write("master", read(t, s.path("master"))+more)
	s.write("minion", "id: web9\nfile_roots: {base: ["+s.path("salt")+"]}\npillar_roots: {base: ["+s.path("pillar")+"]}\ncachedir: "+s.path("cache")+"\n"+more)
	s.roster(1, "near: {connection: local}")
}

// noPython returns a directory for PATH with all programs but those of Python.
func noPython(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range []string{"/usr/sbin", "/sbin", "/usr/bin", "/bin"} {
		entries, err := os.ReadDir(from)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), "python") {
				continue
			}
			_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first one wins
		}
	}
	return dir
}

// TestPythonTree runs a tree of Python modules here, by connection: local and over
// SSH: all say the same.
func TestPythonTree(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	if err := exec.Command("python3", "-c", "import inspect, json").Run(); err != nil {
		t.Skipf("there is no python3 with its library: %v", err)
	}
	s := newSite(t, sshtest.Options{})
	pyTree(t, s)
	var want any
	if err := json.Unmarshal([]byte(read(t, "testdata/pytree/want.json")), &want); err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct{ id, name string }{{"web9", "local"}, {"near", "near"}, {"web1", "web1"}} {
		dir := t.TempDir()
		brine := func(args ...string) result {
			if way.name == "local" {
				return s.brine(append([]string{"call"}, args...)...)
			}
			return s.brine(append([]string{"ssh", way.id}, args...)...)
		}
		r := brine("selfcheck.run", dir, "--out=json")
		s.want(r, 0)
		got := s.decode(r)[way.name]
		// What names the machine or the test is told from the rest.
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(way.id), []byte("ID")), []byte(dir), []byte("DIR"))
		wanted, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, wanted) {
			t.Errorf("%s: got\n%s\nwant\n%s", way.name, text, wanted)
		}
		pillar := `pillar={"dir": "` + dir + `"}`
		s.want(brine("state.apply", "site", pillar, "test=True"), 0, "one would be set", "gatekeeper site base")
		if _, err := os.Stat(filepath.Join(dir, "parts")); err == nil {
			t.Errorf("%s: a state that a state called in test mode changed something", way.name)
		}
		s.want(brine("state.apply", "site", pillar), 0, "one was set", "gatekeeper site base", "3 parts", "two was set", "Succeeded: 4 (changed=3)")
		s.want(brine("state.apply", "site", pillar), 0, "one is already 10485760", "Succeeded: 4")
		s.want(brine("state.show_top", "--out=json", "--out-indent=-1"), 0, `{"base": ["site", "web", "shut", "`+way.id+`"]}`)
		r = brine("state.apply", "shut", pillar)
		s.want(r, r.exit, "the gate is closed", "gate.py:15")
		if r.exit == 0 {
			t.Errorf("%s: a state that raises is a success", way.name)
		}
		if got := read(t, filepath.Join(dir, "parts/b")); got != "web\n" {
			t.Errorf("%s: parts/b = %q", way.name, got)
		}
		s.want(brine("hostinfo.parse", "--return=jsonlog,shelf"), 0)
		if got := read(t, s.path("returns.log")); !strings.HasSuffix(got, `["m", "`+way.id+`", "hostinfo.parse", [{"name": "root", "size": 10485760}, {"name": "home", "size": 2147483648}]]`+"\n") {
			t.Errorf("%s: returns.log: %s", way.name, got)
		}
		if got := read(t, s.path("cache/shelf/"+way.id+"/hostinfo.parse.json")); !strings.Contains(got, `"jid"`) {
			t.Errorf("%s: the shelf: %s", way.name, got)
		}
	}
	s.want(s.brine("run", "fleet.ids", "--out=json", "--out-indent=-1"), 0, `["near", "web1"]`)
	s.want(s.brine("run", "fleet.values", "web1", "test.echo", "hi", "--out=json", "--out-indent=-1"), 0, `{"web1": "hi"}`)
	s.want(s.brine("run", "report.through", "3", "--out=json", "--out-indent=-1"), 0, `[4, true]`)
	s.want(s.brine("run", "report.total", "8", "9"), 1, "17")
	if left, _ := filepath.Glob(s.path("salt/_*/__pycache__")); left != nil {
		t.Errorf("written into the tree: %v", left)
	}
}

// TestPythonTreeWithoutPython runs the same tree on machines that have no python3:
// what needs it is named, and all else works.
func TestPythonTreeWithoutPython(t *testing.T) {
	t.Parallel()
	path := noPython(t)
	s := newSite(t, sshtest.Options{Env: []string{"PATH=" + path}})
	pyTree(t, s)
	s.env = append(s.env, "PATH="+path)
	for _, words := range [][]string{{"call"}, {"ssh", "near"}, {"ssh", "web1"}} {
		brine := func(args ...string) result { return s.brine(append(slices.Clip(words), args...)...) }
		s.want(brine("test.ping"), 0, "True")
		r := brine("hostinfo.summary")
		s.want(r, r.exit, "salt://_modules/hostinfo.py is Python, and python3 is not installed here")
		if r.exit == 0 {
			t.Errorf("%v: without python3 the call is a success: %s", words, r.stdout)
		}
		r = brine("state.single", "test.nop", "name=x")
		s.want(r, 0, "Success!")
		r = brine("state.single", "kventry.present", "name=x", "path=/nothing")
		s.want(r, r.exit, "salt://_states/kventry.py is Python, and python3 is not installed here")
		if r.exit == 0 {
			t.Errorf("%v: without python3 the state is a success: %s", words, r.stdout)
		}
	}
	r := s.brine("run", "report.total", "1")
	s.want(r, r.exit, "salt://_runners/report.py is Python, and python3 is not installed here")
	if r.exit == 0 {
		t.Errorf("without python3 the runner is a success: %s", r.stdout)
	}
}
