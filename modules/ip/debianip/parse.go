package debianip

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// The files of ifupdown.
const (
	mainFile = "/etc/network/interfaces"
	partsDir = "/etc/network/interfaces.d"
)

// inet and inet6 are the families of addresses, in the order of the file.
var families = [...]string{"inet", "inet6"}

// An adapter is what the files say of an interface, or lines that belong to none.
type adapter struct {
	name             string
	enabled, hotplug bool
	family           map[string]*value.Map // inet, inet6: options by Salt's names
	other            map[string][]string   // options of a family that brine does not know, as they are
	sources          []string              // of the adapter "source"
	raw              []string              // lines at the top of the file that belong to no interface
	file             string                // where it is; "" is a new one
}

// config is what the files say, in order.
type config struct{ adapters []*adapter }

func (c *config) find(name string) *adapter {
	for _, a := range c.adapters {
		if a.name == name && a.raw == nil {
			return a
		}
	}
	return nil
}

// at returns the adapter of a name, which it makes where there is none.
func (c *config) at(name, file string) *adapter {
	a := c.find(name)
	if a == nil {
		a = &adapter{name: name, file: file, family: map[string]*value.Map{}, other: map[string][]string{}}
		c.adapters = append(c.adapters, a)
	}
	return a
}

// put replaces the adapter of the same name, or adds it.
func (c *config) put(a *adapter) {
	for i, old := range c.adapters {
		if old.name == a.name && old.raw == nil {
			a.file = old.file
			c.adapters[i] = a
			return
		}
	}
	c.adapters = append(c.adapters, a)
}

// files returns the files that describe interfaces.
func files(h host.Host) ([]string, error) {
	var out []string
	if st, err := h.Stat(mainFile); err == nil && st.Mode.IsRegular() {
		out = append(out, mainFile)
	}
	names, err := h.ReadDir(partsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fun.Errorf("%v", err)
	}
	for _, n := range names {
		if st, err := h.Stat(path.Join(partsDir, n)); err == nil && st.Mode.IsRegular() {
			out = append(out, path.Join(partsDir, n))
		}
	}
	return out, nil
}

// load reads all files.
func load(h host.Host) (*config, error) {
	names, err := files(h)
	if err != nil {
		return nil, err
	}
	c := &config{}
	for _, file := range names {
		b, err := h.ReadFile(file)
		if err != nil {
			return nil, fun.Errorf("%v", err)
		}
		if err := c.parse(file, string(b)); err != nil {
			return nil, err
		}
	}
	// An interface that is only named, by auto or allow-hotplug, is not one.
	c.adapters = slices.DeleteFunc(c.adapters, func(a *adapter) bool {
		return a.raw == nil && a.sources == nil && len(a.family) == 0
	})
	return c, nil
}

// A reader is a file on its way through parse.
type reader struct {
	c      *config
	file   string
	a      *adapter // of the stanza in progress
	family string
	raw    *adapter // of a stanza that is kept as it is
}

// parse reads a file. Salt: salt/modules/debian_ip.py _parse_interfaces.
func (c *config) parse(file, text string) error {
	r := &reader{c: c, file: file}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		// A backslash at the end of the file goes on with nothing, and one with
		// blanks behind it is nothing: what is written after it is not part of it.
		line = unbroken(line)
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		if err := r.line(line, f); err != nil {
			return err
		}
	}
	return nil
}

// unbroken returns a text that does not make the next line a part of its own.
func unbroken(s string) string {
	return strings.TrimRightFunc(s, func(c rune) bool { return c == '\\' || unicode.IsSpace(c) })
}

func (r *reader) line(line string, f []string) error {
	switch f[0] {
	case "iface":
		if len(f) != 4 {
			return fun.Errorf("Interface file malformed: %s.", value.Repr(value.Strings(f...)))
		}
		r.raw = nil
		r.a, r.family = r.c.at(f[1], r.file), f[2]
		r.a.file = r.file
		if r.a.family[f[2]] == nil {
			r.a.family[f[2]] = value.NewMap(8)
		}
		r.a.family[f[2]].Set("addrfam", f[2])
		r.a.family[f[2]].Set("proto", f[3])
	case "auto", "allow-auto":
		r.end()
		for _, name := range f[1:] {
			r.c.at(unbroken(name), r.file).enabled = true
		}
	case "allow-hotplug":
		r.end()
		for _, name := range f[1:] {
			r.c.at(unbroken(name), r.file).hotplug = true
		}
	case "source":
		r.end()
		if len(f) > 1 {
			a := r.c.at("source", r.file)
			a.sources = append(a.sources, unbroken(f[1]))
		}
	default:
		switch {
		case r.a != nil:
			r.option(f[0], strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), f[0])))
		case r.raw != nil:
			r.raw.raw = append(r.raw.raw, line)
		default:
			r.raw = &adapter{file: r.file, raw: []string{line}}
			r.c.adapters = append(r.c.adapters, r.raw)
		}
	}
	return nil
}

// end closes the stanza in progress.
func (r *reader) end() { r.a, r.raw = nil, nil }

// commands are the options that may come several times.
var commands = [...]string{"up", "pre-up", "post-up", "down", "pre-down", "post-down"}

// option reads a line within a stanza.
func (r *reader) option(key, text string) {
	m := r.a.family[r.family]
	sub := func(name, key string) {
		d := m.Map(name)
		if d == nil {
			d = value.NewMap(4)
			m.Set(name, d)
		}
		d.Set(key, text)
	}
	more := func(name string, v value.Value) {
		l := m.List(name)
		if l == nil {
			l = value.NewList()
			m.Set(name, l)
		}
		l.Append(v)
	}
	name := strings.ReplaceAll(key, "-", "_")
	prefix, rest, _ := strings.Cut(name, "_")
	switch {
	case known(key) && slices.Contains(shown[:], name):
		v, ok := check(key, text, r.family)
		if !ok {
			v = text
		}
		if name == "address" && m.Has("address") {
			more("addresses", v)
		} else {
			m.Set(name, v)
		}
	case isEthtool(key):
		sub("ethtool", key)
	case prefix == "bond" && rest != "":
		sub("bonding", key[len("bond-"):])
	case prefix == "bridge" && rest != "":
		sub("bridging", key[len("bridge_"):])
	case slices.Contains(commands[:], key):
		more(name+"_cmds", text)
	default:
		r.a.other[r.family] = append(r.a.other[r.family], key+" "+text)
	}
}
