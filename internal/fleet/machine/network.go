package machine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"brine/internal/core/host"
)

// networkOf is the range of the network between machines. Nothing outside them has it.
var networkOf = netip.MustParsePrefix("198.18.0.0/24")

// CanConnect returns an *[UnusableError] if machines cannot have a network of their own.
func (p *Pool) CanConnect(d *Driver) error {
	if d.container {
		return &UnusableError{"network", "containers of " + d.Name + " are not connected", "use --driver nspawn or namespace if the machines are to reach each other"}
	}
	if _, err := p.Host.LookPath("ip", ""); err != nil {
		return &UnusableError{"network", "there is no program ip", "install iproute2"}
	}
	return nil
}

// Connect connects machines that have no network: each gets an interface eth0, and
// /etc/hosts with the names of all. The bridge between them is in the first one, so that
// this machine has nothing of it.
func (p *Pool) Connect(ctx context.Context, machines []*Machine) error {
	hub := machines[0]
	script, hosts := "ip link add br0 type bridge\nip link set br0 up\n", ""
	addr := networkOf.Addr()
	for i, m := range machines {
		addr = addr.Next()
		hosts += addr.String() + "\t" + m.Name + "\n"
		at, inner := netip.PrefixFrom(addr, networkOf.Bits()), "nsenter -t "+strconv.Itoa(m.init)+" -n "
		script += fmt.Sprintf("ip link add port%d type veth peer name eth0 netns %d\n", i, m.init)
		script += fmt.Sprintf("ip link set port%d master br0 up\n", i)
		script += fmt.Sprintf("%sip addr add %s dev eth0\n%sip link set eth0 up\n", inner, at, inner)
	}
	out, err := p.Host.Run(ctx, host.Cmd{Argv: append(p.usersOf(hub.init), "--net", "sh", "-euc", script), Merge: true})
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("connect the machines: %s", strings.TrimSpace(string(out.Stdout)))
	}
	if err != nil {
		return err
	}
	for _, m := range machines {
		if err := m.addHosts(ctx, hosts); err != nil {
			return fmt.Errorf("write /etc/hosts of %s: %w", m.Name, err)
		}
	}
	return nil
}

// hostsScript adds lines to /etc/hosts of a machine. It needs no program of the machine.
const hostsScript = `set -eu
root=$1
inside /etc/hosts
mkdir -p "$root/etc"
printf %s "$2" >>"$root/etc/hosts"`

func (m *Machine) addHosts(ctx context.Context, lines string) error {
	argv := append(m.mounts(), "sh", "-c", linksScript+hostsScript, "hosts.sh", filepath.Join(m.dir, "m/root"), lines)
	out, err := m.pool.Host.Run(ctx, host.Cmd{Argv: argv, Merge: true})
	if err == nil && out.Status != 0 {
		err = errors.New(strings.TrimSpace(string(out.Stdout)))
	}
	return err
}
