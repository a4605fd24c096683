package lint_test

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// sealed is a disk of which some files cannot be read.
type sealed struct{ host.Files }

func (s sealed) refuses(p string) error {
	if strings.Contains(p, "sealed") {
		return &fs.PathError{Op: "open", Path: p, Err: fs.ErrPermission}
	}
	return nil
}

func (s sealed) ReadFile(p string) ([]byte, error) {
	if err := s.refuses(p); err != nil {
		return nil, err
	}
	return s.Files.ReadFile(p)
}

func (s sealed) Open(p string) (io.ReadCloser, error) {
	if err := s.refuses(p); err != nil {
		return nil, err
	}
	return s.Files.Open(p)
}

// pgp is an encrypted text, indented by some spaces.
func pgp(indent string) string {
	return strings.ReplaceAll("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n=x\n-----END PGP MESSAGE-----\n", "\n", "\n"+indent)
}

// TestNotRead: what lint cannot read, for lack of a program, a key, a permission or another
// file server, is neither a fault of the tree nor passed over, and the rest is judged.
func TestNotRead(t *testing.T) {
	t.Parallel()
	const bad = "b:\n  pkg.instaled: []\n"
	large := strings.Repeat("# x\n", 300_000)
	for _, tt := range []struct {
		name  string
		files map[string]string
		opts  *value.Map
		want  []string
	}{
		{"an SLS that is encrypted as a whole", map[string]string{"salt/a.sls": "#!gpg|jinja|yaml\n" + pgp("")}, nil, []string{"salt/a.sls:2:1 not-judged"}},
		{"encrypted values of an SLS", map[string]string{"salt/a.sls": "#!jinja|yaml|gpg\n/a:\n  file.managed:\n    - contents: x\n    - mode: |\n        " + pgp("        ") + "\n" + bad}, nil, []string{"salt/a.sls:12:1 unknown-state"}},
		{"the renderer gpg of the configuration", map[string]string{"salt/a.sls": bad}, value.MapOf("renderer", "jinja|yaml|gpg"), []string{"salt/a.sls:1:1 unknown-state"}},
		{"a renderer of the configuration", map[string]string{"salt/a.sls": bad, "salt/b.sls": "#!jinja|yaml\n" + bad}, value.MapOf("renderer", "py"), []string{"salt/a.sls:1:1 not-judged", "salt/b.sls:2:1 unknown-state"}},
		{"the old spelling", map[string]string{"salt/a.sls": "#!yaml_jinja\n" + bad}, nil, []string{"salt/a.sls:2:1 unknown-state"}},
		{"a pillar in Python", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - text: {{ pillar.x.y }}\n" + bad, "pillar/p.sls": "#!py\ndef run():\n  return {}\n"}, nil, []string{"pillar/p.sls:1:1 not-judged", "salt/a.sls:4:1 unknown-state"}},
		{"a pillar that is encrypted as a whole", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - text: {{ pillar.x.y }}\n" + bad, "pillar/p.sls": "#!gpg|yaml\n" + pgp("")}, nil, []string{"pillar/p.sls:2:1 not-judged", "salt/a.sls:4:1 unknown-state"}},
		{"encrypted values of the pillar", map[string]string{
			"salt/a.sls": "{% if pillar.app.port | int > 80 %}\n" + bad + "{% endif %}\nc:\n  test.nop:\n    - x: {{ pillar.app.port + 1 }}\n", "pillar/p.sls": "#!yaml|gpg\napp:\n  port: |\n    " + pgp("    "),
		}, nil, []string{"salt/a.sls:2:1 unknown-state"}},
		{"another file server", map[string]string{
			"salt/a.sls": "include:\n  - other.app\n" + bad, "salt/c.sls": "/c:\n  file.managed:\n    - source: salt://other/c\n", "salt/top.sls": "base:\n  '*':\n    - other\n", "salt/o.sls": "o:\n  salt.state:\n    - tgt: '*'\n    - sls: other.o\n",
		}, value.MapOf("fileserver_backend", value.NewList("roots", "gitfs")), []string{"salt/a.sls:2:5 not-judged", "salt/a.sls:3:1 unknown-state", "salt/c.sls:3:7 not-judged", "salt/o.sls:4:7 not-judged", "salt/top.sls:3:7 not-judged"}},
		{"a saltenv of elsewhere", map[string]string{"salt/o.sls": "o:\n  salt.state:\n    - tgt: '*'\n    - sls: app\n    - saltenv: prod\n"}, nil, []string{"salt/o.sls:4:7 not-judged"}},
		{"a template engine in Python", map[string]string{"salt/a.sls": "/a:\n  file.managed:\n    - source: salt://a.txt\n    - template: mako\n", "salt/a.txt": "x"}, nil, []string{"salt/a.sls:4:7 not-judged"}},
		{"a large template", map[string]string{"salt/a.sls": "/a:\n  file.managed:\n    - source: salt://a.txt\n    - template: jinja\n", "salt/a.txt": large}, nil, []string{"salt/a.txt:1:1 not-judged"}},
		{"a large SLS", map[string]string{"salt/a.sls": large + bad}, nil, []string{"salt/a.sls:1:1 not-judged", "salt/a.sls:300001:1 unknown-state"}},
		{"a large pillar", map[string]string{"salt/a.sls": "a:\n  test.nop:\n    - text: {{ pillar.x }}\n", "pillar/p.sls": large + "x: 1\n"}, nil, []string{"pillar/p.sls:1:1 not-judged"}},
		{"a large Starlark module", map[string]string{"salt/a.sls": "a:\n  test.nop: []\n", "salt/_modules/m.star": large[:100_000]}, nil, []string{"salt/_modules/m.star:1:1 not-judged"}},
		{"files that may not be read", map[string]string{
			"salt/sealed.sls": bad, "salt/a.sls": "include:\n  - sealed\n" + bad + "c:\n  test.nop:\n    - require:\n      - pkg: sealed\n", "pillar/sealed.sls": "x: 1\n",
			"salt/p.sls": "p:\n  test.nop:\n    - text: {{ pillar.x.y }}\n", "salt/m.sls": "{% from 'sealed.jinja' import m %}\nm:\n  test.nop:\n    - text: {{ m.x }}\n", "salt/sealed.jinja": "{% set m = {'x': 1} %}",
			"salt/t.sls": "/t:\n  file.managed:\n    - source: salt://sealed.txt\n    - template: jinja\n", "salt/sealed.txt": "x",
		}, nil, []string{
			"pillar/sealed.sls:1:1 not-judged", "salt/a.sls:3:1 unknown-state", "salt/a.sls:8:9 not-judged", "salt/m.sls:4:16 not-judged",
			"salt/sealed.jinja:1:1 not-judged", "salt/sealed.sls:1:1 not-judged", "salt/sealed.txt:1:1 not-judged",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, o := write(t, tt.files)
			o.Disk = sealed{o.Disk}
			for k, v := range tt.opts.All() {
				o.Opts.Set(k, v)
			}
			got := found(t, dir, o)
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			r, err := lint.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, f := range tt.want {
				if strings.HasSuffix(f, " not-judged") {
					n++
				}
			}
			if r.NotJudged() != n || len(r.Unjudged()) != n || r.Count(lint.Info) != 0 {
				t.Errorf("%d places are not judged, and check lists %d; want %d", r.NotJudged(), len(r.Unjudged()), n)
			}
			o.Config.Strict = true
			if r, err = lint.Run(t.Context(), o); err != nil || n > 0 && r.Count(lint.Error) < n {
				t.Errorf("strict: %d errors, %v", r.Count(lint.Error), err)
			}
		})
	}
}

// TestNotInvented: what a template asks of the machine by other ways than grains is unknown as
// well: both branches are judged.
func TestNotInvented(t *testing.T) {
	t.Parallel()
	for _, x := range []string{
		"salt['match.glob']('web*')", "salt['match.pcre']('web.*')", "salt['match.list']('a,b')", "salt['match.ipcidr']('10.0.0.0/8')",
		"salt['match.compound']('web* and G@os:Debian')", "salt['match.compound']('G@role:web')", "salt['match.grain']('role:web')",
		"salt['match.filter_by']({'web*': 1})", "salt['match.search_by']({'a': ['web*']})", "salt['match.ifelse']('web*', 1, 0)",
		"opts['id'] == 'web1'", "opts.id.startswith('web')", "salt['config.get']('id') == 'web1'", "'ls' | which", "'/etc/passwd' | file_hashsum",
		"'db1' | dns_check(port=80)", "'root' | get_uid", "'/etc' | list_files", "'/etc/passwd' | is_text_file", "salt['hashutil.digest_file']('/etc/passwd')", "grains.mem_total | int > 2000", "grains.load | float < 0.5",
	} {
		dir, o := write(t, map[string]string{"salt/a.sls": "{% if " + x + " %}\na:\n  pkg.instaled: []\n{% else %}\nb:\n  file.manged: []\n{% endif %}\n"})
		if got, want := found(t, dir, o), []string{"salt/a.sls:2:1 unknown-state", "salt/a.sls:5:1 unknown-state"}; !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", x, got, want)
		}
	}
	// What the systems have, and the ID of a machine of one's own, is known.
	for _, x := range []string{
		"salt['match.grain']('kernel:Linux')", "salt['match.compound']('G@kernel:Linux and not G@kernel:Windows')", "salt['match.glob']('*')",
		"salt['match.glob']('web*', 'web1')", "salt['match.glob']('web*', minion_id='web1')", "salt['match.filter_by']({'G@kernel:Linux': 1})",
	} {
		dir, o := write(t, map[string]string{"salt/a.sls": "{% if not " + x + " %}\na:\n  pkg.instaled: []\n{% endif %}\nb:\n  test.nop: []\n"})
		if got := found(t, dir, o); len(got) > 0 {
			t.Errorf("%s: found %q", x, got)
		}
	}
	dir, o := write(t, map[string]string{"salt/a.sls": "{% if salt['match.glob']('db*') or opts.id == 'db1' %}\na:\n  pkg.instaled: []\n{% endif %}\nb:\n  test.nop: []\n"})
	o.Systems = []lint.System{{Name: "web1", Grains: value.MapOf("id", "web1", "os", "Debian", "os_family", "Debian")}}
	if got := found(t, dir, o); len(got) > 0 {
		t.Errorf("found %q on a machine whose ID is known", got)
	}
}

// TestTemplateCalls: functions that templates of files call are checked on every branch, and
// used.
func TestTemplateCalls(t *testing.T) {
	t.Parallel()
	dir, o := write(t, map[string]string{
		"salt/a.sls": "/a:\n  file.managed:\n    - source: salt://a.conf\n    - template: jinja\n",
		"salt/a.conf": "{# salt['no.one']() #}\nsalt['no.two']() # text\n{% if False %}\n{{ salt['test.ecoh']('x') }}\n{{ salt.consul.get('x') }}\n{% endif %}\n" +
			"{%- if 'our.own' in salt %}{{ salt['our.own']() }}{% endif %}\n{% set x =\n  salt['test.pign']() if False %}\n",
	})
	want := []string{"salt/a.conf:4:10 unknown-function", "salt/a.conf:5:9 not-in-brine", "salt/a.conf:9:9 unknown-function"}
	if got := found(t, dir, o); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	r, err := lint.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Used.Functions[fun.Exec]["consul.get"]; !ok {
		t.Errorf("used are %v", r.Used.Functions)
	}
}
