package agent

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

func sumOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func newCache(t *testing.T, dir string) (*cache, *[]string) {
	t.Helper()
	said := &[]string{}
	return openCache(host.NewLocal(), dir, func(msg string, args ...any) { *said = append(*said, fmt.Sprint(msg, args)) }), said
}

func read(t *testing.T, c *cache, sum string) string {
	t.Helper()
	f, err := c.open(sum, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCacheKeepsByContent(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"disk": filepath.Join(t.TempDir(), "a", "cache"), "memory": ""} {
		c, said := newCache(t, dir)
		if len(*said) != 0 {
			t.Errorf("%s: %v", name, *said)
		}
		sum, n, err := c.put(strings.NewReader("hello"))
		if err != nil || sum != sumOf("hello") || n != 5 {
			t.Fatalf("%s: put = %s, %d, %v", name, sum, n, err)
		}
		if got := read(t, c, sum); got != "hello" || !c.has(sum, -1) {
			t.Errorf("%s: got %q", name, got)
		}
		for _, bad := range []string{sumOf("other"), "", "../../etc/passwd", strings.ToUpper(sum), sum[:63] + "/"} {
			if _, err := c.open(bad, -1); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: open %q: %v", name, bad, err)
			}
		}
		broken := errors.New("broken")
		if _, _, err := c.put(io.MultiReader(strings.NewReader("part"), errReader{broken})); !errors.Is(err, broken) || errors.Is(err, errNoRoom) {
			t.Errorf("%s: put of a broken stream: %v", name, err)
		}
		if c.has(sumOf("part"), -1) {
			t.Errorf("%s: part of a file is kept", name)
		}
	}
	c, _ := newCache(t, "")
	if _, _, err := c.put(io.LimitReader(zeros{}, maxMemory+1)); !errors.Is(err, errNoRoom) {
		t.Errorf("more than fits in memory: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCacheDirectoryMustBeTheUsersOwn(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	file := filepath.Join(base, "file")
	open := filepath.Join(base, "open")
	link := filepath.Join(base, "link")
	loose := filepath.Join(base, "loose")
	for _, err := range []error{
		os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Symlink(t.TempDir(), link), os.Mkdir(loose, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{file, open, link, "relative", file + "/below"} {
		c, said := newCache(t, dir)
		if c.dir != "" || len(*said) != 1 {
			t.Errorf("%s is used (%v)", dir, *said)
		}
		if sum, _, err := c.put(strings.NewReader("x")); err != nil || read(t, c, sum) != "x" {
			t.Errorf("%s: without a directory small files are not kept: %v", dir, err)
		}
	}
	if c, _ := newCache(t, loose); c.dir == "" {
		t.Error("a directory that others can only read is not used")
	}
	if st, err := os.Stat(loose); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("its mode is %v, %v", st.Mode(), err)
	}
}

func TestCacheDoesNotTrustWhatLiesThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c, _ := newCache(t, dir)
	sum, _, err := c.put(strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	// A link in its place, and a file of another size.
	p := c.path(sum)
	_ = os.Remove(p)
	if err := os.Symlink("/etc/passwd", p); err != nil {
		t.Fatal(err)
	}
	if c.has(sum, -1) {
		t.Error("a link counts as the file")
	}
	_ = os.Remove(p)
	if err := os.WriteFile(p, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.has(sum, 7) {
		t.Error("a file of another size counts")
	}
	tree := &wire.Tree{Envs: []*wire.TreeEnv{{Name: "base"}}}
	b, id, err := tree.Encode()
	if err != nil {
		t.Fatal(err)
	}
	c.putTree(id, b)
	if got, ok := c.tree(id); !ok || string(got) != string(b) || len(c.trees()) != 1 {
		t.Error("a tree is not kept")
	}
	if err := os.WriteFile(filepath.Join(dir, "trees", id), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.tree(id); ok {
		t.Error("a tree of another content is taken")
	}
}

func TestPruneTakesTheOldest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c, _ := newCache(t, dir)
	var sums []string
	now := time.Now()
	for i := range 5 {
		sum, _, err := c.put(strings.NewReader(strings.Repeat("x", 100+i)))
		if err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(i) * time.Hour)
		if err := os.Chtimes(c.path(sum), at, at); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	var all []host.Stat
	for _, s := range sums {
		all = append(all, c.stats(filepath.Dir(c.path(s)))...)
	}
	c.drop(all, 4, 310)
	for i, want := range []bool{true, true, true, false, false} {
		if c.has(sums[i], -1) != want {
			t.Errorf("file %d is there: %v", i, !want)
		}
	}
	stale := filepath.Join(dir, "files", "tmp-1-1")
	fresh := filepath.Join(dir, "files", "tmp-2-1")
	for _, p := range []string{stale, fresh} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := now.Add(-48 * time.Hour)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	c.prune()
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an old temporary file is left")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a temporary file of another agent is gone")
	}
}

// A sealed file is taken where its content is the one that the controller speaks of,
// and does not stay.
func TestUnseal(t *testing.T) {
	t.Parallel()
	c, _ := newCache(t, filepath.Join(t.TempDir(), "cache"))
	key := bytes.Repeat([]byte{7}, 32)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	sealed := []byte("a secret")
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(sealed, sealed)
	for _, tt := range []struct{ name, file, text, key, sum, want string }{
		{"good", "abc2", string(sealed), hex.EncodeToString(key), sumOf("a secret"), ""},
		{"changed", "abc2", "X" + string(sealed[1:]), hex.EncodeToString(key), sumOf("a secret"), "not what was sent"},
		{"other key", "abc2", string(sealed), strings.Repeat("0", 64), sumOf("a secret"), "not what was sent"},
		{"no key", "abc2", string(sealed), "", sumOf("a secret"), "invalid key size"},
		{"not there", "", "", hex.EncodeToString(key), sumOf("a secret"), "no such file"},
		{"elsewhere", "../abc", string(sealed), hex.EncodeToString(key), sumOf("a secret"), "not what was sent"},
	} {
		name := tt.file
		if name == "" {
			name = "none"
		} else if err := os.MkdirAll(filepath.Join(c.dir, "files"), 0o700); err != nil {
			t.Fatal(err)
		} else if err := os.WriteFile(filepath.Join(c.dir, "files", filepath.Base("tmp-"+name)), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum, n, err := c.unseal(value.MapOf("sealed", name, "key", tt.key, "sum", tt.sum))
		switch {
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		case tt.want == "" && (err != nil || sum != sumOf("a secret") || n != 8 || read(t, c, sum) != "a secret"):
			t.Errorf("%s: %s, %d, %v", tt.name, sum, n, err)
		}
		_ = os.Remove(filepath.Join(c.dir, "files", "abc"))
	}
	left, err := filepath.Glob(filepath.Join(c.dir, "files", "tmp-*"))
	if err != nil || len(left) > 1 { // the one of the refused key, which is removed when it is old
		t.Errorf("left: %v, %v", left, err)
	}
}
