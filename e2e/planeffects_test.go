package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// A planned is a run, and what its plan has to say.
type planned struct {
	name   string
	files  map[string]string // what is there before
	sls    string            // @ is the directory
	effect map[string]string // by ID, what the plan has to say; others are free
}

// plans are small runs, whose states depend on what those before them change.
var plans = []planned{
	{"a file in a directory that is made", nil, `
dir: {file.directory: [{name: @/d}]}
file: {file.managed: [{name: @/d/f}, {contents: x}]}
there: {file.exists: [{name: @/d/f}]}
append: {file.append: [{name: @/d/f}, {text: y}]}
again: {file.append: [{name: @/d/f}, {text: y}]}
link: {file.symlink: [{name: @/l}, {target: @/d/f}]}
`, map[string]string{"dir": "change", "file": "change", "there": "same", "append": "change", "again": "same", "link": "change"}},
	{"an INI file that is made and asked for", nil, `
ini: {ini.options_present: [{name: @/i}, {sections: {s: {a: b}}}]}
again: {ini.options_present: [{name: @/i}, {sections: {s: {a: b}}}]}
more: {file.append: [{name: @/i}, {text: '; x'}]}
there: {file.exists: [{name: @/i}]}
creates: {cmd.run: [{name: touch @/ran}, {creates: @/i}]}
gone: {ini.sections_absent: [{name: @/i}, {sections: [s]}]}
`, map[string]string{"ini": "change", "again": "same", "more": "change", "there": "same", "creates": "same", "gone": "change"}},
	{"unless and onlyif on a file that is made", nil, `
file: {file.managed: [{name: @/f}, {contents: x}]}
unless: {file.managed: [{name: @/g}, {contents: x}, {unless: test -e @/f}]}
onlyif: {file.managed: [{name: @/h}, {contents: x}, {onlyif: test -e @/f}]}
`, map[string]string{"unless": "unknown", "onlyif": "unknown"}},
	{"conditions before any change", map[string]string{"f": "x"}, `
unless: {file.managed: [{name: @/g}, {contents: x}, {unless: test -e @/f}]}
onlyif: {file.managed: [{name: @/h}, {contents: x}, {onlyif: test -e @/f}]}
`, map[string]string{"unless": "same", "onlyif": "change"}},
	{"a condition of a state that has nothing to do", map[string]string{"g": "x\n"}, `
file: {file.managed: [{name: @/f}, {contents: x}]}
unless: {file.managed: [{name: @/g}, {contents: x}, {unless: test -e @/f}]}
skipped: {file.managed: [{name: @/g}, {contents: x}, {onlyif: test -e @/f}]}
`, map[string]string{"unless": "same", "skipped": "same"}},
	{"creates", nil, `
file: {file.managed: [{name: @/f}, {contents: x}]}
creates: {cmd.run: [{name: touch @/ran}, {creates: @/f}]}
runs: {cmd.run: [{name: touch @/ran2}, {creates: @/none}]}
after: {cmd.run: [{name: touch @/ran3}, {creates: @/ran2}]}
`, map[string]string{"creates": "same", "runs": "change", "after": "unknown"}},
	{"a function as condition", nil, `
file: {file.managed: [{name: @/f}, {contents: x}]}
fun: {file.managed: [{name: @/g}, {contents: x}, {onlyif: [{fun: file.file_exists, path: @/f}]}]}
not: {file.managed: [{name: @/h}, {contents: x}, {unless: [{fun: file.file_exists, path: @/f}]}]}
`, map[string]string{"fun": "change", "not": "same"}},
	{"a command that nobody knows", nil, `
make: {cmd.run: [{name: touch @/made}]}
needs: {file.exists: [{name: @/made}]}
then: {cmd.run: [{name: touch @/x}, {creates: @/made}]}
late: {file.managed: [{name: @/late}, {contents: x}, {unless: test -e @/made}]}
copy: {file.copy: [{name: @/copy}, {source: @/made}]}
`, map[string]string{"make": "change", "then": "unknown", "late": "unknown", "needs": "may_fail"}},
	{"a state behind a command", map[string]string{"f": "x\n"}, `
break: {cmd.run: [{name: echo y > @/f}]}
mend: {file.managed: [{name: @/f}, {contents: x}, {require: [{cmd: break}]}]}
`, map[string]string{"mend": "unknown"}},
	{"onfail", map[string]string{"f": ""}, `
fails: {file.exists: [{name: @/none}]}
onfail: {file.managed: [{name: @/g}, {contents: x}, {onfail: [{file: fails}]}]}
good: {file.exists: [{name: @/f}]}
never: {file.managed: [{name: @/h}, {contents: x}, {onfail: [{file: good}]}]}
command: {cmd.run: [{name: "false"}]}
command2: {file.managed: [{name: @/i}, {contents: x}, {onfail: [{cmd: command}]}]}
`, map[string]string{"onfail": "unknown", "never": "same", "command2": "unknown"}},
	{"onfail of a state that is mended", nil, `
made: {file.managed: [{name: @/f}, {contents: x}]}
seen: {file.exists: [{name: @/f}]}
onfail: {file.managed: [{name: @/g}, {contents: x}, {onfail: [{file: seen}]}]}
`, map[string]string{"seen": "same", "onfail": "same"}},
	{"onchanges", map[string]string{"same": "x\n"}, `
new: {file.managed: [{name: @/f}, {contents: x}]}
same: {file.managed: [{name: @/same}, {contents: x}]}
doubt: {file.managed: [{name: @/g}, {contents: x}, {unless: test -e @/f}]}
on_new: {cmd.run: [{name: touch @/1}, {onchanges: [{file: new}]}]}
on_same: {cmd.run: [{name: touch @/2}, {onchanges: [{file: same}]}]}
on_doubt: {cmd.run: [{name: touch @/3}, {onchanges: [{file: doubt}]}]}
on_both: {cmd.run: [{name: touch @/4}, {onchanges: [{file: doubt}, {file: new}]}]}
`, map[string]string{"on_new": "change", "on_same": "same", "on_doubt": "unknown", "on_both": "change"}},
	{"a doubt that is skipped and what waits for it", nil, `
new: {file.managed: [{name: @/f}, {contents: x}]}
doubt: {file.managed: [{name: @/g}, {contents: x}, {onlyif: test -e @/f}]}
on_doubt: {cmd.run: [{name: touch @/3}, {onchanges: [{file: doubt}]}]}
pre: {cmd.run: [{name: touch @/4}, {prereq: [{file: doubt2}]}]}
doubt2: {file.managed: [{name: @/h}, {contents: x}, {onlyif: test -e @/f}]}
watch: {cmd.wait: [{name: touch @/5}, {watch: [{file: doubt}]}]}
`, map[string]string{"doubt": "unknown", "on_doubt": "unknown", "pre": "unknown", "doubt2": "unknown", "watch": "unknown"}},
	{"watch and prereq", map[string]string{"old": "y\n"}, `
pre: {cmd.run: [{name: touch @/pre}, {prereq: [{file: new}]}]}
new: {file.managed: [{name: @/old}, {contents: x}]}
wait: {cmd.wait: [{name: touch @/wait}, {watch: [{file: new}]}]}
idle: {cmd.wait: [{name: touch @/idle}, {watch: [{file: none}]}]}
none: {file.managed: [{name: @/old}, {contents: x}]}
`, map[string]string{"pre": "change", "wait": "change", "none": "same", "idle": "same"}},
	{"check_cmd", map[string]string{"ok": "x\n"}, `
first: {cmd.run: [{name: touch @/f}, {check_cmd: [test -e @/f]}]}
second: {file.directory: [{name: @/d}, {check_cmd: [test -d @/d]}]}
same: {file.absent: [{name: @/none}, {check_cmd: [test -d @/d]}]}
`, map[string]string{"first": "change", "second": "change"}},
	{"check_cmd of a file", nil, `
file: {file.managed: [{name: @/f}, {contents: x}, {check_cmd: grep -q x}]}
there: {file.exists: [{name: @/f}]}
`, map[string]string{"file": "change", "there": "same"}},
	{"a file that is removed", map[string]string{"d/f": "x\n", "d/g": "y\n"}, `
gone: {file.absent: [{name: @/d/f}]}
new: {file.managed: [{name: @/d/f}, {contents: x}]}
same: {file.managed: [{name: @/d/f}, {contents: x}]}
moved: {file.rename: [{name: @/d/h}, {source: @/d/g}]}
away: {file.absent: [{name: @/d/g}]}
all: {file.absent: [{name: @/d}]}
none: {file.absent: [{name: @/d/h}]}
`, map[string]string{"gone": "change", "new": "change", "same": "same", "moved": "change", "away": "same", "all": "change", "none": "same"}},
	{"edits of one file", map[string]string{"conf": "a=1\nb=2\n"}, `
one: {file.replace: [{name: @/conf}, {pattern: a=1}, {repl: a=2}]}
two: {file.replace: [{name: @/conf}, {pattern: a=2}, {repl: a=3}]}
three: {file.replace: [{name: @/conf}, {pattern: a=3}, {repl: a=3}]}
line: {file.line: [{name: @/conf}, {content: c=3}, {mode: ensure}, {after: b=2}]}
key: {file.keyvalue: [{name: @/conf}, {key: c}, {value: "4"}, {separator: "="}]}
key2: {file.keyvalue: [{name: @/conf}, {key: c}, {value: "4"}, {separator: "="}]}
comment: {file.comment: [{name: @/conf}, {regex: ^b=2}]}
comment2: {file.comment: [{name: @/conf}, {regex: ^b=2}]}
block: {file.blockreplace: [{name: @/conf}, {marker_start: "# s"}, {marker_end: "# e"}, {content: z}, {append_if_not_found: True}]}
block2: {file.blockreplace: [{name: @/conf}, {marker_start: "# s"}, {marker_end: "# e"}, {content: z}, {append_if_not_found: True}]}
`, map[string]string{"two": "change", "three": "same", "key": "change", "key2": "same", "block2": "same"}},
	{"parallel", nil, `
dir: {file.directory: [{name: @/d}, {parallel: True}]}
file: {file.managed: [{name: @/d/f}, {contents: x}, {parallel: True}, {require: [{file: dir}]}]}
wait: {cmd.run: [{name: touch @/w}, {creates: @/d/f}, {require: [{file: file}]}]}
`, map[string]string{"dir": "change", "file": "change", "wait": "same"}},
	{"a tree and data", nil, `
tree: {file.recurse: [{name: @/t}, {source: "salt://tree"}]}
one: {file.managed: [{name: @/t/one}, {source: "salt://tree/one"}]}
json: {file.serialize: [{name: @/t/j}, {dataset: {a: 1}}, {serializer: json}]}
json2: {file.serialize: [{name: @/t/j}, {dataset: {a: 1}}, {serializer: json}]}
touch: {file.touch: [{name: @/t/touched}]}
mode: {file.directory: [{name: @/t}, {mode: "0700"}]}
mode2: {file.directory: [{name: @/t}, {mode: "0700"}]}
tmpl: {file.managed: [{name: @/t/tmpl}, {source: "salt://tmpl"}, {template: jinja}, {context: {p: @}}]}
`, map[string]string{"tree": "change", "one": "same", "json": "change", "json2": "same", "mode2": "same"}},
	{"a slot", nil, `
file: {file.managed: [{name: @/f}, {contents: x}]}
slot: {file.managed: [{name: @/g}, {contents: "__slot__:salt:file.file_exists(@/f)"}]}
`, map[string]string{"slot": "change"}},
	{"a slot behind a command", nil, `
make: {cmd.run: [{name: echo x > @/f}]}
slot: {file.managed: [{name: @/g}, {contents: "__slot__:salt:cmd.run(cat @/f)"}]}
`, map[string]string{"slot": "unknown"}},
	{"an archive and its files", map[string]string{"src/top/one": "1\n", "src/top/run": "#!\n"}, `
pack: {archive.extracted: [{name: @/x}, {source: @/a.tar}]}
again: {archive.extracted: [{name: @/x}, {source: @/a.tar}]}
one: {file.exists: [{name: @/x/top/one}]}
same: {file.managed: [{name: @/x/top/one}, {contents: "1"}]}
other: {file.managed: [{name: @/x/top/one}, {contents: "2"}]}
creates: {cmd.run: [{name: touch @/ran}, {creates: @/x/top/run}]}
missing: {cmd.run: [{name: touch @/ran2}, {creates: @/x/top/none}]}
`, map[string]string{"pack": "change", "again": "same", "one": "same", "same": "same", "other": "change", "creates": "same", "missing": "change"}},
	{"an archive of the tree that is there", map[string]string{"src/top/one": "1\n", "x/top/one": "1\n"}, `
pack: {archive.extracted: [{name: @/x}, {source: "salt://a.tar"}]}
twice: {archive.extracted: [{name: @/y}, {source: "salt://a.tar"}]}
file: {file.managed: [{name: @/y/top/one}, {contents: "1"}]}
`, map[string]string{"pack": "same", "twice": "change", "file": "same"}},
	{"an archive that tar extracts", map[string]string{"src/top/one": "1\n"}, `
pack: {archive.extracted: [{name: @/x}, {source: @/a.tar}, {options: -p}]}
dir: {file.directory: [{name: @/x}]}
one: {file.managed: [{name: @/x/top/one}, {contents: "1"}]}
creates: {cmd.run: [{name: touch @/ran}, {creates: @/x/top/one}]}
`, map[string]string{"pack": "change", "dir": "same", "one": "unknown", "creates": "unknown"}},
	{"a clone", map[string]string{"src/top/one": "1\n"}, `
clone: {git.cloned: [{name: @/repo}, {target: @/c/d}]}
latest: {git.latest: [{name: @/repo}, {target: @/l}]}
there: {file.directory: [{name: @/c/d}]}
parent: {file.exists: [{name: @/c}]}
dir: {cmd.run: [{name: touch @/ran2}, {creates: @/c/d}]}
in: {file.managed: [{name: @/l/one}, {contents: "1"}]}
creates: {cmd.run: [{name: touch @/ran}, {creates: @/l/one}]}
again: {git.latest: [{name: @/repo}, {target: @/l}]}
init: {git.present: [{name: @/i}]}
head: {file.exists: [{name: @/i/HEAD}]}
beside: {file.managed: [{name: @/c/e}, {contents: "1"}]}
`, map[string]string{
		"clone": "change", "latest": "change", "there": "same", "parent": "same", "in": "unknown", "creates": "unknown", "dir": "same",
		"again": "unknown", "init": "change", "head": "unknown", "beside": "change",
	}},
	{"retry and test states", nil, `
ok: {test.succeed_with_changes: []}
unless: {file.managed: [{name: @/g}, {contents: x}, {unless: test -e @/none}]}
`, map[string]string{"ok": "change", "unless": "change"}},
}

// TestPlanEffects plans small runs, runs them, and compares state by state: what is
// said to change does, what is said not to does not, and nothing that is not known is
// said to be one of these.
func TestPlanEffects(t *testing.T) {
	t.Parallel()
	for _, p := range plans {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := &site{t: t, sshd: &sshtest.Server{}, dir: t.TempDir()}
			s.home = s.path("home")
			out := s.path("out")
			s.write("minion", "id: ctl\nfile_roots: {base: ["+s.path("salt")+"]}\ncachedir: "+s.path("cache")+"\n")
			s.write("salt/web.sls", strings.ReplaceAll(p.sls, "@", out))
			s.write("salt/tree/one", "1\n")
			s.write("salt/tree/sub/two", "2\n")
			s.write("salt/tmpl", "{{ salt['file.file_exists'](p ~ '/t/one') }}\n")
			s.write("out/.keep", "")
			for name, text := range p.files {
				s.write("out/"+name, text)
			}
			if strings.Contains(p.sls, "a.tar") {
				s.pack(t, "src", "a.tar")
			}
			if strings.Contains(p.sls, "@/repo") {
				s.repository(t, "out/repo")
			}
			before := names(t, out)
			said := s.states(t, "plan", "--call", "state.apply", "web")
			if now := names(t, out); !slices.Equal(before, now) {
				t.Fatalf("the plan changed files: %v, before: %v", now, before)
			}
			for id, want := range p.effect {
				if got := said[id]; got != want {
					t.Errorf("the plan says %q of %s, want %q", got, id, want)
				}
			}
			for id, changed := range s.ran(t) {
				switch got := said[id]; {
				case got == "change" && !changed:
					t.Errorf("%s was said to change something, and did not", id)
				case got == "same" && changed:
					t.Errorf("%s was said to change nothing, and did", id)
				case got == "":
					t.Errorf("the plan does not have %s", id)
				}
			}
		})
	}
}

// pack makes an archive of what a directory below out has, there and in the tree.
func (s *site) pack(t *testing.T, dir, name string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(s.path("out/" + dir))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.write("out/"+name, b.String())
	s.write("salt/"+name, b.String())
}

// repository makes a repository with one file, one.
func (s *site) repository(t *testing.T, dir string) {
	t.Helper()
	s.write(dir+"/one", "1\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "one"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		c := exec.Command("git", args...)
		c.Dir = s.path(dir)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// states returns the effects that a plan of one step has, by ID.
func (s *site) states(t *testing.T, args ...string) map[string]string {
	t.Helper()
	r := s.brine(append(args, "--out=json")...)
	var doc struct {
		Steps []struct {
			Groups []struct{ States []struct{ ID, Effect string } }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Steps) != 1 || len(doc.Steps[0].Groups) != 1 {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, r.stdout, r.stderr)
	}
	said := map[string]string{}
	for line := range strings.SplitSeq(read(t, s.path("salt/web.sls")), "\n") {
		if id, _, ok := strings.Cut(line, ":"); ok {
			said[id] = "same"
		}
	}
	for _, st := range doc.Steps[0].Groups[0].States {
		said[st.ID] = st.Effect
	}
	return said
}

// ran runs the states and returns which of them changed something, by ID.
func (s *site) ran(t *testing.T) map[string]bool {
	t.Helper()
	r := s.brine("call", "--local", "state.apply", "web", "--out=json")
	var doc map[string]map[string]struct {
		ID      string `json:"__id__"`
		Changes map[string]any
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc) != 1 {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, r.stdout, r.stderr)
	}
	changed := map[string]bool{}
	for _, rets := range doc {
		for _, ret := range rets {
			changed[ret.ID] = len(ret.Changes) > 0
		}
	}
	return changed
}

// names lists what is in a directory, with the size of files.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		out = append(out, fmt.Sprint(p, info.Mode(), info.Size(), info.ModTime().UnixNano()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
