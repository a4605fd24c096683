package network_test

import (
	"net"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/network"
)

func ipnet(t *testing.T, s string) *net.IPNet {
	t.Helper()
	ip, n, err := net.ParseCIDR(s)
	if err != nil {
		t.Fatal(err)
	}
	n.IP = ip
	return n
}

// TestModule has the answers of Python's ipaddress, and of Salt for a machine
// with two interfaces.
func TestModule(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	a4, a4b, a6 := ipnet(t, "192.168.1.10/24"), ipnet(t, "192.168.1.11/24"), ipnet(t, "fe80::1/64")
	h.Ifaces = append(h.Ifaces, host.Interface{
		Name: "eth0", MAC: "02:fc:00:00:00:01", Up: true, Addrs: []*net.IPNet{a4, a4b, a6},
		Details: []host.AddrDetail{{Broadcast: net.IPv4(192, 168, 1, 255), Label: "eth0", Scope: "global"}, {Label: "eth0:1", Scope: "global", Secondary: true}, {Scope: "link"}},
	})
	h.Ifaces = append(h.Ifaces, host.Interface{Name: "tun0", Addrs: []*net.IPNet{ipnet(t, "8.8.8.8/32")}})
	env := &fun.Env{Machine: fun.Machine{Host: h}, Data: fun.Data{Grains: value.MapOf("fqdn", "fake.example.com")}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "network", Load: network.Module}})
	env.Invoker = dispatch.New(env)
	load := func(s string) value.Value {
		v, err := yamlsalt.LoadString(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct{ fun, args, want string }{
		{"calc_net", "{ip_addr: 172.17.0.5, netmask: 255.255.255.240}", "172.17.0.0/28"},
		{"calc_net", "{ip_addr: 2a02:f6e:a000:80::5/64}", "'2a02:f6e:a000:80::/64'"},
		{"calc_net", "{ip_addr: 10.1.2.3}", "10.1.2.3/32"},
		{"calc_net", "{ip_addr: 10.1.2.3/0.0.0.255}", "10.1.2.0/24"},
		{"convert_cidr", "{cidr: 172.31.0.0/16}", "{network: 172.31.0.0, netmask: 255.255.0.0, broadcast: 172.31.255.255}"},
		{"get_fqdn", "{}", "fake.example.com"},
		{"get_hostname", "{}", "fake"},
		{"hw_addr", "{iface: eth0}", "'02:fc:00:00:00:01'"},
		{"hwaddr", "{iface: lo}", "'00:00:00:00:00:00'"},
		{"hwaddr", "{iface: x}", `'Interface "x" not in available interfaces: "lo", "eth0", "tun0"'`},
		{"in_subnet", "{cidr: 192.168.1.0/24}", "True"},
		{"in_subnet", "{cidr: 192.168.1.1/24}", "False"},
		{"in_subnet", "{cidr: 127.0.0.0/8}", "False"},
		{"interface", "{iface: eth0}", "[{address: 192.168.1.10, netmask: 255.255.255.0, broadcast: 192.168.1.255, label: eth0}]"},
		{"interface_ip", "{iface: eth0}", "192.168.1.10"},
		{"interfaces", "{}", `{
			lo: {up: True, hwaddr: '00:00:00:00:00:00', inet: [{address: 127.0.0.1, netmask: 255.0.0.0, broadcast: null, label: lo}], inet6: [{address: '::1', prefixlen: '128', scope: host}]},
			eth0: {up: True, hwaddr: '02:fc:00:00:00:01', inet: [{address: 192.168.1.10, netmask: 255.255.255.0, broadcast: 192.168.1.255, label: eth0}],
			  inet6: [{address: 'fe80::1', prefixlen: '64', scope: link}], secondary: [{type: inet, address: 192.168.1.11, netmask: 255.255.255.0, broadcast: null, label: 'eth0:1'}]},
			tun0: {up: False, inet: [{address: 8.8.8.8, netmask: 255.255.255.255, broadcast: null, label: tun0}]}}`},
		{"ip_addrs", "{}", "[8.8.8.8, 192.168.1.10, 192.168.1.11]"},
		{"ip_addrs", "{type: private}", "[192.168.1.10, 192.168.1.11]"},
		{"ip_addrs", "{type: public}", "[8.8.8.8]"},
		{"ip_addrs", "{cidr: 192.168.0.0/16}", "[192.168.1.10, 192.168.1.11]"},
		{"ip_addrs", "{interface: 'lo,tun*', include_loopback: True}", "[8.8.8.8, 127.0.0.1]"},
		{"ip_addrs6", "{}", "['fe80::1']"},
		{"ip_in_subnet", "{ip_addr: 172.17.0.4, cidr: 172.16.0.0/12}", "True"},
		{"ip_networks", "{}", "[8.8.8.8/32, 192.168.1.0/24]"},
		{"ip_networks", "{interface: eth0, verbose: True}", "{192.168.1.0/24: {address: 192.168.1.0, netmask: 255.255.255.0, num_addresses: 256, prefixlen: 24}}"},
		{"is_loopback", "{ip_addr: '::1'}", "True"},
		{"is_private", "{ip_addr: 10.0.0.3}", "True"},
		{"is_private", "{ip_addr: 8.8.8.8}", "False"},
		{"is_private", "{ip_addr: 'fd00::1'}", "True"},
		{"reverse_ip", "{ip_addr: 127.0.1.1}", "1.1.0.127.in-addr.arpa"},
		{"reverse_ip", "{ip_addr: '2001:db8::1'}", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"},
		{"subnets", "{}", "[8.8.8.8/32, 192.168.1.0/24]"},
		{"subnets", "{interfaces: eth0}", "[192.168.1.0/24]"},
		{"subnets6", "{}", "['fe80::/64']"},
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "network."+tt.fun, fun.Args{Kw: load(tt.args).(*value.Map)})
		if err != nil || !value.Equal(res.Value, load(tt.want)) {
			t.Errorf("network.%s %s = %s, %v, want %s", tt.fun, tt.args, value.Repr(res.Value), err, tt.want)
		}
	}
	for _, tt := range []struct{ fun, args, want string }{
		{"is_private", "{ip_addr: x}", "'x' does not appear to be an IPv4 or IPv6 address"},
		{"calc_net", "{ip_addr: 1.2.3.4/33}", "'1.2.3.4/33' does not appear to be an IPv4 or IPv6 network"},
		{"calc_net", "{ip_addr: 1.2.3.4/-1}", "'1.2.3.4/-1' does not appear to be an IPv4 or IPv6 network"},
	} {
		if _, err := env.Invoker.Invoke(t.Context(), fun.Exec, "network."+tt.fun, fun.Args{Kw: load(tt.args).(*value.Map)}); err == nil || err.Error() != tt.want {
			t.Errorf("network.%s %s: %v, want %s", tt.fun, tt.args, err, tt.want)
		}
	}
}
