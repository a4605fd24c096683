package saltjinja

import (
	"encoding/hex"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"brine/internal/py/digest"
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// pathText is a path as text; bytes are read as UTF-8.
func pathText(v value.Value) (string, error) {
	if err := jinja.Defined(v); err != nil {
		return "", err
	}
	if s, ok := value.AsText(v); ok {
		return s, nil
	}
	if b, ok := v.(value.Bytes); ok {
		return string(b), nil
	}
	return "", notText(v)
}

// filterPathJoin joins paths; all but the first count as relative.
// Salt: salt/utils/path.py join.
func filterPathJoin(c *jinja.Call) (value.Value, error) {
	if c.Kw.Len() > 0 {
		for k := range c.Kw.All() {
			if k != "use_posixpath" {
				return nil, value.Raise("TypeError", "join() got an unexpected keyword argument %s", value.Repr(k))
			}
		}
	}
	parts := make([]string, len(c.Args))
	for i, v := range c.Args {
		p, err := pathText(v)
		if err != nil {
			return nil, err
		}
		if parts[i] = normPath(p); i > 0 {
			parts[i] = strings.TrimLeft(parts[i], "/")
		}
	}
	joined := ""
	for i, p := range parts {
		if i > 0 && !strings.HasSuffix(joined, "/") {
			joined += "/"
		}
		joined += p
	}
	return normPath(joined), nil
}

// normPath is os.path.normpath: two leading slashes stay two.
func normPath(p string) string {
	if p == "" {
		return "."
	}
	n := path.Clean(p)
	if strings.HasPrefix(p, "//") && !strings.HasPrefix(p, "///") {
		n = "/" + n
		if n == "//" {
			return n
		}
	}
	return n
}

func (m machine) which(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("which", 0, "exe?")
	if err != nil {
		return nil, err
	}
	v := pymethod.OrNil(a[0])
	if v == nil || v == "" {
		return nil, nil
	}
	name, err := pathText(v)
	if err != nil {
		return nil, err
	}
	h, err := m.ops()
	if err != nil {
		return nil, err
	}
	p, err := h.LookPath(name)
	if err != nil {
		return nil, nil // not found is None
	}
	return p, nil
}

func (m machine) uidOf(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("get_uid", 0, "user?")
	if err != nil {
		return nil, err
	}
	name := ""
	if v := pymethod.OrNil(a[0]); v != nil {
		if name, err = pathText(v); err != nil {
			return nil, err
		}
		if name == "" {
			return nil, nil
		}
	}
	h, err := m.ops()
	if err != nil {
		return nil, err
	}
	uid, err := h.LookupUser(name)
	if err != nil {
		return nil, nil // no such user is None
	}
	return int64(uid), nil
}

// fileHash returns the hash of a file. Salt: salt/utils/hashutils.py
// get_hash.
func (m machine) fileHash(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("get_hash", 0, "path", "form?", "chunk_size?")
	if err != nil {
		return nil, err
	}
	p, err := pathText(a[0])
	if err != nil {
		return nil, err
	}
	form := "sha256"
	if pymethod.Given(a[1]) {
		if form, err = wantText(a[1], "hasattr(): attribute name must be string, not '%s'"); err != nil {
			return nil, err
		}
	}
	sum := digest.New(form)
	if sum == nil {
		return nil, value.Raise("ValueError", "Invalid hash type: %s", form)
	}
	h, err := m.ops()
	if err != nil {
		return nil, err
	}
	if mode, _, err := h.Stat(p); err == nil && !mode.IsRegular() && !mode.IsDir() {
		return nil, value.Raise("OSError", "%s is a device, a pipe or a socket, whose reading may never end", value.QuoteStr(p))
	}
	f, err := h.Open(p)
	if err != nil {
		return nil, osError(p, err)
	}
	defer f.Close()
	if _, err := io.Copy(sum, reading{c.State, f}); err != nil {
		return nil, osError(p, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// reading reads within the time of a rendering.
type reading struct {
	s *jinja.State
	io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.s.Late(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// head returns the first n bytes of a file.
func head(h HostOps, p string, n int64) ([]byte, error) {
	f, err := h.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// listFiles returns a directory and all that is below it.
// Salt: salt/utils/files.py list_files; it gives them in no order, here they
// are in that of their names.
func (m machine) listFiles(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("list_files", 0, "directory")
	if err != nil {
		return nil, err
	}
	dir, err := pathText(a[0])
	if err != nil {
		return nil, err
	}
	h, err := m.ops()
	if err != nil {
		return nil, err
	}
	l := value.NewList(dir)
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		names, err := h.ReadDir(dir)
		if err != nil || depth > 100 {
			return nil // what cannot be read is passed over
		}
		if err := c.State.Late(); err != nil {
			return err
		}
		for _, n := range names {
			n, isDir := strings.CutSuffix(n, "/")
			p := strings.TrimSuffix(dir, "/") + "/" + n
			l.Append(p)
			if err := value.CheckItems(l.Len()); err != nil {
				return err
			}
			if isDir {
				if err := walk(p, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return l, walk(dir, 0)
}

func (m machine) fileKind(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(name, 0, "path")
		if err != nil {
			return nil, err
		}
		p, err := pathText(a[0])
		if err != nil {
			return nil, err
		}
		h, err := m.ops()
		if err != nil {
			return nil, err
		}
		mode, size, err := h.Stat(p)
		if err != nil {
			return false, nil
		}
		if strings.HasPrefix(name, "is_empty") {
			return size == 0, nil
		}
		if !mode.IsRegular() {
			return false, nil
		}
		n, guess := int64(2048), IsBinary
		if name == "is_text_file" {
			n, guess = 512, isText
		}
		b, err := head(h, p, n)
		if err != nil {
			return false, nil
		}
		return guess(b), nil
	}
}

// isText guesses by the first bytes of a file: with a NUL it is not text.
// UTF-8 is text, and so is data with at most three odd bytes in ten.
func isText(b []byte) bool {
	if strings.IndexByte(string(b), 0) >= 0 {
		return false
	}
	return utf8.Valid(b) || nonTextBytes(b)*10 <= len(b)*3
}

// IsBinary guesses for bytes that decode, and is sure of those that do not.
func IsBinary(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if !utf8.Valid(b) || strings.IndexByte(string(b), 0) >= 0 {
		return true
	}
	n, odd := 0, 0
	for _, r := range string(b) {
		n++
		if (r < 32 || r > 126) && !strings.ContainsRune("\n\r\t\b", r) {
			odd++
		}
	}
	return odd*10 > n*3
}

func nonTextBytes(b []byte) int {
	n := 0
	for _, c := range b {
		if (c < 32 || c > 126) && strings.IndexByte("\n\r\t\f\b", c) < 0 {
			n++
		}
	}
	return n
}
