package pillar_test

import (
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/ldaptest"
)

func hosts() map[string]ldaptest.Entry {
	const in = ",ou=hosts,dc=example,dc=com"
	return map[string]ldaptest.Entry{
		"dc=example,dc=com": {"dc": {"example"}},
		"cn=minion1" + in:   {"cn": {"minion1"}, "role": {"web"}, "kv": {"ntp=a", "x", "eq=b=c"}, "many": {"v=1", "v=2"}},
		"cn=minion2" + in:   {"cn": {"minion2"}, "role": {"web", "db"}, "secret": {"of minion2"}},
	}
}

func TestExtLDAP(t *testing.T) {
	t.Parallel()
	srv := ldaptest.New(t, nil, hosts())
	server, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "ldap://"), ":")
	at := "server: " + server + ", port: " + port + ", dn: 'dc=example,dc=com', "
	for _, tt := range []struct{ file, pillar, wrong string }{
		{
			"s: {" + at + "filter: '(cn={{ id }})', mode: map, attrs: [cn, dn], lists: [role]}",
			"{'s': [{'dn': 'cn=minion1,ou=hosts,dc=example,dc=com', 'cn': 'minion1', 'role': ['web']}]}", "",
		},
		{
			"s: {" + at + "filter: 'role={{ role }}', mode: dict, attrs: [role]}",
			"{'s': {'cn=minion1,ou=hosts,dc=example,dc=com': [{'role': 'web'}], 'cn=minion2,ou=hosts,dc=example,dc=com': [{'role': 'db'}]}}", "",
		},
		{"s: {" + at + "filter: (role=*), mode: dict, dict_key_attr: role, attrs: [cn]}", "{'s': {'web': [{'cn': 'minion1'}], 'db,web': [{'cn': 'minion2'}]}}", ""},
		{"s: {" + at + "filter: '(cn={{ id }})', attrs: [kv], lists: [many]}", "{'ntp': 'a', 'eq': 'b=c', 'v': ['1', '2']}", ""},
		{"s: {" + at + "filter: (cn=none), mode: map}", "{}", ""},
		{"s: {" + at + "filter: (cn=minion1), mode: map, scope: 1}", "{}", ""},
		{"s: {" + at + "filter: (cn=minion1), mode: map, attrs: [cn], binddn: '" + ldaptest.Admin + "', bindpw: " + ldaptest.Password + "}", "{'s': [{'cn': 'minion1'}]}", ""},
		{"s: {" + at + "filter: (cn=*), binddn: 'cn=x', bindpw: plugh}", "", "s: connect to " + srv.URL + ": the server answered with 49 (Invalid Credentials)"},
		{"s: {" + at + "filter: (cn=*), binddn: 'cn=x'}", "", "the bind as cn=x has no password"},
		{"s: {" + at + "filter: (cn=*), binddn: 'cn=x', anonymous: true, mode: map, lists: [many]}", "{'s': [{'many': ['v=1', 'v=2']}, {}]}", ""},
		{"s: {" + at + "filter: (cn=*), tls: true}", "", "the server answered with 53 (Unwilling To Perform)"},
		{"s: {" + at + "attrs: [cn]}", "", "s: missing filter"},
		{"s: {" + at + "filter: (cn=*), mode: maps}", "", "s: unknown mode 'maps'; there are dict, map and split"},
		{"s: {" + at + "filter: (cn=*), scope: 3}", "", "s: unknown scope 3"},
		{"s: {" + at + "filter: (cn=*), atrs: [cn]}", "", `s: unknown key "atrs"`},
		{"s: {" + at + "filter: (cn=*), attrs: cn}", "", "s: attrs must be a list, not"},
		{"s: {" + at + "filter: (cn=*), referrals: true}", "", "s: referrals are not followed"},
		{"s: {" + at + "filter: '(cn=*'}", "", `the filter "(cn=*"`},
		{"t: {}", "", "search_order names 's', which the file does not have as a mapping"},
		{"[", "", "/c/l.yaml"},
	} {
		r := fake(t, nil, "ext_pillar:\n- pillar_ldap: /c/l.yaml")
		r.env.Host.(*host.Fake).PutFile("/c/l.yaml", "search_order: [s]\n"+tt.file+"\n", 0o600)
		pillar, wrong := rendered(t, r)
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(pillar+wrong, tt.wrong) || tt.wrong == "" && wrong != "" || strings.Contains(wrong, "plugh") {
			t.Errorf("%s: %s, %s; want %s, %s", tt.file, pillar, wrong, tt.pillar, tt.wrong)
		}
	}
	for conf, want := range map[string]string{
		"{pillar_ldap: /c/none.yaml}": "none.yaml", "{pillar_ldap: l.yaml}": "it needs the absolute path", "{pillar_ldap: /c/minion}": "it has no list search_order",
	} {
		if _, wrong := rendered(t, fake(t, nil, "ext_pillar:\n- "+conf)); !strings.Contains(wrong, want) {
			t.Errorf("%s: %s", conf, wrong)
		}
	}
}

// TestHostileLDAPFilter: neither the id of a machine nor a grain can change a filter, or
// the YAML in which it is.
func TestHostileLDAPFilter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"*", "x)(cn=*", "x)(|(cn=*)", "minion2", "x'\n  filter: (cn=*)\n  lists: '", `\2a`, "x\"", "x\x00*"} {
		srv := ldaptest.New(t, nil, hosts())
		server, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "ldap://"), ":")
		r := fake(t, nil, "ext_pillar:\n- pillar_ldap: /c/l.yaml")
		conf := "search_order: [s]\ns:\n  server: " + server + "\n  port: " + port + "\n  dn: 'dc=example,dc=com'\n  mode: map\n  attrs: [secret]\n"
		r.env.Host.(*host.Fake).PutFile("/c/l.yaml", conf+"  filter: '(&(cn=minion1)(|(cn={{ id }})(role={{ role }})(kv={{ more.a[0] }})))'\n", 0o600)
		r.env.ID = text
		r.env.Grains.(*value.Map).Update(value.MapOf("id", text, "role", text, "more", value.MapOf("a", value.NewList(text))))
		pillar, wrong := rendered(t, r)
		if pillar != "{}" || wrong != "" {
			t.Errorf("%q: %s, %s", text, pillar, wrong)
		}
		if want := "cn=minion1; cn=" + text + "; role=" + text + "; kv=" + text; srv.Filters() != want {
			t.Errorf("%q: the server compared with %q", text, srv.Filters())
		}
	}
}
