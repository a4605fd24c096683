package pytext

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strconv"
	"strings"
)

// charNames has a line for each named character: the distance from the one
// before, in hexadecimal with a tab, unless that is one; the length of the prefix
// that the two names share, counted from "!"; the rest of the name. It is
// compressed, since the table of golang.org/x/text/unicode/runenames, which it is
// made from, takes ten times the space, and few templates need it. TestCharNames
// compares the two.
//
//go:embed charnames.gz
var charNames []byte

// RuneByName finds a character by its Unicode name, as \N{...} asks.
func RuneByName(name string) (rune, bool) {
	name = strings.ToUpper(name)
	found, ok := rune(0), false
	eachCharName(func(r rune, of string) bool {
		if of == name {
			found, ok = r, true
		}
		return !ok
	})
	return found, ok
}

// eachCharName calls yield for each character with a name, until that is false.
func eachCharName(yield func(r rune, name string) bool) {
	z, err := gzip.NewReader(bytes.NewReader(charNames))
	if err != nil {
		return
	}
	r, name := rune(-1), ""
	for lines := bufio.NewScanner(z); lines.Scan(); {
		line := lines.Text()
		n := int64(1)
		if step, rest, ok := strings.Cut(line, "\t"); ok {
			if n, err = strconv.ParseInt(step, 16, 32); err != nil {
				return
			}
			line = rest
		}
		common := int(line[0] - '!')
		r, name = r+rune(n), name[:common]+line[1:]
		if !yield(r, name) {
			return
		}
	}
}
