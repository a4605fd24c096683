// Package redisdb is Salt's returner "redis".
package redisdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/value"
)

// Spec returns the returner.
func Spec() returner.Spec {
	return returner.Spec{
		Name: "redis", Doc: "Store returns in Redis.", Src: "returners/redis_return.py", New: open, Reads: true,
		Keys: returner.Keys(`
			db = "0" -- number of the database
			host = salt -- name or address of the server
			port = 6379 -- port of the server
			unix_socket_path -- socket of the server, instead of host and port
			password! = "" -- password of the server
		`),
	}
}

const dialTimeout = 5 * time.Second

type store struct {
	c   redis.Conn
	ttl int64 // seconds that keys live
}

func open(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	network, addr := "tcp", net.JoinHostPort(s.Str("host"), strconv.Itoa(s.Int("port")))
	if p := s.Str("unix_socket_path"); p != "" {
		network, addr = "unix", p
	}
	c, err := redis.DialContext(ctx, network, addr,
		redis.DialConnectTimeout(dialTimeout), redis.DialReadTimeout(4*dialTimeout), redis.DialWriteTimeout(4*dialTimeout),
		redis.DialDatabase(s.Int("db")), redis.DialPassword(s.Str("password")))
	if err != nil {
		return nil, err
	}
	r := &store{c: c}
	if n, ok := value.AsInt(s.Env.Opts.At("keep_jobs_seconds")); ok {
		r.ttl = n
	}
	return r, nil
}

// Close ends the connection.
func (s *store) Close() error { return s.c.Close() }

// A command is a name and its arguments.
type command []any

// pipeline sends commands at once, as one transaction, and returns the first
// error: a process that is killed half-way has stored nothing.
func (s *store) pipeline(ctx context.Context, cmds []command) error {
	if len(cmds) == 0 {
		return nil
	}
	if err := s.c.Send("MULTI"); err != nil {
		return err
	}
	for _, c := range cmds {
		if err := s.c.Send(c[0].(string), c[1:]...); err != nil {
			return err
		}
	}
	done, err := redis.Values(redis.DoContext(s.c, ctx, "EXEC"))
	if err != nil {
		return err
	}
	for _, x := range done {
		if err, ok := x.(redis.Error); ok {
			return err
		}
	}
	return nil
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
	var cmds []command
	for _, r := range rets {
		jid, id := r.Str("jid"), r.Str("id")
		cmds = append(cmds,
			command{"HSET", "ret:" + jid, id, value.EncodeJSON(r)},
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
	var cmds []command
	for _, l := range loads {
		cmds = append(cmds, s.set("load:"+l.Str("jid"), value.EncodeJSON(l)))
	}
	return s.pipeline(ctx, cmds)
}

func (s *store) load(ctx context.Context, jid string) (*value.Map, error) {
	b, err := redis.Bytes(redis.DoContext(s.c, ctx, "GET", "load:"+jid))
	if errors.Is(err, redis.ErrNil) {
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
		return nil, fmt.Errorf("%s holds no JSON dict", key)
	}
	return m, nil
}

// Job reads a job; see [jobs.Store].
func (s *store) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	load, err := s.load(ctx, jid)
	if err != nil {
		return nil, err
	}
	rets, err := redis.StringMap(redis.DoContext(s.c, ctx, "HGETALL", "ret:"+jid))
	if err != nil {
		return nil, err
	}
	if load == nil && len(rets) == 0 {
		return nil, nil
	}
	j := &jobs.Job{JID: jid, Load: load, Returns: value.NewMap(len(rets)), Missing: map[string]string{}}
	if load == nil {
		j.Load = value.NewMap(0)
	}
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
		j.Returns.Set(id, m)
	}
	return j, nil
}

// Jobs lists jobs; see [jobs.Store].
func (s *store) Jobs(ctx context.Context, from, to string) ([]jobs.Entry, error) {
	seen := map[string]bool{}
	cursor := "0"
	for {
		reply, err := redis.Values(redis.DoContext(s.c, ctx, "SCAN", cursor, "MATCH", "load:*", "COUNT", 1000))
		if err != nil {
			return nil, err
		}
		var keys []string
		if _, err := redis.Scan(reply, &cursor, &keys); err != nil {
			return nil, err
		}
		for _, k := range keys {
			if jid := strings.TrimPrefix(k, "load:"); jid >= from && (to == "" || jid <= to) {
				seen[jid] = true
			}
		}
		if cursor == "0" {
			break
		}
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
