package link

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Bounds of what an agent may ask.
const (
	maxPath    = 4096
	maxBatch   = 4096 // files of one request
	maxBatched = 1 << 20
	keepTrees  = 64
	maxWork    = 4 // lists and hashes at once
)

// treeNames are the trees that an agent has.
type treeNames struct {
	mu   sync.Mutex
	ids  map[string]bool
	jids []string // of the newest jobs
	envs []string // saltenvs and pillarenvs that jobs named
}

// job notes a job of the connection.
func (t *treeNames) job(jid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.jids) >= keepTrees {
		t.jids = t.jids[1:]
	}
	t.jids = append(t.jids, jid)
}

// name notes the saltenvs and pillarenvs that a job names.
func (t *treeNames) name(job fun.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, call := range append(job.Compound(), job) {
		for _, k := range []string{"saltenv", "pillarenv"} {
			if s := call.Args.Kw.Str(k); s != "" && !slices.Contains(t.envs, s) {
				if len(t.envs) >= keepTrees {
					t.envs = t.envs[1:]
				}
				t.envs = append(t.envs, s)
			}
		}
	}
}

// named returns the saltenvs and pillarenvs that jobs named.
func (t *treeNames) named() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.envs)
}

// jid returns the job that an agent may ask about: the one that it names, where
// that is one of the connection's, else the newest. A snapshot is work.
func (t *treeNames) jid(asked string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.jids) == 0 {
		return ""
	}
	if slices.Contains(t.jids, asked) {
		return asked
	}
	return t.jids[len(t.jids)-1]
}

// known notes the trees that a hello names.
func (t *treeNames) known(l *value.List) {
	for i := range min(l.Len(), keepTrees) {
		if id, ok := l.Items[i].(string); ok && len(id) == 64 {
			t.add(id)
		}
	}
}

// add notes a tree and reports whether it was there.
func (t *treeNames) add(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids[id] {
		return true
	}
	if t.ids == nil || len(t.ids) > 4*keepTrees {
		t.ids = map[string]bool{}
	}
	t.ids[id] = true
	return false
}

// serve answers a request of the agent. Whatever it asks, it gets files below
// the roots, its own pillar, and may send files where Push takes them.
func (c *Conn) serve(ctx context.Context, s *wire.Stream) error {
	if c.id() == "" {
		return wire.Refusef("the session is not open")
	}
	h := s.Head()
	switch s.Method() {
	case "pillar":
		return c.servePillar(ctx, s)
	case "push":
		return c.servePush(ctx, s)
	case "mine":
		return c.serveMine(ctx, s)
	case "publish":
		return c.servePublish(ctx, s)
	}
	env, p := h.Str("env"), h.Str("path")
	if len(env) > 255 || len(p) > maxPath || strings.ContainsRune(env+p, 0) {
		return wire.Refusef("invalid path or saltenv")
	}
	switch s.Method() {
	case "file":
		return c.serveFile(ctx, s, env, p)
	case "files":
		return c.serveFiles(ctx, s)
	}
	select {
	case c.work <- struct{}{}:
		defer func() { <-c.work }()
	case <-ctx.Done():
		return ctx.Err()
	}
	switch s.Method() {
	case "tree":
		return c.serveTree(ctx, s)
	case "hash":
		return c.serveHash(ctx, s, env, p)
	case "stat":
		return c.serveStat(ctx, s, env, p)
	case "list":
		return c.serveList(ctx, s, env, p)
	case "dirs":
		return c.serveDirs(ctx, s, env, p)
	}
	return wire.Refusef("there is no request %q", s.Method())
}

// files returns the files, or an error where there are none.
func (c *Conn) files() (fun.Files, error) {
	if c.o.Tree.files == nil {
		return nil, wire.Refusef("this controller serves no files")
	}
	return c.o.Tree.files, nil
}

// serveTree answers with the tree of a job, or with nothing where the agent
// has it.
func (c *Conn) serveTree(ctx context.Context, s *wire.Stream) error {
	jid := c.trees.jid(s.Head().Str("jid"))
	if jid == "" {
		return wire.Refusef("no call needs files yet")
	}
	snap, err := c.o.Tree.at(ctx, jid)
	if err != nil {
		return err
	}
	if s.Head().Str("have") != snap.id {
		if _, err := s.Write(snap.encoded); err != nil {
			return err
		}
	}
	c.trees.add(snap.id)
	return s.CloseWrite(nil, value.MapOf("tree", snap.id))
}

func (c *Conn) serveFile(ctx context.Context, s *wire.Stream, env, p string) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	if value.Truth(s.Head().At("sealed")) {
		if at := c.sendLarge(ctx, files, env, p); at != nil {
			return s.CloseWrite(nil, at)
		}
	}
	f, err := files.Open(ctx, env, p)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(onlyWriter{s}, onlyReader{f}, make([]byte, 32<<10))
	return err
}

// onlyWriter and onlyReader hide what would make io.Copy choose another way.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)

// serveFiles answers with several small files, one after the other: a byte (0:
// it is there), its length as a varint, its content.
func (c *Conn) serveFiles(ctx context.Context, s *wire.Stream) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	refs := s.Head().List("files")
	if refs.Len() > maxBatch {
		return wire.Refusef("%d files in one request, at most %d are served", refs.Len(), maxBatch)
	}
	for i := range refs.Len() {
		r, _ := refs.Items[i].(value.Tuple)
		if len(r) != 2 {
			return wire.Refusef("a file is named by %d parts", len(r))
		}
		env, _ := r[0].(string)
		p, _ := r[1].(string)
		if len(env) > 255 || len(p) > maxPath {
			return wire.Refusef("invalid path or saltenv")
		}
		b, err := readSmall(ctx, files, env, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		head := []byte{0}
		if err != nil {
			head[0], b = 1, nil
		}
		if _, err := s.Write(append(binary.AppendUvarint(head, uint64(len(b))), b...)); err != nil {
			return err
		}
	}
	return nil
}

func readSmall(ctx context.Context, files fun.Files, env, p string) ([]byte, error) {
	f, err := files.Open(ctx, env, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBatched+1))
	if err == nil && len(b) > maxBatched {
		err = errors.New("too large")
	}
	return b, err
}

func (c *Conn) serveHash(ctx context.Context, s *wire.Stream, env, p string) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	algo := s.Head().Str("algo")
	var sum string
	if algo == "sha256" || algo == "" {
		fi, err := files.Stat(ctx, env, p)
		if err != nil {
			return err
		}
		if !fi.Mode.IsRegular() {
			return fmt.Errorf("salt://%s in saltenv %s is not a file", p, env)
		}
		if sum, err = c.o.Tree.hash(ctx, env, fi); err != nil {
			return err
		}
	} else if sum, err = files.Hash(ctx, env, p, algo); err != nil {
		return err
	}
	return s.Answer(sum)
}

func (c *Conn) serveStat(ctx context.Context, s *wire.Stream, env, p string) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	fi, err := files.Stat(ctx, env, p)
	if err != nil {
		return err
	}
	return s.Answer(infoTuple(fi))
}

func infoTuple(fi fun.FileInfo) value.Tuple {
	return value.Tuple{fi.Path, fi.Size, wire.PackMode(fi.Mode), fi.Link}
}

func (c *Conn) serveList(ctx context.Context, s *wire.Stream, env, p string) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	all, err := files.List(ctx, env, p)
	if err != nil {
		return err
	}
	items := make([]value.Value, len(all))
	for i, fi := range all {
		items[i] = infoTuple(fi)
	}
	return s.Answer(value.NewList(items...))
}

func (c *Conn) serveDirs(ctx context.Context, s *wire.Stream, env, p string) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	all, err := files.Dirs(ctx, env, p)
	if err != nil {
		return err
	}
	return s.Answer(value.Strings(all...))
}

// servePillar renders the target's pillar, one rendering at a time: a target
// that asks without end keeps no more than that busy.
func (c *Conn) servePillar(ctx context.Context, s *wire.Stream) error {
	select {
	case c.pillars <- struct{}{}:
		defer func() { <-c.pillars }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h := s.Head()
	if c.o.Pillar == nil {
		return s.Answer(value.NewMap(0))
	}
	req := fun.PillarRequest{SaltEnv: h.Str("saltenv"), PillarEnv: h.Str("pillarenv"), Override: h.Map("override"), Ext: h.At("ext"), Tops: value.Truth(h.At("tops")), Foreign: true, Named: c.trees.named()}
	grains := c.reportedBy(ctx, h)
	req.Grains = grains
	p, err := c.o.Pillar(ctx, c.id(), grains, req)
	if err == nil {
		err = grains.failed()
	}
	if err != nil {
		return err
	}
	return s.Answer(p)
}

// maxMineFuns is how many functions one request may read of the mine.
const maxMineFuns = 1000

// serveMine answers what the target asks of the mine. It may change its own data
// alone, and read as one of the jobs that it has, few at a time.
func (c *Conn) serveMine(ctx context.Context, s *wire.Stream) error {
	if c.o.Mine == nil {
		return wire.Refusef("this controller has no mine")
	}
	h := s.Head()
	slots := c.mines // not for readers that wait for what a store brings
	if h.Str("op") == fun.MineGet {
		slots = c.reads
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	req := fun.MineRequest{
		Op: h.Str("op"), ID: c.id(), JID: c.trees.jid(h.Str("jid")), Tgt: h.At("tgt"), TgtType: h.Str("tgt_type"),
		Data: h.Map("data"), Clear: value.Truth(h.At("clear")),
	}
	if h.Str("jid") == "" {
		req.JID = ""
	}
	funs := h.List("funs")
	if funs.Len() > maxMineFuns {
		return wire.Refusef("%d functions of the mine in one request, at most %d are served", funs.Len(), maxMineFuns)
	}
	for i := range funs.Len() {
		name, ok := funs.Items[i].(string)
		if !ok {
			return wire.Refusef("a function of the mine is named by %s", value.TypeName(funs.Items[i]))
		}
		req.Funs = append(req.Funs, name)
	}
	data, err := c.o.Mine.Mine(ctx, req)
	if err != nil {
		return err
	}
	if data == nil {
		return s.Answer(nil)
	}
	return s.Answer(data)
}

// maxPeers is how many calls on other machines a target may have under way, and
// maxPeerWait how many seconds such a machine may be silent at most before it is
// asked.
const (
	maxPeers    = 16
	maxPeerWait = 86400
)

// servePublish calls a function on other machines for the target, as one of its
// jobs.
func (c *Conn) servePublish(ctx context.Context, s *wire.Stream) error {
	if c.o.Publisher == nil {
		return wire.Refusef("this controller does not call functions for a target")
	}
	select {
	case c.peers <- struct{}{}:
		defer func() { <-c.peers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h := s.Head()
	args := h.List("args")
	if args == nil {
		return wire.Refusef("the arguments of a call on other machines are not a list")
	}
	req := fun.PublishRequest{
		ID: c.id(), JID: c.trees.jid(h.Str("jid")), Runner: value.Truth(h.At("runner")), Fun: h.Str("fun"), Args: args.Items,
		Tgt: h.At("tgt"), TgtType: h.Str("tgt_type"), Returner: h.Str("returner"), Full: value.Truth(h.At("full")),
	}
	if n, ok := value.AsInt(h.At("timeout")); ok && n > 0 {
		req.Timeout = time.Duration(min(n, maxPeerWait)) * time.Second
	}
	v, err := c.o.Publisher.Publish(ctx, req)
	if err != nil {
		return err
	}
	return s.Answer(v)
}

func (c *Conn) servePush(ctx context.Context, s *wire.Stream) error {
	if c.o.Push == nil {
		return wire.Refusef("files of targets are not taken here (file_recv)")
	}
	p := s.Head().Str("path")
	if p == "" || len(p) > maxPath || strings.ContainsRune(p, 0) {
		return wire.Refusef("invalid path")
	}
	return c.o.Push(ctx, c.id(), p, onlyReader{s})
}
