package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"brine/internal/fun"
	"brine/internal/returner"
	"brine/internal/value"
)

// A request as a service saw it.
type request struct{ method, path, kind, auth, body string }

func service(t *testing.T, answer string, status int) (*httptest.Server, *[]request) {
	t.Helper()
	var seen []request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen = append(seen, request{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(b)})
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	return srv, &seen
}

func row() *value.Map {
	return value.MapOf("jid", "20261121090807123456", "id", "web1", "fun", "test.ping", "fun_args", value.NewList(), "return", true,
		"retcode", int64(0), "success", true, "_stamp", "2026-11-21T09:08:08.000001")
}

func TestRequestsAreThoseThatServicesDocument(t *testing.T) {
	t.Parallel()
	const text = "id%3A+web1%0D%0Afunction%3A+test.ping%0D%0Afunction+args%3A+%5B%5D%0D%0Ajid%3A+20261121090807123456%0D%0Areturn%3A+true%0D%0A"
	full := `{"jid":"20261121090807123456","id":"web1","fun":"test.ping","fun_args":[],"return":true,"retcode":0,"success":true,"_stamp":"2026-11-21T09:08:08.000001"}`
	for _, tt := range []struct {
		name   string
		opts   func(url string) *value.Map
		answer string
		want   []request
	}{
		{
			"telegram", func(u string) *value.Map {
				return value.MapOf("telegram.chat_id", int64(42), "telegram.token", "1:a", "telegram.api_url", u)
			}, `{"ok":true}`,
			[]request{{"POST", "/bot1:a/sendMessage", asForm, "", "chat_id=42&text=" + text}},
		},
		{
			"pushover", func(u string) *value.Map {
				return value.MapOf("pushover", value.MapOf("user", "u", "token", "k", "title", "brine", "api_url", u))
			}, `{"status":1}`,
			[]request{{"POST", "/1/messages.json", asForm, "", "message=" + text + "&title=brine&token=k&user=u"}},
		},
		{
			"mattermost", func(u string) *value.Map {
				return value.MapOf("mattermost.hook", "h1", "mattermost.api_url", u+"/", "mattermost.channel", "ops")
			}, "ok",
			[]request{{"POST", "/hooks/h1", asJSON, "", `{"text":"id: web1\r\nfunction: test.ping\r\nfunction args: []\r\njid: 20261121090807123456\r\nreturn: true\r\n","channel":"ops"}`}},
		},
		{
			"slack_webhook", func(u string) *value.Map { return value.MapOf("slack_webhook.webhook", u+"/services/T/B/X") }, "ok",
			[]request{{"POST", "/services/T/B/X", asJSON, "", `{"attachments":[{"fallback":"web1 | Succeeded","color":"good","title":"web1 | Succeeded","author_name":"web1","fields":[{"title":"function","value":"test.ping","short":true},{"title":"jid","value":"20261121090807123456","short":true}],"text":"true"}]}`}},
		},
		{
			"splunk", func(u string) *value.Map {
				return value.MapOf("splunk_http_forwarder", value.MapOf("token", "t", "indexer", u, "sourcetype", "salt", "index", "main"))
			}, `{"text":"Success","code":0}`,
			[]request{{"POST", "/services/collector/event", asJSON, "Splunk t", `{"index":"main","sourcetype":"salt","host":"ctl","time":1795252087,"event":` + full + "}\n"}},
		},
		{
			"influxdb", func(u string) *value.Map {
				return value.MapOf("influxdb.host", u, "influxdb.user", "a", "influxdb.password", "b")
			}, "",
			[]request{{
				"POST", "/write?db=salt&precision=u", "text/plain; charset=utf-8", "Basic YTpi",
				`returns,fun=test.ping,minion=web1,jid=20261121090807123456 return="true",full_ret="` + strings.ReplaceAll(full, `"`, `\"`) + `" 1795252088000001` + "\n",
			}},
		},
		{
			"couchdb", func(u string) *value.Map { return value.MapOf("couchdb.url", u+"/", "couchdb.db", "salt") }, "[]",
			[]request{
				{"HEAD", "/salt", "", "", ""},
				{"POST", "/salt/_bulk_docs", asJSON, "", `{"docs":[{"jid":"20261121090807123456","id":"web1","fun":"test.ping","fun_args":[],"return":true,"retcode":0,"success":true,"_id":"20261121090807123456-web1","stamp":"2026-11-21T09:08:08.000001"}]}`},
			},
		},
		{
			"elasticsearch", func(u string) *value.Map { return value.MapOf("elasticsearch", value.MapOf("hosts", value.Strings(u))) }, `{"errors":false}`,
			[]request{{"POST", "/_bulk", "application/x-ndjson", "", `{"index":{"_index":"salt-test_ping-v1","_id":"20261121090807123456-web1"}}` + "\n" +
				`{"@timestamp":"2026-11-21T09:08:07.123Z","success":true,"retcode":0,"minion":"web1","fun":"test.ping","jid":"20261121090807123456","data":"true"}` + "\n"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, seen := service(t, tt.answer, 200)
			spec, ok := returner.Find(Specs(), tt.name)
			if !ok {
				t.Fatal("not there")
			}
			r, err := spec.New(t.Context(), returner.Settings{Spec: spec, Env: &fun.Env{ID: "ctl", Opts: tt.opts(srv.URL)}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := r.Return(t.Context(), []*value.Map{row()}); err != nil {
				t.Fatal(err)
			}
			if len(*seen) != len(tt.want) {
				t.Fatalf("requests = %q", *seen)
			}
			for i, w := range tt.want {
				if (*seen)[i] != w {
					t.Errorf("request %d =\n%q, want\n%q", i, (*seen)[i], w)
				}
			}
		})
	}
}

func TestSecretsAreNotInErrors(t *testing.T) {
	t.Parallel()
	srv, _ := service(t, "no such bot 99:secret", 404)
	spec, _ := returner.Find(Specs(), "telegram")
	s := returner.Settings{Spec: spec, Env: &fun.Env{Opts: value.MapOf("telegram.chat_id", "1", "telegram.token", "99:secret", "telegram.api_url", srv.URL)}}
	r, err := spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Return(t.Context(), []*value.Map{row()}); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "404") {
		t.Errorf("error = %v", err)
	}
	srv.Close()
	if err := r.Return(t.Context(), []*value.Map{row()}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error = %v", err)
	}
	s.Env.Opts = value.NewMap(0)
	if _, err := spec.New(t.Context(), s); err == nil || err.Error() != "telegram.chat_id, telegram.token must be configured" {
		t.Errorf("error = %v", err)
	}
}
