package jobs

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/value"
)

const (
	maxCuts  = 32  // how many places of a damaged line are tried
	maxDepth = 100 // how deep a damaged line is read
)

// salvage returns the readable beginning of a line of compact JSON that was cut
// short or overwritten; nil where there is none.
func salvage(line []byte) *value.Map {
	type cut struct {
		at   int
		rest string // what closes all that is open there
	}
	var cuts []cut
	var open []byte
	quoted, escaped := false, false
scan:
	for i, c := range line {
		switch {
		case c < ' ':
			break scan
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			if len(open) == maxDepth {
				break scan
			}
			open = append(open, c+2) // ASCII has the closing bracket two further
		case c == '}', c == ']', c == ',':
			at := i
			if c != ',' {
				if len(open) == 0 || open[len(open)-1] != c {
					break scan
				}
				open = open[:len(open)-1]
				at++
			}
			rest := slices.Clone(open)
			slices.Reverse(rest)
			if len(cuts) == maxCuts {
				cuts = slices.Delete(cuts, 0, 1)
			}
			cuts = append(cuts, cut{at, string(rest)})
			if len(open) == 0 {
				break scan
			}
		}
	}
	for _, c := range slices.Backward(cuts) {
		if m := decodeLine(append(slices.Clip(line[:c.at]), c.rest...)); m != nil {
			return m
		}
	}
	return nil
}

// take adds line n of a job's file; whole says that the line is complete. An
// unreadable part becomes a fault of the record, except for a last line that a
// crash cut short, which nobody has relied on.
func (j *Job) take(n int, b []byte, whole bool) {
	decode := decodeLine
	if j.trim != nil {
		decode = j.trim.line
	}
	if m := decode(b); m != nil {
		j.add(m)
		return
	}
	part := salvage(b)
	if load := part.Map("load"); load != nil && j.Load == nil {
		j.Load = load
		j.fault("", "line %d, what the job was asked to do, is readable in part", n)
		return
	}
	id, isReturn := part.Get("id")
	if isReturn {
		j.lost(value.Str(id), part, fmt.Sprintf("line %d of the record is damaged", n))
	}
	switch {
	case !whole && j.Load != nil:
	case isReturn:
		j.fault(value.Str(id), "line %d, the return of %s, is not readable", n, value.Str(id))
	default:
		j.fault("", "line %d is not readable", n)
	}
}

// A fault is something wrong with a record.
type fault struct {
	id   string // whose return it is; "" is none
	text string
}

func (j *Job) fault(id, format string, args ...any) {
	j.faults = append(j.faults, fault{id, fmt.Sprintf(format, args...)})
}

// lost notes that a target returned of whose return the record has only the line.
func (j *Job) lost(id string, line *value.Map, why string) {
	if j.Returns.Has(id) {
		return
	}
	r := value.MapOf("return", "The return is not in the record: "+why, "success", false)
	for _, k := range []string{"retcode", "success"} {
		if v, ok := line.Get(k); ok {
			r.Set(k, v)
		}
	}
	r.Set("damaged", why)
	j.Returns.Set(id, r)
}

// assessDamage sums up what is wrong with the record, after the last line.
func (j *Job) assessDamage() {
	j.Damage = j.summary(j.faults[min(j.explained, len(j.faults)):])
	if j.Load == nil {
		j.Load = value.MapOf("jid", j.JID)
		why := "what the job was asked to do is missing"
		if j.Damage != "" {
			why = j.Damage
		} else if j.Returns.Len() == 0 {
			why = "it is empty"
		}
		j.Damage = why
	}
	if (j.Damage != "" || j.explained > 0) && !j.Load.Has("Minions") {
		ids := value.NewList(j.Returns.Keys()...)
		for id := range j.Missing {
			if !j.Returns.Has(id) {
				ids.Append(id)
			}
		}
		slices.SortFunc(ids.Items, func(a, b value.Value) int { return strings.Compare(value.Str(a), value.Str(b)) })
		j.Load = j.Load.Copy()
		j.Load.Set("Minions", ids)
	}
}

// summary joins faults, the first of many. A return that was recorded again is
// none any more.
func (j *Job) summary(faults []fault) string {
	const most = 3
	var out []string
	for _, f := range faults {
		if r := j.Returns.Map(f.id); f.id == "" || r == nil || r.Has("damaged") {
			out = append(out, f.text)
		}
	}
	if n := len(out); n > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(out[:most], "; "), n-most)
	}
	return strings.Join(out, "; ")
}
