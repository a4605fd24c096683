package redact

import (
	"encoding/base64"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// TestHostileRecords masks the secrets of a pillar in whatever a run returns.
func TestHostileRecords(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END PRIVATE KEY-----\n"
	s := NewSet("dsn", "site:*:pin", "!public_token")
	s.AddPillar(value.MapOf(
		"db", value.MapOf("password", "hunter2!", "name", "database", "port", int64(5432)),
		"mail", value.MapOf("smtp-passwd", "geheim99", "secrets", value.MapOf("a", value.NewList("listed-secret"))),
		"tls", value.MapOf("private_key", key, "cert", "public cert"), "dsn", "mysql://u:pw@h/x", "site", value.MapOf("one", value.MapOf("pin", "123456")),
		"public_token", "not-a-secret", "short", value.MapOf("password", "abc"),
	))
	s.Add("decrypted value")
	diff := "--- \n+++ \n@@ -1,4 +1,4 @@\n [db]\n-password = oldpass1\n-# old comment\n+password = hunter2!\n host = a\n@@ -9 +9 @@\n-x = 1\n+x = 2\n"
	in := value.MapOf("file_|-x_|-x_|-managed_password", value.MapOf(
		"changes", value.MapOf("diff", diff), "comment", "set to hunter2! and geheim99", "name", "database",
		"list", value.NewList("listed-secret", value.Tuple{"mysql://u:pw@h/x"}), "key", key, "one", "  9w0BAQEFAASCBKcwggSj", "b64", "aHVudGVyMiE=",
		"passwd", "$6$hash", "pin", "123456", "clear", "decrypted value", "public_token", "not-a-secret", "word", "abc", "enforce_password", true,
		"hunter2!", "as a key",
	))
	before := value.Repr(in)
	got := value.Repr(s.Mask(in))
	for _, secret := range []string{"hunter2", "geheim99", "listed-secret", "u:pw", "MIIE", "9w0B", "aHVudGVy", "$6$", "123456", "decrypted value", "oldpass1", "old comment"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in %s", secret, got)
		}
	}
	for _, plain := range []string{"database", "host = a", "-x = 1", "+x = 2", "not-a-secret", "'word': 'abc'", "'enforce_password': True", "[db]"} {
		if !strings.Contains(got, plain) {
			t.Errorf("%q is not in %s", plain, got)
		}
	}
	if value.Repr(in) != before {
		t.Error("the return itself was changed")
	}
	var none *Set
	none.AddPillar(in)
	if value.Repr(none.Mask(in)) != before || value.Repr(NewSet().Mask(value.MapOf("a", "b"))) != "{'a': 'b'}" {
		t.Error("a Set without secrets hides some")
	}
}

func TestSecretsInBase64(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-alpha-one"
	s := NewSet()
	s.Add(secret)
	for _, around := range [][2]string{{"", ""}, {"", "\n"}, {"a", "b"}, {"user:", ""}, {"ab", "\n"}, {"[x]\npassword = ", "\nport = 1\n"}} {
		for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "raw": base64.RawStdEncoding} {
			text := e.EncodeToString([]byte(around[0] + secret + around[1]))
			got := s.Text(text)
			if !strings.Contains(got, Hidden) {
				t.Errorf("%q in %s: %q became %q", around, name, text, got)
			}
			// What is left of it is no longer than the ends of its groups.
			for part := range strings.SplitSeq(got, Hidden) {
				for skip := range 4 {
					b, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(part[min(skip, len(part)):], "="))
					if strings.Contains(string(b), "cr3t") || strings.Contains(string(b), "alpha") {
						t.Errorf("%q in %s: %q is left of %q", around, name, b, text)
					}
				}
			}
		}
	}
}

// TestLongTextIsNotCopied masks output without a secret, which stays as it is, and
// output with some at its beginning, midst and end.
func TestLongTextIsNotCopied(t *testing.T) {
	s := NewSet()
	s.Add("hunter2hunter2", "swordfish", "XXX-RE-1")
	long := strings.Repeat("a line of output\n", 10_000)
	var out string
	if n := testing.AllocsPerRun(5, func() { out = s.Text(long) }); n > 4 || out != long {
		t.Errorf("a text without a secret took %.0f allocations", n)
	}
	for _, tt := range []struct{ text, want string }{
		{"swordfish" + long, Hidden + long},
		{long + "hunter2hunter2" + long, long + Hidden + long},
		{long + "swordfish", long + Hidden},
		{"swordfish", Hidden},
		{"", ""},
		{Hidden + long, Hidden + long},
		{"XXX-RE-1 " + Hidden, Hidden + " " + Hidden},
	} {
		if got := s.Text(tt.text); got != tt.want {
			t.Errorf("Text(%.40q) = %.40q of %d bytes, want %.40q of %d", tt.text, got, len(got), tt.want, len(tt.want))
		}
	}
}
