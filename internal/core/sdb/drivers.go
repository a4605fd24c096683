package sdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// maxFile bounds a file that a driver reads.
const maxFile = 16 << 20

// environ is the environment of the process. Salt: salt/sdb/env.py.
type environ struct{ h host.Host }

func newEnviron(env *fun.Env, _ *value.Map) (driver, error) { return environ{env.Host}, nil }

func (e environ) get(_ context.Context, key string) (value.Value, error) {
	for _, kv := range e.h.Environ() {
		if k, text, ok := strings.Cut(kv, "="); ok && k == key {
			return text, nil
		}
	}
	return nil, nil
}

// set sets a variable that is not set yet: as in Salt, one that is stays.
func (e environ) set(ctx context.Context, key string, v value.Value) error {
	text := value.Str(v)
	if strings.ContainsAny(key, "=\x00") || strings.ContainsRune(text, 0) {
		return errors.New("neither the name nor the value of a variable may have NUL, nor its name \"=\"")
	}
	if old, _ := e.get(ctx, key); old != nil {
		return nil
	}
	return e.h.Setenv(key, text)
}

func (e environ) delete(_ context.Context, key string) error { return e.h.Unsetenv(key) }

// yamlFiles are files that are merged, and read by keys with colons.
// Salt: salt/sdb/yaml.py. Difference: a file that cannot be read is an error; Salt
// logs it and goes on without.
type yamlFiles struct {
	env  *fun.Env
	conf *value.Map
}

func newYAML(env *fun.Env, conf *value.Map) (driver, error) {
	if l := conf.List("files"); l == nil || l.Len() == 0 {
		return nil, errors.New("it needs files, a list of paths")
	}
	return yamlFiles{env, conf}, nil
}

func (y yamlFiles) get(ctx context.Context, key string) (value.Value, error) {
	data, err := y.data(ctx)
	if err != nil {
		return nil, err
	}
	v, _ := value.TraverseKey(data, key, value.DefaultDelim)
	return v, nil
}

func (y yamlFiles) data(ctx context.Context) (value.Value, error) {
	strategy := value.Smart
	merge := y.conf.Map("merge")
	if s := merge.Str("strategy"); s != "" {
		if strategy = value.Strategy(s); !strategy.Known() {
			return nil, fmt.Errorf("the merge strategy %q is unknown", s)
		}
	}
	lists := value.Truth(merge.At("merge_lists")) || value.Truth(merge.At("merge_list"))
	out := value.NewMap(4)
	for _, f := range y.conf.List("files").Items {
		path := value.Str(f)
		text, err := readFile(y.env.Host, path)
		if err != nil {
			return nil, err
		}
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, text)
		if err != nil {
			return nil, err
		}
		m, ok := v.(*value.Map)
		if !ok && v != nil {
			return nil, fmt.Errorf("%s must be a mapping, not %s", path, value.Kind(v))
		}
		if m != nil {
			out = value.Merge(out, m, strategy, value.Str(merge.At("renderer")), lists)
		}
	}
	if !value.Truth(y.conf.At("gpg")) {
		return out, nil
	}
	return render.For(y.env).Decrypt(ctx, value.Clone(out))
}

func (yamlFiles) set(context.Context, string, value.Value) error { return errUnsupported }

func (yamlFiles) delete(context.Context, string) error { return errUnsupported }

// readFile reads a file of at most maxFile bytes.
func readFile(h host.Host, path string) ([]byte, error) {
	st, err := h.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode.IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if st.Size > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	return h.ReadFile(path)
}

// files is a directory with one file for each key: what systemd (credentials),
// Docker and Kubernetes make of secrets. It is brine's own.
type files struct {
	h   host.Host
	dir string
}

func newFiles(env *fun.Env, conf *value.Map) (driver, error) {
	dir := conf.Str("path")
	if !filepath.IsAbs(dir) {
		return nil, errors.New("it needs path, the whole path of a directory")
	}
	return files{env.Host, dir}, nil
}

// at returns the file of a key, which is in the directory.
func (f files) at(key string) (string, error) {
	if !filepath.IsLocal(key) || strings.ContainsRune(key, 0) {
		return "", fmt.Errorf("the key %q is not the name of a file in %s", key, f.dir)
	}
	return filepath.Join(f.dir, key), nil
}

func (f files) get(_ context.Context, key string) (value.Value, error) {
	path, err := f.at(key)
	if err != nil {
		return nil, err
	}
	if _, err := f.h.Stat(f.dir); err != nil {
		return nil, err
	}
	b, err := readFile(f.h, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.TrimSuffix(string(b), "\n"), err
}

func (f files) set(_ context.Context, key string, v value.Value) error {
	path, err := f.at(key)
	if err != nil {
		return err
	}
	if err := f.h.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	return f.h.WriteFile(path, strings.NewReader(value.Str(v)), host.WriteOptions{Mode: &mode, Sync: true})
}

func (f files) delete(_ context.Context, key string) error {
	path, err := f.at(key)
	if err != nil {
		return err
	}
	if err := f.h.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
