package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestUIClient has a program that uses a client which a generator of others made of the
// OpenAPI document do by the API what [TestUIConsole] does by the pages: while it watches,
// the server is killed and another one begins. BRINE_SOAK has as many hosts as the pages.
func TestUIClient(t *testing.T) {
	t.Parallel()
	document := read(t, "docs/openapi.json")
	if sum := sha256.Sum256([]byte(document)); !strings.Contains(read(t, "e2e/testdata/apiclient/client.mjs"), "// sha256 "+hex.EncodeToString(sum[:])+"\n") {
		t.Fatal("e2e/testdata/apiclient/client.mjs is not made of docs/openapi.json: make api-client")
	}
	node := sshtest.Require(t, "node")
	hosts := 10
	if os.Getenv("BRINE_SOAK") != "" {
		hosts = 100
	}
	dir := t.TempDir()
	p, _, gate := pagesOverSSH(t, dir, hosts, hosts, "", "web3", "web7")
	ann, ben := p.program("ann", "--role", "editor"), p.program("ben", "--role", "operator")
	p.serve("--tokens", p.tokens())

	c := exec.CommandContext(t.Context(), node, "e2e/testdata/apiclient/script.mjs", p.base)
	c.Env = append(os.Environ(), "EDITOR_TOKEN="+ann.secret, "OPERATOR_TOKEN="+ben.secret)
	var out bytes.Buffer
	c.Stdout = &out
	messages, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(messages)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if lines.Text() != "watching" {
			continue
		}
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		_ = p.cmd.Wait()
		p.serve("--tokens", p.tokens(), "--listen", strings.TrimPrefix(p.base, "http://"))
		if _, err := gate.WriteString(strings.Repeat("\n", 2*hosts)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s\nthe server: %s", err, strings.Join(said, "\n"), p.errs)
	}
	var got struct {
		Hosts, Done int
		Failed      []string
		Output      []string
		Stopped     string
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	slices.Sort(got.Failed)
	if got.Hosts != hosts || got.Done != hosts || !slices.Equal(got.Failed, []string{"web3", "web7"}) || !strings.Contains(strings.Join(got.Output, ""), "disk is full") || !slices.Contains([]string{"stopped", "refused", "interrupted"}, got.Stopped) {
		t.Errorf("the script found %s", out.Bytes())
	}
	ran := strings.Fields(read(t, dir+"/ran"))
	if slices.Sort(ran); len(ran) != hosts || len(slices.Compact(slices.Clone(ran))) != hosts {
		t.Errorf("the step ran on %d hosts: %s", len(ran), ran)
	}
}
