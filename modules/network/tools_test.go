package network_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/network"
)

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "network", Load: network.Module})
}

func out(text string) host.Output { return host.Output{Stdout: []byte(text)} }

func TestByNetTools(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	for _, p := range []string{"/usr/bin/netstat", "/usr/sbin/arp", "/usr/bin/traceroute", "/usr/bin/dig"} {
		h.PutExe(p)
	}
	h.PutExe("/sbin/ethtool")
	h.OnCommand("netstat -tulpnea", out("Active Internet connections (servers and established)\nProto Recv-Q Send-Q Local Address Foreign Address State User Inode PID/Program name\n"+
		"tcp        0      0 127.0.0.1:53  0.0.0.0:*  LISTEN  101 2333 77/resolved\n"+
		"udp        0      0 0.0.0.0:68  0.0.0.0:*   0 2334 78/dhc\n"+
		"udp        0      0 10.0.0.1:4  10.0.0.2:5  ESTABLISHED 0 2335 79/x\n"))
	h.OnCommand("netstat -A inet -rn", out("Kernel IP routing table\nDestination Gateway Genmask Flags MSS Window irtt Iface\n0.0.0.0 10.0.0.254 0.0.0.0 UG 0 0 0 eth0\n10.0.0.0 0.0.0.0 255.255.255.0 U 0 0 0 eth0\n"))
	h.OnCommand("netstat -A inet6 -rn", out("Kernel IPv6 routing table\nDestination Next Hop Flag Met Ref Use If\n::1/128 :: U 256 2 0 lo\n::/0 :: !n -1 1 0 lo\n"))
	h.OnCommand("ip route get 127.0.0.1", out("local 127.0.0.1 dev lo src 127.0.0.1 uid 0 \n    cache <local> \n"))
	h.OnCommand("ip route get 10.9.9.9", out("10.9.9.9 via 10.0.0.254 dev eth0 src 10.0.0.1 uid 0\n"))
	h.OnCommand("ip route get 10.8.8.8", host.Output{Status: 2, Stdout: []byte("RTNETLINK answers: Network is unreachable\n")})
	h.OnCommand("arp -an", out("? (10.0.0.254) at aa:bb:cc:dd:ee:ff [ether] on eth0\n"))
	h.OnCommand("dig *", out("; <<>> DiG\n"))
	h.OnCommand("traceroute db", out("traceroute to db (10.0.0.9), 30 hops max\n 1  gw (10.0.0.254)  0.1 ms  0.2 ms  0.3 ms\n 2  * * *\n 3  what\n"))
	h.OnCommand("traceroute --version", out("Modern traceroute for Linux, version 2.1.0\n"))
	h.OnCommand("/sbin/ethtool -g eth0", out("Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nCurrent hardware settings:\nRX:\t\t256\n"))
	h.OnCommand("/sbin/ethtool -g eth9", host.Output{Status: 1, Stdout: []byte("no such device\n")})
	h.OnCommand("/sbin/ethtool -G eth0 rx 512 rx-jumbo 3", out(""))
	rig(h).Steps(t, []calltest.Step{
		{"call network.netstat []", "[{'proto': 'tcp', 'recv-q': '0', 'send-q': '0', 'local-address': '127.0.0.1:53', 'remote-address': '0.0.0.0:*', 'state': 'LISTEN', 'user': '101', 'inode': '2333', 'program': '77/resolved'}, {'proto': 'udp', 'recv-q': '0', 'send-q': '0', 'local-address': '0.0.0.0:68', 'remote-address': '0.0.0.0:*', 'user': '0', 'inode': '2334', 'program': '78/dhc'}, {'proto': 'udp', 'recv-q': '0', 'send-q': '0', 'local-address': '10.0.0.1:4', 'remote-address': '10.0.0.2:5', 'user': '0', 'inode': '2335', 'program': '79/x'}]"},
		{"call network.routes [inet]", "[{'addr_family': 'inet', 'destination': '0.0.0.0', 'gateway': '10.0.0.254', 'netmask': '0.0.0.0', 'flags': 'UG', 'interface': 'eth0'}, {'addr_family': 'inet', 'destination': '10.0.0.0', 'gateway': '0.0.0.0', 'netmask': '255.255.255.0', 'flags': 'U', 'interface': 'eth0'}]"},
		{"call network.routes [inet6]", "[{'addr_family': 'inet6', 'destination': '::1/128', 'gateway': '::', 'netmask': '', 'flags': 'U', 'interface': 'lo'}, {'addr_family': 'inet6', 'destination': '::/0', 'gateway': '::', 'netmask': '', 'flags': '!n', 'interface': 'lo'}]"},
		{"call network.routes [ipx]", "error: Invalid address family ipx"},
		{"call network.default_route []", "[{'addr_family': 'inet', 'destination': '0.0.0.0', 'gateway': '10.0.0.254', 'netmask': '0.0.0.0', 'flags': 'UG', 'interface': 'eth0'}]"},
		{"call network.get_route [127.0.0.1]", "{'destination': '127.0.0.1', 'gateway': None, 'interface': 'lo', 'source': '127.0.0.1'}"},
		{"call network.get_route [10.9.9.9]", "{'destination': '10.9.9.9', 'gateway': '10.0.0.254', 'interface': 'eth0', 'source': '10.0.0.1'}"},
		{"call network.get_route [10.8.8.8]", "error: no route to 10.8.8.8: RTNETLINK answers: Network is unreachable"},
		{"call network.get_route ['1; rm']", "error: '1; rm' does not appear to be an IPv4 or IPv6 address"},
		{"call network.arp []", "{'aa:bb:cc:dd:ee:ff': '10.0.0.254'}"},
		{"call network.dig [db]", "'; <<>> DiG'"},
		{"call network.dig ['-f/etc/passwd']", `error: invalid host "-f/etc/passwd"`},
		{"call network.traceroute [db]", "[{'count': 1, 'hostname': 'gw', 'ip': '10.0.0.254', 'ms1': 0.1, 'ms2': 0.2, 'ms3': 0.3}, {'count': 2, 'hostname': '*'}, {}]"},
		{"call network.get_bufsize [eth0]", "{'result': True, 'rx-max': 4096, 'rx': 256}"},
		{"call network.get_bufsize [eth9]", "{'result': False, 'comment': 'no such device'}"},
		{"call network.mod_bufsize {iface: eth0, rx: 512, rx-jumbo: 3}", "{'result': True, 'comment': 'rx 512 rx-jumbo 3'}"},
		{"call network.mod_bufsize [eth0]", "{'result': False, 'comment': 'Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>'}"},
		{"call network.wol ['08:00:27:13:69:77']", "True"},
		{"call network.wol ['08:00']", "error: Invalid MAC address"},
	})
	want := "SendUDP 255.255.255.255:9 ffffffffffff" + strings.Repeat("080027136977", 16)
	if w := h.Writes(); len(w) != 1 || w[0] != want {
		t.Errorf("wrote %q", w)
	}
}

func TestByIproute(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.OnCommand("ss -tulpnea", out("Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"+
		"tcp   ESTAB  0 0 10.0.0.1:22 10.0.0.2:5555 users:((\"sshd\",pid=9,fd=4)) uid:7 ino:123 sk:1 <->\n"+
		"udp   UNCONN 0 0 0.0.0.0:68 0.0.0.0:* ino:5 sk:2\n"))
	h.OnCommand("ip -4 route show table main", out("default via 10.0.0.254 dev eth0 proto dhcp\n10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.1\nunreachable 10.7.0.0/16\n10.6.0.0/16 via 10.0.0.3 dev eth0\n"))
	h.OnCommand("ip -6 route show table all", out("::1 dev lo proto kernel metric 256 pref medium\nlocal ::1 dev lo table local\nmulticast ff00::/8 dev eth0\ndefault via fe80::1 dev eth0\n"))
	h.PutFile("/proc/net/tcp", "  sl  local_address rem_address   st\n   0: 0100007F:0035 00000000:0000 0A 0\n   1: 0100000A:0016 0200000A:15B3 01 0\n", 0o444)
	h.PutFile("/proc/net/tcp6", "  sl  local_address rem_address   st\n   0: 0000000000000000FFFF00000100000A:0016 00000000000000000000000001000000:15B3 01 0\n   1: zz:1 yy:2 01\n", 0o444)
	rig(h).Steps(t, []calltest.Step{
		{"call network.netstat []", "[{'proto': 'tcp', 'recv-q': '0', 'send-q': '0', 'local-address': '10.0.0.1:22', 'remote-address': '10.0.0.2:5555', 'state': 'ESTABLISHED', 'user': '7', 'inode': '123', 'program': 'sshd'}, {'proto': 'udp', 'recv-q': '0', 'send-q': '0', 'local-address': '0.0.0.0:68', 'remote-address': '0.0.0.0:*', 'user': 0, 'inode': '5', 'program': ''}]"},
		{"call network.routes []", "[{'addr_family': 'inet', 'destination': '0.0.0.0', 'gateway': '10.0.0.254', 'netmask': '0.0.0.0', 'flags': 'UG', 'interface': 'eth0'}, {'addr_family': 'inet', 'destination': '10.0.0.0', 'gateway': '0.0.0.0', 'netmask': '255.255.255.0', 'flags': 'U', 'interface': 'eth0'}, {'addr_family': 'inet', 'destination': '10.6.0.0', 'gateway': '10.0.0.3', 'netmask': '255.255.0.0', 'flags': 'UG', 'interface': 'eth0'}, " +
			"{'addr_family': 'inet6', 'destination': '::1', 'gateway': '::', 'netmask': '', 'flags': 'U', 'interface': 'lo'}, {'addr_family': 'inet6', 'destination': '::1/128', 'gateway': '::', 'netmask': '', 'flags': 'U', 'interface': 'lo'}, {'addr_family': 'inet6', 'destination': '::/0', 'gateway': 'fe80::1', 'netmask': '', 'flags': 'UG', 'interface': 'eth0'}]"},
		{"call network.default_route [inet6]", "[{'addr_family': 'inet6', 'destination': '::/0', 'gateway': 'fe80::1', 'netmask': '', 'flags': 'UG', 'interface': 'eth0'}]"},
		{"call network.active_tcp []", "{0: {'local_addr': '10.0.0.1', 'local_port': 22, 'remote_addr': '10.0.0.2', 'remote_port': 5555}, 1: {'local_addr': '10.0.0.1', 'local_port': 22, 'remote_addr': '::1', 'remote_port': 5555}, 2: {'local_addr': 'zz', 'local_port': 1, 'remote_addr': 'yy', 'remote_port': 2}}"},
		{"call network.arp []", "error: The 'arp' binary was not found in $PATH."},
		{"call network.dig [db]", "error: The 'dig' binary was not found in $PATH."},
		{"call network.traceroute [db]", "error: The 'traceroute' binary was not found in $PATH."},
		{"call network.get_bufsize [eth0]", "{}"},
		{"call network.mod_bufsize {iface: eth0, rx: 512}", "False"},
	})
}

func TestModHostname(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Name = "rec1"
	h.PutFile("/etc/hosts", "127.0.0.1 localhost\n127.0.1.1\trec1.example.com  rec1 # rec1\n", 0o644)
	h.PutFile("/etc/hostname", "rec1\n", 0o644)
	h.PutExe("/usr/bin/hostname")
	h.OnCommand("hostname web1", out(""))
	h.OnCommand("hostname bad_", host.Output{Status: 1, Stderr: []byte("hostname: the specified hostname is invalid\n")})
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"call network.mod_hostname [null]", "False"},
		{"call network.mod_hostname ['-F']", `error: invalid host name "-F"`},
		{"call network.mod_hostname [bad_]", "False"},
		{"call network.mod_hostname [web1]", "True"},
	})
	if got := h.Text("/etc/hosts"); got != "127.0.0.1 localhost\n127.0.1.1\trec1.example.com  web1 # rec1\n" {
		t.Errorf("hosts: %q", got)
	}
	if got := h.Text("/etc/hostname"); got != "web1\n" {
		t.Errorf("hostname: %q", got)
	}
	h.PutExe("/usr/bin/hostnamectl")
	h.OnCommand("hostnamectl status", out("   Static hostname: web1\n         Icon name: computer\n"))
	h.OnCommand("hostnamectl set-hostname web2", out(""))
	h.PutFile("/etc/sysconfig/network", "NETWORKING=yes\nHOSTNAME=\"web1\"\n", 0o644)
	r.Env.Grains = value.MapOf("os_family", "RedHat", "kernel", "Linux")
	r.Steps(t, []calltest.Step{{"call network.mod_hostname [web2]", "True"}})
	if got := h.Text("/etc/sysconfig/network"); got != "NETWORKING=yes\nHOSTNAME=web2\n" {
		t.Errorf("network: %q", got)
	}
}

func FuzzTables(f *testing.F) {
	f.Add("tcp 0 0 a b LISTEN 1 2 3\nudp 1", "default via\nlocal\n10.0.0.0/99 dev", "1: 0100007F:0016 :: 01\nxx")
	f.Fuzz(func(t *testing.T, sockets, table, tcp string) {
		h := host.NewFake()
		h.OnCommand("ss *", out(sockets))
		h.OnCommand("ip *", out(table))
		h.PutFile("/proc/net/tcp", tcp, 0o444)
		r := rig(h)
		for _, name := range []string{"netstat", "routes", "default_route", "active_tcp"} {
			r.Fn(t, "network."+name, "[]")
		}
	})
}
