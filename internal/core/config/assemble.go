package config

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/absent"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// assemble makes the opts of defaults and what was given.
func (l *loader) assemble() {
	opts := minionDefaults()
	if l.o.Kind == Master {
		opts = masterDefaults()
	}
	l.cfg.Opts = opts
	l.userDefaults(opts)
	opts.Set("config_dir", l.cfg.Dir)
	setAll(opts, l.given)
	if mode, ok := opts.Get("file_mode"); ok && mode == "local" {
		opts.Set("file_client", "local")
	}
	if opts.At("saltenv") == nil {
		if env, ok := opts.Get("environment"); ok && env != nil {
			opts.Set("saltenv", env)
		}
	}
	if l.o.Section != "" {
		opts.Set("__cli", l.o.Section)
	}
	if l.o.Kind == Minion {
		opts.Set("local", true)
	}
	l.rootOption(opts, "file_roots", l.o.FileRoots)
	l.rootOption(opts, "pillar_roots", l.o.PillarRoots)
	l.roots(opts, "file_roots", "/srv/salt")
	l.roots(opts, "pillar_roots", "/srv/pillar")
	l.paths(opts)
	l.backends(opts)
	l.keepJobs(opts)
	if s, ok := opts.At("hash_type").(string); ok {
		opts.Set("hash_type", strings.ToLower(s))
	}
	l.id(opts)
	l.cfg.CacheDir = opts.Str("cachedir")
}

// userDefaults sets what depends on who runs: an ordinary user's files lie
// where that user may write. BRINE_CACHE_DIR names another directory for the cache
// where the configuration has none, for runs that keep to themselves.
func (l *loader) userDefaults(opts *value.Map) {
	uid := l.h.Geteuid()
	if a, err := l.h.LookupUID(uid); err == nil {
		opts.Set("user", a.Name)
	} else {
		opts.Set("user", strconv.Itoa(uid))
	}
	if uid != 0 {
		cache := l.getenv("XDG_CACHE_HOME")
		if cache == "" || !filepath.IsAbs(cache) {
			home := l.getenv("HOME")
			if a, err := l.h.LookupUID(uid); home == "" && err == nil {
				home = a.Home
			}
			if home == "" {
				// Not in a directory where others could have put theirs before: there
				// is no cache then.
				home = "/nonexistent"
			}
			cache = filepath.Join(home, ".cache")
		}
		cache = filepath.Join(cache, "brine")
		opts.Set("cachedir", cache)
		opts.Set("sock_dir", filepath.Join(cache, "run"))
		opts.Set("log_file", filepath.Join(cache, "log", string(l.o.Kind)))
		opts.Set("pidfile", filepath.Join(cache, "run", string(l.o.Kind)+".pid"))
		opts.Set("sqlite_queue_dir", filepath.Join(cache, "queues"))
	}
	if cache := l.getenv("BRINE_CACHE_DIR"); filepath.IsAbs(cache) {
		opts.Set("cachedir", filepath.Clean(cache))
		opts.Set("sqlite_queue_dir", filepath.Join(cache, "queues"))
	}
}

// rootOption sets the roots that the command line gave: they are relative to
// the working directory and replace those of the configuration.
func (l *loader) rootOption(opts *value.Map, key string, dirs []string) {
	if len(dirs) == 0 {
		return
	}
	abs := value.NewList()
	for _, d := range dirs {
		abs.Append(l.abs(d))
	}
	opts.Set(key, value.MapOf("base", abs))
	l.given.Set(key, nil)
}

// roots puts file_roots or pillar_roots in order: text keys, lists of
// absolute paths, globs expanded.
func (l *loader) roots(opts *value.Map, key, def string) {
	m, ok := opts.At(key).(*value.Map)
	if !ok {
		if v := opts.At(key); v != nil {
			l.warn(l.given.Pos(key), "%s must be a mapping of environments, not %s; %s is used", key, value.Kind(v), def)
		}
		opts.Set(key, value.MapOf("base", value.Strings(def)))
		return
	}
	out := value.NewMap(m.Len())
	for env, dirs := range m.All() {
		var paths []value.Value
		switch d := dirs.(type) {
		case *value.List:
			paths = d.Items
		case value.Tuple:
			paths = d
		case nil:
		default:
			l.warn(m.Pos(env), "%s of environment %q must be a list, not %s; it is empty, as in Salt", key, value.Str(env), value.Kind(dirs))
		}
		abs := value.NewList()
		for _, p := range paths {
			path := l.relative(value.Str(p), key)
			if value.HasGlob(path) {
				for _, g := range l.glob(path) {
					abs.Append(g)
				}
				continue
			}
			if l.given.Has(key) && !strings.Contains(path, "__env__") && !l.isDir(path) {
				l.warn(m.Pos(env), "%s of environment %q: the directory %s does not exist", key, value.Str(env), path)
			}
			abs.Append(path)
		}
		out.Set(value.Str(env), abs)
	}
	opts.Set(key, out)
}

// relative makes a path of option key absolute. It is taken from the directory
// of the file that set the option; where nothing is there, but something is
// below the working directory, from that, as Salt does.
func (l *loader) relative(path, key string) string {
	path = l.expandUser(path)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	base := l.cfg.Dir
	if d, ok := l.origin[key]; ok {
		base = d
	}
	here := filepath.Join(base, path)
	if l.exists(here) {
		return here
	}
	if cwd := filepath.Join(l.cwd(), path); l.exists(cwd) {
		return cwd
	}
	return here
}

func (l *loader) exists(path string) bool {
	if value.HasGlob(path) {
		return len(l.glob(path)) > 0
	}
	_, err := l.h.Stat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// paths makes path options absolute and puts root_dir before those that Salt
// has below it.
func (l *loader) paths(opts *value.Map) {
	root := l.relative(opts.Str("root_dir"), "root_dir")
	if root == "" {
		root = "/"
	}
	opts.Set("root_dir", root)
	rooted := []string{
		"pki_dir", "cachedir", "sock_dir", "extension_modules", "pidfile", "autosign_file", "autoreject_file",
		"log_file", "key_logfile", "ssh_log_file", "sqlite_queue_dir",
	}
	for _, k := range rooted {
		p, ok := opts.At(k).(string)
		if !ok || p == "" || strings.Contains(p, "://") {
			continue
		}
		if !filepath.IsAbs(l.expandUser(p)) && root != "/" {
			opts.Set(k, filepath.Join(root, p))
			continue
		}
		p = l.relative(p, k)
		if root != "/" && !below(p, root) && (l.given.Has(k) || l.h.Geteuid() == 0) {
			p = filepath.Join(root, p)
		}
		opts.Set(k, p)
	}
	if opts.Str("extension_modules") == "" {
		opts.Set("extension_modules", filepath.Join(opts.Str("cachedir"), "extmods"))
	}
	for _, k := range []string{"roster_file", "conf_file"} {
		if p := opts.Str(k); p != "" {
			opts.Set(k, l.relative(p, k))
		}
	}
	for _, k := range [...]string{
		"rosters", "grains_dirs", "module_dirs", "pillar_dirs", "render_dirs", "returner_dirs", "runner_dirs", "states_dirs", "top_dirs", "utils_dirs",
	} {
		dirs, ok := opts.At(k).(*value.List)
		switch {
		case !ok && opts.At(k) != nil && k != "rosters":
			l.warn(l.given.Pos(k), "%s must be a list of directories, not %s; it is empty", k, value.Kind(opts.At(k)))
			opts.Set(k, value.NewList())
		case ok && dirs.Len() > 0:
			abs := value.NewList()
			for _, d := range dirs.Items {
				path := l.relative(value.Str(d), k)
				if k != "rosters" && !l.isDir(path) {
					l.warn(l.given.Pos(k), "%s: the directory %s does not exist", k, path)
				}
				abs.Append(path)
			}
			opts.Set(k, abs)
		}
	}
}

func below(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// Backends returns the file server backends that there are.
func Backends() []string { return []string{"roots", "gitfs", "hgfs", "svnfs", "s3fs", "minionfs"} }

// backends replaces the old names of file server backends with the current
// ones, and warns of backends that are not supported.
func (l *loader) backends(opts *value.Map) {
	list, ok := opts.At("fileserver_backend").(*value.List)
	if !ok {
		return
	}
	for i, b := range list.Items {
		name := value.Str(b)
		switch name {
		case "git", "hg", "svn", "minion":
			name += "fs"
			list.Items[i] = name
		}
		if !slices.Contains(Backends(), name) && l.given.Has("fileserver_backend") {
			pos := list.PosAt(i)
			if why := absent.ReasonSuffix(absent.FileServer, name); why != "" {
				l.warn(pos, "fileserver_backend %q is not supported%s", name, why)
				continue
			}
			l.warn(pos, "fileserver_backend %q is not supported%s; there are %s", name, source.DidYouMean(name, Backends()), strings.Join(Backends(), ", "))
		}
	}
}

// keepJobs takes the old option keep_jobs, hours, for keep_jobs_seconds where that
// has its default. Salt: salt/utils/job.py get_keep_jobs_seconds.
func (l *loader) keepJobs(opts *value.Map) {
	hours := l.given.At("keep_jobs")
	if hours == nil || value.Equal(hours, int64(24)) || !value.Equal(opts.At("keep_jobs_seconds"), int64(86400)) {
		return
	}
	n, ok := value.AsInt(hours)
	if !ok || n < 0 {
		l.warn(l.given.Pos("keep_jobs"), "keep_jobs must be a number of hours, not %s", value.Repr(hours))
		return
	}
	opts.Set("keep_jobs_seconds", n*3600)
}

// id sets the id by Salt's rules: configuration or command line, the minion_id
// file, else the name of this machine.
func (l *loader) id(opts *value.Map) {
	id := opts.At("id")
	name, isIP, found := "", false, false
	if value.Truth(id) {
		name, found = value.Str(id), true
	}
	if !found && truthDefault(opts, "minion_id_caching", true) {
		name = l.idFile()
		found = name != ""
	}
	if !found {
		name = l.machineName()
		if value.Truth(opts.At("minion_id_lowercase")) {
			name = strings.ToLower(name)
		}
		name = removeDomain(name, opts.At("minion_id_remove_domain"))
		isIP = net.ParseIP(name) != nil
	}
	if d, ok := opts.At("append_domain").(string); ok && d != "" && !isIP {
		if !strings.HasSuffix(name, d) && !strings.HasSuffix(name, ".") {
			name += "." + d
		}
	}
	if l.o.Kind == Master && !value.Truth(id) {
		name += "_master"
	}
	opts.Set("id", name)
}

func truthDefault(m *value.Map, key string, def bool) bool {
	v, ok := m.Get(key)
	if !ok {
		return def
	}
	return value.Truth(v)
}

// idFile returns the first line of the minion_id file, "" where there is none.
func (l *loader) idFile() string {
	text, err := l.h.ReadFile(filepath.Join(l.cfg.Dir, "minion_id"))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	line = strings.TrimSpace(line)
	if line == "localhost" {
		return ""
	}
	return line
}

// removeDomain takes domains off a name: true takes all after the first dot, a
// text or list those that end it.
func removeDomain(name string, domains value.Value) string {
	switch d := domains.(type) {
	case bool:
		if d {
			name, _, _ = strings.Cut(name, ".")
		}
	case string:
		if d != "" {
			name = strings.TrimSuffix(name, "."+strings.TrimPrefix(d, "."))
		}
	case *value.List:
		for _, x := range d.Items {
			if n := removeDomain(name, value.Str(x)); n != name {
				return n
			}
		}
	}
	return name
}

// lookupTime bounds the questions to the name service on start-up.
const lookupTime = 500 * time.Millisecond

// machineName returns the fully qualified name of this machine if the hosts
// file or, within half a second, the name service has it; else the host name;
// else "localhost".
func (l *loader) machineName() string {
	name, err := l.h.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	if strings.Contains(name, ".") || net.ParseIP(name) != nil {
		return name
	}
	if fq, known := l.fromHosts(name); known {
		return fq
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	if fq := resolve(ctx, l.h, name); fq != "" {
		return fq
	}
	return name
}

func resolve(ctx context.Context, n host.Network, name string) string {
	ips, err := n.LookupIP(ctx, name)
	if err != nil {
		return ""
	}
	for _, ip := range ips {
		if ip.IsLoopback() {
			continue
		}
		names, err := n.LookupAddr(ctx, ip.String())
		if err != nil {
			continue
		}
		for _, fq := range names {
			fq = strings.TrimSuffix(fq, ".")
			if strings.HasPrefix(fq, name+".") && !strings.HasPrefix(fq, "localhost") {
				return fq
			}
		}
	}
	return ""
}

// fromHosts returns the name that the hosts file has for name: the first one
// with a dot on a line that names it, else name itself.
func (l *loader) fromHosts(name string) (string, bool) {
	text, err := l.h.ReadFile("/etc/hosts")
	if err != nil {
		return "", false
	}
	known := false
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		for _, n := range f[1:] {
			known = known || n == name
		}
		if !known {
			continue
		}
		for _, n := range f[1:] {
			if strings.Contains(n, ".") && !strings.HasPrefix(n, "localhost") {
				return n, true
			}
		}
		return name, true
	}
	return name, known
}
