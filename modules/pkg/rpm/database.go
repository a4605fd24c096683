package rpm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
	"brine/modules/pkg"
	"brine/modules/tool"
)

// A Package is an installed package, or that of a file.
type Package struct {
	Name      string // as Salt lists it: with the architecture where that is not the machine's
	Base      string // as in rpm
	Epoch     string // "" where there is none, and for 0
	Version   string
	Release   string
	Arch      string
	Installed int64 // seconds since 1970; 0 where rpm has none
}

// EVR returns epoch, version and release as one text.
func (p *Package) EVR() string { return pkg.FormatVersion(p.Epoch, p.Version, p.Release) }

// date returns the time of the installation, and as a number; both are None where
// it is not known.
func (p *Package) date() (text, seconds value.Value) {
	if p.Installed == 0 {
		return nil, nil
	}
	return isoTime(p.Installed), p.Installed
}

func isoTime(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05") + "Z"
}

// queryFormat is what rpm is asked of each package. separator is what Salt has,
// too: it is in no part of a package.
const (
	separator   = "_|-"
	queryFormat = "%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-%{INSTALLTIME}\n"
)

// parse reads a line that queryFormat makes; ok is false for another line.
func parse(line, osarch string) (p Package, ok bool) {
	f := strings.Split(line, separator)
	if len(f) != 6 || f[0] == "" {
		return Package{}, false
	}
	p = Package{Base: f[0], Version: f[2], Release: f[3], Arch: f[4]}
	if f[1] != "(none)" && f[1] != "0" {
		p.Epoch = f[1]
	}
	if n, err := strconv.ParseInt(f[5], 10, 64); err == nil {
		p.Installed = n
	}
	p.Name = ResolveName(p.Base, p.Arch, osarch)
	return p, true
}

// A Database is what rpm has installed, in rpm's order. It is not to be changed.
type Database struct {
	Packages []Package
	sig      string
}

type databaseKey struct{ root string }

// databaseDirs are where rpm keeps its database, and databaseFiles which of its
// files change with it: those of SQLite, of Berkeley DB and of ndb.
var (
	databaseDirs  = []string{"/usr/lib/sysimage/rpm", "/var/lib/rpm"}
	databaseFiles = []string{"rpmdb.sqlite", "rpmdb.sqlite-wal", "Packages", "Packages.db"}
)

// Read returns what is installed below root, "" for the machine's own packages. It
// is asked once and kept for the run, until the files of rpm change.
func Read(ctx context.Context, env *fun.Env, root string) (*Database, error) {
	sig := signature(env.Host, root)
	key := databaseKey{root}
	if env.Memo != nil && sig != "" {
		if kept, ok := env.Memo.Load(key); ok {
			if db := kept.(*Database); db.sig == sig {
				return db, nil
			}
		}
	}
	out, err := Query(ctx, env.Host, root, "-qa", "--queryformat", queryFormat)
	if err != nil {
		return nil, err
	}
	if out.Status != 0 && out.Stdout == "" && out.Stderr != "" {
		return nil, fun.Errorf("rpm cannot read its database: %s", out.Stderr)
	}
	db := &Database{sig: sig}
	osarch := machine.Grain(env, "osarch")
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if p, ok := parse(line, osarch); ok {
			db.Packages = append(db.Packages, p)
		}
	}
	if env.Memo != nil {
		env.Memo.Store(key, db)
	}
	return db, nil
}

// signature tells one state of rpm's database from another; "" where its files are
// not known.
func signature(h host.Host, root string) string {
	var b strings.Builder
	for _, dir := range databaseDirs {
		for _, name := range databaseFiles {
			// An empty log comes and goes with every reader.
			if st, err := h.Stat(root + dir + "/" + name); err == nil && st.Size > 0 {
				fmt.Fprintf(&b, "%d %d %d ", st.Mtime.UnixNano(), st.Size, st.Inode)
			}
		}
	}
	return b.String()
}

// Details returns by name what pkg.list_pkgs tells of packages: a list of mappings,
// in order of the versions.
func (db *Database) Details() *value.Map {
	m := value.NewMap(len(db.Packages))
	for i := range db.Packages {
		p := &db.Packages[i]
		var epoch, release value.Value
		if p.Epoch != "" {
			epoch = p.Epoch
		}
		if p.Release != "" {
			release = p.Release
		}
		date, seconds := p.date()
		one := value.MapOf("epoch", epoch, "version", p.Version, "release", release, "arch", p.Arch,
			"install_date", date, "install_date_time_t", seconds)
		if l := m.List(p.Name); l != nil {
			l.Append(one)
		} else {
			m.Set(p.Name, value.NewList(one))
		}
	}
	for _, v := range m.All() {
		l := v.(*value.List)
		slices.SortStableFunc(l.Items, func(a, b value.Value) int {
			return strings.Compare(a.(*value.Map).Str("version"), b.(*value.Map).Str("version"))
		})
	}
	return m
}

// Versions returns the versions of packages by name, as lists.
func (db *Database) Versions() *value.Map {
	m := db.Details()
	for i := range m.Len() {
		name, v := m.Entry(i)
		l := value.NewList()
		for _, x := range v.(*value.List).Items {
			one := x.(*value.Map)
			l.Append(pkg.FormatVersion(fun.TextOf(one.At("epoch")), one.Str("version"), fun.TextOf(one.At("release"))))
		}
		m.Set(name, l)
	}
	return m
}

// Query runs rpm to look at its database below root, "" for the machine's own. What
// it prints is in English, and its times are in UTC.
func Query(ctx context.Context, h host.Host, root string, args ...string) (pkg.Output, error) {
	return run(ctx, h, root, true, args)
}

func run(ctx context.Context, h host.Host, root string, readOnly bool, args []string) (pkg.Output, error) {
	argv := []string{"rpm"}
	if root != "" {
		argv = append(argv, "--root", root)
	}
	env := append(tool.Environ(h), "TZ=UTC")
	return pkg.Run(ctx, h, pkg.Command{Argv: append(argv, args...), Env: env, ReadOnly: readOnly})
}

// ReadFile returns the package of a file. ok is false where it is not one that rpm
// can read; why is what rpm said then.
func ReadFile(ctx context.Context, env *fun.Env, file string) (p Package, ok bool, why string, err error) {
	if strings.HasPrefix(file, "-") {
		return p, false, "invalid path", nil
	}
	out, err := Query(ctx, env.Host, "", "-qp", "--queryformat", queryFormat, file)
	if err != nil {
		return p, false, "", err
	}
	p, ok = parse(lastLine(out.Stdout), machine.Grain(env, "osarch"))
	return p, ok, out.Fault(), nil
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// lockFiles are where rpm has its lock.
var lockFiles = []string{"/usr/lib/sysimage/rpm/.rpm.lock", "/var/lib/rpm/.rpm.lock"}

// LockLine returns the line by which rpm says that another process has its lock, and
// which one that is; "" where there is none.
func LockLine(h host.Host, text string) string {
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(l, "transaction lock") {
			continue
		}
		l = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), "RPM: "), "error: ")
		if by := pkg.Holder(h, lockFiles...); by != "" {
			l += ", held by " + by
		}
		return l
	}
	return ""
}
