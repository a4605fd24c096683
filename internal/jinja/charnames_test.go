package jinja

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

var update = flag.Bool("update", false, "write charnames.gz anew")

// TestCharNames compares the table of names with the one that it is made of.
func TestCharNames(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	last := rune(-1)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		name := runenames.Name(r)
		if name == "" || name[0] == '<' { // <control>, <CJK Ideograph>: none of its own
			continue
		}
		fmt.Fprintf(&want, "%x;%s\n", r-last, name)
		last = r
	}
	if *update {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(z, want.String()); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("charnames.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		charNames = b.Bytes()
	}
	z, err := gzip.NewReader(bytes.NewReader(charNames))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Error("charnames.gz differs from golang.org/x/text/unicode/runenames: go test ./internal/jinja -run TestCharNames -update")
	}
	for name, r := range map[string]rune{"LATIN SMALL LETTER E WITH ACUTE": 'é', "snowman": '☃', "PILE OF POO": '💩', "SPACE": ' '} {
		if c, ok := runeByName(name); !ok || c != r {
			t.Errorf("%s is %q, %v", name, c, ok)
		}
	}
	if c, ok := runeByName("NOBODY"); ok {
		t.Errorf("NOBODY is %q", c)
	}
}
