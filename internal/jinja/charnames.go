package jinja

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strconv"
	"strings"
)

// charNames is a line for each character that has a name of its own: how far it
// stands behind the one before, in hexadecimal, and the name; compressed, since
// the table of golang.org/x/text/unicode/runenames that it is made of takes
// seven times the room and hardly a template asks. TestCharNames compares the two.
//
//go:embed charnames.gz
var charNames []byte

// runeByName finds a character by its Unicode name, as \N{...} asks.
func runeByName(name string) (rune, bool) {
	name = strings.ToUpper(name)
	z, err := gzip.NewReader(bytes.NewReader(charNames))
	if err != nil {
		return 0, false
	}
	r := rune(-1)
	for lines := bufio.NewScanner(z); lines.Scan(); {
		step, of, _ := strings.Cut(lines.Text(), ";")
		n, err := strconv.ParseInt(step, 16, 32)
		if err != nil {
			return 0, false
		}
		r += rune(n)
		if of == name {
			return r, true
		}
	}
	return 0, false
}
