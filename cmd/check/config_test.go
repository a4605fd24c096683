package check

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/cmd/app"
	"brine/cmd/linter"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/config/options"
	"brine/internal/core/host"
)

// TestCheckConfigNames: check --config names each option of Salt's example files, with
// the verdict of the table.
func TestCheckConfigNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/core/config/options/testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	names := map[string]bool{}
	for _, kind := range []string{"master", "minion"} {
		var b strings.Builder
		for line := range strings.Lines(string(text)) {
			if w := strings.Fields(line); slices.Contains(w[1:], "conf-"+kind) {
				b.WriteString(w[0] + ":\n")
				names[w[0]] = true
			}
		}
		if err := os.WriteFile(filepath.Join(dir, kind), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	a := &app.App{Out: &out, Err: &errs, Host: host.NewLocal()}
	if err := checkConfig(a, &linter.Flags{Out: "text"}, []string{dir}); err == nil {
		t.Error("options that are not supported are no failure")
	}
	if errs.Len() > 0 {
		t.Errorf("%s", errs.String())
	}
	verdict, seen := "", map[string]bool{}
	for line := range strings.Lines(out.String()) {
		if v, ok := strings.CutSuffix(line, ":\n"); ok {
			verdict = v
			continue
		}
		w := strings.Fields(line)
		if !strings.HasPrefix(line, "  ") || len(w) < 2 {
			continue
		}
		seen[w[0]] = true
		if o := options.Of(w[0]); string(o.Verdict) != verdict {
			t.Errorf("%s is %s, want %s", w[0], verdict, o.Verdict)
		}
	}
	for name := range names {
		if !seen[name] {
			t.Errorf("%s is not named", name)
		}
	}
	if len(names) < 240 {
		t.Errorf("%d names", len(names))
	}
}

// TestObey: of each option that is not supported a run is told, or does not begin;
// of what is at its default it is not.
func TestObey(t *testing.T) {
	t.Parallel()
	for _, o := range options.All() {
		if o.Verdict != options.Unsupported {
			continue
		}
		for _, kind := range []config.Kind{config.Master, config.Minion} {
			x := session.Setting{Option: o, Value: "else"}
			if !x.Asks(kind, "me") {
				t.Errorf("%s: %s is passed over", o.Name, kind)
			}
			x.Value = config.Default(kind, o.Name)
			if o.Name == "user" {
				x.Value = "me"
			}
			if x.Asks(kind, "me") {
				t.Errorf("%s: %s is told of its default", o.Name, kind)
			}
		}
	}
	if x := (session.Setting{Option: options.Of("worker_threads"), Value: int64(9)}); x.Asks(config.Master, "me") {
		t.Error("an option that is meaningless is told of")
	}
}
