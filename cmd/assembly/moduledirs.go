package assembly

import (
	"context"
	"path/filepath"
	"slices"

	"brine/internal/core/fileserver"
	"brine/internal/py/value"
)

// moduleOptions are the options that name directories of modules, by the directory
// of the tree whose modules these are. The second is the directory below that of
// the option extension_modules.
//
// Salt: salt/loader/__init__.py _module_dirs.
var moduleOptions = [...]struct{ option, below, dir string }{
	{"grains_dirs", "grains", "_grains"},
	{"module_dirs", "modules", "_modules"},
	{"pillar_dirs", "pillar", "_pillar"},
	{"render_dirs", "renderers", "_renderers"},
	{"returner_dirs", "returners", "_returners"},
	{"roster_dirs", "roster", "_roster"},
	{"runner_dirs", "runners", "_runners"},
	{"sdb_dirs", "sdb", "_sdb"},
	{"states_dirs", "states", "_states"},
	{"top_dirs", "tops", "_tops"},
	{"utils_dirs", "utils", "_utils"},
	{"wheel_dirs", "wheel", "_wheel"},
}

// moduleBackend serves directories of modules as those of the tree, behind its own.
type moduleBackend struct {
	dirs []fileserver.Dir
	envs []string
}

// Name is that of no backend of the configuration.
func (moduleBackend) Name() string { return "modules" }

// Envs returns the saltenvs of the roots.
func (b moduleBackend) Envs(context.Context) ([]string, error) { return b.envs, nil }

// Dirs returns the directories, which each saltenv has.
func (b moduleBackend) Dirs(_ context.Context, env string) ([]fileserver.Dir, bool, error) {
	return b.dirs, slices.Contains(b.envs, env), nil
}

// moduleDirs returns the backend of the directories that options name; false where
// none does.
func moduleDirs(opts *value.Map, cacheDir string, roots *fileserver.Roots) (moduleBackend, bool) {
	b := moduleBackend{envs: roots.Envs}
	if len(b.envs) == 0 {
		b.envs = []string{"base"}
	}
	add := func(path, mount string) {
		if path != "" {
			b.dirs = append(b.dirs, fileserver.Dir{Path: path, Mount: mount, Within: path})
		}
	}
	ext := opts.Str("extension_modules")
	if ext == filepath.Join(cacheDir, "extmods") {
		ext = "" // the default: copies of executables
	}
	for _, o := range moduleOptions {
		if ext != "" {
			add(filepath.Join(ext, o.below), o.dir)
		}
		for _, v := range opts.List(o.option).Strs() {
			add(v, o.dir)
		}
	}
	return b, len(b.dirs) > 0
}
