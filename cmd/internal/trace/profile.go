package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"brine/internal/printable"
	"brine/internal/value"
)

// A sum is the time of all spans of one kind.
type sum struct {
	kind           string
	count          int
	total, longest time.Duration
	of             string // the longest one
	first          time.Time
}

// A hostSum is the time of one host in one step, by kind.
type hostSum struct {
	step, host string
	total      time.Duration
	parts      map[string]time.Duration
	failed     bool
}

// maxHosts is how many hosts the text of a profile has: those that took longest.
const maxHosts = 40

// sums adds spans up, by kind in the order in which the kinds began, and by host,
// the slowest first.
func sums(spans []Span) (kinds []sum, hosts []hostSum) {
	at, host := map[string]int{}, map[[2]string]int{}
	for i := range spans {
		s := &spans[i]
		length := s.End.Sub(s.Start)
		k := [2]string{s.Step, s.Host}
		switch s.Kind {
		case Run:
			continue
		case Host:
			h, ok := host[k]
			if !ok {
				h = len(hosts)
				host[k] = h
				hosts = append(hosts, hostSum{step: s.Step, host: s.Host, parts: map[string]time.Duration{}})
			}
			hosts[h].total += length
			hosts[h].failed = hosts[h].failed || s.Failed
		default:
			if h, ok := host[k]; ok {
				hosts[h].parts[s.Kind] += length
			}
		}
		n, ok := at[s.Kind]
		if !ok {
			n = len(kinds)
			at[s.Kind] = n
			kinds = append(kinds, sum{kind: s.Kind, first: s.Start})
		}
		x := &kinds[n]
		x.count++
		x.total += length
		if length > x.longest || x.of == "" {
			x.longest, x.of = length, label(s)
		}
		if s.Start.Before(x.first) {
			x.first = s.Start
		}
	}
	slices.SortStableFunc(kinds, func(a, b sum) int { return a.first.Compare(b.first) })
	slices.SortStableFunc(hosts, func(a, b hostSum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.step, b.step), cmp.Compare(a.host, b.host))
	})
	return kinds, hosts
}

// label says whose the longest span of a kind was.
func label(s *Span) string {
	switch s.Kind {
	case State:
		if s.Step != "" {
			return s.Host + ": " + s.Name
		}
		return s.Name
	case Step:
		return s.Name
	}
	return s.Host
}

// hostKinds are the columns of hosts: what each is called, and the kinds of spans
// in it.
var hostKinds = [...]struct{ name, kind string }{
	{"connect", "connecting"},
	{"auth", "authenticating"},
	{"wait", "waiting for the agent"},
	{"push", "pushing"},
	{"agent", "starting the agent"},
	{"prepare", "preparing"},
	{"states", State},
}

// Text prints a profile: the time of each part of the run, and of its hosts.
func Text(w io.Writer, spans []Span) error {
	kinds, hosts := sums(spans)
	if len(spans) == 0 || len(kinds) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "\nTime of the run: %s ms\n\n", ms(spans[0].End.Sub(spans[0].Start)))
	fmt.Fprintln(t, "part\tcount\ttotal (ms)\tlongest (ms)\tof")
	for _, k := range kinds {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", k.kind, k.count, ms(k.total), ms(k.longest), short(k.of))
	}
	if err := t.Flush(); err != nil || len(hosts) == 0 {
		return err
	}
	head := []string{"host"}
	for _, k := range hostKinds {
		head = append(head, k.name)
	}
	fmt.Fprintln(t, "\n"+strings.Join(append(head, "total (ms)"), "\t"))
	for _, h := range hosts[:min(len(hosts), maxHosts)] {
		name := h.host
		if h.step != "" {
			name = h.step + " / " + h.host
		}
		fmt.Fprint(t, short(name))
		for _, k := range hostKinds {
			cell := "-"
			if d, ok := h.parts[k.kind]; ok {
				cell = ms(d)
			}
			fmt.Fprint(t, "\t"+cell)
		}
		fmt.Fprintln(t, "\t"+ms(h.total))
	}
	if more := len(hosts) - maxHosts; more > 0 {
		fmt.Fprintf(t, "%d more, which took less\n", more)
	}
	return t.Flush()
}

// maxLabel is how much of a name the text has, in characters.
const maxLabel = 60

func short(s string) string {
	s = printable.Line(s)
	if r := []rune(s); len(r) > maxLabel {
		return string(r[:maxLabel-3]) + "..."
	}
	return s
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// Data returns a profile as data: the times in milliseconds. Fields may be added.
func Data(spans []Span) *value.Map {
	kinds, hosts := sums(spans)
	number := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	parts, list, states := value.NewList(), value.NewList(), value.NewList()
	for _, k := range kinds {
		parts.Append(value.MapOf("part", k.kind, "count", int64(k.count), "total", number(k.total), "longest", number(k.longest), "of", k.of))
	}
	for _, h := range hosts {
		m := value.MapOf("host", h.host, "failed", h.failed, "total", number(h.total))
		if h.step != "" {
			m.Set("step", h.step)
		}
		for _, k := range hostKinds {
			if d, ok := h.parts[k.kind]; ok {
				m.Set(k.name, number(d))
			}
		}
		list.Append(m)
	}
	total := 0.0
	for i := range spans {
		s := &spans[i]
		switch s.Kind {
		case Run:
			total = number(s.End.Sub(s.Start))
		case State, Step:
			m := value.MapOf("host", s.Host, "id", s.Name, "fun", s.Fun, "status", s.Status, "begin", number(s.Start.Sub(spans[0].Start)), "duration", number(s.End.Sub(s.Start)))
			if s.Step != "" {
				m.Set("step", s.Step)
			}
			states.Append(m)
		}
	}
	return value.MapOf("total", total, "parts", parts, "hosts", list, "states", states)
}
