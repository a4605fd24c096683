package dnsutil_test

import (
	"context"
	"net"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/dig"
	"brine/modules/dnsutil"
)

// grain is a module of grains that keeps one.
func grain() fun.Entry {
	var kept value.Value = ""
	return fun.Entry{Kind: fun.Exec, Name: "grains", Load: func() fun.Module {
		return fun.Module{Name: "grains", Kind: fun.Exec, Specs: []fun.Spec{
			{Name: "get", VarArg: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(kept) }},
			{Name: "setval", VarArg: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) { kept = c.Pos[1]; return fun.Value(true) }},
		}}
	}}
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "dig", Load: dig.Module}, fun.Entry{Kind: fun.Exec, Name: "dnsutil", Load: dnsutil.Module}, grain())
}

func TestFiles(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/hosts", "# mine\n127.0.0.1  localhost\n10.0.0.1 a b # note\n10.0.0.1 c", 0o644)
	h.PutFile("/z", "$TTL 3600\n@ IN SOA x\nexample.com. IN SOA ns.example.com. root.example.com. (\n 2024010101 ; serial\n 2H 900 1W 8D )\n IN NS ns.example.com.\nwww 300 IN A 10.0.0.1\nmail 300 IN AAAA ::1\n@ IN MX 10 mail\nftp IN CNAME www\nshort\n", 0o644)
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"call dnsutil.parse_hosts []", "{'127.0.0.1': ['localhost'], '10.0.0.1': ['a', 'b', 'c']}"},
		{"call dnsutil.parse_hosts {hosts: '::1 x'}", "{'::1': ['x']}"},
		{"call dnsutil.parse_hosts [/none]", "'Error: hosts data was not found'"},
		{"call dnsutil.hosts_append [/etc/hosts, 10.0.0.1, 'a,c']", "'No additional hosts were added to /etc/hosts'"},
		{"call dnsutil.hosts_append [/etc/hosts, 10.0.0.1, 'a,d,e']", "'The following line was added to /etc/hosts:\\n10.0.0.1 d e'"},
		{"call dnsutil.hosts_append [/etc/hosts, 10.0.0.1, 'a b']", "error: invalid host name or address 'a b'"},
		{"call dnsutil.hosts_remove [/etc/hosts, 'b,c,d,localhost']", "None"},
		{"call dnsutil.hosts_remove [/none, b]", "error: /none: No such file or directory"},
		{"call dnsutil.parse_zone [/z]", "{'TTL': '3600', 'ORIGIN': 'example.com.', 'NETWORK': 'IN', 'SOURCE': 'ns.example.com.', 'CONTACT': 'root@example.com.', 'SERIAL': '2024010101', 'REFRESH': 7200, 'RETRY': 900, 'EXPIRE': 604800, 'MINTTL': 604800, 'NS': ['ns.example.com.'], 'A': {'www.example.com.': {'TARGET': '10.0.0.1', 'TTL': '300'}}, 'AAAA': {'mail.example.com.': {'TARGET': '::1', 'TTL': '300'}}, 'MX': [{'priority': '10', 'host': 'mail'}], 'CNAME': {'ftp.example.com.': 'www'}}"},
		{"call dnsutil.parse_zone [/none]", "'Error: Zone data was not found'"},
		{"call dnsutil.serial [z]", "'2024010201'"},
		{"call dnsutil.serial [z, true]", "'2024010201'"},
		{"call dnsutil.serial [z, true]", "'2024010202'"},
		{"call dnsutil.serial [z]", "'2024010202'"},
	})
	if got := h.Text("/etc/hosts"); got != "# mine\n10.0.0.1 a # note\n10.0.0.1 e\n" {
		t.Errorf("hosts: %q", got)
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Addrs = map[string][]net.IP{"www": {net.IPv4(10, 0, 0, 1), net.ParseIP("2001:db8::1")}}
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"call dnsutil.A [www]", "['10.0.0.1']"},
		{"call dnsutil.AAAA [www]", "['2001:db8::1']"},
		{"call dnsutil.A [none]", "'Unable to resolve none'"},
		{"call dnsutil.A [www, 10.0.0.53]", "'This function requires dig, which is not currently available'"},
		{"call dnsutil.MX [example.com]", "'This function requires dig, which is not currently available'"},
		{"call dig.A [www]", "error: 'dig.A' is not available: The dig execution module cannot be loaded: the dig binary is not in the path."},
	})
	h.PutExe("/usr/bin/dig")
	out := func(s string) host.Output { return host.Output{Stdout: []byte(s)} }
	h.OnCommand("dig +short www A", out("web.example.com.\n10.0.0.1\n"))
	h.OnCommand("dig +short www A @10.0.0.53", out("10.0.0.2\n"))
	h.OnCommand("dig +short www AAAA", out(""))
	h.OnCommand("dig +short down A", host.Output{Status: 9})
	h.OnCommand("dig +short www CNAME", out("web.example.com.\n"))
	h.OnCommand("dig +short -x 10.0.0.1", out("www.\n"))
	h.OnCommand("dig +short www TXT", out("\"a b\"\n"))
	h.OnCommand("dig +short e NS", out("www\n"))
	h.OnCommand("dig +short e MX", out("10 www\n20 down\n"))
	h.OnCommand("dig +short e SPF", out(""))
	h.OnCommand("dig +short e TXT", out("\"v=spf1 ip4:10.0.0.0/8 include:f ~ip6:::1 -all\"\n"))
	h.OnCommand("dig +short f SPF", out("\"v=spf1 redirect=g\"\n"))
	h.OnCommand("dig +short g SPF", out("\"v=spf1 include:g\"\n"))
	r = rig(h)
	r.Steps(t, []calltest.Step{
		{"call dig.A [www]", "['10.0.0.1']"},
		{"call dig.a [www, 10.0.0.53]", "['10.0.0.2']"},
		{"call dig.AAAA [www]", "[]"},
		{"call dig.A [down]", "[]"},
		{"call dig.A ['-f/etc/passwd']", "error: invalid name '-f/etc/passwd'"},
		{"call dig.CNAME [www]", "'web.example.com.'"},
		{"call dig.PTR [10.0.0.1]", "['www.']"},
		{"call dig.TXT [www]", "['\"a b\"']"},
		{"call dig.NS [e]", "['10.0.0.1']"},
		{"call dig.NS [e, false]", "['www']"},
		{"call dig.MX [e]", "[['10', 'www'], ['20', 'down']]"},
		{"call dig.MX [e, true]", "[['10', '10.0.0.1']]"},
		{"call dig.SPF [e]", "error: the SPF records of e lead to more than 20 others"},
		{"call dig.check_ip [10.0.0.1/8]", "True"},
		{"call dig.check_ip [10.0.0.1/40]", "False"},
		{"call dig.check_ip [7]", "False"},
		{"call dnsutil.A [www]", "['10.0.0.1']"},
		{"call dnsutil.MX {domain: e, resolve: true}", "[['10', '10.0.0.1']]"},
		{"call dnsutil.check_ip ['::1']", "True"},
	})
	h.OnCommand("dig +short g SPF", out("\"v=spf1 ip4:192.0.2.1\"\n"))
	r.Steps(t, []calltest.Step{{"call dnsutil.SPF [e]", "['10.0.0.0/8', '192.0.2.1', '::1']"}})
}

func FuzzZone(f *testing.F) {
	f.Add("$TTL\n$\nIN\nx SOA\n(\n)\n@ IN NS\na b A A")
	f.Fuzz(func(t *testing.T, text string) {
		h := host.NewFake()
		h.PutFile("/z", text, 0o644)
		r := rig(h)
		r.Fn(t, "dnsutil.parse_zone", "[/z]")
		r.Fn(t, "dnsutil.parse_hosts", "[/z]")
		r.Fn(t, "dnsutil.hosts_remove", "[/z, a]")
	})
}
