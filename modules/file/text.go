package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/modules/cp"
)

// A Content is what is in a file or shall be: text in memory, or a file that
// is read when it is needed, since it may be large.
type Content struct {
	text []byte
	open func() (io.ReadCloser, error)
}

// Text is a content in memory.
func Text(b []byte) *Content { return &Content{text: b} }

// FileAt is the content of a file on this machine.
func (f *FS) FileAt(path string) *Content {
	return &Content{open: func() (io.ReadCloser, error) { return f.Open(path) }}
}

// Open returns a reader of the content; the caller closes.
func (c *Content) Open() (io.ReadCloser, error) {
	if c.open == nil {
		return io.NopCloser(bytes.NewReader(c.text)), nil
	}
	return c.open()
}

// Bytes returns the whole content.
func (c *Content) Bytes() ([]byte, error) {
	if c.open == nil {
		return c.text, nil
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Sum returns the hex digest.
func (c *Content) Sum(algo string) (string, error) {
	h, err := cp.NewHash(algo)
	if err != nil {
		return "", err
	}
	r, err := c.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// head returns the first n bytes.
func (c *Content) head(n int) ([]byte, error) {
	r, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, n)
	k, err := io.ReadFull(r, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return b[:k], nil
}

// equal reports whether two contents are the same.
func (c *Content) equal(o *Content) (bool, error) {
	a, err := c.Open()
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := o.Open()
	if err != nil {
		return false, err
	}
	defer b.Close()
	bufA, bufB := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
		}
		if errA != nil {
			return true, nil
		}
	}
}

// textBlock is how much of a file [IsText] judges by.
const textBlock = 512

// IsText reports whether a file that begins with block is text: without NUL
// and UTF-8, or at most 30 % other than printable ASCII.
//
// Salt: salt/utils/files.py is_text.
func IsText(block []byte) bool {
	block = block[:min(len(block), textBlock)]
	if bytes.IndexByte(block, 0) >= 0 {
		return false
	}
	if len(block) == 0 || utf8.Valid(block) {
		return true
	}
	odd := 0
	for _, c := range block {
		if (c < 32 || c > 126) && strings.IndexByte("\n\r\t\f\b", c) < 0 {
			odd++
		}
	}
	return float64(odd)/float64(len(block)) <= 0.30
}

// IsText reports whether a content is text.
func (c *Content) IsText() (bool, error) {
	b, err := c.head(textBlock)
	return IsText(b), err
}

// Diff returns the unified diff of two contents, "" where they are equal, or
// what there is to say of binary ones. names, two of them, stand in the head.
//
// Salt: get_diff, _binary_replace.
func Diff(a, b *Content, names ...string) (string, error) {
	if same, err := a.equal(b); same || err != nil {
		return "", err
	}
	textA, err := a.IsText()
	if err != nil {
		return "", err
	}
	textB, err := b.IsText()
	if err != nil {
		return "", err
	}
	switch {
	case !textA && !textB:
		return "Replace binary file", nil
	case !textA:
		return "Replace binary file with text file", nil
	case !textB:
		return "Replace text file with binary file", nil
	}
	old, err := a.Bytes()
	if err != nil {
		return "", err
	}
	now, err := b.Bytes()
	if err != nil {
		return "", err
	}
	from, to := "", ""
	if len(names) == 2 {
		from, to = names[0], names[1]
	}
	return difflib.String(decoded(old), decoded(now), from, to), nil
}

// decoded returns the lines of a file; a line that is not UTF-8 is read as
// Latin-1.
func decoded(b []byte) []string { return decodedLines(difflib.SplitLines(string(b))) }

func decodedLines(raw []string) []string {
	lines := slices.Clone(raw)
	for i, l := range lines {
		if !utf8.ValidString(l) {
			rs := make([]rune, len(l))
			for j := range len(l) {
				rs[j] = rune(l[j])
			}
			lines[i] = string(rs)
		}
	}
	return lines
}

// byteLines splits text after each \n, \r\n and \r, as Python's
// bytes.splitlines(True).
func byteLines(s string) []string {
	var lines []string
	for _, l := range difflib.SplitLines(s) {
		for {
			i := strings.IndexByte(l, '\r')
			if i < 0 || i+1 == len(l) || l[i+1:] == "\n" {
				break
			}
			lines, l = append(lines, l[:i+1]), l[i+1:]
		}
		lines = append(lines, l)
	}
	return lines
}

// SplitLines splits text at every line boundary that Python's str.splitlines
// knows; the boundaries stay where keep is set.
func SplitLines(s string, keep bool) []string {
	var lines []string
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		case '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				n = 2
			}
		default:
			i += n
			continue
		}
		end := i
		if keep {
			end += n
		}
		lines = append(lines, s[start:end])
		i += n
		start = i
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// readText reads a file that is to be edited as text.
func (f *FS) readText(p string) (string, error) {
	b, err := f.ReadFile(p)
	if err != nil {
		return "", fun.Errorf("Unable to open file '%s'. Exception: %s", p, host.OSError(err))
	}
	return string(b), nil
}

// Write replaces the content of a file atomically; mode and owner stay.
func (f *FS) Write(p, text string) error {
	return f.WriteFile(p, strings.NewReader(text), host.WriteOptions{FollowLinks: true})
}
