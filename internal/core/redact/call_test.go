package redact

import (
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"testing"

	"brine/internal/py/value"
)

func TestAddArg(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		arg      string
		declared bool
		json     string
		secret   []string
		plain    []string
	}{
		{"password", false, `"hunter22"`, []string{"hunter22"}, nil},
		{"password", false, `12345678`, []string{"12345678"}, nil},
		{"password", false, `true`, nil, []string{"true"}},
		{"answer", true, `"hunter22"`, []string{"hunter22"}, nil},
		{"answer", true, `{"a": ["hunter22"]}`, []string{"hunter22"}, nil},
		{"name", false, `"hunter22"`, nil, []string{"hunter22"}},
		{"env", false, `{"APP": "hunter22", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "DATA_DIR": "/srv/data", "MY_DIR_TOKEN": "tok-123456"}`, []string{"hunter22", "tok-123456"}, []string{"/usr/bin:/bin", "C.UTF-8", "/srv/data"}},
		{"env", false, `[{"APP": "hunter22"}, "OTHER=hunter33", {"N": 1234567}]`, []string{"hunter22", "hunter33", "1234567"}, nil},
		{"env", false, `"- APP: hunter22\n- B: 'hunter33'"`, []string{"hunter22", "hunter33"}, nil},
		{"env", false, `{"https_proxy": "http://u:prox-pass@h:1/"}`, []string{"prox-pass"}, []string{"http://u"}},
		{"stdin", false, `"first line\nsecond line"`, []string{"first line", "second line"}, nil},
		{"source", false, `"https://anna:p%40ssword@h/x"`, []string{"p%40ssword", "p@ssword"}, []string{"anna"}},
		{"pkgs", false, `["git+https://t:tok-123456@h/x"]`, []string{"tok-123456"}, nil},
		{"dataset", false, `{"db": {"password": "hunter22", "host": "db.example"}}`, []string{"hunter22"}, []string{"db.example"}},
		{"auth", false, `{"provider": "ldap.example", "bind_pwd": "hunter22"}`, []string{"hunter22"}, []string{"ldap.example"}},
	} {
		v, err := value.ParseJSON(tt.json)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSet()
		s.AddArg(tt.arg, tt.declared, v)
		for _, secret := range tt.secret {
			if got := s.Text("<" + secret + ">"); got != "<"+Hidden+">" {
				t.Errorf("%s=%s: %q is shown as %q", tt.arg, tt.json, secret, got)
			}
		}
		for _, text := range tt.plain {
			if got := s.Text(text); got != text {
				t.Errorf("%s=%s: %q is hidden", tt.arg, tt.json, text)
			}
		}
	}
	(*Set)(nil).AddArg("password", true, "hunter22")
}

// TestForms: a secret is hidden in each form that other text has it in.
func TestForms(t *testing.T) {
	t.Parallel()
	secret := "a'b\"c<d>&e\\f %/\u00e9?=+"
	s := NewSet()
	s.Add(secret)
	asJSON, _ := json.Marshal(secret)
	for name, text := range map[string]string{
		"text": secret, "Go": strconv.Quote(secret), "JSON": string(asJSON), "our JSON": string(value.EncodeJSON(secret)), "Python": value.Repr(secret),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "user": url.UserPassword("u", secret).String(), "HTML": html.EscapeString(secret),
		"XML": `a&apos;b&quot;c&lt;d&gt;&amp;e\f %/é?=+`, "shell": `'a'\''b"c<d>&e\f %/é?=+'`,
	} {
		if got := s.Text(text); len(got) > len(Hidden)+4 {
			t.Errorf("%s: %s is shown as %s", name, text, got)
		}
	}
}

// TestTell: what is added is told once, before it is masked, so that an agent can tell
// its controller.
func TestTell(t *testing.T) {
	t.Parallel()
	s := NewSet()
	var told []string
	s.OnAdd(func(v string) { told = append(told, v) })
	s.Add("one-secret", "short", "one-secret")
	s.AddArg("env", false, value.MapOf("A", "two-secret"))
	s.AddArg("env", false, value.MapOf("A", "two-secret"))
	if len(told) != 2 || told[0] != "one-secret" || told[1] != "two-secret" {
		t.Errorf("told %q", told)
	}
}

// TestHostileTarget: what a target says to be a secret is hidden in its own records
// alone.
func TestHostileTarget(t *testing.T) {
	t.Parallel()
	s := NewSet()
	s.Of("web1").Add("everyday")
	ret := value.MapOf("web1", value.MapOf("comment", "an everyday thing"), "web2", value.MapOf("comment", "an everyday thing"))
	if got := value.Repr(s.Mask(ret)); got != "{'web1': {'comment': 'an "+Hidden+" thing'}, 'web2': {'comment': 'an everyday thing'}}" {
		t.Error(got)
	}
	keep := NewSet("!token")
	keep.Of("web1").Add("everyday")
	if got := value.Repr(keep.MaskOf("web1", value.MapOf("token", "public", "a", "everyday"))); got != "{'token': 'public', 'a': '"+Hidden+"'}" {
		t.Errorf("keys that are no secrets: %s", got)
	}
	event := func(id string) string {
		return value.Repr(s.Mask(value.MapOf("id", id, "return", value.NewList("everyday"))))
	}
	if got := event("web1"); got != "{'id': 'web1', 'return': ['"+Hidden+"']}" {
		t.Error(got)
	}
	if got := event("web2"); got != "{'id': 'web2', 'return': ['everyday']}" {
		t.Error(got)
	}
	if a, b := s.MaskOf("web1", "everyday"), s.MaskOf("web2", "everyday"); a != Hidden || b != "everyday" {
		t.Errorf("MaskOf: %v, %v", a, b)
	}
	if a, b := s.Text("everyday"), s.AnyText("everyday"); a != "everyday" || b != Hidden {
		t.Errorf("Text: %v, AnyText: %v", a, b)
	}
}
