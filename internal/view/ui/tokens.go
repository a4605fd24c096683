package ui

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/kept"
	"brine/internal/py/source"
)

// tokenPrefix lets programs that search for secrets find tokens that got lost.
const tokenPrefix = "brine_"

// A Token is a program that may use the API: a line of a file of tokens, such as
//
//	ci role=operator created=2026-11-29T12:00:00Z expires=2027-02-27T12:00:00Z chains=friday,web-* sha256=...
type Token struct {
	Name    string
	Role    Role
	Scope   Scope
	Created time.Time
	Expires time.Time // zero: never
	// Hash is the SHA-256 of the secret, in hexadecimal. A secret of 256 random bits
	// cannot be guessed, so it needs no slow hash.
	Hash string
}

// A Scope limits a token to things that can be run, by globs for their names. Without
// any globs, nothing is limited; with some, kinds without globs are not allowed. Events are
// prefixes of the tags of events that the token may send; without them it may send none.
// Hosts are globs for the ids of hosts, a limit of their own: without them, no host is left
// out.
// Rights do not limit anything: they are globs for what somebody has a higher role for, by the words of
// [RightWords].
type Scope struct {
	Orchestrations, Chains, Templates, Functions, Events, Hosts []string
	Rights                                                      map[string][]string
}

// Limited reports whether there is a limit.
func (x *Scope) Limited() bool { return x.byName() || len(x.Hosts) > 0 }

// byName reports whether what can be run is limited.
func (x *Scope) byName() bool {
	return len(x.Orchestrations)+len(x.Chains)+len(x.Templates)+len(x.Functions)+len(x.Events) > 0
}

// allows reports whether something may be seen and run; kind is that of a runSpec.
func (x *Scope) allows(kind, name string) bool {
	if !x.byName() {
		return true
	}
	kind, name = objectOf(kind, name)
	if kind == kept.Functions && !functionName().MatchString(name) { // such as several at once
		return false
	}
	globs := map[string][]string{kept.Orchestrations: x.Orchestrations, kept.Chains: x.Chains, kept.Templates: x.Templates, kept.Functions: x.Functions}[kind]
	return slices.ContainsFunc(globs, func(g string) bool { ok, _ := filepath.Match(g, name); return ok })
}

// lists are the lists of the scope, by their names in files.
func (x *Scope) lists() map[string]*[]string {
	return map[string]*[]string{"orchestrations": &x.Orchestrations, "chains": &x.Chains, "templates": &x.Templates, "functions": &x.Functions, "events": &x.Events, "hosts": &x.Hosts}
}

// scopeNames are the names of the lists, in the order of files.
var scopeNames = []string{"orchestrations", "chains", "templates", "functions", "events", "hosts"}

// Sends reports whether the token may send events with a tag: one of its prefixes, or what is
// below one.
func (x *Scope) Sends(tag string) bool {
	return slices.ContainsFunc(x.Events, func(prefix string) bool {
		prefix = strings.TrimSuffix(prefix, "/")
		return tag == prefix || strings.HasPrefix(tag, prefix+"/")
	})
}

// CheckPrefixes returns an error if a token cannot have the prefixes of tags.
func CheckPrefixes(prefixes []string) error {
	if err := CheckGlobs(prefixes); err != nil {
		return err
	}
	for _, p := range prefixes {
		if strings.ContainsAny(p, `*?[\`) || strings.Trim(p, "/") == "" {
			return fmt.Errorf("%q is not a prefix of tags such as deploy or salt/beacon/web1: it has no globs", p)
		}
	}
	return nil
}

// String is the scope as files have it: words such as chains=friday,web-*.
func (x Scope) String() string {
	words := []string{x.limits()}
	for _, name := range RightWords() {
		if globs := x.Rights[name]; len(globs) > 0 {
			words = append(words, name+"="+strings.Join(globs, ","))
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// limits are the words of the scope that are limits.
func (x *Scope) limits() string {
	var words []string
	for _, name := range scopeNames {
		if globs := *x.lists()[name]; len(globs) > 0 {
			words = append(words, name+"="+strings.Join(globs, ","))
		}
	}
	return strings.Join(words, " ")
}

// CheckGlobs returns an error if a file of tokens cannot have the globs.
func CheckGlobs(globs []string) error {
	for _, g := range globs {
		if _, err := filepath.Match(g, ""); err != nil || g == "" || strings.ContainsFunc(g, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }) {
			return fmt.Errorf("invalid glob %q", g)
		}
	}
	return nil
}

// CheckFunctions returns an error if the globs are not for names of functions.
func CheckFunctions(globs []string) error {
	for _, g := range globs {
		if g != "*" && !strings.Contains(g, ".") {
			return fmt.Errorf("%q is not a glob for functions, such as test.* or state.apply", g)
		}
	}
	return CheckGlobs(globs)
}

// CheckToken returns an error if no token can have the name.
func CheckToken(name string) error {
	if err := CheckUser(name); err != nil || strings.Contains(name, "=") {
		return fmt.Errorf("invalid token name %q: it must have 1 to 64 characters, no spaces, colons and equals signs", name)
	}
	return nil
}

// NewToken returns the secret of a new token, and the hash of it.
func NewToken() (text, hash string) {
	text = tokenPrefix + secret()
	return text, tokenHash(text)
}

func tokenHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Expired reports whether the token is not valid any more.
func (x *Token) Expired(now time.Time) bool { return !x.Expires.IsZero() && !now.Before(x.Expires) }

// String is the line of the token.
func (x *Token) String() string {
	words := []string{x.Name, "role=" + x.Role.String(), "created=" + x.Created.UTC().Format(time.RFC3339)}
	if !x.Expires.IsZero() {
		words = append(words, "expires="+x.Expires.UTC().Format(time.RFC3339))
	}
	if s := x.Scope.String(); s != "" {
		words = append(words, s)
	}
	return strings.Join(append(words, "sha256="+x.Hash), " ")
}

// Tokens are those of a file.
type Tokens struct{ all []*Token }

// All returns the tokens, in the order of the file.
func (t *Tokens) All() []*Token { return slices.Clone(t.all) }

// Find returns the token with a name; nil: there is none.
func (t *Tokens) Find(name string) *Token {
	if i := slices.IndexFunc(t.all, func(x *Token) bool { return x.Name == name }); i >= 0 {
		return t.all[i]
	}
	return nil
}

// of returns the token with a secret, also if it has expired; nil: there is none. The
// time that it takes does not depend on the tokens.
func (t *Tokens) of(text string) (found *Token) {
	hash := []byte(tokenHash(text))
	for _, x := range t.all {
		if subtle.ConstantTimeCompare(hash, []byte(x.Hash)) == 1 {
			found = x
		}
	}
	return found
}

// ParseTokens reads a file of tokens. All faults are returned together, as
// source.Errors.
func ParseTokens(file string, text []byte) (*Tokens, error) {
	t := &Tokens{}
	var faults source.Errors
	sc := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		x, err := parseToken(line)
		if err == nil && t.Find(x.Name) != nil {
			err = fmt.Errorf("token %q is in the file twice", x.Name)
		}
		if err != nil {
			faults = append(faults, &source.Error{Pos: source.Pos{File: file, Line: n}, Err: err})
			continue
		}
		t.all = append(t.all, x)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return t, nil
}

// tokenKeys are the keys that a line may have.
var tokenKeys = slices.Concat([]string{"role", "created", "expires", "sha256"}, scopeNames, RightWords())

// parseToken reads a line. What it does not know is an error: it may be a limit.
func parseToken(line string) (*Token, error) {
	words := strings.Fields(line)
	x := &Token{Name: words[0]}
	if err := CheckToken(x.Name); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, w := range words[1:] {
		key, text, ok := strings.Cut(w, "=")
		switch {
		case !ok || !slices.Contains(tokenKeys, key):
			return nil, fmt.Errorf("unknown word %q%s; 'brine ui token add' makes a line", w, source.DidYouMean(key, tokenKeys))
		case seen[key]:
			return nil, fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		if err := x.set(key, text); err != nil {
			return nil, err
		}
	}
	if x.Role == Nobody || x.Hash == "" || x.Created.IsZero() {
		return nil, errors.New("role, created and sha256 are required; 'brine ui token add' makes a line")
	}
	if err := x.Scope.CheckRights(x.Role); err != nil {
		return nil, err
	}
	return x, nil
}

// set takes a word of a line.
func (x *Token) set(key, text string) (err error) {
	switch key {
	case "role":
		x.Role, err = ParseRole(text)
	case "created":
		x.Created, err = time.Parse(time.RFC3339, text)
	case "expires":
		x.Expires, err = time.Parse(time.RFC3339, text)
	case "sha256":
		if sum, bad := hex.DecodeString(text); bad != nil || len(sum) != sha256.Size {
			return errors.New("sha256 must have 64 hexadecimal digits")
		}
		x.Hash = strings.ToLower(text)
	default:
		globs := strings.Split(text, ",")
		if known, err := x.Scope.grantRight(key, globs); known {
			return err
		}
		*x.Scope.lists()[key] = globs
		if err = CheckGlobs(globs); key == "events" {
			err = CheckPrefixes(globs)
		}
		switch {
		case err == nil && key == "hosts":
			err = CheckHosts(globs)
		case err == nil && key == "functions":
			err = CheckFunctions(globs)
		}
	}
	if _, bad := errors.AsType[*time.ParseError](err); bad {
		return fmt.Errorf("%s: %q is not a time such as 2026-12-01T00:00:00Z", key, text)
	}
	return err
}

// AddToken returns the text of a file of tokens with a further one.
func AddToken(text []byte, x *Token) []byte {
	out := strings.TrimRight(string(text), "\n")
	return []byte(cmp.Or(out, "# Tokens of brine ui: 'brine ui token' changes this file.") + "\n" + x.String() + "\n")
}

// RemoveToken returns the text of a file of tokens without one.
func RemoveToken(text []byte, name string) []byte {
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 0 || f[0] != name {
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}

// TokenUses are when tokens were used last, by their names.
type TokenUses map[string]time.Time

// ParseTokenUses reads a file of last uses: lines of a name and a time. Others do no
// harm: nothing is allowed by them.
func ParseTokenUses(text []byte) TokenUses {
	out := TokenUses{}
	for line := range strings.Lines(string(text)) {
		name, when, _ := strings.Cut(strings.TrimSpace(line), " ")
		if at, err := time.Parse(time.RFC3339, when); err == nil {
			out[name] = at
		}
	}
	return out
}

// Text is the file of the uses of tokens. Those that were revoked are left out.
func (u TokenUses) Text(t *Tokens) []byte {
	var out strings.Builder
	for _, x := range t.all {
		if at, ok := u.Of(x); ok {
			fmt.Fprintf(&out, "%s %s\n", x.Name, at.UTC().Format(time.RFC3339))
		}
	}
	return []byte(out.String())
}

// Of returns when a token was used last. Uses from before it was made are those of
// another one with its name.
func (u TokenUses) Of(x *Token) (time.Time, bool) {
	at, ok := u[x.Name]
	return at, ok && !at.Before(x.Created.Truncate(time.Second))
}
