package pillar

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/python"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A topTarget is one target of a top file with the SLS files it gives.
type topTarget struct {
	expr  string
	match string // Salt's matcher, compound where the file names none
	order int64
	given []value.Value // the items that name the matcher, as they are
	sls   []slsRef
	pos   source.Pos
}

// A topEnv is what the top files say of one saltenv.
type topEnv struct {
	saltenv string
	targets []*topTarget
}

func (t *topEnv) target(expr string) *topTarget {
	for _, x := range t.targets {
		if x.expr == expr {
			return x
		}
	}
	x := &topTarget{expr: expr}
	t.targets = append(t.targets, x)
	return x
}

// envMatches are the SLS files that a target gets of one saltenv.
type envMatches struct {
	saltenv string
	sls     []slsRef
}

// envs returns the saltenvs of the pillar: base first.
func (j *job) envs() []string {
	roots := j.c.files.Roots()
	envs := []string{"base"}
	for _, e := range roots.Envs {
		if e != "base" && e != "__env__" {
			envs = append(envs, e)
		}
	}
	if _, any := roots.Dirs["__env__"]; any {
		env := j.pillarenv
		if env == "" {
			env = j.saltenv
		}
		if env != "" && !contains(envs, env) {
			envs = append(envs, env)
		}
	}
	return envs
}

func contains(ss []string, s string) bool {
	return slices.Contains(ss, s)
}

// topEnvs returns the saltenvs whose top files count.
func (j *job) topEnvs() []string {
	all := j.envs()
	only := ""
	switch {
	case j.pillarenv != "":
		only = j.pillarenv
		if !j.c.files.Roots().Has(only) {
			j.warn(source.Pos{}, "pillarenv %q is not in pillar_roots%s", only, source.DidYouMean(only, all))
			return nil
		}
	case j.strategy == value.NoMerge:
		if only = j.saltenv; only == "" {
			only = "base"
		}
	default:
		return all
	}
	if !contains(all, only) {
		return nil
	}
	return []string{only}
}

// A topFile is a top file, rendered.
type topFile struct {
	saltenv string
	data    *value.Map
}

// top renders the top files and returns what they say.
//
// Salt: salt/pillar/__init__.py get_tops, merge_tops.
func (j *job) top(ctx context.Context) []*topEnv {
	name := strings.TrimPrefix(strings.TrimPrefix(j.opts.Str("state_top"), "salt://"), "/")
	if name == "" {
		name = "top.sls"
	}
	var files []topFile
	for _, env := range j.topEnvs() {
		fi, err := j.c.files.Stat(ctx, env, name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				j.fail("Rendering Primary Top file failed, render error:\n"+saltText(err), err)
			}
			continue
		}
		files = append(files, j.topFiles(ctx, fi, env)...)
	}
	return j.mergeTops(files)
}

// topFiles renders a top file and those that it includes, itself first. An
// include that is not there is none, and included files include nothing.
func (j *job) topFiles(ctx context.Context, fi fun.FileInfo, env string) []topFile {
	data := j.topFile(ctx, fi, "Primary Top file")
	if data == nil {
		return nil
	}
	files := []topFile{{env, data}}
	inc, pos := data.At("include"), data.Pos("include")
	if !data.Delete("include") {
		return files
	}
	list := iterated(inc)
	if list == nil {
		j.fail(topFault, at(pos, "include must be a list, not %s", value.Kind(inc)))
		return files
	}
	done := map[string]bool{}
	for i, x := range list.Items {
		name := value.Str(x)
		if done[name] {
			continue
		}
		done[name] = true
		sub, err := fun.FindSLS(ctx, j.c.files, env, name)
		if err != nil {
			j.warn(list.PosAt(i), "the top file includes %q, which does not exist", name)
			continue
		}
		if data := j.topFile(ctx, sub, "Top file "+name); data != nil {
			data.Delete("include")
			files = append(files, topFile{env, data})
		}
	}
	return files
}

// topFault is Salt's message for an invalid top file.
const topFault = "Error encountered while rendering pillar top file."

// topFile renders one top file; nil is one that failed.
func (j *job) topFile(ctx context.Context, fi fun.FileInfo, what string) *value.Map {
	v, err := j.renderFile(ctx, fi, "", nil)
	if err != nil {
		if ctx.Err() == nil {
			j.fail("Rendering "+what+" failed, render error:\n"+saltText(err), err)
		}
		return nil
	}
	data, ok := v.(*value.Map)
	if !ok {
		j.fail(topFault, at(source.Pos{File: fi.Abs, Line: 1}, "the pillar top file must be a mapping, not %s", value.Kind(v)))
	}
	return data
}

// mergeTops joins top files: of a target that two files have, the later one
// counts.
func (j *job) mergeTops(files []topFile) []*topEnv {
	var tops []*topEnv
	get := func(env string) *topEnv {
		for _, t := range tops {
			if t.saltenv == env {
				return t
			}
		}
		t := &topEnv{saltenv: env}
		tops = append(tops, t)
		return t
	}
	for _, f := range files {
		for k, v := range f.data.All() {
			env := value.Str(k)
			targets, ok := v.(*value.Map)
			if empty := iterated(v); !ok && (empty == nil || empty.Len() > 0) {
				j.fail(topFault, at(f.data.Pos(k), "saltenv %q of the top file must be a mapping of targets, not %s", env, value.Kind(v)))
				return nil
			}
			te := get(env)
			for tk, tv := range targets.All() {
				list := iterated(tv)
				if list == nil {
					j.fail(topFault, at(targets.Pos(tk), "target %q of the top file must have a list of SLS files, not %s", value.Str(tk), value.Kind(tv)))
					return nil
				}
				if text, ok := tv.(string); ok {
					j.warn(targets.Pos(tk), "the SLS files of target %q are text, which is read letter by letter; write a list: [%s]", value.Str(tk), text)
				}
				j.readTarget(te, value.Str(tk), list, targets.Pos(tk))
			}
		}
	}
	for _, t := range tops {
		sort.SliceStable(t.targets, func(a, b int) bool { return t.targets[a].order < t.targets[b].order })
	}
	return tops
}

// iterated returns what Python's for makes of a value: the items of a list, the
// keys of a dict, the characters of text (so that "'*': web" asks for the SLS
// w, e and b, as in Salt); nil of anything else.
func iterated(v value.Value) *value.List {
	switch v := v.(type) {
	case *value.List:
		return v
	case *value.Map:
		l := value.NewList()
		for k := range v.All() {
			l.Append(k)
			l.SetPosAt(l.Len()-1, v.Pos(k))
		}
		return l
	case string:
		l := value.NewList()
		for _, r := range v {
			l.Append(string(r))
		}
		return l
	}
	return nil
}

// orderOf returns the order option of a target, 0 if it is not a number.
func orderOf(v value.Value) int64 {
	switch v := v.(type) {
	case string:
		n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		return n
	case float64:
		return int64(v)
	}
	n, _ := value.AsInt(v)
	return n
}

// readTarget reads the list of one target.
func (j *job) readTarget(te *topEnv, expr string, list *value.List, pos source.Pos) {
	t := te.target(expr)
	t.match, t.order, t.given, t.sls, t.pos = "compound", 0, nil, nil, pos
	ignore := false
	for i, x := range list.Items {
		switch x := x.(type) {
		case *value.Map:
			if m, ok := x.Get("match"); ok {
				t.match = value.Str(m)
				t.given = append(t.given, x)
			}
			if o, ok := x.Get("order"); ok {
				t.order = orderOf(o)
			}
			ignore = ignore || value.Truth(x.At("ignore_missing"))
		case string:
			t.sls = append(t.sls, slsRef{x, list.PosAt(i)})
		default:
			j.warn(list.PosAt(i), "the top file lists %s for %q, which is not the name of an SLS", value.Repr(x), expr)
		}
	}
	if ignore {
		if j.ignored[te.saltenv] == nil {
			j.ignored[te.saltenv] = map[string]bool{}
		}
		for _, r := range t.sls {
			j.ignored[te.saltenv][r.name] = true
		}
	}
}

// matches returns the SLS files that the target of this rendering gets.
//
// Salt: salt/pillar/__init__.py top_matches.
func (j *job) matches(ctx context.Context, tops []*topEnv) []envMatches {
	var out []envMatches
	for _, te := range tops {
		if j.pillarenv != "" && te.saltenv != j.pillarenv {
			continue
		}
		m := envMatches{saltenv: te.saltenv}
		hit := false
		seen := map[string]bool{}
		for _, t := range te.targets {
			if !j.confirm(ctx, t) {
				continue
			}
			hit = true
			for _, r := range t.sls {
				if !seen[r.name] {
					seen[r.name] = true
					m.sls = append(m.sls, r)
				}
			}
		}
		if hit {
			out = append(out, m)
		}
	}
	return out
}

// confirm reports whether a target of the top file is this one.
func (j *job) confirm(ctx context.Context, t *topTarget) bool {
	m, err := target.Options{Nodegroups: j.opts.Map("nodegroups"), Custom: python.Matchers(ctx, j.env, j.env.SubjectGrains())}.Compile(t.expr, t.match)
	if err != nil {
		j.warn(t.pos, "target %q of the pillar top file matches nothing: %v", t.expr, err)
		return false
	}
	ok, err := m.Match(j.minion())
	if err != nil {
		j.warn(t.pos, "target %q of the pillar top file matches nothing: %v", t.expr, err)
		return false
	}
	return ok
}

// minion is the target as matchers see it.
func (j *job) minion() target.Minion {
	return target.Minion{
		ID:     j.env.ID,
		Grains: func() value.Mapping { return j.env.SubjectGrains() },
		Pillar: func() value.Mapping { return j.env.Pillar },
	}
}

// Tops returns the merged top files as {saltenv: {target: [matcher and SLS]}},
// and what went wrong.
func (c *Compiler) Tops(ctx context.Context, req fun.PillarRequest) (*value.Map, []string) {
	j := c.newJob(req, c.env.Pillar)
	m := value.NewMap(1)
	for _, te := range j.top(ctx) {
		targets := value.NewMap(len(te.targets))
		for _, t := range te.targets {
			l := value.NewList(t.given...)
			for _, r := range t.sls {
				l.Append(r.name)
			}
			targets.Set(t.expr, l)
		}
		m.Set(te.saltenv, targets)
	}
	return m, j.errs
}
