package redisdb

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
	"brine/internal/testkit/servertest"
)

func settings(opts ...any) returner.Settings {
	spec := Spec()
	return returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: value.MapOf(append(opts, "keep_jobs_seconds", int64(60))...)}}}
}

// testStore tries what a store of jobs must do.
func testStore(t *testing.T, s returner.Settings) {
	t.Helper()
	s, err := s.Check()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const jid = "20261121090807000001"
	ret := func(id string, v value.Value) *value.Map {
		return value.MapOf("jid", jid, "return", v, "retcode", int64(0), "success", true, "fun", "test.ping", "id", id)
	}
	l := jobs.Load{JID: jid, Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "zoe"}
	if err := r.(jobs.LoadSaver).SaveLoad(t.Context(), []*value.Map{l.Map()}); err != nil {
		t.Fatal(err)
	}
	if err := r.Return(t.Context(), []*value.Map{ret("web1", true), ret("web2", "é\x00")}); err != nil {
		t.Fatal(err)
	}
	st := r.(jobs.Store)
	j, err := st.Job(t.Context(), jid)
	if err != nil || j == nil || j.Returns.Len() != 2 || j.Returns.Map("web2").At("return") != "é\x00" || j.Load.Str("user") != "zoe" {
		t.Fatalf("job = %+v, %v", j, err)
	}
	if list, err := st.Jobs(t.Context(), "", ""); err != nil || len(list) != 1 || list[0].JID != jid {
		t.Errorf("Jobs = %v, %v", list, err)
	}
	if none, err := st.Job(t.Context(), "20200101000000000000"); none != nil || err != nil {
		t.Errorf("a job that is not there = %v, %v", none, err)
	}
}

func TestRedis(t *testing.T) {
	t.Parallel()
	srv := servertest.Redis(t)
	s := settings("redis.host", "127.0.0.1", "redis.port", int64(srv.Port))
	spec := s.Spec
	testStore(t, s)
	testStore(t, settings("redis.unix_socket_path", filepath.Join(srv.Dir, "s.sock")))
	if ttl := srv.RedisCLI(t, "TTL", "ret:20261121090807000001"); strings.TrimSpace(ttl) == "-1" {
		t.Error("returns live for ever")
	}
	srv.RedisCLI(t, "ACL", "SETUSER", "writer", "on", ">secret", "~*", "+@all")
	testStore(t, settings("redis.host", "127.0.0.1", "redis.port", int64(srv.Port), "redis.username", "writer", "redis.password", "secret"))
	fails(t, settings("redis.host", "127.0.0.1", "redis.port", int64(srv.Port), "redis.username", "writer", "redis.password", "wrong"), "redis.username and redis.password")
	fails(t, settings("redis.host", "127.0.0.1", "redis.port", int64(srv.Port), "redis.tls", true), "redis.tls")
	fails(t, settings("redis.host", "127.0.0.1", "redis.port", int64(srv.Port), "redis.cluster_mode", true), "redis.cluster_mode")
	open := func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) }
	servertest.Load(t, "redis", open)
	srv.RedisCLI(t, "CONFIG", "SET", "proto-max-bulk-len", "1mb")
	servertest.Large(t, "redis", 2<<20, "proto-max-bulk-len of the server is 1048576", open)
	srv.RedisCLI(t, "CONFIG", "SET", "proto-max-bulk-len", "512mb")
	servertest.Outage(t, "redis", srv, open)
}

// fails tries that the settings lead to an error that says want.
func fails(t *testing.T, s returner.Settings, want string) {
	t.Helper()
	s, err := s.Check()
	if err == nil {
		var r jobs.Returner
		if r, err = s.Spec.New(t.Context(), s); err == nil {
			r.Close()
		}
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("err = %v, want %q", err, want)
	}
	if err != nil && strings.Contains(err.Error(), "wrong") {
		t.Errorf("a password is told: %v", err)
	}
}

func TestRedisKilled(t *testing.T) {
	t.Parallel()
	srv := servertest.DurableRedis(t)
	s := settings("redis.host", "127.0.0.1", "redis.port", int64(srv.Port))
	s.Env.Opts.Set("keep_jobs_seconds", int64(86400)) // longer than a soak
	spec := s.Spec
	servertest.Killed(t, "redis", srv, func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) }, nil)
}

func TestRedisTLS(t *testing.T) {
	t.Parallel()
	ca := servertest.NewCA(t)
	srv := servertest.Redis(t, ca)
	cert, key := ca.Issue(t, t.TempDir(), "client")
	port := int64(srv.Port)
	testStore(t, settings("redis", value.MapOf("host", "localhost", "port", port, "ssl_ca", ca.File, "ssl_cert", cert, "ssl_key", key)))
	testStore(t, settings("redis", value.MapOf("host", "127.0.0.1", "port", port, "tls", "skip-verify", "ssl_cert", cert, "ssl_key", key)))
	fails(t, settings("redis", value.MapOf("host", "localhost", "port", port)), "want TLS at this port")
	fails(t, settings("redis", value.MapOf("host", "localhost", "port", port, "tls", true, "ssl_cert", cert, "ssl_key", key)), "redis.ssl_ca names")
	fails(t, settings("redis", value.MapOf("host", "127.0.0.1", "port", port, "ssl_ca", ca.File, "ssl_cert", cert, "ssl_key", key)), "redis.ssl_ca names")
}

func TestRedisCluster(t *testing.T) {
	t.Parallel()
	all := servertest.RedisCluster(t)
	node := func(i int) *value.Map { return value.MapOf("host", "127.0.0.1", "port", int64(all[i].Port)) }
	s := settings("redis.cluster_mode", true, "redis.cluster.startup_nodes", value.NewList(node(1), node(2)), "redis.cluster.skip_full_coverage_check", true)
	testStore(t, s)
	testStore(t, settings("redis", value.MapOf("cluster_mode", true, "host", "127.0.0.1", "port", int64(all[0].Port))))
	servertest.Load(t, "redis cluster", func(ctx context.Context) (jobs.Returner, error) { return s.Spec.New(ctx, s) })
	for i, srv := range all {
		if strings.TrimSpace(srv.RedisCLI(t, "DBSIZE")) == "0" {
			t.Errorf("server %d of the cluster has no key", i)
		}
	}
}

func TestRedisSentinel(t *testing.T) {
	t.Parallel()
	srv := servertest.Redis(t)
	sentinel := servertest.Sentinel(t, srv)
	nodes := value.NewList(fmt.Sprintf("127.0.0.1:%d", sentinel.Port))
	testStore(t, settings("redis", value.MapOf("sentinel", value.MapOf("master", "mymaster", "nodes", nodes))))
	if n := strings.TrimSpace(srv.RedisCLI(t, "EXISTS", "ret:20261121090807000001")); n != "1" {
		t.Errorf("the master has %s of the keys", n)
	}
	fails(t, settings("redis.sentinel.master", "other", "redis.sentinel.nodes", nodes), "sentinel")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		opts *value.Map
		want string
	}{
		{value.MapOf("cluster_mode", true, "sentinel.master", "m"), "not both"},
		{value.MapOf("sentinel.master", "m"), "redis.sentinel.nodes must be configured"},
		{value.MapOf("sentinel.master", "m", "sentinel.nodes", "a"), "is not a list of servers"},
		{value.MapOf("cluster_mode", true, "cluster.startup_nodes", value.NewList(value.MapOf("port", int64(1)))), "host and port are expected"},
		{value.MapOf("cluster_mode", true, "cluster.startup_nodes", value.NewList("a:b")), "host and port are expected"},
		{value.MapOf("tls", "perhaps"), "none of True, False and skip-verify"},
		{value.MapOf("ssl_ca", "/nonexistent"), "/nonexistent"},
		{value.MapOf("ssl_key", "/nonexistent"), "no certificate of it"},
	} {
		fails(t, settings("redis", tt.opts), tt.want)
	}
}
