package fun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"brine/internal/py/source"
)

// Files is the part of an [Upstream] that serves files.
type Files interface {
	Envs(ctx context.Context) ([]string, error)
	Stat(ctx context.Context, saltenv, path string) (FileInfo, error)
	// List returns the files and links below prefix. See [ListFiles].
	List(ctx context.Context, saltenv, prefix string) ([]FileInfo, error)
	Dirs(ctx context.Context, saltenv, prefix string) ([]string, error)
	Open(ctx context.Context, saltenv, path string) (io.ReadCloser, error)
	Hash(ctx context.Context, saltenv, path, algo string) (string, error)
}

// A Pusher is an [Upstream] that can be sent files: that of a target whose
// controller is elsewhere.
type Pusher interface {
	// Push sends what r has to the controller, under a path relative to the
	// target's own directory there. It returns an error where the controller
	// does not take it.
	Push(ctx context.Context, path string, r io.Reader) error
}

// SplitURL takes a salt:// URL apart: the path below the roots, and what
// ?saltenv= names ("" where it names none). ok is false for any other URL.
//
// Salt: salt/utils/url.py parse.
func SplitURL(url string) (path, saltenv string, ok bool) {
	path, ok = strings.CutPrefix(url, "salt://")
	if !ok {
		return url, "", false
	}
	if p, _, old := strings.Cut(path, "?env="); old {
		return p, "", true
	}
	path, saltenv, _ = strings.Cut(path, "?saltenv=")
	// A leading | says that ? is part of the name.
	return strings.TrimPrefix(path, "|"), saltenv, true
}

// FindSLS returns the file of an SLS: "a.b" is a/b.sls, else a/b/init.sls. It
// returns fs.ErrNotExist (wrapped) where neither is there.
//
// Salt: salt/fileclient.py get_state.
func FindSLS(ctx context.Context, files Files, saltenv, sls string) (FileInfo, error) {
	base := strings.ReplaceAll(sls, ".", "/")
	for _, p := range []string{base + ".sls", base + "/init.sls"} {
		fi, err := files.Stat(ctx, saltenv, p)
		if err == nil && fi.Mode.IsRegular() {
			return fi, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return FileInfo{}, err
		}
	}
	return FileInfo{}, fmt.Errorf("SLS %s in saltenv %s: %w", sls, saltenv, fs.ErrNotExist)
}

// PlainSLS returns the name of an SLS without empty parts. Relative includes
// make such names: "." in dir/sub.sls is "dir.", the file of "dir".
func PlainSLS(sls string) string {
	if !strings.Contains(sls, "..") && !strings.HasPrefix(sls, ".") && !strings.HasSuffix(sls, ".") {
		return sls
	}
	return strings.Join(strings.FieldsFunc(sls, func(r rune) bool { return r == '.' }), ".")
}

// ListFiles returns what [Files].List does without the links to directories,
// which are not files: what is below them is listed.
func ListFiles(ctx context.Context, files Files, saltenv, prefix string) ([]FileInfo, error) {
	all, err := files.List(ctx, saltenv, prefix)
	if slices.ContainsFunc(all, linkedDir) {
		all = slices.DeleteFunc(slices.Clone(all), linkedDir)
	}
	return all, err
}

func linkedDir(fi FileInfo) bool { return fi.Mode.IsDir() }

// ListSLS returns the names of all SLS files of a saltenv, sorted.
//
// Salt: salt/fileclient.py list_states.
func ListSLS(ctx context.Context, files Files, saltenv string) ([]string, error) {
	all, err := ListFiles(ctx, files, saltenv, "")
	if err != nil {
		return nil, err
	}
	var names []string
	seen := map[string]bool{}
	for _, fi := range all {
		name, ok := SLSName(fi.Path)
		if ok && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names, nil
}

// SLSName returns the SLS that a path below the roots is, false where it is
// none.
func SLSName(path string) (string, bool) {
	name, ok := strings.CutSuffix(path, ".sls")
	if !ok {
		return "", false
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, "/init"), "/", "."), true
}

// MissingFile shows where a state names a salt:// URL that does not exist, and the nearest
// name that does; nothing for another URL. arg is the argument that has it.
func (c *Call) MissingFile(ctx context.Context, arg, url, saltenv string) {
	path, env, ok := SplitURL(url)
	if !ok || c.Low == nil || c.Low.Low == nil || c.Env.Up == nil {
		return
	}
	saltenv = cmp.Or(env, saltenv)
	pos := c.Low.Low.Pos(arg)
	if pos.IsZero() {
		pos = c.Low.Pos
	}
	fault := &source.Error{Pos: pos, Err: fmt.Errorf("salt://%s does not exist in saltenv %s", path, saltenv)}
	var names []string
	if files, err := ListFiles(ctx, c.Env.Up, saltenv, ""); err == nil {
		for _, f := range files {
			names = append(names, f.Path)
		}
	}
	if dirs, err := c.Env.Up.Dirs(ctx, saltenv, ""); err == nil {
		names = append(names, dirs...)
	}
	if near, ok := source.Nearest(path, names); ok {
		fault.Hint = fmt.Sprintf("did you mean %q?", "salt://"+near)
	} else {
		fault.Hint = "'brine run fileserver.file_list' lists the files of the tree"
	}
	c.Env.Fault(fault)
}
