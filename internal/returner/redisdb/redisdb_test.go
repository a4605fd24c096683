package redisdb

import (
	"context"
	"testing"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/testkit/servertest"
	"brine/internal/value"
)

func TestRedis(t *testing.T) {
	t.Parallel()
	srv := servertest.Redis(t)
	spec := Spec()
	s := returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: value.MapOf("redis.host", "127.0.0.1", "redis.port", int64(srv.Port), "keep_jobs_seconds", int64(60))}}}
	r, err := spec.New(t.Context(), s)
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
	open := func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) }
	servertest.Load(t, "redis", open)
	servertest.Outage(t, "redis", srv, open)
}
