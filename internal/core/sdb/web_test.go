package sdb_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/host"
	"brine/internal/core/sdb"
	"brine/internal/py/value"
	"brine/internal/testkit/servertest"
)

// roundTrip writes, reads and deletes a value.
func roundTrip(t *testing.T, conf, uri string) {
	t.Helper()
	e := env(t, host.NewFake(), conf)
	if v, err := sdb.Get(t.Context(), e, uri, true); err != nil || v != nil {
		t.Fatalf("%s: %v, %v before it is set", uri, v, err)
	}
	if ok, err := sdb.Set(t.Context(), e, uri, "plugh & x"); !ok || err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	if v, err := sdb.Get(t.Context(), e, uri, true); err != nil || v != "plugh & x" {
		t.Errorf("%s: %v, %v", uri, v, err)
	}
	if ok, err := sdb.Delete(t.Context(), e, uri); !ok || err != nil {
		t.Errorf("%s: %v", uri, err)
	}
	if v, err := sdb.Get(t.Context(), e, uri, true); err != nil || v != nil {
		t.Errorf("%s: %v, %v after it was deleted", uri, v, err)
	}
}

func TestRedis(t *testing.T) {
	t.Parallel()
	srv := servertest.Redis(t)
	roundTrip(t, fmt.Sprintf("r: {driver: redis, host: 127.0.0.1, port: %d, db: 1}\n", srv.Port), "sdb://r/a/b")
}

func TestMemcached(t *testing.T) {
	t.Parallel()
	srv := servertest.Memcached(t)
	roundTrip(t, fmt.Sprintf("m: {driver: memcached, host: 127.0.0.1, port: %d, expire: 600}\n", srv.Port), "sdb://m/a/b")
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	conf := fmt.Sprintf("e: {driver: etcd, etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false}\n", srv.Port)
	roundTrip(t, conf, "sdb://e/a/b")
	e := env(t, host.NewFake(), conf)
	if _, err := sdb.Set(t.Context(), e, "sdb://e/m", value.MapOf("n", int64(1))); err != nil {
		t.Fatal(err)
	}
	plain := env(t, host.NewFake(), strings.Replace(conf, "{", "{etcd.encode_values: false, ", 1))
	// What Salt's client writes of {"n": 1}.
	if v, err := sdb.Get(t.Context(), plain, "sdb://e/m", true); err != nil || v != value.Bytes("\x81\xa1n\x01") && v != "\x81\xa1n\x01" {
		t.Errorf("stored %#v, %v", v, err)
	}
	if v, err := sdb.Get(t.Context(), e, "sdb://e/m", true); err != nil || value.Repr(v) != "{'n': 1}" {
		t.Errorf("read %v, %v", v, err)
	}
	roundTrip(t, strings.Replace(conf, "{", "{etcd.encode_values: false, ", 1), "sdb://e/a/b")
	if _, err := sdb.Set(t.Context(), plain, "sdb://e/m", "text"); err != nil {
		t.Fatal(err)
	}
	for conf, want := range map[string]string{
		conf: "the value of m is not MessagePack, which Salt writes: etcd.encode_values: False is for plain text",
		strings.Replace(conf, ", etcd.require_v2: false", "", 1):                   "has no API of version 2; etcd.require_v2: False is for version 3",
		strings.Replace(conf, "{", "{etcd.raw_values: true, ", 1):                  "etcd.raw_values is not supported",
		strings.Replace(conf, "{", "{etcd.username: u, etcd.password: wr0ng, ", 1): "authentication is not enabled",
	} {
		if v, err := sdb.Get(t.Context(), env(t, host.NewFake(), conf), "sdb://e/m", true); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s: %v, %v, want %q", conf, v, err, want)
		}
	}
}

// keys is a server of keys as Consul and version 2 of etcd have them, written from
// what Salt reads of their answers.
type keys struct {
	mu   sync.Mutex
	data map[string]string
}

func (k *keys) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, pass, _ := req.BasicAuth()
	key, isConsul := strings.CutPrefix(req.URL.Path, "/v1/kv/")
	if req.Header.Get("X-Consul-Token")+pass != "t0ken" || isConsul && req.URL.Query().Get("dc") != "east" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	key = strings.TrimPrefix(key, "/v2/keys/")
	body, _ := io.ReadAll(req.Body)
	switch v, ok := k.data[key]; {
	case req.Method == http.MethodPut && isConsul:
		k.data[key] = string(body)
	case req.Method == http.MethodPut:
		form, _ := url.ParseQuery(string(body))
		k.data[key] = form.Get("value")
		fmt.Fprintf(w, `{"action": "set", "node": {"key": %q, "value": %q}}`, "/"+key, k.data[key])
	case req.Method == http.MethodDelete:
		delete(k.data, key)
		if !isConsul {
			fmt.Fprintf(w, `{"action": "delete", "node": {"key": %q}}`, "/"+key)
		}
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		if !isConsul {
			fmt.Fprint(w, `{"errorCode": 100, "message": "Key not found", "cause": "/a", "index": 1}`)
		}
	case isConsul:
		fmt.Fprintf(w, `[{"Key": %q, "Value": %q}]`, key, base64.StdEncoding.EncodeToString([]byte(v)))
	default:
		fmt.Fprintf(w, `{"action": "get", "node": {"key": %q, "value": %q}}`, "/"+key, v)
	}
}

func TestWebKeys(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(&keys{data: map[string]string{}})
	defer srv.Close()
	u, _ := url.Parse(srv.URL)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	page, _ := url.Parse(other.URL)
	consul := fmt.Sprintf("{driver: consul, host: %s, port: %s, dc: east, token: t0ken}", u.Hostname(), u.Port())
	etcd := fmt.Sprintf("{driver: etcd, etcd.host: %s, etcd.port: %s, etcd.username: u, etcd.password: t0ken}", u.Hostname(), u.Port())
	roundTrip(t, "k: "+consul+"\n", "sdb://k/app/pw d")
	roundTrip(t, "k: "+etcd+"\n", "sdb://k/app/pw d")
	for _, tt := range []struct{ conf, uri, want string }{
		{strings.Replace(consul, "t0ken", "wr0ng", 1), "sdb://k/a", "403"},
		{strings.Replace(etcd, "t0ken", "wr0ng", 1), "sdb://k/a", "403"},
		{fmt.Sprintf("{driver: consul, host: %s, port: %s}", page.Hostname(), page.Port()), "sdb://k/a", `has no keys of Consul: it answered with status 404 and "404 page not found"`},
		{consul, "sdb://k/a/../b", `the key "a/../b" cannot be part of a URL`},
		{"{driver: consul, port: x}", "sdb://k/a", `"x" is not a port`},
		{"{driver: consul, scheme: ftp}", "sdb://k/a", `the scheme "ftp" is not http or https`},
		{"{driver: consul, consistency: most}", "sdb://k/a", `the consistency "most"`},
		{"{driver: etcd, etcd.username: u}", "sdb://k/a", "etcd.password is not"},
		{"{driver: etcd, etcd.port: 1}", "sdb://k/a", "SDB profile k (/c/minion:2:1), driver etcd: "},
		{"{driver: redis, hots: a}", "sdb://k/a", "there is no setting 'hots'"},
		{"{driver: redis, host: 127.0.0.1, port: 1, password: wr0ng}", "sdb://k/a", "driver redis: "},
		{"{driver: memcached, expire: soon}", "sdb://k/a", "expire must be a number of seconds"},
		{"{driver: memcached, host: 127.0.0.1, port: 1}", "sdb://k/a b", `the key "a b" is not one of memcached`},
		{"{driver: memcached, host: 127.0.0.1, port: 1}", "sdb://k/a", "driver memcached: "},
		{"{driver: keyring}", "sdb://k/a", "Salt has it, brine does not: "},
	} {
		_, err := sdb.Get(t.Context(), env(t, host.NewFake(), "k: "+tt.conf+"\n"), tt.uri, true)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s %s: %v, want %q", tt.conf, tt.uri, err, tt.want)
		}
	}
}

func TestREST(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.Method + req.URL.EscapedPath() {
		case "GET/users/a%2Fb":
			fmt.Fprintf(w, `{"key": %q}`, req.Header.Get("X-Key"))
		case "POST/all":
			fmt.Fprint(w, `[1]`)
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer srv.Close()
	e := env(t, host.NewFake(), `
r:
  driver: rest
  user: {url: '`+srv.URL+`/users/{{ name }}', header_dict: {X-Key: k}, decode_type: json}
  all: {url: '`+srv.URL+`/all', method: POST, decode_type: json, backend: requests}
  bad: {url: '`+srv.URL+`/bad?token=wr0ng'}
  odd: {url: '[a]'}
  none: {}
`)
	for _, tt := range []struct{ key, want, fault string }{
		{"user?name=a/b", "{'key': 'k'}", ""},
		{"all", "[1]", ""},
		{"bad", "", "418"},
		{"odd", "", "the url of odd is a list, not text"},
		{"none", "", "the profile has no none with a url"},
		{"user?name=..", "", `"name=.." is not NAME=VALUE for the url`},
	} {
		v, err := sdb.Get(t.Context(), e, "sdb://r/"+tt.key, true)
		if tt.fault == "" && (err != nil || value.Repr(v) != tt.want) || tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault) || strings.Contains(err.Error(), "wr0ng")) {
			t.Errorf("%s: %s, %v; want %s, %q", tt.key, value.Repr(v), err, tt.want, tt.fault)
		}
	}
	if _, err := sdb.Set(t.Context(), e, "sdb://r/all", "x"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("set: %v", err)
	}
}
