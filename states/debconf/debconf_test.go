package debconf_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/cp"
	debconfmod "brine/modules/debconf"
	"brine/states/debconf"
)

// machine is one with a debconf that keeps its answers in memory.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutExe("/usr/bin/debconf-get-selections")
	answers := "# a comment\nbash\tbash/x\tboolean\ttrue\n"
	h.HandleCommand("debconf-get-selections", func(context.Context, host.Cmd) (host.Output, error) {
		return host.Output{Stdout: []byte(answers)}, nil
	})
	h.HandleCommand("debconf-set-selections", func(_ context.Context, c host.Cmd) (host.Output, error) {
		b, _ := io.ReadAll(c.Stdin)
		for line := range strings.Lines(string(b)) {
			f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
			if f[2] == "bad" {
				return host.Output{Status: 1, Stderr: []byte("error: unknown type bad\n")}, nil
			}
			answers += strings.Join(f, "\t") + "\n"
		}
		return host.Output{}, nil
	})
	h.PutFile("/srv/salt/sel", "post post/port string 25\n", 0o644)
	h.PutFile("/srv/salt/sel.j", "post post/port string {{ port }}\n", 0o644)
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "cp", Load: cp.Module},
		fun.Entry{Kind: fun.Exec, Name: "debconfmod", Virtual: "debconf", Load: debconfmod.Module},
		fun.Entry{Kind: fun.State, Name: "debconfmod", Virtual: "debconf", Load: debconf.States})
}

func TestDebconf(t *testing.T) {
	t.Parallel()
	const data = "{name: web, data: {web/port: {type: string, value: 80}, web/on: {type: boolean, value: 'false'}, web/pw: {type: password, value: geheim}, web/m: {type: multiselect, value: [a, b]}}}"
	rig(machine()).Steps(t, []calltest.Step{
		{"call debconf.show [nowhere]", "None"},
		{"test debconf.set " + data, "None:  {'web/port': 'New value: 80', 'web/on': 'New value: false', 'web/pw': 'New value: (password hidden)', 'web/m': 'New value: a, b'}"},
		{"call debconf.show [web]", "None"},
		{"state debconf.set " + data, "True:  {'web/port': '80', 'web/on': 'false', 'web/pw': '(password hidden)', 'web/m': 'a, b'}"},
		{"state debconf.set " + data, "True: All specified answers are already set {}"},
		{"test debconf.set " + data, "True: All specified answers are already set {}"},
		{"state debconf.set {name: web, data: {web/port: {type: string, value: 80}, web/on: {type: boolean, value: true}}}", "True: Unchanged answers: web/port  {'web/on': 'true'}"},
		{"state debconf.set {name: web, data: {web/x: {type: bad, value: 1}}}", "False: Some settings failed to be applied. debconf-set-selections failed: error: unknown type bad {'web/x': 'Failed to set!'}"},
		{"state debconf.set {name: web, data: {web/x: word}}", "error: data: the answer to web/x must be a mapping with type and value"},
		{"state debconf.set {name: web, data: {web/x: {type: string}}}", "error: data: the answer to web/x has no value"},
		{"state debconf.set {name: 'a b', data: {web/x: {type: string, value: 1}}}", "False: Some settings failed to be applied. package must be one word, not 'a b' {'web/x': 'Failed to set!'}"},
		{"call debconf.set [web, web/t, string, a, b, 3]", "True"},
		{"call debconf.set [web, web/t, string, \"a\\nb c d e\"]", "error: value must be one line"},
		{"call debconf.get_selections {fetchempty: false}", "{'bash': [['bash/x', 'boolean', 'true']], 'web': [['web/port', 'string', '80'], ['web/on', 'boolean', 'false'], ['web/pw', 'password', 'geheim'], ['web/m', 'multiselect', 'a, b'], ['web/on', 'boolean', 'true'], ['web/t', 'string', 'a b 3']]}"},
		{"call debconf.set_file ['salt://sel']", "True"},
		{"call debconf.set_file ['salt://none']", "False"},
		{"call debconf.show [post]", "[['post/port', 'string', '25']]"},
		{"test debconf.set_file {name: x, source: 'salt://sel'}", "None: Debconf selections would have been set. {}"},
		{"state debconf.set_file {name: x, source: 'salt://sel'}", "True: Debconf selections were set. {}"},
		{"state debconf.set_file {name: x, source: 'salt://none'}", "False: Unable to set debconf selections from file. {}"},
		{"call debconf.set_template ['salt://sel.j', jinja, {port: 7}, null]", "True"},
		{"state debconf.set_file {name: x, source: 'salt://sel.j', template: jinja, context: {port: 8}, defaults: {port: 9}}", "True: Debconf selections were set. {}"},
		{"call debconf.show [post]", "[['post/port', 'string', '25'], ['post/port', 'string', '25'], ['post/port', 'string', '7'], ['post/port', 'string', '8']]"},
		{"state debconf.set_file {name: x, source: 'salt://sel', defaults: word}", "False: Defaults must be formed as a dict {}"},
	})
}

// FuzzParse reads what debconf-get-selections may print.
func FuzzParse(f *testing.F) {
	f.Add("# x\na\tb\tstring\tc d\n")
	f.Add("a b c")
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range debconfmod.Parse(text) {
			if a.Package == "" || a.Question == "" || a.Type == "" || strings.ContainsAny(a.Package+a.Question+a.Type, " \t\n") {
				t.Errorf("%q gives %#v", text, a)
			}
		}
	})
}
