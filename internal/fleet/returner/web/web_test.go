package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
	"brine/internal/testkit/servertest"
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

// open makes a returner as a run does.
func open(t *testing.T, spec *returner.Spec, env *fun.Env) (jobs.Returner, error) {
	t.Helper()
	s, err := returner.Settings{Spec: spec, Env: env}.Check()
	if err != nil {
		return nil, err
	}
	return spec.New(t.Context(), s)
}

func row() *value.Map {
	return value.MapOf("jid", "20261121090807123456", "id", "web1", "fun", "test.ping", "fun_args", value.NewList(), "return", true,
		"retcode", int64(0), "success", true, "_stamp", "2026-11-21T09:08:08.000001")
}

func TestRequestsAreThoseThatServicesDocument(t *testing.T) {
	t.Parallel()
	const text = "id%3A+web1%0D%0Afunction%3A+test.ping%0D%0Afunction+args%3A+%5B%5D%0D%0Ajid%3A+20261121090807123456%0D%0Areturn%3A+True%0D%0A"
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
				return value.MapOf("pushover", value.MapOf("user", "u", "title", "brine", "api_url", u, "profile", "po"), "po", value.MapOf("pushover.token", "k", "sound", "siren"))
			}, `{"status":1}`,
			[]request{{"POST", "/1/messages.json", asForm, "", "message=" + text + "&priority=0&sound=siren&title=brine&token=k&user=u"}},
		},
		{
			"mattermost", func(u string) *value.Map {
				return value.MapOf("mattermost.hook", "h1", "mattermost.api_url", u+"/", "mattermost.channel", "ops")
			}, "ok",
			[]request{{"POST", "/hooks/h1", asJSON, "", `{"channel":"ops","text":"` + "```" + `id: web1\r\nfunction: test.ping\r\nfunction args: []\r\njid: 20261121090807123456\r\nreturn: True\r\n` + "```" + `"}`}},
		},
		{
			"slack_webhook", func(u string) *value.Map { return value.MapOf("slack_webhook.webhook", u+"/services/T/B/X") }, "ok",
			[]request{{"POST", "/services/T/B/X", asJSON, "", `{"attachments":[{"fallback":"web1 | Succeeded","color":"#272727","author_name":"web1","author_link":"web1","author_icon":"","title":"Success: True","text":"Function: test.ping\nJID: 20261121090807123456\nReturn: True"}]}`}},
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
				`returns,fun=test.ping,id=web1,jid=20261121090807123456 return="true",full_ret="` + strings.ReplaceAll(strings.Replace(full, `"return":true,`, "", 1), `"`, `\"`) + `" 1795252088000001` + "\n",
			}},
		},
		{
			"couchdb", func(u string) *value.Map { return value.MapOf("couchdb.url", u+"/", "couchdb.db", "salt") }, "[]",
			[]request{
				{"HEAD", "/salt", "", "", ""},
				{"POST", "/salt/_bulk_docs", asJSON, "", `{"docs":[{"jid":"20261121090807123456","id":"web1","fun":"test.ping","fun_args":[],"return":true,"retcode":0,"success":true,"_id":"20261121090807123456-web1","timestamp":1795252088.000001,"stamp":"2026-11-21T09:08:08.000001"}]}`},
			},
		},
		{
			"elasticsearch", func(u string) *value.Map { return value.MapOf("elasticsearch", value.MapOf("hosts", value.Strings(u))) }, `{"errors":false}`,
			[]request{
				{"HEAD", "/salt-test_ping", "", "", ""},
				{"POST", "/_bulk", "application/x-ndjson", "", `{"index":{"_index":"salt-test_ping","_id":"20261121090807123456-web1"}}` + "\n" +
					`{"@timestamp":"2026-11-21T09:08:07.123456+00:00","success":true,"retcode":0,"minion":"web1","fun":"test.ping","jid":"20261121090807123456","counts":{},"data":true}` + "\n"},
			},
		},
		{
			"slack", func(u string) *value.Map {
				return value.MapOf("slack", value.MapOf("api_url", u, "profile", "bot", "channel", "#ops", "as_user", true), "bot", value.MapOf("slack.api_key", "xoxb-1", "slack.username", "salt"))
			}, `{"ok":true,"channel":"C1"}`,
			[]request{{
				"POST", "/api/chat.postMessage", asForm, "Bearer xoxb-1",
				"as_user=true&channel=%23ops&text=%60%60%60id%3A+web1%0D%0Afunction%3A+test.ping%0D%0Afunction+args%3A+%5B%5D%0D%0Ajid%3A+20261121090807123456%0D%0Areturn%3A+True%0D%0A%60%60%60&username=salt",
			}},
		},
		{
			"nagios", func(u string) *value.Map {
				return value.MapOf("nagios", value.MapOf("url", u+"/nrdp", "token", "t0", "service", "salt <job>"))
			}, "<?xml version=\"1.0\" ?>\n<result>\n  <status>0</status>\n  <message>OK</message>\n</result>",
			[]request{{"POST", "/nrdp", asForm, "", url.Values{"token": {"t0"}, "cmd": {"submitcheck"}, "XMLDATA": {"<?xml version='1.0'?>\n<checkresults>\n" +
				"<checkresult type='service' checktype='1'><hostname>web1</hostname><servicename>salt &lt;job&gt;</servicename><state>0</state>" +
				"<output>test.ping succeeded, job 20261121090807123456</output></checkresult>\n</checkresults>"}}.Encode()}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, seen := service(t, tt.answer, 200)
			spec, ok := returner.Find(Specs(), tt.name)
			if !ok {
				t.Fatal("not there")
			}
			r, err := open(t, spec, &fun.Env{Identity: fun.Identity{ID: "ctl"}, Data: fun.Data{Opts: tt.opts(srv.URL)}})
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
	s := returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: value.MapOf("telegram.chat_id", "1", "telegram.token", "99:secret", "telegram.api_url", srv.URL)}}}
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
}

// secretOpts are settings of each returner with secrets, for a server at u.
func secretOpts(u string) map[string]*value.Map {
	const x = "s3cr3t/key"
	return map[string]*value.Map{
		"couchdb":       value.MapOf("couchdb.url", u, "couchdb.user", "zoe", "couchdb.passwd", x),
		"elasticsearch": value.MapOf("elasticsearch.hosts", value.Strings(u), "elasticsearch.user", "zoe", "elasticsearch.password", x),
		"etcd":          value.MapOf("etcd.host", u, "etcd.username", "zoe", "etcd.password", x),
		"influxdb":      value.MapOf("influxdb.host", u, "influxdb.user", "zoe", "influxdb.password", x),
		"mattermost":    value.MapOf("mattermost.api_url", u, "mattermost.hook", x),
		"nagios_nrdp":   value.MapOf("nagios_nrdp.url", u, "nagios_nrdp.token", x),
		"pushover":      value.MapOf("pushover.api_url", u, "pushover.user", x, "pushover.token", x+"2"),
		"slack":         value.MapOf("slack.api_url", u, "slack.api_key", x, "slack.username", "salt"),
		"slack_webhook": value.MapOf("slack_webhook.webhook", u+"/services/"+x),
		"splunk":        value.MapOf("splunk.indexer", u, "splunk.token", x),
		"telegram":      value.MapOf("telegram.api_url", u, "telegram.chat_id", "1", "telegram.token", x),
	}
}

// Services that tell in their answers all that they were sent.
func TestFaultsOfServices(t *testing.T) {
	t.Parallel()
	echo := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			fmt.Fprintf(w, "%s %s %q %s", r.Method, r.URL, r.Header, b)
		}
	}
	for name, mk := range map[string]func() (url string, done func()){
		"400": func() (string, func()) { s := httptest.NewServer(echo(400)); return s.URL, s.Close },
		"401": func() (string, func()) { s := httptest.NewServer(echo(401)); return s.URL, s.Close },
		"404": func() (string, func()) { s := httptest.NewServer(echo(404)); return s.URL, s.Close },
		"429": func() (string, func()) { s := httptest.NewServer(echo(429)); return s.URL, s.Close },
		"500": func() (string, func()) { s := httptest.NewServer(echo(500)); return s.URL, s.Close },
		"certificate": func() (string, func()) { // it is nobody's that is trusted
			s := httptest.NewUnstartedServer(echo(200))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			return s.URL, s.Close
		},
		"deadline": func() (string, func()) {
			stop := make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
			return s.URL, func() { close(stop); s.Close() }
		},
		"refused": func() (string, func()) { s := httptest.NewServer(echo(200)); s.Close(); return s.URL, func() {} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, done := mk()
			defer done()
			for _, spec := range Specs() {
				s, err := returner.Settings{Spec: &spec, Env: &fun.Env{Identity: fun.Identity{ID: "ctl"}, Data: fun.Data{Opts: secretOpts(u)[spec.Name]}}}.Check()
				if err != nil {
					t.Fatalf("%s: %v", spec.Name, err)
				}
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if name == "deadline" {
					ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
				}
				r, err := spec.New(ctx, s)
				if err == nil {
					err = r.Return(ctx, []*value.Map{row()})
					r.Close()
				}
				cancel()
				if err == nil || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "czNjcjN0") || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: error = %v", spec.Name, err)
				}
				var wait interface{ RetryAfter() time.Duration }
				if is := errors.As(err, &wait); is != (name == "429") || is && wait.RetryAfter() != 7*time.Second {
					t.Errorf("%s: error = %v says when to try again: %t", spec.Name, err, is)
				}
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 8, 7, 0, time.UTC)
	for s, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-1": 0, "soon": 0, "9999999999999": 0,
		"Sat, 21 Nov 2026 09:09:07 GMT": time.Minute, "Sat, 21 Nov 2026 09:07:07 GMT": 0,
	} {
		if got := retryAfter(s, now); got != want {
			t.Errorf("%q = %s, want %s", s, got, want)
		}
	}
}

func state(num int, result value.Value, changes *value.Map) *value.Map {
	return value.MapOf("result", result, "changes", changes, "comment", "c", "__run_num__", int64(num), "__sls__", "web", "duration", 500.0)
}

// As slack_webhook_return.py of Salt has it.
func TestSlackWebhookOfStates(t *testing.T) {
	t.Parallel()
	spec, _ := returner.Find(Specs(), "slack_webhook")
	r := row()
	r.Set("fun", "state.apply")
	r.Set("fun_args", value.NewList("web", int64(1)))
	r.Set("success", false)
	r.Set("retcode", int64(2))
	r.Set("return", value.MapOf(
		"test_|-two_|-x_|-nop", state(2, false, value.NewMap(0)), "test_|-one_|-x_|-nop", state(1, true, value.MapOf("a", "b")), "test_|-zero_|-x_|-nop", state(0, true, value.NewMap(0))))
	opts := value.MapOf("slack_webhook", value.MapOf("show_tasks", true, "failure_title", "[{id}] {os} {host}"))
	got := string(value.EncodeJSON(slackMessage(returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}, r)))
	want := `{"attachments":[{"fallback":"[web1]  web1","color":"#272727","author_name":"web1","author_link":"web1","author_icon":"","title":"Success: False",` +
		`"text":"Function: state.apply\nFunction Args: ['web', '1']\nJID: 20261121090807123456\nTotal: 3\nDuration: 1.50 secs"},` +
		`{"color":"good","title":"Unchanged: 1"},{"color":"warning","title":"Changed: 1","fields":[{"value":"web.sls | one","short":false}]},` +
		`{"color":"danger","title":"Failed: 1","fields":[{"value":"web.sls | two","short":false}]}]}`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// As elasticsearch_return.py of Salt has it.
func TestElasticsearchOfStates(t *testing.T) {
	t.Parallel()
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen = append(seen, r.Method+" "+r.URL.Path+" "+string(b))
		switch r.Method {
		case http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case http.MethodPost:
			_, _ = io.WriteString(w, `{"errors":false,"items":[]}`)
		}
	}))
	defer srv.Close()
	spec, _ := returner.Find(Specs(), "elasticsearch")
	r, err := open(t, spec, &fun.Env{
		Data: fun.Data{Opts: value.MapOf("elasticsearch", value.MapOf("hosts", value.Strings(srv.URL), "number_of_shards", int64(5), "states_count", true,
			"states_order_output", true, "states_single_index", true, "index_date", true, "functions_blacklist", value.Strings("test.ping")))},
	})
	if err != nil {
		t.Fatal(err)
	}
	x := row()
	x.Set("fun", "state.sls")
	x.Set("return", value.MapOf("file_|-a_|-/etc/x.conf_|-managed", state(0, true, value.NewMap(0))))
	if err := r.Return(t.Context(), []*value.Map{row(), x}); err != nil {
		t.Fatal(err)
	}
	const index = "salt-state_apply-2026.11.21-ordered"
	want := []string{
		"HEAD /" + index + " ",
		"PUT /" + index + `-v1 {"settings":{"number_of_shards":5,"number_of_replicas":0}}`,
		"PUT /" + index + "-v1/_alias/" + index + " ",
		`POST /_bulk {"index":{"_index":"` + index + `","_id":"20261121090807123456-web1"}}` + "\n" +
			`{"@timestamp":"2026-11-21T09:08:07.123456+00:00","success":true,"retcode":0,"minion":"web1","fun":"state.sls","jid":"20261121090807123456","counts":{"succeeded":1,"failed":0},` +
			`"data":{"_orig_key":"0_|-file_|-a_|-/etc/x.conf_|-managed","0_|-file_|-a_|-/etc/x_conf_|-managed":{"result":true,"changes":{},"comment":"c","__run_num__":0,"__sls__":"web","duration":500.0,"_func":"file.managed"}}}` + "\n",
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The return code of a job of several functions is a number as that of others, so
// that documents of both have one type of field.
func TestElasticsearchOfSeveralFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		code, success value.Value
		want, each    string
	}{
		{"one", int64(2), false, "2", ""},
		{"by name", value.MapOf("test.ping", int64(0), "cmd.run", int64(3)), value.MapOf("test.ping", true, "cmd.run", false), "3", `"retcodes":{"test_ping":0,"cmd_run":3}`},
		{"in order", value.NewList(int64(0), int64(0)), value.NewList(true, true), "0", `"retcodes":{"0":0,"1":0}`},
		{"an error", value.MapOf("test.ping", int64(0)), value.MapOf("test.ping", true, "cmd.run", false), "1", `"retcodes":{"test_ping":0}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sent string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if b, _ := io.ReadAll(r.Body); strings.HasSuffix(r.URL.Path, "_bulk") {
					sent = string(b)
				}
				_, _ = io.WriteString(w, `{"errors":false,"items":[]}`)
			}))
			defer srv.Close()
			spec, _ := returner.Find(Specs(), "elasticsearch")
			es, err := open(t, spec, &fun.Env{Data: fun.Data{Opts: value.MapOf("elasticsearch.hosts", srv.URL)}})
			if err != nil {
				t.Fatal(err)
			}
			r := row()
			r.Set("fun", "test.ping,cmd.run")
			r.Set("retcode", tt.code)
			r.Set("success", tt.success)
			if err := es.Return(t.Context(), []*value.Map{r}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(sent, `"retcode":`+tt.want+`,`) || !strings.Contains(sent, tt.each) || strings.Contains(sent, "retcodes") != (tt.each != "") {
				t.Errorf("sent %s, want the code %s and %s", sent, tt.want, tt.each)
			}
			if !strings.Contains(sent, `"_index":"salt-test_ping-cmd_run"`) {
				t.Errorf("the index is not one: %s", sent)
			}
		})
	}
}

// A document of a shape that the index does not have is refused, and nothing else.
func TestElasticsearchRefuses(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && strings.Contains(string(b), "web2") {
			_, _ = io.WriteString(w, `{"errors":true,"items":[{"index":{"_id":"1","status":201}},{"index":{"_id":"2","status":400,"error":{"type":"mapper_parsing_exception"}}}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"errors":false,"items":[]}`)
	}))
	defer srv.Close()
	spec, _ := returner.Find(Specs(), "elasticsearch")
	var said []string
	sink := &jobs.Sink{
		Name: "elasticsearch", Spool: t.TempDir(), Warn: func(err error) { said = append(said, err.Error()) },
		Open: func(context.Context) (jobs.Returner, error) {
			return open(t, spec, &fun.Env{Data: fun.Data{Opts: value.MapOf("elasticsearch.hosts", srv.URL)}})
		},
	}
	for _, id := range []string{"web1", "web2", "web3"} {
		r := row()
		r.Set("id", id)
		sink.Return(r)
	}
	if err := sink.Close(); err == nil || len(said) != 1 || !strings.Contains(said[0], "refused 1 row: the return of web2") || !strings.Contains(said[0], "mapper_parsing_exception") {
		t.Errorf("said %q, %v", said, err)
	}
}

func TestServicesThatRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer, want string
		opts               func(url string) *value.Map
	}{
		{"slack", `{"ok":false,"error":"channel_not_found"}`, "channel_not_found", func(u string) *value.Map {
			return value.MapOf("slack.api_key", "k-1", "slack.username", "s", "slack.api_url", u)
		}},
		{"nagios_nrdp", "<result><status>-1</status><message>BAD TOKEN t-0</message></result>", "NRDP: BAD TOKEN ***", func(u string) *value.Map {
			return value.MapOf("nagios_nrdp.token", "t-0", "nagios_nrdp.url", u)
		}},
	} {
		srv, _ := service(t, tt.answer, 200)
		spec, _ := returner.Find(Specs(), tt.name)
		r, err := spec.New(t.Context(), returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: tt.opts(srv.URL)}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Return(t.Context(), []*value.Map{row()}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want %q", tt.name, err, tt.want)
		}
	}
	spec, _ := returner.Find(Specs(), "slack")
	opts := value.MapOf("slack", value.MapOf("api_key", "k", "username", "s", "changes", true, "only_show_failed", true))
	if _, err := open(t, spec, &fun.Env{Data: fun.Data{Opts: opts}}); err == nil || !strings.Contains(err.Error(), "cannot define both") {
		t.Errorf("changes and only_show_failed: %v", err)
	}
}

func TestSlackShowsTheStatesThatAreWanted(t *testing.T) {
	t.Parallel()
	state := func(result value.Value, changes *value.Map) *value.Map {
		return value.MapOf("result", result, "changes", changes, "comment", "c")
	}
	r := row()
	r.Set("return", value.MapOf("a", state(true, value.NewMap(0)), "b", state(true, value.MapOf("x", "y")), "c", state(false, value.NewMap(0)), "d", state(nil, value.NewMap(0))))
	spec, _ := returner.Find(Specs(), "slack")
	for _, tt := range []struct{ key, want string }{{"changes", "b c d"}, {"only_show_failed", "c d"}, {"none", "a b c d"}} {
		text, err := slackText(returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: value.MapOf("slack", value.MapOf(tt.key, true, "yaml_format", true))}}}, r)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(strings.ReplaceAll(text, "return: ", "return: \n")) {
			if len(line) == 3 && line[1] == ':' {
				got = append(got, line[:1])
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: states %v, want %s\n%s", tt.key, got, tt.want, text)
		}
	}
}

func TestEtcdKilled(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	spec, _ := returner.Find(Specs(), "etcd")
	opts := value.MapOf("etcd.returner", "my", "my", value.MapOf("etcd.host", "127.0.0.1", "etcd.port", int64(srv.Port)))
	s := returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}
	servertest.Killed(t, "etcd", srv, func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) }, nil)
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	spec, _ := returner.Find(Specs(), "etcd")
	opts := value.MapOf("etcd.returner", "my", "my", value.MapOf("etcd.host", "127.0.0.1", "etcd.port", int64(srv.Port), "etcd.ttl", int64(300)), "etcd.returner_root", "/salt/x")
	s := returner.Settings{Spec: spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}
	open := func() jobs.Returner {
		t.Helper()
		var err error
		for range 100 { // it listens before it has a leader
			var r jobs.Returner
			if r, err = spec.New(t.Context(), s); err == nil {
				if err = r.(jobs.LoadSaver).SaveLoad(t.Context(), []*value.Map{jobs.Load{JID: "20200101000000000001", Fun: "test.ping"}.Map()}); err == nil {
					return r
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal(err)
		return nil
	}
	r := open()
	defer r.Close()
	const jid = "20261121090807123456"
	var rets []*value.Map
	for i := range 40 { // more than one transaction takes
		x := row()
		x.Set("id", fmt.Sprintf("web%d", i))
		rets = append(rets, x)
	}
	rets = append(rets, rets[0]) // the same again is no fault
	if err := r.(jobs.LoadSaver).SaveLoad(t.Context(), []*value.Map{jobs.Load{JID: jid, Fun: "test.ping", User: "zoe"}.Map()}); err != nil {
		t.Fatal(err)
	}
	if err := r.Return(t.Context(), rets); err != nil {
		t.Fatal(err)
	}
	st := r.(jobs.Store)
	j, err := st.Job(t.Context(), jid)
	if err != nil || j.Load.Str("user") != "zoe" || j.Returns.Len() != 40 || j.Returns.Map("web7").At("return") != true || !jobs.Succeeded(j.Returns.Map("web7")) {
		t.Fatalf("Job = %+v, %v", j, err)
	}
	if l, err := st.Jobs(t.Context(), "", ""); err != nil || len(l) != 2 || l[1].JID != jid || l[1].Load.Str("user") != "zoe" {
		t.Errorf("Jobs = %v, %v", l, err)
	}
	if l, err := st.Jobs(t.Context(), jid, jid); err != nil || len(l) != 1 || l[0].JID != jid {
		t.Errorf("Jobs of one = %v, %v", l, err)
	}
	if none, err := st.Job(t.Context(), "20200101000000000000"); none != nil || err != nil {
		t.Errorf("a job that is not there = %v, %v", none, err)
	}
	// As Salt has it: a key a field, in JSON.
	got := map[string]string{}
	if err := r.(*etcd).scan(t.Context(), "/salt/x/minions/", "/salt/x/minions0", false, func(k, v string) error {
		got[k] = v
		return nil
	}); err != nil || got["/salt/x/minions/web3"] != jid || len(got) != 40 {
		t.Errorf("minions = %v, %v", got, err)
	}
	opener := func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) }
	servertest.Load(t, "etcd", opener)
	servertest.Large(t, "etcd", 5<<20, "max-request-bytes of the server is 1572864", opener)
	t.Run("between", func(t *testing.T) { // a size that the server refuses in other words
		servertest.Large(t, "etcd", 1700<<10, "more than max-request-bytes", opener)
	})
	testWholeRows(t, r.(*etcd))
}

// testWholeRows tries that a row that is stored in parts has all of them, and one
// that does not fit none; and what is told of a row that has no return.
func testWholeRows(t *testing.T, e *etcd) {
	t.Helper()
	const jid = "20261121090807000014"
	part := strings.Repeat("x", 1<<20)
	fits, big, cut := row(), row(), row()
	for id, r := range map[string]*value.Map{"fits": fits, "big": big, "cut": cut} {
		r.Set("jid", jid)
		r.Set("id", id)
		r.Set("return", part)
		r.Set("fun_args", value.Strings(part))
	}
	big.Set("return", part+part)
	cut.Delete("return")
	err := e.Return(t.Context(), []*value.Map{fits, big, cut})
	u, ok := errors.AsType[*jobs.UnfitError](err)
	if !ok || len(u.Rows) != 1 || u.Rows[1] == nil {
		t.Fatalf("Return = %v", err)
	}
	j, err := e.Job(t.Context(), jid)
	if err != nil || j.Returns.Len() != 2 || j.Returns.Map("fits").At("return") != part || len(j.Unread) != 1 || !strings.Contains(j.Unread["cut"], "not what it returned") {
		t.Errorf("Job = %v, %v", j.Unread, err)
	}
}

// TestEvents: only those take events that have a use for them, and an event that
// is sent again is not there twice.
func TestEvents(t *testing.T) {
	t.Parallel()
	srv, seen := service(t, `{"ok":true,"errors":false}`, 200)
	ev := jobs.EventRow{Tag: "deploy/done", Data: value.MapOf("app", "shop", "_stamp", "2026-11-21T09:08:07.123456"), Master: "ctl"}
	var takes []string
	for _, spec := range Specs() {
		r, err := open(t, &spec, &fun.Env{Identity: fun.Identity{ID: "ctl"}, Data: fun.Data{Opts: secretOpts(srv.URL)[spec.Name]}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		s, ok := r.(jobs.EventSaver)
		if !ok {
			continue
		}
		takes = append(takes, spec.Name)
		*seen = nil
		for range 2 {
			if err := s.SaveEvents(t.Context(), []jobs.EventRow{ev}); err != nil {
				t.Errorf("%s: %v", spec.Name, err)
			}
		}
		bodies := map[string]int{}
		for _, req := range *seen {
			if req.method == http.MethodPost {
				bodies[req.body]++
			}
		}
		for body, n := range bodies {
			if n != 2 || !strings.Contains(body, "deploy/done") || spec.Name == "elasticsearch" && !strings.Contains(body, `"_id":"`) {
				t.Errorf("%s: %d times %s", spec.Name, n, body)
			}
		}
		if len(bodies) != 1 {
			t.Errorf("%s: %d bodies", spec.Name, len(bodies))
		}
	}
	if d := cmp.Diff([]string{"elasticsearch", "mattermost"}, takes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestHostileRedirect has a service send the request on to another host: the
// return and the headers with their tokens stay away from there.
func TestHostileRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		other, seen := service(t, "", http.StatusOK)
		first := httptest.NewServer(http.RedirectHandler(other.URL, status))
		t.Cleanup(first.Close)
		c := newClient(true)
		c.header.Set("X-Token", "secret")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, first.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.http.Do(req)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%d: the answer of another host was taken", status)
		} else if !strings.Contains(err.Error(), "redirect to another host") {
			t.Errorf("%d: %v", status, err)
		}
		if len(*seen) > 0 {
			t.Errorf("%d: another host got %v", status, *seen)
		}
	}
}
