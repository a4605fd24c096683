package grains

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// StaticPath returns the path of the grains file: "grains" beside the
// configuration file that opts name (conf_file), or in it where that is a
// directory.
func StaticPath(h host.Host, opts *value.Map) string {
	conf := opts.Str("conf_file")
	if conf == "" {
		dir := opts.Str("config_dir")
		if dir == "" {
			dir = "/etc/salt"
		}
		return path.Join(dir, "grains")
	}
	if st, err := h.Stat(conf); err == nil && st.Mode.IsDir() {
		return path.Join(conf, "grains")
	}
	return path.Join(path.Dir(conf), "grains")
}

// LoadStatic reads a grains file. A file that is missing, or whose content is
// not a mapping, is empty.
func LoadStatic(h host.Host, file string) (*value.Map, error) {
	text, err := h.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return value.NewMap(0), nil
	}
	if err != nil {
		return value.NewMap(0), fmt.Errorf("read grains file: %w", err)
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, text)
	if err != nil {
		return value.NewMap(0), err
	}
	if m, ok := v.(*value.Map); ok {
		return m, nil
	}
	return value.NewMap(0), nil
}

// SaveStatic writes a grains file, replacing the old one in one step.
func SaveStatic(h host.Host, file string, m *value.Map) error {
	text, err := yamlsalt.Dump(m, yamlsalt.DumpOptions{FlowStyle: yamlsalt.FlowNever, SortKeys: true, AllowUnicode: true})
	if err != nil {
		return err
	}
	if _, err := h.Stat(path.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		if err := h.MkdirAll(path.Dir(file), 0o755); err != nil {
			return err
		}
	}
	return h.WriteFile(file, strings.NewReader(text), host.WriteOptions{FollowLinks: true})
}
