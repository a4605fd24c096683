package grains

import "brine/internal/py/value"

// readyNames are the core grains that a few small files and system calls tell.
// What asks a program, a name server or each device is not among them.
var readyNames = [...]string{
	"id", "kernel", "nodename", "kernelrelease", "kernelversion", "cpuarch", "os", "os_family", "osfullname", "osrelease",
	"oscodename", "osmajorrelease", "osfinger", "osrelease_info",
}

// Ready returns the grains that cost next to nothing: what the system is, and
// what files, configuration and this run have set. Others may be there too;
// [Grains.Get] tells.
func (g *Grains) Ready() *value.Map {
	m := value.NewMap(32)
	add := func(k value.Value) {
		if v, ok := g.Get(k); ok {
			m.Set(k, v)
		}
	}
	add("id")
	// On other kernels the grains of the system come from programs.
	if g.c.str("kernel") == "Linux" {
		for _, k := range readyNames {
			add(k)
		}
	}
	for _, k := range g.static().Keys() {
		add(k)
	}
	for _, k := range g.conf.Keys() {
		add(k)
	}
	g.mu.RLock()
	set := g.set.Keys()
	g.mu.RUnlock()
	for _, k := range set {
		add(k)
	}
	return m
}
