package fileserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

// Pushed is the backend minionfs: the files that targets pushed with cp.push, below the ID of
// each.
//
// Salt: salt/fileserver/minionfs.py.
type Pushed struct {
	files      host.Files
	dir        string // has a directory for each ID
	env, mount string
	allow      []string // globs and regular expressions of IDs
	deny       []string
	err        error // of the options

	mu   sync.Mutex
	read time.Time // when the directory changed that ids are of
	ids  []string
}

var _ Backend = (*Pushed)(nil)

// NewPushed returns the files that targets pushed to cachedir.
func NewPushed(files host.Files, cachedir string, opts *value.Map) *Pushed {
	p := &Pushed{
		files: files, dir: filepath.Join(cachedir, "minions"), env: "base",
		allow: texts(opts.At("minionfs_whitelist")), deny: texts(opts.At("minionfs_blacklist")),
	}
	if env := opts.Str("minionfs_env"); env != "" {
		p.env = env
	}
	if !value.Truth(opts.At("file_recv")) {
		p.err = errors.New("fileserver_backend minionfs needs file_recv: True, without which no target can push files")
	}
	mount := strings.Trim(strings.TrimPrefix(opts.Str("minionfs_mountpoint"), "salt://"), "/")
	if mount != "" && !fs.ValidPath(mount) {
		p.err = fmt.Errorf("minionfs_mountpoint %q leads out of the tree", mount)
	}
	p.mount = mount
	return p
}

// Name is that of fileserver_backend.
func (*Pushed) Name() string { return "minionfs" }

// Envs returns the one saltenv.
func (p *Pushed) Envs(context.Context) ([]string, error) { return []string{p.env}, p.err }

// Dirs returns the directories of the IDs that are served.
func (p *Pushed) Dirs(_ context.Context, saltenv string) ([]Dir, bool, error) {
	if p.err != nil || saltenv != p.env {
		return nil, false, p.err
	}
	ids, err := p.list()
	if err != nil {
		return nil, false, err
	}
	dirs := make([]Dir, len(ids))
	for i, id := range ids {
		at := filepath.Join(p.dir, id, "files")
		dirs[i] = Dir{Path: at, Mount: path.Join(p.mount, id), Within: at, NoTop: true}
	}
	return dirs, true, nil
}

// list returns the IDs that are served. The directory is read again only after it changed.
func (p *Pushed) list() ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st, err := p.files.Stat(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nobody has pushed a file yet
	}
	if err != nil {
		return nil, err
	}
	if st.Mtime.Equal(p.read) {
		return p.ids, nil
	}
	names, err := p.files.ReadDir(p.dir)
	if err != nil {
		return nil, err
	}
	p.ids, p.read = nil, st.Mtime
	if time.Since(st.Mtime) < settled {
		p.read = time.Time{} // a further change may have the same time
	}
	for _, id := range names {
		if Exposed(id, p.allow, p.deny) {
			p.ids = append(p.ids, id)
		}
	}
	return p.ids, nil
}

// settled is after how long a change of a directory has a time of its own.
const settled = 2 * time.Second

// Exposed reports whether a name is served: one of the patterns of allow matches, if there are
// any, and none of deny.
//
// Salt: salt/utils/stringutils.py check_whitelist_blacklist.
func Exposed(name string, allow, deny []string) bool {
	return (len(allow) == 0 || MatchesAny(allow, name)) && !MatchesAny(deny, name)
}

// MatchesAny reports whether a glob or, whole, a regular expression matches.
func MatchesAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == s || value.Fnmatch(p, s) || fullMatch(p, s) })
}

func fullMatch(pattern, s string) bool {
	re, err := pyre.Compile(`\A(?:`+pattern+`)\Z`, 0)
	if err != nil {
		return false
	}
	ok, err := re.Has(s)
	return err == nil && ok
}
