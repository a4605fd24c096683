package value

import (
	"time"
)

// Compare returns a op b, where op is one of < <= > >= == !=.
func Compare(op string, a, b Value) (bool, error) {
	switch op {
	case "==":
		return Equal(a, b), nil
	case "!=":
		return !Equal(a, b), nil
	}
	return compare(op, a, b, 0)
}

func compare(op string, a, b Value, depth int) (bool, error) {
	if depth > MaxDepth {
		return false, Raise("RecursionError", "maximum recursion depth exceeded in comparison")
	}
	if IsNumber(a) && IsNumber(b) {
		c, ok := compareNumbers(a, b)
		return ok && holds(op, c), nil
	}
	if x, ok := AsText(a); ok {
		if y, ok := AsText(b); ok {
			return holds(op, compareText(x, y)), nil
		}
	}
	switch x := a.(type) {
	case Bytes:
		if y, ok := b.(Bytes); ok {
			return holds(op, compareText(string(x), string(y))), nil
		}
	case *List:
		if y, ok := b.(*List); ok {
			return compareItems(op, x.Items, y.Items, depth)
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return holds(op, x.Compare(y)), nil
		}
	case Delta:
		if y, ok := b.(Delta); ok {
			return holds(op, int(min(max(x-y, -1), 1))), nil
		}
	}
	if x, ok := AsTuple(a); ok {
		if y, ok := AsTuple(b); ok {
			return compareItems(op, x, y, depth)
		}
	}
	if x, ok := asSetOperand(a); ok {
		if y, ok := asSetOperand(b); ok {
			return compareSets(op, x, y), nil
		}
	}
	if v, done, err := overloaded(op, a, b); done {
		return Truth(v), err
	}
	return false, Raise("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, OperandType(a), OperandType(b))
}

func holds(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// compareText orders by code points; in UTF-8 that is the order of bytes.
func compareText(x, y string) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func compareItems(op string, x, y []Value, depth int) (bool, error) {
	for i := 0; i < len(x) && i < len(y); i++ {
		if err := Fault(x[i], "=="); err != nil {
			return false, err
		}
		if err := Fault(y[i], "=="); err != nil {
			return false, err
		}
		if !same(x[i], y[i]) {
			return compare(op, x[i], y[i], depth+1)
		}
	}
	return holds(op, len(x)-len(y)), nil
}

func compareSets(op string, x, y *Set) bool {
	switch op {
	case "<":
		return x.Len() < y.Len() && subset(x, y)
	case "<=":
		return subset(x, y)
	case ">":
		return y.Len() < x.Len() && subset(y, x)
	}
	return subset(y, x)
}

func subset(x, y *Set) bool {
	for _, v := range x.Items() {
		if !y.Has(v) {
			return false
		}
	}
	return true
}

// SortValues sorts items in place as list.sort: stable, by < alone, with an
// error where two of them have no order. key may be nil.
func SortValues(items []Value, key func(Value) (Value, error), reverse bool) error {
	ents := make([]sortEntry, len(items))
	for i, v := range items {
		k := v
		if key != nil {
			var err error
			if k, err = key(v); err != nil {
				return err
			}
		}
		ents[i] = sortEntry{k, v}
	}
	// Sorting the reversed list and reversing again keeps equal items in
	// order.
	if reverse {
		flip(ents)
	}
	if err := mergeSort(ents, make([]sortEntry, len(ents))); err != nil {
		return err
	}
	if reverse {
		flip(ents)
	}
	for i := range ents {
		items[i] = ents[i].val
	}
	return nil
}

type sortEntry struct{ key, val Value }

func flip(e []sortEntry) {
	for i, j := 0, len(e)-1; i < j; i, j = i+1, j-1 {
		e[i], e[j] = e[j], e[i]
	}
}

// shortRun is the length up to which Python sorts by binary insertion.
const shortRun = 63

func mergeSort(e, tmp []sortEntry) error {
	if len(e) <= shortRun {
		return insertSort(e)
	}
	mid := len(e) / 2
	if err := mergeSort(e[:mid], tmp[:mid]); err != nil {
		return err
	}
	if err := mergeSort(e[mid:], tmp[mid:]); err != nil {
		return err
	}
	copy(tmp, e)
	i, j := 0, mid
	for k := range e {
		take := i < mid
		if i < mid && j < len(e) {
			lt, err := compare("<", tmp[j].key, tmp[i].key, 0)
			if err != nil {
				return err
			}
			take = !lt
		}
		if take {
			e[k] = tmp[i]
			i++
		} else {
			e[k] = tmp[j]
			j++
		}
	}
	return nil
}

// insertSort compares in Python's order, so that of several pairs without an
// order the same one is named.
func insertSort(e []sortEntry) error {
	if len(e) < 2 {
		return nil
	}
	run := 2
	desc, err := compare("<", e[1].key, e[0].key, 0)
	if err != nil {
		return err
	}
	for ; run < len(e); run++ {
		lt, err := compare("<", e[run].key, e[run-1].key, 0)
		if err != nil {
			return err
		}
		if lt != desc {
			break
		}
	}
	if desc {
		flip(e[:run])
	}
	for ; run < len(e); run++ {
		pivot := e[run]
		lo, hi := 0, run
		for lo < hi {
			mid := lo + (hi-lo)/2
			lt, err := compare("<", pivot.key, e[mid].key, 0)
			if err != nil {
				return err
			}
			if lt {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		copy(e[lo+1:run+1], e[lo:run])
		e[lo] = pivot
	}
	return nil
}
