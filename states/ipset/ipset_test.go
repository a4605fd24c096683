package ipset_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/ipset"
	"brine/states/ipset"
)

const hosts = `Name: hosts
Type: hash:ip
Revision: 5
Header: family inet hashsize 1024 maxelem 65536 timeout 0 comment bucketsize 12 initval 0x1
Size in memory: 200
References: 0
Number of entries: 5
Members:
192.0.2.1 timeout 0 comment "front door"
192.0.2.4 timeout 17
192.0.2.5 timeout 0
192.0.2.6 timeout 0
192.0.2.7 timeout 0
`

const ports = `Name: ports
Type: hash:net,port
Header: family inet hashsize 1024 maxelem 65536
Members:
198.51.100.0/24,tcp:80
2001:db8::/32,udp:53
`

const marks = `Name: marks
Type: hash:ip
Header: family inet hashsize 1024 maxelem 65536 skbinfo
Members:
`

const empty = `Name: empty
Type: bitmap:port
Header: range 0-1024
Members:
`

// rig returns a machine with these sets; what it is asked to change is in the list.
func rig() (*calltest.Rig, *[]string) {
	h := host.NewFake()
	h.PutExe("/usr/sbin/ipset")
	ran := &[]string{}
	sets := map[string]string{"hosts": hosts, "ports": ports, "empty": empty, "marks": marks}
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv[1:], " ")
		last := c.Argv[len(c.Argv)-1]
		switch {
		case line == "--version":
			return host.Output{Stdout: []byte("ipset v7.17, protocol version: 7\n")}, nil
		case line == "list -t":
			return host.Output{Stdout: []byte("Name: a\nType: list:set\n\nName: b\nType: hash:ip\n")}, nil
		case line == "list denied":
			return host.Output{Status: 1, Stdout: []byte("ipset v7.17: Kernel error received: Operation not permitted")}, nil
		case c.Argv[1] == "list" && sets[last] == "":
			return host.Output{Status: 1, Stdout: []byte("ipset v7.17: The set with the given name does not exist")}, nil
		case c.Argv[1] == "list":
			return host.Output{Stdout: []byte(sets[last])}, nil
		case c.Argv[1] == "test":
			return host.Output{Status: map[bool]int{true: 0, false: 1}[last == "192.0.2.1"]}, nil
		}
		*ran = append(*ran, line)
		if line == "destroy ports" {
			return host.Output{Status: 1, Stdout: []byte("ipset v7.17: Set cannot be destroyed: it is in use by a kernel component")}, nil
		}
		return host.Output{}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "ipset", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "ipset", Load: ipset.States}), ran
}

func TestStates(t *testing.T) {
	t.Parallel()
	r, ran := rig()
	r.Steps(t, []calltest.Step{
		{"state ipset.set_present {name: hosts, set_type: 'hash:ip'}", "True: ipset set hosts already exists for ipv4 {}"},
		{"test ipset.set_present {name: new, set_type: 'hash:ip'}", "None: ipset set new would be added for ipv4 {}"},
		{"state ipset.set_present {name: new, set_type: 'hash:ip', family: ipv6, timeout: 300, maxelem: 9, comment: true, counters: true}", "True: ipset set new created successfully for ipv6 {'locale': 'new'}"},
		{"state ipset.set_present {name: new, set_type: 'hash:ip', netmask: 24, counters: false, comment: }", "True: ipset set new created successfully for ipv4 {'locale': 'new'}"},
		{"state ipset.set_present {name: new, set_type: 'hash:ip', netmask: 255.255.255.0, hashsize: '1024', counters: 'yes'}", "True: ipset set new created successfully for ipv4 {'locale': 'new'}"},
		{"state ipset.set_present {name: new, set_type: 'hash:ip', netmask: '-exist'}", "False: Failed to create set new for ipv4: invalid name or entry '-exist' {}"},
		{"state ipset.set_present {name: new, set_type: 'hash:ip', comment: words}", "True: ipset set new created successfully for ipv4 {'locale': 'new'}"},
		{"state ipset.set_present {name: new, set_type: odd}", "False: Failed to create set new for ipv4: Error: Set Type is invalid {}"},
		{"state ipset.set_present {name: new, set_type: 'bitmap:port'}", "False: Failed to create set new for ipv4: Error: range is a required argument {}"},
		{"state ipset.set_present {name: denied, set_type: 'hash:ip'}", "False: ipset v7.17: Kernel error received: Operation not permitted {}"},
		{"state ipset.set_absent {name: gone}", "True: ipset set gone for ipv4 is already absent {}"},
		{"test ipset.set_absent {name: hosts}", "None: ipset set hosts for ipv4 would be removed {}"},
		{"state ipset.set_absent {name: hosts}", "True: ipset set hosts deleted successfully for family ipv4 {'locale': 'hosts'}"},
		{"state ipset.set_absent {name: ports}", "False: Failed to delete set ports for ipv4: ipset v7.17: Set cannot be destroyed: it is in use by a kernel component {}"},
		{"state ipset.flush {name: gone}", "False: ipset set gone does not exist for ipv4 {}"},
		{"state ipset.flush {name: empty}", "True: ipset set empty for ipv4 has no entries {}"},
		{"test ipset.flush {name: hosts}", "None: ipset entries in set hosts for ipv4 would be flushed {}"},
		{"state ipset.flush {name: hosts}", "True: Flushed ipset entries from set hosts for ipv4 {'locale': 'hosts'}"},
		{"state ipset.present {name: x, set_name: hosts}", "False: ipset entry must be specified {}"},
		{"state ipset.present {name: x, entry: 192.0.2.1}", "False: set_name must be specified {}"},
		{"state ipset.present {name: x, set_name: gone, entry: 192.0.2.1}", "False: Failed to add to entry 192.0.2.1 to set gone for family ipv4.\nError: Set gone does not exist {}"},
		{"state ipset.present {name: x, set_name: hosts, entry: 192.0.2.9, comment: Hello}", "True: entry 192.0.2.9 comment Hello added to set hosts for family ipv4\n {'locale': 'x'}"},
		{"test ipset.present {name: x, set_name: gone, entry: 192.0.2.1}", "None: entry 192.0.2.1 would be added to set gone for family ipv4\n {}"},
		{"state ipset.present {name: x, set_name: hosts, entry: [192.0.2.1, 192.0.2.4-192.0.2.7], timeout: 20}", "True: entry for 192.0.2.1 already in set hosts for ipv4\nentry for 192.0.2.4-192.0.2.7 already in set hosts for ipv4\n {}"},
		{"state ipset.present {name: x, set_name: hosts, entry: 192.0.2.1, comment: front door}", "True: entry for 192.0.2.1 already in set hosts for ipv4\n {}"},
		{"test ipset.present {name: x, set_name: hosts, entry: 192.0.2.1, comment: back door}", "None: entry 192.0.2.1 would be added to set hosts for family ipv4\n {}"},
		{"state ipset.present {name: x, set_name: hosts, entry: 192.0.2.8, comment: back door, timeout: 5}", "True: entry 192.0.2.8 timeout 5 comment \"back door\" added to set hosts for family ipv4\n {'locale': 'x'}"},
		{"state ipset.present {name: x, set_name: hosts, entry: 192.0.2.9, packets: 5}", "False: Failed to add to entry 192.0.2.9 to set hosts for family ipv4.\nError: Set hosts not created with counters support {}"},
		{"state ipset.present {name: x, set_name: ports, entry: '198.51.100.9,80'}", "True: entry for 198.51.100.9,80 already in set ports for ipv4\n {}"},
		{"state ipset.present {name: x, set_name: hosts, entry: -exist}", "False: Failed to add to entry -exist to set hosts for family ipv4.\ninvalid name or entry '-exist' {}"},
		{"state ipset.present {name: x, set_name: marks, entry: 192.0.2.8, skbprio: '-f'}", "False: Failed to add to entry 192.0.2.8 to set marks for family ipv4.\ninvalid name or entry '-f' {}"},
		{"state ipset.absent {name: x, set_name: hosts, entry: 192.0.2.8}", "True: ipset entry for 192.0.2.8 not present in set hosts for ipv4\n {}"},
		{"test ipset.absent {name: x, set_name: hosts, entry: 192.0.2.1}", "None: ipset entry 192.0.2.1 would be removed from set hosts for ipv4\n {}"},
		{"state ipset.absent {name: x, set_name: hosts, entries: [192.0.2.1]}", "True: ipset entry 192.0.2.1 removed from set hosts for ipv4\n {'locale': 'x'}"},
	})
	want := []string{
		"create new hash:ip family inet6 maxelem 9 timeout 300 counters comment",
		"create new hash:ip family inet netmask 24", "create new hash:ip family inet hashsize 1024 netmask 255.255.255.0 counters",
		"create new hash:ip family inet comment", "destroy hosts", "destroy ports", "flush hosts",
		"add -exist hosts 192.0.2.9 comment Hello", "add -exist hosts 192.0.2.8 timeout 5 comment back door", "del hosts 192.0.2.1",
	}
	if !slices.Equal(*ran, want) {
		t.Errorf("ran %q\nwant %q", *ran, want)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, ran := rig()
	r.Steps(t, []calltest.Step{
		{"call ipset.version {}", "'v7.17,'"},
		{"call ipset.list_sets {}", "[{'Name': 'a', 'Type': 'list:set'}, {'Name': 'b', 'Type': 'hash:ip'}]"},
		{"call ipset.check_set {name: hosts}", "True"},
		{"call ipset.check_set {name: gone}", "False"},
		{"call ipset.check_set {}", "'Error: Set needs to be specified'"},
		{"call ipset.check {name: hosts, entry: 192.0.2.4/30}", "True"},
		{"call ipset.check {name: hosts, entry: 192.0.2.0/29}", "False"},
		{"call ipset.check {name: hosts, entry: 192.0.2.5-192.0.2.7}", "True"},
		{"call ipset.check {name: hosts, entry: 192.0.2.7-192.0.2.9}", "False"},
		{"call ipset.check {name: hosts, entry: [192.0.2.9, 192.0.2.1]}", "True"},
		{"call ipset.check {name: ports, entry: '198.51.100.0/24,tcp:80'}", "True"},
		{"call ipset.check {name: ports, entry: '198.51.100.0/25,tcp:80'}", "True"},
		{"call ipset.check {name: ports, entry: '198.51.100.0/23,tcp:80'}", "False"},
		{"call ipset.check {name: ports, entry: '2001:DB8::1,udp:53'}", "True"},
		{"call ipset.check {name: ports, entry: '198.51.100.1,udp:80'}", "False"},
		{"call ipset.check {name: ports, entry: '198.51.100.1'}", "False"},
		{"call ipset.check {name: gone, entry: '1'}", "'Error: Set gone does not exist'"},
		{"call ipset.check {name: hosts}", "'Error: Entry needs to be specified'"},
		{"call ipset.add {name: hosts, entry: 192.0.2.1}", "'Warn: Entry 192.0.2.1 already exists in set hosts'"},
		{"call ipset.add {name: hosts, entry: 192.0.2.9, skbmark: '1'}", "'Error: Set hosts not created with skbinfo support'"},
		{"call ipset.add {name: hosts, entry: 192.0.2.9 timeout 3}", "'Success'"},
		{"call ipset.delete {name: hosts, entry: 192.0.2.1 timeout 3}", "'Success'"},
		{"call ipset.test {name: hosts, entry: 192.0.2.1}", "True"},
		{"call ipset.test {name: hosts, entry: 192.0.2.9}", "False"},
		{"call ipset.flush {}", "True"},
		{"call ipset.new_set {name: a, set_type: 'list:set', size: 4}", "True"},
		{"call ipset.new_set {set_type: x}", "'Error: Set Name needs to be specified'"},
		{"call ipset.rename_set {name: hosts, new_set: ports}", "'Error: New Set already exists'"},
		{"call ipset.rename_set {name: hosts, new_set: other}", "True"},
		{"call ipset.delete_set {name: ports}", "'ipset v7.17: Set cannot be destroyed: it is in use by a kernel component'"},
	})
	want := []string{"add -exist hosts 192.0.2.9 timeout 3", "del hosts 192.0.2.1", "flush", "create a list:set size 4", "rename hosts other", "destroy ports"}
	if !slices.Equal(*ran, want) {
		t.Errorf("ran %q\nwant %q", *ran, want)
	}
}

// FuzzHas looks up entries in sets as the kernel may list them.
func FuzzHas(f *testing.F) {
	f.Add("hash:ip", "192.0.2.1 timeout 3", "192.0.2.0-192.0.2.9")
	f.Add("hash:net,port", "2001:db8::/32,udp:53", "::/0,53")
	f.Add("", "\"", "255.255.255.255-255.255.255.255")
	f.Fuzz(func(t *testing.T, typ, member, entry string) {
		s := mod.Parse("Name: a\nType: " + typ + "\nMembers:\n" + member)
		for _, set := range s {
			set.Has(entry)
			if member == entry && len(set.Members) == 1 && set.Members[0] == entry && strings.TrimSpace(entry) != "" && !strings.ContainsAny(entry, "\" \r") && !set.Has(entry) {
				t.Errorf("%s is not in itself", entry)
			}
		}
	})
}
