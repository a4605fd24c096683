package ldap3_test

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/ldaptest"
	"brine/modules/ldap3"
)

const in = ",dc=example,dc=com"

func entries() map[string]ldaptest.Entry {
	return map[string]ldaptest.Entry{
		"dc=example,dc=com": {"dc": {"example"}},
		"cn=a" + in:         {"cn": {"a"}, "tel": {"1", "2"}, "photo": {"\xff"}},
	}
}

func rig() *calltest.Rig {
	return calltest.New(host.NewFake(), fun.Entry{Kind: fun.Exec, Name: "ldap3", Load: ldap3.Module}, fun.Entry{Kind: fun.Exec, Name: "ldap", Load: ldap3.OldModule})
}

func TestEntries(t *testing.T) {
	t.Parallel()
	srv := ldaptest.New(t, nil, entries())
	r := rig()
	const bind = "bind: {dn: '" + ldaptest.Admin + "', password: " + ldaptest.Password + "}"
	for _, tt := range []struct{ name, args, want string }{
		{"search", "base: 'dc=example,dc=com', filterstr: cn=a", "{'cn=a,dc=example,dc=com': {'cn': ['a'], 'photo': [b'\\xff'], 'tel': ['1', '2']}}"},
		{"search", "base: 'dc=example,dc=com', scope: base, attrlist: [dc]", "{'dc=example,dc=com': {'dc': ['example']}}"},
		{"search", "base: 'dc=example,dc=com', scope: onelevel, attrlist: [tel], attrsonly: 1", "{'cn=a,dc=example,dc=com': {'tel': []}}"},
		{"search", "base: 'dc=none'", "{}"},
		{"search", "base: 'dc=example,dc=com', scope: all", "error: "},
		{"add", "dn: 'cn=b" + in + "', attributes: {cn: b, unicodePwd: [é], n: [1, 1, two]}", "True"},
		{"add", "dn: 'cn=b" + in + "', attributes: {cn: b}", `error: the server answered with 68 (Entry Already Exists): no\x1b[31m`},
		{"add", "dn: 'cn=c" + in + "', attributes: {cn: []}", "error: the attribute cn has no value"},
		{"add", "dn: 'cn=c" + in + "', attributes: {cn: [{}]}", "error: the attribute cn has a mapping as a value"},
		{"modify", "dn: 'cn=a" + in + "', directives: [[add, tel, ['3']], [delete, photo, []], [replace, cn, x]]", "True"},
		{"modify", "dn: 'cn=a" + in + "', directives: [[add, tel]]", "error: directive 1 is not a list of an operation, an attribute and its values"},
		{"modify", "dn: 'cn=a" + in + "', directives: [[add, tel, 4], [drop, tel, 1]]", `error: directive 2: unknown operation "drop"; there are add, delete and replace`},
		{"modify", "dn: 'cn=a" + in + "', directives: [[delete, tel, 9]]", `error: the server answered with 16 (No Such Attribute): no\x1b[31m`},
		{"change", "dn: 'cn=a" + in + "', before: {TEL: ['1'], same: [1, 2], cn: x}, after: {tel: [5, 6], same: ['2', '1']}", "True"},
		{"change", "dn: 'cn=none" + in + "', before: {a: 1}, after: {a: ['1']}", "True"},
		{"delete", "dn: 'cn=b" + in + "'", "True"},
		{"delete", "dn: 'cn=b" + in + "'", `error: the server answered with 32 (No Such Object): no\x1b[31m`},
	} {
		if tt.name == "delete" && srv.Entry("cn=b"+in) != nil {
			if e := srv.Entry("cn=b" + in); strings.Join(e["unicodePwd"], ",") != "\"\x00\xe9\x00\"\x00" || strings.Join(e["n"], ",") != "1,two" {
				t.Errorf("added %q", e)
			}
		}
		got := calltest.Call(t, r.Env, "ldap3."+tt.name, "{connect_spec: {url: '"+srv.URL+"', "+bind+"}, "+tt.args+"}")
		if got != tt.want && (tt.want != "error: " || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s %s: %s, want %s", tt.name, tt.args, got, tt.want)
		}
	}
	if e := srv.Entry("cn=a" + in); strings.Join(e["tel"], ",") != "5,6" || len(e) != 1 {
		t.Errorf("changed to %q", e)
	}
	if got, want := srv.Changed(), strings.ReplaceAll("add cn=bX; modify cn=aX; modify cn=aX; delete cn=bX", "X", in); got != want {
		t.Errorf("the server did %s, want %s", got, want)
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	srv := ldaptest.New(t, &tls.Config{Certificates: web.TLS.Certificates}, entries())
	r := rig()
	h := r.Env.Host.(*host.Fake)
	h.PutFile("/ca/ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})), 0o644)
	h.PutDir("/ca/d", 0o755)
	h.PutFile("/empty", "", 0o644)
	for spec, want := range map[string]string{
		"tls: {starttls: true, cacertfile: /ca/ca.pem}":                 "",
		"tls: {starttls: true, cacertdir: /ca, require_cert: demand}":   "",
		"tls: {starttls: true, require_cert: never, protocol_min: 771}": "",
		"tls: {starttls: true}":                                         "certificate signed by unknown authority",
		"tls: {starttls: true, cacertfile: /none}":                      "connect_spec:tls: ",
		"tls: {cacertfile: /empty}":                                     "cacertfile and cacertdir have no certificate",
		"tls: {certfile: /ca/ca.pem}":                                   "certfile and keyfile belong together",
		"tls: {certfile: /ca/ca.pem, keyfile: /empty}":                  "certfile and keyfile: ",
		"tls: {require_cert: allow}":                                    "require_cert 'allow' is not supported",
		"tls: {cipher_suite: x}":                                        `connect_spec:tls: "cipher_suite" is not supported`,
		"tls: {crlcheck: all}":                                          `connect_spec:tls: "crlcheck" is not supported`,
		"tls: {protocol_min: 3}":                                        "protocol_min must be 769",
		"tls: 1":                                                        "connect_spec:tls must be a mapping",
		"bind: {method: null, dn: x}":                                   "",
		"bind: {method: sasl}":                                          "(Invalid Credentials)",
		"bind: {method: sasl, mechanism: GSSAPI}":                       "the mechanism 'GSSAPI' is not supported; there is EXTERNAL",
		"bind: {method: sasl, credentials: {args: [plugh]}}":            "credentials and dn are not supported",
		"bind: {method: md5}":                                           "unsupported bind method 'md5'",
		"bind: {dn: 'cn=x', password: plugh}":                           "(Invalid Credentials)",
		"bind: {dn: 'cn=x'}":                                            "has no password",
		"bind: {user: x}":                                               `connect_spec:bind: "user" is not supported`,
		"opts: {referrals: 0, timeout: 3, network_timeout: 2.5}":        "",
		"opts: {referrals: 1}":                                          "referrals are not followed",
		"opts: {timeout: nan}":                                          "timeout must be seconds",
		"opts: {debug_level: 1}":                                        `connect_spec:opts: "debug_level" is not supported`,
		"backend: ldap3":                                                "unsupported backend 'ldap3'",
		"urls: x":                                                       `connect_spec: "urls" is not supported (did you mean "url"?)`,
	} {
		got := calltest.Call(t, r.Env, "ldap3.search", "{connect_spec: {url: '"+srv.URL+"', "+spec+"}, base: 'dc=example,dc=com', scope: base}")
		if want == "" && got != "{'dc=example,dc=com': {'dc': ['example']}}" || want != "" && !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) || strings.Contains(got, "plugh") {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

func TestOldSearch(t *testing.T) {
	t.Parallel()
	srv := ldaptest.New(t, nil, entries())
	r := rig()
	addr, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "ldap://"), ":")
	r.Env.Opts.Set("ldap.basedn", "dc=example,dc=com")
	r.Env.Opts.Set("ldap.attrs", value.NewList("cn"))
	at := "server: " + addr + ", port: " + port + ", "
	for args, want := range map[string]string{
		at + "filter: cn=a": "{'results': [['cn=a,dc=example,dc=com', {'cn': ['a']}]], 'count': 1, ",
		at + "filter: cn=a, attrs: '', dn: 'cn=a" + in + "', scope: 0":                                             "{'results': [['cn=a,dc=example,dc=com', {'cn': ['a'], 'photo': [b'\\xff'], 'tel': ['1', '2']}]], ",
		"uri: '" + srv.URL + "', filter: dc=*, attrs: [dc], scope: 2":                                              "{'results': [['dc=example,dc=com', {'dc': ['example']}]], ",
		at + "filter: cn=a, anonymous: false, binddn: '" + ldaptest.Admin + "', bindpw: " + ldaptest.Password + "": "{'results': [[",
		at + "filter: cn=a, anonymous: false, binddn: 'cn=x', bindpw: plugh":                                       "error: Failed to bind to LDAP server " + srv.URL + " as cn=x: ",

		at + "filter: cn=a, scope: 4":      "error: unknown scope 4",
		at + "filter: cn=a, tls: true":     "error: Failed to bind",
		at + "filter: cn=a, dn: 'dc=none'": "error: the server answered with 32 (No Such Object)",
	} {
		if got := calltest.Call(t, r.Env, "ldap.search", "{"+args+"}"); !strings.HasPrefix(got, want) || strings.Contains(got, "plugh") {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// TestSecretsHidden: no record has a password that is sent.
func TestSecretsHidden(t *testing.T) {
	t.Parallel()
	table := fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "ldap3", Load: ldap3.Module}, {Kind: fun.Exec, Name: "ldap", Load: ldap3.OldModule}})
	pw := value.NewList("plugh")
	for name, args := range map[string]*value.Map{
		"ldap3.search": value.MapOf("connect_spec", value.MapOf("url", "ldap://x", "bind", value.MapOf("dn", "cn=x", "password", "plugh"))),
		"ldap3.add":    value.MapOf("attributes", value.MapOf("userPassword", pw, "unicodePwd", pw, "olcRootPW", pw)),
		"ldap3.change": value.MapOf("before", value.MapOf("userPassword", pw), "after", value.MapOf("userPassword", pw)),
		"ldap3.modify": value.MapOf("directives", value.NewList(value.NewList("add", "userPassword", pw))),
		"ldap.search":  value.MapOf("bindpw", "plugh"),
	} {
		spec := table.Spec(fun.Exec, name)
		if got := value.Repr(redact.Args(spec.ArgNames(), nil, args, spec.SecretArgs()...)); strings.Contains(got, "plugh") {
			t.Errorf("%s is recorded as %s", name, got)
		}
	}
}
