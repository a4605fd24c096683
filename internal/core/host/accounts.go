package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Accounts are read from the passwd and group files, which needs no C library
// and no child. Names that are not there are asked of the system's own tool
// (getent, on macOS dscacheutil) where its name service has further sources.

const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

// nameServiceTimeout bounds a question to a directory server.
const nameServiceTimeout = 20 * time.Second

// LookupUser finds a user by name.
func (l *Local) LookupUser(name string) (Account, error) {
	return lookupUser(l, name, func(a Account) bool { return a.Name == name })
}

// LookupUID finds a user by number.
func (l *Local) LookupUID(uid int) (Account, error) {
	return lookupUser(l, strconv.Itoa(uid), func(a Account) bool { return a.UID == uid })
}

// LookupGroup finds a group by name.
func (l *Local) LookupGroup(name string) (Group, error) {
	return lookupGroup(l, name, func(g Group) bool { return g.Name == name })
}

// LookupGID finds a group by number.
func (l *Local) LookupGID(gid int) (Group, error) {
	return lookupGroup(l, strconv.Itoa(gid), func(g Group) bool { return g.GID == gid })
}

// An accountFile is the passwd or the group file, read once for as long as it stays the
// same: a run asks for the owner and the group of each file that it manages.
type accountFile[T any] struct {
	path  string
	parse func(string) []T

	mu   sync.Mutex
	of   *Stat // of the file that rows was read from; nil: there is none
	rows []T
}

var (
	passwd = &accountFile[Account]{path: passwdFile, parse: ParsePasswd}
	group  = &accountFile[Group]{path: groupFile, parse: ParseGroup}
)

// read returns the rows of the file, which the caller must not change; none if it is
// missing.
func (a *accountFile[T]) read() ([]T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, err := (*Local)(nil).Stat(a.path)
	if err == nil && a.of != nil && a.of.Unchanged(now) {
		return a.rows, nil
	}
	a.of = nil
	text, err := readDatabase(a.path)
	if err != nil {
		return nil, err
	}
	rows := a.parse(text)
	// What was read is that file only if nothing changed it in between.
	if after, err := (*Local)(nil).Stat(a.path); err == nil && after.Unchanged(now) && after.Settled(time.Now()) {
		a.of, a.rows = &after, rows
	}
	return rows, nil
}

func lookupUser(l *Local, key string, is func(Account) bool) (Account, error) {
	as, err := passwd.read()
	if err != nil {
		return Account{}, err
	}
	if i := slices.IndexFunc(as, is); i >= 0 {
		return as[i], nil
	}
	as = l.askUsers(key)
	if i := slices.IndexFunc(as, is); i >= 0 {
		return as[i], nil
	}
	return Account{}, fmt.Errorf("user %s: %w", key, ErrNoAccount)
}

func lookupGroup(l *Local, key string, is func(Group) bool) (Group, error) {
	gs, err := group.read()
	if err != nil {
		return Group{}, err
	}
	if i := slices.IndexFunc(gs, is); i >= 0 {
		g := gs[i]
		g.Members = slices.Clone(g.Members)
		return g, nil
	}
	gs = l.askGroups(key)
	if i := slices.IndexFunc(gs, is); i >= 0 {
		return gs[i], nil
	}
	return Group{}, fmt.Errorf("group %s: %w", key, ErrNoAccount)
}

// Users returns all users, those of the file first.
func (l *Local) Users() ([]Account, error) {
	text, err := readDatabase(passwdFile)
	if err != nil {
		return nil, err
	}
	as := ParsePasswd(text)
	known := map[string]bool{}
	for _, a := range as {
		known[a.Name] = true
	}
	for _, a := range l.askUsers("") {
		if !known[a.Name] {
			known[a.Name] = true
			as = append(as, a)
		}
	}
	return as, nil
}

// Groups returns all groups, those of the file first.
func (l *Local) Groups() ([]Group, error) {
	text, err := readDatabase(groupFile)
	if err != nil {
		return nil, err
	}
	gs := ParseGroup(text)
	known := map[string]bool{}
	for _, g := range gs {
		known[g.Name] = true
	}
	for _, g := range l.askGroups("") {
		if !known[g.Name] {
			known[g.Name] = true
			gs = append(gs, g)
		}
	}
	return gs, nil
}

// GroupIDs returns the ids of a user's groups, primary first.
func (l *Local) GroupIDs(user string) ([]int, error) {
	a, err := l.LookupUser(user)
	if err != nil {
		return nil, err
	}
	ids := []int{a.GID}
	add := func(id int) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	text, err := readDatabase(groupFile)
	if err != nil {
		return nil, err
	}
	for _, g := range ParseGroup(text) {
		if slices.Contains(g.Members, user) {
			add(g.GID)
		}
	}
	if moreSources("group") || moreSources("initgroups") {
		for f := range strings.FieldsSeq(l.ask("id", "-G", user)) {
			if id, err := strconv.Atoi(f); err == nil {
				add(id)
			}
		}
	}
	return ids, nil
}

// Geteuid returns the effective user id of this process.
func (*Local) Geteuid() int { return os.Geteuid() }

// Getegid returns the effective group id of this process.
func (*Local) Getegid() int { return os.Getegid() }

// readDatabase reads a file of accounts; one that is missing is empty.
func readDatabase(path string) (string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// moreSources reports whether the system has sources of a database beyond its
// file.
func moreSources(database string) bool {
	if runtime.GOOS == "darwin" {
		return true
	}
	b, err := os.ReadFile("/etc/nsswitch.conf")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "#")
		name, sources, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) != database {
			continue
		}
		for s := range strings.FieldsSeq(sources) {
			if s != "files" && s != "compat" && !strings.HasPrefix(s, "[") {
				return true
			}
		}
	}
	return false
}

// ask runs a tool and returns what it prints, "" where it fails.
func (l *Local) ask(argv ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), nameServiceTimeout)
	defer cancel()
	out, err := l.Run(ctx, Cmd{Argv: argv, Timeout: nameServiceTimeout})
	if err != nil || out.Status != 0 {
		return ""
	}
	return string(out.Stdout)
}

// askUsers asks the name service for one user by name or number, or for all.
func (l *Local) askUsers(key string) []Account {
	if !moreSources("passwd") || strings.HasPrefix(key, "-") {
		return nil
	}
	if runtime.GOOS == "darwin" {
		var as []Account
		for _, r := range parseDscache(l.ask(dscacheQuery("user", key)...)) {
			uid, _ := strconv.Atoi(r["uid"])
			gid, _ := strconv.Atoi(r["gid"])
			as = append(as, Account{Name: r["name"], Passwd: r["password"], UID: uid, GID: gid, Gecos: r["gecos"], Home: r["dir"], Shell: r["shell"]})
		}
		return as
	}
	if key == "" {
		return ParsePasswd(l.ask("getent", "passwd"))
	}
	return ParsePasswd(l.ask("getent", "passwd", key))
}

func (l *Local) askGroups(key string) []Group {
	if !moreSources("group") || strings.HasPrefix(key, "-") {
		return nil
	}
	if runtime.GOOS == "darwin" {
		var gs []Group
		for _, r := range parseDscache(l.ask(dscacheQuery("group", key)...)) {
			gid, _ := strconv.Atoi(r["gid"])
			gs = append(gs, Group{Name: r["name"], Passwd: r["password"], GID: gid, Members: strings.Fields(r["users"])})
		}
		return gs
	}
	if key == "" {
		return ParseGroup(l.ask("getent", "group"))
	}
	return ParseGroup(l.ask("getent", "group", key))
}

func dscacheQuery(kind, key string) []string {
	argv := []string{"dscacheutil", "-q", kind}
	if key == "" {
		return argv
	}
	attr := "name"
	if _, err := strconv.Atoi(key); err == nil {
		attr = map[string]string{"user": "uid", "group": "gid"}[kind]
	}
	return append(argv, "-a", attr, key)
}

// parseDscache reads dscacheutil's records: lines "key: value", a blank line
// between records.
func parseDscache(text string) []map[string]string {
	var recs []map[string]string
	var rec map[string]string
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			rec = nil
			continue
		}
		if rec == nil {
			rec = map[string]string{}
			recs = append(recs, rec)
		}
		rec[k] = strings.TrimSpace(v)
	}
	return recs
}

// ParsePasswd reads the lines of a passwd file; those that are none are
// skipped, as the C library does.
func ParsePasswd(text string) []Account {
	var as []Account
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(f) < 7 || strings.HasPrefix(f[0], "#") {
			continue
		}
		uid, err1 := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if f[0] == "" || err1 != nil || err2 != nil {
			continue
		}
		as = append(as, Account{Name: f[0], Passwd: f[1], UID: uid, GID: gid, Gecos: f[4], Home: f[5], Shell: f[6]})
	}
	return as
}

// ParseGroup reads the lines of a group file.
func ParseGroup(text string) []Group {
	var gs []Group
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(f) < 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		gid, err := strconv.Atoi(f[2])
		if f[0] == "" || err != nil {
			continue
		}
		g := Group{Name: f[0], Passwd: f[1], GID: gid}
		if len(f) > 3 {
			for m := range strings.SplitSeq(f[3], ",") {
				if m = strings.TrimSpace(m); m != "" {
					g.Members = append(g.Members, m)
				}
			}
		}
		gs = append(gs, g)
	}
	return gs
}
