package jinja

import (
	"runtime"
	"time"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
)

// The values that a template makes are counted as they are made. That is cheap,
// but most values are freed at once. So the memory of the process is measured
// only after a rendering has made more than Options.MaxMemory, and the rendering
// fails only if the process holds more than that too.

// weight returns about how many bytes v takes. It looks at the first items of
// containers, and not deeper than two levels.
func weight(v value.Value, depth int) int {
	const sample = 4
	switch v := v.(type) {
	case string:
		return len(v)
	case markupsafe.Markup:
		return len(v)
	case value.Bytes:
		return len(v)
	case *value.List:
		return itemsWeight(v.Items, depth)
	case value.Tuple:
		return itemsWeight(v, depth)
	case *value.Map:
		n, of := 0, 0
		if depth < 2 {
			for _, x := range v.All() {
				n += weight(x, depth+1)
				if of++; of == sample {
					break
				}
			}
		}
		return 64*v.Len() + n*v.Len()/max(of, 1)
	case *value.Set:
		return 64 * v.Len()
	}
	return 16
}

func itemsWeight(items []value.Value, depth int) int {
	const sample = 4
	n, of := 0, 0
	if depth < 2 {
		for of < len(items) && of < sample {
			n += weight(items[of], depth+1)
			of++
		}
	}
	return 16*len(items) + n*len(items)/max(of, 1)
}

// Made counts n bytes of values that a function made. It returns an error if
// the rendering holds too much.
func (s *State) Made(n int) error { return s.run.madeBytes(n) }

// made notes a value that the template made, and returns an error where the
// rendering holds too much.
func (r *run) made(v value.Value) error { return r.madeBytes(weight(v, 0)) }

func (r *run) madeBytes(n int) error {
	if r.built += n; r.built < r.weighAt {
		return nil
	}
	return r.weigh()
}

// gave notes the arguments and the result of a call: what a method adds to its
// object is neither made by the call nor given back.
func (r *run) gave(args []value.Value, v value.Value) error {
	n := 32 + weight(v, 0)
	for _, a := range args {
		switch a := a.(type) {
		case *value.List:
			n += 16 * len(a.Items)
		case *value.Map:
			n += 64 * a.Len()
		}
	}
	return r.madeBytes(n)
}

// weigh looks at what the process holds. How often it does that is bounded by
// how long it takes.
func (r *run) weigh() error {
	limit := r.env.opts.MaxMemory
	if r.built < limit {
		r.weighAt = limit
		return nil
	}
	start := time.Now()
	if start.Before(r.nextWeigh) {
		return nil
	}
	runtime.GC()
	var held runtime.MemStats
	runtime.ReadMemStats(&held)
	if held.HeapAlloc > uint64(limit) {
		return value.Raise("MemoryError", "the template holds more than %d MiB of data", max(limit>>20, 1))
	}
	r.weighAt = r.built + limit/4
	r.nextWeigh = time.Now().Add(10 * time.Since(start))
	return nil
}
