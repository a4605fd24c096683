package mail

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// run is the return of a run of three states that ran in another order than
// they are listed.
func run() *value.Map {
	return value.MapOf(
		"id", "web1.example.org", "jid", "20261121090807123456", "fun", "state.apply", "fun_args", value.NewList("web"), "success", false, "retcode", int64(2),
		"return", value.MapOf(
			"cmd_|-three_|-exit 1 <&_|-run", value.MapOf("result", false, "changes", value.NewMap(0), "comment", `Command "exit 1" run`, "duration", 3.0, "__run_num__", int64(2)),
			"file_|-one_|-/a_|-managed", value.MapOf("result", true, "changes", value.MapOf("mode", value.MapOf("old", "0600", "new", "0644"), "diff", "new"),
				"comment", "updated", "duration", 1.5, "__run_num__", int64(0), "start_time", "09:08:07.000001"),
			"test_|-two_|-two_|-nop", value.MapOf("result", true, "changes", value.NewMap(0), "comment", "", "duration", 2.0, "__run_num__", int64(1)),
		),
	)
}

func highstate(t *testing.T, env *fun.Env, opts *value.Map) (*reports, error) {
	t.Helper()
	spec := highstateSpec()
	env.Opts = value.MapOf("highstate", opts)
	r, err := spec.New(t.Context(), returner.Settings{Spec: &spec, Env: env})
	if err != nil {
		return nil, err
	}
	return r.(*reports), nil
}

// testdata is what PyYAML and Python's json print of Salt's report.
func TestReportsAreSalts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, format := range []string{"yaml", "json"} {
		h, err := highstate(t, &fun.Env{}, value.MapOf("report_format", format, "file_output", filepath.Join(dir, "{id}-{host}-{role}."+format)))
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Return(t.Context(), []*value.Map{run()}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "web1.example.org-web1-{role}."+format))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", "report."+format))
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(got)) != strings.TrimSpace(string(want)) {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

func TestReportsOfOneRunFollowEachOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "all.html")
	if err := os.WriteFile(path, []byte("of an earlier run"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := highstate(t, &fun.Env{Functions: fun.Functions{Invoker: answers{}}}, value.MapOf("report_format", "html", "file_output", path, "failure_function", "test.ping"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Return(t.Context(), []*value.Map{run(), run()}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if strings.Contains(got, "earlier") || strings.Count(got, "<html>") != 2 || strings.Count(got, "exit 1 &lt;&amp;") != 2 ||
		!strings.Contains(got, "color: red") || strings.Index(got, "test.ping") > strings.Index(got, "stats") || !strings.Contains(got, "test.ping") {
		t.Errorf("the file has\n%s", got)
	}
}

type answers struct{ fun.Invoker }

func (answers) Invoke(context.Context, fun.Kind, string, fun.Args) (fun.Result, error) {
	return fun.Result{Value: value.MapOf("b", int64(2), "a", int64(1))}, nil
}

func TestWhatIsReported(t *testing.T) {
	t.Parallel()
	with := func(result, changes value.Value) *value.Map {
		return value.MapOf("fun", "state.apply", "success", result == true, "retcode", int64(0), "return", value.MapOf("a_|-b_|-c_|-d", value.MapOf("result", result, "changes", changes)))
	}
	none, some := value.NewMap(0), value.MapOf("x", "y")
	broken := value.MapOf("fun", "state.apply", "success", false, "retcode", int64(1), "return", value.NewList("Rendering SLS failed"))
	for _, tt := range []struct {
		name string
		opts *value.Map
		ret  *value.Map
		want bool
	}{
		{"nothing happened", value.NewMap(0), with(true, none), false},
		{"changed", value.NewMap(0), with(true, some), true},
		{"changed, not wanted", value.MapOf("report_changes", false), with(true, some), false},
		{"failed", value.NewMap(0), with(false, none), true},
		{"failed, not wanted", value.MapOf("report_failures", false), with(false, none), false},
		{"everything", value.MapOf("report_everything", true), with(true, none), true},
		{"no states", value.MapOf("report_everything", true), value.MapOf("fun", "test.ping", "return", true, "success", true), false},
		{"other dict", value.MapOf("report_everything", true), value.MapOf("fun", "grains.items", "return", value.MapOf("a", int64(1)), "success", true), false},
		{"SLS with faults", value.NewMap(0), broken, true},
	} {
		h, err := highstate(t, &fun.Env{}, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := h.report(t.Context(), tt.ret); (got != nil) != tt.want {
			t.Errorf("%s: report %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestReportsAreMailed(t *testing.T) {
	t.Parallel()
	port, said := server(t)
	h, err := highstate(t, &fun.Env{Machine: fun.Machine{Host: host.NewFake()}}, value.MapOf(
		"report_delivery", "smtp", "report_format", "html", "smtp_server", "127.0.0.1", "smtp_port", int64(port), "smtp_sender", "salt@example.org",
		"smtp_recipients", "ops@example.org, zoe@example.org", "smtp_failure_subject", "{id} on {host} failed"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Return(t.Context(), []*value.Map{run()}); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(<-said, "\n")
	for _, want := range []string{"RCPT TO:<zoe@example.org>", "Subject: web1.example.org on web1 failed\n", "Content-Type: text/html;", "<html>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the mail has no %q:\n%s", want, got)
		}
	}
}

func TestReportSettingsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		opts *value.Map
		want string
	}{
		{value.MapOf("report_format", "xml"), `"xml" is none of yaml, json and html`},
		{value.MapOf("report_delivery", "fax"), `"fax" is neither file nor smtp`},
		{value.MapOf("report_delivery", "smtp"), "must be configured"},
	} {
		if _, err := highstate(t, &fun.Env{}, tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", value.Repr(tt.opts), err, tt.want)
		}
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "precious"), link); err != nil {
		t.Fatal(err)
	}
	h, err := highstate(t, &fun.Env{}, value.MapOf("file_output", link))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Return(t.Context(), []*value.Map{run()}); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a link: %v", err)
	}
}
