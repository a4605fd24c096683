package redact

import "testing"

func TestSource(t *testing.T) {
	const h = Hidden
	for _, tt := range []struct{ in, want string }{
		{"a: 1\nb: x\n", "a: 1\nb: x\n"},
		{"    - password: hunter2 # note\n    - name: x\n", "    - password: " + h + "\n    - name: x\n"},
		{"    - pillar: {token: s3cr3t, a: b}\n", "    - pillar: {token: " + h + ", a: b}\n"},
		{"    - pillar: {\"db_password\": \"a, b\", c: d}\n", "    - pillar: {\"db_password\": " + h + ", c: d}\n"},
		{"private_key: |\n  one\n  two\n\n  three\nnext: 1\n", "private_key: " + h + "\n  " + h + "\n  " + h + "\n\n  " + h + "\nnext: 1\n"},
		{"password:\n  - a\n  - b\nnext: 1\n", "password:\n  " + h + "\n  " + h + "\nnext: 1\n"},
		{"password:\n- a\nnext: 1\n", "password:\n" + h + "\nnext: 1\n"},
		{"x:\n  password: a\n  b: c\n", "x:\n  password: " + h + "\n  b: c\n"},
		{"password: a\r\nb: c", "password: " + h + "\r\nb: c"},
		{"cmd: mysql --password=abc -u root\n", "cmd: mysql --password=" + h + " -u root\n"},
		{"    - env:\n      - A: one\n      - B=two\n    - cwd: /srv\n", "    - env:\n      - A: " + h + "\n      - B=" + h + "\n    - cwd: /srv\n"},
		{"    - env: {A: one}\n    - cwd: /srv\n", "    - env: " + h + "\n    - cwd: /srv\n"},
		{"    - env:\n      - A: |\n          one\n    - cwd: /srv\n", "    - env:\n      - A: " + h + "\n          " + h + "\n    - cwd: /srv\n"},
		{"    - stdin: abc\n    - source: https://u:pw@h/\n", "    - stdin: " + h + "\n    - source: https://u:" + h + "@h/\n"},
		{"value: known-secret\n", "value: " + h + "\n"},
	} {
		s := NewSet()
		s.Add("known-secret")
		if got := s.Source(tt.in); got != tt.want {
			t.Errorf("Source(%q)\n = %q\nwant %q", tt.in, got, tt.want)
		}
	}
	if got := (*Set)(nil).Source("password: a"); got != "password: a" {
		t.Errorf("the nil Set: %q", got)
	}
}
