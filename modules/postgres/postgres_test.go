package postgres

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
)

func TestPasswords(t *testing.T) {
	t.Parallel()
	if got := md5Password("frank", "secret"); got != "md5c0d0a2c5f48b91d8e16412ff4dc7b994" {
		t.Errorf("md5Password = %s", got)
	}
	// The vector of RFC 7677.
	salt, _ := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	got, err := scramPassword("pencil", salt, 4096)
	want := "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	if err != nil || got != want {
		t.Errorf("scramPassword = %s, %v", got, err)
	}
	for _, tt := range []struct {
		password, verifier, method string
		want                       bool
	}{
		{"pencil", want, SCRAM, true},
		{"pen", want, SCRAM, false},
		{want, want, SCRAM, true},
		{"pencil", "md5x", SCRAM, false},
		{"pencil", "SCRAM-SHA-256$99999999999:AA==$x:y", SCRAM, false},
		{"secret", md5Password("frank", "secret"), MD5, true},
		{"secret", "", MD5, false},
		{"plain", "plain", Plain, true},
	} {
		if got := Matches("frank", tt.password, tt.verifier, tt.method); got != tt.want {
			t.Errorf("Matches(%q, %q, %s) = %v", tt.password, tt.verifier, tt.method, got)
		}
	}
	for in, want := range map[string]string{"I\u00adX": "IX", "\u00aa": "a", "\u2168": "IX", "a\u00a0b": "a b", "a\u0007": "a\u0007", "u\u0308": "\u00fc"} {
		if got := prepared(in); got != want {
			t.Errorf("prepared(%q) = %q, want %q", in, got, want)
		}
	}
	if _, err := Method("sha1"); err == nil {
		t.Error("Method(sha1) is no error")
	}
}

func TestClauses(t *testing.T) {
	t.Parallel()
	yes, no, zero, pass := true, false, int64(0), "it's"
	for _, tt := range []struct {
		role Role
		have *value.Map
		want string
	}{
		{Role{Name: "r"}, nil, ""},
		{Role{Name: "r", Inherit: &yes, Login: &no, Superuser: &yes, ConnLimit: &zero, ValidUntil: "2030-01-01"}, nil, " WITH INHERIT SUPERUSER NOLOGIN CONNECTION LIMIT 0 VALID UNTIL '2030-01-01'"},
		{Role{Name: "r", Superuser: &yes}, value.MapOf("superuser", true), ""},
		{Role{Name: "r", Password: &pass, Method: Plain, Groups: []string{`a"b`}}, nil, ` WITH UNENCRYPTED PASSWORD 'it''s'; GRANT "a""b" TO "r"`},
		{Role{Name: "r", NoPassword: true}, nil, " WITH PASSWORD NULL"},
	} {
		if got, err := tt.role.clauses(tt.have); got != tt.want || err != nil {
			t.Errorf("clauses = %q, %v, want %q", got, err, tt.want)
		}
	}
}

func TestACL(t *testing.T) {
	t.Parallel()
	got := value.Repr(acl(`{=c/postgres,frank=r*w/postgres,"\"a=b\"\"\"=U/x",odd,z=?}`))
	want := `{'public': {'CONNECT': False}, 'frank': {'SELECT': True, 'UPDATE': False}, 'a=b"': {'USAGE': False}, 'odd': {}, 'z': {}}`
	if got != want {
		t.Errorf("acl = %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"a", "b c", `d"e`, ""}, array(`{a,"b c","d\"e",}`)); diff != "" {
		t.Error(diff)
	}
	for _, empty := range []string{"", "{}", "x"} {
		if got := array(empty); got != nil {
			t.Errorf("array(%q) = %q", empty, got)
		}
	}
}

func TestQuoting(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		Ident(`a"b`):          `"a""b"`,
		Literal("it's"):       "'it''s'",
		Literal(`a\b'`):       ` E'a\\b'''`,
		loose("Template0"):    "Template0",
		loose("my-lang"):      `"my-lang"`,
		dbname("d"):           "d",
		dbname("host=x y'"):   `dbname='host=x y\''`,
		dbname("postgres://"): "dbname='postgres://'",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestInvalidPrivileges(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"nothing", "SELECT", "Invalid object_type: nothing provided"},
		{"table", "CONNECT", "Invalid privilege(s): CONNECT provided for object table"},
		{"table", "", "Invalid privilege(s):  provided for object table"},
		{"group", "ALL", "The privileges option should not be set for object_type group"},
	} {
		if _, err := NewPrivilege("r", "o", tt[0], "public", tt[1], false); err == nil || err.Error() != tt[2] {
			t.Errorf("%s %s: %v, want %s", tt[0], tt[1], err, tt[2])
		}
	}
	p, err := NewPrivilege("r", "f(); DROP TABLE x", "function", "public", "execute", false)
	if err != nil {
		t.Fatal(err)
	}
	if on, err := p.on(); err == nil {
		t.Errorf("on = %s, want an error", on)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add(`{=c/postgres,"\"a\"=r*/b"}`)
	f.Add("a,b\n1,\"x\ny\"\n")
	f.Fuzz(func(_ *testing.T, s string) {
		acl(s)
		array(s)
		_, _ = rows(s)
		Matches("r", "p", s, SCRAM)
	})
}
