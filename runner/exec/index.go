package exec

import (
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A kind is a kind of requisite, in the order in which Salt looks at them.
type kind uint8

const (
	require kind = iota
	requireAny
	watch
	watchAny
	prereq
	onfail
	onfailAny
	onfailAll
	onchanges
	onchangesAny
	// prerequired is the other side of prereq: the states that are to run
	// before this one if this one would change something.
	prerequired
	kinds
)

var kindNames = [kinds]string{
	"require", "require_any", "watch", "watch_any", "prereq", "onfail", "onfail_any", "onfail_all",
	"onchanges", "onchanges_any", "prerequired",
}

// A node is a chunk with how far it came.
type node struct {
	i     int
	c     *fun.Chunk
	tag   string
	reqs  []edge // by kind; see resolve
	lost  []lostRef
	gates []*node // those that have prereq on this one

	resolved          bool
	active, preActive bool // on the stack, really running or as a dry run
	done              bool // has a return; that of a parallel state may be on its way
	out               outcome
	dry               *outcome // of the dry run for a prereq
	dryRet            *value.Map
	par               *parallel // while it runs
	plan              plannedState
}

// An edge is one requisite of a node: all chunks that its reference names.
type edge struct {
	kind kind
	g    *group
}

// A lostRef is a requisite that names nothing.
type lostRef struct {
	kind kind
	ref  ref
}

// A group is the chunks that a reference names. All requisites with the same
// reference share it, so that what is known of it is found out once.
type group struct {
	nodes []*node
	// All before next are done, all before nextDry have had their dry run.
	next, nextDry int
	memo          [classes]stat
	known         [classes]bool
	plan          *plannedGroup // where it is known
}

// A ref is a reference to states: "pkg: nginx", "sls: web", "id: x".
type ref struct {
	state, text string
	ok          bool // its value is text
	bare        bool // written as text alone, which may be any state's id
	val         value.Value
	pos         source.Pos // where it was written, if that is known
}

// refs returns the references of a requisite of low. A requisite that is not a
// list is read as Salt reads it, item by item: the keys of a mapping, the
// characters of a string.
func refs(low *value.Map, kindName string) []ref {
	v, ok := low.Get(kindName)
	if !ok || v == nil {
		return nil
	}
	list := items(v)
	switch v := v.(type) {
	case *value.Map:
		if kindName != "listen_in" { // a traceback in Salt
			list = v.Keys()
		}
	case string:
		list = nil
		for _, c := range v {
			list = append(list, string(c))
		}
	}
	l, _ := v.(*value.List)
	out := make([]ref, 0, len(list))
	for i, x := range list {
		var rf ref
		switch x := x.(type) {
		case *value.Map:
			if x.Len() == 0 {
				continue
			}
			k, val := x.Entry(0)
			state, _, _ := strings.Cut(value.Str(k), ".") // a function has no meaning here
			text, ok := val.(string)
			rf = ref{state: state, text: text, ok: ok, val: val}
		case string:
			rf = ref{state: "id", text: x, ok: true, bare: true, val: x}
		default:
			rf = ref{state: "id", val: x}
		}
		if l != nil {
			rf.pos = l.PosAt(i)
		}
		out = append(out, rf)
	}
	return out
}

// index finds the nodes that references name.
type index struct {
	nodes  []*node
	state  map[[2]string][]*node // (state, id) and (state, name)
	id     map[string][]*node    // id and name, of any state; nil until needed
	sls    map[string][]*node    // nil until needed
	groups map[[2]string]*group
}

func newIndex(nodes []*node) *index {
	x := &index{nodes: nodes, state: make(map[[2]string][]*node, len(nodes)), groups: map[[2]string]*group{}}
	for _, n := range nodes {
		for _, k := range names(n) {
			kk := [2]string{n.c.State, k}
			x.state[kk] = append(x.state[kk], n)
		}
	}
	return x
}

// names returns the id and, where it differs, the name of n.
func names(n *node) []string {
	if n.c.ID == n.c.Name {
		return []string{n.c.ID}
	}
	return []string{n.c.ID, n.c.Name}
}

// group returns what a reference names, nil where it names nothing.
func (x *index) group(rf ref) *group {
	if !rf.ok {
		return nil
	}
	k := [2]string{rf.state, rf.text}
	g, ok := x.groups[k]
	if !ok {
		if ns := x.find(rf); len(ns) > 0 {
			g = &group{nodes: ns}
		}
		x.groups[k] = g
	}
	return g
}

func (x *index) find(rf ref) []*node {
	glob := value.HasGlob(rf.text)
	switch {
	case glob:
		var ns []*node
		for _, n := range x.nodes {
			switch rf.state {
			case "sls":
				if value.Fnmatch(rf.text, n.c.SLS) {
					ns = append(ns, n)
				}
			case n.c.State, "id":
				if value.Fnmatch(rf.text, n.c.Name) || value.Fnmatch(rf.text, n.c.ID) {
					ns = append(ns, n)
				}
			}
		}
		return ns
	case rf.state == "sls":
		if x.sls == nil {
			x.sls = map[string][]*node{}
			for _, n := range x.nodes {
				x.sls[n.c.SLS] = append(x.sls[n.c.SLS], n)
			}
		}
		return x.sls[rf.text]
	case rf.state == "id":
		return x.named(rf.text)
	}
	return x.state[[2]string{rf.state, rf.text}]
}

// named returns the nodes of any state whose id or name is text.
func (x *index) named(text string) []*node {
	if x.id == nil {
		x.id = make(map[string][]*node, len(x.nodes))
		for _, n := range x.nodes {
			for _, k := range names(n) {
				x.id[k] = append(x.id[k], n)
			}
		}
	}
	return x.id[text]
}

// setNodes makes the nodes of chunks and notes who has prereq on whom. Of
// chunks with one tag, the first counts.
func (r *run) setNodes(chunks []*fun.Chunk) {
	r.nodes = make([]*node, 0, len(chunks))
	r.byTag = make(map[string]*node, len(chunks))
	arena := make([]node, len(chunks))
	for _, c := range chunks {
		tag := c.Tag()
		if r.byTag[tag] != nil {
			continue
		}
		n := &arena[len(r.nodes)]
		n.i, n.c, n.tag = len(r.nodes), c, tag
		r.byTag[tag] = n
		r.nodes = append(r.nodes, n)
	}
	r.index = newIndex(r.nodes)
	for _, n := range r.nodes {
		if r.disabled["prereq"] || !n.c.Low.Has("prereq") {
			continue
		}
		for _, rf := range refs(n.c.Low, "prereq") {
			g := r.index.group(rf)
			if g == nil {
				continue
			}
			for _, t := range g.nodes {
				if l := len(t.gates); t != n && (l == 0 || t.gates[l-1] != n) {
					t.gates = append(t.gates, n)
				}
			}
		}
	}
	for _, n := range r.nodes {
		if len(n.gates) > 1 {
			n.gates = r.inOrder(n.gates, refs(n.c.Low, "prerequired"))
		}
	}
}

// inOrder returns nodes in the order in which references name them, those that
// none names last. That of prereq_in counts so, whatever the order of the states.
func (r *run) inOrder(nodes []*node, named []ref) []*node {
	left := make(map[*node]bool, len(nodes))
	for _, n := range nodes {
		left[n] = true
	}
	out := make([]*node, 0, len(nodes))
	take := func(ns []*node) {
		for _, n := range ns {
			if left[n] {
				delete(left, n)
				out = append(out, n)
			}
		}
	}
	for _, rf := range named {
		if g := r.index.group(rf); g != nil {
			take(g.nodes)
		}
	}
	take(nodes)
	return out
}

// resolve finds what n's requisites name. A state without mod_watch requires
// what it watches.
func (r *run) resolve(n *node) {
	n.resolved = true
	n.reqs, n.lost = nil, nil
	low := n.c.Low
	var has [kinds]bool
	any := false
	for k := range low.All() {
		if s, ok := k.(string); ok {
			if k, ok := kindOf(s); ok {
				has[k], any = true, true
			}
		}
	}
	if any {
		r.resolveRefs(n, has)
	}
	if len(n.gates) > 0 {
		n.reqs = append(n.reqs, edge{prerequired, &group{nodes: slices.Clone(n.gates)}})
	}
}

// noList warns of a requisite that is not a list.
func (r *run) noList(c *fun.Chunk, name string) {
	switch v := c.Low.At(name).(type) {
	case nil:
		if c.Low.Has(name) {
			r.warnOnce(c, name, name+" is empty, so it says nothing")
		}
	case string:
		r.warnOnce(c, name, name+" is text, which is read letter by letter; write a list: ["+v+"]")
	case *value.Map:
		r.warnOnce(c, name, name+" is a dict, of which the keys are read as IDs; write a list: \"- STATE: ID\"")
	}
}

// kindOf returns the kind of requisite that users write as s.
func kindOf(s string) (kind, bool) {
	for k := range prerequired {
		if kindNames[k] == s {
			return k, true
		}
	}
	return 0, false
}

// resolveRefs adds the requisites of the kinds that n has.
func (r *run) resolveRefs(n *node, has [kinds]bool) {
	var watches bool
	if has[watch] || has[watchAny] {
		mod, _ := r.env.Provider(fun.State, n.c.State)
		watches = mod != nil && mod.Watch != nil
	}
	add := func(as, from kind) {
		if !has[from] || r.disabled[kindNames[as]] {
			return
		}
		r.noList(n.c, kindNames[from])
		for _, rf := range refs(n.c.Low, kindNames[from]) {
			if g := r.index.group(rf); g != nil {
				n.reqs = append(n.reqs, edge{as, g})
			} else {
				n.lost = append(n.lost, lostRef{as, rf})
			}
		}
	}
	defer func() {
		// "- pkg:" alone asks for nothing; it is lost where others are.
		if !slices.ContainsFunc(n.lost, func(l lostRef) bool { return l.ref.val != nil }) {
			n.lost = nil
		}
	}()
	for k := range prerequired {
		switch {
		case k == require && !watches:
			add(require, require)
			add(require, watch)
		case k == requireAny && !watches:
			add(requireAny, requireAny)
			add(requireAny, watchAny)
		case (k == watch || k == watchAny) && !watches:
		default:
			add(k, k)
		}
	}
}
