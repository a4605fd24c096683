package roster

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Limits on the number of machines of one target, and on how many addresses are
// tried at the same time.
const (
	maxNamed  = 65_536
	maxProbes = 256
)

// FromTarget reports whether rosters of a kind have the targets that a job names,
// whatever they are, instead of a list to choose from.
func FromTarget(kind string) bool { return kind == "scan" || kind == "clustershell" }

// AllFromTarget reports whether none of the kinds has a list to choose from.
func AllFromTarget(kinds []string) bool {
	return !slices.ContainsFunc(kinds, func(k string) bool { return !FromTarget(k) })
}

// Name returns a roster of what a target stands for by a kind that [FromTarget]
// names. Its entries are in r from then on; where r has an id already, it is that
// entry which counts.
func (r *Roster) Name(kind string, target ...string) (*Roster, error) {
	l := loader{o: r.o, r: &Roster{index: map[string]*Entry{}}, warned: map[string]bool{}}
	read := l.scan
	if kind == "clustershell" {
		read = l.clustershell
	}
	if err := read(target); err != nil {
		return nil, err
	}
	l.warnMistakes()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range l.r.entries {
		if old := r.index[e.ID]; old != nil {
			l.r.entries[i] = old
			continue
		}
		r.entries = append(r.entries, e)
		r.index[e.ID] = e
	}
	return l.r, nil
}

// scan adds the addresses and networks of the target where one of the ports is
// open.
// Salt: salt/roster/scan.py. Difference: an address without an open port is left
// out; there it is a target without a host. All are tried at once.
func (l *loader) scan(target []string) error {
	var hosts []string
	for t := range strings.SplitSeq(strings.Join(target, ","), ",") {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if a, err := netip.ParseAddr(t); err == nil {
			hosts = append(hosts, a.String())
			continue
		}
		net, err := netip.ParsePrefix(t)
		if err != nil {
			return fmt.Errorf("the roster scan needs an address or a network as target, such as 192.0.2.0/24, not %q", t)
		}
		more, err := addresses(net.Masked())
		if err != nil {
			return err
		}
		hosts = append(hosts, more...)
	}
	if len(hosts) == 0 {
		return errors.New("the roster scan needs an address or a network as target: brine ssh --roster scan 192.0.2.0/24 test.ping")
	}
	ports, err := l.probe(hosts)
	if err != nil {
		return err
	}
	for i, h := range hosts {
		if _, twice := l.r.index[h]; ports[i] != 0 && !twice {
			l.add(h, value.MapOf("host", h, "port", int64(ports[i])), source.Pos{File: "scan"})
		}
	}
	return nil
}

// addresses returns the hosts of a network: all but its own address and the
// broadcast address.
func addresses(net netip.Prefix) ([]string, error) {
	bits := net.Addr().BitLen() - net.Bits()
	if bits > 16 {
		return nil, fmt.Errorf("%s has more than %d addresses, which are too many to scan", net, maxNamed)
	}
	var out []string
	for a := net.Addr(); a.IsValid() && net.Contains(a); a = a.Next() {
		out = append(out, a.String())
	}
	if bits > 1 {
		out = out[1:]
		if net.Addr().Is4() {
			out = out[:len(out)-1]
		}
	}
	return out, nil
}

// clustershell adds the hosts of a node set, such as web[1-10,15],db[01-03].
// Salt: salt/roster/clustershell.py, by the ClusterShell library. Difference: a
// name is resolved when it is connected to.
func (l *loader) clustershell(target []string) error {
	var hosts []string
	groups := &nodeGroups{files: l.o.Files, home: l.o.Home}
	for _, t := range target {
		more, err := NodeSet(t, groups.find)
		if err != nil {
			return err
		}
		if hosts = append(hosts, more...); len(hosts) > maxNamed {
			return fmt.Errorf("the target stands for more than %d hosts", maxNamed)
		}
	}
	if len(hosts) == 0 {
		return errors.New("the roster clustershell needs a node set as target: brine ssh --roster clustershell 'web[1-10]' test.ping")
	}
	ports, err := l.probe(hosts)
	if err != nil {
		return err
	}
	for i, h := range hosts {
		m := value.MapOf("host", h)
		if ports[i] != 0 {
			m.Set("port", int64(ports[i]))
		}
		if _, ok := l.r.index[h]; !ok {
			l.add(h, m, source.Pos{File: "clustershell"})
		}
	}
	return nil
}

// probe returns the first open port of each host, 0 where none is.
func (l *loader) probe(hosts []string) ([]int, error) {
	open := make([]int, len(hosts))
	var ports []int
	for _, p := range l.o.ScanPorts {
		n, err := port(p)
		if err != nil {
			return nil, fmt.Errorf("ssh_scan_ports: %w", err)
		}
		ports = append(ports, n)
	}
	if l.o.Open == nil {
		return open, nil
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxProbes)
	for i, h := range hosts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for _, p := range ports {
				if l.o.Open(h, p) {
					open[i] = p
					return
				}
			}
		})
	}
	wg.Wait()
	return open, nil
}
