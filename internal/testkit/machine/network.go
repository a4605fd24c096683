//go:build linux

package machine

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// A Network has a controller's network namespace and a cable from it to each of
// some machines. The machines do not reach each other.
type Network struct {
	Addrs []string // of the machines, seen from the controller

	name string
}

// Connect lays the cables. They stay when a machine reboots, and are removed at
// the end of the test.
func Connect(t testing.TB, machines ...*Machine) *Network {
	t.Helper()
	n := &Network{name: fmt.Sprintf("bc%d-%d", os.Getpid(), booted.Add(1))}
	must := func(args ...string) {
		t.Helper()
		if err := ip(args...); err != nil {
			t.Fatal(err)
		}
	}
	must("netns", "add", n.name)
	t.Cleanup(func() { _ = ip("netns", "del", n.name) })
	must("-n", n.name, "link", "set", "lo", "up")
	for i, m := range machines {
		near, here, there := fmt.Sprintf("m%d", i+1), fmt.Sprintf("10.99.%d.1", i+1), fmt.Sprintf("10.99.%d.2", i+1)
		must("-n", n.name, "link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", m.name)
		must("-n", n.name, "addr", "add", here+"/30", "dev", near)
		must("-n", n.name, "link", "set", near, "up")
		must("-n", m.name, "addr", "add", there+"/30", "dev", "eth0")
		must("-n", m.name, "link", "set", "eth0", "up")
		n.Addrs = append(n.Addrs, there)
	}
	return n
}

// Command returns a command of this machine that runs in the controller's network.
func (n *Network) Command(argv ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=/run/netns/" + n.name, "--"}, argv...)...)
}
