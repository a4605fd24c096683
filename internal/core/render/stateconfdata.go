package render

import (
	"fmt"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// What is malformed is passed over here: the compiler says of it what it says
// of every SLS, and nothing runs.

// A decl is one state of an ID.
type decl struct {
	id, state string
	mod       string // of state, "cmd" of "cmd.run"
	body      *value.Map
	list      *value.List
	args      []*item
	reqs      []*item // those among args that stateconf knows: module, ID and kind
}

// An item is a mapping in a list, of which the first key counts.
type item struct {
	in   *value.Map
	key  string
	val  value.Value
	id   string // val, if it is text
	kind int    // of requisite
}

// The kinds of requisites.
const (
	requires   = 1 + iota // require and the like
	requiredIn            // require_in and the like
	uses
)

// kindOf returns the kind of a requisite that stateconf knows, else 0. prereq,
// onfail_any and the like are not among them, as in Salt.
func kindOf(name string) int {
	name, in := strings.CutSuffix(name, "_in")
	switch name {
	case "require", "watch", "listen", "onchanges", "onfail":
		if in {
			return requiredIn
		}
		return requires
	case "use":
		return uses
	}
	return 0
}

// pos returns the place of an item.
//
//go:noinline
func (it *item) pos() source.Pos { return it.in.Pos(it.key) }

// one returns {key: val}.
//
//go:noinline
func one(key string, val value.Value) *value.Map { return value.MapOf(key, val) }

// tag names a state as requisites do.
func tag(id, state string) string { return id + ":" + stateName(state) }

// stateName returns the module of "mod" or "mod.fun".
//
//go:noinline
func stateName(s string) string {
	mod, _, _ := strings.Cut(s, ".")
	return mod
}

// isDotted reports whether an ID or SLS name is relative to the SLS.
func isDotted(s string) bool { return s != "" && s[0] == '.' }

// items returns the mappings in a list.
func items(list *value.List) []*item {
	var out []*item
	for i := range list.Len() {
		if m, ok := list.Items[i].(*value.Map); ok && m.Len() > 0 {
			k, v := m.Entry(0)
			if key, ok := k.(string); ok {
				id, _ := v.(string)
				out = append(out, &item{m, key, v, id, kindOf(key)})
			}
		}
	}
	return out
}

// decls returns the states of data.
func decls(data *value.Map) []*decl {
	var out []*decl
	for i := range data.Len() {
		k, v := data.Entry(i)
		id, _ := k.(string)
		body, ok := v.(*value.Map)
		if !ok || id == "" || strings.HasPrefix(id, "__") || id == "extend" {
			continue
		}
		for i := range body.Len() {
			k, v := body.Entry(i)
			state, _ := k.(string)
			if state == "" || strings.HasPrefix(state, "__") {
				continue
			}
			d := &decl{id: id, state: state, mod: stateName(state), body: body}
			d.list, _ = v.(*value.List)
			d.args = items(d.list)
			for _, a := range d.args {
				l, _ := a.val.(*value.List)
				if a.kind == 0 || l == nil {
					continue
				}
				for _, r := range items(l) {
					if r.id != "" {
						r.kind = a.kind
						d.reqs = append(d.reqs, r)
					}
				}
			}
			out = append(out, d)
		}
	}
	return out
}

// arg returns the first argument called name, or nil. It searches the list each
// time, since aliases make one list the arguments of many states.
func (d *decl) arg(name string) *item {
	for _, a := range items(d.list) {
		if a.key == name {
			return a
		}
	}
	return nil
}

// fault is a fault that Salt words alike.
func (s *stateconf) fault(pos source.Pos, hint, format string, args ...any) *source.Error {
	if pos.IsZero() {
		pos = s.top()
	}
	return &source.Error{Pos: pos, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// rewrite turns what an SLS renders to into plain high data, in place. config
// says that it is the part before the end marker alone.
func (s *stateconf) rewrite(v value.Value, config bool) (value.Value, error) {
	data, ok := v.(*value.Map)
	if !ok {
		return v, nil
	}
	for _, k := range data.Keys() {
		if fn, ok := data.At(k).(string); ok {
			data.Set(k, one(fn, &value.List{}))
		}
	}
	err := s.relative(data)
	if err == nil && s.ordered && !config {
		err = s.order(data)
	}
	if err == nil && s.start {
		err = s.addStart(data)
	}
	if err == nil && !s.noGoal && !config {
		all := &value.List{}
		for _, d := range decls(data) {
			if !d.body.Has("__sls__") {
				all.Append(one(d.mod, d.id))
			}
		}
		err = s.add(data, "goal", s.goalID, "require", all)
	}
	ext := data.Map("extend")
	if err == nil && ext != nil {
		if err = s.rename(ext); err == nil {
			s.extract(ext, s.confs.ext, nil)
		}
	}
	if err == nil {
		err = s.rename(data)
	}
	if err != nil {
		return nil, err
	}
	s.extract(data, s.confs.set, s.confs.ext)
	return data, nil
}

// relative makes absolute what include and exclude name relative to the SLS.
func (s *stateconf) relative(data *value.Map) error {
	for _, key := range [...]string{"include", "exclude"} {
		l := data.List(key)
		for i := range l.Len() {
			var env, sls value.Value = s.in.saltenv(), l.Items[i]
			m, ok := sls.(*value.Map)
			switch {
			case key == "exclude":
				env, sls = "sls", m.At("sls")
			case ok && m.Len() > 0:
				env, sls = m.Entry(m.Len() - 1)
			case !ok:
				m = value.NewMap(1)
			}
			if name, _ := sls.(string); isDotted(name) {
				abs, err := s.abs(name, s.in.SLS, l.PosAt(i))
				if err != nil {
					return err
				}
				m.Set(env, abs)
				l.Items[i] = m
			}
		}
	}
	return nil
}

// order makes each state require the one before it.
func (s *stateconf) order(data *value.Map) error {
	const hint = "-o in the first line orders states as they stand in the file"
	states := decls(data)
	last := map[string]int{}
	for i, d := range states {
		if a := d.arg("names"); a != nil {
			return s.fault(a.pos(), hint, "'names' declaration(found in state id: %s) is not supported with implicitly ordered states! "+
				"You should generate the states in a template for-loop instead.", d.id)
		}
		last[tag(d.id, d.mod)] = i
	}
	for i, d := range states {
		name := tag(d.id, d.mod)
		reqs := append(d.reqs, s.confs.extended[name]...)
		for kind, text := range [...]string{
			requires:   "State(%s) can't require/watch/listen/onchanges/onfail a state(%s) defined after it!",
			requiredIn: "State(%s) can't require_in/watch_in/listen_in/onchanges_in/onfail_in a state(%s) defined before it!",
		} {
			for _, r := range reqs {
				to := tag(r.id, r.key)
				at, ok := last[to]
				if ok && r.kind == kind && (kind == requires && at > i || kind == requiredIn && at < i) {
					return s.fault(r.pos(), hint, text, name, to)
				}
			}
		}
		if i == 0 || d.list == nil {
			continue
		}
		prev := one(states[i-1].mod, states[i-1].id)
		a := d.arg("require")
		if a == nil {
			d.list.Append(one("require", value.NewList(prev)))
		} else if l, ok := a.val.(*value.List); ok {
			insert(l, prev)
		}
	}
	// The states below extend are of SLS files that come later. Their tags are
	// by the module that is required, as in Salt.
	for _, d := range decls(data.Map("extend")) {
		for _, r := range d.reqs {
			name := tag(d.id, r.key)
			s.confs.extended[name] = append(s.confs.extended[name], r)
		}
	}
	return nil
}

// insert puts v before all items, at the place of the first.
func insert(l *value.List, v value.Value) {
	l.Append(v)
	for i := l.Len() - 1; i > 0; i-- {
		l.Items[i] = l.Items[i-1]
		l.SetPosAt(i, l.PosAt(i-1))
	}
	l.Items[0] = v
}

// addStart adds a state that the first one of the SLS itself requires.
func (s *stateconf) addStart(data *value.Map) error {
	for _, d := range decls(data) {
		if from, included := d.body.Get("__sls__"); !included || from == s.in.SLS {
			return s.add(data, "start", s.startID, "require_in", value.NewList(one(d.mod, d.id)))
		}
	}
	if data.Len() == 0 {
		return nil
	}
	return s.fault(s.top(), "", "Can't determine the first state in the sls file!")
}

// add adds a stateconf.set with one list of requisites.
func (s *stateconf) add(data *value.Map, what, id, kind string, list *value.List) error {
	if data.Has(id) {
		return s.fault(data.Pos(id), "the option stateconf_"+what+"_state names another",
			"Can't generate %s state(%s)! The same state id already exists!", what, id)
	}
	data.Set(id, one(s.fn, value.NewList(one(kind, list))))
	data.SetPos(id, s.top())
	return nil
}

// rename turns IDs that begin with a dot into those that other SLS files know,
// and what refers to them.
func (s *stateconf) rename(data *value.Map) error {
	for _, d := range decls(data) {
		for _, r := range d.reqs {
			if isDotted(r.id) {
				id, err := s.absID(r.id, r.pos())
				if err != nil {
					return err
				}
				r.in.Set(r.key, id)
			}
		}
		if d.list != nil && isDotted(d.id) && d.mod != s.mod && d.arg("name") == nil {
			insert(d.list, one("name", d.id[1:]))
		}
	}
	// Those renamed go to the end, which is the order of the run.
	out := value.NewMap(data.Len())
	out.Ordered = data.Ordered
	for _, dotted := range [...]bool{false, true} {
		for i := range data.Len() {
			k, v := data.Entry(i)
			id, _ := k.(string)
			if isDotted(id) != dotted {
				continue
			}
			pos := data.Pos(k)
			if dotted {
				newID, err := s.absID(id, pos)
				if err != nil {
					return err
				}
				if out.Has(newID) {
					return s.fault(pos, "it is also at "+out.Pos(newID).String(), "Can't rename state id(%s) into %s because the later already exists!", id, newID)
				}
				k = newID
			}
			out.Set(k, v)
			out.SetPos(k, pos)
		}
	}
	*data = *out
	return nil
}

// abs returns an SLS name, or the ID of another SLS, that begins with dots as
// seen from an SLS.
func (s *stateconf) abs(relative, sls string, pos source.Pos) (string, error) {
	suffix := strings.TrimLeft(relative, ".")
	levels := len(relative) - len(suffix)
	comps := strings.Split(sls, ".")
	if levels > len(comps) {
		return "", s.fault(pos, "", "Attempted relative include goes beyond top level package")
	}
	return strings.Join(append(comps[:len(comps)-levels], suffix), "."), nil
}

// absID returns what an ID that begins with a dot is outside of its SLS.
func (s *stateconf) absID(id string, pos source.Pos) (string, error) {
	if strings.Contains(id, "::") {
		return s.abs(id, s.in.SLS, pos)
	}
	abs, err := s.abs(id, s.in.SLS+".", pos)
	if i := strings.LastIndexByte(abs, '.'); i >= 0 {
		abs = abs[:i] + "::" + abs[i+1:]
	}
	return abs, err
}

// extract notes the arguments of the stateconf.set states in to. Those in ext go
// before them.
func (s *stateconf) extract(data, to, ext *value.Map) {
	for _, d := range decls(data) {
		if d.state != s.mod && (d.state != s.fn || d.body.Has(s.mod)) {
			continue
		}
		conf, over := to.Map(d.id), ext.Map(d.id)
		if conf == nil {
			conf = value.NewMap(8)
			to.Set(d.id, conf)
		}
		for _, a := range d.args {
			conf.Set(a.key, a.val)
		}
		for _, kind := range [...]string{"require", "watch", "listen", "onchanges", "onfail"} {
			if mine, own := over.List(kind), conf.List(kind); mine != nil && own != nil {
				mine.Append(own.Items...)
			}
		}
		conf.Update(over)
	}
}
