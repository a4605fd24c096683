package roster

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Files next to an inventory file: directories of variables, other inventories,
// and configurations of plugins with their caches.

// sealed stands for a value that is encrypted (!vault): no YAML text has a NUL.
const sealed = "\x00vault"

// vaultHead begins a file that is encrypted as a whole.
const vaultHead = "$ANSIBLE_VAULT;"

// maxDirs bounds directories within each other.
const maxDirs = 20

// ansibleYAML reads YAML or JSON with Ansible's tags.
func ansibleYAML(file string, b []byte) (value.Value, error) {
	return yamlsalt.Load(yamlsalt.LoadOptions{Name: file, Tag: func(tag, text string) (value.Value, bool) {
		switch tag {
		case "!vault", "!vault-encrypted":
			return sealed, true
		case "!unsafe":
			return text, true
		}
		return nil, false
	}}, b)
}

// unsealed returns v without what is encrypted, and notes the names of that.
func unsealed(v value.Value, name string, depth int, note func(string)) (value.Value, bool) {
	if depth > maxDirs {
		return v, true
	}
	switch v := v.(type) {
	case string:
		if v == sealed {
			note(name)
			return nil, false
		}
	case *value.List:
		if !hasSealed(v, 0) {
			return v, true
		}
		out := value.NewList()
		for _, x := range v.Items {
			if y, ok := unsealed(x, name, depth+1, note); ok {
				out.Append(y)
			}
		}
		return out, true
	case *value.Map:
		if !hasSealed(v, 0) {
			return v, true
		}
		out := value.NewMap(v.Len())
		for k, x := range v.All() {
			sub := value.Str(k)
			if name != "" {
				sub = name + ":" + sub
			}
			if y, ok := unsealed(x, sub, depth+1, note); ok {
				out.Set(k, y)
			}
		}
		return out, true
	}
	return v, true
}

func hasSealed(v value.Value, depth int) bool {
	if depth > maxDirs {
		return false
	}
	switch v := v.(type) {
	case string:
		return v == sealed
	case *value.List:
		return slices.ContainsFunc(v.Items, func(x value.Value) bool { return hasSealed(x, depth+1) })
	case *value.Map:
		for _, x := range v.All() {
			if hasSealed(x, depth+1) {
				return true
			}
		}
	}
	return false
}

// inventories reads an inventory file, or all of a directory in the order of
// their names, into one inventory.
func (l *loader) inventories(inv *inventory, p string, depth int) error {
	names, err := l.o.Files.ReadDir(p)
	if err != nil {
		return l.inventoryFile(inv, p, depth > 0)
	}
	if depth > maxDirs {
		return fmt.Errorf("read inventory: %s: more than %d directories within each other", p, maxDirs)
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") || name == "group_vars" || name == "host_vars" || slices.ContainsFunc(ignoredEnds(), func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		if err := l.inventories(inv, path.Join(p, name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// ignoredEnds are those of the files that Ansible passes over in a directory.
func ignoredEnds() []string {
	return []string{"~", ".orig", ".bak", ".ini", ".cfg", ".retry", ".pyc", ".pyo", ".swp", ".rpm", ".md", ".txt", ".rst"}
}

// plugin reads what the configuration of an inventory plugin has cached in JSON
// files: groups and hosts as ansible-inventory --list prints them.
func (l *loader) plugin(inv *inventory, file string, conf *value.Map) error {
	name := conf.Str("plugin")
	name = name[strings.LastIndexByte(name, '.')+1:]
	const hint = "write its hosts to a file: ansible-inventory --list > inventory.json"
	dir := conf.Str("cache_connection")
	if !value.Truth(conf.At("cache")) || !strings.HasSuffix(conf.Str("cache_plugin"), "jsonfile") || dir == "" {
		l.warn(source.Pos{File: file}, "the inventory plugin %q is not run and has no JSON cache (cache, cache_plugin: jsonfile, cache_connection); %s", name, hint)
		return nil
	}
	if !path.IsAbs(dir) {
		dir = path.Join(path.Dir(file), dir)
	}
	names, err := l.o.Files.ReadDir(dir)
	if err != nil {
		return &source.Error{Pos: source.Pos{File: file}, Err: fmt.Errorf("read the cache of the inventory plugin %q: %w", name, err), Hint: hint}
	}
	prefix := conf.Str("cache_prefix")
	if prefix == "" {
		prefix = "ansible_inventory_"
	}
	read := 0
	for _, n := range names {
		if !strings.HasPrefix(n, prefix) || !strings.Contains(n, name) {
			continue
		}
		p := path.Join(dir, n)
		b, err := l.o.Files.ReadFile(p)
		if err != nil {
			return fmt.Errorf("read the cache of the inventory plugin %q: %w", name, err)
		}
		v, err := ansibleYAML(p, b)
		if err == nil {
			err = inv.readYAML(p, v)
		}
		if err != nil {
			return fmt.Errorf("read the cache of the inventory plugin %q: %w", name, err)
		}
		read++
	}
	if read == 0 {
		l.warn(source.Pos{File: file}, "the cache of the inventory plugin %q in %s is empty: run ansible-inventory --list once, or %s", name, dir, hint)
	}
	return nil
}

// variables reads group_vars and host_vars beside an inventory.
func (l *loader) variables(inv *inventory, dir string) error {
	for _, name := range slices.Sorted(maps.Keys(inv.groups)) {
		if err := l.varsOf(path.Join(dir, "group_vars"), name, &inv.groups[name].files); err != nil {
			return err
		}
	}
	if inv.groups["all"] == nil { // a group that need not be named
		g := &invGroup{vars: value.NewMap(0)}
		if err := l.varsOf(path.Join(dir, "group_vars"), "all", &g.files); err != nil {
			return err
		}
		if g.files.Len() > 0 {
			inv.groups["all"] = g
		}
	}
	if _, err := l.o.Files.ReadDir(path.Join(dir, "host_vars")); err != nil {
		return nil // there are none, and may be many hosts
	}
	for _, name := range inv.order {
		if err := l.varsOf(path.Join(dir, "host_vars"), name, &inv.hosts[name].files); err != nil {
			return err
		}
	}
	return nil
}

// varsOf reads the variables of a group or host: the file of its name, with or
// without an ending, or all files of the directory of its name.
func (l *loader) varsOf(dir, name string, into **value.Map) error {
	if name == "" || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
		return nil
	}
	for _, end := range []string{"", ".yml", ".yaml", ".json"} {
		if err := l.varsFile(path.Join(dir, name+end), into, 0); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) varsFile(p string, into **value.Map, depth int) error {
	if names, err := l.o.Files.ReadDir(p); err == nil && depth <= maxDirs {
		for _, n := range names {
			if strings.HasPrefix(n, ".") || strings.HasSuffix(n, "~") {
				continue
			}
			sub := path.Join(p, n)
			if _, err := l.o.Files.ReadDir(sub); err != nil && !slices.Contains([]string{"", ".yml", ".yaml", ".json"}, path.Ext(n)) {
				continue
			}
			if err := l.varsFile(sub, into, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	b, err := l.o.Files.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read variables of the inventory: %w", err)
	}
	if strings.HasPrefix(string(b), vaultHead) {
		if !l.vaults[p] {
			l.warn(source.Pos{File: p}, "the file is encrypted (ansible-vault) and its variables are left out")
		}
		if l.vaults == nil {
			l.vaults = map[string]bool{}
		}
		l.vaults[p] = true
		return nil
	}
	v, err := ansibleYAML(p, b)
	if err != nil {
		return err
	}
	m, ok := v.(*value.Map)
	if !ok {
		if v == nil {
			return nil
		}
		return &source.Error{Pos: source.Pos{File: p}, Err: fmt.Errorf("variables are a mapping, not %s", value.Kind(v))}
	}
	if *into == nil {
		*into = value.NewMap(m.Len())
	}
	(*into).Update(m)
	return nil
}

// foreign reports the connection of a host that is not reached over SSH.
func foreign(vars *value.Map) (string, bool) {
	c := vars.Str("ansible_connection")
	c = c[strings.LastIndexByte(c, '.')+1:]
	switch c {
	case "", "ssh", "smart", "paramiko", "paramiko_ssh", "libssh", "local":
		return "", false
	}
	return c, true
}
