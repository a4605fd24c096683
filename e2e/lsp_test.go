package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "brine/internal/testkit/lspclient"
)

// TestLSP: an editor's session with brine lsp over pipes, from initialize to exit.
// The tree is found from the workspace folder, in a directory under it.
func TestLSP(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	for name, text := range map[string]string{
		"tree/minion":             "file_roots:\n  base: [" + ws + "/tree/salt]\npillar_roots:\n  base: [" + ws + "/tree/pillar]\n",
		"tree/.brine-lint.yaml":   "systems: [debian]\n",
		"tree/salt/top.sls":       "base:\n  '*':\n    - web\n",
		"tree/salt/web.sls":       "web:\n  test.nop: []\n",
		"tree/salt/lib/init.sls":  "lib:\n  test.nop: []\n",
		"tree/pillar/top.sls":     "base:\n  '*':\n    - app\n",
		"tree/pillar/app.sls":     "app:\n  port: 80\n",
		"other/not-in-a-tree.sls": "a: [\n",
	} {
		p := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self := brineProgram()
	c := exec.CommandContext(t.Context(), self)
	c.Args = []string{"brine", "lsp", "--stdio", "-l", "debug", "--log-file", filepath.Join(ws, "log")}
	c.Dir = ws
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+ws, "XDG_CACHE_HOME="+ws+"/cache")
	var errs strings.Builder
	c.Stderr = &errs
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s := New(t, out, in)
	var caps struct {
		Capabilities struct{ PositionEncoding string }
		ServerInfo   struct{ Name string }
	}
	s.Ask("initialize", M{"processId": nil, "rootUri": nil, "workspaceFolders": []M{{"uri": "file://" + ws, "name": "ws"}}, "capabilities": M{}}, &caps)
	if caps.ServerInfo.Name != "brine" || caps.Capabilities.PositionEncoding != "utf-16" {
		t.Errorf("initialize: %+v", caps)
	}
	s.Tell("initialized", M{})
	web := "file://" + ws + "/tree/salt/web.sls"
	s.Tell("textDocument/didOpen", Open("file://"+ws+"/other/not-in-a-tree.sls", "a: [\n"))
	s.Tell("textDocument/didOpen", Open(web, "web:\n  file.managed:\n    - name: /é\n    - contens: {{ pillar['app'] }}\n"))
	d := s.Wait(web, "unknown-argument")
	if d[0].Severity != 2 || !strings.HasSuffix(d[0].CodeDescription.Href, "/lint-rules.md#unknown-argument") || !strings.Contains(d[0].Message, `did you mean "contents"?`) {
		t.Errorf("diagnostic: %+v", d[0])
	}
	if _, err := os.Stat(strings.TrimSuffix(strings.TrimPrefix(d[0].CodeDescription.Href, "file://"), "#unknown-argument")); err != nil {
		t.Errorf("page of the rules: %v", err)
	}
	var list struct {
		Items []struct{ Label, Data string }
	}
	has := func(label string) bool {
		for _, it := range list.Items {
			if it.Label == label {
				return true
			}
		}
		return false
	}
	s.Ask("textDocument/completion", At(web, 3, 9), &list)
	if !has("contents") || !has("require") {
		t.Errorf("completion of arguments: %+v", list)
	}
	s.Ask("textDocument/completion", At(web, 3, 26), &list)
	if !has("app") {
		t.Errorf("completion of the pillar: %+v", list)
	}
	var resolved struct{ Documentation struct{ Value string } }
	s.Ask("completionItem/resolve", M{"label": "x", "kind": 3, "data": "state pkg.installed"}, &resolved)
	if !strings.Contains(resolved.Documentation.Value, "```yaml") {
		t.Errorf("resolve: %q", resolved.Documentation.Value)
	}
	var hover struct{ Contents struct{ Value string } }
	s.Ask("textDocument/hover", At(web, 1, 8), &hover)
	if !strings.Contains(hover.Contents.Value, "**file.managed**") || !strings.Contains(hover.Contents.Value, "```yaml") {
		t.Errorf("hover: %q", hover.Contents.Value)
	}
	var defs []struct{ URI string }
	s.Ask("textDocument/definition", At(web, 3, 27), &defs)
	if len(defs) != 1 || defs[0].URI != "file://"+ws+"/tree/pillar/app.sls" {
		t.Errorf("definition: %+v", defs)
	}
	var actions []struct{ Title string }
	s.Ask("textDocument/codeAction", M{"textDocument": M{"uri": web}, "range": d[0].Range, "context": M{"diagnostics": []any{}}}, &actions)
	if len(actions) != 3 || actions[0].Title != "Change to contents" {
		t.Errorf("code actions: %+v", actions)
	}
	s.Tell("textDocument/didChange", M{"textDocument": M{"uri": web, "version": 2}, "contentChanges": []M{
		{"range": Span(3, 6, 3, 13), "text": "contents"},
		{"range": Span(2, 13, 2, 13), "text": "𝒳/x"},
	}})
	s.Wait(web)
	// Another program changes a file that the document does not have.
	s.Tell("textDocument/didChange", M{"textDocument": M{"uri": web, "version": 3}, "contentChanges": []M{{"text": "include:\n  - lib\nweb:\n  test.nop:\n    - require:\n      - test: lib\n"}}})
	s.Wait(web)
	if err := os.Remove(filepath.Join(ws, "tree/salt/lib/init.sls")); err != nil {
		t.Fatal(err)
	}
	s.Tell("workspace/didChangeWatchedFiles", M{"changes": []any{}})
	s.Wait(web, "missing-include")
	s.Ask("shutdown", nil, nil)
	s.Tell("exit", nil)
	if err := c.Wait(); err != nil {
		t.Errorf("brine lsp: %v\n%s", err, errs.String())
	}
	if log, err := os.ReadFile(filepath.Join(ws, "log")); err != nil || !strings.Contains(string(log), "tree opened") {
		t.Errorf("log: %v\n%s", err, log)
	}
}
