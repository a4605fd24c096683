package saltapi

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// maxRuns is how many returns of runners are kept for calls whose jid is not known
// yet, and maxRunsCost what they may take in memory. Others are looked up.
const (
	maxRuns     = 1000
	maxRunsCost = 64 << 20
)

// ranRunner keeps the return of a runner that is waited for, or may be: the return
// can come before the master has said which jid the call has.
func (p *Provider) ranRunner(jid string, data *value.Map, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.awaited[jid] {
		p.runs[jid] = data
		return
	}
	if p.calls > 0 && len(p.runs) < maxRuns && size <= maxRunsCost-p.early {
		p.runs[jid] = data
		p.early += size
	}
}

// called notes that the master has answered a call: with a jid, which is waited for,
// or "".
func (p *Provider) called(jid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if jid != "" {
		p.awaited[jid] = true
	}
	if p.calls--; p.calls == 0 {
		p.early = 0
		maps.DeleteFunc(p.runs, func(jid string, _ *value.Map) bool { return !p.awaited[jid] })
	}
}

// takeRun returns the return of a runner; nil where it has not come.
func (p *Provider) takeRun(jid string) *value.Map {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[jid]
}

// CallMaster calls a runner or wheel function of the master. ok says whether it
// succeeded; jid is that of the master.
func (p *Provider) CallMaster(ctx context.Context, kind fun.Kind, name string, args fun.Args) (v value.Value, jid string, ok bool, err error) {
	// A master takes arg and kwarg only where both are given.
	low := value.MapOf("fun", name, "arg", value.NewList(args.Pos...), "kwarg", value.NewMap(0))
	if args.Kw != nil {
		low.Set("kwarg", args.Kw)
	}
	if err := p.readyToCall(ctx, kind); err != nil {
		return nil, "", false, err
	}
	if kind == fun.Wheel {
		return p.wheel(ctx, low)
	}
	return p.runner(ctx, low)
}

// readyToCall logs in, and follows the events where a return comes by them. Nothing has
// begun until then, so a run that is stopped does not wait for it.
func (p *Provider) readyToCall(ctx context.Context, kind fun.Kind) error {
	ctx, cancel := p.untilDrained(ctx)
	defer cancel()
	if kind != fun.Wheel {
		p.Listen(ctx)
	}
	_, err := p.c.auth(ctx, "")
	return drained(ctx, err)
}

func (p *Provider) wheel(ctx context.Context, low *value.Map) (v value.Value, jid string, ok bool, err error) {
	low.Set("client", "wheel")
	answer, err := p.c.call(ctx, opWheel, low)
	if err != nil {
		return nil, "", false, err
	}
	m, _ := answer.(*value.Map)
	data := m.Map("data")
	if data == nil {
		return nil, "", false, p.c.fault(opWheel, 0, "", errNotSaltAPI)
	}
	if jid = data.Str("jid"); !jobs.IsJID(jid) {
		jid = ""
	}
	return data.At("return"), jid, data.At("success") == true, nil
}

// runner starts a runner and waits for its return: by its event, or else in the
// job cache. There is no limit to how long it may take but that of ctx, and of a
// master that went away.
func (p *Provider) runner(ctx context.Context, low *value.Map) (v value.Value, jid string, ok bool, err error) {
	p.mu.Lock()
	p.calls++
	p.mu.Unlock()
	low.Set("client", "runner_async")
	answer, err := p.c.call(ctx, opRunner, low)
	m, _ := answer.(*value.Map)
	if jid = m.Str("jid"); err != nil || !jobs.IsJID(jid) {
		p.called("")
		if err == nil {
			err = p.c.fault(opRunner, 0, "", errNotSaltAPI)
		}
		return nil, "", false, err
	}
	p.called(jid)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.awaited, jid)
		delete(p.runs, jid)
	}()
	next := p.o.Now().Add(runnerLook)
	for {
		if data := p.takeRun(jid); data != nil {
			return data.At("return"), jid, data.At("success") == true, nil
		}
		select {
		case <-ctx.Done():
			return nil, jid, false, fmt.Errorf("no longer waited for; the runner goes on at the master of fleet %s under the jid %s: %w", p.FleetName(), jid, ctx.Err())
		case <-time.After(runnerPause):
		}
		if since, away := p.c.downSince(); away && p.o.Now().Sub(since) > p.o.Config.Reconnect {
			return nil, jid, false, p.downError(since)
		}
		if p.o.Now().Before(next) {
			continue
		}
		next = p.o.Now().Add(runnerLook)
		if data := p.runnerReturn(ctx, jid); data != nil {
			return data.At("return"), jid, data.At("success") == true, nil
		}
	}
}

// runnerPause is the time between two looks for the event of a runner's return,
// runnerLook that between two looks into the job cache.
const (
	runnerPause = 50 * time.Millisecond
	runnerLook  = 5 * time.Second
)

// runnerReturn returns what the job cache has of a runner's return; nil: nothing.
func (p *Provider) runnerReturn(ctx context.Context, jid string) *value.Map {
	m, err := p.job(ctx, jid)
	if err != nil {
		if ctx.Err() == nil {
			p.warnOf(err)
		}
		return nil
	}
	for k, v := range m.Map("Result").All() {
		// The minion of a runner is the master itself. What the cache has is the whole
		// event.
		if data, ok := v.(*value.Map); ok && strings.HasSuffix(value.Str(k), "_master") {
			if inner := data.Map("return"); inner != nil && inner.Has("fun") && inner.Has("return") {
				return inner
			}
			return data
		}
	}
	return nil
}
