package agent

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/jobs"
	"brine/internal/py/digest"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Detached jobs.
//
// A job that is started with --async goes on without its controller: the agent
// fetches what the job may read of it (files, the pillar), hands that to another
// process of the same program through a pipe, since a pillar has no place on a
// disk, and tells the controller that the job runs. The process has a session
// of its own, notes itself, calls the function and leaves the return in the
// agent's directory, where a later connection finds it.

// startTime is how long a detached process has to report itself.
const startTime = 20 * time.Second

// Bounds of what is kept of a detached job beside its return.
const (
	maxKeptEvents = 1000
	maxKeptText   = 1 << 20
)

// detach starts a job that outlives the connection.
func (s *server) detach(ctx context.Context, st *wire.Stream) error {
	h := st.Head()
	job, err := jobOf(h)
	if err != nil {
		return err
	}
	var tree []byte
	if n, ok := h.At("tree_size").(int64); ok {
		if tree, err = io.ReadAll(io.LimitReader(st, n+1)); err != nil {
			return err
		}
		if err := s.files.keep(tree); err != nil {
			return err
		}
	}
	switch {
	case s.cache.dir == "":
		return wire.Refusef("the agent has no directory of its own here, so there is nowhere to leave a return")
	case s.o.Exe == "":
		return wire.Refusef("the agent does not know its own program, so it cannot start it again")
	}
	env, err := s.open()
	if err != nil {
		return err
	}
	msg, err := s.parcel(ctx, env, job, h)
	if err != nil {
		return err
	}
	pid, err := s.start(ctx, msg)
	if err != nil {
		return err
	}
	return st.Answer(value.MapOf("pid", int64(pid)))
}

// parcel fetches what a job may read of its controller and packs it.
func (s *server) parcel(ctx context.Context, env *fun.Env, job fun.Job, h *value.Map) ([]byte, error) {
	up := s.files.forJob(job.JID, h.Str("tree"), h.List("ahead"))
	up.grains = func() value.Mapping { return env.Grains }
	up.begin(ctx)
	sums := value.NewList()
	ahead := h.List("ahead")
	for i := range ahead.Len() {
		r, _ := ahead.Items[i].(value.Tuple)
		if len(r) != 4 {
			continue
		}
		saltenv, _ := r[0].(string)
		p, _ := r[1].(string)
		f, err := up.Open(ctx, saltenv, p)
		if err == nil {
			f.Close()
		}
		up.mu.Lock()
		sum := up.sums[key(saltenv, p)]
		up.mu.Unlock()
		if err == nil && !s.cache.has(sum, -1) {
			err = errNoRoom
		}
		if err != nil {
			return nil, wire.Refusef("salt://%s cannot be kept here for a job without its controller: %v", p, err)
		}
		sums.Append(value.Tuple{saltenv, p, sum})
	}
	msg := value.MapOf("head", withoutFiles(h), "tree", nil, "sums", sums)
	if id := h.Str("tree"); id != "" {
		b, err := s.treeBytes(ctx, up, id)
		if err != nil {
			return nil, err
		}
		msg.Set("tree", value.Bytes(b))
	}
	pillars, err := s.pillars(ctx, env, up, job)
	if err != nil {
		return nil, err
	}
	msg.Set("pillars", pillars)
	s.mu.Lock()
	msg.Set("session", s.session)
	s.mu.Unlock()
	return wire.AppendValue(nil, msg)
}

func withoutFiles(h *value.Map) *value.Map {
	m := h.Copy()
	for _, k := range []string{"tree", "tree_size", "ahead", "want"} {
		m.Delete(k)
	}
	return m
}

// treeBytes returns an encoded tree that the agent has, or that it asks for.
func (s *server) treeBytes(ctx context.Context, up *jobFiles, id string) ([]byte, error) {
	if b, ok := s.cache.tree(id); ok {
		return b, nil
	}
	st, done, err := s.files.ask(ctx, "tree", value.MapOf("jid", up.jid, "have", ""))
	if err != nil {
		return nil, err
	}
	defer done()
	return io.ReadAll(io.LimitReader(st, maxAnswer))
}

// pillars has the controller render the pillar as the job may want it: plain,
// and with what the job itself puts over it.
func (s *server) pillars(ctx context.Context, env *fun.Env, up *jobFiles, job fun.Job) (*value.List, error) {
	reqs := []fun.PillarRequest{{Grains: env.Grains}}
	kw := job.Args.Kw
	if kw.Has("pillar") || kw.Has("pillarenv") || kw.Has("saltenv") {
		r := fun.PillarRequest{Grains: env.Grains, SaltEnv: kw.Str("saltenv"), Override: kw.Map("pillar"), PillarEnv: kw.Str("pillarenv")}
		if r.PillarEnv == "" {
			r.PillarEnv = env.Opts.Str("pillarenv")
			if value.Truth(env.Opts.At("pillarenv_from_saltenv")) && r.SaltEnv != "" {
				r.PillarEnv = r.SaltEnv
			}
		}
		if r.Override != nil || r.PillarEnv != "" {
			reqs = append(reqs, r)
		}
	}
	if env.Opts.Map("master_tops").Len() > 0 {
		reqs = append(reqs, fun.PillarRequest{Grains: env.Grains, Tops: true})
	}
	out := value.NewList()
	for _, r := range reqs {
		p, err := up.Pillar(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("the pillar: %w", err)
		}
		out.Append(value.MapOf("pillarenv", r.PillarEnv, "override", r.Override, "data", p, "tops", r.Tops))
	}
	return out, nil
}

// start starts the process of a detached job and returns its pid when it has
// noted itself.
func (s *server) start(ctx context.Context, msg []byte) (int, error) {
	in, give, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer give.Close()
	said, out, err := os.Pipe()
	if err != nil {
		in.Close()
		return 0, err
	}
	defer said.Close()
	pid, err := s.o.Host.Start(host.Cmd{Argv: []string{s.o.Exe, "agent", "--detached", "--cache-dir", s.cache.dir}, Stdin: in, Stdout: out})
	in.Close()
	out.Close()
	if err != nil {
		return 0, fmt.Errorf("start a process for the job: %w", err)
	}
	deadline := time.Now().Add(startTime)
	_ = give.SetDeadline(deadline)
	_ = said.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = said.SetDeadline(time.Now()) })
	defer stop()
	b := binary.AppendUvarint(nil, uint64(len(msg)))
	_, werr := give.Write(append(b, msg...))
	give.Close()
	word, err := io.ReadAll(io.LimitReader(said, 4096))
	text := strings.TrimSpace(string(word))
	switch {
	case text == "ok":
		return pid, nil
	case text != "":
		return 0, wire.Refusef("%s", text)
	case err == nil:
		err = werr
	}
	_ = s.o.Host.Signal(pid, 15)
	if err == nil {
		err = errors.New("it ended without an answer")
	}
	return 0, fmt.Errorf("the process of the job does not report itself: %w", err)
}

// left answers how far a detached job came, with its return where it left one.
func (s *server) left(st *wire.Stream) error {
	l, err := s.leaving(st.Head().Str("jid"))
	if err != nil {
		return err
	}
	state, pid, doc, err := l.State()
	if err != nil {
		return err
	}
	if len(doc) > 0 {
		if _, err := st.Write(doc); err != nil {
			return err
		}
	}
	return st.CloseWrite(nil, value.MapOf("state", state.String(), "pid", int64(pid)))
}

// forget takes what a detached job left away, once the controller has it.
func (s *server) forget(st *wire.Stream) error {
	l, err := s.leaving(st.Head().Str("jid"))
	if err == nil {
		err = l.Forget()
	}
	if err != nil {
		return err
	}
	return st.Answer(true)
}

func (s *server) leaving(jid string) (*jobs.Leaving, error) {
	s.mu.Lock()
	id := s.session.Str("id")
	s.mu.Unlock()
	if s.session == nil || s.cache.dir == "" {
		return nil, wire.Refusef("nothing can be left here: the agent has no directory of its own")
	}
	l, err := jobs.ProcAt(s.o.Host, s.cache.dir, id).Leaving(jid)
	if err != nil {
		return nil, wire.Refusef("%v", err)
	}
	return l, nil
}

// ServeDetached runs the job that is read from in, as the process that detach
// started. It writes to out whether the job runs, and closes it.
func ServeDetached(ctx context.Context, in io.Reader, out io.WriteCloser, o Options) error {
	d := &detached{o: o}
	end, err := d.begin(ctx, in)
	if err != nil {
		_, _ = fmt.Fprintln(out, strings.Join(strings.Fields(err.Error()), " "))
		return errors.Join(err, out.Close())
	}
	_, _ = fmt.Fprintln(out, "ok")
	_ = out.Close()
	defer end()
	return d.run(ctx)
}

// A detached is a job without its controller.
type detached struct {
	o       Options
	job     fun.Job
	id      string
	env     *fun.Env
	leaving *jobs.Leaving
	kept    kept
}

// begin reads the job and notes it.
func (d *detached) begin(ctx context.Context, in io.Reader) (end func(), err error) {
	r := bufio.NewReader(in)
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, fmt.Errorf("read the job from the controller: %w", err)
	}
	if n > wire.MaxValue {
		return nil, fmt.Errorf("the job from the controller has %d bytes, more than %d", n, wire.MaxValue)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	v, err := wire.ParseValue(b)
	if err != nil {
		return nil, fmt.Errorf("decode the job from the controller: %w", err)
	}
	msg, ok := v.(*value.Map)
	if !ok || msg.Map("head") == nil || msg.Map("session") == nil {
		return nil, errors.New("the controller sent something other than a job")
	}
	if d.job, err = jobOf(msg.Map("head")); err != nil {
		return nil, err
	}
	ses := msg.Map("session")
	d.id = ses.Str("id")
	up, err := d.upstream(msg)
	if err != nil {
		return nil, err
	}
	ring := &keptBus{Ring: event.NewRing(busSize, d.o.Host.Now), k: &d.kept}
	env, err := d.o.Build(context.WithoutCancel(ctx), Session{
		ID: d.id, Opts: ses.Map("opts"), Grains: ses.Map("grains"), Up: up, Bus: ring,
		Warn: d.kept.warn, Fault: d.kept.fault, Secret: d.kept.secret,
	})
	if err != nil {
		return nil, err
	}
	env.Pillar = value.NewLazyMap(func() *value.Map { return up.pillar(context.Background(), fun.PillarRequest{}) })
	up.grains = func() value.Mapping { return env.Grains }
	d.env = env
	if d.leaving, err = jobs.ProcAt(d.o.Host, d.o.CacheDir, d.id).Leaving(d.job.JID); err != nil {
		return nil, err
	}
	return d.leaving.Begin(procData(env, d.job, d.o.Host.Getpid()))
}

// upstream makes the files and the pillar of what was handed over.
func (d *detached) upstream(msg *value.Map) (*jobFiles, error) {
	c := openCache(d.o.Host, d.o.CacheDir, func(string, ...any) {})
	u := newUpstream(nil, c)
	u.alone = &alone{pillars: msg.List("pillars")}
	id := ""
	if b, ok := msg.At("tree").(value.Bytes); ok {
		t, err := wire.ParseTree([]byte(b))
		if err != nil {
			return nil, err
		}
		id = wire.TreeID([]byte(b))
		u.remember(id, t)
	} else {
		id = "none"
		u.remember(id, &wire.Tree{})
	}
	up := u.forJob(d.job.JID, id, nil)
	sums := msg.List("sums")
	for i := range sums.Len() {
		if t, ok := sums.Items[i].(value.Tuple); ok && len(t) == 3 {
			up.setSum(value.Str(t[0]), value.Str(t[1]), value.Str(t[2]))
		}
	}
	return up, nil
}

// run calls the function and leaves its return.
func (d *detached) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{o: d.o, calls: map[*call]struct{}{}, session: value.MapOf("id", d.id)}
	c := &call{job: d.job, started: d.o.Host.Now(), cancel: cancel}
	s.add(c)
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { s.watchProcs(over) })
	env := d.env.Fork(func(e *fun.Env) {
		e.JID, e.OrchJID = d.job.JID, d.job.OrchJID
		s.equip(e, c)
	})
	ret := d.o.Call(ctx, env, d.job)
	close(over)
	wg.Wait()
	if d.o.CloseAll != nil {
		end, done := context.WithTimeout(context.Background(), killGrace)
		defer done()
		d.o.CloseAll(end)
	}
	doc := value.MapOf("jid", d.job.JID, "id", d.id, "fun", d.job.Fun, "stage", ret.Stage.String())
	switch {
	case ret.Stage == fun.Returned:
		v, err := ret.Value()
		if err != nil {
			return d.leave(doc, err)
		}
		doc.Update(value.MapOf("retcode", int64(ret.Retcode), "raised", ret.Raised, "out", ret.Out, "each", ret.Each, "return", v))
	case context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		doc.Set("why", context.Cause(ctx).Error())
	case ctx.Err() != nil:
		doc.Set("why", "its process was told to end")
	case ret.Err != nil:
		doc.Set("why", ret.Err.Error())
	}
	return d.leave(doc, nil)
}

// leave leaves a return; err says why there is none.
func (d *detached) leave(doc *value.Map, err error) error {
	if err != nil {
		doc.Update(value.MapOf("stage", fun.Lost.String(), "why", err.Error()))
	}
	d.kept.into(doc)
	b := value.EncodeJSON(doc)
	if len(b) > wire.MaxValue {
		doc.Delete("return")
		doc.Update(value.MapOf("stage", fun.Lost.String(), "why", fmt.Sprintf("the return is too large: %d bytes", len(b))))
		b = value.EncodeJSON(doc)
	}
	return d.leaving.Put(b)
}

// kept is what a job without its controller would have told it.
type kept struct {
	mu     sync.Mutex
	events *value.List
	lines  *value.List // of stderr
	size   int
	lost   int // events that there was no room for
}

func (k *kept) room(n int) bool {
	k.size += n
	return k.size <= maxKeptText
}

func (k *kept) line(kind, where, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.room(len(where) + len(text)) {
		return
	}
	if k.lines == nil {
		k.lines = value.NewList()
	}
	k.lines.Append(value.MapOf("kind", kind, "where", where, "text", text))
}

func (k *kept) warn(w fun.Warning) { k.line("warn", w.Where, w.Text) }

func (k *kept) fault(err error) { k.line("fault", "", faultText(err)) }

func (k *kept) secret(text string) { k.line("secret", "", text) }

func (k *kept) event(tag string, data *value.Map) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := value.EncodeJSON(data)
	if k.events.Len() >= maxKeptEvents || !k.room(len(b)) {
		k.lost++
		return
	}
	if k.events == nil {
		k.events = value.NewList()
	}
	v, err := value.ParseJSON(string(b)) // as it is now: others may go on changing it
	if err == nil {
		k.events.Append(value.NewList(tag, v))
	}
}

func (k *kept) into(doc *value.Map) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost > 0 {
		if k.lines == nil {
			k.lines = value.NewList()
		}
		k.lines.Append(value.MapOf("kind", "warn", "where", "", "text", fmt.Sprintf("%d events of the job were dropped: there was no room to keep them", k.lost)))
	}
	if k.events.Len() > 0 {
		doc.Set("events", k.events)
	}
	if k.lines.Len() > 0 {
		doc.Set("lines", k.lines)
	}
}

// A keptBus keeps events for the controller, who asks later.
type keptBus struct {
	*event.Ring
	k *kept
}

// Fire puts an event on the bus and keeps it.
func (b *keptBus) Fire(tag string, data *value.Map) {
	if data == nil {
		data = value.NewMap(0)
	}
	b.Ring.Fire(tag, data)
	b.k.event(tag, data)
}

// An alone answers what a job asks of a controller that is not there.
type alone struct{ pillars *value.List }

const withoutController = "the job runs without its controller (--async)"

// refuse says why a request cannot be answered.
func (*alone) refuse(method string, head *value.Map) error {
	switch method {
	case "file", "hash", "stat":
		return fmt.Errorf("salt://%s is not here: %s, and the file was not among those that were sent ahead", head.Str("path"), withoutController)
	case "push":
		return fmt.Errorf("%s is not sent: %s", head.Str("path"), withoutController)
	}
	return errors.New(withoutController)
}

// pillar returns what was rendered before the job began.
func (a *alone) pillar(head *value.Map) (value.Value, error) {
	if head.At("ext") == nil {
		for i := range a.pillars.Len() {
			p, _ := a.pillars.Items[i].(*value.Map)
			if value.Truth(p.At("tops")) == value.Truth(head.At("tops")) && p.Str("pillarenv") == head.Str("pillarenv") && sameData(p.At("override"), head.At("override")) {
				return value.Clone(p.At("data")), nil
			}
		}
	}
	return nil, fmt.Errorf("the pillar cannot be rendered again: %s", withoutController)
}

// sameData reports whether two dicts are the same; none is as good as an empty
// one.
func sameData(a, b value.Value) bool {
	x, _ := a.(*value.Map)
	y, _ := b.(*value.Map)
	return x.Len() == 0 && y.Len() == 0 || value.Equal(x, y)
}

// hashHere returns the hex digest of a file that is here.
func (j *jobFiles) hashHere(ctx context.Context, saltenv, p, algo string) (string, error) {
	h := digest.New(cmp.Or(strings.ToLower(algo), "sha256"))
	if h == nil {
		return "", fmt.Errorf("there is no hash %q: %w", algo, fs.ErrInvalid)
	}
	f, err := j.Open(ctx, saltenv, p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
