package value

import (
	"fmt"
	"iter"
	"math/big"
	"strings"
	"time"
)

// A Range is Python's range.
type Range struct{ Start, Stop, Step int64 }

// NewRange returns range(start, stop, step).
func NewRange(start, stop, step int64) (Range, error) {
	if step == 0 {
		return Range{}, Raise("ValueError", "range() arg 3 must not be zero")
	}
	return Range{start, stop, step}, nil
}

// Count returns the number of items without regard to the size of int.
func (r Range) Count() *big.Int {
	span := new(big.Int).Sub(big.NewInt(r.Stop), big.NewInt(r.Start))
	step := big.NewInt(r.Step)
	if span.Sign() == 0 || span.Sign() != step.Sign() {
		return new(big.Int)
	}
	span.Abs(span)
	step.Abs(step)
	span.Sub(span, big.NewInt(1)).Quo(span, step)
	return span.Add(span, big.NewInt(1))
}

// Len returns the number of items.
func (r Range) Len() int {
	n := r.Count()
	if !n.IsInt64() {
		return int(^uint(0) >> 1)
	}
	return int(n.Int64())
}

// At returns item i.
func (r Range) At(i int) Value { return r.Start + int64(i)*r.Step }

// Has reports whether v is an item.
func (r Range) Has(v Value) bool {
	if f, ok := v.(float64); ok {
		if f != float64(int64(f)) {
			return false
		}
		v = int64(f)
	}
	i, ok := AsInt(v)
	if !ok || r.Len() == 0 {
		return false
	}
	last := r.Start + int64(r.Len()-1)*r.Step
	lo, hi := min(r.Start, last), max(r.Start, last)
	return i >= lo && i <= hi && (i-r.Start)%r.Step == 0
}

// Iterate ranges over the items.
func (r Range) Iterate() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := range r.Len() {
			if !yield(r.At(i)) {
				return
			}
		}
	}
}

func (r Range) slice(start, count, by int) Range {
	s := Range{r.Start + int64(start)*r.Step, 0, r.Step * int64(by)}
	s.Stop = s.Start + int64(count)*s.Step
	return s
}

// Repr prints as Python does, without a step of one.
func (r Range) Repr() string {
	if r.Step == 1 {
		return fmt.Sprintf("range(%d, %d)", r.Start, r.Stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", r.Start, r.Stop, r.Step)
}

// TypeName is "range".
func (r Range) TypeName() string { return "range" }

// EqualValue compares as sequences.
func (r Range) EqualValue(v Value) bool {
	o, ok := v.(Range)
	if !ok || r.Len() != o.Len() {
		return false
	}
	return r.Len() == 0 || r.Start == o.Start && (r.Len() == 1 || r.Step == o.Step)
}

// A ViewKind says what a view of a dict shows.
type ViewKind uint8

// The kinds of views.
const (
	Keys ViewKind = iota
	Values
	Pairs
)

// A View is what dict.keys, values and items return: it follows the dict.
type View struct {
	Of   Mapping
	Kind ViewKind
}

// Len returns the number of entries.
func (v *View) Len() int { return v.Of.Len() }

// Iterate ranges over what the view shows.
func (v *View) Iterate() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for _, k := range v.Of.Keys() {
			x := k
			if v.Kind != Keys {
				val, _ := v.Of.Get(k)
				if x = val; v.Kind == Pairs {
					x = Tuple{k, val}
				}
			}
			if !yield(x) {
				return
			}
		}
	}
}

func (v *View) has(x Value) (bool, error) {
	switch v.Kind {
	case Keys:
		if err := CheckHash(x); err != nil {
			return false, err
		}
		_, ok := v.Of.Get(x)
		return ok, nil
	case Pairs:
		t, ok := AsTuple(x)
		if !ok || len(t) != 2 {
			return false, nil
		}
		if err := CheckHash(t[0]); err != nil {
			return false, err
		}
		val, ok := v.Of.Get(t[0])
		return ok && same(val, t[1]), nil
	default: // Values
	}
	for y := range v.Iterate() {
		if same(x, y) {
			return true, nil
		}
	}
	return false, nil
}

// Repr prints as dict_keys([...]) and the like.
func (v *View) Repr() string { return Repr(v) }

// TypeName is dict_keys, dict_values or dict_items, odict_ for an OrderedDict.
func (v *View) TypeName() string {
	name := [...]string{"dict_keys", "dict_values", "dict_items"}[v.Kind]
	if m, ok := v.Of.(*Map); ok && m.Ordered {
		return "o" + name
	}
	return name
}

// EqualValue compares as sets; views of values are never equal.
func (v *View) EqualValue(o Value) bool {
	x, ok := asSetOperand(v)
	y, ok2 := asSetOperand(o)
	if ok && ok2 {
		return x.equal(y)
	}
	ov, isView := o.(*View)
	return isView && ov == v
}

// A Delta is Python's timedelta.
type Delta time.Duration

// Parts returns the days, the seconds within a day and the microseconds, as
// Python normalizes them: only days may be negative.
func (d Delta) Parts() (days, seconds, micros int64) {
	us := int64(d) / 1000
	const day = 86400 * 1000000
	days = us / day
	us %= day
	if us < 0 {
		days--
		us += day
	}
	return days, us / 1000000, us % 1000000
}

// Repr prints as datetime.timedelta(days=1, seconds=2).
func (d Delta) Repr() string {
	days, s, us := d.Parts()
	var parts []string
	for _, p := range []struct {
		name string
		n    int64
	}{{"days", days}, {"seconds", s}, {"microseconds", us}} {
		if p.n != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", p.name, p.n))
		}
	}
	if parts == nil {
		parts = []string{"0"}
	}
	return "datetime.timedelta(" + strings.Join(parts, ", ") + ")"
}

// PyStr prints as "1 day, 0:00:02".
func (d Delta) PyStr() string {
	days, s, us := d.Parts()
	out := fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	if us != 0 {
		out += fmt.Sprintf(".%06d", us)
	}
	if days != 0 {
		unit := "days"
		if days == 1 || days == -1 {
			unit = "day"
		}
		out = fmt.Sprintf("%d %s, %s", days, unit, out)
	}
	return out
}

// Truth is false for no time at all.
func (d Delta) Truth() bool { return d != 0 }

// TypeName is "timedelta".
func (d Delta) TypeName() string { return "timedelta" }
