package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// TestStarlarkTree runs a tree of Starlark modules here, by connection: local and
// over SSH, on machines without python3: all say the same.
func TestStarlarkTree(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	path := noPython(t)
	s := newSite(t, sshtest.Options{Env: []string{"PATH=" + path}})
	s.env = append(s.env, "PATH="+path)
	for name, text := range map[string]string{
		"salt/_modules/mymod.star": `"""Values of a machine."""
load("//lib/names.star", "shout")

def about(x, *, deep = 1):
    """Tells what it sees."""
    return [x, deep, shout(grains["id"]), salt["test.echo"]("hi"), pillar.get("a"), grains.get("roles")]

def boom():
    return {}["a"]

def large():
    return ["x" * (1 << 28) for n in range(10)]

def code(n):
    __context__["retcode"] = n
`,
		"salt/lib/names.star":            "def shout(s):\n    return s.upper()\n",
		"salt/_grains/roles.star":        "def roles():\n    return {'roles': ['web'], 'kernel_seen': grains['kernel']}\n",
		"salt/_renderers/shout.star":     "def render(data, saltenv, sls, argline = ''):\n    return data.replace(argline, argline.upper())\n",
		"salt/_pillar/extra.star":        "def ext_pillar(minion_id, pillar, word):\n    return {'a': [minion_id, word, grains.get('roles')]}\n",
		"salt/_tops/classes.star":        "def top(opts, grains):\n    return {'base': ['from_' + opts['id']]}\n",
		"salt/_matchers/word_match.star": "def match(tgt, opts = None, minion_id = None):\n    return minion_id.startswith(tgt) and opts['id'] == grains['id'] and opts['grains']['kernel'] == grains['kernel']\n",
		"salt/top.sls":                   "base:\n  we:\n    - match: word\n    - loud\n  ne:\n    - match: word\n    - broken\n",
		"pillar/top.sls":                 "base:\n  'n':\n    - match: word\n    - near\n",
		"pillar/near.sls":                "near: seen\n",
		"salt/_runners/report.star":      "def total(*args):\n    __context__['retcode'] = 1 if len(args) > 1 else 0\n    return len(args)\n\ndef there():\n    return salt['test.echo']('there')\n",
		"salt/_returners/keep.star":      "def returner(ret):\n    salt['file.write'](opts['keep.path'], json.encode({'id': ret['id'], 'return': ret['return']}))\n",
		"salt/_states/part.star": `
def present(name, text = "x"):
    """Makes sure that a part is there."""
    ret = {"name": name, "changes": {}, "result": True, "comment": "%s %s" % (__sls__, __low__["__id__"])}
    made = __states__["file.managed"](name, contents = text)
    ret["changes"] = made["changes"]
    if opts["test"]:
        ret["result"] = None if made["result"] == None else made["result"]
    return ret

def broken(name):
    return inner(name)

def inner(name):
    return {}[name]

def mod_watch(name, **kwargs):
    return {"name": name, "changes": {"watched": True}, "result": True, "comment": "watched"}
`,
		"salt/site.sls":   "{{ opts.get('dir', pillar['dir']) }}/one:\n  part.present:\n    - text: {{ salt['mymod.about'](5)[2] }}\n",
		"salt/broken.sls": "one: {part.broken: []}\n",
		"salt/loud.sls":   "#!shout one|yaml\none: {test.nop: []}\n",
	} {
		s.write(name, text)
	}
	more := "ext_pillar:\n  - extra: hey\nkeep.path: " + s.path("kept") + "\nmaster_tops: {classes: true}\ncustom_memory: 256\n"
	s.write("master", read(t, s.path("master"))+more)
	s.write("minion", "id: web9\nfile_roots: {base: ["+s.path("salt")+"]}\npillar_roots: {base: ["+s.path("pillar")+"]}\ncachedir: "+s.path("cache")+"\n"+more)
	s.roster(1, "near: {connection: local}")
	for _, way := range []struct{ id, name string }{{"web9", "local"}, {"near", "near"}, {"web1", "web1"}} {
		dir := t.TempDir()
		brine := func(args ...string) result {
			if way.name == "local" {
				return s.brine(append([]string{"call"}, args...)...)
			}
			return s.brine(append([]string{"ssh", way.id}, args...)...)
		}
		r := brine("mymod.about", "7", "deep=2", "--out=json")
		s.want(r, 0)
		roles := []any{"web"}
		pillar := []any{way.id, "hey", roles}
		if way.name == "local" {
			pillar[2] = roles
		}
		want := []any{json.Number("7"), json.Number("2"), strings.ToUpper(way.id), "hi", pillar, roles}
		if got := s.decode(r)[way.name]; !reflect.DeepEqual(jsonOf(t, got), jsonOf(t, want)) {
			t.Errorf("%s: mymod.about = %v, want %v", way.id, got, want)
		}
		for _, tt := range []struct{ name, want string }{
			{"mymod.boom", `_modules/mymod.star:9:14: StarlarkError: key "a" not in dict`},
			{"mymod.large", "it took more than 256 MiB of memory"},
			{"mymod.about", "missing 1 required positional argument: 'x'"},
		} {
			r := brine(tt.name)
			s.want(r, r.exit, tt.want)
			if r.exit == 0 {
				t.Errorf("%s: %s is a success", way.id, tt.name)
			}
		}
		if r := brine("mymod.code", "3"); r.exit == 0 {
			t.Errorf("%s: the return code of mymod.code is lost: %s", way.id, r.stdout)
		}
		values := `pillar={"dir": "` + dir + `"}`
		s.want(brine("state.apply", "site", values, "test=True"), 0, "Result: None", "site "+dir+"/one")
		if _, err := os.Stat(filepath.Join(dir, "one")); err == nil {
			t.Errorf("%s: a state that a state called in test mode changed something", way.id)
		}
		s.want(brine("state.apply", "site", values), 0, "changed=1")
		if got := read(t, filepath.Join(dir, "one")); got != strings.ToUpper(way.id)+"\n" {
			t.Errorf("%s: %q", way.id, got)
		}
		r = brine("state.apply", "broken")
		s.want(r, r.exit, `StarlarkError: key "one" not in dict`, "part.star:15:14: in inner", "part.star:12:17: in broken")
		s.want(brine("state.apply", "loud"), 0, "ID: ONE")
		s.want(brine("state.show_top", "--out=json", "--out-indent=-1"), 0, `"from_`+way.id+`"`)
		top, near := "loud", ""
		if way.id == "near" {
			top, near = "broken", "seen"
		}
		s.want(brine("state.show_top", "--out=json", "--out-indent=-1"), 0, `"base": ["`+top+`", "from_`)
		s.want(brine("pillar.get", "near", "--out=json", "--out-indent=-1"), 0, `"`+near+`"`)
		s.want(brine("sys.doc", "mymod.about"), 0, "Tells what it sees.")
		s.want(brine("test.echo", "ho", "--return=keep"), 0)
		if got := read(t, s.path("kept")); !strings.HasSuffix(got, `{"id":"`+way.id+`","return":"ho"}`+"\n") {
			t.Errorf("%s: kept %q", way.id, got)
		}
	}
	s.want(s.brine("run", "report.there"), 0, "there")
	s.want(s.brine("run", "report.total", "1", "2"), 1, "2")
	s.want(s.brine("call", "saltutil.sync_all", "--out=json", "--out-indent=-1"), 0, `"modules.mymod"`, `"states.part"`, `"grains.roles"`, `"renderers.shout"`, `"returners.keep"`, `"matchers.word_match"`)
	s.want(s.brine("functions", "mymod"), 0, "Tells what it sees. (salt://_modules/mymod.star)")
}

// jsonOf is a value as its JSON.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
