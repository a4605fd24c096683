package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// sopsStandIn encrypts a file that is JSON, and decrypts it again, with the command
// lines of sops and a cipher that is none.
const sopsStandIn = `#!/bin/sh
for file; do :; done
case $1 in
--encrypt) printf '{"sops": {"mac": "x"}, "data": "%s"}\n' "$(base64 -w0 "$file")" ;;
--decrypt) sed -n 's/.*"data": "\(.*\)".*/\1/p' "$file" | base64 -d ;;
esac
`

// TestCookbook runs docs/cookbook.md, with stand-ins for sops and Vault. It has as
// many recipes as it promises.
func TestCookbook(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "gpg")
	const page = "docs/cookbook.md"
	text := read(t, page)
	if n := len(regexp.MustCompile(`(?m)^### `).FindAllString(text, -1)); n < 30 {
		t.Errorf("%s has %d recipes", page, n)
	}
	vault := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, id, _ := strings.Cut(r.URL.Path, "/minions/")
		switch {
		case r.Header.Get("X-Vault-Token") != "t1":
			w.WriteHeader(http.StatusForbidden)
		case strings.HasPrefix(r.URL.Path, "/v1/sys/internal/ui/mounts/"):
			fmt.Fprint(w, `{"data": {"path": "secret/", "options": {"version": "2"}}}`)
		case strings.HasPrefix(r.URL.Path, "/v1/secret/data/"):
			fmt.Fprintf(w, `{"data": {"data": {"certificate": "of %s"}}}`, id)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(vault.Close)
	cmds, err := docCommands(text)
	if err != nil || len(cmds) == 0 {
		t.Fatalf("commands of %s: %v, %v", page, cmds, err)
	}
	for i := range cmds {
		cmds[i].text = strings.ReplaceAll(cmds[i].text, "https://vault.example.com:8200", vault.URL)
	}
	brine, err := exec.LookPath("brine")
	if err != nil {
		t.Fatal(err)
	}
	runDoc(t, page, brine, cmds, func(string) []string {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "sops"), []byte(sopsStandIn), 0o755); err != nil {
			t.Fatal(err)
		}
		return []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	})
}
