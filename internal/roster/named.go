package roster

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"brine/internal/source"
	"brine/internal/value"
)

// Bounds of what a target may stand for, and of how many addresses are tried at
// once.
const (
	maxNamed  = 65_536
	maxProbes = 256
)

// FromTarget reports whether rosters of a kind have the targets that the command
// line names, whatever they are, instead of a list to choose from.
func FromTarget(kind string) bool { return kind == "scan" || kind == "clustershell" }

// scan adds the addresses and networks of the target where one of the ports is
// open.
// Salt: salt/roster/scan.py. Difference: an address without an open port is left
// out; there it is a target without a host. All are tried at once.
func (l *loader) scan() error {
	var hosts []string
	for _, t := range l.o.Target {
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
		if ports[i] != 0 {
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
// Salt: salt/roster/clustershell.py, by the ClusterShell library. Difference:
// names of groups (@group) and the operators !, & and ^ are not known; a name is
// resolved when it is connected to.
func (l *loader) clustershell() error {
	var hosts []string
	for _, t := range l.o.Target {
		more, err := NodeSet(t)
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

// NodeSet writes a set of names out: commas separate names, and brackets hold
// numbers and ranges, with a step behind a slash and leading zeros kept:
// web[1-3,8],db[01-09/2]. Names come in order, each once.
func NodeSet(s string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, part := range splitSet(s) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if strings.ContainsAny(part, "@!&^") {
			return nil, fmt.Errorf("%q: groups (@) and the operators !, & and ^ of node sets are not supported", part)
		}
		names, err := expandNodes(part)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
		if len(out) > maxNamed {
			return nil, fmt.Errorf("%q stands for more than %d hosts", s, maxNamed)
		}
	}
	return out, nil
}

// splitSet cuts a set at its commas outside of brackets.
func splitSet(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth <= 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return append(parts, s[from:])
}

func expandNodes(s string) ([]string, error) {
	i := strings.IndexByte(s, '[')
	if i < 0 {
		if strings.ContainsAny(s, "] \t*?") {
			return nil, fmt.Errorf("%q is not the name of a node", s)
		}
		return []string{s}, nil
	}
	j := strings.IndexByte(s[i:], ']')
	if j < 0 {
		return nil, fmt.Errorf("%q: the bracket is not closed", s)
	}
	tails, err := expandNodes(s[i+j+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	for item := range strings.SplitSeq(s[i+1:i+j], ",") {
		nums, err := nodeRange(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		for _, n := range nums {
			for _, t := range tails {
				if out = append(out, s[:i]+n+t); len(out) > maxNamed {
					return nil, fmt.Errorf("%q stands for more than %d hosts", s, maxNamed)
				}
			}
		}
	}
	return out, nil
}

// nodeRange writes out 5, 1-10 and 01-20/2.
func nodeRange(s string) ([]string, error) {
	body, stepText, hasStep := strings.Cut(s, "/")
	from, to, isRange := strings.Cut(body, "-")
	if !isRange {
		to = from
	}
	lo, err1 := strconv.ParseUint(from, 10, 31)
	hi, err2 := strconv.ParseUint(to, 10, 31)
	step := uint64(1)
	var err3 error
	if hasStep {
		step, err3 = strconv.ParseUint(stepText, 10, 31)
	}
	if err1 != nil || err2 != nil || err3 != nil || step == 0 || hi < lo {
		return nil, fmt.Errorf("[%s] is not a range of numbers", s)
	}
	if (hi-lo)/step >= maxNamed {
		return nil, fmt.Errorf("[%s] stands for more than %d hosts", s, maxNamed)
	}
	width := 0
	if strings.HasPrefix(from, "0") {
		width = len(from)
	}
	var out []string
	for n := lo; n <= hi; n += step {
		out = append(out, fmt.Sprintf("%0*d", width, n))
	}
	return out, nil
}
