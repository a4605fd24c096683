package sshconf

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Expand returns a path with ~, tokens and ${VARIABLES} filled in. A token that
// ssh does not know, or a variable that is not set, is an error: the path would
// be another file's.
func (r *Reader) Expand(p string, t Target) (string, error) {
	p, err := r.Tilde(p)
	if err != nil {
		return "", err
	}
	return r.expand(p, func(c byte) (string, bool) { return r.token(t, c) })
}

// Fill returns a command with its tokens filled in, each of which check may
// refuse.
func (r *Reader) Fill(command string, t Target, check func(token byte, text string) error) (string, error) {
	var bad error
	line, err := fill(command, func(c byte) (string, bool) {
		text, ok := r.token(t, c)
		if ok && bad == nil {
			bad = check(c, text)
		}
		return text, ok
	})
	if err == nil {
		err = bad
	}
	return line, err
}

// Words returns the words of a command with their tokens filled in, also those
// of more.
func (r *Reader) Words(command string, t Target, more map[byte]string) ([]string, error) {
	words, ok := split(command)
	if !ok || len(words) == 0 {
		return nil, fmt.Errorf("%s: missing closing quote", command)
	}
	for i, w := range words {
		var err error
		if words[i], err = fill(w, func(c byte) (string, bool) {
			if text, ok := more[c]; ok {
				return text, true
			}
			return r.token(t, c)
		}); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// Env fills in the ${VARIABLES} of a value.
func (r *Reader) Env(s string) (string, error) { return r.expand(s, nil) }

// expand fills in tokens, where there are any, and variables, in one pass.
func (r *Reader) expand(s string, token func(c byte) (string, bool)) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			name, _, ok := strings.Cut(s[i+2:], "}")
			if !ok || !envName(name) {
				return "", fmt.Errorf("%s: invalid environment variable", s)
			}
			v, ok := "", false
			if r.m.Getenv != nil {
				v, ok = r.m.Getenv(name)
			}
			if !ok {
				return "", fmt.Errorf("%s: the environment variable %s is not set", s, name)
			}
			b.WriteString(v)
			i += len(name) + 2
		case s[i] == '%' && token != nil:
			i++
			text, err := tokenAt(s, i, token)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

func tokenAt(s string, i int, token func(c byte) (string, bool)) (string, error) {
	if i >= len(s) {
		return "", fmt.Errorf("%s ends within a token", s)
	}
	if s[i] == '%' {
		return "%", nil
	}
	text, ok := token(s[i])
	if !ok {
		return "", fmt.Errorf("%s: unknown token %%%c", s, s[i])
	}
	return text, nil
}

// fill fills in tokens alone.
func fill(s string, token func(c byte) (string, bool)) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		i++
		text, err := tokenAt(s, i, token)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func envName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// Tilde resolves ~ and ~user at the beginning of a path.
func (r *Reader) Tilde(p string) (string, error) {
	rest, ok := strings.CutPrefix(p, "~")
	if !ok {
		return p, nil
	}
	user, rest, _ := strings.Cut(rest, "/")
	home := r.m.Home
	if user != "" {
		ok := false
		if r.m.HomeOf != nil {
			home, ok = r.m.HomeOf(user)
		}
		if !ok {
			return "", fmt.Errorf("%s: there is no user %s", p, user)
		}
	}
	return path.Join(home, rest), nil
}

// glob returns the paths that a pattern means, sorted, as glob(3) does: what
// begins with a dot is matched by a dot only.
func glob(readDir func(string) ([]string, error), pattern string) []string {
	pattern = path.Clean(pattern)
	if readDir == nil {
		if strings.ContainsAny(pattern, `*?[\`) {
			return nil
		}
		return []string{pattern}
	}
	at := []string{"/"}
	for part := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		var next []string
		for _, dir := range at {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, path.Join(dir, part))
				continue
			}
			names, err := readDir(dir)
			if err != nil {
				continue
			}
			slices.Sort(names)
			for _, n := range names {
				if n[0] == '.' && part[0] != '.' {
					continue
				}
				if ok, err := path.Match(strings.ReplaceAll(part, "[!", "[^"), n); ok && err == nil {
					next = append(next, path.Join(dir, n))
				}
			}
		}
		at = next
	}
	return at
}

// address reports whether a host is an IP address, and how it is written.
func address(host string) (string, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		if plain := a.String(); !strings.EqualFold(plain, host) {
			return plain, true
		}
		return host, true
	}
	if strings.Trim(host, "0123456789.") != "" || host == "" {
		return "", false
	}
	// The short forms: 127.1, 2130706433. Octal parts are read as such.
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return "", false
		}
		if last := i == len(parts)-1; last {
			if n >= 1<<(8*(4-uint(i))) {
				return "", false
			}
			sum += n
		} else {
			if n > 255 {
				return "", false
			}
			sum += n << (8 * (3 - uint(i)))
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}).String(), true
}
