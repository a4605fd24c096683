package roster

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/kevinburke/ssh_config"

	"brine/internal/source"
	"brine/internal/value"
)

// maxIncludes bounds files that include files.
const maxIncludes = 16

// sshConfig makes an entry of each host that a file names without a wildcard.
// Its host is that name, so that the rest of ssh_config holds for it too when it
// is dialled. User, port and key are those that ssh takes: the first that is
// found.
// Salt: salt/roster/sshconfig.py, where a later one counts.
func (l *loader) sshConfig(file string) error {
	b, err := l.o.Files.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read ssh configuration: %w", err)
	}
	cfg, err := ssh_config.Decode(bytes.NewReader(b))
	if err != nil {
		// Match exec and its like: the names serve, and what else is said of
		// them holds when they are dialled.
		l.warn(source.Pos{File: file}, "only the names of hosts are taken: %v", err)
		cfg = nil
	}
	for _, h := range l.sshHosts(file, b, 0) {
		data := value.MapOf("host", h.name)
		if cfg != nil {
			for _, f := range [][2]string{{"user", "User"}, {"port", "Port"}, {"priv", "IdentityFile"}} {
				if v, err := cfg.Get(h.name, f[1]); err == nil && v != "" {
					data.Set(f[0], v)
				}
			}
		}
		if _, ok := l.r.index[h.name]; ok && h.again {
			continue
		}
		l.add(h.name, data, h.pos)
	}
	return nil
}

type sshHost struct {
	name  string
	pos   source.Pos
	again bool // it was named in the same configuration before
}

// sshHosts returns the hosts that the Host lines of a file name, and those of
// the files that it includes.
func (l *loader) sshHosts(file string, b []byte, depth int) []sshHost {
	var out []sshHost
	seen := map[string]bool{}
	put := func(h sshHost) {
		h.again = h.again || seen[h.name]
		seen[h.name] = true
		out = append(out, h)
	}
	for i, line := range strings.Split(string(b), "\n") {
		words := sshWords(line)
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "host":
			for _, w := range words[1:] {
				if w == "" || strings.ContainsAny(w, "*?! \t") || strings.HasPrefix(w, "-") {
					continue
				}
				put(sshHost{name: w, pos: source.Pos{File: file, Line: i + 1, Col: strings.Index(line, w) + 1}})
			}
		case "include":
			if depth >= maxIncludes {
				l.warn(source.Pos{File: file, Line: i + 1}, "more than %d files include each other", maxIncludes)
				continue
			}
			for _, h := range l.includedHosts(file, words[1:], depth) {
				put(h)
			}
		}
	}
	return out
}

// includedHosts returns the hosts of the files that an include names.
func (l *loader) includedHosts(file string, patterns []string, depth int) []sshHost {
	var out []sshHost
	for _, p := range patterns {
		for _, sub := range l.included(file, p) {
			if b, err := l.o.Files.ReadFile(sub); err == nil {
				out = append(out, l.sshHosts(sub, b, depth+1)...)
			}
		}
	}
	return out
}

// included returns the files that an Include means. Relative names are beside
// the file, which is where ssh looks for those of a user's configuration.
func (l *loader) included(file, pattern string) []string {
	dir := path.Dir(file)
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = path.Join(path.Dir(dir), rest)
	}
	if !path.IsAbs(pattern) {
		pattern = path.Join(dir, pattern)
	}
	if !value.HasGlob(path.Base(pattern)) {
		return []string{pattern}
	}
	var out []string
	names, _ := l.o.Files.ReadDir(path.Dir(pattern))
	for _, n := range names {
		if ok, err := path.Match(path.Base(pattern), n); ok && err == nil {
			out = append(out, path.Join(path.Dir(pattern), n))
		}
	}
	return out
}

// sshWords cuts a line of ssh_config: keyword, an optional "=", and words that
// may be in double quotes.
func sshWords(line string) []string {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t=")
	if line == "" || line[0] == '#' || end < 0 {
		return nil
	}
	words := []string{line[:end]}
	rest := strings.TrimLeft(line[end:], " \t")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "="), " \t")
	for rest != "" && rest[0] != '#' {
		if rest[0] == '"' {
			word, after, _ := strings.Cut(rest[1:], `"`)
			words = append(words, word)
			rest = strings.TrimLeft(after, " \t")
			continue
		}
		n := strings.IndexAny(rest, " \t")
		if n < 0 {
			n = len(rest)
		}
		words = append(words, rest[:n])
		rest = strings.TrimLeft(rest[n:], " \t")
	}
	return words
}
