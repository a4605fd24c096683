package network_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/ip/debianip"
	"brine/states/network"
)

// called notes the calls of functions that other rooms have.
type called struct{ names []string }

func (n *called) module(name string, fns ...string) fun.Entry {
	return fun.Entry{Kind: fun.Exec, Name: name, Load: func() fun.Module {
		m := fun.Module{Name: name, Kind: fun.Exec}
		for _, f := range fns {
			m.Specs = append(m.Specs, fun.Spec{Name: f, VarArg: true, VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
				n.names = append(n.names, name+"."+f+" "+value.Repr(value.NewList(c.Pos...)))
				return fun.Value(true)
			}})
		}
		return m
	}}
}

func rig(h host.Host) (*calltest.Rig, *called) {
	n := &called{}
	return calltest.New(
		h, fun.Entry{Kind: fun.Exec, Name: "debian_ip", Virtual: "ip", Load: debianip.Module}, fun.Entry{Kind: fun.State, Name: "network", Load: network.States},
		n.module("pkg", "install"), n.module("kmod", "load"), n.module("saltutil", "refresh_grains"), n.module("network", "mod_hostname"),
		n.module("service", "stop", "start", "available", "status", "enable", "disable"),
	), n
}

func machine() *host.Fake {
	h := host.NewFake()
	h.PutDir("/etc/network/if-up.d", 0o755)
	h.PutDir("/etc/network/if-down.d", 0o755)
	h.PutDir("/etc/modprobe.d", 0o755)
	h.PutDir("/etc/default", 0o755)
	h.OnCommand("if*", host.Output{})
	return h
}

const byHand = `# by hand
source /etc/network/interfaces.d/*
mapping eth9
    script /bin/map

auto lo eth0
iface lo inet loopback
allow-hotplug eth0
iface eth0 inet static
address 10.0.0.1
    netmask 255.255.255.0
    dns-nameservers 10.0.0.53 10.0.0.54
    dns-search example.com
    link-speed 100
    up echo a
    up echo b
iface br0 inet manual
    bridge_ports eth3 eth4
    bridge_stp off
`

func TestManaged(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/etc/network/interfaces", byHand, 0o644)
	h.PutFile("/etc/network/interfaces.d/part", "auto eth7\niface eth7 inet dhcp\n", 0o644)
	r, n := rig(h)
	r.Steps(t, []calltest.Step{
		{"test network.managed {name: eth1, proto: dhcp, mtu: 1400}", "None: Interface eth1 is set to be added. {}"},
		{"state network.managed {name: eth1, proto: dhcp, mtu: 1400}", "True: Interface eth1 added. {'interface': 'Added network interface.', 'status': 'Interface eth1 is up'}"},
		{"state network.managed {name: eth1, proto: dhcp, mtu: 1400, noifupdown: true}", "True: Interface eth1 is up to date. {}"},
		{"test network.managed {name: eth1, proto: dhcp, mtu: 1500, noifupdown: true}", "None: Interface eth1 is set to be updated:\n--- \n+++ \n@@ -1,4 +1,4 @@\n auto eth1\n\n iface eth1 inet dhcp\n\n-    mtu 1400\n\n+    mtu 1500\n\n \n {}"},
		{
			"state network.managed {name: eth7, proto: static, ipaddr: 10.7.0.1, netmask: 24, gateway: 10.7.0.254, enable_ipv6: true, ipv6proto: static, ipv6addr: '2001:db8::3', ipv6netmask: 64, dns: [8.8.8.8, 8.8.4.4], noifupdown: true}",
			"True: Interface eth7 updated. {'interface': '--- \\n+++ \\n@@ -1,3 +1,11 @@\\n auto eth7\\n\\n-iface eth7 inet dhcp\\n\\n+iface eth7 inet static\\n\\n+    address 10.7.0.1\\n\\n+    netmask 24\\n\\n+    gateway 10.7.0.254\\n\\n+    dns-nameservers 8.8.8.8 8.8.4.4\\n\\n+iface eth7 inet6 static\\n\\n+    address 2001:db8::3\\n\\n+    netmask 64\\n\\n+    dns-nameservers 8.8.8.8 8.8.4.4\\n\\n \\n'}",
		},
		{"state network.managed {name: eth8, type: cable}", "False: Invalid option -- Interface: eth8, Option: cable, Expected: [eth|bond|alias|clone|ipsec|dialup|bridge|slave|vlan|pppoe|source] {}"},
		{"state network.managed {name: eth8, duplex: both}", "False: Invalid option -- Interface: eth8, Option: duplex, Expected: [full|half] {}"},
		{"state network.managed {name: bond0, type: bond}", "False: slaves is a required setting for bond interfaces {}"},
		{"state network.managed {name: ../x}", "False: invalid interface name '../x' {}"},
		{"state network.managed {name: eth2, type: slave, master: bond0, noifupdown: true, addr: '08:00:27:13:69:77'}", "True: Interface eth2 added. {'interface': 'Added network interface.'}"},
		{"state network.managed {name: eth0.5, type: vlan, proto: dhcp, enabled: false}", "True: Interface eth0.5 added. {'interface': 'Added network interface.'}"},
		{"state network.managed {name: br1, type: bridge, proto: dhcp, ports: [eth5, eth6], stp: true, maxwait: 3, noifupdown: true, filename: br1}", "True: Interface br1 added. {'interface': 'Added network interface.'}"},
		{"call ip.down [eth2, slave]", "None"},
		{"call ip.get_interface [eth1]", `['auto eth1\n', 'iface eth1 inet dhcp\n', '    mtu 1400\n', '\n']`},
		{"call ip.get_interface [none]", "[]"},
	})
	const want = "mapping eth9\n    script /bin/map\n\nsource /etc/network/interfaces.d/*\nauto lo\niface lo inet loopback\n" +
		"auto eth0\nallow-hotplug eth0\niface eth0 inet static\n    address 10.0.0.1\n    netmask 255.255.255.0\n    dns-nameservers 10.0.0.53 10.0.0.54\n    link-speed 100\n    up echo a\n    up echo b\n    dns-search example.com\n" +
		"iface br0 inet manual\n    bridge_ports eth3 eth4\n    bridge_stp off\n" +
		"auto eth1\niface eth1 inet dhcp\n    mtu 1400\n" +
		"auto eth2\niface eth2 inet manual\n    hwaddress 08:00:27:13:69:77\n    bond-master bond0\n" +
		"iface eth0.5 inet dhcp\n    vlan-raw-device eth0\n"
	if got := h.Text("/etc/network/interfaces"); got != want {
		t.Errorf("interfaces:\n%s\nwant:\n%s", got, want)
	}
	if got := h.Text("/etc/network/interfaces.d/br1"); got != "auto br1\niface br1 inet dhcp\n    bridge_maxwait 3\n    bridge_ports eth5 eth6\n    bridge_stp on\n" {
		t.Errorf("br1: %q", got)
	}
	if got := strings.Join(n.names, ", "); got != "saltutil.refresh_grains [], saltutil.refresh_grains [], saltutil.refresh_grains [], saltutil.refresh_grains [], pkg.install ['vlan'], saltutil.refresh_grains [], pkg.install ['bridge-utils'], saltutil.refresh_grains []" {
		t.Errorf("called %s", got)
	}
}

func TestBring(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutExe("/sbin/ifenslave")
	h.OnCommand("ifup eth9", host.Output{Status: 1, Stdout: []byte("Cannot find device \"eth9\"\n")})
	h.OnCommand("ifenslave bond0 eth1", host.Output{})
	h.PutFile("/sys/class/net/bond0/bonding/slaves", "eth0\n", 0o444)
	h.Ifaces = []host.Interface{{Name: "eth0", Up: true, Addrs: []*net.IPNet{}}}
	r, _ := rig(h)
	r.Steps(t, []calltest.Step{
		{"state network.managed {name: eth0, proto: dhcp}", "True: Interface eth0 added. {'interface': 'Added network interface.', 'status': 'Interface eth0 restart to validate'}"},
		{"state network.managed {name: eth0, proto: dhcp}", "True: Interface eth0 is up to date. {}"},
		{"state network.managed {name: eth0, proto: dhcp, enabled: false, noifupdown: true}", "True: Interface eth0 updated. {'interface': '--- \\n+++ \\n@@ -1,3 +1,2 @@\\n-auto eth0\\n\\n iface eth0 inet dhcp\\n\\n \\n'}"},
		{"state network.managed {name: eth0, proto: dhcp, enabled: false}", "True: Interface eth0 is up to date. {'status': 'Interface eth0 down'}"},
		{"state network.managed {name: eth9, proto: dhcp}", `False: Interface eth9: Cannot find device "eth9" {'interface': 'Added network interface.'}`},
		{"test network.managed {name: bond0, type: bond, mode: 802.3ad, slaves: eth0 eth1, proto: dhcp}", "None: Bond interface bond0 is set to be added. {}"},
		{"state network.managed {name: bond0, type: bond, mode: 802.3ad, slaves: eth0 eth1, proto: dhcp, miimon: 50, lacp_rate: fast}", "True: Bond interface bond0 added. {'interface': 'Added network interface.', 'bond': 'Added bond bond0.', 'status': 'Interface bond0 is up', 'enslave': \"Added slaves 'eth1' to master 'bond0'\"}"},
		{"call ip.get_bond [bond0]", `['alias bond0 bonding\n', 'options bond0 mode=4 miimon=50 downdelay=200 updelay=0 lacp_rate=1 ad_select=0 use_carrier=on ']`},
		{"call ip.build_bond {iface: bond1, mode: 0}", "error: Invalid option -- Interface: bond1, Option: arp_ip_target, Expected: [list of ips (up to 16)]"},
		{"call ip.build_bond {iface: bond1, mode: 2, arp_ip_target: [10.0.0.1, 10.0.0.2], hashing-algorithm: layer2, test: true}", `['alias bond1 bonding\n', 'options bond1 mode=2 arp_ip_target=10.0.0.1,10.0.0.2 arp_interval=250 xmit_hash_policy=layer2 ']`},
		{"call ip.build_bond {iface: bond1, mode: 9}", "error: Invalid option -- Interface: bond1, Option: mode, Expected: [0|1|2|3|4|5|6|balance-rr|active-backup|balance-xor|broadcast|802.3ad|balance-tlb|balance-alb]"},
	})
	if got := h.Text("/etc/network/interfaces"); !strings.Contains(got, "iface bond0 inet dhcp\n    bond-ad_select 0\n    bond-downdelay 200\n    bond-lacp_rate 1\n    bond-miimon 50\n    bond-mode 4\n    bond-slaves eth0 eth1\n") {
		t.Errorf("interfaces:\n%s", got)
	}
}

func TestPPP(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutDir("/etc/ppp/peers", 0o755)
	r, _ := rig(h)
	r.Steps(t, []calltest.Step{
		{"state network.managed {name: dsl, type: pppoe, proto: ppp, provider: isp, user: ann, password: secret, usepeerdns: false, noifupdown: true}", "True: Interface dsl added. {'interface': 'Added network interface.'}"},
		{"state network.managed {name: dsl, type: pppoe, proto: ppp, provider: ../isp, noifupdown: true}", "False: invalid provider '../isp' {}"},
		{"state network.managed {name: dsl, type: pppoe, proto: ppp, provider: isp, persist: maybe}", "False: Invalid option -- Interface: dsl, Option: persist, Expected: [yes|on|true|1|True|no|off|false|0|False] {}"},
	})
	const want = "user ann\npassword secret\nplugin rp-pppoe.so eth0\n\nnoipdefault\n\ndefaultroute\n\nholdoff 15\nmaxfail 0\n\nhide-password\nlcp-echo-interval 20\nlcp-echo-failure 3\n\nnoauth\npersist\nmtu 1492\nnoaccomp\n"
	if got := h.Text("/etc/ppp/peers/isp"); got != want {
		t.Errorf("peer: %q", got)
	}
	if st, err := h.Stat("/etc/ppp/peers/isp"); err != nil || st.Mode.Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode, err)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	h := machine()
	r, n := rig(h)
	const args = "{name: eth0.5, routes: [{name: office, ipaddr: 192.168.1.0, netmask: 255.255.255.0, gateway: 10.1.0.254, metric: 5}, {ipaddr: 10.9.0.1}]}"
	r.Steps(t, []calltest.Step{
		{"test network.routes " + args, "None: Interface eth0.5 routes are set to be added. {}"},
		{"state network.routes " + args, "True: Interface eth0.5 routes added. {'network_routes': 'Added interface eth0.5 routes.'}"},
		{"state network.routes " + args, "True: Interface eth0.5 routes are up to date. {}"},
		{"state network.routes {name: eth0}", "False: Invalid option -- Route interface: eth0, Option: routes, Expected: [List of routes] {}"},
		{"state network.routes {name: eth0, routes: [{ipaddr: '1; reboot'}]}", "False: Invalid option -- Route interface: eth0, Option: ipaddr, Expected: [an address or a number] {}"},
	})
	if got := h.Text("/etc/network/if-up.d/route-eth0_5"); got != "#!/bin/sh\n# add\ntest \"${IFACE}\" = \"eth0.5\" || exit 0\n# office\nip route add 192.168.1.0/255.255.255.0 via 10.1.0.254 dev eth0.5 metric 5\nip route add 10.9.0.1  dev eth0.5\n" {
		t.Errorf("up: %q", got)
	}
	if got := strings.Join(n.names, ", "); got != "service.stop ['networking'], service.start ['networking']" {
		t.Errorf("called %s", got)
	}
}

func TestSystem(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutFile("/etc/hostname", "rec1\n", 0o644)
	h.PutFile("/etc/resolv.conf", "nameserver 10.0.0.53\nsearch old.example.com\n", 0o644)
	r, n := rig(h)
	const args = "{name: system, enabled: true, hostname: web.example.com, search: [a.example.com], apply_hostname: true, require_reboot: true}"
	r.Steps(t, []calltest.Step{
		{"state network.system {name: system, hostname: web}", "False: Invalid network setting -- Setting: networking, Expected: [yes|on|true|1|True|no|off|false|0|False] {}"},
		{"test network.system " + args, "None: Global network settings are set to be updated:\n--- \n+++ \n@@ -1,2 +1,11 @@\n-HOSTNAME=rec1\n\n-SEARCH=['old.example.com']\n\n+# Configuration for networking init script being run during\n\n+# the boot sequence\n\n+\n\n+# Set to 'no' to skip interfaces configuration on boot\n\n+CONFIGURE_INTERFACES=yes\n\n+\n\n+# Don't configure these interfaces. Shell wildcards supported/\n\n+#EXCLUDE_INTERFACES=\n\n+\n\n+# Set to 'yes' to enable additional verbosity\n\n+#VERBOSE=no {}"},
		{"state network.system " + args, "True: Global network settings are up to date. {'network_settings': \"--- \\n+++ \\n@@ -1,2 +1,4 @@\\n-HOSTNAME=rec1\\n\\n-SEARCH=['old.example.com']\\n\\n+NETWORKING=yes\\n\\n+HOSTNAME=web\\n\\n+DOMAIN=example.com\\n\\n+SEARCH=['a.example.com']\\n\"}"},
	})
	h.PutFile("/etc/hostname", "web\n", 0o644)
	r.Steps(t, []calltest.Step{
		{"state network.system " + args, "True: Global network settings are up to date. {}"},
		{"test network.system " + args, "True: Global network settings are up to date. {}"},
	})
	if got := h.Text("/etc/resolv.conf"); got != "domain example.com\nnameserver 10.0.0.53\nsearch a.example.com\n" {
		t.Errorf("resolv.conf: %q", got)
	}
	if got := strings.Join(n.names, ", "); got != "network.mod_hostname ['web.example.com']" {
		t.Errorf("called %s", got)
	}
	r.Env.Grains = value.MapOf("os_family", "Debian", "os", "Ubuntu", "osfullname", "Ubuntu", "osrelease", "22.04")
	n.names = nil
	r.Steps(t, []calltest.Step{{"state network.system {name: system, enabled: false, require_reboot: true}", "True: Global network settings are up to date. {'network_settings': \"--- \\n+++ \\n@@ -1,4 +1,4 @@\\n-NETWORKING=yes\\n\\n+NETWORKING=no\\n\\n HOSTNAME=web\\n\\n DOMAIN=example.com\\n\\n SEARCH=['a.example.com']\\n\"}"}})
	if got := strings.Join(n.names, ", "); !strings.Contains(got, "service.disable ['NetworkManager']") {
		t.Errorf("called %s", got)
	}
}

func FuzzInterfaces(f *testing.F) {
	f.Add(byHand)
	f.Add("iface a b c\n bond-\n bridge\n address\n up\nauto\nsource\nmapping\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := machine()
		h.PutFile("/etc/network/interfaces", text, 0o644)
		r, _ := rig(h)
		r.State(t, "network.managed", "{name: eth0, proto: dhcp, noifupdown: true}", false)
		first := h.Text("/etc/network/interfaces")
		if got := r.State(t, "network.managed", "{name: eth0, proto: dhcp, noifupdown: true}", false); strings.Contains(got, "added") || strings.Contains(got, "updated") {
			t.Errorf("the second run changes something: %s\n%q\n%q", got, first, h.Text("/etc/network/interfaces"))
		}
	})
}
