package link

import (
	"context"
	"fmt"
	"io"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Bounds of what goes to a target for a job that will not have its controller.
const (
	aloneTree    = 32 << 20  // a saltenv with fewer bytes goes whole, for states
	aloneModules = 4 << 20   // custom modules
	aloneFiles   = 20000     // files in all
	aloneTotal   = 512 << 20 // bytes in all
)

// headOf is the head of a call.
func headOf(job fun.Job) *value.Map {
	head := value.MapOf(
		"fun", job.Fun, "arg", value.NewList(job.Args.Pos...), "kwarg", dict(job.Args.Kw),
		"jid", job.JID, "orch", job.OrchJID, "user", job.User, "metadata", job.Metadata,
	)
	if job.Plan {
		head.Set("plan", true)
		head.Set("no_slots", job.NoSlots)
	}
	of := value.MapOf("tgt", job.Tgt, "tgt_type", job.TgtType, "ret", job.Returner)
	if job.Published {
		if job.Caller != "" {
			of.Set("id", job.Caller)
		}
		head.Set("published", of)
	} else {
		head.Set("of", of)
	}
	return head
}

// Detach starts a job that goes on without this connection, and returns the pid
// of its process. What the job may read of the controller is sent before: for
// states the files that they name, and all of their saltenv where that is no
// more than 32 MiB; for other functions the salt:// files among their arguments
// and the custom modules. What goes wrong is a *wire.RemoteError, or of the
// connection; the job then does not run.
func (c *Conn) Detach(ctx context.Context, job fun.Job) (pid int, err error) {
	head := headOf(job)
	c.trees.job(job.JID)
	c.trees.name(job)
	snap, err := c.o.Tree.at(ctx, job.JID)
	if err != nil {
		return 0, fmt.Errorf("list the files of the tree: %w", err)
	}
	refs, err := c.o.Tree.alone(ctx, snap, job)
	if err != nil {
		return 0, err
	}
	ahead := make([]value.Value, 0, len(refs))
	for _, r := range refs {
		sum := r.sum
		if sum == "" {
			sum = r.file.Sum
		}
		ahead = append(ahead, value.Tuple{r.env, r.file.Path, sum, r.file.Size <= aheadFile && len(ahead) < aheadFiles})
	}
	head.Set("tree", snap.id)
	head.Set("ahead", value.NewList(ahead...))
	send := !c.trees.add(snap.id)
	if send {
		head.Set("tree_size", int64(len(snap.encoded)))
	}
	s, err := c.m.Open(ctx, "detach", head, send)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if send {
		if _, err := s.Write(snap.encoded); err != nil {
			return 0, s.Why(err)
		}
		if err := s.CloseWrite(nil, nil); err != nil {
			return 0, s.Why(err)
		}
	}
	b, err := io.ReadAll(io.LimitReader(s, maxSmall))
	if err != nil {
		return 0, err
	}
	v, err := wire.ParseValue(b)
	m, _ := v.(*value.Map)
	n, ok := value.AsInt(m.At("pid"))
	if err != nil || !ok {
		return 0, fmt.Errorf("the agent's answer is invalid")
	}
	return int(n), nil
}

// alone returns the files that a job takes with it.
func (t *Tree) alone(ctx context.Context, s *snapshot, job fun.Job) ([]ref, error) {
	saltenv := saltEnv(job)
	w := &aheadWalk{t: t, s: s, seen: map[*wire.TreeFile]bool{}, total: aheadTotal, hash: aheadHash}
	env := s.tree.Env(saltenv)
	if job.OfState() {
		for _, r := range t.aheadOf(ctx, s, job, saltenv) {
			w.seen[r.file] = true
			w.refs = append(w.refs, r)
		}
		if env != nil && sizeOf(env, "") <= aloneTree {
			w.all(env, "")
		}
	} else if env != nil {
		w.arguments(ctx, env, job.Args)
	}
	for _, e := range s.tree.Envs {
		for _, dir := range []string{"_modules", "_grains"} {
			if sizeOf(e, dir) <= aloneModules {
				w.all(e, dir)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var total int64
	for _, r := range w.refs {
		total += r.file.Size
	}
	if len(w.refs) > aloneFiles || total > aloneTotal {
		return nil, fmt.Errorf("the job names %d files of %d MiB, more than go to a target before it runs on its own (%d files, %d MiB); run it without --async", len(w.refs), total>>20, aloneFiles, aloneTotal>>20)
	}
	return w.refs, nil
}

// arguments adds the files that the arguments of a job name, and those that
// these name.
func (w *aheadWalk) arguments(ctx context.Context, env *wire.TreeEnv, of fun.Args) {
	args := append([]value.Value(nil), of.Pos...)
	for _, a := range of.Kw.All() {
		args = append(args, a)
	}
	for _, a := range args {
		for _, word := range tokens(value.Str(a)) {
			if strings.HasPrefix(word, "salt://") {
				w.name(ctx, env, "", word)
			}
		}
	}
	for len(w.todo) > 0 && ctx.Err() == nil {
		r := w.todo[0]
		w.todo = w.todo[1:]
		w.scan(ctx, r)
	}
}

func below(env *wire.TreeEnv, dir string) []wire.TreeFile {
	if dir == "" {
		return env.Files
	}
	files, _ := env.Below(dir)
	return files
}

func sizeOf(env *wire.TreeEnv, dir string) (n int64) {
	files := below(env, dir)
	for i := range files {
		n += files[i].Size
	}
	return n
}

// all adds the files below a directory.
func (w *aheadWalk) all(env *wire.TreeEnv, dir string) {
	files := below(env, dir)
	for i := range files {
		if f := &files[i]; f.Mode.IsRegular() && !w.seen[f] {
			w.seen[f] = true
			w.refs = append(w.refs, ref{env: env.Name, file: f, sum: f.Sum})
		}
	}
}

// A Left is what is known of a detached job on its target.
type Left struct {
	State jobs.Left
	PID   int        // of its process, where it runs
	Doc   *value.Map // what it left, where it returned
}

// Left tells how far a detached job came.
func (c *Conn) Left(ctx context.Context, jid string) (Left, error) {
	s, err := c.m.Open(ctx, "left", value.MapOf("jid", jid), false)
	if err != nil {
		return Left{}, err
	}
	defer s.Close()
	b, err := io.ReadAll(io.LimitReader(s, c.o.MaxReturn+1))
	if err != nil {
		return Left{}, err
	}
	if int64(len(b)) > c.o.MaxReturn {
		return Left{}, fmt.Errorf("%w: more than %d bytes", errTooLarge, c.o.MaxReturn)
	}
	end := s.Closing()
	n, _ := value.AsInt(end.At("pid"))
	l := Left{PID: int(int32(n))}
	known := false
	for _, st := range []jobs.Left{jobs.LeftUnknown, jobs.LeftRunning, jobs.LeftLost, jobs.LeftReturn} {
		if st.String() == end.Str("state") {
			l.State, known = st, true
		}
	}
	if !known {
		return Left{}, fmt.Errorf("the agent's answer is invalid")
	}
	if l.State == jobs.LeftReturn {
		v, _, err := value.ParseJSONWithin(string(b), maxCost)
		m, ok := v.(*value.Map)
		if err != nil || !ok || m.Str("jid") != jid {
			return Left{}, fmt.Errorf("what the job left on the target is invalid")
		}
		l.Doc = m
	}
	return l, nil
}

// Replay handles what a detached job reported while it ran as if it arrived now: events,
// warnings, faults.
func (c *Conn) Replay(doc *value.Map) {
	lines := doc.List("lines")
	for i := range lines.Len() {
		m, _ := lines.Items[i].(*value.Map)
		c.note(m.Str("kind"), value.MapOf("where", m.Str("where"), "text", m.Str("text")), len(m.Str("text")))
	}
	events := doc.List("events")
	for i := range events.Len() {
		e, _ := events.Items[i].(*value.List)
		if e.Len() != 2 {
			continue
		}
		data, _ := e.Items[1].(*value.Map)
		c.note("event", value.MapOf("tag", value.Str(e.Items[0]), "data", data), int(min(maxEvent, int64(len(value.EncodeJSON(data))))))
	}
}

// Forget has the target remove what a detached job left.
func (c *Conn) Forget(ctx context.Context, jid string) error {
	_, err := c.m.Call(ctx, "forget", value.MapOf("jid", jid), maxSmall)
	return err
}

// SendPauses sends the agent the requests for the states of a job: pause and kill, by ID.
// An empty map cancels all.
func (c *Conn) SendPauses(jid string, wishes *value.Map) error {
	return c.m.NoteWhenRoom("gate", value.MapOf("jid", jid, "wishes", dict(wishes)))
}

// Leave has the calls of a job go on when their streams are closed. The target
// keeps their return, for [Conn.Left] of a later connection.
func (c *Conn) Leave(jid string) error { return c.m.Note("leave", value.MapOf("jid", jid)) }

// OutName returns the name of an outputter as a target gave it, "" where it is
// none.
func OutName(s string) string { return outName(s) }
