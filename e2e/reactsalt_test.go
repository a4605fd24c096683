package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A saltCall is a call that a reactor makes.
type saltCall struct {
	Kind    string         `json:"kind"`
	Fun     string         `json:"fun"`
	Tgt     any            `json:"tgt"`
	TgtType string         `json:"tgt_type"`
	Ret     string         `json:"ret"`
	Arg     []any          `json:"arg"`
	Kwarg   map[string]any `json:"kwarg"`
}

// TestReactorSalt compares what reacts to events with what the reactor of Salt 3006 called,
// which testdata/reactor/record.py recorded.
func TestReactorSalt(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name, Tag, Differs string
		Files              map[string]string
		Reactor            json.RawMessage
		Data               json.RawMessage
	}
	want := map[string][]saltCall{}
	for name, at := range map[string]any{"cases": &cases, "salt": &want} {
		b, err := os.ReadFile("testdata/reactor/" + name + ".json")
		if err == nil {
			err = json.Unmarshal(b, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(cases) < 30 || len(cases) != len(want) {
		t.Fatalf("%d cases, %d recordings", len(cases), len(want))
	}
	self := brineProgram()
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(path, text string) {
				t.Helper()
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for path, text := range tt.Files {
				write("salt/"+path, text)
			}
			write("master", fmt.Sprintf("id: ctl\nfile_roots: {base: [%q]}\ncachedir: %q\nreactor: %s\n", dir+"/salt", dir+"/cache", strings.ReplaceAll(string(tt.Reactor), "ROOT", dir+"/salt")))
			write("event.json", fmt.Sprintf(`{"tag": %q, "data": %s}`, tt.Tag, tt.Data))
			c := exec.Command(self, "react", "--event", filepath.Join(dir, "event.json"), "--dry-run", "--out=json", "-c", dir)
			c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+dir, "BRINE_RUN_DIR="+dir+"/events")
			var said strings.Builder
			c.Stderr = &said
			out, _ := c.Output() // its status is that of reactions that do not compile, or of none
			var got []saltCall
			if err := json.Unmarshal(out, &got); err != nil && !strings.Contains(said.String(), "nothing reacts to") && !strings.HasPrefix(strings.TrimSpace(string(out)), "{") {
				t.Fatalf("%v: %s%s", err, out, &said)
			}
			for i := range got {
				if got[i].Kind == "runner" || got[i].Kind == "wheel" {
					got[i].Arg = byName(got[i].Fun, got[i].Arg, &got[i].Kwarg)
				}
				got[i].Arg = slices.Clip(append([]any{}, got[i].Arg...))
				if got[i].Kwarg == nil {
					got[i].Kwarg = map[string]any{}
				}
			}
			diff := cmp.Diff(want[tt.Name], got)
			if len(want[tt.Name]) == 0 && len(got) == 0 {
				diff = ""
			}
			if (diff != "") != (tt.Differs != "") {
				t.Errorf("%s(-Salt +brine)\n%s%s", diff, tt.Differs, &said)
			}
		})
	}
}

// byName gives positional arguments their names.
func byName(fun string, args []any, kwargs *map[string]any) []any {
	if fun != "state.orchestrate" || len(args) != 1 {
		return args
	}
	if *kwargs == nil {
		*kwargs = map[string]any{}
	}
	(*kwargs)["mods"] = args[0]
	return nil
}

// TestReactorMaster compares what brine calls for events with what a running master of Salt 3006
// called for those that its minion sent by event.send, which testdata/reactor/master.py
// recorded.
func TestReactorMaster(t *testing.T) {
	t.Parallel()
	var cases struct {
		Files   map[string]string
		Reactor json.RawMessage
		Events  []struct{ Name, Tag, Differs string }
	}
	type called struct {
		Kind, Fun, Text string
		Tgt             any
		TgtType         string `json:"tgt_type"`
		Arg             []any
		Kwarg           map[string]any
	}
	var salt map[string]struct {
		Data  json.RawMessage
		Calls []called
	}
	for name, at := range map[string]any{"cases": &cases, "salt": &salt} {
		b, err := os.ReadFile("testdata/reactor/master_" + name + ".json")
		if err == nil {
			err = json.Unmarshal(b, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(cases.Events) < 20 || len(cases.Events) != len(salt) {
		t.Fatalf("%d events, %d recordings", len(cases.Events), len(salt))
	}
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "/ROOT", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range cases.Files {
		write("salt/"+path, text)
	}
	write("master", fmt.Sprintf("id: ctl\nfile_roots: {base: [/ROOT/salt]}\ncachedir: /ROOT/cache\nreactor: %s\n", cases.Reactor))
	self := brineProgram()
	sorted := func(all []called) (out []string) {
		for _, c := range all {
			if c.Kind == "caller" {
				c = called{Kind: c.Kind, Fun: c.Fun, Text: c.Text}
			}
			if len(c.Kwarg) == 0 {
				c.Kwarg = nil
			}
			if len(c.Arg) == 0 {
				c.Arg = nil
			}
			b, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(b))
		}
		slices.Sort(out)
		return out
	}
	for i, tt := range cases.Events {
		t.Run(tt.Name, func(t *testing.T) {
			event := fmt.Sprintf("event%d.json", i)
			write(event, fmt.Sprintf(`{"tag": %q, "data": %s}`, tt.Tag, salt[tt.Name].Data))
			c := exec.Command(self, "react", "--event", filepath.Join(dir, event), "--dry-run", "--out=json", "-c", dir)
			c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+dir, "BRINE_RUN_DIR="+dir+"/events")
			var said strings.Builder
			c.Stderr = &said
			out, _ := c.Output() // its status is that of reactions that do not compile, or of none
			var got []called
			if err := json.Unmarshal(out, &got); err != nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "{") {
				t.Fatalf("%v: %s%s", err, out, &said)
			}
			for i := range got {
				for _, key := range []string{"text", "args"} {
					if s, ok := got[i].Kwarg[key].(string); ok {
						got[i].Text = s
					}
				}
				if got[i].Kind != "caller" {
					got[i].Text = ""
				}
			}
			diff := cmp.Diff(sorted(salt[tt.Name].Calls), sorted(got))
			if (diff != "") != (tt.Differs != "") {
				t.Errorf("%s(-Salt +brine)\n%s%s", diff, tt.Differs, &said)
			}
			if tt.Differs != "" && len(got) > 0 {
				t.Errorf("brine calls something where it differs: %v", got)
			}
		})
	}
}
