package pytext

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

var update = flag.Bool("update", false, "write charnames.gz again")

// TestCharNames compares the table of names with the one that it is made of.
func TestCharNames(t *testing.T) {
	t.Parallel()
	type named struct {
		r    rune
		name string
	}
	var want []named
	for r := rune(0); r <= unicode.MaxRune; r++ {
		// <control>, <CJK Ideograph>: none of its own.
		if name := runenames.Name(r); name != "" && name[0] != '<' {
			want = append(want, named{r, name})
		}
	}
	if *update {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		last := named{-1, ""}
		for _, n := range want {
			if step := n.r - last.r; step != 1 {
				fmt.Fprintf(z, "%x\t", step)
			}
			k := 0
			for k < len(last.name) && k < len(n.name) && last.name[k] == n.name[k] {
				k++
			}
			fmt.Fprintf(z, "%c%s\n", '!'+k, n.name[k:])
			last = n
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("charnames.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		charNames = b.Bytes()
	}
	var got []named
	eachCharName(func(r rune, name string) bool {
		got = append(got, named{r, name})
		return true
	})
	if !slices.Equal(got, want) {
		t.Error("charnames.gz differs from golang.org/x/text/unicode/runenames: go test ./internal/py/jinja/pytext -run TestCharNames -update")
	}
	for name, r := range map[string]rune{"LATIN SMALL LETTER E WITH ACUTE": 'é', "snowman": '☃', "PILE OF POO": '💩', "SPACE": ' '} {
		if c, ok := RuneByName(name); !ok || c != r {
			t.Errorf("%s is %q, %v", name, c, ok)
		}
	}
	if c, ok := RuneByName("NOBODY"); ok {
		t.Errorf("NOBODY is %q", c)
	}
}
