package memcache

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/testkit/servertest"
	"brine/internal/value"
)

func TestMemcache(t *testing.T) {
	t.Parallel()
	srv := servertest.Memcached(t)
	spec := Spec()
	var warned []string
	s := returner.Settings{Spec: &spec, Env: &fun.Env{
		Data: fun.Data{Opts: value.MapOf("memcache.host", "127.0.0.1", "memcache.port", int64(srv.Port))},
		UI:   fun.UI{OnWarn: func(w fun.Warning) { warned = append(warned, w.Text) }},
	}}
	r, err := spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const jid, big = "20261121090807000001", "20261121090807000002"
	ret := func(jid, id string, v value.Value) *value.Map {
		return value.MapOf("jid", jid, "return", v, "retcode", int64(0), "success", true, "fun", "test.ping", "id", id)
	}
	for _, jid := range []string{big, jid} {
		l := jobs.Load{JID: jid, Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "zoe"}
		if err := r.(jobs.LoadSaver).SaveLoad(t.Context(), []*value.Map{l.Map()}); err != nil {
			t.Fatal(err)
		}
	}
	rets := []*value.Map{ret(jid, "web2", "é\x00\r\nEND\r\n"), ret(jid, "web1", true), ret(big, "web1", strings.Repeat("x", 2<<20)), ret(big, "a b", true), ret(big, "web3", false)}
	if err := r.Return(t.Context(), rets); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(warned, "\n"); !strings.Contains(got, big+":web1 has 2097") || !strings.Contains(got, `:a b" is no key`) {
		t.Errorf("warned of %q", warned)
	}
	st := r.(jobs.Store)
	j, err := st.Job(t.Context(), jid)
	if err != nil || j == nil || j.Returns.Len() != 2 || j.Returns.Map("web2").At("return") != "é\x00\r\nEND\r\n" || j.Load.Str("user") != "zoe" {
		t.Fatalf("job = %+v, %v", j, err)
	}
	if list, err := st.Jobs(t.Context(), "", ""); err != nil || len(list) != 2 || list[0].JID != jid {
		t.Errorf("Jobs = %v, %v", list, err)
	}
	if list, err := st.Jobs(t.Context(), big, ""); err != nil || len(list) != 1 {
		t.Errorf("Jobs from the second = %v, %v", list, err)
	}
	if none, err := st.Job(t.Context(), "20200101000000000000"); none != nil || err != nil {
		t.Errorf("a job that is not there = %v, %v", none, err)
	}
	servertest.Load(t, "memcache", func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) })
	// A list that is full goes on with its newer half.
	many := make([]string, 60000)
	for i := range many {
		many[i] = fmt.Sprintf("2020010100%010d", i)
	}
	c := r.(*store)
	for len(many) > 0 {
		if err := c.extend(t.Context(), "full", many[:10000]); err != nil {
			t.Fatal(err)
		}
		many = many[10000:]
	}
	if l, err := c.list(t.Context(), "full"); err != nil || len(l) < 20000 || l[len(l)-1] != "20200101000000059999" {
		t.Errorf("list of %d, %v", len(l), err)
	}
}
