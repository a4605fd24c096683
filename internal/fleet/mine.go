package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// Bounds of what a machine may keep in the mine.
const (
	maxMine      = 4 << 20 // bytes of one machine, as JSON
	maxMineFuns  = 1000
	maxMineName  = 255
	mineGathers  = time.Minute // how long machines have for mine.update
	mineFunction = "mine.update"
)

// A Mine keeps the data of machines in files, one for each, so that a later run
// has them too. Machines of the run are asked for theirs when a job first reads
// the mine.
type Mine struct {
	// Host and Dir are where the files are.
	Host host.Host
	Dir  string
	// Fleet are the machines: nil, or those of a roster, or this one alone.
	Fleet *Fleet
	// Alone says that Fleet is this machine alone, and that data of machines that
	// it does not have may be read.
	Alone bool
	// All says that machines that the run does not work on are asked too, Off that
	// none is (option mine_refresh).
	All, Off bool
	// ACL is the option mine_get: which functions machines may read, as lists of
	// regular expressions by regular expressions of ids; nil: all.
	ACL value.Value
	// Refuse says why data of a machine cannot be kept; nil: it can.
	Refuse func(value.Value) error
	// Warn, if not nil, is called with the machines that could not be asked.
	Warn func(fun.Warning)

	mu      sync.Mutex       // guards the files too
	working map[string]int64 // how many jobs have begun and ended there
	jobs    map[string]*gathering
	own     map[string]bool // jids of mine.update as the mine itself calls it
}

// A gathering is the one time that a job has machines send their data.
type gathering struct {
	mu    sync.Mutex
	asked map[string]int64 // by id, working as it was then
}

// works notes that a job begins or ends on machines: data that they sent before is
// older than it.
func (m *Mine) works(ids []string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.working == nil {
		m.working = map[string]int64{}
	}
	for _, id := range ids {
		m.working[id]++
	}
}

// Mine answers a request.
func (m *Mine) Mine(ctx context.Context, req fun.MineRequest) (*value.Map, error) {
	if req.Op == fun.MineGet {
		return m.get(ctx, req)
	}
	if req.ID == "" && req.Op == fun.MineKept {
		return m.everything(ctx, req)
	}
	if req.ID == "" {
		return nil, fun.Errorf("the controller has no mine data of its own: name the machines, as in mine.update '*'")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := m.load(req.ID)
	if err != nil {
		return nil, err
	}
	switch req.Op {
	case fun.MineStore:
		if req.Clear {
			data = value.NewMap(req.Data.Len())
		}
		for k, v := range req.Data.All() {
			name, ok := k.(string)
			if !ok || name == "" || len(name) > maxMineName {
				return nil, fun.Errorf("mine data has no name that can be kept: %.40s", value.Repr(k))
			}
			if m.Refuse != nil {
				if err := m.Refuse(v); err != nil {
					return nil, fmt.Errorf("the mine data of %s: %w", name, err)
				}
			}
			data.Set(name, v)
		}
	case fun.MineDelete:
		for _, name := range req.Funs {
			data.Delete(name)
		}
	case fun.MineFlush:
		data = value.NewMap(0)
	default:
		return nil, fun.Errorf("the mine has no operation %q", req.Op)
	}
	return nil, m.save(req.ID, data)
}

// path returns the file of a machine.
func (m *Mine) path(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, "/\x00") || id == "." || id == ".." || len(id) > 240 {
		return "", fun.Errorf("%q is not an id that mine data can be kept of", id)
	}
	return filepath.Join(m.Dir, id+".json"), nil
}

// load reads the data of a machine; none is empty. m.mu is held.
func (m *Mine) load(id string) (*value.Map, error) {
	p, err := m.path(id)
	if err != nil {
		return nil, err
	}
	b, err := m.Host.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return value.NewMap(0), nil
	}
	if err != nil {
		return nil, fun.Errorf("read the mine data of %s: %v", id, err)
	}
	v, err := value.DecodeJSON(bytes.NewReader(b))
	data, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, fun.Errorf("the mine data of %s in %s is damaged; remove the file", id, p)
	}
	return data, nil
}

// save writes the data of a machine. m.mu is held.
func (m *Mine) save(id string, data *value.Map) error {
	p, err := m.path(id)
	if err != nil {
		return err
	}
	b := value.EncodeJSON(data)
	switch {
	case len(b) > maxMine:
		return fun.Errorf("the mine data of %s would have %d bytes, and a machine may keep %d", id, len(b), maxMine)
	case data.Len() > maxMineFuns:
		return fun.Errorf("the mine data of %s would have %d functions, and a machine may keep %d", id, data.Len(), maxMineFuns)
	}
	mode := fs.FileMode(0o600)
	if err = m.Host.MkdirAll(m.Dir, 0o700); err == nil {
		err = m.Host.WriteFile(p, bytes.NewReader(b), host.WriteOptions{Mode: &mode})
	}
	if err != nil {
		return fun.Errorf("keep the mine data of %s: %v", id, err)
	}
	return nil
}

// kept returns the ids that there is data of.
func (m *Mine) kept() []string {
	entries, err := m.Host.ReadDir(m.Dir)
	if err != nil {
		return nil
	}
	var ids []string
	for _, name := range entries {
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// exactPillar are the types that a machine's targets are read as: a machine may
// ask for a value of a pillar, and not search pillars by patterns.
var exactPillar = map[string]string{"pillar": "pillar_exact", "compound": "compound_pillar_exact"}

// get returns the data of machines, in the order of their ids.
//
// Salt: salt/daemons/masterapi.py RemoteFuncs._mine_get.
func (m *Mine) get(ctx context.Context, req fun.MineRequest) (*value.Map, error) {
	out := value.NewMap(len(req.Funs))
	funs, err := m.allowed(req)
	if err != nil || len(funs) == 0 {
		return out, err
	}
	if exact := exactPillar[req.TgtType]; exact != "" && req.ID != "" {
		req.TgtType = exact
	} else if req.TgtType == "pillar_pcre" && req.ID != "" {
		return nil, fun.Errorf("mine.get does not search pillars by regular expressions (tgt_type pillar_pcre)")
	}
	ids, err := m.match(ctx, req)
	if err != nil {
		return nil, err
	}
	m.gather(ctx, req, ids)
	for _, id := range ids {
		data := m.dataOf(id)
		for _, name := range funs {
			v, ok := data.Get(name)
			if !ok {
				continue
			}
			if v, ok = m.readable(ctx, v, req.ID); !ok {
				continue
			}
			if !out.Has(name) {
				out.Set(name, value.NewMap(len(ids)))
			}
			out.Map(name).Set(id, v)
		}
	}
	return out, nil
}

// dataOf returns the data that is kept of a machine. What cannot be read is warned of, and
// counts as none.
func (m *Mine) dataOf(id string) *value.Map {
	m.mu.Lock()
	data, err := m.load(id)
	m.mu.Unlock()
	if err != nil {
		m.warnf("%v", err)
		return value.NewMap(0)
	}
	return data
}

// everything returns all data that is kept of machines, in the order of their ids.
func (m *Mine) everything(ctx context.Context, req fun.MineRequest) (*value.Map, error) {
	ids, err := m.match(ctx, req)
	if err != nil {
		return nil, err
	}
	out := value.NewMap(len(ids))
	for _, id := range ids {
		data := m.dataOf(id)
		for k, v := range data.All() {
			v, _ = m.readable(ctx, v, "")
			data.Set(k, v)
		}
		if data.Len() > 0 {
			out.Set(id, data)
		}
	}
	return out, nil
}

// readable returns data without what says who may read it; false where id may
// not. A machine that allow_tgt names by grains is believed what it says of them,
// as in Salt.
func (m *Mine) readable(ctx context.Context, v value.Value, id string) (value.Value, bool) {
	wrapped, ok := v.(*value.Map)
	if !ok || !wrapped.Has(fun.MineACL) {
		return v, true
	}
	v = wrapped.At(fun.MineACLData)
	allow := wrapped.At("allow_tgt")
	if id == "" || !value.Truth(allow) {
		return v, true
	}
	reader := target.Minion{ID: id}
	var nodegroups *value.Map
	if m.Fleet != nil {
		nodegroups = m.Fleet.Nodegroups
		if _, owner, err := m.Fleet.listed(ctx, RosterFleet); err == nil && owner[id] != nil {
			reader = owner[id].Minion(ctx, id)
		}
	}
	match, err := target.Compile(allow, wrapped.Str("allow_tgt_type"), nodegroups)
	if err != nil {
		return nil, false
	}
	ok, err = match.Match(reader)
	return v, ok && err == nil
}

// allowed returns those functions of a request that mine_get lets the machine
// read.
func (m *Mine) allowed(req fun.MineRequest) ([]string, error) {
	if m.ACL == nil || req.ID == "" {
		return req.Funs, nil
	}
	acl, ok := m.ACL.(*value.Map)
	if !ok {
		return nil, fun.Errorf("the option mine_get must be a mapping of ids to lists of functions, not %s", value.TypeName(m.ACL))
	}
	like := func(pattern value.Value, text string) bool {
		match, err := target.Compile(value.Str(pattern), "pcre", nil)
		if err != nil {
			return false
		}
		ok, err := match.Match(target.Minion{ID: text})
		return ok && err == nil
	}
	var out []string
	for _, name := range req.Funs {
		for id, list := range acl.All() {
			l, _ := list.(*value.List)
			if l != nil && like(id, req.ID) && slices.ContainsFunc(l.Items, func(p value.Value) bool { return like(p, name) }) {
				out = append(out, name)
				break
			}
		}
	}
	return out, nil
}

// match returns the machines that a request names, of those that there is data
// of or that can be asked for it.
func (m *Mine) match(ctx context.Context, req fun.MineRequest) ([]string, error) {
	var nodegroups *value.Map
	owner := map[string]Provider{}
	var all []string
	if m.Fleet != nil {
		nodegroups = m.Fleet.Nodegroups
		var err error
		if all, owner, err = m.Fleet.listed(ctx, RosterFleet); err != nil {
			return nil, err
		}
	}
	match, err := target.Compile(req.Tgt, req.TgtType, nodegroups)
	if err != nil {
		return nil, &fun.TargetError{Err: err}
	}
	candidates := m.kept()
	m.mu.Lock()
	for id := range m.working {
		candidates = append(candidates, id)
	}
	m.mu.Unlock()
	if m.All || m.Alone {
		candidates = append(candidates, all...)
	}
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	grains, pillar := match.Needs()
	hits := make([]bool, len(candidates))
	var g errgroup.Group
	g.SetLimit(DefaultLimit)
	for i, id := range candidates {
		g.Go(func() error {
			minion := target.Minion{ID: id}
			switch p := owner[id]; {
			case p != nil:
				minion = p.Minion(ctx, id)
			case !m.Alone || grains || pillar:
				return nil
			}
			var err error
			if hits[i], err = match.Match(minion); err != nil {
				err = fmt.Errorf("match %s: %w", id, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []string
	for i, id := range candidates {
		if hits[i] {
			out = append(out, id)
		}
	}
	return out, ctx.Err()
}

// gather has those of ids that the run works on send their data, once for each
// job and again where another job has begun or ended there since. Requests of the
// same job wait until that is done.
func (m *Mine) gather(ctx context.Context, req fun.MineRequest, ids []string) {
	if req.JID == "" || m.Fleet == nil || m.Off {
		return
	}
	m.mu.Lock()
	if m.own[req.JID] { // what mine.update itself reads is read as it is
		m.mu.Unlock()
		return
	}
	if m.jobs == nil {
		m.jobs, m.own = map[string]*gathering{}, map[string]bool{}
	}
	g := m.jobs[req.JID]
	if g == nil {
		g = &gathering{asked: map[string]int64{}}
		m.jobs[req.JID] = g
	}
	m.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if ids = m.due(g, ids); len(ids) == 0 {
		return
	}
	// What one machine asked for is for all of the job: it outlives the request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mineGathers)
	defer cancel()
	_, owner, err := m.Fleet.listed(ctx, RosterFleet)
	if err != nil {
		return
	}
	prepare(ctx, ids, owner)
	job := fun.Job{JID: m.newJID(), Fun: mineFunction, Args: fun.Args{Kw: value.NewMap(0)}}
	limit := m.Fleet.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	var turns errgroup.Group
	turns.SetLimit(limit)
	for _, id := range ids {
		if owner[id] == nil {
			continue
		}
		turns.Go(func() error {
			m.update(ctx, owner[id], job, id)
			return nil
		})
	}
	_ = turns.Wait() // update warns of failures
}

// due returns those of ids that the run works on and that are to send their data,
// and notes that they are asked. g.mu is held.
func (m *Mine) due(g *gathering, ids []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, id := range ids {
		ran, works := m.working[id]
		at, asked := g.asked[id]
		if (works || m.All || m.Alone) && (!asked || at != ran) {
			g.asked[id] = ran
			out = append(out, id)
		}
	}
	return out
}

// update has a machine send its data.
func (m *Mine) update(ctx context.Context, p Provider, job fun.Job, id string) {
	ret := p.Run(Phases(ctx, func(Phase) {}), job, id, func() {})
	switch {
	case ret.Stage != fun.Returned:
		m.warnf("the mine data of %s is that of an earlier run: %s%s", id, ret.Stage, reasonSuffix(ret.Err))
	case ret.Raised || ret.Retcode != 0:
		v, _ := ret.Value()
		m.warnf("the mine data of %s is that of an earlier run: mine.update: %s", id, value.Str(v))
	}
}

// newJID returns the jid of a mine.update that gather calls.
func (m *Mine) newJID() string {
	next := m.Fleet.AskJID
	if next == nil {
		next = m.Fleet.NewJID
	}
	jid := next()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.own[jid] = true
	return jid
}

func reasonSuffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

func (m *Mine) warnf(format string, args ...any) {
	if m.Warn != nil {
		m.Warn(fun.Warning{Text: fmt.Sprintf(format, args...)})
	}
}
