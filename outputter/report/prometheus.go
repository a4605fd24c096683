package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Prometheus writes the last run as metrics in Prometheus' text format, for the
// textfile collector of node_exporter: totals of the run, and of each host.
// States have no metrics of their own: their number is not bounded.
func Prometheus(w io.Writer, r *Run) error {
	b := bufio.NewWriter(w)
	run := label("fun", cmp.Or(r.Fun, "none"))
	metric := func(name, help string, rows func(emit func(labels string, v any))) {
		fmt.Fprintf(b, "# HELP brine_%s %s\n# TYPE brine_%s gauge\n", name, help, name)
		rows(func(labels string, v any) { fmt.Fprintf(b, "brine_%s{%s} %v\n", name, labels, v) })
	}
	failed := 0
	if r.Failed() {
		failed = 1
	}
	metric("run_failed", "1 if the last run failed.", func(emit func(string, any)) { emit(run, failed) })
	metric("run_duration_seconds", "How long the last run took.", func(emit func(string, any)) { emit(run, seconds(r.Length())) })
	if end := r.ended(); !end.IsZero() {
		metric("run_end_timestamp_seconds", "When the last run ended.", func(emit func(string, any)) { emit(run, end.Unix()) })
	}
	metric("run_hosts", "Hosts of the last run.", func(emit func(string, any)) { emit(run, len(r.Hosts())) })
	counts := r.byHost()
	hosts := slices.Sorted(maps.Keys(counts))
	metric("host_states", "Results of the last run by host and status.", func(emit func(string, any)) {
		for _, h := range hosts {
			for s, n := range counts[h].ByStatus {
				emit(run+","+label("host", h)+","+label("status", statusNames[s]), n)
			}
		}
	})
	metric("host_duration_seconds", "Time spent in states and functions of the last run.", func(emit func(string, any)) {
		for _, h := range hosts {
			emit(run+","+label("host", h), seconds(counts[h].Length))
		}
	})
	return b.Flush()
}

// ended is when the run ended, as far as it is known.
func (r *Run) ended() time.Time {
	if r.End.IsZero() && !r.Start.IsZero() {
		return r.Start.Add(r.Length())
	}
	return r.End
}

// byHost sums up the results of each host.
func (r *Run) byHost() map[string]Count {
	out := map[string]Count{}
	for _, s := range r.Suites {
		c := out[s.Host]
		for i, n := range s.Count.ByStatus {
			c.ByStatus[i] += n
		}
		c.Length += s.Count.Length
		out[s.Host] = c
	}
	return out
}

var labelText = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")

func label(name, text string) string {
	return name + `="` + labelText.Replace(strings.ToValidUTF8(text, "\uFFFD")) + `"`
}
