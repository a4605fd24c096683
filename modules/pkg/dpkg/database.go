package dpkg

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

const (
	statusFile = "/var/lib/dpkg/status"
	updatesDir = "/var/lib/dpkg/updates"
)

// A Package is an entry of dpkg's database.
type Package struct {
	Name    string
	Arch    string
	Version string // "" where dpkg has none, as for a package that is only selected
	Want    string // install, hold, deinstall, purge, unknown
	Flag    string // ok, reinstreq
	Status  string // installed, config-files, half-configured, ...
	Same    bool   // Multi-Arch: same, so that dpkg names it with its architecture
}

// Installed reports whether Salt counts the package as installed.
func (p *Package) Installed() bool {
	return (strings.Contains(p.Want, "install") || p.Want == "hold") && strings.Contains(p.Status, "installed")
}

// A Database is what dpkg knows of packages, in order of their names. It is not
// to be changed.
type Database struct {
	Packages []Package
	Arch     string // of the machine

	sig    signature
	byName map[string][]*Package
}

// A signature tells one state of dpkg's files from another.
type signature struct {
	mtime   time.Time
	size    int64
	inode   uint64
	updates string
}

type databaseKey struct{}

// Read returns dpkg's database. It is read once and kept for the run, until the
// files of dpkg change. An error is one of the host: a database that is not there
// is empty.
func Read(env *fun.Env) (*Database, error) {
	sig, updates, err := sign(env.Host)
	if err != nil {
		return nil, err
	}
	if env.Memo != nil {
		if kept, ok := env.Memo.Load(databaseKey{}); ok {
			if db := kept.(*Database); db.sig == sig {
				return db, nil
			}
		}
	}
	db, err := load(env.Host, updates)
	if err != nil {
		return nil, err
	}
	db.sig, db.Arch = sig, machineArch(env)
	if env.Memo != nil {
		env.Memo.Store(databaseKey{}, db)
	}
	return db, nil
}

// sign also returns the journal: files that dpkg has not merged yet.
func sign(h host.Host) (signature, []string, error) {
	st, err := h.Stat(statusFile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return signature{}, nil, err
	}
	sig := signature{mtime: st.Mtime, size: st.Size, inode: st.Inode}
	names, _ := h.ReadDir(updatesDir) // which there may not be
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Trim(n, "0123456789") != "" })
	sig.updates = strings.Join(names, " ")
	return sig, names, nil
}

func load(h host.Host, updates []string) (*Database, error) {
	text, err := h.ReadFile(statusFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db := &Database{Packages: Parse(text)}
	for _, name := range updates { // each has the entry of one package in full
		text, err := h.ReadFile(updatesDir + "/" + name)
		if err != nil {
			continue
		}
		for _, p := range Parse(text) {
			i := slices.IndexFunc(db.Packages, func(q Package) bool { return q.Name == p.Name && q.Arch == p.Arch })
			if i >= 0 {
				db.Packages[i] = p
			} else {
				db.Packages = append(db.Packages, p)
			}
		}
	}
	slices.SortStableFunc(db.Packages, func(a, b Package) int {
		if n := strings.Compare(a.Name, b.Name); n != 0 {
			return n
		}
		return strings.Compare(a.Arch, b.Arch)
	})
	db.byName = make(map[string][]*Package, len(db.Packages))
	for i := range db.Packages {
		p := &db.Packages[i]
		db.byName[p.Name] = append(db.byName[p.Name], p)
	}
	return db, nil
}

// Parse reads a status file: paragraphs of fields. What is no such thing is left
// out.
func Parse(text []byte) []Package {
	list := make([]Package, 0, bytes.Count(text, []byte("\nPackage:"))+1)
	var p Package
	end := func() {
		if p.Name != "" {
			list = append(list, p)
		}
		p = Package{}
	}
	for len(text) > 0 {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if len(line) == 0 {
			end()
			continue
		}
		switch line[0] {
		case 'P', 'S', 'V', 'A', 'M':
			p.field(line)
		}
	}
	end()
	return list
}

func (p *Package) field(line []byte) {
	key, val, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return
	}
	switch string(key) {
	case "Package":
		p.Name = string(bytes.TrimSpace(val))
	case "Version":
		p.Version = string(bytes.TrimSpace(val))
	case "Architecture":
		p.Arch = string(bytes.TrimSpace(val))
	case "Multi-Arch":
		p.Same = string(bytes.TrimSpace(val)) == "same"
	case "Status":
		if f := bytes.Fields(val); len(f) == 3 {
			p.Want, p.Flag, p.Status = string(f[0]), string(f[1]), string(f[2])
		}
	}
}

// machineArch is dpkg's name of the machine's architecture.
func machineArch(env *fun.Env) string {
	if env.Grains != nil {
		if v, ok := env.Grains.Get("osarch"); ok && v != nil {
			return value.Str(v)
		}
	}
	return ""
}

// FullName returns the name by which Salt lists a package: with the architecture
// where that is not the machine's.
func (db *Database) FullName(p *Package) string { return FullName(p.Name, p.Arch, db.Arch) }

// FullName is the name of a package of an architecture on a machine.
func FullName(name, arch, machine string) string {
	if arch == "" || arch == "all" || machine == "" || arch == machine {
		return name
	}
	return name + ":" + arch
}

// Find returns the entries of a name, which may have an architecture.
func (db *Database) Find(name string) []*Package {
	base, arch, ok := strings.Cut(name, ":")
	list := db.byName[base]
	if !ok {
		if len(list) > 1 { // the one that a bare name means
			for _, p := range list {
				if db.FullName(p) == name {
					return []*Package{p}
				}
			}
		}
		return list
	}
	for _, p := range list {
		if p.Arch == arch || arch == "any" {
			return []*Package{p}
		}
	}
	return nil
}

// A List is which packages [Database.List] returns.
type List int

// The lists of pkg.list_pkgs.
const (
	Installed    List = iota // with those of PurgeDesired
	Removed                  // removed, but not purged
	PurgeDesired             // to be purged, but still needed
)

// List returns versions by name: lists of text.
func (db *Database) List(which List) *value.Map {
	n := 0
	if which == Installed {
		n = len(db.Packages)
	}
	out := value.NewMap(n)
	last := ""
	add := func(p *Package) {
		name := db.FullName(p)
		if p.Name == last { // of another architecture
			if l := out.List(name); l != nil {
				l.Append(p.Version)
				return
			}
		}
		last = p.Name
		out.Set(name, value.NewList(p.Version))
	}
	for i := range db.Packages {
		p := &db.Packages[i]
		if p.Version == "" {
			continue
		}
		switch {
		case p.Installed():
			if which == Installed {
				add(p)
			}
		case strings.Contains(p.Want, "deinstall"):
			if which == Removed {
				add(p)
			}
		case p.Want == "purge" && p.Status == "installed":
			if which != Removed {
				add(p)
			}
		}
	}
	return out
}

// Broken returns the versions of packages that dpkg has begun to install and not
// ended, by name, with the status: "1.0 (half-configured)".
func (db *Database) Broken() *value.Map {
	out := value.NewMap(0)
	for i := range db.Packages {
		p := &db.Packages[i]
		switch p.Status {
		case "unpacked", "half-configured", "triggers-awaited", "triggers-pending":
			out.Set(db.FullName(p), p.Version+" ("+p.Status+")")
		}
	}
	return out
}

// Selections returns the names of packages by what is wanted of them, for names
// that match a pattern; "" is all. Packages of other architectures have theirs in
// the name.
func (db *Database) Selections(pattern string) *value.Map {
	out := value.NewMap(4)
	for i := range db.Packages {
		p := &db.Packages[i]
		if p.Want == "" || p.Want == "unknown" {
			continue
		}
		name := db.FullName(p)
		if p.Same {
			name = p.Name + ":" + p.Arch
		}
		if pattern != "" && !db.matches(p, pattern) {
			continue
		}
		if l := out.List(p.Want); l != nil {
			l.Append(name)
		} else {
			out.Set(p.Want, value.NewList(name))
		}
	}
	return out
}

// matches reports whether a pattern of dpkg means p: NAME is that of any
// architecture, NAME:ARCH of one.
func (db *Database) matches(p *Package, pattern string) bool {
	name, arch, ok := strings.Cut(pattern, ":")
	return value.Fnmatch(name, p.Name) && (!ok || arch == "any" || value.Fnmatch(arch, p.Arch))
}
