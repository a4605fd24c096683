package ldap_test

import (
	"maps"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/ldaptest"
	"brine/states/ldap"
)

const in = ",dc=example,dc=com"

func entries() map[string]ldaptest.Entry {
	return map[string]ldaptest.Entry{
		"cn=a" + in: {"cn": {"a"}, "description": {"one", "two"}, "userPassword": {"plugh-old"}, "sn": {"x"}},
		"cn=b" + in: {"cn": {"b"}},
	}
}

func TestManaged(t *testing.T) {
	t.Parallel()
	const would, did, already = "None: Would change LDAP entries ", "True: Successfully updated LDAP entries ", "True: LDAP entries already set {}"
	for _, tt := range []struct{ entries, changes, server string }{
		{
			"[{cn=newX: [{replace: {cn: new, n: 1, none: []}}, {default: {n: 2, m: [3, two]}}]}]",
			"{'cn=newX': {'old': None, 'new': {'cn': ['new'], 'n': ['1'], 'm': ['3', 'two']}}}", "add cn=newX",
		},
		{
			"[{cn=aX: [{add: {description: [zero, one]}}, {delete: {sn: []}}]}]",
			"{'cn=aX': {'old': {'description': ['one', 'two'], 'sn': ['x']}, 'new': {'description': ['one', 'two', 'zero']}}}", "modify cn=aX",
		},
		{
			"[{cn=aX: [{delete: {description: one}}, {replace: {userPassword: plugh-new}}]}]",
			"{'cn=aX': {'old': {'description': ['one', 'two'], 'userPassword': ['XXX-REDACTED-XXX']}, " +
				"'new': {'description': ['two'], 'userPassword': ['XXX-REDACTED-XXX']}}}", "modify cn=aX",
		},
		{
			"[{cn=aX: [{delete_others: true, replace: {CN: a}}, {default: {SN: []}}]}]",
			"{'cn=aX': {'old': {'description': ['one', 'two'], 'userPassword': ['XXX-REDACTED-XXX']}, 'new': {}}}", "modify cn=aX",
		},
		{"[{cn=bX: [{delete_others: true}]}]", "{'cn=bX': {'old': {'cn': ['b']}, 'new': None}}", "delete cn=bX"},
		{
			"[{cn=bX: [{add: {n: 1}}]}, {cn=aX: [{replace: {sn: y}}]}, {cn=bX: [{replace: {n: 2}}]}]",
			"{'cn=bX': {'old': {}, 'new': {'n': ['2']}}, 'cn=aX': {'old': {'sn': ['x']}, 'new': {'sn': ['y']}}}", "modify cn=bX; modify cn=aX",
		},
		{"[{cn=aX: [{replace: {Description: [two, one], SN: x}, delete: {sn: y}, default: {cn: c}, add: {cn: [a]}}]}, {cn=noneX: [{delete_others: true}]}]", "", ""},
	} {
		for _, s := range []*string{&tt.entries, &tt.changes, &tt.server} {
			*s = strings.ReplaceAll(*s, "X:", "X: ")
			*s = strings.NewReplacer("X:", in+"\":", "X'", in+"'", "{cn=", "{\"cn=", "X", in).Replace(strings.ReplaceAll(*s, "XXX-REDACTED-XXX", "***"))
			*s = strings.ReplaceAll(*s, "***", "XXX-REDACTED-XXX")
		}
		srv := ldaptest.New(t, nil, entries())
		args := "{name: '" + srv.URL + "', connect_spec: {bind: {dn: '" + ldaptest.Admin + "', password: " + ldaptest.Password + "}}, entries: " + tt.entries + "}"
		r := calltest.New(host.NewFake(), fun.Entry{Kind: fun.State, Name: "ldap", Load: ldap.States})
		wants := []string{would + tt.changes, did + tt.changes, already}
		if tt.changes == "" {
			wants = []string{already, already, already}
		}
		for i, want := range wants {
			got := r.State(t, "ldap.managed", args, i == 0)
			if got != want || strings.Contains(got, "plugh") {
				t.Errorf("%s, run %d: %s, want %s", tt.entries, i, got, want)
			}
			if i == 0 && srv.Changed() != "" {
				t.Errorf("%s: a dry run did %s", tt.entries, srv.Changed())
			}
		}
		if got := srv.Changed(); got != tt.server {
			t.Errorf("%s: the server did %s, want %s", tt.entries, got, tt.server)
		}
	}
}

func TestManagedFails(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"entries: [{'cn=b" + in + "': [{replace: {n: 1}}]}, {'cn=none" + in + "': [{add: {n: 1}}]}]": "False: failed to modify entry cn=b" + in +
			"(the server answered with 50 (Insufficient Access Rights): no\\x1b[31m), add entry cn=none" + in,
		"entries: [{'cn=b" + in + "': [{replaced: {n: 1}}]}]": "False: cn=b" + in + ": unknown directive: replaced; there are add, default, delete, delete_others and replace",
		"entries: [{'cn=b" + in + "': {replace: {n: 1}}}]":    "False: cn=b" + in + " must have a list of directives, not ",
		"entries: [{'cn=b" + in + "': [{replace: [n]}]}]":     "False: cn=b" + in + ": replace must be a mapping of attributes, not ",
		"entries: [{'cn=b" + in + "': [replace]}]":            "False: cn=b" + in + ": a directive must be a mapping, not ",
		"entries: [{'cn=b" + in + "': [{replace: {n: {}}}]}]": "False: cn=b" + in + ": the attribute n has a mapping as a value",
		"entries: [cn=b]": "False: an item of entries must be a mapping of a DN, not ",
		"entries: [], connect_spec: {bind: {method: ntlm}}":   "False: unsupported bind method 'ntlm'",
		"entries: [], connect_spec: {url: 'ldapi://%2fnone'}": "False: connect to ldapi://%2fnone: ",
	} {
		srv := ldaptest.New(t, nil, maps.Clone(entries()))
		r := calltest.New(host.NewFake(), fun.Entry{Kind: fun.State, Name: "ldap", Load: ldap.States})
		if got := r.State(t, "ldap.managed", "{name: '"+srv.URL+"', "+args+"}", false); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " {}") {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
