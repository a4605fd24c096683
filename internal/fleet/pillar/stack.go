package pillar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fileserver"
	"brine/internal/core/render"
	"brine/internal/py/jinja"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// extStack is the external pillar stack: configuration files list YAML
// templates, which are merged in order; each sees what those before it gave.
//
// Salt: salt/pillar/stack.py.
func (j *job) extStack(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	return j.stackOf(pillar, a, "stack", func(cfg, namespace string, stack *value.Map) (*value.Map, error) {
		return j.stackConfig(ctx, cfg, namespace, stack, pillar)
	})
}

// stackOf has merge merge what each configuration file that holds for the target lists.
func (j *job) stackOf(pillar *value.Map, a extArgs, name string, merge func(cfg, namespace string, stack *value.Map) (*value.Map, error)) (value.Mapping, error) {
	cfgs, err := j.stackConfigs(pillar, a)
	if err != nil {
		return nil, err
	}
	stack := value.NewMap(0)
	for _, cfg := range cfgs {
		path, namespace, _ := strings.Cut(cfg, ":")
		if st, err := j.env.Host.Stat(path); err != nil || !st.Mode.IsRegular() {
			j.warn(source.Pos{}, "ext_pillar %s: %s does not exist", name, path)
			continue
		}
		if stack, err = merge(path, namespace, stack); err != nil {
			return nil, err
		}
	}
	return stack, nil
}

// stackConfigs returns the configuration files that hold for the target.
func (j *job) stackConfigs(pillar *value.Map, a extArgs) ([]string, error) {
	var cfgs []string
	for _, p := range a.pos {
		cfgs = append(cfgs, value.Str(p))
	}
	for k, v := range a.kw.All() {
		what, path, ok := strings.Cut(value.Str(k), ":")
		var data value.Value
		switch {
		case !ok:
			return nil, fmt.Errorf("stack: %q names no key; write pillar:KEY, grains:KEY or opts:KEY", value.Str(k))
		case what == "pillar":
			data = pillar
		case what == "grains":
			data = j.env.SubjectGrains()
		case what == "opts":
			data = j.opts
		default:
			return nil, fmt.Errorf("Unknown traverse option \"%s\", should be one of [pillar, grains, opts]%s", what, source.DidYouMean(what, []string{"pillar", "grains", "opts"}))
		}
		matches, isMap := v.(*value.Map)
		if !isMap {
			return nil, fmt.Errorf("stack: %s takes a mapping of values and files, not %s", value.Str(k), value.Kind(v))
		}
		got, _ := value.Traverse(data, path, "")
		if !value.Hashable(got) {
			continue
		}
		switch files := matches.At(got).(type) {
		case nil:
		case *value.List:
			for _, f := range files.Items {
				cfgs = append(cfgs, value.Str(f))
			}
		default:
			cfgs = append(cfgs, value.Str(files))
		}
	}
	return cfgs, nil
}

// stackConfig merges what one configuration file lists into stack.
func (j *job) stackConfig(ctx context.Context, cfg, namespace string, stack, pillar *value.Map) (*value.Map, error) {
	dir, name := filepath.Split(cfg)
	dir = filepath.Clean(dir)
	srv := fileserver.New(j.env.Host, &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {dir}}})
	s := &stackRun{j: j, files: srv, engine: render.New(j.env, srv).NameAbsolute().Lenient(), cfg: cfg, pillar: pillar}
	listed, err := s.template(ctx, name, stack)
	if err != nil {
		return nil, err
	}
	for _, item := range stackItems(listed) {
		if strings.TrimSpace(item) == "" {
			continue
		}
		paths, err := s.find(ctx, item)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			text, err := s.template(ctx, p, stack)
			if err != nil {
				return nil, err
			}
			if stack, err = j.stackFile(filepath.Join(dir, p), text, namespace, stack); err != nil {
				return nil, err
			}
		}
	}
	return stack, nil
}

// stackFile merges what a file was rendered to into stack.
func (j *job) stackFile(name, text, namespace string, stack *value.Map) (*value.Map, error) {
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: name}, []byte(text))
	if err != nil {
		return nil, err
	}
	obj, ok := v.(*value.Map)
	if !ok {
		if v != nil {
			j.warn(source.Pos{File: name}, "ext_pillar stack: the file must be a mapping, not %s", value.Kind(v))
		}
		return stack, nil
	}
	if stack, err = stackDict(stack, nest(obj, namespace)); err != nil {
		return nil, &source.Error{Pos: source.Pos{File: name}, Err: err}
	}
	return stack, nil
}

// stackItems returns the files that a configuration file lists: a YAML list,
// or one a line.
func stackItems(text string) []string {
	if v, err := yamlsalt.LoadString(text); err == nil {
		if l, ok := v.(*value.List); ok {
			var out []string
			for _, x := range l.Items {
				out = append(out, value.Str(x))
			}
			return out
		}
	}
	return strings.Split(text, "\n")
}

// A stackRun renders the templates below one configuration file.
type stackRun struct {
	j      *job
	files  *fileserver.Server
	engine *render.Engine
	cfg    string
	pillar *value.Map
}

// template renders a file below the directory of the configuration file.
func (s *stackRun) template(ctx context.Context, path string, stack *value.Map) (string, error) {
	fi, err := s.files.Stat(ctx, "base", path)
	if err != nil {
		return "", err
	}
	text, err := render.Read(ctx, s.files, fi)
	if err != nil {
		return "", err
	}
	return s.engine.Template(ctx, "jinja", render.Input{
		Path: fi.Path, Abs: fi.Abs, Name: fi.Abs, Text: text, Pillar: s.pillar,
		Vars: value.MapOf(
			"stack", stack, "minion_id", s.j.env.ID, "ymlpath", fi.Abs,
			"__opts__", s.j.opts, "__grains__", s.j.env.SubjectGrains(), "__salt__", s.engine.Salt(),
			"__stack__", value.MapOf("traverse", &jinja.Callable{Name: "traverse_dict_and_list", Fn: traverse}, "cfg_path", s.cfg),
		),
	})
}

// traverse is __stack__['traverse'](data, key, default=None, delimiter=":").
func traverse(c *jinja.Call) (value.Value, error) {
	args, err := c.Bind("traverse_dict_and_list", "data", "key", "default?", "delimiter?")
	if err != nil {
		return nil, err
	}
	delim, _ := args[3].(string)
	if got, ok := value.TraverseKey(args[0], args[1], delim); ok {
		return got, nil
	}
	return args[2], nil
}

// find returns the files that an item, which may be a glob, names.
func (s *stackRun) find(ctx context.Context, item string) ([]string, error) {
	item = strings.TrimRight(item, "\r")
	if !value.HasGlob(item) {
		_, err := s.files.Stat(ctx, "base", item)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return []string{item}, err
	}
	all, err := s.files.List(ctx, "base", "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, fi := range all {
		if ok, _ := filepath.Match(item, fi.Path); ok {
			out = append(out, fi.Path)
		}
	}
	sort.Strings(out)
	return out, nil
}

// How stack merges a dict or list: the value at "__".
const (
	stackOverwrite = "overwrite"
	stackFirst     = "merge-first"
	stackLast      = "merge-last"
	stackRemove    = "remove"
)

func stackStrategy(v value.Value) (string, error) {
	s := value.Str(v)
	switch s {
	case stackOverwrite, stackFirst, stackLast, stackRemove:
		return s, nil
	}
	return "", fmt.Errorf("Unknown strategy \"%s\", should be one of overwrite, merge-first, merge-last, remove", s)
}

// stackDict merges obj into stack.
func stackDict(stack, obj *value.Map) (*value.Map, error) {
	strategy := stackLast
	if v, ok := obj.Get("__"); ok {
		var err error
		if strategy, err = stackStrategy(v); err != nil {
			return nil, err
		}
		obj.Delete("__")
	}
	if strategy == stackOverwrite {
		return stackClean(obj).(*value.Map), nil
	}
	for k, v := range obj.All() {
		if strategy == stackRemove {
			stack.Delete(k)
			continue
		}
		have, ok := stack.Get(k)
		if !ok {
			stack.Set(k, stackClean(v))
			continue
		}
		if strategy == stackFirst {
			have, v = stackClean(v), have
		}
		merged, err := stackMerge(have, v)
		if err != nil {
			return nil, err
		}
		stack.Set(k, merged)
	}
	return stack, nil
}

// stackMerge merges v into have, where both have one type; else v is all.
func stackMerge(have, v value.Value) (value.Value, error) {
	switch v := v.(type) {
	case *value.Map:
		if h, ok := have.(*value.Map); ok {
			return stackDict(h, v)
		}
	case *value.List:
		if h, ok := have.(*value.List); ok {
			return stackList(h, v)
		}
	}
	return stackClean(v), nil
}

func stackList(stack, obj *value.List) (*value.List, error) {
	strategy := stackLast
	items := obj.Items
	if len(items) > 0 {
		if m, ok := items[0].(*value.Map); ok && m.Has("__") {
			var err error
			if strategy, err = stackStrategy(m.At("__")); err != nil {
				return nil, err
			}
			items = items[1:]
		}
	}
	switch strategy {
	case stackOverwrite:
		return value.NewList(items...), nil
	case stackFirst:
		return value.NewList(append(slices.Clip(items), stack.Items...)...), nil
	case stackRemove:
		out := value.NewList()
		for _, x := range stack.Items {
			if !value.In(items, x) {
				out.Append(x)
			}
		}
		return out, nil
	}
	return value.NewList(append(stack.Items[:stack.Len():stack.Len()], items...)...), nil
}

// stackClean takes the strategies out of v.
func stackClean(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Map:
		v.Delete("__")
		for k, x := range v.All() {
			v.Set(k, stackClean(x))
		}
	case *value.List:
		if v.Len() > 0 {
			if m, ok := v.Items[0].(*value.Map); ok && m.Has("__") {
				v.Items = v.Items[1:]
			}
		}
	}
	return v
}
