package hosts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// An Entry is an address with its names, or a line that is a comment.
type Entry struct {
	Addr    string // "" for a comment
	Aliases []string
	Comment string // without #; of a comment line the line itself
}

// A File is the hosts file: an entry for each address, and the comments.
type File []Entry

// Parse reads a hosts file. Entries of the same address are one.
func Parse(text string) File {
	var f File
	for _, l := range textfile.Lines(text) {
		l = strings.TrimSpace(l)
		switch {
		case l == "":
			continue
		case l[0] == '#':
			f = append(f, Entry{Comment: l})
			continue
		}
		l, comment, _ := strings.Cut(l, "#")
		words := strings.Fields(l)
		i := f.index(words[0])
		if i < 0 {
			i = len(f)
			f = append(f, Entry{Addr: words[0]})
		}
		f[i].Aliases = append(f[i].Aliases, words[1:]...)
		switch comment = strings.TrimLeft(comment, " \t"); {
		case comment == "" || comment == f[i].Comment:
		case f[i].Comment == "":
			f[i].Comment = comment
		default:
			f[i].Comment += " # " + comment
		}
	}
	return f
}

func (f File) index(addr string) int {
	return slices.IndexFunc(f, func(e Entry) bool { return e.Addr != "" && e.Addr == addr })
}

// Find returns the entry of an address, nil where there is none.
func (f File) Find(addr string) *Entry {
	if i := f.index(addr); i >= 0 {
		return &f[i]
	}
	return nil
}

// Has reports whether an address has all of some names.
func (f File) Has(addr string, names ...string) bool {
	e := f.Find(addr)
	if e == nil {
		return false
	}
	for _, n := range names {
		if !slices.Contains(e.Aliases, n) {
			return false
		}
	}
	return true
}

func (f File) String() string {
	var b strings.Builder
	for _, e := range f {
		switch e.Addr {
		case "":
			b.WriteString(e.Comment)
		default:
			b.WriteString(strings.TrimSpace(line(e.Addr, strings.Join(e.Aliases, " "), e.Comment)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func line(addr, names, comment string) string {
	l := addr + "\t\t" + names
	if comment != "" {
		l += "\t\t# " + comment
	}
	return l
}

// value returns the file as hosts.list_hosts does.
func (f File) value() *value.Map {
	m := value.NewMap(len(f))
	n := 0
	for _, e := range f {
		if e.Addr == "" {
			m.Set(fmt.Sprintf("comment-%d", n), value.Strings(e.Comment))
			n++
			continue
		}
		entry := value.MapOf("aliases", value.Strings(e.Aliases...))
		if e.Comment != "" {
			entry.Set("comment", e.Comment)
		}
		m.Set(e.Addr, entry)
	}
	return m
}

// CheckName refuses a name that would not stay one word of its line.
func CheckName(name string) error {
	if name == "" || strings.ContainsAny(name, " \t\r\n\v\f#\x00") {
		return fun.Errorf("Invalid host name %s", value.Repr(name))
	}
	return nil
}

// IsAddr reports whether s is an IPv4 or IPv6 address.
func IsAddr(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func checkLine(what, s string) error {
	if strings.ContainsAny(s, "\r\n\x00") {
		return fun.Errorf("%s must be a single line", what)
	}
	return nil
}

// An Admin edits the hosts file of a run.
type Admin struct{ Env *fun.Env }

// path returns the option hosts.file, else /etc/hosts.
func (a Admin) path() string {
	if a.Env.Opts != nil {
		if p := a.Env.Opts.Str("hosts.file"); p != "" {
			return p
		}
	}
	return "/etc/hosts"
}

// Read returns the file.
func (a Admin) Read() (File, error) {
	text, err := textfile.Read(a.Env.Host, a.path())
	return Parse(text), err
}

// Add adds names to an address. Salt: salt/modules/hosts.py add_host.
func (a Admin) Add(addr string, names ...string) error {
	for _, n := range append([]string{addr}, names...) {
		if err := CheckName(n); err != nil {
			return err
		}
	}
	_, err := textfile.Edit(a.Env, a.path(), func(text string) (string, error) {
		f := Parse(text)
		if f.Has(addr, names...) {
			return text, nil
		}
		e := f.Find(addr)
		if e == nil {
			f = append(f, Entry{Addr: addr})
			e = &f[len(f)-1]
		}
		for _, n := range names {
			if !slices.Contains(e.Aliases, n) {
				e.Aliases = append(e.Aliases, n)
			}
		}
		return f.String(), nil
	})
	return err
}

// Comment sets the comment of an address and reports whether the address is there.
// Salt: salt/modules/hosts.py set_comment.
func (a Admin) Comment(addr, comment string) (bool, error) {
	if err := checkLine("comment", comment); err != nil {
		return false, err
	}
	found := false
	_, err := textfile.Edit(a.Env, a.path(), func(text string) (string, error) {
		f := Parse(text)
		e := f.Find(addr)
		if found = e != nil; !found || e.Comment == comment {
			return text, nil
		}
		e.Comment = comment
		return f.String(), nil
	})
	return found, err
}

// Set replaces the entries of an address by one with the given names; without
// names the address is removed. Other lines stay as they are.
// Salt: salt/modules/hosts.py set_host.
func (a Admin) Set(addr, names, comment string) error {
	if err := CheckName(addr); err != nil {
		return err
	}
	if err := checkLine("comment", comment); err != nil {
		return err
	}
	if strings.ContainsAny(names, "#\r\n\x00") {
		return fun.Errorf("Invalid host name %s", value.Repr(names))
	}
	_, err := textfile.Edit(a.Env, a.path(), func(text string) (string, error) {
		var out []string
		due := strings.TrimSpace(names) != ""
		for _, l := range textfile.Lines(text) {
			if !isOf(l, addr) {
				out = append(out, l)
			} else if due {
				out, due = append(out, line(addr, names, comment)), false
			}
		}
		if due {
			out = append(out, line(addr, names, comment))
		}
		return textfile.Join(out), nil
	})
	return err
}

// isOf reports whether a line is an entry of an address.
func isOf(l, addr string) bool {
	l, _, _ = strings.Cut(l, "#")
	words := strings.Fields(l)
	return len(words) > 0 && words[0] == addr
}

// Remove takes a name from an address, and the entry with its last name. Other
// lines stay as they are. Salt: salt/modules/hosts.py rm_host.
func (a Admin) Remove(addr, name string) error {
	_, err := textfile.Edit(a.Env, a.path(), func(text string) (string, error) {
		if !Parse(text).Has(addr, name) {
			return text, nil
		}
		var out []string
		for _, l := range textfile.Lines(text) {
			info, comment, _ := strings.Cut(l, "#")
			words := strings.Fields(info)
			if len(words) == 0 || words[0] != addr || !slices.Contains(words[1:], name) {
				out = append(out, l)
				continue
			}
			rest := slices.DeleteFunc(words[1:], func(w string) bool { return w == name })
			if len(rest) == 0 {
				continue
			}
			l = addr + "\t\t" + strings.Join(rest, " ")
			if comment = strings.TrimSpace(comment); comment != "" {
				l += " # " + comment
			}
			out = append(out, l)
		}
		return textfile.Join(out), nil
	})
	return err
}
