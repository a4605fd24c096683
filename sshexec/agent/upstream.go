package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Bounds of answers of the controller.
const (
	maxAnswer = wire.MaxValue
	maxAhead  = 1 << 20 // bytes of one file that comes ahead
	maxAsking = 32      // requests at once
)

// An upstream is the controller's files as the calls of one connection see
// them: trees are kept by name, bodies by hash.
type upstream struct {
	m     *wire.Mux
	cache *cache
	asks  chan struct{} // slots of requests

	mu    sync.Mutex
	trees map[string]*wire.Tree
	order []string
	last  string             // the newest tree
	alone *alone             // there is no controller; m is nil
	fetch map[string]*flight // by hash, or by saltenv and path where that is not known

	lent lent
}

// A flight is a file on its way.
type flight struct {
	key  string
	done chan struct{}
	sum  string
	size int64
	err  error
}

func newUpstream(m *wire.Mux, c *cache) *upstream {
	return &upstream{m: m, cache: c, asks: make(chan struct{}, maxAsking), trees: map[string]*wire.Tree{}, fetch: map[string]*flight{}}
}

// keep takes an encoded tree.
func (u *upstream) keep(b []byte) error {
	id := wire.TreeID(b)
	t, err := wire.ParseTree(b)
	if err != nil {
		return err
	}
	u.remember(id, t)
	u.cache.putTree(id, b)
	return nil
}

func (u *upstream) remember(id string, t *wire.Tree) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = id
	if u.trees[id] != nil {
		return
	}
	if len(u.order) >= maxTrees {
		delete(u.trees, u.order[0])
		u.order = u.order[1:]
	}
	u.trees[id] = t
	u.order = append(u.order, id)
}

// known returns a tree that was kept, here or in an earlier run.
func (u *upstream) known(id string) *wire.Tree {
	u.mu.Lock()
	t := u.trees[id]
	u.mu.Unlock()
	if t != nil {
		return t
	}
	b, ok := u.cache.tree(id)
	if !ok {
		return nil
	}
	t, err := wire.ParseTree(b)
	if err != nil {
		return nil
	}
	u.remember(id, t)
	return t
}

// ask makes a request, when few enough are under way.
func (u *upstream) ask(ctx context.Context, method string, head *value.Map) (*wire.Stream, func(), error) {
	if u.alone != nil {
		return nil, nil, u.alone.refuse(method, head)
	}
	select {
	case u.asks <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	s, err := u.m.Open(ctx, method, head, method == "push")
	if err != nil {
		<-u.asks
		return nil, nil, err
	}
	return s, func() { s.Close(); <-u.asks }, nil
}

func (u *upstream) call(ctx context.Context, method string, head *value.Map) (value.Value, error) {
	switch {
	case u.alone != nil && method == "pillar":
		return u.alone.pillar(head)
	case u.alone != nil:
		return nil, u.alone.refuse(method, head)
	}
	select {
	case u.asks <- struct{}{}:
		defer func() { <-u.asks }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return u.m.Call(ctx, method, head, maxAnswer)
}

// forJob returns the files as one call sees them: those of a tree, which is
// asked for where treeID is "" or not known. ahead are the files that the
// controller thinks will be needed.
func (u *upstream) forJob(jid, treeID string, ahead *value.List) *jobFiles {
	j := &jobFiles{u: u, jid: jid, id: treeID, sums: map[string]string{}}
	for i := range ahead.Len() {
		r, _ := ahead.Items[i].(value.Tuple)
		if len(r) != 4 {
			continue
		}
		env, _ := r[0].(string)
		p, _ := r[1].(string)
		sum, _ := r[2].(string)
		body, _ := r[3].(bool)
		if isSum(sum) {
			j.sums[key(env, p)] = sum
			if body {
				j.ahead = append(j.ahead, aheadFile{env, p, sum})
			}
		}
	}
	return j
}

func key(env, p string) string { return env + "\x00" + p }

// jobFiles is the fun.Upstream of one call.
type jobFiles struct {
	u      *upstream
	jid    string
	id     string
	ahead  []aheadFile
	grains func() value.Mapping // of the call's Env
	want   *value.List          // grains that go with a request for the pillar

	mu   sync.Mutex
	tree *wire.Tree
	sums map[string]string // hashes that the tree does not have, or has no more
}

type aheadFile struct{ env, path, sum string }

var (
	_ fun.Upstream = (*jobFiles)(nil)
	_ fun.Pusher   = (*jobFiles)(nil)
)

// files returns the tree.
func (j *jobFiles) files(ctx context.Context) (*wire.Tree, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.tree != nil {
		return j.tree, nil
	}
	if j.id != "" {
		if j.tree = j.u.known(j.id); j.tree != nil {
			return j.tree, nil
		}
	}
	j.u.mu.Lock()
	have := j.u.last
	j.u.mu.Unlock()
	if j.u.known(have) == nil {
		have = ""
	}
	s, done, err := j.u.ask(ctx, "tree", value.MapOf("jid", j.jid, "have", have))
	if err != nil {
		return nil, err
	}
	defer done()
	b, err := io.ReadAll(io.LimitReader(s, maxAnswer))
	if err != nil {
		return nil, err
	}
	id := s.Closing().Str("tree")
	if len(b) > 0 {
		if err := j.u.keep(b); err != nil {
			return nil, err
		}
	}
	if j.tree = j.u.known(id); j.tree == nil {
		return nil, errors.New("the controller did not send a list of its files")
	}
	return j.tree, nil
}

// env returns a saltenv of the tree. partial is true where it must be asked
// for each file.
func (j *jobFiles) env(ctx context.Context, saltenv string) (e *wire.TreeEnv, partial bool, err error) {
	t, err := j.files(ctx)
	if err != nil {
		return nil, false, err
	}
	e = t.Env(saltenv)
	if e == nil {
		// A saltenv that stands for all others (__env__) is not listed.
		return nil, true, nil
	}
	return e, e.Partial, nil
}

// cleanPath returns p without . and .. and whether it is below the roots.
func cleanPath(p string) (string, error) {
	if strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("salt://%q: %w", p, fs.ErrNotExist)
	}
	c := path.Clean(strings.TrimLeft(p, "/"))
	if c == ".." || strings.HasPrefix(c, "../") {
		return "", fmt.Errorf("salt://%s is refused: it leads out of the roots: %w", p, fs.ErrPermission)
	}
	return c, nil
}

func missing(saltenv, p string) error {
	return fmt.Errorf("salt://%s in saltenv %s: %w", p, saltenv, fs.ErrNotExist)
}

// Envs returns the saltenvs that the controller has.
func (j *jobFiles) Envs(ctx context.Context) ([]string, error) {
	t, err := j.files(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(t.Envs))
	for i, e := range t.Envs {
		names[i] = e.Name
	}
	return names, nil
}

// Stat returns the file or directory at p.
func (j *jobFiles) Stat(ctx context.Context, saltenv, p string) (fun.FileInfo, error) {
	c, err := cleanPath(p)
	if err != nil {
		return fun.FileInfo{}, err
	}
	e, partial, err := j.env(ctx, saltenv)
	if err != nil {
		return fun.FileInfo{}, err
	}
	if partial {
		v, err := j.u.call(ctx, "stat", value.MapOf("env", saltenv, "path", c))
		if err != nil {
			return fun.FileInfo{}, err
		}
		return infoOf(saltenv, v)
	}
	if f := e.File(c); f != nil {
		if f.Mode&fs.ModeSymlink != 0 {
			// A broken link is listed and is not a file.
			return fun.FileInfo{}, missing(saltenv, p)
		}
		return info(saltenv, f), nil
	}
	if e.HasDir(c) {
		return fun.FileInfo{Path: c, SaltEnv: saltenv, Mode: fs.ModeDir | 0o755}, nil
	}
	return fun.FileInfo{}, missing(saltenv, p)
}

func info(saltenv string, f *wire.TreeFile) fun.FileInfo {
	return fun.FileInfo{Path: f.Path, SaltEnv: saltenv, Mode: f.Mode, Size: f.Size, Link: f.Link}
}

func infoOf(saltenv string, v value.Value) (fun.FileInfo, error) {
	t, _ := v.(value.Tuple)
	if len(t) != 4 {
		return fun.FileInfo{}, errors.New("the controller's answer is invalid")
	}
	p, _ := t[0].(string)
	size, _ := t[1].(int64)
	mode, _ := t[2].(int64)
	link, _ := t[3].(string)
	return fun.FileInfo{Path: p, SaltEnv: saltenv, Mode: wire.UnpackMode(mode), Size: size, Link: link}, nil
}

// List returns all files and links below prefix, sorted.
func (j *jobFiles) List(ctx context.Context, saltenv, prefix string) ([]fun.FileInfo, error) {
	c, err := cleanPath(prefix)
	if err != nil {
		return nil, err
	}
	e, partial, err := j.env(ctx, saltenv)
	if err != nil {
		return nil, err
	}
	if partial {
		v, err := j.u.call(ctx, "list", value.MapOf("env", saltenv, "path", c))
		if err != nil {
			return nil, err
		}
		l, _ := v.(*value.List)
		out := make([]fun.FileInfo, 0, l.Len())
		for i := range l.Len() {
			fi, err := infoOf(saltenv, l.Items[i])
			if err != nil {
				return nil, err
			}
			out = append(out, fi)
		}
		return out, nil
	}
	files, _ := e.Below(c)
	out := make([]fun.FileInfo, len(files))
	for i := range files {
		out[i] = info(saltenv, &files[i])
	}
	return out, nil
}

// Dirs returns all directories below prefix, sorted.
func (j *jobFiles) Dirs(ctx context.Context, saltenv, prefix string) ([]string, error) {
	c, err := cleanPath(prefix)
	if err != nil {
		return nil, err
	}
	e, partial, err := j.env(ctx, saltenv)
	if err != nil {
		return nil, err
	}
	if partial {
		v, err := j.u.call(ctx, "dirs", value.MapOf("env", saltenv, "path", c))
		if err != nil {
			return nil, err
		}
		l, _ := v.(*value.List)
		out := make([]string, 0, l.Len())
		for i := range l.Len() {
			out = append(out, value.Str(l.Items[i]))
		}
		return out, nil
	}
	_, dirs := e.Below(c)
	return dirs, nil
}

// Hash returns the hex digest of a file.
func (j *jobFiles) Hash(ctx context.Context, saltenv, p, algo string) (string, error) {
	c, err := cleanPath(p)
	if err != nil {
		return "", err
	}
	if algo == "" || strings.EqualFold(algo, "sha256") {
		sum, _, err := j.sumOf(ctx, saltenv, c)
		if sum != "" || err != nil {
			return sum, err
		}
	}
	if j.u.alone != nil {
		return j.hashHere(ctx, saltenv, c, algo)
	}
	v, err := j.u.call(ctx, "hash", value.MapOf("env", saltenv, "path", c, "algo", strings.ToLower(algo)))
	if err != nil {
		return "", err
	}
	sum, ok := v.(string)
	if !ok {
		return "", errors.New("the controller's answer is invalid")
	}
	if algo == "" || strings.EqualFold(algo, "sha256") {
		j.setSum(saltenv, c, sum)
	}
	return sum, nil
}

// sumOf returns the SHA-256 of a file as far as it is known without asking; ""
// where it is not. Size is -1 where that is not known.
func (j *jobFiles) sumOf(ctx context.Context, saltenv, p string) (sum string, size int64, err error) {
	e, partial, err := j.env(ctx, saltenv)
	if err != nil {
		return "", -1, err
	}
	j.mu.Lock()
	sum = j.sums[key(saltenv, p)]
	j.mu.Unlock()
	if sum != "" || partial {
		return sum, -1, nil
	}
	f := e.File(p)
	if f == nil || !f.Mode.IsRegular() {
		if f == nil && e.HasDir(p) {
			return "", -1, fmt.Errorf("salt://%s in saltenv %s is not a file: %w", p, saltenv, fs.ErrInvalid)
		}
		return "", -1, missing(saltenv, p)
	}
	return f.Sum, f.Size, nil
}

func (j *jobFiles) setSum(saltenv, p, sum string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sums[key(saltenv, p)] = sum
}

// Open opens a file: from the cache where that has its content, else it comes
// from the controller, once, into the cache.
func (j *jobFiles) Open(ctx context.Context, saltenv, p string) (io.ReadCloser, error) {
	c, err := cleanPath(p)
	if err != nil {
		return nil, err
	}
	sum, size, err := j.sumOf(ctx, saltenv, c)
	if err != nil {
		return nil, err
	}
	for {
		k := sum
		if k == "" {
			k = key(saltenv, c)
		}
		if f, err := j.u.cache.open(sum, size); err == nil {
			return f, nil
		}
		j.u.mu.Lock()
		fl := j.u.fetch[k]
		if fl == nil {
			fl = &flight{key: k, done: make(chan struct{})}
			j.u.fetch[k] = fl
			j.u.mu.Unlock()
			j.load(ctx, fl, saltenv, c)
		} else {
			j.u.mu.Unlock()
			select {
			case <-fl.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if isCanceled(fl.err) {
				continue // whoever fetched it gave up
			}
		}
		switch {
		case errors.Is(fl.err, errNoRoom):
			return j.direct(ctx, saltenv, c)
		case fl.err != nil:
			return nil, fl.err
		}
		j.setSum(saltenv, c, fl.sum)
		f, err := j.u.cache.open(fl.sum, fl.size)
		if errors.Is(err, fs.ErrNotExist) {
			return j.direct(ctx, saltenv, c) // taken from the cache meanwhile
		}
		return f, err
	}
}

func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// load fetches one file into the cache and concludes its flight.
func (j *jobFiles) load(ctx context.Context, fl *flight, saltenv, p string) {
	defer j.land(fl)
	var sealed bool
	if fl.sum, fl.size, sealed, fl.err = j.get(ctx, saltenv, p, j.u.cache.dir != ""); fl.err != nil && sealed && ctx.Err() == nil {
		fl.sum, fl.size, _, fl.err = j.get(ctx, saltenv, p, false)
	}
}

// get fetches one file into the cache. sealed says that it came in another way,
// which the agent allows.
func (j *jobFiles) get(ctx context.Context, saltenv, p string, allow bool) (sum string, size int64, sealed bool, err error) {
	s, done, err := j.u.ask(ctx, "file", value.MapOf("env", saltenv, "path", p, "sealed", allow))
	if err != nil {
		return "", 0, false, err
	}
	defer done()
	r := bufio.NewReader(s)
	if _, err := r.Peek(1); errors.Is(err, io.EOF) && s.Closing().Has("sealed") {
		sum, size, err = j.u.cache.unseal(s.Closing())
		return sum, size, true, err
	}
	sum, size, err = j.u.cache.put(r)
	return sum, size, false, err
}

// land concludes a flight: those who wait for it go on.
func (j *jobFiles) land(fl *flight) {
	j.u.mu.Lock()
	delete(j.u.fetch, fl.key)
	j.u.mu.Unlock()
	close(fl.done)
}

// direct opens a file that the cache cannot keep: it is read from the channel.
func (j *jobFiles) direct(ctx context.Context, saltenv, p string) (io.ReadCloser, error) {
	s, done, err := j.u.ask(ctx, "file", value.MapOf("env", saltenv, "path", p))
	if err != nil {
		return nil, err
	}
	return &direct{Reader: s, done: done}, nil
}

type direct struct {
	io.Reader
	done func()
	once sync.Once
}

func (d *direct) Close() error {
	d.once.Do(d.done)
	return nil
}

// begin asks, in one request, for those of the files ahead that are not in the
// cache. Whoever opens one of them meanwhile waits for it.
func (j *jobFiles) begin(ctx context.Context) {
	var want []aheadFile
	var flights []*flight
	for _, a := range j.ahead {
		if j.u.cache.has(a.sum, -1) {
			continue
		}
		j.u.mu.Lock()
		if j.u.fetch[a.sum] == nil {
			fl := &flight{key: a.sum, done: make(chan struct{})}
			j.u.fetch[a.sum] = fl
			want, flights = append(want, a), append(flights, fl)
		}
		j.u.mu.Unlock()
	}
	if len(want) > 0 {
		go j.loadAll(ctx, want, flights)
	}
}

// loadAll fetches files and concludes their flights, one after the other.
func (j *jobFiles) loadAll(ctx context.Context, want []aheadFile, flights []*flight) {
	files := make([]value.Value, len(want))
	for i, a := range want {
		files[i] = value.Tuple{a.env, a.path}
	}
	s, done, err := j.u.ask(ctx, "files", value.MapOf("files", value.NewList(files...)))
	if err == nil {
		defer done()
	}
	r := bufio.NewReader(readerOf(s))
	for _, fl := range flights {
		if err == nil {
			err = j.next(r, fl)
		}
		if err != nil && fl.err == nil {
			fl.err = err
		}
		j.land(fl)
	}
}

func readerOf(s *wire.Stream) io.Reader {
	if s == nil {
		return strings.NewReader("")
	}
	return s
}

// next reads one file of several. An error ends them all; that of one file is
// in its flight.
func (j *jobFiles) next(r *bufio.Reader, fl *flight) error {
	there, err := r.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return unexpected(err)
	}
	if n > maxAhead {
		return fmt.Errorf("the controller sent %d bytes of a small file", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return unexpected(err)
	}
	if there != 0 {
		// Whoever needs the file requests it separately and gets the reason.
		fl.err = context.Canceled
		return nil
	}
	fl.sum, fl.size, fl.err = j.u.cache.put(bytes.NewReader(b))
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Pillar has the controller render the pillar of this target.
func (j *jobFiles) Pillar(ctx context.Context, req fun.PillarRequest) (*value.Map, error) {
	grains := req.Grains
	if grains == nil && j.grains != nil {
		grains = j.grains()
	}
	head := value.MapOf("jid", j.jid, "saltenv", req.SaltEnv, "pillarenv", req.PillarEnv, "ext", req.Ext)
	defer j.u.giveGrains(head, grains, j.want)()
	if req.Override != nil {
		head.Set("override", req.Override)
	}
	if req.Tops {
		head.Set("tops", true)
	}
	v, err := j.u.call(ctx, "pillar", head)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, errors.New("the controller's pillar is not a dict")
	}
	return m, nil
}

// pillar is Pillar where an error has to be a part of the pillar.
func (j *jobFiles) pillar(ctx context.Context, req fun.PillarRequest) *value.Map {
	m, err := j.Pillar(ctx, req)
	if err != nil {
		return value.MapOf("_errors", value.Strings(err.Error()))
	}
	return m
}

// Mine asks the mine of the controller, in the name of this target and its job.
func (j *jobFiles) Mine(ctx context.Context, req fun.MineRequest) (*value.Map, error) {
	head := value.MapOf("op", req.Op, "jid", j.jid, "tgt", req.Tgt, "tgt_type", req.TgtType, "funs", value.Strings(req.Funs...), "clear", req.Clear)
	if req.Data != nil {
		head.Set("data", req.Data)
	}
	v, err := j.u.call(ctx, "mine", head)
	if err != nil {
		return nil, err
	}
	m, _ := v.(*value.Map)
	return m, nil
}

// Publish has the controller call a function on other machines, in the name of this
// target and its job. It takes no turn of the other requests: the function may be
// called here too, and make some.
func (j *jobFiles) Publish(ctx context.Context, req fun.PublishRequest) (value.Value, error) {
	head := value.MapOf("jid", j.jid, "fun", req.Fun, "args", value.NewList(req.Args...), "runner", req.Runner, "tgt", req.Tgt, "tgt_type", req.TgtType,
		"returner", req.Returner, "timeout", int64(math.Ceil(req.Timeout.Seconds())), "full", req.Full)
	if j.u.alone != nil {
		return nil, j.u.alone.refuse("publish", head)
	}
	return j.u.m.Call(ctx, "publish", head, maxAnswer)
}

// Push sends a file to the controller, as cp.push does. It returns an error
// where the controller does not take it.
func (j *jobFiles) Push(ctx context.Context, name string, r io.Reader) error {
	s, done, err := j.u.ask(ctx, "push", value.MapOf("path", name))
	if err != nil {
		return err
	}
	defer done()
	if _, err := io.Copy(onlyWriter{s}, r); err != nil {
		return s.Why(err)
	}
	if err := s.CloseWrite(nil, nil); err != nil {
		return s.Why(err)
	}
	_, err = io.Copy(io.Discard, s)
	return err
}
