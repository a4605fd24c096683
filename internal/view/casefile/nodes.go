package casefile

import (
	"regexp"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Controller is the host name of the machine that an orchestration runs on.
const Controller = "controller"

// maxNodes bounds how many machines a case has.
const maxNodes = 32

// A Node is a machine that an orchestration has as a target.
type Node struct {
	Pos    source.Pos
	Name   string // its host name and id
	System string // "" is that of the test
	Grains *value.Map
	Pillar []PillarSLS // over that of the case
	Expect Expect
}

// SystemOf returns the system of a machine in a test on a system.
func (n *Node) SystemOf(system string) string {
	if n.System != "" {
		return n.System
	}
	return system
}

// orchestration reads what is run over which machines.
func (r *reader) orchestration(c *Case, m *value.Map) {
	c.Orchestrate = r.Texts(m, "orchestrate")
	machines := r.mapping(m, "machines")
	switch {
	case len(c.Orchestrate) == 0 && machines == nil: // what is wrong with them is known
	case len(c.Orchestrate) == 0:
		r.Fault(m.Pos("machines"), "the case %s has machines and no orchestration: name its SLS file under orchestrate", c.Name)
	case machines.Len() == 0:
		r.Fault(m.Pos("orchestrate"), "the case %s has an orchestration and no machines: name its targets under machines", c.Name)
	case machines.Len() > maxNodes:
		r.Fault(m.Pos("machines"), "the case %s has %d machines: at most %d are possible", c.Name, machines.Len(), maxNodes)
	}
	for _, key := range []string{"sls", "highstate"} {
		if m.Has(key) {
			r.Fault(m.Pos(key), "the case %s has both orchestrate and %s: the orchestration applies states", c.Name, key)
		}
	}
	for _, key := range []string{"clean", "prepare"} {
		if m.Has(key) {
			r.Fault(m.Pos(key), "%s is not possible for an orchestration: write it as steps of one", key)
		}
	}
	if m.Has("expect") {
		r.Fault(m.Pos("expect"), "expect belongs to a machine of an orchestration: write it under machines")
	}
	for k, v := range machines.All() {
		r.node(c, machines.Pos(k), value.Str(k), v)
	}
}

// hostName is a host name without a domain, in lower case.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })

// node reads one machine.
func (r *reader) node(c *Case, pos source.Pos, name string, v value.Value) {
	switch {
	case !hostName().MatchString(name):
		r.Fault(pos, "the machine %q: it must be a host name of at most 63 lower-case letters, digits and '-'", name)
	case name == Controller || name == "localhost":
		r.Fault(pos, "a machine cannot be named %s: that is where the orchestration runs", name)
	}
	m, ok := v.(*value.Map)
	if !ok && v != nil {
		r.Fault(pos, "the machine %s must be a mapping, such as {system: debian-12}, not %s", name, value.Kind(v))
	}
	r.Keys(m, "the machine "+name, "expect", "grains", "pillar", "pillar_files", "system")
	n := Node{Pos: pos, Name: name, System: r.Text(m, "system"), Grains: r.mapping(m, "grains"), Expect: r.expect(m)}
	if n.System != "" {
		r.checkName(m.Pos("system"), "the system", n.System)
	}
	own := &Case{}
	r.pillar(own, m)
	for _, p := range own.Pillar {
		p.Name = "machine-" + name + "-" + p.Name
		n.Pillar = append(n.Pillar, p)
	}
	c.Nodes = append(c.Nodes, n)
}

// checkNodes checks what machines and the settings of their case are together. A case
// whose machines all name their system is one test, whatever its systems are.
func (r *reader) checkNodes(c *Case, m *value.Map) {
	if c.Machine.Network {
		pos := c.Pos
		if m.Has("network") {
			pos = m.Pos("network")
		}
		r.Fault(pos, "network: true is not possible for an orchestration: its machines have a network of their own")
	}
	for _, n := range c.Nodes {
		if n.System == "" {
			return
		}
	}
	c.Systems = []string{c.Nodes[0].System}
}
