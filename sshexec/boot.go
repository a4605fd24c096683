package sshexec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/proc"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

// Reboots.
//
// Every agent says which boot of its machine it runs in. The boot of the newest
// connection is held, with the one before and the step in which it was learned,
// so that a wait can compare with what was known when the step before it began:
// a machine that was down and is back by then has another boot already.
//
// A machine that still has the old boot is either about to go down, which it
// says itself (shutdown(8) leaves a trace) or a function of this run asked of
// it, and then it is not back; or nothing of that kind is known, and then the
// new connection is all the start there will be: what was waited for is an agent
// of the controller's own, upgraded or restarted.

// boots is what is known of the boots of a machine.
type boots struct {
	mu     sync.Mutex
	id     string // of the newest connection; "" before the first
	before string // what was held when the step of that number began
	step   int64  // in which id was learned
	asked  string // what asked this boot to end: "system.reboot"; "" is nothing
}

// learn notes the boot of a new connection.
func (b *boots) learn(id string, step int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id == "" || id == b.id {
		return
	}
	if b.id != "" && (b.step != step || b.before == "") {
		b.before = b.id
	}
	b.id, b.step, b.asked = id, step, ""
}

// held returns the boot that was known when a step began; that of the first
// contact where there was none before.
func (b *boots) held(step int64) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.step == step && b.before != "" {
		return b.before
	}
	return b.id
}

// ask notes what asked the machine to go down; "" takes it back.
func (b *boots) ask(by string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = by
}

func (b *boots) askedBy() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// restarts reports whether the machine was asked to go down, or has been booted
// again since a step began.
func (b *boots) restarts(step int64) bool {
	held := b.held(step)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked != "" || b.id != held
}

// Boots returns what is known of the machines that were met; see fun.Rebooter.
func (p *Provider) Boots() map[string]fun.Boot {
	step, out := p.step.Load(), map[string]fun.Boot{}
	for _, id := range p.known() {
		m := p.machine(id)
		b := fun.Boot{Before: m.boot.held(step), Asked: m.boot.askedBy()}
		m.boot.mu.Lock()
		b.ID = m.boot.id
		m.boot.mu.Unlock()
		if b.Before == b.ID {
			b.Before = ""
		}
		if b.ID != "" {
			out[id] = b
		}
	}
	return out
}

// Remember takes what another run knew when its last step ended: a wait that is
// the first step of this one compares with the boot from before that step, as it
// would have there.
func (p *Provider) Remember(boots map[string]fun.Boot) {
	for id, b := range boots {
		if m := p.machine(id); m != nil {
			m.boot.remember(b, p.step.Load())
		}
	}
}

func (b *boots) remember(known fun.Boot, step int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.id == "" {
		b.id, b.before, b.step, b.asked = known.ID, known.Before, step, known.Asked
	}
}

// Step notes that a step begins.
func (p *Provider) Step() { p.step.Add(1) }

// Watched returns those of ids whose start can be told; see fun.Starter.
func (p *Provider) Watched(w fun.StartWait) []string {
	var out []string
	for _, id := range w.IDs {
		if m := p.machine(id); m != nil && (w.Fresh || m.boot.restarts(p.step.Load())) {
			out = append(out, id)
		}
	}
	return out
}

// looksAtOnce bounds how many machines are looked at at the same time: most of
// them answer nothing while they boot, so there may be more than are worked on.
const looksAtOnce = 256

// Starts waits for the starts of machines; see fun.Starter. It is a step of its
// own: the next one begins with what it learned.
func (p *Provider) Starts(ctx context.Context, wait fun.StartWait, each func(fun.Start)) []fun.Late {
	before := p.step.Add(1) - 1
	slots := make(chan struct{}, min(looksAtOnce, max(1, p.room.limit.files/8)))
	var (
		mu   sync.Mutex
		late []fun.Late
		wg   sync.WaitGroup
	)
	for _, id := range wait.IDs {
		m := p.machine(id)
		if m == nil {
			continue
		}
		w := &bootWait{m: m, base: m.boot.held(before), fresh: wait.Fresh, slots: slots}
		w.unknown = w.base == ""
		wg.Go(func() {
			start, ok := w.wait(ctx)
			mu.Lock()
			defer mu.Unlock()
			if ok {
				each(start)
			} else {
				late = append(late, fun.Late{ID: id, Why: w.why})
			}
		})
	}
	wg.Wait()
	return late
}

// A bootWait waits for the start of one machine.
type bootWait struct {
	m     *machine
	base  string // the boot that was held when the step before began; "" is none
	fresh bool
	slots chan struct{}

	unknown     bool // it was not reached before the wait
	wentDown    bool // it was seen going down, or was down
	unreachable bool // it could not be reached at some time
	tries       int  // since what was found changed
	why         string
	// The last connection to the old boot: while it stands, the machine is up.
	client *Client
	conn   *link.Conn
}

// lookTimeout bounds one try to connect, and one to start the agent, unless the
// roster gives the machine longer: a machine that boots drops packets, and who
// waits for the answer to one of them sees late that it is back.
const lookTimeout = 15 * time.Second

// noAnswer is why a machine is late of which nothing else is known.
const noAnswer = "it gave no answer in time"

// wait looks again and again until the machine has started or ctx ends.
func (w *bootWait) wait(ctx context.Context) (fun.Start, bool) {
	defer func() { w.hold(nil, nil) }()
	w.why = noAnswer
	for {
		rebooted, ok := w.look(ctx)
		if ok {
			return fun.Start{ID: w.m.e.ID, Rebooted: rebooted}, true
		}
		if !w.sleep(ctx) {
			return fun.Start{}, false
		}
	}
}

// changed reports whether id is that of a later boot.
func (w *bootWait) changed(id string) bool {
	if id == "" {
		// A system that tells no boots: it was down if it was gone.
		return w.wentDown && w.unreachable
	}
	return w.base != "" && id != w.base
}

// look connects once and reports whether the machine has started.
func (w *bootWait) look(ctx context.Context) (rebooted, ok bool) {
	m := w.m
	if conn := m.open(); conn != nil && conn.Err() == nil {
		select {
		case <-conn.Done():
		default:
			if id := conn.Facts().BootID; id != "" && w.changed(id) {
				return true, true // a step between has connected again
			}
		}
	}
	if w.conn != nil && m.p.s.Wipe {
		// An agent that wipes itself is pushed for each new connection: the one
		// that stands is asked, as long as it answers.
		if going, err := w.goingDown(ctx, w.conn); err == nil && going {
			return false, false
		}
		w.hold(nil, nil)
	}
	client, conn, err := w.connect(ctx)
	if err != nil {
		w.missed(ctx, err)
		return false, false
	}
	id := conn.Facts().BootID
	if w.changed(id) {
		m.adopt(ctx, client, conn, true)
		return true, true
	}
	if w.base == "" {
		w.base = id
	}
	going, err := w.goingDown(ctx, conn)
	if err == nil && !going && w.fresh && w.stays(ctx, conn) {
		// What was asked a moment ago may show only now.
		if going, err = w.goingDown(ctx, conn); err == nil && !going {
			// One that nothing was known of, and that came up meanwhile, started.
			rebooted = w.unknown && w.unreachable
			m.adopt(ctx, client, conn, rebooted)
			return rebooted, true
		}
	}
	if err != nil {
		endLink(client, conn)
		w.missed(ctx, err)
		return false, false
	}
	if w.m.p.roomToHold() {
		w.hold(client, conn)
		return false, false
	}
	endLink(client, conn)
	w.hold(nil, nil)
	return false, false
}

// missed notes that the machine was not to be reached.
func (w *bootWait) missed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the wait is over, and this look with it
	}
	if !w.unreachable {
		w.tries = 0
	}
	w.unreachable = true
	if e, ok := errors.AsType[*Error](err); ok {
		err = fmt.Errorf("%s: %w", e.Stage, e.Err)
	}
	w.why = err.Error()
}

// shutdownTimeout bounds that question: a machine that goes down may be slow.
const shutdownTimeout = 15 * time.Second

// goingDown asks whether the machine is about to go down, and notes how. A
// machine that once was is not taken for one that stays.
func (w *bootWait) goingDown(ctx context.Context, conn *link.Conn) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	s, ok, err := conn.PendingShutdown(ctx)
	if err != nil {
		return false, err
	}
	asked := w.m.boot.askedBy()
	const up = "it is up with the boot that it had"
	switch {
	case ok && !s.At.IsZero():
		w.why = fmt.Sprintf("%s: %s is to begin at %s", up, shutdownName(s.Mode), s.At.Format(time.TimeOnly))
	case ok:
		w.why = fmt.Sprintf("%s: it is going down (%s)", up, s.By)
	case asked != "":
		w.why = fmt.Sprintf("%s: %s was called, and no shutdown is pending", up, asked)
	case w.wentDown:
		w.why = up + ": the shutdown that was pending is gone"
	default:
		w.why = up + ": no reboot is pending"
	}
	w.wentDown = w.wentDown || ok || asked != ""
	return w.wentDown, nil
}

func shutdownName(mode string) string {
	if mode == "" {
		return "a shutdown"
	}
	return "its " + mode
}

// stays waits a moment and reports whether the connection outlived it.
func (w *bootWait) stays(ctx context.Context, conn *link.Conn) bool {
	t := time.NewTimer(w.m.p.s.Poll)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-conn.Done():
	case <-ctx.Done():
	}
	return false
}

// hold keeps a connection to the old boot in the place of the one before.
func (w *bootWait) hold(client *Client, conn *link.Conn) {
	if w.client != nil {
		endLink(w.client, w.conn)
		w.m.p.room.give(w.client.cost)
	}
	if client != nil {
		w.m.p.room.add(client.cost)
	}
	w.client, w.conn = client, conn
	if client != nil && w.unreachable {
		w.unreachable, w.tries = false, 0
	}
}

// roomToHold reports whether a wait may keep the connection to a machine that
// has not started: such connections may use a quarter of the limit.
func (p *Provider) roomToHold() bool {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	return p.room.used.files < p.room.limit.files/4
}

func endLink(client *Client, conn *link.Conn) {
	_ = conn.Close()
	_ = client.Close()
}

// The time between two looks, in units of Settings.Poll: it grows by half from
// the first to the last.
const (
	restDown, restDownMax = 0.5, 5
	restUp, restUpMax     = 1, 15
)

// sleep waits until it is time to look again: a while, or until a machine that
// was up lets its connection go. It returns false where ctx ends.
func (w *bootWait) sleep(ctx context.Context) bool {
	rest, most := restDown, float64(restDownMax)
	var gone <-chan struct{}
	if w.conn != nil {
		gone = w.conn.Done()
		if !w.unreachable {
			rest, most = restUp, restUpMax
		}
	}
	for range w.tries {
		if rest *= 1.5; rest > most {
			rest = most
			break
		}
	}
	w.tries++
	unit := float64(w.m.p.s.Poll)
	t := time.NewTimer(time.Duration(unit * rest * (0.9 + 0.2*rand.Float64())))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-gone:
	}
	// It went just now: it is not back at once.
	w.hold(nil, nil)
	w.tries, w.unreachable, w.why = 0, true, "its connection ended"
	return w.sleep(ctx)
}

// connect opens a connection and an agent in addition to the existing ones.
func (w *bootWait) connect(ctx context.Context) (*Client, *link.Conn, error) {
	m := w.m
	c, err := w.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := time.AfterFunc(max(lookTimeout, m.e.Timeout), cancel)
	defer limit.Stop()
	if m.e.PreFlight != "" {
		limit.Stop() // the script takes the time that it needs
	}
	conn, err := m.begin(fleet.Phases(bounded, func(p fleet.Phase) {
		if p == fleet.Queued || p == fleet.Pushing {
			limit.Stop() // what it lost with its temporary files is sent again
		}
	}), c)
	if bounded.Err() != nil && ctx.Err() == nil && err != nil {
		err = c.fail(Agent, errors.New("it does not start in time"), "")
	}
	if err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return c, conn, nil
}

func (w *bootWait) dial(ctx context.Context) (*Client, error) {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-w.slots }()
	ctx, cancel := context.WithTimeout(ctx, max(lookTimeout, w.m.e.Timeout))
	defer cancel()
	return w.m.p.s.Dialer.dialAlone(ctx, w.m.e)
}

// adopt makes a connection the one that later steps use. The one before is
// ended unless a call is under way on it.
func (m *machine) adopt(ctx context.Context, c *Client, conn *link.Conn, rebooted bool) {
	m.boot.learn(conn.Facts().BootID, m.p.step.Load())
	if rebooted {
		m.forget()
	}
	for !m.dialing.TryLock() {
		select {
		case <-ctx.Done():
			endLink(c, conn) // who dials has a new one in a moment
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	defer m.dialing.Unlock()
	if m.agent != nil && m.agent.Err() == nil && m.agent.Facts().BootID == conn.Facts().BootID {
		ask, cancel := context.WithTimeout(ctx, answerTimeout)
		list, err := m.agent.Running(ask)
		cancel()
		if err == nil && len(list) > 0 {
			endLink(c, conn)
			return
		}
	}
	if m.agent != nil {
		_ = m.agent.Close()
	}
	if m.client != nil {
		_ = m.client.Close()
	}
	m.release()
	m.cost = c.cost
	m.p.room.add(m.cost)
	m.client, m.agent, m.failed = c, conn, nil
	m.used = time.Now()
	m.enter()(false)
}

// forget drops the grains that are known of the machine: another boot may be
// that of another kernel.
func (m *machine) forget() {
	m.gather.Lock()
	defer m.gather.Unlock()
	m.grains = nil
	if path := m.grainsFile(); path != "" {
		_ = os.Remove(path)
	}
}

const (
	// idleTimeout is how long a connection may be unused before it is asked
	// whether anybody is there: a machine that lost its power says no farewell.
	idleTimeout = 10 * time.Second
	// answerTimeout is how long the answer to that may take.
	answerTimeout = 5 * time.Second
)

// answers reports whether the agent is there still. dialing is held.
func (m *machine) answers(ctx context.Context) bool {
	idle := time.Since(m.used)
	m.used = time.Now()
	if idle < idleTimeout || m.agent.Broken() != nil {
		return true
	}
	ask, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if _, err := m.agent.Running(ask); err == nil || ctx.Err() != nil || m.agent.Broken() != nil {
		return true
	}
	_ = m.agent.Close()
	if m.client != nil {
		_ = m.client.Close()
	}
	return false
}

// downBy takes what a call that asks a machine to go down came to.
//
// The connection of such a call may end before its return: that is what was
// asked for, and the return is what the function returns where all went well.
func (m *machine) downBy(ctx context.Context, job fun.Job, ret fun.Return) fun.Return {
	by, undo, quiet := asksDown(job)
	var silent *fleet.NoReturnError // given up: not even the end of the connection came
	switch {
	case by == "":
	case ret.Stage == fun.Returned:
		switch {
		case ret.Retcode != 0:
		case undo:
			m.boot.ask("")
		default:
			m.boot.ask(by)
		}
	case ret.Stage == fun.Lost && !undo && (ctx.Err() == nil || errors.As(context.Cause(ctx), &silent)):
		m.boot.ask(by)
		if quiet != nil {
			return fun.Return{ID: ret.ID, JID: ret.JID, Body: fun.ValueBody{V: quiet}}
		}
	}
	return ret
}

// asksDown returns what of a job asks a machine to go down, "" where nothing
// does; undo says that it takes such a wish back. quiet is what the function
// returns where the command says nothing; nil where that is not known.
//
// A command counts only where it is nothing else: what a longer one comes to,
// the machine itself tells.
func asksDown(job fun.Job) (by string, undo bool, quiet value.Value) {
	for _, call := range job.Compound() {
		if by, undo, _ := asksDown(call); by != "" || undo {
			return by, undo, nil
		}
	}
	first := ""
	if len(job.Args.Pos) > 0 {
		first = value.Str(job.Args.Pos[0])
	}
	mod, name, _ := strings.Cut(job.Fun, ".")
	switch mod {
	case "system":
		switch name {
		case "reboot", "shutdown", "poweroff", "halt":
			return job.Fun, false, ""
		case "init":
			if v := job.Args.Kw.At("runlevel"); v != nil {
				first = value.Str(v)
			}
			if first == "0" || first == "6" {
				return job.Fun, false, ""
			}
		}
	case "cmd":
		if v := job.Args.Kw.At("cmd"); v != nil {
			first = value.Str(v)
		}
		switch name {
		case "run", "shell", "run_stdout", "run_stderr":
			quiet = ""
		case "retcode":
			quiet = int64(0)
		case "run_all", "run_bg":
		default:
			return "", false, nil
		}
		by, undo = asksWords(first)
	}
	return by, undo, quiet
}

// asksWords is asksDown for a command line.
func asksWords(line string) (by string, undo bool) {
	if strings.ContainsAny(line, ";&|<>()`$\n") {
		return "", false
	}
	words, err := proc.Split(line)
	if err != nil {
		return "", false
	}
	for len(words) > 1 && (words[0] == "sudo" || words[0] == "exec" || words[0] == "nohup") {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", false
	}
	rest := words[1:]
	has := func(any ...string) bool {
		for _, w := range rest {
			if slices.Contains(any, w) {
				return true
			}
		}
		return false
	}
	switch name := path.Base(words[0]); name {
	case "shutdown":
		if has("-c") {
			return name, true
		}
		if has("-k", "--show", "--help") {
			return "", false
		}
		return name, false
	case "reboot", "poweroff", "halt":
		if has("--help", "-w", "--wtmp-only") {
			return "", false
		}
		return name, false
	case "init", "telinit":
		if has("0", "6") {
			return name, false
		}
	case "systemctl":
		if has("reboot", "poweroff", "halt", "kexec") && !has("--help") {
			return name + " " + rest[len(rest)-1], false
		}
	}
	return "", false
}
