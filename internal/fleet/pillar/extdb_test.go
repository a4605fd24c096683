package pillar_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/servertest"
)

// An extCase is an external pillar with its result, or a part of what goes wrong.
type extCase struct{ conf, pillar, wrong string }

func checkExt(t *testing.T, options string, cases []extCase) {
	t.Helper()
	for _, tt := range cases {
		pillar, wrong := rendered(t, withHTTP(fake(t, nil, options+"\next_pillar:\n- "+tt.conf)))
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(pillar+wrong, tt.wrong) || tt.wrong == "" && wrong != "" {
			t.Errorf("%s: %s, %s; want %s, %s", tt.conf, pillar, wrong, tt.pillar, tt.wrong)
		}
		if strings.Contains(wrong, "plugh") {
			t.Errorf("%s: a password is shown: %s", tt.conf, wrong)
		}
	}
}

// sqlTable is a table that both servers understand.
const sqlTable = `CREATE TABLE p (minion VARCHAR(20), a VARCHAR(20), b VARCHAR(20), n INT, f DOUBLE PRECISION, j VARCHAR(40));
INSERT INTO p VALUES ('minion1', 'web', 'port', 80, 1.5, '{"x": {"y": 1}}'), ('minion1', 'web', 'tls', 443, NULL, '{"x": {"z": [2]}}'),
('minion1', 'db', 'port', 5432, 2, '{}'), ('other', 'no', 'no', 0, 0, '{}');
`

// sqlCases are what both servers return.
func sqlCases(kind string) []extCase {
	const order = " WHERE minion LIKE %s ORDER BY n"
	q := func(columns, more string) string {
		return fmt.Sprintf(`{%s: {q: {query: "SELECT %s FROM p%s"%s}}}`, kind, columns, order, more)
	}
	return []extCase{
		{fmt.Sprintf(`{%s: ["SELECT a, b, n FROM p%s"]}`, kind, order), "{'web': {'port': 80, 'tls': 443}, 'db': {'port': 5432}}", ""},
		{q("a, b, n", ""), "{'q': {'web': {'port': 80, 'tls': 443}, 'db': {'port': 5432}}}", ""},
		{q("a, b, n, f", ", depth: 1"), "{'q': {'web': {'b': 'tls', 'n': 443, 'f': None}, 'db': {'b': 'port', 'n': 5432, 'f': 2.0}}}", ""},
		{q("a, b, n, f", ", depth: 1, ignore_null: true"), "{'q': {'web': {'b': 'tls', 'n': 443, 'f': 1.5}, 'db': {'b': 'port', 'n': 5432, 'f': 2.0}}}", ""},
		{q("a, n", ""), "{'q': {'web': 443, 'db': 5432}}", ""},
		{q("a, n", ", as_list: true"), "{'q': {'web': [80, 443], 'db': 5432}}", ""},
		{q("a, n", ", with_lists: '1'"), "{'q': {'web': [80, 443], 'db': [5432]}}", ""},
		{q("a, b, n", ", with_lists: [1]"), "{'q': {'web': [80, 443], 'db': [5432]}}", ""},
		{q("a, b, n", ", depth: 1, as_list: true"), "{'q': {'web': {'b': ['port', 'tls'], 'n': [80, 443]}, 'db': {'b': 'port', 'n': 5432}}}", ""},
		{q("a", ""), "{'q': {'web': 'web', 'db': 'db'}}", ""},
		{q("j", ", as_json: true"), "{'q': {'x': {'y': 1, 'z': [2]}}}", ""},
		{q("a", ", as_json: true"), "", "with as_json the column a is JSON"},
		{q("nope", ""), "", "Failed to load ext_pillar " + kind + ": the query"},
		{fmt.Sprintf("{%s: {q: {}}}", kind), "", "q: a query has no text"},
		{fmt.Sprintf("{%s: {q: {query: SELECT 1, with_lists: x}}}", kind), "", "with_lists: 'x' is not the number of a column"},
		{fmt.Sprintf("{%s: {}}", kind), "", "it needs a query"},
	}
}

func TestExtMySQL(t *testing.T) {
	t.Parallel()
	srv := servertest.MariaDB(t, "CREATE DATABASE salt; USE salt; "+sqlTable)
	checkExt(t, fmt.Sprintf("mysql: {host: 127.0.0.1, port: %d}", srv.Port), sqlCases("mysql"))
	checkExt(t, fmt.Sprintf("mysql: {host: 127.0.0.1, port: %d, pass: plugh}", srv.Port), []extCase{{"{mysql: [SELECT 1]}", "", "Access denied"}})
	checkExt(t, "mysql: {host: 127.0.0.1, port: 1, pass: plugh}", []extCase{{"{mysql: [SELECT 1]}", "", "/c/minion:4:4: ext_pillar mysql: dial"}, {"{mysql: [SELECT 1]}", "", "127.0.0.1:1"}})
}

func TestExtPostgres(t *testing.T) {
	t.Parallel()
	srv := servertest.Postgres(t, sqlTable)
	checkExt(t, fmt.Sprintf("postgres: {host: 127.0.0.1, port: %d}", srv.Port), append(sqlCases("postgres"),
		extCase{`{postgres: ["SELECT a, json_build_object('n', n) FROM p WHERE minion = %s AND n > 443"]}`, "{'db': {'n': 5432}}", ""},
		extCase{`{postgres: ["SELECT a, n FROM p WHERE a LIKE 'd%%' AND minion = %s"]}`, "{'db': 5432}", ""}))
	checkExt(t, "postgres: {host: 127.0.0.1, port: 1, pass: plugh}", []extCase{{"{postgres: [SELECT 1]}", "", "Failed to load ext_pillar postgres"}})
}

func TestExtRedis(t *testing.T) {
	t.Parallel()
	srv := servertest.Redis(t)
	options := fmt.Sprintf("redis.host: 127.0.0.1\nredis.port: %d", srv.Port)
	for _, tt := range []struct {
		set  []string
		want []extCase
	}{
		{[]string{"SET", "minion1", `{"a": [1]}`}, []extCase{
			{"{redis: {function: key_json}}", "{'a': [1]}", ""},
			{"{redis: {function: key_json, pillar_key: k}}", "{'k': {'a': [1]}}", ""},
			{"{redis: {function: key_value}}", `{'redis_pillar': '{"a": [1]}'}`, ""},
			{"{redis: {function: key_val}}", "", `(did you mean "key_value"?)`},
		}},
		{[]string{"SET", "minion1", "[1]"}, []extCase{{"{redis: {function: key_json}}", "{'redis_pillar': [1]}", ""}}},
		{[]string{"SET", "minion1", "{"}, []extCase{{"{redis: {function: key_json}}", "", "the value of the key minion1 is not JSON"}}},
		{[]string{"HSET", "minion1", "b", "2", "a", "1"}, []extCase{
			{"{redis: {function: key_value, pillar_key: h}}", "{'h': {'a': '1', 'b': '2'}}", ""},
			{"{redis: {function: key_json}}", "", "WRONGTYPE"},
		}},
		{[]string{"RPUSH", "minion1", "b", "a"}, []extCase{{"{redis: {function: key_value}}", "{'redis_pillar': ['b', 'a']}", ""}}},
		{[]string{"SADD", "minion1", "b", "a"}, []extCase{{"{redis: {function: key_value}}", "{'redis_pillar': ['a', 'b']}", ""}}},
		{[]string{"ZADD", "minion1", "2", "a", "1", "b"}, []extCase{{"{redis: {function: key_value}}", "{'redis_pillar': ['b', 'a']}", ""}}},
		{[]string{"PING"}, []extCase{{"{redis: {function: key_value}}", "{}", ""}, {"{redis: {function: key_json}}", "{}", ""}}},
	} {
		srv.RedisCLI(t, "DEL", "minion1")
		srv.RedisCLI(t, tt.set...)
		checkExt(t, options, tt.want)
	}
	checkExt(t, "redis.host: 127.0.0.1\nredis.port: 1\nredis.password: plugh", []extCase{{"{redis: {function: key_value}}", "", "/c/minion:6:4: ext_pillar redis: dial"}})
}

// fakeConsul is a server of Consul with keys.
func fakeConsul(t *testing.T) string {
	keys := map[string]string{
		"salt/": "", "salt/web/port": "80", "salt/web/names": "[a, b]", "salt/text": "'80'", "salt/bad/x": "[",
		"private/minion1/pw": "s3", "private/minion2/pw": "no",
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Consul-Token") == "plugh" || req.URL.Query().Get("recurse") == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		prefix := strings.TrimPrefix(req.URL.Path, "/v1/kv/")
		if dc := req.URL.Query().Get("dc"); dc == "eu-west" {
			prefix = "private/minion1/"
		}
		var out []map[string]any
		for _, k := range []string{"private/minion1/pw", "private/minion2/pw", "salt/", "salt/bad/x", "salt/text", "salt/web/names", "salt/web/port"} {
			if !strings.HasPrefix(k, prefix) || strings.Contains(k, "bad") && !strings.Contains(prefix, "bad") {
				continue
			}
			var v any
			if keys[k] != "" {
				v = base64.StdEncoding.EncodeToString([]byte(keys[k]))
			}
			out = append(out, map[string]any{"Key": k, "Value": v})
		}
		if len(out) == 0 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		b, _ := json.Marshal(out)
		_, _ = w.Write(b)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://127.0.0.1:")
}

func TestExtConsul(t *testing.T) {
	t.Parallel()
	port := fakeConsul(t)
	options := "c: {consul.port: " + port + "}\ndenied: {consul.port: " + port + ", consul.token: plugh}\ndead: {consul.port: 1}\n" +
		"dcs: {consul.port: " + port + ", consul.dc: {'^(?P<region>..)': '{region}-west', '^never$': x}}\npillarenv: eu\n" +
		"oddport: {consul.port: x}\noddscheme: {consul.scheme: ftp}\nodd: {consul.consistency: x}\npillar_roots: {base: [/srv/pillar], eu: [/srv/pillar]}"
	checkExt(t, options, []extCase{
		{"{consul: c root=salt}", "{'web': {'port': 80, 'names': ['a', 'b']}, 'text': '80'}", ""},
		{"{consul: c root=salt/web expand_keys=false pillar_root=x/y}", "{'x': {'y': {'port': '80', 'names': '[a, b]'}}}", ""},
		{"{consul: c root=private/%(minion_id)s}", "{'pw': 's3'}", ""},
		{"{consul: c root=private/%(role)s}", "{}", ""},
		{"{consul: c root=private/%(environment)s}", "", "environment of the target, \"\", cannot be part of a path"},
		{"{consul: c root=private/%(nope)s}", "", "there are %(minion_id)s, %(role)s and %(environment)s"},
		{"{consul: 'c root=salt target=\"G@role:db\"'}", "{}", ""},
		{"{consul: 'c root=salt/web target=\"minion* and G@role:web\"'}", "{'port': 80, 'names': ['a', 'b']}", ""},
		{"{consul: dcs root=salt}", "{'private': {'minion1': {'pw': 's3'}}}", ""},
		{"{consul: c root=none}", "{}", ""},
		{"{consul: c root=salt/bad}", "", "the key salt/bad/x is not YAML"},
		{"{consul: denied root=salt}", "", "HTTP 403"},
		{"{consul: dead root=salt}", "", "Failed to load ext_pillar consul"},
		{"{consul: nope root=salt}", "", `the configuration has no dict "nope"`},
		{"{consul: oddport}", "", `consul.port: "x" is not a port`},
		{"{consul: oddscheme}", "", `"ftp" is not http or https`},
		{"{consul: odd}", "", `consul.consistency: "x" is not default`},
		{"{consul: c more}", "", `"more" is not one of profile=`},
	})
}

func TestExtReclass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		out    host.Output
		pillar string
		wrong  string
	}{
		{host.Output{Stdout: []byte("a: {b: 1}\n__reclass__: {nodename: minion1}\n")}, "{'a': {'b': 1}, '__reclass__': {'nodename': 'minion1'}}", ""},
		{host.Output{Status: 1, Stderr: []byte("no such node\nmore")}, "", "reclass-salt ended with status 1: no such node"},
		{host.Output{Stdout: []byte("[1]")}, "", "reclass-salt printed a list instead of a mapping"},
		{host.Output{Stdout: []byte("{")}, "", "what reclass-salt printed is not YAML"},
		{host.Output{TimedOut: true}, "", "reclass-salt was ended after 1m0s"},
	} {
		r := fake(t, nil, "ext_pillar: [{reclass: {storage_type: yaml_fs, inventory_base_uri: /srv/reclass}}]")
		r.env.Host.(*host.Fake).OnCommand("reclass-salt --storage-type yaml_fs --inventory-base-uri /srv/reclass --pillar minion1", tt.out)
		pillar, wrong := rendered(t, r)
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(pillar+wrong, tt.wrong) {
			t.Errorf("%s: %s, %s; want %s, %s", value.Repr(string(tt.out.Stdout)), pillar, wrong, tt.pillar, tt.wrong)
		}
	}
}
