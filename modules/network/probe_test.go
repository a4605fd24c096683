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

// The comments are those of salt/modules/network.py connect.
func TestProbe(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Addrs = map[string][]net.IP{"db.example.com": {net.IPv4(10, 0, 0, 9)}}
	h.Listening = map[string]bool{"10.0.0.9:5432": true}
	h.OnCommand("ping -c 4 *", host.Output{Status: 1, Stdout: []byte("no answer\n")})
	h.OnCommand("ping -W 2 -c 4 127.0.0.1", host.Output{Stdout: []byte("PING\n")})
	h.Ifaces = []host.Interface{{Name: "eth0", Up: true, Addrs: []*net.IPNet{ipnet(t, "192.168.1.10/24")}}}
	env := &fun.Env{Machine: fun.Machine{Host: h}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "network", Load: network.Module}})
	env.Invoker = dispatch.New(env)
	for _, tt := range []struct{ fun, args, want string }{
		{"connect", "{host: db.example.com, port: 5432}", "{result: true, comment: Successfully connected to db.example.com (10.0.0.9) on tcp port 5432}"},
		{"connect", "{host: 10.0.0.9, port: 80}", "{result: false, comment: Unable to connect to 10.0.0.9 (10.0.0.9) on tcp port 80}"},
		{"connect", "{host: none.example.com, port: 80}", "{result: false, comment: Unable to resolve host none.example.com on tcp port 80}"},
		{"connect", "{host: 10.0.0.9}", "{result: false, comment: 'Required argument, port, is missing.'}"},
		{"iphexval", "{ip: 192.168.0.10}", "C0A8000A"},
		{"ifacestartswith", "{cidr: '192.168.1'}", "[eth0]"},
		{"ifacestartswith", "{cidr: '10.'}", "[]"},
		{"ping", "{host: 'a;b', return_boolean: True}", "false"},
		{"ping", "{host: 127.0.0.1, timeout: 2}", "PING"},
	} {
		args, err := yamlsalt.LoadString(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		want, err := yamlsalt.LoadString(tt.want)
		if err != nil {
			t.Fatal(err)
		}
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "network."+tt.fun, fun.Args{Kw: args.(*value.Map)})
		if err != nil || !value.Equal(res.Value, want) {
			t.Errorf("network.%s %s = %s, %v, want %s", tt.fun, tt.args, value.Repr(res.Value), err, tt.want)
		}
	}
	for _, c := range h.Calls() {
		if c.Argv[len(c.Argv)-1] == "a;b" {
			t.Errorf("ping got %q", c.Argv)
		}
	}
}
