package high

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/python"
	"brine/internal/core/render"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Top is the merged top files of a run: env → target → list of SLS.
type Top struct {
	Data *value.Map
	// Faults say why a top file gave nothing; Salt goes on without it.
	Faults source.Errors
	// Found tells that there is a top file, whatever it says.
	Found bool
}

// A TopRequest says which top files count.
type TopRequest struct {
	File    string // "" is the configured state_top, "top.sls"
	SaltEnv string // only this environment's; "" follows configuration
}

// Top reads the top files of all environments and merges them by
// top_file_merging_strategy.
//
// An error is one that Salt reports as "Unable to render top file: ...".
// Salt: BaseHighState.get_top.
func (c *Compiler) Top(ctx context.Context, req TopRequest) (*Top, error) {
	t := &Top{Data: value.NewMap(0)}
	file := req.File
	if file == "" {
		file, _ = option(c.env, "state_top").(string)
	}
	file = strings.TrimLeft(strings.TrimPrefix(file, "salt://"), "/")
	if file == "" {
		file = "top.sls"
	}
	strategy, _ := option(c.env, "top_file_merging_strategy").(string)
	defaultTop, _ := option(c.env, "default_top").(string)
	envs := []string{req.SaltEnv}
	switch one := option(c.env, "state_top_saltenv"); {
	case req.SaltEnv != "":
	case strategy == "same" && defaultTop == "":
		t.Faults = append(t.Faults, newFault(source.Pos{}, "set default_top", "top_file_merging_strategy set to 'same', but no default_top configuration option was set"))
		return t, nil
	case value.Truth(one):
		envs = []string{value.Str(one)}
	default:
		envs = c.avail.all(ctx)
	}
	tops := make([]envTops, len(envs))
	for i, e := range envs {
		data, err := c.topFile(ctx, file, e)
		if err != nil {
			t.Faults = append(t.Faults, source.Faults(err)...)
			return t, nil
		}
		if data == nil {
			data = value.NewMap(0)
		} else {
			t.Found = true
		}
		tops[i] = envTops{e, []*value.Map{data}}
	}
	if err := c.topIncludes(ctx, tops); err != nil {
		t.Faults = append(t.Faults, source.Faults(err)...)
		return t, nil
	}
	var err error
	switch strategy {
	case "same":
		t.Data, err = mergeSame(tops, defaultTop)
	case "merge_all":
		t.Data, err = mergeAll(tops)
	default:
		t.Data, err = mergeTops(tops)
	}
	return t, err
}

// envTops is the top files of one environment.
type envTops struct {
	saltenv string
	tops    []*value.Map
}

// topFile renders one top file; nil is a missing one.
func (c *Compiler) topFile(ctx context.Context, path, saltenv string) (*value.Map, error) {
	info, err := c.env.Up.Stat(ctx, saltenv, path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, &source.Error{Pos: source.Pos{File: path}, Err: err}
	}
	text, err := c.avail.read(ctx, info, saltenv)
	if err != nil {
		return nil, &source.Error{Pos: source.Pos{File: path}, Err: err}
	}
	v, err := c.render(ctx, render.Input{Path: info.Path, Abs: info.Abs, SaltEnv: saltenv, Text: text})
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *value.Map:
		return v, nil
	case nil:
		return value.NewMap(0), nil
	}
	if !value.Truth(v) {
		return value.NewMap(0), nil
	}
	return nil, newFault(source.Pos{File: path}, `a top file is a map of environments: start it with "base:"`,
		fmt.Sprintf("The top file of saltenv %s does not render to a dictionary", saltenv))
}

// topIncludes adds the top files that tops include.
func (c *Compiler) topIncludes(ctx context.Context, tops []envTops) error {
	for i := range tops {
		t := &tops[i]
		done := map[string]bool{}
		// Salt reads includes of the first top files only; those of included
		// ones are ignored in merging.
		for _, top := range slices.Clip(t.tops) {
			incs, _ := top.At("include").(*value.List)
			for j := range incs.Len() {
				pattern, ok := incs.Items[j].(string)
				if !ok {
					continue
				}
				for _, sls := range value.FnmatchFilter(c.avail.names(ctx, t.saltenv), pattern) {
					if done[sls] {
						continue
					}
					done[sls] = true
					info, ok, err := c.avail.find(ctx, t.saltenv, sls)
					if err != nil || !ok {
						continue
					}
					data, err := c.topFile(ctx, info.Path, t.saltenv)
					if err != nil {
						return err
					}
					t.tops = append(t.tops, cmp.Or(data, value.NewMap(0)))
				}
			}
		}
	}
	return nil
}

// noTargets is the fault of a section in which Salt finds no targets.
func noTargets(at source.Pos) error {
	return newFault(at, "below an environment, a top file has targets with lists of SLS: '*': [web]", "Unable to render top file. No targets found.")
}

// put sets the targets of an environment's section, which is at a place.
func put(top *value.Map, at source.Pos, saltenv, targets value.Value) error {
	m, ok := targets.(*value.Map)
	switch {
	case !ok && !emptySequence(targets):
		return noTargets(at)
	case m.Len() == 0:
		return nil
	}
	dst := top.Map(saltenv)
	if dst == nil {
		dst = value.NewMap(m.Len())
		top.Set(saltenv, dst)
	}
	for tgt, sls := range m.All() {
		dst.Set(tgt, sls)
		dst.SetPos(tgt, m.Pos(tgt))
	}
	return nil
}

// emptySequence reports whether v is a list or text of nothing, in which Salt
// finds no target that it could trip over.
func emptySequence(v value.Value) bool {
	switch v.(type) {
	case *value.List, string:
		return !value.Truth(v)
	}
	return false
}

// mergeTops merges by strategy "merge": base's top file decides for all
// environments, and each other's only for its own if base says nothing of it.
func mergeTops(tops []envTops) (*value.Map, error) {
	top := value.NewMap(len(tops))
	add := func(t envTops, wanted func(saltenv value.Value) bool) error {
		for _, ctop := range t.tops {
			for e, targets := range ctop.All() {
				if !wanted(e) {
					continue
				}
				if err := put(top, ctop.Pos(e), e, targets); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, t := range tops {
		if t.saltenv != "base" {
			continue
		}
		if err := add(t, func(e value.Value) bool { return e != "include" }); err != nil {
			return nil, err
		}
	}
	for _, t := range tops {
		if t.saltenv == "base" {
			continue
		}
		if err := add(t, func(e value.Value) bool { return e == t.saltenv && !top.Has(e) }); err != nil {
			return nil, err
		}
	}
	return top, nil
}

// mergeSame merges by strategy "same": each environment's own top file counts,
// or default_top's where it has none.
func mergeSame(tops []envTops, defaultTop string) (*value.Map, error) {
	top := value.NewMap(len(tops))
	for _, t := range tops {
		from := t.tops
		if emptyTops(from) {
			from = nil
			for _, d := range tops {
				if d.saltenv == defaultTop {
					from = d.tops
				}
			}
		}
		for _, ctop := range from {
			targets, ok := ctop.Get(t.saltenv)
			if !ok {
				continue
			}
			if err := put(top, ctop.Pos(t.saltenv), t.saltenv, targets); err != nil {
				return nil, err
			}
		}
	}
	return top, nil
}

func emptyTops(tops []*value.Map) bool {
	for _, t := range tops {
		if t.Len() > 0 {
			return false
		}
	}
	return true
}

// mergeAll merges by strategy "merge_all": every section of every top file.
func mergeAll(tops []envTops) (*value.Map, error) {
	top := value.NewMap(len(tops))
	for _, t := range tops {
		for _, ctop := range t.tops {
			for e, targets := range ctop.All() {
				if e == "include" {
					continue
				}
				if err := join(top, ctop.Pos(e), e, targets); err != nil {
					return nil, err
				}
			}
		}
	}
	return top, nil
}

// join adds the targets of an environment's section to those of top.
func join(top *value.Map, at source.Pos, saltenv, targets value.Value) error {
	m, ok := targets.(*value.Map)
	if !ok && !emptySequence(targets) {
		return noTargets(at)
	}
	dst := top.Map(saltenv)
	if dst == nil && m.Len() > 0 {
		dst = value.NewMap(m.Len())
		top.Set(saltenv, dst)
	}
	for tgt, sls := range m.All() {
		if old, ok := dst.Get(tgt); ok {
			var err error
			if sls, err = joinTargets(m.Pos(tgt), old, sls); err != nil {
				return err
			}
		}
		dst.Set(tgt, sls)
		dst.SetPos(tgt, m.Pos(tgt))
	}
	return nil
}

// joinTargets returns the SLS of two lists for one target, the match option
// first. As in Salt a text is read letter by letter.
func joinTargets(at source.Pos, a, b value.Value) (value.Value, error) {
	out := &value.List{}
	var option value.Value
	var names []value.Value
	seen := map[string]bool{} // in a
	for n, v := range []value.Value{a, b} {
		items, err := value.Items(v)
		if err != nil {
			return nil, noTargets(at)
		}
		for _, x := range items {
			switch x := x.(type) {
			case *value.Map:
				option = x
			case string:
				if n == 0 {
					seen[x] = true
				} else if seen[x] {
					continue
				}
				names = append(names, x)
			}
		}
	}
	if option != nil {
		out.Append(option)
	}
	out.Append(names...)
	return out, nil
}

// Verify returns what is wrong with the top data.
// Salt: BaseHighState.verify_tops.
func (t *Top) Verify() source.Errors {
	var faults source.Errors
	bad := func(pos source.Pos, hint, format string, args ...any) {
		faults = append(faults, newFault(pos, hint, fmt.Sprintf(format, args...)))
	}
	for k, v := range t.Data.All() {
		if k == "include" {
			continue
		}
		saltenv, ok := k.(string)
		if !ok {
			saltenv = value.Str(k)
			bad(t.Data.Pos(k), "", "Environment %s in top file is not formed as a string", saltenv)
		}
		if ok && saltenv == "" {
			bad(t.Data.Pos(k), "", "Empty saltenv statement in top file")
		}
		matches, ok := v.(*value.Map)
		if !ok {
			bad(t.Data.Pos(k), "", "The top file matches for saltenv %s are not formatted as a dict", saltenv)
			continue
		}
		for tgt, v := range matches.All() {
			l, ok := v.(*value.List)
			if !ok {
				hint := ""
				if s, ok := v.(string); ok {
					hint = fmt.Sprintf("write '%s': [%s]", value.Str(tgt), s)
				}
				bad(matches.Pos(tgt), hint, "Malformed topfile (state declarations not formed as a list)")
				continue
			}
			verifySLS(saltenv, l, bad)
		}
	}
	return faults
}

// verifySLS reports what is wrong with the list of a target.
func verifySLS(saltenv string, l *value.List, bad func(pos source.Pos, hint, format string, args ...any)) {
	for i, item := range l.Items {
		switch item := item.(type) {
		case *value.Map:
			for _, val := range item.All() {
				if !value.Truth(val) {
					bad(l.PosAt(i), "", "Improperly formatted top file matcher in saltenv %s: %s file", value.Str(item), value.Str(val))
				}
			}
		case string:
			if item == "" {
				bad(l.PosAt(i), "", "Environment %s contains an empty sls index", saltenv)
			}
		}
	}
}

// Matches returns the SLS that the top data gives to this machine, by
// environment in the order found. saltenv, where it is not "", is the only
// environment that counts.
// Salt: BaseHighState.top_matches.
func (c *Compiler) Matches(ctx context.Context, t *Top, saltenv string) ([]Match, error) {
	m := matching{c: c, at: map[string]int{}}
	m.nodegroups, _ = option(c.env, "nodegroups").(*value.Map)
	m.minion = target.Minion{
		ID:     c.env.ID,
		Grains: func() value.Mapping { return c.env.Grains },
		Pillar: func() value.Mapping { return c.env.Pillar },
	}
	for k, v := range t.Data.All() {
		e := value.Str(k)
		if saltenv != "" && e != saltenv {
			continue
		}
		body, ok := v.(*value.Map)
		if !ok {
			continue
		}
		for tgt, data := range body.All() {
			if err := m.filter(ctx, e, tgt, data, body.Pos(tgt), 0); err != nil {
				return nil, err
			}
		}
	}
	if err := m.masterTops(ctx); err != nil {
		return nil, err
	}
	return m.out, nil
}

// masterTops adds the SLS that the option master_tops gives to this machine, which
// the controller works out.
func (m *matching) masterTops(ctx context.Context) error {
	env := m.c.env
	if env.Up == nil || env.Opts.Map("master_tops").Len() == 0 {
		return nil
	}
	tops, err := env.Up.Pillar(ctx, fun.PillarRequest{Tops: true, Grains: env.Grains})
	if err != nil {
		return fmt.Errorf("master_tops: %w", err)
	}
	for k, v := range tops.All() {
		l, ok := v.(*value.List)
		if !ok || l.Len() == 0 {
			continue
		}
		given := make([]string, l.Len())
		for i, it := range l.Items {
			given[i] = value.Str(it)
		}
		match := m.env(value.Str(k))
		first, second := match.SLS, given
		if value.Truth(env.Opts.At("master_tops_first")) {
			first, second = second, first
		}
		both := slices.Clone(first)
		for _, sls := range second {
			if !slices.Contains(first, sls) {
				both = append(both, sls)
			}
		}
		match.SLS = both
	}
	return nil
}

type matching struct {
	c          *Compiler
	minion     target.Minion
	nodegroups *value.Map
	out        []Match
	at         map[string]int
}

func (m *matching) env(saltenv string) *Match {
	i, ok := m.at[saltenv]
	if !ok {
		i = len(m.out)
		m.at[saltenv] = i
		m.out = append(m.out, Match{SaltEnv: saltenv})
	}
	return &m.out[i]
}

// maxFilters bounds subfilters within subfilters.
const maxFilters = 100

func (m *matching) filter(ctx context.Context, saltenv string, tgt, data value.Value, pos source.Pos, depth int) error {
	l, isList := data.(*value.List)
	if !isList {
		l = value.NewList(data) // Verify says that it must be one
	}
	if !m.hit(ctx, tgt, l, pos) {
		return nil
	}
	m.env(saltenv)
	for i, item := range l.Items {
		switch item := item.(type) {
		case nil, bool, int64, float64:
			if !isList {
				continue
			}
			hint := "put quotes around it where an SLS has that name"
			return newFault(l.PosAt(i), hint, fmt.Sprintf("Malformed topfile (%s is not the name of an SLS)", value.Str(item)))
		case string:
			e := m.env(saltenv)
			e.SLS = append(e.SLS, item)
		case *value.Map:
			if sub, ok := item.At("subfilter").(*value.Map); ok && depth < maxFilters {
				for tgt, data := range sub.All() {
					if err := m.filter(ctx, saltenv, tgt, data, sub.Pos(tgt), depth+1); err != nil {
						return err
					}
				}
				continue
			}
			if item.Len() == 0 {
				continue
			}
			k, v := item.Entry(item.Len() - 1)
			name, _ := k.(string)
			if sls, ok := v.(string); ok && name != "match" && m.c.avail.has(ctx, name) {
				e := m.env(name)
				e.SLS = append(e.SLS, sls)
			}
		}
	}
	return nil
}

// hit reports whether a target of a top file, whose list may name its type,
// matches the minion.
func (m *matching) hit(ctx context.Context, tgt value.Value, l *value.List, pos source.Pos) bool {
	tgtType := "compound"
	for _, item := range l.Items {
		if o, ok := item.(*value.Map); ok {
			if t, ok := o.Get("match"); ok {
				tgtType = value.Str(t)
			}
		}
	}
	matcher, err := target.Options{Nodegroups: m.nodegroups, Custom: python.Matchers(ctx, m.c.env, m.c.env.Grains)}.Compile(tgt, tgtType)
	matched := false
	if err == nil {
		matched, err = matcher.Match(m.minion)
	}
	if err != nil {
		// To Salt a target that it cannot read matches nothing.
		m.c.warn(pos, "target %s of the top file matches nothing: %v", value.Repr(tgt), err)
		return false
	}
	return matched
}
