package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/outputter/report"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// heard is an orchestration of two steps: the states of web1 changed something,
// those of web2 did not, and web3 was not reached.
func heard(t *testing.T) *Profile {
	t.Helper()
	now := noon
	pass := func(ms int) { now = now.Add(time.Duration(ms) * time.Millisecond) }
	r := New(func() time.Time { return now })
	pass(100)
	r.Took("render", "orch", noon)
	r.RunBegins("1", nil)
	w := r.Fleet(nil)
	w.Begin(fun.Job{JID: "11", Step: "deploy"}, []string{"web1"})
	w.At("11", "web1", fleet.Connecting)
	pass(10)
	w.At("11", "web1", fleet.Authenticating)
	pass(20)
	w.At("11", "web1", fleet.Running)
	pass(70)
	w.Done(fun.Return{JID: "11", ID: "web1"})
	w.End("11")
	w.Begin(fun.Job{JID: "12", Step: "same"}, []string{"web2", "web3"})
	w.At("12", "web2", fleet.Running)
	w.At("12", "web3", fleet.Connecting)
	w.Sent("12", "web3", 1, 2)
	pass(50)
	w.Done(fun.Return{JID: "12", ID: "web2"})
	w.Done(fun.Return{JID: "12", ID: "web3", Stage: fun.Unreachable, Err: errors.New("no route to hunter2")})
	r.RunEnds()
	state := func(id, start string, ms float64, num int64) *value.Map {
		return value.MapOf("result", true, "changes", value.NewMap(0), "comment", "", "name", id, "__id__", id, "__sls__", "web", "__run_num__", num, "start_time", start, "duration", ms)
	}
	deploy := state("deploy", "12:00:00.100000", 100, 0)
	deploy.Set("__jid__", "11")
	deploy.Set("changes", value.MapOf("ret", value.MapOf("web1", value.MapOf("file_|-conf_|-conf_|-managed", state("conf", "09:00:00.000000", 40, 0)))))
	same := state("same", "12:00:00.200000", 50, 1)
	same.Set("__jid__", "12")
	same.Set("result", false)
	same.Set("comment", "hunter2 failed")
	data := value.MapOf("ctl", value.MapOf("salt_|-deploy_|-deploy_|-state", deploy, "salt_|-same_|-same_|-state", same))
	run := report.Build(data, report.Info{JID: "1", Fun: "state.orchestrate", Args: []string{"orch"}, Retcode: 1})
	return r.Profile(run, func(s string) string { return strings.ReplaceAll(s, "hunter2", "XXX") })
}

func TestSpans(t *testing.T) {
	t.Parallel()
	var got []string
	spans := heard(t).Spans
	for i, s := range spans {
		if s.Parent >= i {
			t.Errorf("span %d comes before its parent %d", i, s.Parent)
		}
		line := fmt.Sprintf("%d %s: %s %d+%d", s.Parent, s.Kind, s.Name, s.Start.Sub(noon).Milliseconds(), s.End.Sub(s.Start).Milliseconds())
		if s.Failed {
			line += " failed " + s.Reason
		}
		got = append(got, line)
	}
	want := []string{
		"-1 run: state.orchestrate orch 0+250 failed ",
		"0 render: render orch 0+100",
		"0 step: deploy 100+100",
		"0 step: same 200+50 failed XXX failed",
		"2 host: web1 100+100",
		"4 connecting: connecting 100+10",
		"4 authenticating: authenticating 110+20",
		"4 preparing: preparing 130+30",
		"4 state: conf 160+40",
		"3 host: web2 200+50",
		"3 host: web3 200+50 failed no route to XXX",
		"10 connecting: connecting 200+50",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMask: no text of a span has a secret, wherever it comes from.
func TestMask(t *testing.T) {
	t.Parallel()
	r := New(func() time.Time { return noon })
	r.Took("render", "hunter2", noon)
	w := r.Fleet(nil)
	w.Begin(fun.Job{JID: "11", Step: "hunter2"}, []string{"web1"})
	w.Done(fun.Return{JID: "11", ID: "web1", Stage: fun.Unreachable, Err: errors.New("hunter2")})
	for _, s := range r.Profile(report.Build(value.NewMap(0), report.Info{}), func(s string) string { return strings.ReplaceAll(s, "hunter2", "XXX") }).Spans {
		if text := fmt.Sprint(s); strings.Contains(text, "hunter2") {
			t.Error(text)
		}
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Text(&b, heard(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Time of the run: 250.0 ms\n", "authenticating  1      20.0        20.0          web1\n", "state           1      40.0        40.0          web1: conf\n",
		"deploy / web1  10.0     20.0  -     -     -      30.0     40.0    100.0\n", "same / web3    50.0 ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	text, err := value.AppendJSON(nil, Data(heard(t)), value.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Total float64
		Hosts []struct {
			Host, Step             string
			Failed                 bool
			Connect, Auth, Prepare float64
		}
		States []struct {
			ID    string
			Begin float64
		}
	}
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	if data.Total != 250 || len(data.Hosts) != 3 || data.Hosts[0].Host != "web1" || data.Hosts[0].Auth != 20 || len(data.States) != 3 || data.States[2].Begin != 160 {
		t.Errorf("data: %s", text)
	}
	if err := Text(&b, &Profile{}); err != nil {
		t.Error(err)
	}
}

// A collector is a server that takes traces, with the statuses that it is told to
// answer first.
type collector struct {
	mu     sync.Mutex
	first  []int
	bodies [][]byte
	header http.Header
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header
	if len(c.first) > 0 {
		status := c.first[0]
		c.first = c.first[1:]
		http.Error(w, "not now, "+r.Header.Get("Key"), status)
		return
	}
	c.bodies = append(c.bodies, append([]byte(r.URL.Path+" "), body...))
}

func send(t *testing.T, c *collector, env map[string]string, spans []Span) error {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	all := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL + "/"}
	maps.Copy(all, env)
	e, err := NewExporter(func(k string) string { return all[k] }, "1.0", "ctl")
	if err != nil || e == nil {
		t.Fatal(e, err)
	}
	return e.Export(t.Context(), spans)
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestExportJSON(t *testing.T) {
	t.Parallel()
	c := &collector{first: []int{503}}
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b", "TRACEPARENT": parent,
		"OTEL_RESOURCE_ATTRIBUTES": "team=ops,service.name=x", "OTEL_SERVICE_NAME": "deploys",
	}
	if err := send(t, c, env, heard(t).Spans); err != nil {
		t.Fatal(err)
	}
	if got := c.header.Get("Api-Key") + c.header.Get("Content-Type"); got != "a bapplication/json" {
		t.Errorf("headers %q", got)
	}
	path, body, _ := bytes.Cut(c.bodies[0], []byte(" "))
	if string(path) != "/v1/traces" {
		t.Errorf("path %s", path)
	}
	type attr struct {
		Key   string
		Value struct{ StringValue string }
	}
	var req struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []attr }
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano string
					Kind                                                   int
					Status                                                 struct {
						Code    int
						Message string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if got := fmt.Sprint(req.ResourceSpans[0].Resource.Attributes); !strings.Contains(got, "{service.name {deploys}}") || !strings.Contains(got, "{team {ops}}") {
		t.Errorf("resource %s", got)
	}
	spans := req.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 12 || spans[0].ParentSpanID != "b7ad6b7169203331" || spans[0].TraceID != "0af7651916cd43dd8448eb211c80319c" ||
		spans[4].ParentSpanID != spans[2].SpanID || spans[4].Kind != 3 || spans[3].Status.Code != 2 || spans[3].Status.Message != "XXX failed" ||
		spans[0].StartTimeUnixNano != fmt.Sprint(noon.UnixNano()) {
		t.Errorf("spans %+v", spans)
	}
}

// TestExportProtobuf reads the bytes as Protocol Buffers are read.
func TestExportProtobuf(t *testing.T) {
	t.Parallel()
	c := &collector{}
	if err := send(t, c, map[string]string{"TRACEPARENT": parent}, heard(t).Spans); err != nil {
		t.Fatal(err)
	}
	_, body, _ := bytes.Cut(c.bodies[0], []byte(" "))
	scope := fields(t, fields(t, fields(t, body)[1][0])[2][0])
	spans := scope[2]
	if len(spans) != 12 || string(fields(t, scope[1][0])[1][0]) != "brine" {
		t.Fatalf("%d spans", len(spans))
	}
	step := fields(t, spans[3])
	if hex.EncodeToString(step[1][0]) != "0af7651916cd43dd8448eb211c80319c" || len(step[2][0]) != 8 || string(step[5][0]) != "same" ||
		binary.LittleEndian.Uint64(step[7][0]) != uint64(noon.Add(200*time.Millisecond).UnixNano()) {
		t.Errorf("span %x", step)
	}
	if status := fields(t, step[15][0]); string(status[2][0]) != "XXX failed" || status[3][0][0] != 2 {
		t.Errorf("status %x", status)
	}
}

// fields reads a message: the bytes of each field by its number.
func fields(t *testing.T, b []byte) map[int][][]byte {
	t.Helper()
	out := map[int][][]byte{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("tag in %x", b)
		}
		b = b[n:]
		var size int
		switch tag & 7 {
		case varint:
			_, size = binary.Uvarint(b)
		case fixed64:
			size = 8
		case bytesOf:
			length, n := binary.Uvarint(b)
			b, size = b[n:], int(length)
		default:
			t.Fatalf("wire type %d", tag&7)
		}
		if size <= 0 && tag&7 == varint || size > len(b) {
			t.Fatalf("field of %d in %x", size, b)
		}
		out[int(tag>>3)] = append(out[int(tag>>3)], b[:size])
		b = b[size:]
	}
	return out
}

// TestBounds: of a run with more parts than are kept, the sums are of all.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := New(func() time.Time { return noon })
	run := &report.Run{}
	const hosts, states = 600, 100
	for i := range hosts {
		s := &report.Suite{Step: "deploy", Host: fmt.Sprintf("web%d", i), JID: "11"}
		for n := range states {
			s.Cases = append(s.Cases, &report.Case{ID: "x", Fun: "test.nop", SLS: "web", Begin: time.Duration(n) * time.Millisecond, Length: time.Millisecond})
		}
		run.Suites = append(run.Suites, s)
	}
	last := run.Suites[hosts-1]
	last.Cases = append(last.Cases, &report.Case{Fun: "test.nop", Status: report.Failed, Comment: "hunter2"})
	p := r.Profile(run, func(s string) string { return s })
	if all := 1 + hosts + hosts*states; len(p.Spans) != maxSpans || p.Lost != all-maxSpans {
		t.Errorf("%d spans and %d lost, want %d of %d", len(p.Spans), p.Lost, maxSpans, all)
	}
	for i, s := range p.Spans {
		if s.Parent >= i {
			t.Fatalf("span %d comes before its parent %d", i, s.Parent)
		}
	}
	var total time.Duration
	failed := 0
	for _, h := range p.sums.hosts {
		if h.failed {
			failed++
		}
	}
	for _, k := range p.sums.kinds {
		if k.kind == State {
			total = k.total
		}
	}
	if len(p.sums.hosts) != hosts || total != hosts*states*time.Millisecond || failed != 1 {
		t.Errorf("%d hosts, %d failed, %s of states", len(p.sums.hosts), failed, total)
	}
	if m := Data(p); m.At("lost") != int64(p.Lost) {
		t.Errorf("lost is %v", m.At("lost"))
	}
}

func TestExportBounds(t *testing.T) {
	t.Parallel()
	many := make([]Span, 3*batch+1)
	for i := range many {
		many[i] = Span{Parent: i - 1, Kind: State, Name: strings.Repeat("\xff", 3), Start: noon, End: noon}
	}
	c := &collector{}
	err := send(t, c, nil, many)
	if err != nil || len(c.bodies) != 4 {
		t.Errorf("%d requests, %v", len(c.bodies), err)
	}
	// The collector quotes the key that it refuses.
	err = send(t, &collector{first: []int{401}}, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "key=Bearer%20hunter2"}, many[:1])
	if err == nil || !strings.HasSuffix(err.Error(), "/v1/traces: 401 Unauthorized: not now, "+redact.Hidden) {
		t.Errorf("refused: %v", err)
	}
	err = send(t, &collector{first: []int{302}}, nil, many[:1])
	if err == nil || !strings.Contains(err.Error(), "302 Found") {
		t.Errorf("sent elsewhere: %v", err)
	}
}

func TestNewExporter(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:1"
	for _, tt := range []struct{ env, want string }{
		{"", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url, url + "/v1/traces"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + url + "/x", url + "/x"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_SDK_DISABLED=true", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_TRACES_EXPORTER=none", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_TRACES_SAMPLER=always_off", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " TRACEPARENT=" + parent[:53] + "00", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " TRACEPARENT=00-0-1", `TRACEPARENT: "00-0-1" is not of the form 00-<trace>-<span>-<flags>`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", `OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318/v1/traces" is not a URL of http or https`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=grpc://user:hunter2@collector", "OTEL_EXPORTER_OTLP_ENDPOINT: the value is not a URL of http or https"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_EXPORTER_OTLP_PROTOCOL=grpc", `OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not supported; use http/protobuf or http/json`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_EXPORTER_OTLP_TIMEOUT=soon", `OTEL_EXPORTER_OTLP_TIMEOUT: "soon" is not a number of milliseconds`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_EXPORTER_OTLP_HEADERS=key", "OTEL_EXPORTER_OTLP_HEADERS: it is not a comma list of key=value"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url + " OTEL_EXPORTER_OTLP_CERTIFICATE=/nonexistent/ca", "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nonexistent/ca: no such file or directory"},
	} {
		env := map[string]string{}
		for word := range strings.FieldsSeq(tt.env) {
			k, v, _ := strings.Cut(word, "=")
			env[k] = v
		}
		e, err := NewExporter(func(k string) string { return env[k] }, "1.0", "ctl")
		got := "off"
		switch {
		case err != nil:
			got = err.Error()
		case e != nil:
			got = e.url
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.env, got, tt.want)
		}
	}
}
