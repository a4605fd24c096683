// Package version says which brine a program is.
package version

import (
	"bytes"
	"runtime/debug"
	"strings"
)

// stamp stands as it is in every brine, so that a file can be told to be one of
// a version without being run. A release changes it here.
const stamp = "brine-version=0.1.0;"

// Module is the path of the Go module, that of go.mod: .ci/module changes it.
const Module = "brine"

// Number is brine's own version.
func Number() string {
	_, n, _ := strings.Cut(stamp, "=")
	return strings.TrimSuffix(n, ";")
}

// Stamp is the text by which [Scanner] knows a brine.
func Stamp() string { return stamp }

// Revision names the commit that the program was built from, " (0123456789ab)", or,
// where "go install" built it, the version of the module, " (v1.2.3)"; "" where Go
// knows neither.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return revision(info)
}

func revision(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return " (" + s.Value[:12] + ")"
		}
	}
	if v := info.Main.Version; strings.HasPrefix(v, "v") {
		return " (" + v + ")"
	}
	return ""
}

// longest is the most that a version has of bytes.
const longest = 40

// A Scanner finds the version of a brine among the bytes written to it.
type Scanner struct {
	found string
	rest  []byte // the end of what was written before
}

// Write looks through b. It never fails.
func (s *Scanner) Write(b []byte) (int, error) {
	if s.found != "" {
		return len(b), nil
	}
	// The mark is not spelt out anywhere else, or it would be found there.
	mark := []byte(stamp[:strings.IndexByte(stamp, '=')+1])
	overlap := len(mark) + longest + 1
	head := append(s.rest, b[:min(len(b), overlap)]...)
	for _, text := range [][]byte{head, b} {
		for {
			i := bytes.Index(text, mark)
			if i < 0 {
				break
			}
			text = text[i+len(mark):]
			if n := bytes.IndexByte(text[:min(len(text), longest+1)], ';'); n > 0 && plain(text[:n]) {
				s.found = string(text[:n])
				return len(b), nil
			}
		}
	}
	if len(b) >= overlap {
		s.rest = append(s.rest[:0], b[len(b)-overlap:]...)
	} else {
		s.rest = append(s.rest[:0], head[max(0, len(head)-overlap):]...)
	}
	return len(b), nil
}

// Found is the version, "" where there is none.
func (s *Scanner) Found() string { return s.found }

func plain(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return true
}
