package pillar_test

import (
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // writes what the external pillar reads

	"brine/internal/core/host"
	"brine/internal/testkit/servertest"
)

func TestExtForeman(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, pass, _ := req.BasicAuth()
		switch {
		case user+pass != "admins3" || req.Header.Get("Accept") != "version=2,application/json":
			w.WriteHeader(http.StatusUnauthorized)
		case req.URL.Path == "/api/hosts/minion1":
			fmt.Fprint(w, `{"name": "minion1", "hostgroup_name": "web", "all_parameters": [{"name": "ntp", "value": "a"}, {"name": "n", "value": 2}]}`)
		case req.URL.Path == "/list/hosts/minion1":
			fmt.Fprint(w, `[]`)
		case req.URL.Path == "/empty/hosts/minion1":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error": {"message": "Resource host not found by id 'minion1'"}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"status": 404, "error": "Not Found"}`)
		}
	}))
	defer srv.Close()
	base := "foreman.url: " + srv.URL + "/api/\nforeman.password: s3"
	checkExt(t, base, []extCase{
		{"{foreman: {key: f, only: [hostgroup_name, parameters, nope]}}", "{'f': {'hostgroup_name': 'web', 'parameters': {'ntp': 'a', 'n': 2}}}", ""},
		{"{foreman: {only: [name]}}", "{'name': 'minion1'}", ""},
	})
	checkExt(t, base+"\nforeman.lookup_parameters: false", []extCase{{"{foreman: {only: [parameters, name]}}", "{'name': 'minion1'}", ""}})
	checkExt(t, strings.Replace(base, "/api/", "/empty", 1), []extCase{{"{foreman: {}}", "{}", "does not know the host minion1"}})
	checkExt(t, strings.Replace(base, "/api/", "/none", 1), []extCase{{"{foreman: {}}", "", "/none has no API of Foreman: it answered with status 404"}})
	checkExt(t, strings.Replace(base, "/api/", "/list", 1), []extCase{{"{foreman: {}}", "", "answered with a list instead of a host"}})
	checkExt(t, "foreman.url: "+srv.URL+"/api\nforeman.password: plugh", []extCase{{"{foreman: {}}", "", "401"}})
	checkExt(t, "foreman.url: nope", []extCase{{"{foreman: {}}", "", `foreman.url: "nope" is not an http or https URL`}})
	checkExt(t, base+"\nforeman.api: 1", []extCase{{"{foreman: {}}", "", "foreman.api: 1 is not supported, only 2"}})
}

// fakeNetBox is a server with what the API of NetBox answers by its documentation.
func fakeNetBox(t *testing.T) string {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		if req.Header.Get("Authorization") != "Token plugh" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch req.URL.Path + " " + q.Get("name") + q.Get("device_id") + q.Get("site_id") + " " + q.Get("offset") {
		case "/api/dcim/devices/ minion1 ":
			fmt.Fprint(w, `{"next": null, "results": [{"id": 7, "name": "minion1", "site": {"id": 3, "name": "s"}, "platform": {"id": 1}, "primary_ip": {"address": "192.0.2.1/24"}}]}`)
		case "/api/dcim/interfaces/ 7 ":
			fmt.Fprintf(w, `{"next": "%s/api/dcim/interfaces/?device_id=7&offset=1", "results": [{"id": 1, "name": "e0", "device": {"id": 7}, "connected_endpoints": [{"device": {"id": 9}}]}]}`, srv.URL)
		case "/api/dcim/interfaces/ 7 1":
			fmt.Fprint(w, `{"next": null, "results": [{"id": 2, "name": "e1", "device": {"id": 7}, "connected_endpoints": null}]}`)
		case "/api/ipam/ip-addresses/ 7 ":
			fmt.Fprint(w, `{"next": null, "results": [{"address": "192.0.2.1/24", "assigned_object_id": 1, "assigned_object": {}, "assigned_object_type": "x"}]}`)
		case "/api/ipam/prefixes/ 3 ":
			fmt.Fprint(w, `{"next": null, "results": [{"prefix": "192.0.2.0/24", "site": {"id": 3}}]}`)
		case "/api/dcim/sites/3/  ":
			fmt.Fprint(w, `{"id": 3, "slug": "s"}`)
		case "/api/dcim/devices/9/  ":
			fmt.Fprint(w, `{"id": 9}`)
		case "/api/dcim/platforms/1/  ":
			fmt.Fprint(w, `{"napalm_driver": "eos"}`)
		case "/away/dcim/devices/ minion1 ":
			fmt.Fprint(w, `{"next": "http://evil.example.com/api/", "results": []}`)
		case "/api/virtualization/virtual-machines/ minion1 ", "/none/dcim/devices/ minion1 ":
			fmt.Fprint(w, `{"next": null, "results": []}`)
		case "/two/dcim/devices/ minion1 ":
			fmt.Fprint(w, `{"next": null, "results": [{"id": 1}, {"id": 2}]}`)
		case "/odd/dcim/devices/ minion1 ":
			fmt.Fprint(w, `{"next": null, "results": [5]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestExtNetBox(t *testing.T) {
	t.Parallel()
	at := fakeNetBox(t)
	conf := func(path, more string) string {
		return "{netbox: {api_url: '" + at + path + "', api_token: plugh" + more + "}}"
	}
	const small = ", site_details: false, site_prefixes: false, proxy_return: false"
	checkExt(t, "", []extCase{
		{
			conf("/api/", ", virtual_machines: true, interface_ips: true, connected_devices: true, proxy_username: adm"),
			"{'netbox': {'id': 7, 'name': 'minion1', 'site': {'id': 3, 'slug': 's', 'prefixes': [{'prefix': '192.0.2.0/24'}]}, 'platform': {'id': 1}, " +
				"'primary_ip': {'address': '192.0.2.1/24'}, 'node_type': 'device', 'interfaces': [" +
				"{'id': 1, 'name': 'e0', 'connected_endpoints': [{'device': {'id': 9}}], 'ip_addresses': [{'address': '192.0.2.1/24'}]}, " +
				"{'id': 2, 'name': 'e1', 'connected_endpoints': None, 'ip_addresses': []}], 'connected_devices': {9: {'id': 9}}}, " +
				"'proxy': {'host': '192.0.2.1', 'driver': 'eos', 'proxytype': 'napalm', 'username': 'adm'}}",
			"",
		},
		{conf("/none", small), "{}", "has nothing of the name minion1"},
		{conf("/two", small), "", `More than one node found for "minion1"`},
		{conf("/odd", small), "", "has a number in its list"},
		{conf("/nope", small), "", "did not answer with a list"},
		{conf("/away", small), "", "continues at another address, http://evil.example.com/api/"},
		{conf("/api", ", interface_ips: true"), "", "the value for interfaces must be True"},
		{conf("/api", ", devices: false"), "", "at least one of devices or virtual_machines"},
		{conf("/api", ", api_query_result_limit: 0.5"), "", "must be a positive number, not 0.5"},
		{"{netbox: {api_url: nope, api_token: plugh}}", "", "is not an http or https URL"},
		{"{netbox: {api_url: 'http://x'}}", "", "the value for api_token is not set"},
	})
}

func TestExtEtcd(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	for key, v := range map[string]string{"/salt/minion1/a": "1", "/salt/minion1/b/c": "2", "/salt/minion10/no": "x", "/salt/minion2/no": "x", "/both/a": "1", "/both/a/b": "2"} {
		body := fmt.Sprintf(`{"key": %q, "value": %q}`, base64.StdEncoding.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(v)))
		resp, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/v3/kv/put", srv.Port), "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	checkExt(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d, etcd.require_v2: false, etcd.encode_values: false}", srv.Port), []extCase{
		{"{etcd: 'e root=/salt/%(minion_id)s'}", "{'a': '1', 'b': {'c': '2'}}", ""},
		{"{etcd: 'e root=/nope'}", "{}", ""},
		{"{etcd: 'e root=/salt/minion1/a'}", "{'a': '1'}", ""},
		{"{etcd: 'e root=/both'}", "", "/both/a/b: what is above it has a value as well"},
		{"{etcd: 'f root=/nope'}", "", `the configuration has no dict "f"`},
		{"{etcd: 'e path=/nope'}", "", `"path=/nope" is not root=PATH`},
		{"{etcd: 'e root=/%(role)s'}", "", "there is %(minion_id)s alone"},
		{"{etcd: ''}", "", "it needs a profile"},
	})
	v2 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/v2/keys/salt" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errorCode": 100, "message": "Key not found", "cause": "/nope", "index": 1}`)
			return
		}
		fmt.Fprint(w, `{"node": {"key": "/salt", "dir": true, "nodes": [{"key": "/salt/a", "value": "1"}, {"key": "/salt/d", "dir": true, "nodes": [{"key": "/salt/d/x", "value": "2"}]}, {"key": "/salt/e", "dir": true}]}}`)
	}))
	defer v2.Close()
	checkExt(t, fmt.Sprintf("e: {etcd.host: 127.0.0.1, etcd.port: %d}", srv.Port), []extCase{{"{etcd: 'e root=/salt'}", "", "has no API of version 2"}})
	hostPort := strings.Split(strings.TrimPrefix(v2.URL, "http://"), ":")
	checkExt(t, fmt.Sprintf("e: {etcd.host: %s, etcd.port: %s}", hostPort[0], hostPort[1]), []extCase{
		{"{etcd: 'e root=/salt'}", "{'a': '1', 'd': {'x': '2'}, 'e': {}}", ""},
		{"{etcd: 'e root=/nope'}", "{}", ""},
	})
}

func TestExtSQLite(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "p?.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(file, "?", "%3F"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE p (m text, a text, n integer); INSERT INTO p VALUES ('minion1', 'web', 80), ('minion1', 'tls', 443), ('minion2', 'no', 0)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for _, tt := range []struct{ path, conf, pillar, wrong string }{
		{file, `{sqlite3: {ports: {query: "SELECT a, n FROM p WHERE m = %s ORDER BY n"}}}`, "{'ports': {'web': 80, 'tls': 443}}", ""},
		{file, `{sqlite3: ["DELETE FROM p"]}`, "", "sqlite3"},
		{file, `{sqlite3: ["SELECT x FROM nope"]}`, "", "no such table"},
		{"/nope.db", `{sqlite3: ["SELECT 1"]}`, "", "/nope.db"},
	} {
		r := withHTTP(fake(t, nil, "sqlite3: {database: '"+tt.path+"'}\next_pillar:\n- "+tt.conf))
		if tt.path == file {
			r.env.Host.(*host.Fake).PutFile(file, "", 0o600)
		}
		pillar, wrong := rendered(t, r)
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(wrong, tt.wrong) {
			t.Errorf("%s: %s, %s; want %s, %s", tt.conf, pillar, wrong, tt.pillar, tt.wrong)
		}
	}
}
