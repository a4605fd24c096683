package high

import (
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A merger puts the trees of rendered files into one high data.
type merger struct {
	h     *High
	owner map[string]*node // ID → the file it comes from last
	tree  map[*node]*owned // of trees in which an ID occurs twice
}

// add merges a file named by the caller, with all that it includes.
// Salt: BaseHighState.merge_included_states.
func (m *merger) add(root *node) {
	data := m.h.Data
	var extend, exclude []value.Value
	walk(root, func(n *node) {
		for _, e := range n.extend {
			extend = append(extend, e)
		}
		exclude = append(exclude, n.exclude...)
	})
	grow := func(key string, items []value.Value) {
		if len(items) == 0 {
			return
		}
		l := data.List(key)
		if l == nil {
			l = &value.List{}
			data.Set(key, l)
		}
		l.Append(items...)
	}
	grow("__extend__", extend)
	grow("__exclude__", exclude)

	// Own IDs come before those of included files; a later file wins.
	if !m.ambiguous(root) {
		m.faults(root, nil)
	} else {
		m.tree = map[*node]*owned{}
		ids := m.merged(root)
		m.faults(root, nil)
		for _, id := range ids.order {
			if other := m.owner[id]; other != nil {
				m.h.Faults = append(m.h.Faults, conflict(id, other, ids.at[id]))
			}
		}
		m.tree = nil
	}
	if root.notDict != nil {
		m.h.Faults = append(m.h.Faults, root.newFault(source.Pos{}, "", "Error when rendering state with contents: %s", value.Str(root.notDict)))
	}
	walk(root, func(n *node) {
		for k, v := range n.ids.All() {
			data.Set(k, v)
			if id, ok := k.(string); ok {
				m.owner[id] = n
				m.h.pos[id] = n.ids.Pos(k)
			} else {
				m.h.pos[value.Str(k)] = n.ids.Pos(k)
			}
		}
	})
}

// ambiguous reports whether an ID of the files under root has more than one
// owner, there or among the files before.
func (m *merger) ambiguous(root *node) bool {
	found := false
	inTree := map[string]*node{}
	walk(root, func(n *node) {
		for k, v := range n.ids.All() {
			if !clashes(v) {
				continue
			}
			id, _ := k.(string)
			other := inTree[id]
			found = found || m.owner[id] != nil || other != nil && other != n
			inTree[id] = n
		}
	})
	return found
}

// walk visits a file and then those that it includes.
func walk(n *node, visit func(*node)) {
	visit(n)
	for _, inc := range n.includes {
		if inc.node != nil {
			walk(inc.node, visit)
		}
	}
}

// faults appends the faults of a tree in Salt's order: the file's own, then for
// each include the IDs that clash with what was there, then its own.
func (m *merger) faults(n *node, _ *node) {
	m.h.Faults = append(m.h.Faults, n.faults...)
	var have *owned
	if m.tree != nil && len(n.includes) > 0 {
		have = ownedBy(n)
	}
	for _, inc := range n.includes {
		if inc.fault != nil {
			m.h.Faults = append(m.h.Faults, inc.fault)
			continue
		}
		if have != nil {
			sub := m.tree[inc.node]
			for _, id := range sub.order {
				if other := have.at[id]; other != nil {
					m.h.Faults = append(m.h.Faults, conflict(id, other, sub.at[id]))
				}
				have.set(id, sub.at[id])
			}
		}
		m.faults(inc.node, n)
		if inc.node.notDict != nil {
			m.h.Faults = append(m.h.Faults, inc.node.newFault(source.Pos{}, "", "Error when rendering state with contents: %s", value.Str(inc.node.notDict)))
		}
	}
}

// owned is the IDs of a tree with the file that each comes from.
type owned struct {
	order []string
	at    map[string]*node
}

func ownedBy(n *node) *owned {
	o := &owned{at: map[string]*node{}}
	for k, v := range n.ids.All() {
		if id, ok := k.(string); ok && clashes(v) {
			o.set(id, n)
		}
	}
	return o
}

// clashes reports whether the body of an ID can conflict with that of another
// file. A body that is not a mapping cannot: that is an error of its own.
func clashes(body value.Value) bool {
	_, ok := body.(*value.Map)
	return ok
}

func (o *owned) set(id string, n *node) {
	if o.at[id] == nil {
		o.order = append(o.order, id)
	}
	o.at[id] = n
}

// merged fills m.tree for n and all below.
func (m *merger) merged(n *node) *owned {
	o := ownedBy(n)
	for _, inc := range n.includes {
		if inc.node == nil {
			continue
		}
		sub := m.merged(inc.node)
		for _, id := range sub.order {
			o.set(id, sub.at[id])
		}
	}
	m.tree[n] = o
	return o
}

func conflict(id string, a, b *node) *source.Error {
	pos, first := b.ids.Pos(id), a.ids.Pos(id)
	hint := ""
	if !first.IsZero() {
		hint = "it is also at " + first.String()
	}
	return b.newFault(pos, hint, "Detected conflicting IDs, SLS IDs need to be globally unique.\n"+
		"    The conflicting ID is '%s' and is found in SLS '%s:%s' and SLS '%s:%s'", id, a.saltenv, a.sls, b.saltenv, b.sls)
}

// dedupExtend splits the extend declarations into one a target and drops those
// that say the same again.
// Salt: BaseHighState.clean_duplicate_extends.
func dedupExtend(data *value.Map) {
	ext := data.List("__extend__")
	if ext == nil {
		return
	}
	out := &value.List{}
	seen := map[string][]value.Value{}
	for _, e := range ext.Items {
		m, ok := e.(*value.Map)
		if !ok {
			continue
		}
	next:
		for k, body := range m.All() {
			key := strings.ToValidUTF8(value.Str(k), "?")
			for _, other := range seen[key] {
				if value.Equal(other, body) {
					continue next
				}
			}
			seen[key] = append(seen[key], body)
			one := value.MapOf(k, body)
			one.SetPos(k, m.Pos(k))
			out.Append(one)
		}
	}
	data.Set("__extend__", out)
}
