package network

import (
	"context"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/tool"
)

// linux refuses machines of other kernels, whose tools print other tables.
func linux(c *fun.Call) error {
	if kernel := machine.Grain(c.Env, "kernel"); kernel != "" && kernel != "Linux" {
		return fun.Errorf("Not yet supported on this platform")
	}
	return nil
}

// at returns a word of a line, "" beyond its end.
func at(f []string, i int) string {
	if i >= 0 && i < len(f) {
		return f[i]
	}
	return ""
}

// netstat lists the sockets of TCP and UDP by netstat(8), else by ss(8).
// Salt: salt/modules/network.py _netstat_linux, _ss_linux. Difference: the state of
// a connected UDP socket is not taken for its user.
func netstat(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if err := linux(c); err != nil {
		return fun.Result{}, err
	}
	argv, read := []string{"netstat", "-tulpnea"}, netstatLine
	if !tool.Has(c.Env.Host, "netstat") {
		argv, read = []string{"ss", "-tulpnea"}, ssLine
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, argv...)
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, line := range out.Lines() {
		if m := read(line); m != nil {
			l.Append(m)
		}
	}
	return fun.Result{Value: l, Retcode: out.Status}, nil
}

// netstatLine reads a line of netstat(8); nil is a line of no socket.
func netstatLine(line string) *value.Map {
	f := strings.Fields(line)
	tcp, udp := strings.HasPrefix(line, "tcp"), strings.HasPrefix(line, "udp")
	if !tcp && !udp {
		return nil
	}
	m := value.MapOf("proto", at(f, 0), "recv-q", at(f, 1), "send-q", at(f, 2), "local-address", at(f, 3), "remote-address", at(f, 4))
	rest := 5
	if tcp {
		m.Set("state", at(f, 5))
		rest = 6
	} else if _, err := strconv.Atoi(at(f, 5)); err != nil {
		rest = 6
	}
	m.Set("user", at(f, rest))
	m.Set("inode", at(f, rest+1))
	m.Set("program", at(f, rest+2))
	return m
}

// ssLine reads a line of ss(8); nil is a line of no socket.
func ssLine(line string) *value.Map {
	f := strings.Fields(line)
	tcp, udp := strings.HasPrefix(line, "tcp"), strings.HasPrefix(line, "udp")
	if !tcp && !udp {
		return nil
	}
	m := value.MapOf("proto", at(f, 0), "recv-q", at(f, 2), "send-q", at(f, 3), "local-address", at(f, 4), "remote-address", at(f, 5))
	if tcp {
		state := at(f, 1)
		if state == "ESTAB" {
			state = "ESTABLISHED"
		}
		m.Set("state", state)
	}
	m.Set("user", int64(0))
	m.Set("inode", int64(0))
	m.Set("program", "")
	for _, word := range f[min(6, len(f)):] {
		key, v, _ := strings.Cut(word, ":")
		switch key {
		case "users":
			m.Set("program", at(strings.Split(v, `"`), 1))
		case "uid":
			m.Set("user", v)
		case "ino":
			m.Set("inode", v)
		}
	}
	return m
}

// activeTCP lists the established connections of /proc/net/tcp and tcp6.
// Salt: salt/utils/network.py active_tcp.
func activeTCP(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m := value.NewMap(8)
	if linux(c) != nil {
		return fun.Value(m)
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := c.Env.Host.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) < 4 || f[0] == "sl" || f[3] != "01" {
				continue
			}
			from, fromPort := endpoint(f[1])
			to, toPort := endpoint(f[2])
			m.Set(int64(m.Len()), value.MapOf("local_addr", from, "local_port", fromPort, "remote_addr", to, "remote_port", toPort))
		}
	}
	return fun.Value(m)
}

// endpoint reads address:port as /proc/net prints it: in hexadecimal, the address
// in words of the byte order of the machine, which is taken to be little-endian.
func endpoint(s string) (addr string, port int64) {
	text, p, _ := strings.Cut(s, ":")
	port, _ = strconv.ParseInt(p, 16, 32)
	b, err := hex.DecodeString(text)
	if err != nil || len(b)%4 != 0 {
		return text, port
	}
	for i := 0; i+3 < len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return text, port
	}
	return a.Unmap().String(), port
}

// arp lists the hardware addresses that arp(8) knows, each with its IP address.
func arp(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if err := tool.Need(c.Env.Host, "arp"); err != nil {
		return fun.Result{}, err
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, "arp", "-an")
	m := value.NewMap(4)
	for _, line := range out.Lines() {
		if f := strings.Fields(line); len(f) >= 4 {
			m.Set(f[3], strings.Trim(f[1], "()"))
		}
	}
	return fun.Result{Value: m, Retcode: out.Status}, err
}
