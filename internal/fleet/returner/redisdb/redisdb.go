// Package redisdb is Salt's returner "redis".
//
// [Spec] lists its settings; dial.go reaches a server, a cluster or what
// sentinels name.
package redisdb

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// Spec returns the returner.
func Spec() returner.Spec {
	return returner.Spec{
		Name: "redis", Doc: "Store returns in Redis.", Src: "returners/redis_return.py", New: open, Prepare: prepare, Reads: true,
		Keys: returner.Keys(`
			db@# = "0" -- number of the database; a cluster has 0 alone
			host@ = salt -- name or address of the server
			port@ = 6379 -- port of the server
			unix_socket_path@ -- socket of the server, instead of host and port
			username -- account (ACL); without it that which is called default
			password! = "" -- password of the account
			tls -- True, False or skip-verify (without knowing who the server is); where it is not set: True with one of the files below, else False
			ssl_ca -- file with the certificates that are trusted; without it the machine's are
			ssl_cert -- file with the client's certificate
			ssl_key -- file with its key
			cluster_mode = False -- the servers are a cluster
			cluster.startup_nodes@ -- list of its servers, each HOST:PORT or a dict of host and port; without it host and port are one
			cluster.skip_full_coverage_check = False -- accepted: slots without a server are an error only for what is in them
			sentinel.master@ -- name of the master that sentinels know
			sentinel.nodes@ -- list of the sentinels, each HOST:PORT or a dict of host and port (26379)
			sentinel.username -- account at the sentinels
			sentinel.password! -- its password
		`),
	}
}

type store struct {
	c     redis.UniversalClient
	ttl   int64 // seconds that keys live
	limit int64 // bytes that a value may have
}

// bulkLimit is the default maximum size of a value.
const bulkLimit = 512 << 20

// limitOf asks the server how large a value may be. Where an account may not ask,
// it is what servers begin with.
func limitOf(ctx context.Context, c redis.UniversalClient) int64 {
	const name = "proto-max-bulk-len"
	m, err := c.ConfigGet(ctx, name).Result()
	if err != nil {
		return bulkLimit
	}
	n, err := strconv.ParseInt(m[name], 10, 64)
	if err != nil || n <= 0 {
		return bulkLimit
	}
	return n
}

// encode returns the rows as JSON, or an error with those that the server does
// not take.
func (s *store) encode(rows []*value.Map) ([][]byte, error) {
	out := make([][]byte, len(rows))
	unfit := map[int]error{}
	for i, r := range rows {
		out[i] = value.StrictJSON(r)
		if n := int64(len(out[i])); n > s.limit {
			unfit[i] = fmt.Errorf("it has %d bytes, and proto-max-bulk-len of the server is %d", n, s.limit)
		}
	}
	if len(unfit) > 0 {
		return nil, &jobs.UnfitError{Rows: unfit}
	}
	return out, nil
}

func open(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	c, err := dial(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &store{c: c, limit: limitOf(ctx, c)}
	if n, ok := value.AsInt(s.Env.Opts.At("keep_jobs_seconds")); ok {
		r.ttl = n
	}
	return r, nil
}

// Close ends the connections.
func (s *store) Close() error { return s.c.Close() }

// A command is a name and its arguments.
type command []any

// pipeline sends commands at once and returns the first error. To one server
// they are one transaction: a process that is killed half-way has stored
// nothing. A cluster has its keys on several servers and no transactions across
// them; there a batch that broke off is sent again, and stores the same.
func (s *store) pipeline(ctx context.Context, cmds []command) error {
	if len(cmds) == 0 {
		return nil
	}
	fill := func(p redis.Pipeliner) error {
		for _, c := range cmds {
			p.Do(ctx, c...)
		}
		return nil
	}
	var err error
	if _, cluster := s.c.(*redis.ClusterClient); cluster {
		_, err = s.c.Pipelined(ctx, fill)
	} else {
		_, err = s.c.TxPipelined(ctx, fill)
	}
	return err
}

// set is SET with the time that keys live.
func (s *store) set(key string, v any) command {
	if s.ttl > 0 {
		return command{"SETEX", key, s.ttl, v}
	}
	return command{"SET", key, v}
}

// Return stores answers: a hash ret:JID of id to answer, the last jid of each
// function on each target, and the set of targets.
func (s *store) Return(ctx context.Context, rets []*value.Map) error {
	data, err := s.encode(rets)
	if err != nil {
		return err
	}
	var cmds []command
	for i, r := range rets {
		jid, id := r.Str("jid"), r.Str("id")
		cmds = append(cmds,
			command{"HSET", "ret:" + jid, id, data[i]},
			command{"SET", id + ":" + r.Str("fun"), jid},
			command{"SADD", "minions", id},
		)
		if s.ttl > 0 {
			cmds = append(cmds, command{"EXPIRE", "ret:" + jid, s.ttl})
		}
	}
	return s.pipeline(ctx, cmds)
}

// SaveLoad stores loads as load:JID.
func (s *store) SaveLoad(ctx context.Context, loads []*value.Map) error {
	data, err := s.encode(loads)
	if err != nil {
		return err
	}
	var cmds []command
	for i, l := range loads {
		cmds = append(cmds, s.set("load:"+l.Str("jid"), data[i]))
	}
	return s.pipeline(ctx, cmds)
}

func (s *store) load(ctx context.Context, jid string) (*value.Map, error) {
	b, err := s.c.Get(ctx, "load:"+jid).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(b, "load:"+jid)
}

func decode(b []byte, key string) (*value.Map, error) {
	v, err := value.ParseJSON(string(b))
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s is not a JSON mapping", key)
	}
	return m, nil
}

// Job reads a job; see [jobs.Store].
func (s *store) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	load, err := s.load(ctx, jid)
	if err != nil {
		return nil, err
	}
	rets, err := s.c.HGetAll(ctx, "ret:"+jid).Result()
	if err != nil {
		return nil, err
	}
	if load == nil && len(rets) == 0 {
		return nil, nil
	}
	j := jobs.NewJob(jid, load)
	ids := make([]string, 0, len(rets))
	for id := range rets {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		m, err := decode([]byte(rets[id]), "ret:"+jid)
		if err != nil {
			return nil, err
		}
		j.Got(id, m)
	}
	return j, nil
}

// Jobs lists jobs; see [jobs.Store].
func (s *store) Jobs(ctx context.Context, from, to string) ([]jobs.Entry, error) {
	var mu sync.Mutex // servers of a cluster are asked side by side
	seen := map[string]bool{}
	scan := func(ctx context.Context, c *redis.Client) error {
		it := c.Scan(ctx, 0, "load:*", 1000).Iterator()
		for it.Next(ctx) {
			if jid := strings.TrimPrefix(it.Val(), "load:"); jid >= from && (to == "" || jid <= to) {
				mu.Lock()
				seen[jid] = true
				mu.Unlock()
			}
		}
		return it.Err()
	}
	var err error
	switch c := s.c.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, scan)
	case *redis.Client:
		err = scan(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	jids := make([]string, 0, len(seen))
	for jid := range seen {
		jids = append(jids, jid)
	}
	sort.Strings(jids)
	var out []jobs.Entry
	for _, jid := range jids {
		l, err := s.load(ctx, jid)
		if err != nil {
			return nil, err
		}
		if l != nil {
			out = append(out, jobs.Entry{JID: jid, Load: l})
		}
	}
	return out, nil
}
