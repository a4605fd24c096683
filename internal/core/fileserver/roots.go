package fileserver

import (
	"context"
	"strings"

	"brine/internal/py/value"
)

// Roots says which directories each saltenv has and what is served of them.
type Roots struct {
	Envs []string            // in the order of the configuration
	Dirs map[string][]string // absolute, by saltenv; the first that has a file wins

	// NoFollow keeps listings from going into linked directories; NoLinks
	// leaves links out of listings (fileserver_followsymlinks,
	// fileserver_ignoresymlinks).
	NoFollow, NoLinks bool
	// IgnoreGlob and IgnoreRegex name files that are not served
	// (file_ignore_glob, file_ignore_regex).
	IgnoreGlob, IgnoreRegex []string
}

// anyEnv is the environment whose directories serve every saltenv that has
// none: "__env__" in their paths stands for its name.
const anyEnv = "__env__"

// RootsOf returns what opts say under key: "file_roots" or "pillar_roots".
func RootsOf(opts *value.Map, key string) *Roots {
	r := &Roots{Dirs: map[string][]string{}}
	for env, dirs := range opts.Map(key).All() {
		name := value.Str(env)
		r.Envs = append(r.Envs, name)
		r.Dirs[name] = texts(dirs)
	}
	if v, ok := opts.Get("fileserver_followsymlinks"); ok {
		r.NoFollow = !value.Truth(v)
	}
	r.NoLinks = value.Truth(opts.At("fileserver_ignoresymlinks"))
	r.IgnoreGlob = texts(opts.At("file_ignore_glob"))
	r.IgnoreRegex = texts(opts.At("file_ignore_regex"))
	return r
}

func texts(v value.Value) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case *value.List:
		out := make([]string, 0, v.Len())
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
		return out
	}
	return nil
}

// Backend returns the backend "roots".
func (r *Roots) Backend() Backend { return rootsBackend{r} }

type rootsBackend struct{ r *Roots }

func (rootsBackend) Name() string { return "roots" }

func (b rootsBackend) Envs(context.Context) ([]string, error) {
	var envs []string
	for _, e := range b.r.Envs {
		if e != anyEnv {
			envs = append(envs, e)
		}
	}
	return envs, nil
}

func (b rootsBackend) Dirs(_ context.Context, saltenv string) ([]Dir, bool, error) {
	dirs, ok := b.r.dirs(saltenv)
	out := make([]Dir, len(dirs))
	for i, d := range dirs {
		out[i].Path = d
	}
	return out, ok, nil
}

// Has reports whether saltenv has directories, own ones or those of __env__.
func (r *Roots) Has(saltenv string) bool {
	_, ok := r.dirs(saltenv)
	return ok
}

// dirs returns the directories of saltenv, and whether it is configured.
func (r *Roots) dirs(saltenv string) ([]string, bool) {
	if d, ok := r.Dirs[saltenv]; ok && saltenv != anyEnv {
		return d, true
	}
	d, ok := r.Dirs[anyEnv]
	if !ok || !plainName(saltenv) {
		return nil, false
	}
	out := make([]string, len(d))
	for i, p := range d {
		out[i] = strings.ReplaceAll(p, anyEnv, saltenv)
	}
	return out, true
}

// plainName reports whether a saltenv may become a part of a path.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}
