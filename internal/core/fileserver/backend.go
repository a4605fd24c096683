package fileserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Backend says which directories saltenvs have.
type Backend interface {
	// Name is that of fileserver_backend.
	Name() string
	// Envs returns the saltenvs.
	Envs(ctx context.Context) ([]string, error)
	// Dirs returns the directories of a saltenv, the first that has a file wins,
	// and whether there is such a saltenv.
	Dirs(ctx context.Context, saltenv string) (dirs []Dir, known bool, err error)
}

// A Dir is a directory that is served.
type Dir struct {
	Path   string // absolute
	Mount  string // where its files are, below salt://; "" is the top
	Within string // no link may leave this directory; "": none may leave the roots
	// Own says that its SLS hide those of the directories behind it: a.sls there is not the SLS
	// a where this one has a/init.sls.
	Own bool
	// NoTop says that no file top.sls is served.
	NoTop bool
}

// A Remote is a [Backend] that serves what it fetches from elsewhere.
type Remote interface {
	Backend
	// Update fetches the current content of the remotes. A remote that cannot
	// be reached is an error, even if the cache has its files.
	Update(ctx context.Context) error
	// ClearCache removes what was fetched, and returns what it removed.
	ClearCache(ctx context.Context) ([]string, error)
	// ClearLock returns the locks of remotes that were removed, and why others
	// were not. pattern is a glob of their URLs or names; "" is all.
	ClearLock(ctx context.Context, pattern string) (cleared, failed []string)
	Sourced
}

// Sourced is a [Backend] that knows the commits of what it serves.
type Sourced interface {
	// Sources returns dicts of remote, saltenv, ref and commit.
	Sources(ctx context.Context) (*value.List, error)
}

// Only returns a server of the named backends; none is all.
func (s *Server) Only(names ...string) (*Server, error) {
	if len(names) == 0 {
		return s, nil
	}
	have := s.Names()
	var picked []Backend
	for _, name := range names {
		if name == "git" || name == "hg" || name == "svn" || name == "minion" {
			name += "fs"
		}
		i := slices.Index(have, name)
		if i < 0 {
			return nil, fmt.Errorf("no fileserver backend %q is configured%s; there are %s", name, source.DidYouMean(name, have), strings.Join(have, ", "))
		}
		picked = append(picked, s.backends[i])
	}
	return Over(s.files, s.roots, picked...), nil
}

// Remotes returns the backends that fetch.
func (s *Server) Remotes() []Remote {
	var out []Remote
	for _, b := range s.backends {
		if r, ok := b.(Remote); ok {
			out = append(out, r)
		}
	}
	return out
}

// Names returns the names of the backends.
func (s *Server) Names() []string {
	var out []string
	for _, b := range s.backends {
		out = append(out, b.Name())
	}
	return out
}
