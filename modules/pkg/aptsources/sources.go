package aptsources

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/textfile"
)

// Where apt looks for repositories.
const (
	Main = "/etc/apt/sources.list"
	Dir  = "/etc/apt/sources.list.d"
)

// Sources are the lists of a machine.
type Sources struct {
	// Entries are all entries, in the order of apt: those of Main, then those of
	// the files in Dir by name.
	Entries []*Entry
	files   []*file
}

// A file is one of the lists. Its items are lines of a one-line file.
type file struct {
	path   string
	exists bool
	text   string // as it was read
	lines  []line
	parts  []*stanza // of a deb822 file
}

// A line is a line of a one-line file: an entry, or text that stays as it is.
type line struct {
	entry *Entry
	was   Entry
	text  string
}

// Known reports whether apt reads a file by its name.
func Known(p string) bool {
	ext := path.Ext(p)
	return p == Main || path.Dir(p) == Dir && (ext == ".list" || ext == ".sources")
}

// Read reads the lists of a machine, and one more file where it is named.
func Read(h host.Host, more string) (*Sources, error) {
	paths := []string{Main}
	names, err := h.ReadDir(Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, n := range names {
		if p := path.Join(Dir, n); Known(p) {
			paths = append(paths, p)
		}
	}
	if more != "" && !slices.Contains(paths, more) {
		paths = append(paths, more)
	}
	s := &Sources{}
	for _, p := range paths {
		b, err := h.ReadFile(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if st, e := h.Stat(p); e == nil && st.Mode.IsDir() {
				continue
			}
			return nil, err
		}
		s.add(p, string(b), err == nil)
	}
	return s, nil
}

func (s *Sources) add(p, text string, exists bool) *file {
	f := &file{path: p, text: text, exists: exists}
	s.files = append(s.files, f)
	if path.Ext(p) == ".sources" {
		f.parts = parse822(p, text)
		for _, part := range f.parts {
			s.Entries = append(s.Entries, part.entries...)
		}
		return f
	}
	for l := range strings.Lines(text) {
		e, ok := Parse(l)
		if !ok {
			f.lines = append(f.lines, line{text: l})
			continue
		}
		e.File = p
		f.lines = append(f.lines, line{entry: &e, was: e, text: l})
		s.Entries = append(s.Entries, &e)
	}
	return f
}

// Add adds an entry to the end of its file.
func (s *Sources) Add(e *Entry) { s.Entries = append(s.Entries, e) }

// Remove removes an entry.
func (s *Sources) Remove(e *Entry) {
	s.Entries = slices.DeleteFunc(s.Entries, func(x *Entry) bool { return x == e })
}

// Clear removes all entries and lines of a file.
func (s *Sources) Clear(p string) {
	s.Entries = slices.DeleteFunc(s.Entries, func(x *Entry) bool { return x.File == p })
	for _, f := range s.files {
		if f.path == p {
			f.lines, f.parts = nil, nil
		}
	}
}

// Consolidate joins the entries of one-line files in Main: one for each address,
// suite and set of options, with all their components. Comments are dropped.
func (s *Sources) Consolidate() {
	var joined []*Entry
	seen := map[string]*Entry{}
	for _, e := range s.Entries {
		if e.Deb822() {
			joined = append(joined, e)
			continue
		}
		bare := *e
		bare.Comps, bare.Comment = nil, ""
		if had := seen[bare.String()]; had != nil {
			for _, c := range e.Comps {
				if !slices.Contains(had.Comps, c) {
					had.Comps = append(had.Comps, c)
				}
			}
			continue
		}
		now := *e
		now.File, now.Comps = Main, slices.Clone(e.Comps)
		seen[bare.String()] = &now
		joined = append(joined, &now)
	}
	s.Entries = joined
	for _, f := range s.files {
		if !strings.HasSuffix(f.path, ".sources") {
			f.lines = nil
		}
	}
}

// Changes are the files that a Save wrote, so that it can be undone.
type Changes struct {
	files   []*file
	Removed []string // files in which nothing was left
}

// Save writes the files in which something changed. A file in Dir in which nothing
// is left is removed.
func (s *Sources) Save(h host.Host) (*Changes, error) {
	done := &Changes{}
	for _, e := range s.Entries {
		if !slices.ContainsFunc(s.files, func(f *file) bool { return f.path == e.File }) {
			s.files = append(s.files, &file{path: e.File})
		}
	}
	for _, f := range s.files {
		text := f.write(s.Entries)
		if text == f.text {
			continue
		}
		var err error
		if text == "" && strings.HasPrefix(f.path, Dir+"/") {
			err = h.Remove(f.path)
			done.Removed = append(done.Removed, f.path)
		} else {
			err = textfile.WriteMode(h, f.path, text, 0o644)
		}
		if err != nil {
			done.Undo(h)
			return done, fun.Errorf("%v", err)
		}
		done.files = append(done.files, f)
	}
	return done, nil
}

// Undo puts back what a Save changed.
func (c *Changes) Undo(h host.Host) {
	for _, f := range c.files {
		if f.exists {
			_ = textfile.WriteMode(h, f.path, f.text, 0o644) // it could be written a moment ago
		} else {
			_ = h.Remove(f.path)
		}
	}
	c.files, c.Removed = nil, nil
}

// write returns the content of the file with the entries that it has now.
func (f *file) write(all []*Entry) string {
	var b strings.Builder
	own := map[*Entry]bool{}
	for i := range f.lines {
		l := &f.lines[i]
		switch {
		case l.entry == nil:
			b.WriteString(l.text)
		case l.entry.File != f.path || !slices.Contains(all, l.entry):
			continue
		case l.entry.same(&l.was):
			b.WriteString(l.text)
		default:
			b.WriteString(l.entry.String() + "\n")
		}
		own[l.entry] = true
	}
	for _, p := range f.parts {
		for _, e := range p.entries {
			own[e] = true
		}
		b.WriteString(p.text(all))
	}
	for _, e := range all {
		if e.File != f.path || own[e] {
			continue
		}
		if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
		if !e.Deb822() {
			b.WriteString(e.String() + "\n")
			continue
		}
		if text := b.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
			b.WriteByte('\n')
		}
		b.WriteString(new822(e))
	}
	return b.String()
}
