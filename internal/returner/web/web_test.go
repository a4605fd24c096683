package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/returner/servertest"
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
			r, err := open(t, spec, &fun.Env{ID: "ctl", Opts: tt.opts(srv.URL)})
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
		r, err := spec.New(t.Context(), returner.Settings{Spec: spec, Env: &fun.Env{Opts: tt.opts(srv.URL)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Return(t.Context(), []*value.Map{row()}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want %q", tt.name, err, tt.want)
		}
	}
	spec, _ := returner.Find(Specs(), "slack")
	opts := value.MapOf("slack", value.MapOf("api_key", "k", "username", "s", "changes", true, "only_show_failed", true))
	if _, err := open(t, spec, &fun.Env{Opts: opts}); err == nil || !strings.Contains(err.Error(), "cannot define both") {
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
		text, err := slackText(returner.Settings{Spec: spec, Env: &fun.Env{Opts: value.MapOf("slack", value.MapOf(tt.key, true, "yaml_format", true))}}, r)
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

func TestEtcd(t *testing.T) {
	t.Parallel()
	srv := servertest.Etcd(t)
	spec, _ := returner.Find(Specs(), "etcd")
	opts := value.MapOf("etcd.returner", "my", "my", value.MapOf("etcd.host", "127.0.0.1", "etcd.port", int64(srv.Port), "etcd.ttl", int64(300)), "etcd.returner_root", "/salt/x")
	s := returner.Settings{Spec: spec, Env: &fun.Env{Opts: opts}}
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
	servertest.Load(t, "etcd", func(ctx context.Context) (jobs.Returner, error) { return spec.New(ctx, s) })
}
