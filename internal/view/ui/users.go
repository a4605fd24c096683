package ui

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/crypto/argon2"

	"brine/internal/py/source"
)

// A Role says what a user may do; each may do what those before it may.
type Role int

// The roles.
const (
	Nobody   Role = iota
	Viewer        // look
	Operator      // run what is defined
	Editor        // define
)

var roleNames = []string{"nobody", "viewer", "operator", "editor"}

// String is the name of a role.
func (r Role) String() string {
	if r < 0 || int(r) >= len(roleNames) {
		return roleNames[0]
	}
	return roleNames[r]
}

// RoleNames returns the names of the roles.
func RoleNames() []string { return slices.Clone(roleNames[1:]) }

// ParseRole returns the role with a name.
func ParseRole(name string) (Role, error) {
	i := slices.Index(roleNames, name)
	if i <= 0 {
		return Nobody, fmt.Errorf("unknown role %q%s; there are %s", name, source.DidYouMean(name, RoleNames()), strings.Join(RoleNames(), ", "))
	}
	return Role(i), nil
}

// A user is a line of a file of users.
type user struct {
	name  string
	role  Role
	hash  string // "": there is no password; a proxy authenticates
	scope Scope  // what the user is limited to
	// groups are those that a provider or a proxy says the user is in.
	groups []string
}

// Users are those who may log in: by name, and those whom a provider or a proxy has in a group.
type Users struct {
	all    []user
	groups []group
}

// A group lets in users of a provider or a proxy who are not named in the file.
type group struct {
	from  []string // its names there
	role  Role
	scope Scope
}

// Parameters of argon2id: those that its RFC recommends where memory is short.
const (
	hashTime    = 3
	hashMemory  = 64 << 10 // KiB
	hashThreads = 4
	hashSize    = 32
	saltSize    = 16
	maxMemory   = 1 << 20 // KiB that a hash of a file may ask for
	maxTime     = 100
)

// noPassword is the hash of users whom a proxy authenticates.
const noPassword = "-"

// CheckUser returns an error if no user can have the name.
func CheckUser(name string) error {
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ':' || r == 0x7f }) || strings.ContainsAny(name[:1], "#@") {
		return fmt.Errorf("invalid user name %q: it must have 1 to 64 characters, no spaces and no colons, and not begin with @", name)
	}
	return nil
}

// minPassword is the fewest characters of a password.
const minPassword = 8

// Hash returns the hash of a password, as files of users have it.
func Hash(password string) (string, error) {
	if len([]rune(password)) < minPassword {
		return "", fmt.Errorf("the password must have at least %d characters", minPassword)
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(password), salt, hashTime, hashMemory, hashThreads, hashSize)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashTime, hashThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// A hashed is a hash that was read.
type hashed struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func parseHash(text string) (h hashed, err error) {
	parts := strings.Split(text, "$")
	bad := errors.New("the hash is not one of argon2id; 'brine ui passwd' makes one")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, bad
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads); err != nil {
		return h, bad
	}
	if h.memory == 0 || h.memory > maxMemory || h.time == 0 || h.time > maxTime || h.threads == 0 {
		return h, errors.New("the hash asks for too much memory or time")
	}
	h.salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	if err == nil {
		h.key, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	if err != nil || len(h.salt) < 8 || len(h.key) < 16 || len(h.key) > 1024 {
		return h, bad
	}
	return h, nil
}

func (h hashed) fits(password string) bool {
	key := argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.key)))
	return subtle.ConstantTimeCompare(key, h.key) == 1
}

// ParseUsers reads a file of users, a line each: NAME:ROLE:HASH, or NAME:ROLE:HASH:LIMITS
// such as ann:operator:...:chains=web-*,db-* groups=shops. A line such as
// "@shops templates=shop-*" is a group. With role=, it also lets in users of a provider or a
// proxy who are in a group of this name, or of one of from=, and are not in the file. All faults
// are returned together, as source.Errors.
func ParseUsers(file string, text []byte) (*Users, error) {
	u := &Users{}
	var faults source.Errors
	groups := map[string]Scope{}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '@' {
			name, words, _ := strings.Cut(line[1:], " ")
			_, known := groups[name]
			g, err := parseGroup(name, words)
			x := g.scope
			if err == nil {
				err = CheckUser(name)
			}
			if g.role != Nobody {
				u.groups = append(u.groups, g)
			}
			if err == nil && known {
				err = fmt.Errorf("group %q is in the file twice", name)
			}
			if groups[name] = x; err != nil {
				faults = append(faults, &source.Error{Pos: source.Pos{File: file, Line: n}, Err: err})
			}
			continue
		}
		x, err := parseUser(line, groups)
		if err == nil && slices.ContainsFunc(u.all, func(o user) bool { return o.name == x.name }) {
			err = fmt.Errorf("user %q is in the file twice", x.name)
		}
		if err != nil {
			faults = append(faults, &source.Error{Pos: source.Pos{File: file, Line: n}, Err: err})
			continue
		}
		u.all = append(u.all, x)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return u, nil
}

// parseGroup reads the words of the line of a group.
func parseGroup(name, words string) (group, error) {
	g := group{from: []string{name}}
	var limits []string
	for w := range strings.FieldsSeq(words) {
		key, text, _ := strings.Cut(w, "=")
		var err error
		switch key {
		case "role":
			g.role, err = ParseRole(text)
		case "from":
			g.from = nil
			for one := range strings.SplitSeq(text, ",") {
				if one, err = url.PathUnescape(one); err != nil || one == "" {
					return g, fmt.Errorf("from=%s has to be names of groups, separated by commas; a space is %%20", text)
				}
				g.from = append(g.from, one)
			}
		default:
			limits = append(limits, w)
		}
		if err != nil {
			return g, err
		}
	}
	if g.role == Nobody && strings.Contains(" "+words, " from=") {
		return g, fmt.Errorf("group %q has from= without role=: nobody is let in by it", name)
	}
	if g.role != Nobody && len(limits) == 0 {
		return g, nil
	}
	var err error
	if g.scope, err = parseLimits(strings.Join(limits, " "), nil); err == nil && g.role != Nobody {
		err = g.scope.CheckRights(g.role)
	}
	return g, err
}

func parseUser(line string, groups map[string]Scope) (user, error) {
	name, rest, _ := strings.Cut(line, ":")
	role, hash, ok := strings.Cut(rest, ":")
	hash, limits, limited := strings.Cut(hash, ":")
	if !ok {
		return user{}, errors.New("a line must be NAME:ROLE:HASH; 'brine ui passwd' makes one")
	}
	if err := CheckUser(name); err != nil {
		return user{}, err
	}
	x := user{name: name}
	var err error
	if x.role, err = ParseRole(role); err != nil {
		return x, err
	}
	if limited {
		if x.scope, err = parseLimits(limits, groups); err != nil {
			return x, err
		}
		if err = x.scope.CheckRights(x.role); err != nil {
			return x, err
		}
	}
	if hash == noPassword {
		return x, nil
	}
	if _, err := parseHash(hash); err != nil {
		return x, err
	}
	x.hash = hash
	return x, nil
}

// SetUser returns the text of a file of users in which a user has the given
// role and hash. If role is "", an existing user keeps the role, and a new one
// is a viewer. The limits of an existing user stay.
func SetUser(text []byte, name, role, hash string) []byte {
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(text) == 0 {
		lines = nil
	}
	for i, l := range lines {
		if n, rest, ok := strings.Cut(strings.TrimSpace(l), ":"); ok && n == name {
			old, rest, _ := strings.Cut(rest, ":")
			if role == "" {
				role = old
			}
			lines[i] = name + ":" + role + ":" + hash
			if _, limits, ok := strings.Cut(rest, ":"); ok {
				lines[i] += ":" + limits
			}
			return []byte(strings.Join(lines, "\n") + "\n")
		}
	}
	if role == "" {
		role = Viewer.String()
	}
	return []byte(strings.Join(append(lines, name+":"+role+":"+hash), "\n") + "\n")
}

// Passwords reports whether some user can log in with a password.
func (u *Users) Passwords() bool {
	return slices.ContainsFunc(u.all, func(x user) bool { return x.hash != "" })
}

func (u *Users) find(name string) (user, bool) {
	if i := slices.IndexFunc(u.all, func(x user) bool { return x.name == name }); i >= 0 {
		return u.all[i], true
	}
	return user{}, false
}

// admit returns the user with a name whom a provider or a proxy has authenticated. Who is in
// the file is what the line says. Others are what the first group of the file says that they
// are in: the role of one group never comes to the limits of another.
func (u *Users) admit(name string, in []string) (user, bool) {
	if x, ok := u.find(name); ok {
		return x, true
	}
	if CheckUser(name) != nil {
		return user{}, false
	}
	for _, g := range u.groups {
		if slices.ContainsFunc(g.from, func(one string) bool { return slices.Contains(in, one) }) {
			return user{name: name, role: g.role, scope: g.scope, groups: in}, true
		}
	}
	return user{}, false
}

// decoy is the hash that is tried for users that there are not, so that an answer
// takes as long as for others.
var decoy = hashed{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, saltSize), key: make([]byte, hashSize)}

// check returns the user whose password was given.
func (u *Users) check(name, password string) (user, bool) {
	x, ok := u.find(name)
	h := decoy
	if ok = ok && x.hash != ""; ok {
		var err error
		if h, err = parseHash(x.hash); err != nil {
			return user{}, false
		}
	}
	return x, h.fits(password) && ok
}
