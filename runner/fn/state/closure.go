package statefn

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// followed are the requisites that running a chunk runs, too.
var followed = []string{
	"require", "require_any", "watch", "watch_any", "prereq", "prerequired",
	"onfail", "onfail_any", "onfail_all", "onchanges", "onchanges_any",
}

// closure returns the chunks of an ID and all that they require, in order.
func closure(chunks []*fun.Chunk, id string) []*fun.Chunk {
	f := finder{chunks: chunks, by: map[requisite][]int{}, globs: map[requisite][]int{}}
	add := func(k requisite, i int) {
		if l := f.by[k]; len(l) == 0 || l[len(l)-1] != i {
			f.by[k] = append(l, i)
		}
	}
	var queue []int
	in := make([]bool, len(chunks))
	for i, c := range chunks {
		for _, name := range []string{c.ID, c.Name} {
			add(requisite{c.State, name}, i)
			add(requisite{"id", name}, i)
		}
		add(requisite{"sls", c.SLS}, i)
		if c.ID == id {
			in[i] = true
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		c := chunks[queue[0]]
		queue = queue[1:]
		for _, key := range followed {
			l, _ := c.Low.At(key).(*value.List)
			for n := range l.Len() {
				r, ok := requisiteOf(l.Items[n])
				if !ok {
					continue
				}
				for _, i := range f.find(r) {
					if !in[i] {
						in[i] = true
						queue = append(queue, i)
					}
				}
			}
		}
	}
	var out []*fun.Chunk
	for i, c := range chunks {
		if in[i] {
			out = append(out, c)
		}
	}
	return out
}

// requisiteOf reads an item of a list of requisites.
func requisiteOf(item value.Value) (requisite, bool) {
	switch x := item.(type) {
	case string:
		return requisite{"id", x}, true
	case *value.Map:
		if x.Len() > 0 {
			k, v := x.Entry(0)
			return requisite{value.Str(k), value.Str(v)}, true
		}
	}
	return requisite{}, false
}

// A requisite is what one item of a requisite list names.
type requisite struct{ state, name string }

type finder struct {
	chunks    []*fun.Chunk
	by, globs map[requisite][]int
}

func (f *finder) find(r requisite) []int {
	if !value.HasGlob(r.name) {
		return f.by[r]
	}
	if l, ok := f.globs[r]; ok {
		return l
	}
	l := append([]int(nil), f.by[r]...)
	for i, c := range f.chunks {
		switch r.state {
		case "sls":
			if value.Fnmatch(r.name, c.SLS) {
				l = append(l, i)
			}
		case "id", c.State:
			if value.Fnmatch(r.name, c.ID) || value.Fnmatch(r.name, c.Name) {
				l = append(l, i)
			}
		}
	}
	f.globs[r] = l
	return l
}
