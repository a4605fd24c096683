package logrotate

import (
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// DefaultConf is the configuration of logrotate.
const DefaultConf = "/etc/logrotate.conf"

// scripts are the directives that begin a script, which ends with endscript.
var scripts = []string{"prerotate", "postrotate", "firstaction", "lastaction", "preremove"}

// A line is a line of a configuration, with what it belongs to.
type line struct {
	words  []string // nil for comments and blank lines
	block  int      // of which block it is a setting: its index, -1 for none
	script bool     // a line of a script
	open   bool     // begins a block
	shut   bool     // ends one
}

// A block is the settings of some log files.
type block struct {
	names       []string
	first, last int // the lines of its braces
}

// A file is a parsed configuration; its text stays as it is.
type file struct {
	text   []string
	lines  []line
	blocks []block
}

// parse reads a configuration. It takes any text.
func parse(text string) *file {
	f := &file{text: textfile.Lines(text)}
	open, inScript := -1, false
	var before []string
	for i, raw := range f.text {
		s := strings.TrimSpace(raw)
		l := line{block: open}
		switch {
		case s == "" || s[0] == '#':
		case inScript:
			l.words, l.script = strings.Fields(s), true
			inScript = s != "endscript"
		case open < 0 && strings.Contains(s, "{"):
			head, rest, _ := strings.Cut(s, "{")
			names := strings.Fields(head)
			if len(names) == 0 {
				names = before
			}
			f.blocks = append(f.blocks, block{names: names, first: i, last: -1})
			l.open = true
			if open = len(f.blocks) - 1; strings.Contains(rest, "}") {
				f.blocks[open].last, open = i, -1
			}
		case open >= 0 && strings.Contains(s, "}"):
			f.blocks[open].last = i
			l.shut, open = true, -1
		default:
			l.words = strings.Fields(s)
			inScript = open >= 0 && slices.Contains(scripts, l.words[0])
			before = l.words
		}
		f.lines = append(f.lines, l)
	}
	return f
}

// setting returns name and value of a line as Salt shows them.
func setting(words []string) (string, value.Value) {
	switch len(words) {
	case 1:
		return words[0], true
	case 2:
		return words[0], textfile.Number(words[1])
	}
	return words[0], strings.Join(words[1:], " ")
}

// Number returns a value whose text is an integer as one.
// Salt: salt/modules/logrotate.py _convert_if_int.
func Number(v value.Value) value.Value {
	if s, ok := value.AsText(v); ok {
		return textfile.Number(strings.TrimSpace(s))
	}
	return v
}

// maxIncludes bounds how deep configurations include others.
const maxIncludes = 8

// read returns a configuration as Salt shows it, with what it includes, and notes
// in from which file each key is.
func read(h host.Host, path string, depth int) (conf *value.Map, from map[string]string, err error) {
	b, err := h.ReadFile(path)
	if err != nil {
		return nil, nil, fun.Errorf("%s", host.OSError(err))
	}
	f := parse(value.DecodeReplace(b))
	conf, from = value.NewMap(8), map[string]string{}
	put := func(key string, v value.Value, file string) {
		conf.Set(key, v)
		from[key] = file
	}
	for i, l := range f.lines {
		switch {
		case l.open:
			at := slices.IndexFunc(f.blocks, func(b block) bool { return b.first == i })
			m := f.settings(at)
			for _, n := range f.blocks[at].names {
				put(n, m, path)
			}
		case l.words == nil || l.block >= 0:
		default:
			if l.words[0] == "include" && len(l.words) > 1 && depth < maxIncludes {
				include(h, conf, from, l.words[1], depth)
			}
			key, v := setting(l.words)
			put(key, v, path)
		}
	}
	return conf, from, nil
}

// include adds what a file, or the files of a directory, say.
func include(h host.Host, conf *value.Map, from map[string]string, path string, depth int) {
	files := conf.Map("include files")
	if files == nil {
		files = value.NewMap(4)
		conf.Set("include files", files)
	}
	names, err := h.ReadDir(path)
	dir := path
	if err != nil {
		names, dir = []string{filepath.Base(path)}, filepath.Dir(path)
	}
	for _, n := range names {
		l := files.List(n)
		if l == nil {
			l = value.NewList()
			files.Set(n, l)
		}
		sub, origin, err := read(h, filepath.Join(dir, n), depth+1)
		if err != nil {
			continue
		}
		for k, v := range sub.All() {
			conf.Set(k, v)
			from[value.Str(k)] = origin[value.Str(k)]
			l.Append(k)
		}
	}
}

// settings returns the settings of a block. As in Salt, lines of scripts are among
// them, but none takes the place of a setting.
func (f *file) settings(at int) *value.Map {
	m := value.NewMap(4)
	for _, l := range f.lines {
		if l.block == at && l.words != nil {
			k, v := setting(l.words)
			if !l.script || !m.Has(k) {
				m.Set(k, v)
			}
		}
	}
	return m
}

// write returns how a setting is written; "" for one that is off.
func write(name string, v value.Value) string {
	switch {
	case v == true:
		return name
	case value.Truth(v):
		return name + " " + value.Str(v)
	}
	return ""
}

// setTop gives a directive outside of blocks a value. One that is off leaves an
// empty line.
func (f *file) setTop(name string, v value.Value) {
	found := false
	for i, l := range f.lines {
		if l.block < 0 && l.words != nil && !l.open && l.words[0] == name {
			f.text[i], found = write(name, v), true
		}
	}
	if text := write(name, v); !found && text != "" {
		f.text = append([]string{text}, f.text...)
	}
}

// setBlock gives a setting of a block a value. A block that is not there is made at
// the end.
func (f *file) setBlock(key, name string, v value.Value) error {
	at := -1
	for i, b := range f.blocks {
		if slices.Contains(b.names, key) {
			at = i
		}
	}
	text := write(name, v)
	if at < 0 {
		if text != "" {
			f.text = append(f.text, key+" {", "    "+text, "}")
		}
		return nil
	}
	b := f.blocks[at]
	if b.last <= b.first {
		return fun.Errorf("the block of %s is on one line or has no end, and is not changed", key)
	}
	var out []string
	found := false
	for i, raw := range f.text {
		l := f.lines[i]
		if l.block == at && l.words != nil && !l.script && l.words[0] == name {
			if found = true; text != "" {
				out = append(out, raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))]+text)
			}
			continue
		}
		if i == b.last && !found && text != "" {
			out = append(out, "    "+text)
		}
		out = append(out, raw)
	}
	f.text = out
	return nil
}
