package sshconf

import (
	"context"
	"crypto/sha1" // for %C, as in ssh
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A criterion is one condition of a Match line.
type criterion struct {
	name string // in lower case
	not  bool
	arg  string
}

// parseMatch reads the conditions of a Match line.
func parseMatch(s string) ([]criterion, error) {
	var out []criterion
	for s != "" {
		word, rest, ok := delim(s)
		if !ok {
			return nil, errors.New("missing closing quote")
		}
		if word == "" || word[0] == '#' {
			break
		}
		s = rest
		c := criterion{name: strings.ToLower(word)}
		if c.name, c.not = strings.CutPrefix(c.name, "!"); c.name == "all" {
			if len(out) > 1 || s != "" && s[0] != '#' { // ssh, too, takes one before it
				return nil, errors.New("all cannot be combined with other conditions of Match")
			}
			return append(out, c), nil
		}
		switch c.name {
		case "canonical", "final":
		case "host", "originalhost", "user", "localuser", "exec", "tagged":
			if c.arg, s, ok = delim(s); !ok {
				return nil, errors.New("missing closing quote")
			}
			if c.arg == "" || c.arg[0] == '#' {
				return nil, fmt.Errorf("Match %s has no value", c.name)
			}
		default:
			return nil, fmt.Errorf("unsupported condition of Match: %s", word)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("Match has no condition")
	}
	return out, nil
}

// asksFinal reports whether a Match line asks for a second pass.
func asksFinal(list []criterion) bool {
	return slices.ContainsFunc(list, func(c criterion) bool { return c.name == "final" })
}

// match reports whether a Match line holds.
func (p *pass) match(ctx context.Context, list []criterion) (bool, error) {
	host := p.orig
	if h := p.res.Get("hostname"); p.final {
		host = h
	} else if h != "" {
		var err error
		if host, err = hostName(h, p.orig); err != nil {
			return false, err
		}
	}
	user := cmpOr(p.res.Get("user"), p.m.User)
	p.wantFinal = p.wantFinal || !p.final && asksFinal(list)
	holds := true
	for _, c := range list {
		var r bool
		switch c.name {
		case "all":
			r = true
		case "final", "canonical":
			r = p.final
		case "host":
			r = matchList(strings.ToLower(host), strings.ToLower(c.arg))
		case "originalhost":
			r = matchList(strings.ToLower(p.orig), strings.ToLower(c.arg))
		case "user":
			r = matchList(user, c.arg)
		case "localuser":
			r = matchList(p.m.User, c.arg)
		case "tagged":
			r = matchList(p.res.Get("tag"), c.arg)
		case "exec":
			if !holds {
				continue
			}
			var err error
			if r, err = p.exec(ctx, c.arg, host, user); err != nil {
				return false, err
			}
		}
		if r == c.not {
			holds = false
		}
	}
	return holds, nil
}

// exec runs the command of a Match exec.
func (p *pass) exec(ctx context.Context, command, host, user string) (bool, error) {
	t := Target{
		Name: p.orig, Host: host, Port: cmpOr(p.res.Get("port"), "22"), User: user,
		Alias: cmpOr(p.res.Get("hostkeyalias"), host), Jump: p.res.Get("proxyjump"),
	}
	line, err := p.Fill(command, t, func(c byte, text string) error {
		if text != "" && !Harmless(text) {
			return fmt.Errorf("%q cannot stand in Match exec (%%%c): it has characters that a shell reads", text, c)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return p.run(ctx, line)
}

// Harmless reports whether a shell reads s as it is, quoted or not, and no
// program takes it for an option.
func Harmless(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	for _, r := range s {
		if r <= ' ' || r == 0x7f || strings.ContainsRune("'`\"$\\;&<>|(){}[]*?!#~^", r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// An answer is what a command of Match exec said.
type answer struct {
	once sync.Once
	yes  bool
	err  error
}

// run runs a command of Match exec, each once.
func (r *Reader) run(ctx context.Context, command string) (bool, error) {
	if r.m.Exec == nil {
		return false, ErrExec
	}
	r.mu.Lock()
	a := r.execs[command]
	if a == nil {
		a = &answer{}
		r.execs[command] = a
	}
	r.mu.Unlock()
	a.once.Do(func() {
		if a.yes, a.err = r.m.Exec(ctx, command); a.err != nil {
			a.err = fmt.Errorf("Match exec: %w", a.err)
		}
	})
	return a.yes, a.err
}

// ErrExec says that a Match needs a program, and that none is run.
var ErrExec = errors.New("the host depends on a program that Match exec names")

// hostLine reports whether the patterns of a Host line mean a host.
func hostLine(host string, patterns []string) bool {
	hit := false
	for _, pat := range patterns {
		pat, not := strings.CutPrefix(pat, "!")
		if !Pattern(pat, host) {
			continue
		}
		if not {
			return false
		}
		hit = true
	}
	return hit
}

// matchList matches a comma list of patterns, of which those with ! exclude.
func matchList(s, patterns string) bool {
	hit := false
	for pat := range strings.SplitSeq(patterns, ",") {
		pat, not := strings.CutPrefix(pat, "!")
		if pat == "" && s != "" || !Pattern(pat, s) {
			continue
		}
		if not {
			return false
		}
		hit = true
	}
	return hit
}

// Pattern matches * and ?.
func Pattern(pat, s string) bool {
	// Only the last star need be gone back to.
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pat) && pat[i] == '*':
			star, mark = i, j
			i++
		case i < len(pat) && (pat[i] == '?' || pat[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pat) && pat[i] == '*' {
		i++
	}
	return i == len(pat)
}

// A Target is what the tokens of values stand for.
type Target struct {
	Name        string // as it was given
	Host        string // as it is dialled
	Port, User  string
	Alias, Jump string // Jump is the ProxyJump as it was given
}

// lastJump returns the name of the jump host next to a target.
func (t Target) lastJump() string {
	j, err := ParseJump(t.Jump[strings.LastIndexByte(t.Jump, ',')+1:])
	if err != nil || strings.EqualFold(t.Jump, "none") {
		return ""
	}
	return j.Host
}

// token returns what a token stands for, see TOKENS in ssh_config(5).
func (r *Reader) token(t Target, c byte) (string, bool) {
	short, _, _ := strings.Cut(r.m.Name, ".")
	switch c {
	case 'C':
		sum := sha1.Sum([]byte(r.m.Name + t.Host + t.Port + t.User + t.lastJump())) // as ssh
		return hex.EncodeToString(sum[:]), true
	case 'd':
		return r.m.Home, true
	case 'h':
		return t.Host, true
	case 'i':
		return strconv.Itoa(r.m.UID), true
	case 'j':
		return t.lastJump(), true
	case 'k':
		return t.Alias, true
	case 'L':
		return short, true
	case 'l':
		return r.m.Name, true
	case 'n':
		return t.Name, true
	case 'p':
		return t.Port, true
	case 'r':
		return t.User, true
	case 'u':
		return r.m.User, true
	}
	return "", false
}
