package link

import (
	"context"
	"io"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Bounds of what goes ahead of being asked for.
const (
	aheadFile   = 128 << 10 // bytes of one file
	aheadTotal  = 4 << 20
	aheadFiles  = 2000
	aheadHash   = 256 << 20 // bytes of named files that are hashed
	aheadText   = 256 << 10 // a tree with fewer bytes of SLS and templates goes whole
	maxScanned  = 1 << 20
	maxDirFiles = 200
)

// aheadOf returns the files that a call most likely needs: those whose names
// stand in its arguments, in the files that these name, and so on. Names that a
// template works out are missed, and asked for by need; a name too many costs
// a line. The result is worked out once for all targets.
func (t *Tree) aheadOf(ctx context.Context, s *snapshot, job fun.Job, saltenv string) []ref {
	key := job.Fun + "\x00" + saltenv + "\x00" + value.Repr(value.NewList(job.Args.Pos...)) + "\x00" + value.Repr(job.Args.Kw.At("mods"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if refs, ok := s.ahead[key]; ok {
		return refs
	}
	w := &aheadWalk{t: t, s: s, seen: map[*wire.TreeFile]bool{}, total: aheadTotal, hash: aheadHash}
	w.job(ctx, job, saltenv)
	if ctx.Err() == nil {
		if len(s.ahead) > 64 {
			clear(s.ahead)
		}
		s.ahead[key] = w.refs
	}
	return w.refs
}

type aheadWalk struct {
	t     *Tree
	s     *snapshot
	refs  []ref
	todo  []ref // to be scanned
	seen  map[*wire.TreeFile]bool
	total int64
	hash  int64
}

func (w *aheadWalk) job(ctx context.Context, job fun.Job, saltenv string) {
	var words []string
	for _, a := range job.Args.Pos {
		words = append(words, tokens(value.Str(a))...)
	}
	for _, a := range job.Args.Kw.All() {
		words = append(words, tokens(value.Str(a))...)
	}
	env := w.s.tree.Env(saltenv)
	if env != nil {
		for _, word := range words {
			w.name(ctx, env, "", word)
		}
	}
	if len(w.todo) == 0 {
		for _, e := range w.s.tree.Envs {
			w.add(ctx, e, e.File("top.sls"))
		}
	}
	for len(w.todo) > 0 && ctx.Err() == nil {
		r := w.todo[0]
		w.todo = w.todo[1:]
		w.scan(ctx, r)
	}
	if env != nil {
		w.small(ctx, env)
	}
}

// small adds all SLS files and templates of an environment that has few.
func (w *aheadWalk) small(ctx context.Context, env *wire.TreeEnv) {
	var sum int64
	for i := range env.Files {
		if isText(env.Files[i].Path) {
			sum += env.Files[i].Size
		}
	}
	if sum > aheadText {
		return
	}
	for i := range env.Files {
		if f := &env.Files[i]; isText(f.Path) {
			w.add(ctx, env, f)
		}
	}
}

// isText reports whether a file is one that templates are made of.
func isText(p string) bool {
	switch path.Ext(p) {
	case ".sls", ".jinja", ".jinja2", ".j2", ".yaml", ".yml", ".json", ".tmpl", ".toml":
		return true
	}
	return false
}

func (w *aheadWalk) add(ctx context.Context, env *wire.TreeEnv, f *wire.TreeFile) {
	if f == nil || !f.Mode.IsRegular() || w.seen[f] || len(w.refs) >= aheadFiles {
		return
	}
	w.seen[f] = true
	r := ref{env: env.Name, file: f, sum: f.Sum}
	if r.sum == "" && f.Size <= w.hash {
		w.hash -= f.Size
		if fi, err := w.t.files.Stat(ctx, env.Name, f.Path); err == nil {
			r.sum, _ = w.t.hash(ctx, env.Name, fi)
		}
	}
	if f.Size <= aheadFile && f.Size <= w.total && r.sum != "" {
		w.total -= f.Size
		r.body = true
	}
	w.refs = append(w.refs, r)
	if f.Size <= aheadFile {
		w.todo = append(w.todo, r)
	}
}

// scan looks for names in a file.
func (w *aheadWalk) scan(ctx context.Context, r ref) {
	if !isText(r.file.Path) {
		return
	}
	env := w.s.tree.Env(r.env)
	f, err := w.t.files.Open(ctx, r.env, r.file.Path)
	if err != nil {
		return
	}
	b, err := io.ReadAll(io.LimitReader(f, maxScanned))
	f.Close()
	if err != nil {
		return
	}
	for _, word := range tokens(string(b)) {
		w.name(ctx, env, r.file.Path, word)
	}
}

// name adds the files that a word in the file from may mean: a path, an SLS, a
// directory.
func (w *aheadWalk) name(ctx context.Context, env *wire.TreeEnv, from, word string) {
	if i := strings.Index(word, "://"); i >= 0 {
		if word[:i] != "salt" {
			return
		}
		word = word[i+3:]
	}
	word = strings.Trim(word, ":")
	dir := path.Dir(from)
	if strings.HasPrefix(word, ".") && !strings.HasPrefix(word, "./") && !strings.HasPrefix(word, "../") {
		w.relative(ctx, env, from, word)
		return
	}
	word = strings.TrimRight(word, "./")
	if word == "" {
		return
	}
	p := path.Clean(strings.TrimPrefix(word, "/"))
	w.path(ctx, env, p)
	if from != "" && dir != "." {
		w.path(ctx, env, path.Join(dir, word))
	}
	if !strings.Contains(word, "/") {
		w.sls(ctx, env, word)
	}
}

// path adds the file at p, or some files below it.
func (w *aheadWalk) path(ctx context.Context, env *wire.TreeEnv, p string) {
	if f := env.File(p); f != nil && !f.Mode.IsDir() {
		w.add(ctx, env, f)
		return
	}
	if !strings.Contains(p, "/") || !env.HasDir(p) {
		return
	}
	files, _ := env.Below(p)
	for i := range files[:min(len(files), maxDirFiles)] {
		w.add(ctx, env, &files[i])
	}
}

func (w *aheadWalk) sls(ctx context.Context, env *wire.TreeEnv, name string) {
	base := strings.ReplaceAll(name, ".", "/")
	if f := env.File(base + ".sls"); f != nil {
		w.add(ctx, env, f)
		return
	}
	w.add(ctx, env, env.File(base+"/init.sls"))
}

// relative adds the SLS that ".name" means in a file.
func (w *aheadWalk) relative(ctx context.Context, env *wire.TreeEnv, from, word string) {
	rest := strings.TrimLeft(word, ".")
	dots := len(word) - len(rest)
	dir := path.Dir(from)
	for ; dots > 1; dots-- {
		dir = path.Dir(dir)
	}
	name := strings.Trim(rest, "./")
	if name == "" {
		return
	}
	if dir != "." {
		name = strings.ReplaceAll(dir, "/", ".") + "." + name
	}
	w.sls(ctx, env, name)
}

// tokens returns the words of a text that may be names, each once.
func tokens(s string) []string {
	var out []string
	seen := map[string]bool{}
	start := -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isNameByte(s[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start > 1 && i-start < 512 {
			if word := s[start:i]; !seen[word] {
				seen[word] = true
				out = append(out, word)
			}
		}
		start = -1
	}
	return out
}

func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.' || b == '/' || b == ':' || b == '@' || b == '+' || b >= 0x80
}
