package rhip_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/ip/rhip"
)

// cases are calls and what Salt 3006 returned for them: a list of lines, or "ERR " and
// the error.
//
//go:embed testdata/cases.jsonl
var cases string

func rig(major int64) (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	_ = h.MkdirAll("/etc/sysconfig/network-scripts", 0o755)
	h.PutFile("/etc/sysconfig/network", "NETWORKING=yes\nHOSTNAME=old.example.com\nNTPSERVERARGS=x\n", 0o644)
	h.Ifaces = []host.Interface{{Name: "eth0", MAC: "52:54:00:00:00:01"}}
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "rh_ip", Virtual: "ip", Load: rhip.Module})
	r.Env.Grains = value.MapOf("os", "CentOS", "os_family", "RedHat", "osrelease", "8.4", "osmajorrelease", major, "num_cpus", int64(4))
	return r, h
}

func TestSalt(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(cases) {
		var c []any
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		args, _ := value.ParseJSON(line)
		items := args.(*value.List).Items
		r, _ := rig(8)
		res, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, "ip."+value.Str(items[0]), fun.Args{Pos: items[1].(*value.List).Items, Kw: items[2].(*value.Map)})
		want, got := value.Repr(items[3]), value.Repr(res.Value)
		if err != nil {
			got = value.Repr("ERR " + err.Error())
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r, h := rig(9)
	h.PutExe("/usr/bin/nmcli")
	h.PutExe("/usr/sbin/ifup")
	var ran []string
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		ran = append(ran, strings.Join(c.Argv, " "))
		return host.Output{}, nil
	})
	r.Steps(t, []calltest.Step{
		{"call ip.get_interface [eth0]", "[]"},
		{"call ip.build_interface {iface: eth0, iface_type: eth, enabled: true, proto: dhcp, dns: 10.0.0.3}", `['DEVICE="eth0"', 'HWADDR="52:54:00:00:00:01"', 'USERCTL="no"', 'TYPE="Ethernet"', 'BOOTPROTO="dhcp"', 'ONBOOT="yes"', 'PEERDNS="yes"', 'NM_CONTROLLED="no"', 'DNS1="10.0.0.3"']`},
		{"call ip.get_interface [eth0]", `['DEVICE="eth0"', 'HWADDR="52:54:00:00:00:01"', 'USERCTL="no"', 'TYPE="Ethernet"', 'BOOTPROTO="dhcp"', 'ONBOOT="yes"', 'PEERDNS="yes"', 'NM_CONTROLLED="no"', 'DNS1="10.0.0.3"']`},
		{"call ip.build_interface {iface: ../x, iface_type: eth, enabled: true}", "error: invalid interface name '../x'"},
		{"call ip.build_interface {iface: eth0, iface_type: eth, enabled: true, nickname: '$(reboot)'}", "error: Invalid option -- Interface: eth0, Option: nickname, Expected: [a value without control characters and \" ` $ \\]"},
		{"call ip.build_interface {iface: eth0, iface_type: eth, enabled: true, defroute: maybe}", "error: Invalid option -- Interface: eth0, Option: defroute, Expected: [yes|on|true|1|True|no|off|false|0|False]"},
		{"call ip.build_interface {iface: eth0, iface_type: clone, enabled: true}", "error: interfaces of type clone cannot be written"},
		{"call ip.build_routes {iface: eth0, routes: [{ipaddr: 10.8.0.0/16}, {ipaddr: '2001:db8::/32', metric: 3}]}", "['10.8.0.0/16 dev eth0', '2001:db8::/32 dev eth0 metric 3']"},
		{"call ip.get_routes [eth0]", "['10.8.0.0/16 dev eth0', '2001:db8::/32 dev eth0 metric 3']"},
		{"call ip.build_routes {iface: eth0, routes: [{gateway: 1.2.3.4}]}", "error: Invalid option -- Route interface: eth0, Option: ipaddr, Expected: [address of the network]"},
		{"call ip.build_routes {iface: eth0, routes: [{ipaddr: \"10.0.0.0/8\\nx\"}]}", "error: Invalid option -- Route interface: eth0, Option: ipaddr, Expected: [one word]"},
		{"call ip.build_network_settings {enabled: true, retain_settings: true, nozeroconf: true}", "['NETWORKING=yes', 'HOSTNAME=old.example.com', 'NOZEROCONF=yes', 'NTPSERVERARGS=x']"},
		{"call ip.get_network_settings", "['NETWORKING=yes', 'HOSTNAME=old.example.com', 'NOZEROCONF=yes', 'NTPSERVERARGS=x']"},
		{"call ip.build_network_settings {enabled: true, hostname: 'a;b'}", "error: Invalid network setting -- Setting: hostname, Expected: [a value without blanks, quotes and other characters of the shell]"},
		{"call ip.up [eth0, eth]", "''"},
		{"call ip.down [eth0, eth]", "''"},
		{"call ip.down [eth0, slave]", "None"},
	})
	if got := strings.Join(ran, "; "); got != "ifup eth0; nmcli connection load /etc/sysconfig/network-scripts/ifcfg-eth0; nmcli device disconnect eth0" {
		t.Errorf("ran %s", got)
	}
	if st, err := h.Stat("/etc/sysconfig/network-scripts/ifcfg-eth0"); err != nil || st.Mode.Perm() != 0o644 {
		t.Errorf("ifcfg-eth0: %v, %v", st, err)
	}
}

func TestNoScripts(t *testing.T) {
	t.Parallel()
	r, _ := rig(10)
	r.Env.Host = host.NewFake()
	const want = "error: /etc/sysconfig/network-scripts/ifcfg-eth9 cannot be written. /etc/sysconfig/network-scripts does not exist"
	if got := r.Fn(t, "ip.build_interface", "{iface: eth9, iface_type: eth, enabled: true, hwaddr: none}"); got != want {
		t.Errorf("%s", got)
	}
}
