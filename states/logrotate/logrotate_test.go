package logrotate_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/logrotate"
	"brine/states/logrotate"
)

const conf = "# c\nweekly\nrotate 4\ncreateolddir 755\ncreate\ninclude /etc/logrotate.d\n/var/log/wtmp {\n    monthly\n    # why\n\trotate 1\n    postrotate\n        rotate 9 {}\n    endscript\n}\n/one { daily }\n"

func TestLogrotate(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/logrotate.conf", conf, 0o644)
	h.PutFile("/etc/logrotate.d/app", "/var/log/app\n/var/log/b {\n  daily\n  create 0640 root adm\n}\n", 0o644)
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "logrotate", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "logrotate", Load: logrotate.States})
	r.Steps(t, []calltest.Step{
		{"call logrotate.get [rotate]", "4"},
		{"call logrotate.get [/var/log/wtmp, monthly]", "True"},
		{"call logrotate.get [/var/log/b]", "{'daily': True, 'create': '0640 root adm'}"},
		{"call logrotate.get [rotate, x]", "False"},
		{"call logrotate.get [none]", "False"},
		{"call logrotate.get {key: a, conf_file: /none}", "error: [Errno 2] No such file or directory: '/none'"},
		{"test logrotate.set {name: x, key: rotate, value: 7}", "None: Command 'rotate' will be set to value: 7 {'old': 4, 'new': 7}"},
		{"state logrotate.set {name: x, key: rotate, value: '7'}", "True: Set command 'rotate' value: 7 {'old': 4, 'new': 7}"},
		{"state logrotate.set {name: x, key: rotate, value: 7}", "True: Command 'rotate' already has value: 7 {}"},
		{"state logrotate.set {name: x, key: create, value: False}", "True: Set command 'create' value: False {'old': True, 'new': False}"},
		{"state logrotate.set {name: x, key: create, value: False}", "True: Command 'create' already has value: False {}"},
		{"state logrotate.set {name: x, key: /var/log/wtmp, value: rotate, setting: 3}", "True: Set block '/var/log/wtmp' command 'rotate' value: 3 {'old': 1, 'new': 3}"},
		{"state logrotate.set {name: x, key: /var/log/b, value: missingok, setting: True}", "True: Set block '/var/log/b' command 'missingok' value: True {'old': False, 'new': True}"},
		{"state logrotate.set {name: x, key: /var/log/b, value: daily, setting: False}", "True: Set block '/var/log/b' command 'daily' value: False {'old': True, 'new': False}"},
		{"state logrotate.set {name: x, key: /new, value: missingok, setting: True}", "True: Set block '/new' command 'missingok' value: True {'old': False, 'new': True}"},
		{"state logrotate.set {name: x, key: /new, value: 5}", "error: Error: /new includes a dict, and a specific setting inside the dict was not declared"},
		{"state logrotate.set {name: x, key: rotate, value: a, setting: 5}", "error: Error: A setting for a dict was declared, but the configuration line given is not a dict"},
		{"state logrotate.set {name: x, key: /one, value: rotate, setting: 5}", "error: the block of /one is on one line or has no end, and is not changed"},
		{`state logrotate.set {name: x, key: rotate, value: "1\n}"}`, `error: '1\n}' has characters that a line of the configuration cannot have`},
		{"call logrotate.set [compress, True]", "True"},
	})
	want := "compress\n# c\nweekly\nrotate 7\ncreateolddir 755\n\ninclude /etc/logrotate.d\n/var/log/wtmp {\n    monthly\n    # why\n\trotate 3\n    postrotate\n        rotate 9 {}\n    endscript\n}\n/one { daily }\n/new {\n    missingok\n}\n"
	if got := h.Text("/etc/logrotate.conf"); got != want {
		t.Errorf("configuration:\n%s\nwant:\n%s", got, want)
	}
	if got, want := h.Text("/etc/logrotate.d/app"), "/var/log/app\n/var/log/b {\n  create 0640 root adm\n    missingok\n}\n"; got != want {
		t.Errorf("app: %q, want %q", got, want)
	}
}

func FuzzSet(f *testing.F) {
	f.Add(conf)
	f.Add("a\n{\n}\n}{\nb { x }\npostrotate\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := host.NewFake()
		h.PutFile("/c", text, 0o644)
		r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "logrotate", Load: mod.Module})
		r.Fn(t, "logrotate.set", "{key: fuzz, value: 1, conf_file: /c}")
		r.Fn(t, "logrotate.set", "{key: /fuzz, value: rotate, setting: 2, conf_file: /c}")
		r.Fn(t, "logrotate.show_conf", "[/c]")
	})
}
