package memcache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
	"brine/internal/testkit/servertest"
)

func TestMemcache(t *testing.T) {
	t.Parallel()
	srv := servertest.Memcached(t)
	spec := Spec()
	s := returner.Settings{Spec: &spec, Env: &fun.Env{
		Data: fun.Data{Opts: value.MapOf("memcache.host", "127.0.0.1", "memcache.port", int64(srv.Port))},
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
	unfit, ok := errors.AsType[*jobs.UnfitError](r.Return(t.Context(), rets))
	if !ok || len(unfit.Rows) != 2 || !strings.Contains(fmt.Sprint(unfit.Rows[2]), big+":web1 has 2097") || !strings.Contains(fmt.Sprint(unfit.Rows[3]), `:a b" is not a valid key`) {
		t.Fatalf("unfit = %+v", unfit)
	}
	if err := r.Return(t.Context(), append(rets[:2], rets[4])); err != nil {
		t.Fatal(err)
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
	// An id may have a comma, which parts the ids in the server's list.
	const comma = "20261121090807000003"
	if err := r.Return(t.Context(), []*value.Map{ret(comma, "rack,4", true), ret(comma, "50%25", true), ret(comma, "rack,4", true)}); err != nil {
		t.Fatal(err)
	}
	if j, err := st.Job(t.Context(), comma); err != nil || j == nil || j.Returns.Len() != 2 || !j.Returns.Has("rack,4") || !j.Returns.Has("50%25") {
		t.Errorf("ids with commas: %+v, %v", j, err)
	}
	opener := func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) }
	servertest.Load(t, "memcache", opener)
	servertest.Large(t, "memcache", 2<<20, "item_size_max of the server is 1048576", opener)
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
