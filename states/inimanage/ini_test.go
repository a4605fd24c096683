package inimanage_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/inimanage"
	"brine/states/inimanage"
)

func rig(text string) (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.PutFile("/f.ini", text, 0o640)
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "ini_manage", Virtual: "ini", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "ini_manage", Virtual: "ini", Load: inimanage.States}), h
}

const before = "# top\nshell=/bin/sh\n[main]\na=1\n  more\n#c = old\nurl: http://x/?a=b\n\n\n; note\nnonsense\n\n[other]\n\tx = y\n"

func TestOptions(t *testing.T) {
	t.Parallel()
	r, h := rig(before)
	r.Steps(t, []calltest.Step{
		{"call ini.get_ini [/f.ini]", `{'shell': '/bin/sh', 'main': {'a': '1\n  more', 'url': 'http://x/?a=b'}, 'other': {'x': 'y'}}`},
		{"test ini.options_present {name: /f.ini, sections: {main: {a: 2, url: 'http://x/?a=b'}, shell: /bin/zsh, fresh: {k: v, n: 5}}}", "None: Changed key shell.\nChanged key a in section main.\nUnchanged key url in section main.\nChanged key k in section fresh.\nChanged key n in section fresh.\n {}"},
		{"state ini.options_present {name: /f.ini, sections: {main: {a: 2, c: new, d: null}, shell: /bin/zsh, fresh: {k: v, n: 5}}}", `True: Changes take effect {'shell': {'before': '/bin/sh', 'after': '/bin/zsh'}, 'main': {'a': {'before': '1\n  more', 'after': '2'}, 'c': {'before': None, 'after': 'new'}, 'd': {'before': None, 'after': 'None'}}, 'fresh': {'before': None, 'after': {'k': 'v', 'n': '5'}}}`},
		{"state ini.options_present {name: /f.ini, sections: {main: {a: 2, c: new}, shell: /bin/zsh}}", "True: No anomaly detected {}"},
		{"test ini.options_present {name: /f.ini}", "True: No changes detected. {}"},
	})
	want := "# top\nshell = /bin/zsh\n\n[main]\na = 2\nc = new\nurl: http://x/?a=b\n\n\n; note\nnonsense\nd = None\n\n[other]\n\tx = y\n\n[fresh]\nk = v\nn = 5\n"
	if got := h.Text("/f.ini"); got != want {
		t.Errorf("file:\n%s\nwant:\n%s", got, want)
	}
	r.Steps(t, []calltest.Step{
		{"test ini.options_present {name: /f.ini, strict: True, sections: {fresh: {k: w}}}", "None: Removed key shell.\nDeleted key n in section fresh.\nChanged key k in section fresh.\n {}"},
		{"state ini.options_present {name: /f.ini, strict: True, sections: {fresh: {k: w}, shell: x}}", "True: Changes take effect {'shell': {'before': '/bin/zsh', 'after': 'x'}, 'fresh': {'n': {'before': '5', 'after': None}, 'k': {'before': 'v', 'after': 'w'}}}"},
		{"state ini.options_present {name: /f.ini, separator: ' ', sections: {other: {x: z}}}", "True: Changes take effect {'other': {'x': {'before': 'y', 'after': 'z'}}}"},
		{"state ini.options_present {name: /f.ini, sections: {s: {k: {a: b}}}}", "error: the option k is a mapping; sections have no sections of their own"},
		{`state ini.options_present {name: /f.ini, sections: {"a]\n[b": {k: v}}}`, `error: invalid name of a section: 'a]\n[b'`},
		{"state ini.options_present {name: /none/f.ini, sections: {s: {k: v}}}", "error: Unable to write file '/none/f.ini'. Exception: [Errno 2] No such file or directory: '/none/f.ini'"},
		{"test ini.options_absent {name: /f.ini, sections: {main: [a, zz], fresh: k, shell: null}}", "None: Deleted key a in section main.\nKey zz in section main does not exist.\nDeleted key k in section fresh.\nDeleted key shell.\n {}"},
		{"state ini.options_absent {name: /f.ini, sections: {main: [a, zz], fresh: k, shell: null}}", "True: Changes take effect {'main': {'a': '2'}, 'fresh': 'w', 'shell': 'x'}"},
		{"state ini.options_absent {name: /f.ini, sections: {main: [a]}}", "True: No anomaly detected {}"},
		{"test ini.sections_present {name: /f.ini, sections: [main, more]}", "None: Section unchanged main.\nCreated new section more.\n {}"},
		{"state ini.sections_present {name: /f.ini, sections: {more: {}}}", "True: Changes take effect {'more': {'before': None, 'after': {}}}"},
		{"state ini.sections_present {name: /f.ini, sections: {more: {}}}", "True: No anomaly detected {}"},
		{"test ini.sections_absent {name: /f.ini, sections: [more, never]}", "None: Deleted section more.\nSection never does not exist.\n {}"},
		{"state ini.sections_absent {name: /f.ini, sections: [more, other, fresh]}", "True: Changes take effect {'more': {}, 'other': {}, 'fresh': {}}"},
		{"call ini.get_option [/f.ini, main, c]", "'new'"},
		{"call ini.get_option [/f.ini, main, zz]", "None"},
		{"call ini.get_section [/f.ini, main]", "{'c': 'new', 'url': 'http://x/?a=b', 'd': 'None'}"},
		{"call ini.set_option [/f.ini, {top: 1, main: {d: x}}]", "{'top': {'before': None, 'after': '1'}, 'main': {'d': {'before': 'None', 'after': 'x'}}}"},
		{"call ini.remove_option [/f.ini, main, d]", "'x'"},
		{"call ini.remove_option [/f.ini, null, top]", "'1'"},
		{"call ini.remove_option [/f.ini, main, d]", "None"},
		{"call ini.remove_section [/f.ini, none]", "None"},
		{"call ini.remove_section [/f.ini, main]", "{'c': 'new', 'url': 'http://x/?a=b'}"},
	})
	if got := h.Text("/f.ini"); got != "# top\n" {
		t.Errorf("file: %q", got)
	}
	if st, _ := h.Stat("/f.ini"); st.Perm() != 0o640 {
		t.Errorf("mode %o", st.Perm())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(before, "=", "main", "a")
	f.Add("a b\r\n[s]\r\nk = v\r\n cont\r\n#k c\r\n", " ", "s", "k")
	f.Add("[x]\n[x]\nk:v\n", ":", "x", "k")
	f.Fuzz(func(t *testing.T, text, sep, sect, name string) {
		once := mod.Parse(text, sep).String()
		if again := mod.Parse(once, sep).String(); again != once {
			t.Errorf("not stable: %q, then %q", once, again)
		}
		if strings.ReplaceAll(once, "\n", "") != strings.ReplaceAll(text, "\n", "") && !strings.Contains(text, "\r") {
			t.Errorf("%q became %q", text, once)
		}
		file := mod.Parse(text, "=")
		file.Set("fuzz", "key", "value")
		back := mod.Parse(file.String(), "=")
		if v, ok := back.Get("fuzz", "key"); !ok || v != "value" {
			t.Errorf("the option does not settle in %q", file.String())
		}
		file.Remove(sect, name)
		if _, ok := mod.Parse(file.String(), "=").Get(sect, name); ok && !strings.ContainsAny(sect+name, "\n\r") {
			t.Errorf("%q of %q is still in %q", name, sect, file.String())
		}
		file.RemoveSection(sect)
		_ = file.Value()
	})
}
