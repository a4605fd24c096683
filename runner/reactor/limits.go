package reactor

import (
	"fmt"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Limits are what holds for events that workers react to.
type Limits struct {
	Waiting int // how many events may wait for a worker
	Depth   int // how many reactions may lead to an event that is reacted to
	// Age is how old an event of a stream may be that a worker reacts to when it starts.
	Age   time.Duration
	joins []join
}

// A join says which events one reaction can stand for, while it waits.
type join struct {
	glob string
	keys []string // of data, which are the same; none: all but the time
}

// Defaults of the limits, and what they may be at most.
const (
	defaultWaiting = 10_000 // as Salt's
	defaultDepth   = 8
	defaultAge     = 600 // seconds
	maxWaiting     = 1_000_000
	maxDepth       = 50
	maxAge         = 30 * 24 * 3600
)

// ReadLimits reads the options reactor_worker_hwm, reactor_depth, reactor_max_age and
// reactor_coalesce; place is where an option was written.
func ReadLimits(opts *value.Map, place func(option string) source.Pos) (*Limits, error) {
	l := &Limits{Waiting: defaultWaiting, Depth: defaultDepth}
	age := defaultAge
	for _, x := range []struct {
		option string
		at     *int
		most   int64
	}{{"reactor_worker_hwm", &l.Waiting, maxWaiting}, {"reactor_depth", &l.Depth, maxDepth}, {"reactor_max_age", &age, maxAge}} {
		v := opts.At(x.option)
		if v == nil {
			continue
		}
		n, ok := value.AsInt(v)
		if !ok || n < 1 || n > x.most {
			return nil, &source.Error{Pos: place(x.option), Err: fmt.Errorf("%s must be a number from 1 to %d, not %s", x.option, x.most, value.Repr(v))}
		}
		*x.at = int(n)
	}
	l.Age = time.Duration(age) * time.Second
	var err error
	l.joins, err = joins(opts.At("reactor_coalesce"), place("reactor_coalesce"))
	return l, err
}

// joins reads the option reactor_coalesce.
func joins(v value.Value, pos source.Pos) (out []join, err error) {
	bad := func(pos source.Pos, format string, args ...any) error {
		return &source.Error{Pos: pos, Err: fmt.Errorf("reactor_coalesce: "+format, args...), Hint: `write a list of globs of tags with the keys of data that are the same: "- 'disk/*': [id]"; True stands for all of data`}
	}
	if v == nil {
		return nil, nil
	}
	list, ok := v.(*value.List)
	if !ok {
		return nil, bad(pos, "it must be a list, not %s", value.Kind(v))
	}
	for i, x := range list.Items {
		at := list.PosAt(i)
		if at.IsZero() {
			at = pos
		}
		m, ok := x.(*value.Map)
		if !ok || m.Len() != 1 {
			return nil, bad(at, "item %d must be a mapping with one key, not %s", i+1, value.Repr(x))
		}
		glob, keys := m.Entry(0)
		j := join{glob: value.Str(glob)}
		switch keys := keys.(type) {
		case bool:
			if !keys {
				return nil, bad(at, "%s: False has no effect: leave the glob out", j.glob)
			}
		case *value.List:
			for _, k := range keys.Items {
				name, ok := k.(string)
				if !ok {
					return nil, bad(at, "%s: a key of data must be a string, not %s", j.glob, value.Repr(k))
				}
				j.keys = append(j.keys, name)
			}
			if len(j.keys) == 0 {
				return nil, bad(at, "%s: no key of data is named", j.glob)
			}
		default:
			return nil, bad(at, "%s: a list of keys of data is needed, or True, not %s", j.glob, value.Repr(keys))
		}
		out = append(out, j)
	}
	return out, nil
}

// Same returns what an event has in common with those that one reaction can stand for; ok is
// false if there are none.
func (l *Limits) Same(tag string, data *value.Map) (same string, ok bool) {
	for _, j := range l.joins {
		if !value.Fnmatch(j.glob, tag) {
			continue
		}
		of := data.Copy()
		of.Delete("_stamp")
		if len(j.keys) > 0 {
			of = value.NewMap(len(j.keys))
			for _, k := range j.keys {
				of.Set(k, data.At(k))
			}
		}
		return tag + "\n" + Canonical(of), true
	}
	return "", false
}

// Canonical is data as a text that is the same whatever the order of its keys.
func Canonical(data *value.Map) string {
	b, err := value.AppendJSON(nil, data, value.JSONOptions{Repr: true, SortKeys: true, SkipKeys: true, EscapeNonASCII: true})
	if err != nil { // data that refers to itself
		return value.Repr(data)
	}
	return string(b)
}
