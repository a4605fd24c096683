package pip

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/cp"
)

// A MissingError says that a requirements file is not on the file server.
type MissingError struct{ File string }

func (e *MissingError) Error() string {
	return "pip requirements file '" + e.File + "' not found"
}

const (
	maxFiles = 200 // requirements files that name each other
	depth    = 4   // how far up a file may name others
)

var childRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:-r\s*|--requirement[=\s]\s*|-c\s*|--constraint[=\s]\s*)(.*?)(?:\s+#.*)?$`)
})

// children returns the files that a requirements file names.
func children(text []byte) []string {
	var names []string
	for _, m := range childRE().FindAllStringSubmatch(string(text), -1) {
		if name := strings.Trim(strings.TrimSpace(m[1]), `"'`); name != "" && !strings.Contains(name, "://") {
			names = append(names, name)
		}
	}
	return names
}

// requirementFiles returns requirements files as paths on this machine, which the
// account of p can read. drop, where it is set, removes copies.
// Salt: salt/modules/pip.py _process_requirements.
func (p *Client) requirementFiles(ctx context.Context, files []string, saltenv string) (paths []string, drop func(), err error) {
	for _, f := range files {
		at := f
		if cp.Scheme(f) == "salt" {
			if at, err = p.cache(ctx, f, saltenv); err != nil {
				return nil, drop, err
			}
		} else if err := checkWord("requirements file", f); err != nil {
			return nil, drop, err
		}
		if p.User != "" {
			copied, remove, err := p.copyFor(p.abs(at))
			if err != nil {
				return nil, drop, err
			}
			before := drop
			drop = func() {
				remove()
				if before != nil {
					before()
				}
			}
			at = copied
		}
		paths = append(paths, at)
	}
	return paths, drop, nil
}

// cache brings a requirements file of the file server, and those that it names,
// to this machine. It returns a *MissingError where it does not exist.
func (p *Client) cache(ctx context.Context, source, saltenv string) (string, error) {
	client := cp.New(p.Env, saltenv)
	found, err := client.Exists(ctx, source)
	if err != nil {
		return "", fun.Errorf("%s: %v", source, err)
	}
	if !found {
		return "", &MissingError{source}
	}
	at, err := client.CacheFile(ctx, source, cp.Options{})
	if err != nil {
		return "", err
	}
	if at == "" {
		return "", &MissingError{source}
	}
	bare, query, _ := strings.Cut(source, "?")
	seen := map[string]bool{bare: true}
	todo := []string{bare, at}
	for len(todo) > 0 && len(seen) < maxFiles {
		url, file := todo[0], todo[1]
		todo = todo[2:]
		text, err := p.Env.Host.ReadFile(file)
		if err != nil {
			return "", fun.Errorf("%s: %s", url, host.OSError(err))
		}
		for _, name := range children(text) {
			rel := path.Join(path.Dir(strings.TrimPrefix(url, "salt://")), name)
			child := "salt://" + rel
			if filepath.IsAbs(name) || strings.HasPrefix(rel, "..") || seen[child] {
				continue
			}
			seen[child] = true
			full := child
			if query != "" {
				full += "?" + query
			}
			if ok, err := client.Exists(ctx, full); err != nil || !ok {
				continue // pip says what it does not find
			}
			got, err := client.CacheFile(ctx, full, cp.Options{})
			if err != nil {
				return "", err
			}
			if got != "" {
				todo = append(todo, child, got)
			}
		}
	}
	return at, nil
}

// copyFor copies a requirements file and those that it names for the account of
// p, with their places relative to each other.
func (p *Client) copyFor(file string) (at string, drop func(), err error) {
	h := p.Env.Host
	a, err := h.LookupUser(p.User)
	if err != nil {
		return "", nil, fun.Errorf("User '%s' is not available", p.User)
	}
	tmp, err := h.MkdirTemp("", "brine-pip-")
	if err != nil {
		return "", nil, fun.Errorf("Unable to copy %s: %s", file, host.OSError(err))
	}
	drop = func() { _ = h.RemoveAll(tmp) }
	base := filepath.Join(tmp, strings.Repeat("d/", depth))
	from := filepath.Dir(file)
	todo := []string{filepath.Base(file)}
	seen := map[string]bool{todo[0]: true}
	dirs := map[string]bool{tmp: true}
	put := func(rel string, text []byte) error {
		to := filepath.Join(base, rel)
		if err := h.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		for d := filepath.Dir(to); len(d) > len(tmp); d = filepath.Dir(d) {
			dirs[d] = true
		}
		mode := fs.FileMode(0o600)
		return h.WriteFile(to, bytes.NewReader(text), host.WriteOptions{Mode: &mode, UID: &a.UID, GID: &a.GID})
	}
	for len(todo) > 0 && len(seen) < maxFiles {
		rel := todo[0]
		todo = todo[1:]
		text, err := h.ReadFile(filepath.Join(from, rel))
		if errors.Is(err, fs.ErrNotExist) && rel != filepath.Base(file) {
			continue
		}
		if err == nil {
			err = put(rel, text)
		}
		if err != nil {
			drop()
			return "", nil, fun.Errorf("Unable to copy %s: %s", filepath.Join(from, rel), host.OSError(err))
		}
		for _, name := range children(text) {
			child := filepath.Join(filepath.Dir(rel), name)
			if filepath.IsAbs(name) || strings.Count(child, "../") > depth || seen[child] {
				continue
			}
			seen[child] = true
			todo = append(todo, child)
		}
	}
	for d := range dirs {
		if err := h.Chown(d, a.UID, a.GID); err != nil {
			drop()
			return "", nil, fun.Errorf("Unable to copy %s: %s", file, host.OSError(err))
		}
	}
	return filepath.Join(base, filepath.Base(file)), drop, nil
}
