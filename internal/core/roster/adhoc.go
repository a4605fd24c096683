package roster

import (
	"errors"
	"fmt"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An Address is a target that a command line names by how it is reached.
type Address struct {
	Text       string // as it was given
	User, Host string
	Port       int // 0: not given
}

// ParseAddress reads user@host, user@host:port and user@[address]:port,
// optionally after "ssh://". ok is false for text without an @, which is not an
// address.
func ParseAddress(s string) (a Address, ok bool, err error) {
	text := strings.TrimPrefix(s, "ssh://")
	i := strings.LastIndexByte(text, '@')
	if i < 0 || strings.ContainsAny(text[:i], "*?[] \t") { // a glob
		return a, false, nil
	}
	host, num := text[i+1:], ""
	switch end := strings.IndexByte(host, ']'); {
	case strings.HasPrefix(host, "[") && end > 0:
		host, num = host[1:end], strings.TrimPrefix(host[end+1:], ":")
		if text[len(text)-1] != ']' && num == "" {
			return a, true, fmt.Errorf("%q: a port follows the colon", s)
		}
	case strings.Count(host, ":") == 1:
		host, num, _ = strings.Cut(host, ":")
		if num == "" {
			return a, true, fmt.Errorf("%q: a port follows the colon", s)
		}
	}
	a = Address{Text: s, User: text[:i], Host: host}
	if a.User == "" {
		return a, true, fmt.Errorf("%q: the user is missing in front of @", s)
	}
	if host == "" || strings.ContainsAny(host, "*?[]/ \t\n\r\x00") || strings.HasPrefix(host, "-") {
		return a, true, fmt.Errorf("%q: %q is not a host", s, host)
	}
	if num != "" {
		if a.Port, err = port(num); err != nil {
			return a, true, fmt.Errorf("%q: %w", s, err)
		}
	}
	return a, true, nil
}

// ID is the id of the target: its host.
func (a Address) ID() string { return a.Host }

// adHoc adds a target that the command line names. Where the roster has the host
// as an id, its entry holds, with the user and the port that were given. Where an
// id is the very text, that one is meant.
func (l *loader) adHoc(a Address) error {
	if l.r.index[a.Text] != nil {
		return nil
	}
	pos := source.Pos{File: "command line"}
	if e := l.r.index[a.ID()]; e != nil && !e.adHoc {
		e.adHoc = true
		e.User = a.User
		if a.Port != 0 {
			e.Port = a.Port
		}
		return nil
	} else if e != nil {
		return errors.New("the host " + a.Host + " is named twice")
	}
	data := value.MapOf("host", a.Host, "user", a.User)
	if a.Port != 0 {
		data.Set("port", int64(a.Port))
	}
	l.add(a.ID(), data, pos)
	l.r.index[a.ID()].adHoc = true
	return nil
}

// Lines are the lines of a flat roster for an address.
func (a Address) Lines() string {
	s := fmt.Sprintf("%s:\n  host: %s\n  user: %s\n", yamlText(a.ID()), yamlText(a.Host), yamlText(a.User))
	if a.Port != 0 {
		s += fmt.Sprintf("  port: %d\n", a.Port)
	}
	return s
}

// yamlText is text as YAML and Jinja leave it alone.
func yamlText(s string) string {
	for _, c := range s {
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
	}
	if strings.Trim(s, "0123456789._-") == "" {
		return "'" + s + "'"
	}
	return s
}
