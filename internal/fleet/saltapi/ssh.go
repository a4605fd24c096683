package saltapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// Hosts that a master reaches by salt-ssh (client: ssh).
//
// salt-api answers such a request when all hosts are done, so it is left open as long
// as that takes. The returns come by events meanwhile, as those of minions do; what
// did not is in the answer. There is nobody on the hosts who could be asked whether
// a job runs: it does as long as the request is open.

// clientSSH is the value of the key client that says so, and clientLocal the other
// one.
const (
	clientSSH   = "ssh"
	clientLocal = "local"
)

// lowSSH is the low chunk of a function on hosts.
func lowSSH(tgt value.Value, tgtType, jid, name string, args fun.Args) *value.Map {
	low := value.MapOf("client", "ssh", "tgt", tgt, "tgt_type", tgtType, "fun", name, "arg", value.NewList(args.Pos...), "jid", jid)
	if args.Kw.Len() > 0 {
		low.Set("kwarg", args.Kw)
	}
	return low
}

// hosts returns the ids, with the prefix, of the hosts that a target means: those that
// answer test.ping, in whatever way.
func (p *Provider) hosts(ctx context.Context, tgt value.Value, tgtType string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, max(p.o.Config.Timeout, hostsWait))
	defer cancel()
	answer, err := p.c.callFor(ctx, 0, opFind, lowSSH(tgt, tgtType, p.o.NewJID(), "test.ping", fun.Args{}))
	if err != nil {
		return nil, err
	}
	m, ok := answer.(*value.Map)
	if !ok {
		return nil, p.c.fault(opFind, 0, "", errNotSaltAPI)
	}
	if err := p.tooMany(opFind, m.Len()); err != nil {
		return nil, err
	}
	var ids []string
	for k := range m.All() {
		if id, ok := k.(string); ok && isID(id) {
			ids = append(ids, p.o.Config.Prefix+id)
		}
	}
	return ids, nil
}

// hostsWait is how long the hosts of a target have to answer: they may have to be
// given Salt first.
const hostsWait = 5 * time.Minute

// errSSHTarget says which targets salt-ssh knows.
var errSSHTarget = errors.New("salt-ssh has no grains or pillar of its hosts to match: target them by glob, pcre, list or ipcidr")

// resolveSSH returns the ids of the hosts that a target means. Compounds and node
// groups of ids are matched here.
func (p *Provider) resolveSSH(ctx context.Context, tgt value.Value, tgtType string, groups *value.Map) ([]string, error) {
	switch tgtType {
	case "glob", "pcre", "list", "ipcidr":
		if p.o.Config.Prefix == "" || tgtType == "ipcidr" {
			return p.hosts(ctx, tgt, tgtType)
		}
	case "compound", "nodegroup":
	default:
		return nil, &fun.TargetError{Err: errSSHTarget}
	}
	m, err := target.Compile(tgt, tgtType, groups)
	if err != nil {
		return nil, &fun.TargetError{Err: err}
	}
	all, err := p.hosts(ctx, "*", "glob")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range all {
		ok, err := m.Match(target.Minion{ID: id, Unknown: func() error { return errSSHTarget }})
		if err != nil {
			return nil, &fun.TargetError{Err: err}
		}
		if ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// runSSH has the master work on a publication, and takes what came by no event. It
// goes on when nobody waits: salt-api does, too.
func (p *Provider) runSSH(pub *publication, hosts []string) {
	low := lowOf(pub, hosts)
	low.Set("client", "ssh")
	low.Delete("metadata")
	answer, err := p.c.callFor(p.ctx, 0, opRun, low)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		pub.over = true
	}()
	m, ok := answer.(*value.Map)
	switch {
	case err == nil && ok:
		for k, v := range m.All() {
			p.returned(pub, value.Str(k), ofHost(v))
		}
		p.fail(pub, fun.Unreachable, fmt.Errorf("the master of fleet %s has no such host in its roster, or none that answers", p.FleetName()))
	case err == nil:
		p.fail(pub, fun.Lost, p.c.fault(opRun, 0, "", errNotSaltAPI))
	case unsent(err), refused(err):
		p.fail(pub, fun.Unreachable, err)
	case p.ctx.Err() == nil:
		p.warnOnce(err.Error() + ": looking for the returns in the job cache of the master")
		if err := p.lookup(p.ctx, pub); err != nil && !errors.Is(err, errUnknownJob) {
			p.warnOnce(err.Error())
		}
	}
}

// ofHost returns what is in an answer, an event or the job cache of a host as a minion
// would return it.
func ofHost(v value.Value) *value.Map {
	m, ok := v.(*value.Map)
	if !ok {
		return value.MapOf("return", v, "retcode", int64(1), "success", false)
	}
	if inner := m.Map("return"); inner.Has("return") && inner.Has("id") {
		m = inner // the job cache keeps the whole
	}
	if m.Has("return") {
		return m
	}
	// What salt-ssh says of a host on which it came to nothing.
	out := value.NewMap(3)
	for _, k := range []string{"stdout", "stderr", "retcode", "parsed"} {
		if v, ok := m.Get(k); ok {
			out.Set(k, v)
		}
	}
	code, _ := value.AsInt(m.At("retcode"))
	return value.MapOf("return", out, "retcode", max(1, code), "success", false)
}

// fail ends the waits of a publication for those that have not returned.
func (p *Provider) fail(pub *publication, stage fun.Stage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for minion, w := range pub.waits {
		if w.done {
			continue
		}
		w.done = true
		pub.open--
		ret := fun.Return{ID: p.o.Config.Prefix + minion, JID: pub.job.JID, Stage: stage, Err: err, Fleet: p.FleetName()}
		if stage == fun.Lost {
			ret.FleetJID, ret.Away = pub.jid, true
		}
		w.ret <- ret
	}
}

// findSSH tells that a job runs on hosts as long as its request is open.
func (p *Provider) findSSH(ctx context.Context, pub *publication, minions []string, tell func(minion string, pid int)) {
	p.mu.Lock()
	over := pub.over
	p.mu.Unlock()
	pid := 1
	if over {
		pid = 0
		if err := p.lookup(ctx, pub); err != nil {
			p.warnOf(err)
		}
	}
	for _, minion := range minions {
		tell(minion, pid)
	}
}
