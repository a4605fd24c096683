package host_test

import (
	"testing"

	"brine/internal/core/fun"
	machine "brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/states/host"
)

func TestHost(t *testing.T) {
	t.Parallel()
	h := machine.NewFake()
	h.PutFile("/etc/hosts", "127.0.0.1\tlocalhost\n10.0.0.1 one\n", 0o644)
	calltest.New(h, fun.Entry{Kind: fun.State, Name: "host", Load: host.States}).Steps(t, []calltest.Step{
		{"test host.present {name: two, ip: [10.0.0.2, 10.0.0.1], comment: c}", "None: Host two (10.0.0.2) would be added\nHost two (10.0.0.1) would be added\nComment for 10.0.0.2 (c) would be added\nComment for 10.0.0.1 (c) would be added {'added': {'10.0.0.2': ['two'], '10.0.0.1': ['two']}, 'comment_added': {'10.0.0.2': ['c'], '10.0.0.1': ['c']}}"},
		{"state host.present {name: two, ip: 10.0.0.2, comment: c}", "True: Added host two (10.0.0.2)\nSet comment for host 10.0.0.2 (c) {'added': {'10.0.0.2': ['two']}, 'comment_added': {'10.0.0.2': ['c']}}"},
		{"state host.present {name: two, ip: 10.0.0.2, comment: c}", "True: Host two (10.0.0.2) already present {}"},
		{"test host.present {name: two, ip: 10.0.0.2, comment: d}", "None: Comment for 10.0.0.2 (d) would be added {'comment_added': {'10.0.0.2': ['d']}}"},
		{"test host.present {name: two, ip: 10.0.0.3, clean: True}", "None: Host two (10.0.0.3) would be added\nHost two (10.0.0.2) would be removed {'added': {'10.0.0.3': ['two']}, 'removed': {'10.0.0.2': ['two']}}"},
		{"state host.present {name: two, ip: 10.0.0.3, clean: True}", "True: Added host two (10.0.0.3)\nRemoved host two (10.0.0.2) {'added': {'10.0.0.3': ['two']}, 'removed': {'10.0.0.2': ['two']}}"},
		{"state host.present {name: bad, ip: [nonsense, 10.0.0.7]}", "False: Invalid IP Address for bad (nonsense)\nAdded host bad (10.0.0.7) {'added': {'10.0.0.7': ['bad']}}"},
		{"test host.present {name: 'a b', ip: 10.0.0.7}", "False: Invalid host name 'a b' {}"},
		{"test host.only {name: 10.0.0.1, hostnames: [x, y]}", `None: Would change 10.0.0.1 from "one" to "x y" {}`},
		{"state host.only {name: 10.0.0.1, hostnames: [x, y]}", `True: successfully changed 10.0.0.1 from "one" to "x y" {'10.0.0.1': {'old': 'one', 'new': 'x y'}}`},
		{"state host.only {name: 10.0.0.1, hostnames: [x, y]}", `True: IP address 10.0.0.1 already set to "x y" {}`},
		{"state host.only {name: 10.0.0.1, hostnames: []}", `True: successfully changed 10.0.0.1 from "x y" to "" {'10.0.0.1': {'old': 'x y', 'new': ''}}`},
		{"state host.only {name: ten, hostnames: a}", "False: Invalid IP Address ten {}"},
		{"test host.absent {name: two, ip: [10.0.0.3, 10.0.0.9]}", "None: Host two (10.0.0.3) needs to be removed\nHost two (10.0.0.9) already absent {}"},
		{"state host.absent {name: two, ip: 10.0.0.3}", "True: Removed host two (10.0.0.3) {'host': 'two'}"},
		{"state host.absent {name: two, ip: 10.0.0.3}", "True: Host two (10.0.0.3) already absent {}"},
	})
	if got, want := h.Text("/etc/hosts"), "127.0.0.1\t\tlocalhost\n10.0.0.7\t\tbad\n"; got != want {
		t.Errorf("hosts: %q, want %q", got, want)
	}
}
