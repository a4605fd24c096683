package mysql

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
)

func TestTokenize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want Tokens
	}{
		{"GRANT SELECT, INSERT ON d1.* TO u1@localhost", Tokens{"u1", "localhost", "d1.*", []string{"SELECT", "INSERT"}}},
		{"GRANT SELECT (id, name), LOCK TABLES ON `te s.t'`.`tbl ``x` TO 'foo '@'%' WITH GRANT OPTION", Tokens{"foo ", "%", "`te s.t'`.`tbl ``x`", []string{"SELECT", "SELECT.id", "SELECT.name", "LOCK TABLES"}}},
		{"GRANT ALL PRIVILEGES ON *.* TO `a-b`@`h`", Tokens{"`a-b`", "`h`", "*.*", []string{"ALL PRIVILEGES"}}},
	} {
		got, err := Tokenize(tt.in)
		if err != nil {
			t.Errorf("Tokenize(%q): %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Tokenize(%q): %s", tt.in, diff)
		}
	}
	for _, bad := range []string{"", "GRANT", "GRANT x ON `y", "GRANT x ON y TO z", "GRANT x ON y TO z@"} {
		if got, err := Tokenize(bad); err == nil {
			t.Errorf("Tokenize(%q) = %v, want an error", bad, got)
		}
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" all ":                        "ALL PRIVILEGES",
		"select,insert":                "SELECT, INSERT",
		"select (a, b) , lock  tables": "SELECT (A, B), LOCK TABLES",
		"nonsense":                     "",
		"select (a":                    "",
		"select (a') or (b)":           "",
		"select; drop":                 "",
		"":                             "",
		")":                            "",
	} {
		got, err := normalize(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("normalize(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if !slices.IsSorted(privileges[:]) {
		t.Error("the privileges are not sorted")
	}
}

func TestStatements(t *testing.T) {
	t.Parallel()
	in := "-- a; comment\nSELECT 'a;b' -- c\n, \"x\\\"; \";# d\n/* e; */ INSERT INTO `t;` VALUES (1);\nDELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//\nDELIMITER ;\nSELECT 2--1"
	want := []string{"SELECT 'a;b'  \n, \"x\\\"; \"", "INSERT INTO `t;` VALUES (1)", "CREATE PROCEDURE p() BEGIN SELECT 1; END", "SELECT 2--1"}
	if diff := cmp.Diff(want, Statements(in)); diff != "" {
		t.Error(diff)
	}
}

func TestOptionFile(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/my.cnf", "[mysqld]\nuser=mysql\n[client]\n# comment\nuser = root # me\npassword = \"a#b\\\"\"\nssl_ca=/ca.pem\n!includedir conf.d\n!include /nowhere\n", 0o600)
	h.PutFile("/etc/conf.d/a.cnf", "[client]\nhost=db1\n!include /etc/my.cnf\n", 0o600)
	h.PutFile("/etc/conf.d/b.txt", "[client]\nhost=db2\n", 0o600)
	got, err := readCnf(h, "/etc/my.cnf", "client")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"user": "root", "password": `a#b"`, "ssl-ca": "/ca.pem", "host": "db1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestChpass(t *testing.T) {
	t.Parallel()
	pass := User{Name: "u", Host: "h", Password: "p", HasPassword: true, Plugin: "caching_sha2_password"}
	hash := User{Name: "u", Host: "h", Hash: "*A", HasHash: true, Plugin: nativePlugin}
	none := User{Name: "u", Host: "h", Passwordless: true, Plugin: nativePlugin}
	sock := User{Name: "u", Host: "h", Passwordless: true, Socket: true}
	for _, tt := range []struct {
		version string
		user    User
		want    string
	}{
		{"8.0.36", pass, "ALTER USER ?@? IDENTIFIED WITH ? BY ? [u h caching_sha2_password p]"},
		{"8.0.36", hash, "ALTER USER ?@? IDENTIFIED WITH ? AS ? [u h mysql_native_password *A]"},
		{"8.0.36", none, "ALTER USER ?@? IDENTIFIED WITH ? [u h mysql_native_password]"},
		{"8.0.36", sock, "ALTER USER ?@? IDENTIFIED WITH ? AS ? [u h auth_socket u]"},
		{"5.7.44", pass, "UPDATE mysql.user SET `c` = PASSWORD(?) WHERE User = ? AND Host = ? [p u h]"},
		{"5.7.44", sock, "UPDATE mysql.user SET `c` = '', plugin = ? WHERE User = ? AND Host = ? [auth_socket u h]"},
		{"10.11.6-MariaDB", pass, "ALTER USER ?@? IDENTIFIED VIA ? USING PASSWORD(?) [u h caching_sha2_password p]"},
		{"10.11.6-MariaDB", hash, "ALTER USER ?@? IDENTIFIED VIA ? USING ? [u h mysql_native_password *A]"},
		{"10.11.6-MariaDB", none, "ALTER USER ?@? IDENTIFIED VIA ? USING '' [u h mysql_native_password]"},
		{"10.11.6-MariaDB", sock, "ALTER USER ?@? IDENTIFIED VIA ? [u h unix_socket]"},
		{"10.3.39-MariaDB", hash, "UPDATE mysql.user SET `c` = ? WHERE User = ? AND Host = ? [*A u h]"},
	} {
		c := &Conn{Version: tt.version, MariaDB: strings.Contains(tt.version, "MariaDB")}
		text, args := c.chpassSQL(tt.user, "`c`")
		if got := text + " [" + strings.Join(args, " ") + "]"; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.version, got, tt.want)
		}
		if n := strings.Count(text, "?"); n != len(args) {
			t.Errorf("%s: %d arguments for %s", tt.version, len(args), text)
		}
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	if got := (&Conn{}).Literal("a'b\\c\n"); got != `'a''b\\c\n'` {
		t.Errorf("Literal = %s", got)
	}
	if got := (&Conn{plain: true}).Literal(`a'b\c`); got != `'a''b\c'` {
		t.Errorf("Literal = %s", got)
	}
	if got := nativeHash("secret"); got != "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7" {
		t.Errorf("nativeHash = %s", got)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add("GRANT SELECT (a), x ON `b`.* TO 'c'@'d'")
	f.Add("ON!")
	f.Add("-- x\nSELECT ';' /* y */;\nDELIMITER //")
	f.Add("[client]\nuser=\"x\n!includedir .\n")
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = Tokenize(s)
		_, _ = normalize(s)
		for _, one := range Statements(s) {
			if one == "" {
				t.Error("an empty statement")
			}
		}
		h := host.NewFake()
		h.PutFile("/etc/my.cnf", s, 0o600)
		_, _ = readCnf(h, "/etc/my.cnf", "client")
	})
}
