package drift

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Metrics writes records in Prometheus' text format, for the textfile collector of
// node_exporter. A host that never agreed has no time of that.
func Metrics(w io.Writer, subjects []*Subject, unreadable int) error {
	b := bufio.NewWriter(w)
	metric := func(name, help string, rows func(emit func(labels string, v any))) {
		fmt.Fprintf(b, "# HELP brine_drift_%s %s\n# TYPE brine_drift_%s gauge\n", name, help, name)
		rows(func(labels string, v any) { fmt.Fprintf(b, "brine_drift_%s%s %v\n", name, labels, v) })
	}
	each := func(f func(labels string, r *Record)) {
		for _, s := range subjects {
			for i := range s.Records {
				r := &s.Records[i]
				f("{"+label("plan", s.Name)+","+label("host", r.Host), r)
			}
		}
	}
	stamp := func(at func(r *Record) time.Time) func(func(string, any)) {
		return func(emit func(string, any)) {
			each(func(labels string, r *Record) {
				if t := at(r); !t.IsZero() {
					emit(labels+"}", t.Unix())
				}
			})
		}
	}
	metric("host_status", "1 for the status of a host.", func(emit func(string, any)) {
		each(func(labels string, r *Record) { emit(labels+","+label("status", r.Status)+"}", 1) })
	})
	metric("host_states", "States that deviate or are not known, of the last time that a host answered.", func(emit func(string, any)) {
		each(func(labels string, r *Record) {
			if !r.Looked.IsZero() {
				emit(labels+"}", r.Due)
			}
		})
	})
	metric("host_tried_timestamp_seconds", "When a plan last meant a host.", stamp(func(r *Record) time.Time { return r.Tried }))
	metric("host_looked_timestamp_seconds", "When a host last answered.", stamp(func(r *Record) time.Time { return r.Looked }))
	metric("host_agreed_timestamp_seconds", "When a host last agreed with its states.", stamp(func(r *Record) time.Time { return r.Agreed }))
	metric("unreadable", "Damaged records, and files that cannot be read.", func(emit func(string, any)) {
		for _, s := range subjects {
			unreadable += s.Damaged
		}
		emit("", unreadable)
	})
	return b.Flush()
}

var labelText = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")

func label(name, text string) string {
	return name + `="` + labelText.Replace(strings.ToValidUTF8(text, "\uFFFD")) + `"`
}
