package sshconf

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/source"
)

type kind int

// What follows a keyword.
const (
	kindOther   kind = iota // known, and of no concern here
	kindUnknown             // not known: see IgnoreUnknown
	kindHost
	kindMatch
	kindInclude
	kindString  // one word
	kindFlag    // yes or no
	kindEnum    // one of some words
	kindInt     // a number
	kindPort    // a number, or the name of a service
	kindTime    // seconds or 1h30m, or none
	kindWords   // all words, of the first line that has them
	kindMany    // one word, of all lines that have it
	kindCommand // the rest of the line, as it is
	kindJump    // ProxyJump
	kindAgent   // a path, $VAR or none
	kindForward // yes, no, or as kindAgent
	kindAlgs    // a list of algorithms
	kindForm    // see forms
	kindDead    // ssh knows it and passes it over
)

// options are the keywords that have a meaning here. The others of ssh are in
// keywords.go.
var options = map[string]kind{
	"host": kindHost, "match": kindMatch, "include": kindInclude,
	"addressfamily": kindEnum, "batchmode": kindFlag, "bindaddress": kindString, "bindinterface": kindString,
	"canonicaldomains": kindWords, "canonicalizefallbacklocal": kindFlag, "canonicalizehostname": kindEnum,
	"canonicalizemaxdots": kindInt, "canonicalizepermittedcnames": kindWords, "casignaturealgorithms": kindAlgs,
	"certificatefile": kindMany, "checkhostip": kindFlag, "ciphers": kindAlgs, "connectionattempts": kindInt,
	"connecttimeout": kindTime, "controlmaster": kindEnum, "controlpath": kindString, "controlpersist": kindForm, "forwardagent": kindForward,
	"globalknownhostsfile": kindWords, "hashknownhosts": kindFlag, "hostkeyalgorithms": kindAlgs, "hostkeyalias": kindString,
	"hostname": kindString, "identitiesonly": kindFlag, "identityagent": kindAgent, "identityfile": kindMany,
	"ignoreunknown": kindString, "kbdinteractiveauthentication": kindFlag, "kexalgorithms": kindAlgs,
	"knownhostscommand": kindCommand, "macs": kindAlgs, "nohostauthenticationforlocalhost": kindFlag,
	"numberofpasswordprompts": kindInt, "passwordauthentication": kindFlag, "pkcs11provider": kindString, "port": kindPort,
	"preferredauthentications": kindString, "proxycommand": kindCommand, "proxyjump": kindJump, "proxyusefdpass": kindFlag,
	"pubkeyacceptedalgorithms": kindAlgs, "pubkeyauthentication": kindEnum, "requiredrsasize": kindInt,
	"revokedhostkeys": kindString, "serveralivecountmax": kindInt, "serveraliveinterval": kindTime,
	"stricthostkeychecking": kindEnum, "tag": kindString, "tcpkeepalive": kindFlag, "user": kindString,
	"userknownhostsfile": kindWords, "globalknownhostsfile2": kindDead, "userknownhostsfile2": kindDead,
}

// aliases are old names of keywords.
var aliases = map[string]string{
	"challengeresponseauthentication": "kbdinteractiveauthentication", "skeyauthentication": "kbdinteractiveauthentication",
	"tisauthentication": "kbdinteractiveauthentication", "dsaauthentication": "pubkeyauthentication",
	"hostbasedkeytypes": "hostbasedacceptedalgorithms", "identityfile2": "identityfile", "keepalive": "tcpkeepalive", "pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms",
	"smartcarddevice": "pkcs11provider",
}

// A line is one of a file: a keyword and what follows.
type line struct {
	n     int
	kind  kind
	key   string // in lower case, by its present name
	word  string // as it was written
	args  []string
	text  string // the whole line
	match []criterion
}

type parsed struct {
	lines []line
	err   error
}

// parse reads a file once.
func (r *Reader) parse(f File) *parsed {
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := r.parsed[f.Path]; got != nil {
		return got
	}
	got := &parsed{}
	r.parsed[f.Path] = got
	b, err := r.m.ReadFile(f.Path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("read ssh configuration: %w", err)
		}
		got.err = err
		return got
	}
	if f.Check && r.m.Unsafe != nil {
		if why := r.m.Unsafe(f.Path); why != "" {
			got.err = &source.Error{Pos: source.Pos{File: f.Path}, Err: fmt.Errorf("bad owner or permissions: %s; see chmod and chown", why)}
			return got
		}
	}
	n := 0
	for text := range strings.Lines(string(b)) {
		n++
		l, err := parseLine(text)
		if err != nil {
			if got.err == nil {
				got.err = &source.Error{Pos: source.Pos{File: f.Path, Line: n}, Err: err}
			}
			continue
		}
		if l.word != "" {
			l.n = n
			got.lines = append(got.lines, l)
		}
	}
	return got
}

const blank = " \t\r\n"

// parseLine reads a line; one without a keyword is empty.
func parseLine(text string) (line, error) {
	// A form feed may end a line, too.
	rest := strings.TrimRight(text, blank+"\f")
	l := line{text: rest}
	word, rest, ok := delim(rest)
	if ok && word == "" {
		word, rest, ok = delim(rest)
	}
	if !ok || word == "" || word[0] == '#' {
		return line{}, nil
	}
	l.word, l.key = word, strings.ToLower(word)
	if a := aliases[l.key]; a != "" {
		l.key = a
	}
	rest = strings.TrimLeft(rest, blank)
	if rest == "" {
		return l, fmt.Errorf("%s has no value", word)
	}
	l.kind = kindOf(l.key)
	args, ok := split(rest)
	if !ok {
		return l, errors.New("missing closing quote")
	}
	l.args = args
	return l, l.check(rest)
}

func kindOf(key string) kind {
	if k, ok := options[key]; ok {
		return k
	}
	if isKeyword(key) {
		return kindOther
	}
	return kindUnknown
}

// delim cuts a word from a line: up to blanks, with one "=" among them. Double
// quotes around a word are taken off. It is false where a quote has no end.
// See strdelim of OpenSSH's misc.c.
func delim(s string) (word, rest string, ok bool) {
	i := strings.IndexAny(s, blank+`"=`)
	if i < 0 {
		return s, "", true
	}
	if s[i] == '"' {
		end := strings.IndexByte(s[i+1:], '"')
		if end < 0 {
			return "", "", false
		}
		return s[:i] + s[i+1:i+1+end], strings.TrimLeft(s[i+1+end+1:], blank), true
	}
	word, equals := s[:i], s[i] == '='
	rest = strings.TrimLeft(s[i+1:], blank)
	if !equals && strings.HasPrefix(rest, "=") {
		rest = strings.TrimLeft(rest[1:], blank)
	}
	return word, rest, true
}

// split cuts what follows a keyword into words, which may have quotes of both
// kinds and backslashes, up to a comment. See argv_split of OpenSSH's misc.c.
func split(s string) (words []string, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '\t' {
			continue
		}
		if s[i] == '#' {
			break
		}
		var (
			w     []byte
			quote byte
		)
	word:
		for ; i < len(s); i++ {
			switch c := s[i]; {
			case c == '\\':
				if i+1 < len(s) && (strings.IndexByte(`'"\`, s[i+1]) >= 0 || quote == 0 && s[i+1] == ' ') {
					i++
				}
				w = append(w, s[i])
			case quote == 0 && (c == ' ' || c == '\t'):
				break word
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case quote != 0 && c == quote:
				quote = 0
			default:
				w = append(w, c)
			}
		}
		if quote != 0 {
			return nil, false
		}
		words = append(words, string(w))
	}
	return words, true
}

// Seconds reads a time of ssh_config, such as 90, 30s or 1h30m.
func Seconds(s string) (n int, ok bool) { return seconds(s) }

// seconds reads a time of ssh: "90", "1h30m", "2D".
func seconds(s string) (int, bool) {
	total, digits := 0, ""
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] >= '0' && s[i] <= '9' {
			digits += s[i : i+1]
			continue
		}
		if i == len(s) && digits == "" {
			return total, s != ""
		}
		n, err := strconv.Atoi(digits)
		unit := 1
		if i < len(s) {
			switch s[i] {
			case 's', 'S':
			case 'm', 'M':
				unit = 60
			case 'h', 'H':
				unit = 3600
			case 'd', 'D':
				unit = 86400
			case 'w', 'W':
				unit = 604800
			default:
				return 0, false
			}
		}
		if err != nil || n > (1<<31-1-total)/unit {
			return 0, false
		}
		total, digits = total+n*unit, ""
	}
	return total, true
}

// checkJump looks at a ProxyJump: none, or [ssh://][user@]host[:port] by commas.
func checkJump(spec string) error {
	if strings.EqualFold(spec, "none") {
		return nil
	}
	for hop := range strings.SplitSeq(spec, ",") {
		if _, err := ParseJump(hop); err != nil {
			return err
		}
	}
	return nil
}

// A Jump is a host on the way to another one.
type Jump struct {
	User, Host string
	Port       int // 0: as ssh_config says
}

// ParseJump reads a host of a ProxyJump: [ssh://][user@]host[:port].
func ParseJump(spec string) (Jump, error) {
	bad := fmt.Errorf("%q is not a jump host", spec)
	rest, uri := strings.CutPrefix(spec, "ssh://")
	if uri {
		rest = strings.TrimSuffix(rest, "/")
	}
	var j Jump
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		j.User, rest = rest[:at], rest[at+1:]
		if j.User == "" {
			return j, bad
		}
	}
	j.Host = rest
	port, has := "", false
	if in, ok := strings.CutPrefix(rest, "["); ok {
		var after string
		if j.Host, after, ok = strings.Cut(in, "]"); !ok {
			return j, bad
		}
		if port, has = strings.CutPrefix(after, ":"); !has && after != "" {
			return j, bad
		}
	} else if strings.Count(rest, ":") == 1 {
		j.Host, port, has = strings.Cut(rest, ":")
	}
	if has {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return j, fmt.Errorf("%q: invalid port of a jump host", spec)
		}
		j.Port = n
	}
	if j.Host == "" || j.Host[0] == '-' || strings.ContainsAny(j.Host, " \t/") {
		return j, bad
	}
	return j, nil
}

// checkAgent looks at the path of an ssh-agent, whether its line is active or not.
func (r *Reader) checkAgent(l *line) error {
	v := l.args[0]
	if l.kind == kindForward && flags[v] != "" {
		return nil
	}
	if _, err := r.Env(v); err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(v, "$"); ok && !strings.HasPrefix(name, "{") && !envName(name) {
		return fmt.Errorf("%s %s: invalid name of an environment variable", l.word, v)
	}
	return nil
}

// apply sets what an active line says. A ProxyJump and a ProxyCommand exclude
// each other: the first one counts.
func (p *pass) apply(l *line, at source.Pos) {
	switch l.key {
	case "proxycommand":
		if !noneOr(p.res.Get("proxyjump")) {
			return
		}
	case "proxyjump":
		if _, ok := p.res.values["proxycommand"]; ok {
			return
		}
	}
	switch l.kind {
	case kindTime:
		if l.args[0] != "none" { // as ssh, which takes a later line then
			p.set(l.key, at, l.args...)
		}
	case kindString, kindFlag, kindEnum, kindInt, kindPort, kindWords, kindAlgs, kindCommand, kindJump, kindAgent, kindForward, kindForm:
		p.set(l.key, at, l.args...)
	case kindMany:
		have := p.res.values[l.key]
		if len(have) == 0 {
			p.res.from[l.key] = at
		}
		if !slices.Contains(have, l.args[0]) {
			p.res.values[l.key] = append(have, l.args[0])
		}
	default:
	}
}

// option applies an option of a query, as ssh -o does.
func (p *pass) option(text string) error {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "-o"); ok {
		text = strings.TrimSpace(rest)
	}
	if word, rest, ok := delim(text); ok && (word == "" || strings.Trim(rest, blank) == "") {
		return errNoOption
	}
	l, err := parseLine(text)
	switch {
	case err != nil:
		return err
	case l.word == "":
		return errNoOption
	}
	switch l.kind {
	case kindHost, kindMatch, kindInclude:
		return fmt.Errorf("%s cannot be an option", l.word)
	case kindUnknown:
		if hint := source.DidYouMean(l.word, Keywords()); hint != "" {
			return fmt.Errorf("unknown keyword%s", hint)
		}
		return nil // it may be of a later ssh
	case kindAgent, kindForward:
		if err := p.checkAgent(&l); err != nil {
			return err
		}
	default:
	}
	p.apply(&l, source.Pos{File: optionFile})
	return nil
}
