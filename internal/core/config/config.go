// Package config reads Salt's configuration and makes Salt's __opts__ of it.
//
// [Load] finds the directory, reads the minion or master file and what it
// includes, and puts defaults below and the command line above. Every key that
// a file has is kept, whether brine knows it or not.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A Kind says whose configuration is read.
type Kind string

// The kinds: brine call is a minion, everything else works as a master does.
const (
	Minion Kind = "minion"
	Master Kind = "master"
)

func (k Kind) other() Kind {
	if k == Minion {
		return Master
	}
	return Minion
}

// Options say where to look and what the command line gave.
type Options struct {
	Kind Kind
	Host host.Host
	// Dir is -c: a directory, or a configuration file. "" looks further: see
	// [Load].
	Dir string
	// Section is the part of a Saltfile that holds for the command:
	// "salt-call", "salt-run", "salt-ssh" or "salt".
	Section string
	// Saltfile is --saltfile; "" is ./Saltfile, where there is one.
	Saltfile string
	// Upwards looks for a Saltfile also in the directories above the working directory,
	// unless Dir or the environment names the configuration.
	Upwards bool
	// NoSaltfile has no Saltfile read, that of the environment neither.
	NoSaltfile bool
	// FileRoots and PillarRoots are --file-root and --pillar-root: the
	// directories of base, instead of those of the configuration.
	FileRoots, PillarRoots []string
	// Override are opts given on the command line (id, saltenv, log_level,
	// state_output, test, ...); nil values are set too.
	Override *value.Map
}

// A Config is a configuration in effect.
type Config struct {
	Kind Kind
	// Opts are Salt's __opts__.
	Opts *value.Map
	// Dir is the configuration directory; it need not exist.
	Dir string
	// Named says that the user named the directory, by a flag or a variable; else
	// it is where brine looks.
	Named bool
	// Files are the files that were read, in order, the Saltfile included.
	Files []string
	// Saltfile is the one that was found above the working directory; "" is none.
	Saltfile string
	// CacheDir is where brine keeps what outlives a run.
	CacheDir string
	// Warnings are mistakes that do not prevent a run.
	Warnings []Warning

	given  *value.Map
	places map[string]source.Pos // of the options that files set
}

// Place returns where an option is set; the zero place where no file does.
func (c *Config) Place(option string) source.Pos { return c.places[option] }

// Given reports whether a file, the Saltfile or the command line sets an option;
// else it has its default.
func (c *Config) Given(option string) bool { return c.given.Has(option) }

// Settings returns the options that files, the Saltfile and the command line set.
func (c *Config) Settings() *value.Map { return c.given }

// Default returns what an option is where nothing sets it.
func Default(k Kind, option string) value.Value {
	if k == Master {
		return masterDefaults().At(option)
	}
	return minionDefaults().At(option)
}

// A Warning is a mistake in the configuration that does not prevent a run.
type Warning struct {
	Pos  source.Pos
	Text string
}

// DefaultDir is where Salt has its configuration, and OwnDir where brine's packages
// make room for one.
const (
	DefaultDir = "/etc/salt"
	OwnDir     = "/etc/brine"
)

// loader is one reading.
type loader struct {
	o      Options
	h      host.Host
	cfg    *Config
	given  *value.Map // what files and command line set
	origin map[string]string
	named  bool // what is read now was named by the user
}

// Load reads a configuration.
//
// The directory is o.Dir, else $BRINE_CONFIG_DIR, else $SALT_CONFIG_DIR, else
// config_dir of the Saltfile (./Saltfile, with o.Upwards one above it, ~/.salt/Saltfile),
// else that of the file $SALT_MINION_CONFIG or
// $SALT_MASTER_CONFIG, else /etc/brine if it has such files or directories,
// else /etc/salt. In it the file of o.Kind is read with kind.d/*.conf (or what
// default_include names), then what include names; where no file of that kind
// exists, the other kind's files are read. Without any file the defaults apply.
//
// Relative paths in file_roots, pillar_roots and the other path options are
// relative to the directory of the configuration, or, where that does not
// exist, relative to the working directory as Salt does. It returns a
// *source.Error for a file that does not parse, and an error that names o.Dir
// if it does not exist.
func Load(o Options) (*Config, error) {
	l := &loader{o: o, h: o.Host, given: value.NewMap(16), origin: map[string]string{}, cfg: &Config{Kind: o.Kind, places: map[string]source.Pos{}}}
	salt, err := l.saltfile()
	if err != nil {
		return nil, err
	}
	main, err := l.findDir(salt)
	if err != nil {
		return nil, err
	}
	if err := l.readFiles(main); err != nil {
		return nil, err
	}
	l.misspelt(l.given, checkedOptions)
	for k, v := range salt.All() {
		if k != "config_dir" {
			l.given.Set(k, v)
			l.cfg.places[value.Str(k)] = salt.Pos(k)
		}
	}
	if o.Override != nil {
		l.given.Update(o.Override)
	}
	l.cfg.given = l.given
	l.assemble()
	return l.cfg, nil
}

// checkedOptions are the options whose misspelt names are warned of: without them
// brine would find no tree, or would do something else. A file may have any other
// name: config.get reads it.
var checkedOptions = []string{
	"cachedir", "ext_pillar", "failhard", "file_roots", "fileserver_backend", "grains", "include", "log_level", "mask_secrets",
	"pillar_roots", "pillarenv", "renderer", "roster", "roster_defaults", "roster_file", "saltenv", "ssh_max_procs", "ssh_user",
	"state_output", "state_top", "state_verbose", "top_file_merging_strategy",
}

// saltfileOptions are those that a section of a Saltfile has beside them.
var saltfileOptions = []string{
	"config_dir", "rosters", "ssh_identities_only", "ssh_passwd", "ssh_port", "ssh_priv", "ssh_priv_passwd", "ssh_sudo", "ssh_timeout", "ssh_wipe",
}

// misspelt warns of options of m whose names are likely misspelt ones of known.
func (l *loader) misspelt(m *value.Map, known []string) {
	for k := range m.All() {
		name, ok := k.(string)
		if !ok || len(name) < 6 || slices.Contains(known, name) {
			continue
		}
		if strings.HasPrefix(name, "git_pillar_") {
			continue // package gitfs knows these
		}
		near, ok := source.Nearest(name, known)
		if ok && !minionDefaults().Has(name) && !masterDefaults().Has(name) {
			l.warn(m.Pos(k), "unknown option %q (did you mean %q?)", name, near)
		}
	}
}

func (l *loader) warn(pos source.Pos, format string, args ...any) {
	l.cfg.Warnings = append(l.cfg.Warnings, Warning{pos, fmt.Sprintf(format, args...)})
}

func (l *loader) getenv(name string) string {
	env := l.h.Environ()
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// cwd returns the working directory, or "/" where it is gone.
func (l *loader) cwd() string {
	d, err := l.h.Getwd()
	if err != nil {
		return "/"
	}
	return d
}

func (l *loader) abs(path string) string {
	path = l.expandUser(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(l.cwd(), path)
}

func (l *loader) expandUser(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home := l.getenv("HOME"); home != "" {
			return home + path[1:]
		}
	}
	return path
}

func (l *loader) isDir(path string) bool {
	st, err := l.h.Stat(path)
	return err == nil && st.Mode.IsDir()
}

func (l *loader) isFile(path string) bool {
	st, err := l.h.Stat(path)
	return err == nil && st.Mode.IsRegular()
}

// Saltfile returns the section of the Saltfile that holds for o, empty where
// there is none, and the Saltfile if it was found above the working directory.
func Saltfile(o Options) (section *value.Map, above string, err error) {
	l := &loader{o: o, h: o.Host, origin: map[string]string{}, cfg: &Config{Kind: o.Kind, places: map[string]source.Pos{}}}
	section, err = l.saltfile()
	return section, l.cfg.Saltfile, err
}

// saltfile returns the section of the Saltfile that holds, empty where there
// is none.
func (l *loader) saltfile() (*value.Map, error) {
	if l.o.NoSaltfile {
		return value.NewMap(0), nil
	}
	path := l.o.Saltfile
	explicit := path != ""
	if path == "" {
		path = l.getenv("SALT_SALTFILE")
		explicit = path != ""
	}
	if path == "" {
		for _, p := range []string{l.abs("Saltfile"), l.above(), l.expandUser("~/.salt/Saltfile")} {
			if filepath.IsAbs(p) && l.isFile(p) {
				path = p
				break
			}
		}
	}
	if path == "" {
		return value.NewMap(0), nil
	}
	path = l.abs(path)
	if explicit && !l.isFile(path) {
		return nil, fmt.Errorf("read Saltfile %s: %w", path, fs.ErrNotExist)
	}
	l.named = explicit
	m, err := l.readFile(path)
	l.named = false
	if err != nil {
		return nil, err
	}
	for k := range m.All() {
		switch k {
		case "salt-call", "salt-run", "salt-ssh", "salt", "salt-key", "salt-cp", "salt-master", "salt-minion", "salt-cloud", "salt-syndic", "salt-api", "spm":
		default:
			name := value.Str(k)
			l.warn(m.Pos(k), "a Saltfile has no section %q%s", name, source.DidYouMean(name, []string{"salt-call", "salt-run", "salt-ssh", "salt"}))
		}
	}
	sec, _ := m.Get(l.o.Section)
	if sec == nil {
		return value.NewMap(0), nil
	}
	s, ok := sec.(*value.Map)
	if !ok {
		return nil, &source.Error{Pos: m.Pos(l.o.Section), Err: fmt.Errorf("section %q must be a mapping, not %s", l.o.Section, value.Kind(sec))}
	}
	l.misspelt(s, slices.Concat(checkedOptions, saltfileOptions))
	s = s.Copy()
	dir := filepath.Dir(path)
	if d := s.Str("config_dir"); d != "" && !filepath.IsAbs(l.expandUser(d)) {
		s.Set("config_dir", filepath.Join(dir, d))
	}
	for k := range s.All() {
		l.origin[value.Str(k)] = dir
	}
	return s, nil
}

// above returns the Saltfile of the nearest directory above the working directory that has
// one; "" where there is none. Files, links and directories that somebody else could have
// put there end the search: /tmp/Saltfile is anybody's.
func (l *loader) above() string {
	if !l.o.Upwards || l.o.Dir != "" || l.getenv("BRINE_CONFIG_DIR") != "" || l.getenv("SALT_CONFIG_DIR") != "" {
		return ""
	}
	dir := l.cwd()
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		st, err := l.h.Lstat(dir)
		if err != nil || !st.Mode.IsDir() || host.Untrusted(l.h, st) != "" {
			return ""
		}
		path := filepath.Join(dir, "Saltfile")
		st, err = l.h.Lstat(path)
		if err != nil {
			continue
		}
		if !st.Mode.IsRegular() || host.Untrusted(l.h, st) != "" {
			return ""
		}
		l.cfg.Saltfile = path
		return path
	}
	return ""
}

// findDir sets the configuration directory and returns the main file.
func (l *loader) findDir(salt *value.Map) (string, error) {
	dir, what := l.o.Dir, "-c"
	if dir != "" {
		l.named, l.cfg.Named = true, true
		dir = l.abs(dir)
		if l.isFile(dir) {
			l.cfg.Dir = filepath.Dir(dir)
			return dir, nil
		}
		if !l.isDir(dir) {
			return "", fmt.Errorf("configuration directory %s: %w", dir, fs.ErrNotExist)
		}
	}
	for _, name := range []string{"BRINE_CONFIG_DIR", "SALT_CONFIG_DIR"} {
		if dir == "" {
			dir, what = l.getenv(name), "$"+name
			l.named, l.cfg.Named = dir != "", dir != ""
		}
	}
	if dir == "" {
		dir, what = salt.Str("config_dir"), "config_dir of the Saltfile"
	}
	if dir == "" {
		if file := l.getenv("SALT_" + strings.ToUpper(string(l.o.Kind)) + "_CONFIG"); file != "" && l.isFile(l.abs(file)) {
			l.cfg.Dir = filepath.Dir(l.abs(file))
			l.named, l.cfg.Named = true, true
			return l.abs(file), nil
		}
		dir, what = l.defaultDir(), ""
	}
	l.cfg.Dir = l.abs(dir)
	if what != "" && !l.isDir(l.cfg.Dir) {
		l.warn(source.Pos{}, "the configuration directory %s, named by %s, does not exist", l.cfg.Dir, what)
	}
	main := filepath.Join(l.cfg.Dir, string(l.o.Kind))
	if l.serves(l.o.Kind) {
		return main, nil
	}
	if other := l.o.Kind.other(); l.serves(other) {
		return filepath.Join(l.cfg.Dir, string(other)), nil
	}
	return main, nil
}

// defaultDir returns the directory that is read when none is named.
func (l *loader) defaultDir() string {
	if l.has(OwnDir, Minion) || l.has(OwnDir, Master) {
		return OwnDir
	}
	return DefaultDir
}

// serves reports whether there is configuration of a kind.
func (l *loader) serves(k Kind) bool { return l.has(l.cfg.Dir, k) }

// has reports whether a directory has configuration of a kind.
func (l *loader) has(dir string, k Kind) bool {
	main := filepath.Join(dir, string(k))
	if l.isFile(main) {
		return true
	}
	return len(l.glob(main+".d/*.conf")) > 0
}

// readFiles reads the main file and what it includes into l.given.
func (l *loader) readFiles(main string) error {
	l.given.Set("conf_file", main)
	if l.isFile(main) {
		m, err := l.readFile(main)
		if err != nil {
			return err
		}
		setAll(l.given, m)
	}
	def := value.Value(filepath.Base(main) + ".d/*.conf")
	if v, ok := l.given.Get("default_include"); ok {
		def = v
	}
	include := l.given.At("include")
	for i, inc := range []value.Value{def, include} {
		m, err := l.include(inc, main, i == 1, 0)
		if err != nil {
			return err
		}
		setAll(l.given, m)
	}
	return nil
}

// setAll sets the entries of src in dst with their places.
func setAll(dst, src *value.Map) {
	for k, v := range src.All() {
		dst.Set(k, v)
		if p := src.Pos(k); !p.IsZero() {
			dst.SetPos(k, p)
		}
	}
}

// maxIncludes bounds how deep configuration files include others.
const maxIncludes = 16

// include reads the files that patterns name, later ones over earlier ones:
// their dicts and lists are joined.
// Salt: salt/config/__init__.py include_config.
func (l *loader) include(patterns value.Value, from string, verbose bool, depth int) (*value.Map, error) {
	out := value.NewMap(0)
	var globs []value.Value
	switch p := patterns.(type) {
	case nil:
	case *value.List:
		globs = p.Items
	default:
		globs = []value.Value{p}
	}
	if len(globs) > 0 && depth > maxIncludes {
		return nil, &source.Error{Pos: source.Pos{File: from}, Err: errors.New("include: files include each other without end")}
	}
	for _, g := range globs {
		pattern := l.expandUser(value.Str(g))
		if pattern == "" {
			continue
		}
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(filepath.Dir(from), pattern)
		}
		files := l.glob(pattern)
		if len(files) == 0 && verbose {
			l.warn(source.Pos{File: from}, "include %q matches no files", pattern)
		}
		for _, f := range files {
			if !l.isFile(f) {
				continue
			}
			m, err := l.readFile(f)
			if err != nil {
				return nil, err
			}
			if inc := m.At("include"); inc != nil {
				sub, err := l.include(inc, f, verbose, depth+1)
				if err != nil {
					return nil, err
				}
				m.Update(sub)
			}
			value.Update(out, m, true, true)
		}
	}
	return out, nil
}

// read returns the content of a file; one that was found, not named, must be one
// that nobody else could have written.
func (l *loader) read(path string) ([]byte, error) {
	if l.named {
		return l.h.ReadFile(path)
	}
	return host.ReadTrusted(l.h, path)
}

// readFile reads one file of keys.
func (l *loader) readFile(path string) (*value.Map, error) {
	text, err := l.read(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	l.cfg.Files = append(l.cfg.Files, path)
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, text)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if v == nil || !value.Truth(v) {
		return value.NewMap(0), nil
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, &source.Error{
			Pos: source.Pos{File: path, Line: 1, Col: 1},
			Err: fmt.Errorf("configuration must be a mapping, not %s", value.Kind(v)),
		}
	}
	dir := filepath.Dir(path)
	for k := range m.All() {
		l.origin[value.Str(k)] = dir
		l.cfg.places[value.Str(k)] = m.Pos(k)
	}
	if id, ok := m.Get("id"); ok && id != nil {
		m.Set("id", value.Str(id))
	}
	return m, nil
}

func (l *loader) glob(pattern string) []string { return Glob(l.h, pattern) }

// Glob returns the paths that match a pattern, sorted. A pattern without
// special characters matches itself if it exists.
func Glob(h host.Host, pattern string) []string {
	if !value.HasGlob(pattern) {
		if _, err := h.Stat(pattern); err != nil {
			return nil
		}
		return []string{pattern}
	}
	dir, base := filepath.Split(filepath.Clean(pattern))
	dir = filepath.Clean(dir)
	dirs := []string{dir}
	if value.HasGlob(dir) && dir != pattern {
		dirs = Glob(h, dir)
	}
	var out []string
	for _, d := range dirs {
		if !value.HasGlob(base) {
			out = append(out, Glob(h, filepath.Join(d, base))...)
			continue
		}
		names, err := h.ReadDir(d)
		if err != nil {
			continue
		}
		for _, n := range names {
			if strings.HasPrefix(n, ".") && !strings.HasPrefix(base, ".") {
				continue
			}
			if value.Fnmatch(base, n) {
				out = append(out, filepath.Join(d, n))
			}
		}
	}
	return out
}
