package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// Peers calls functions for a machine of a run on others of the roster, as far as
// the options peer and peer_run allow. A machine that a function was called on so
// can call none in turn.
type Peers struct {
	Fleet *Fleet
	// Peer and PeerRun are those options: lists of regular expressions of functions,
	// by regular expressions of the ids of machines that may call them. Of Peer, a
	// dict in such a list allows functions by a compound target. Each expression
	// matches all of a name. nil and the empty dict allow nothing.
	Peer, PeerRun value.Value
	// Runner calls a runner function.
	Runner func(ctx context.Context, name string, args fun.Args) (fun.Result, error)
	// Warn, if not nil, is called with the machines that did not answer.
	Warn func(fun.Warning)

	mu   sync.Mutex
	jids map[string]bool // jobs that machines called
}

// The options, for errors.
const (
	optionPeer    = "peer"
	optionPeerRun = "peer_run"
)

// Publish calls a function for a machine.
// Salt: salt/master.py ClearFuncs.minion_pub, minion_runner.
func (p *Peers) Publish(ctx context.Context, req fun.PublishRequest) (value.Value, error) {
	switch {
	case req.JID == "" || req.ID == "":
		return nil, fun.Errorf("functions are called on other machines by jobs of a run only: not where pillars are rendered")
	case p.called(req.JID):
		return nil, fun.Errorf("%s cannot be called: this job was called by another machine, and such a job calls nothing further", req.Fun)
	case req.Fun == "" || strings.Contains(req.Fun, ","):
		return nil, fun.Errorf("%q is not the name of one function", req.Fun)
	case strings.HasPrefix(req.Fun, "publish."):
		return nil, fun.Errorf("%s cannot be called on other machines", req.Fun)
	case req.Runner:
		return p.runner(ctx, req)
	}
	return p.publish(ctx, req)
}

func (p *Peers) called(jid string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.jids[jid]
}

func (p *Peers) publish(ctx context.Context, req fun.PublishRequest) (value.Value, error) {
	rules, err := permissions(optionPeer, p.Peer, req)
	if err != nil {
		return nil, err
	}
	if exact := exactPillar[req.TgtType]; exact != "" {
		req.TgtType = exact
	} else if req.TgtType == "pillar_pcre" {
		return nil, fun.Errorf("publish does not search pillars by regular expressions (tgt_type pillar_pcre)")
	}
	ids, err := p.match(ctx, req.Tgt, req.TgtType)
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if r.tgt == "" {
			continue
		}
		allowed, err := p.match(ctx, r.tgt, "compound")
		if err != nil {
			return nil, fun.Errorf("the option %s: %v", optionPeer, err)
		}
		if len(only(ids, allowed)) < len(ids) {
			continue
		}
		rules = nil
		break
	}
	if len(rules) > 0 && !slices.ContainsFunc(rules, func(r permission) bool { return r.tgt == "" }) {
		return nil, denied(optionPeer, req, " on all of these machines")
	}
	if len(ids) == 0 {
		return value.NewMap(0), nil
	}
	if err := p.Fleet.beyond(req.Fun, ids); err != nil {
		return nil, err
	}
	return p.call(ctx, req, ids)
}

// match returns the ids of machines of the roster. A target is always an expression
// here: a machine names none that the controller does not know.
func (p *Peers) match(ctx context.Context, tgt value.Value, tgtType string) ([]string, error) {
	all, owner, err := p.Fleet.listed(ctx, RosterFleet)
	if err != nil {
		return nil, err
	}
	found, unasked, err := p.Fleet.match(ctx, tgt, tgtType, all, owner)
	for _, id := range slices.Sorted(maps.Keys(unasked)) {
		p.Fleet.warnUnasked(id, unasked[id])
	}
	return found, err
}

func (p *Peers) call(ctx context.Context, req fun.PublishRequest, ids []string) (value.Value, error) {
	jid := p.Fleet.NewJID()
	p.mu.Lock()
	if p.jids == nil {
		p.jids = map[string]bool{}
	}
	p.jids[jid] = true
	p.mu.Unlock()
	job := fun.Job{
		JID: jid, Fun: req.Fun, Args: fun.Args{Pos: req.Args, Kw: value.NewMap(0)}, Tgt: value.Strings(ids...), TgtType: "list",
		Fleet: RosterFleet, User: req.ID, Published: true, Returner: req.Returner, Timeout: req.Timeout, Peer: true, Caller: req.ID,
	}
	out := value.NewMap(len(ids))
	var mu sync.Mutex
	_, err := p.Fleet.Run(ctx, job, func(ret fun.Return) error {
		if ret.Stage != fun.Returned {
			p.warnf("%s called %s on %s: %s%s", req.ID, req.Fun, ret.ID, ret.Stage, reasonSuffix(ret.Err))
			return nil
		}
		v, err := ret.Value()
		if err != nil {
			return err
		}
		if req.Full {
			full := value.MapOf("ret", v)
			if ret.Out != "" {
				full.Set("out", ret.Out)
			}
			v = full
		}
		mu.Lock()
		defer mu.Unlock()
		out.Set(ret.ID, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sorted := value.NewMap(out.Len())
	for _, id := range ids {
		if v, ok := out.Get(id); ok {
			sorted.Set(id, v)
		}
	}
	return sorted, ctx.Err()
}

func (p *Peers) runner(ctx context.Context, req fun.PublishRequest) (value.Value, error) {
	if _, err := permissions(optionPeerRun, p.PeerRun, req); err != nil {
		return nil, err
	}
	res, err := p.Runner(ctx, req.Fun, fun.Args{Pos: req.Args, Kw: value.NewMap(0)})
	return res.Value, err
}

func (p *Peers) warnf(format string, args ...any) {
	if p.Warn != nil {
		p.Warn(fun.Warning{Text: fmt.Sprintf(format, args...)})
	}
}

// A permission lets a machine call a function on the machines of a compound
// target, "" is all.
type permission struct{ tgt string }

// permissions returns what an option permits of a request; at least one.
func permissions(option string, acl value.Value, req fun.PublishRequest) ([]permission, error) {
	if acl == nil {
		return nil, denied(option, req, "")
	}
	m, ok := acl.(*value.Map)
	if !ok {
		return nil, fun.Errorf("the option %s must be a mapping of ids to lists of functions, not %s", option, value.TypeName(acl))
	}
	var out []permission
	for id, v := range m.All() {
		list, ok := v.(*value.List)
		if !ok {
			return nil, fun.Errorf("the option %s must have a list of functions for %s, not %s", option, value.Str(id), value.TypeName(v))
		}
		if mine, err := fullMatch(option, id, req.ID); err != nil {
			return nil, err
		} else if !mine {
			continue
		}
		for _, x := range list.Items {
			got, err := permits(option, x, req.Fun)
			if err != nil {
				return nil, err
			}
			out = append(out, got...)
		}
	}
	if len(out) == 0 {
		return nil, denied(option, req, "")
	}
	return out, nil
}

// permits reads an entry of a list of functions.
func permits(option string, entry value.Value, name string) ([]permission, error) {
	switch x := entry.(type) {
	case string:
		ok, err := fullMatch(option, x, name)
		if !ok || err != nil {
			return nil, err
		}
		return []permission{{}}, nil
	case *value.Map:
		if option != optionPeer {
			break
		}
		var out []permission
		for tgt, funs := range x.All() {
			patterns := []value.Value{funs}
			if l, ok := funs.(*value.List); ok {
				patterns = l.Items
			}
			for _, p := range patterns {
				s, isText := p.(string)
				if !isText || value.Str(tgt) == "" {
					return nil, fun.Errorf("the option %s must name the functions for the target %s as text, not by %s", option, value.Str(tgt), value.TypeName(p))
				}
				if ok, err := fullMatch(option, s, name); err != nil {
					return nil, err
				} else if ok {
					out = append(out, permission{value.Str(tgt)})
				}
			}
		}
		return out, nil
	}
	return nil, fun.Errorf("the option %s must name functions as text, not by %s", option, value.TypeName(entry))
}

// fullMatch reports whether a regular expression of an option matches all of a text.
func fullMatch(option string, pattern value.Value, text string) (bool, error) {
	match, err := target.Compile("(?:"+value.Str(pattern)+`)\Z`, "pcre", nil)
	if err != nil {
		return false, fun.Errorf("the option %s has %q, which is not a regular expression", option, value.Str(pattern))
	}
	return match.Match(target.Minion{ID: text})
}

func denied(option string, req fun.PublishRequest, more string) error {
	where := " on other machines"
	switch {
	case req.Runner:
		where = ", a runner"
	case more != "":
		where = more
	}
	return fun.Errorf("%s may not call %s%s: the option %s of the controller's configuration does not allow it", req.ID, req.Fun, where, option)
}
