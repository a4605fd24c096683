package mount

import (
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// An Entry is a line of fstab. Its fields are as the file writes them: a blank is
// \040.
type Entry struct {
	Device, Name, FSType, Opts, Dump, Pass string
}

// Escape writes blanks in a field as fstab does.
func Escape(s string) string {
	return strings.NewReplacer(`\ `, `\040`, " ", `\040`, "\t", `\011`).Replace(s)
}

// parseEntry reads a line of fstab. ok is false for comments and for what is not
// an entry, which stays as it is.
func parseEntry(line string) (e Entry, ok bool) {
	f := strings.Fields(line)
	if strings.HasPrefix(line, "#") || len(f) < 4 || len(f) > 6 || strings.HasPrefix(f[0], "#") {
		return Entry{}, false
	}
	f = append(f, "0", "0")
	return Entry{f[0], f[1], f[2], f[3], f[4], f[5]}, true
}

// String returns the line as Salt writes it, without a line end.
func (e Entry) String() string {
	return e.Device + "\t\t" + e.Name + "\t" + e.FSType + "\t" + e.Opts + "\t" + e.Dump + " " + e.Pass
}

// Check refuses fields that would not stay one word of their line.
func (e Entry) Check() error {
	for i, s := range []string{e.Device, e.Name, e.FSType, e.Opts, e.Dump, e.Pass} {
		if s == "" || strings.ContainsAny(s, " \t\r\n\v\f\x00") || i == 0 && s[0] == '#' {
			return fun.Errorf("invalid %s of an fstab entry: %s", keys[i], value.Repr(s))
		}
	}
	return nil
}

// keys are the names of the fields, for match_on.
var keys = [...]string{"device", "name", "fstype", "opts", "dump", "pass_num"}

func (e Entry) field(key string) string {
	return []string{e.Device, e.Name, e.FSType, e.Opts, e.Dump, e.Pass}[slices.Index(keys[:], key)]
}

// sameOn reports whether two entries agree in some fields; the order of options
// does not count.
func (e Entry) sameOn(o Entry, on []string) bool {
	for _, k := range on {
		a, b := e.field(k), o.field(k)
		if k == "opts" {
			x, y := strings.Split(a, ","), strings.Split(b, ",")
			slices.Sort(x)
			slices.Sort(y)
			a, b = strings.Join(x, ","), strings.Join(y, ",")
		}
		if a != b {
			return false
		}
	}
	return true
}

// A Table is an fstab, by lines.
type Table []string

// ParseTable reads an fstab. It takes any text.
func ParseTable(text string) Table { return Table(textfile.Lines(text)) }

func (t Table) String() string { return textfile.Join(t) }

// Entries returns the entries, in their order.
func (t Table) Entries() (es []Entry) {
	for _, l := range t {
		if e, ok := parseEntry(l); ok {
			es = append(es, e)
		}
	}
	return es
}

// Find returns the first entry of a mount point.
func (t Table) Find(name string) (Entry, bool) {
	for _, e := range t.Entries() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// value returns the table as mount.fstab does.
func (t Table) value() *value.Map {
	m := value.NewMap(len(t))
	for _, e := range t.Entries() {
		name := e.Name
		for m.Has(name) {
			name += "_"
		}
		m.Set(name, value.MapOf("device", e.Device, "fstype", e.FSType, "opts", value.Strings(strings.Split(e.Opts, ",")...), "dump", e.Dump, "pass", e.Pass))
	}
	return m
}

// Remove takes the entries of a mount point out, those of a device where that is
// not "".
func (t Table) Remove(name, device string) Table {
	out := make(Table, 0, len(t))
	for _, l := range t {
		if e, ok := parseEntry(l); ok && e.Name == name && (device == "" || e.Device == device) {
			continue
		}
		out = append(out, l)
	}
	return out
}

// special are the types of file systems whose entries are known by their mount
// point, not by their device.
var special = []string{
	"none", "tmpfs", "sysfs", "proc", "fusectl", "debugfs", "securityfs", "devtmpfs", "cgroup", "nfs", "nfs4", "glusterfs", "btrfs",
}

// Criteria returns the fields by which the entry is found again.
// Salt: salt/modules/mount.py set_fstab.
func (e Entry) Criteria(matchOn []string) ([]string, error) {
	if len(matchOn) == 0 || len(matchOn) == 1 && matchOn[0] == "auto" {
		if slices.Contains(special, e.FSType) {
			return []string{"name"}, nil
		}
		return []string{"device"}, nil
	}
	var unknown []string
	for _, k := range matchOn {
		if !slices.Contains(keys[:], k) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		return nil, fun.Errorf("Unrecognized keys in match_on: %q", strings.Join(unknown, ", "))
	}
	return matchOn, nil
}

// Set puts an entry in, in the place of those that agree with it in some fields.
// It says new, change or present. keep leaves an entry that exists as it is.
func (t Table) Set(e Entry, on []string, keep bool) (Table, string) {
	did := "new"
	out := make(Table, 0, len(t)+1)
	for _, l := range t {
		if have, ok := parseEntry(l); ok && e.sameOn(have, on) {
			if did == "new" {
				did = "present"
			}
			if !keep && !e.sameOn(have, keys[:]) {
				l, did = e.String(), "change"
			}
		}
		out = append(out, l)
	}
	if did == "new" {
		out = append(out, e.String())
	}
	return out, did
}

// SetFstab puts an entry into a file, unless test is set. It says new, change or
// present.
func SetFstab(env *fun.Env, config string, e Entry, matchOn []string, keep, test bool) (string, error) {
	e.Device, e.Name, e.Opts = Escape(e.Device), Escape(e.Name), Escape(e.Opts)
	if err := e.Check(); err != nil {
		return "", err
	}
	on, err := e.Criteria(matchOn)
	if err != nil {
		return "", err
	}
	if st, err := env.Host.Stat(config); err != nil || !st.Mode.IsRegular() {
		return "", fun.Errorf("Bad config file \"%s\"", config)
	}
	defer textfile.Lock(env, config)()
	text, err := textfile.Read(env.Host, config)
	if err != nil {
		return "", fun.Errorf("Couldn't read from %s: %s", config, err)
	}
	t, did := ParseTable(text).Set(e, on, keep)
	if did == "present" || test {
		return did, nil
	}
	if err := textfile.Write(env.Host, config, t.String()); err != nil {
		return "", fun.Errorf("File not writable %s: %s", config, host.OSError(err))
	}
	return did, nil
}

// ReadFstab returns a table; one that does not exist is empty.
func ReadFstab(env *fun.Env, config string) (Table, error) {
	text, err := textfile.Read(env.Host, config)
	return ParseTable(text), err
}

// RemoveFstab takes the entries of a mount point out of a file.
// Salt: salt/modules/mount.py rm_fstab.
func RemoveFstab(env *fun.Env, config, name, device string) error {
	if _, err := env.Host.Stat(config); err != nil {
		return fun.Errorf("Couldn't read from %s: %s", config, err)
	}
	_, err := textfile.Edit(env, config, func(text string) (string, error) {
		t := ParseTable(text)
		left := t.Remove(Escape(name), Escape(device))
		if len(left) == len(t) {
			return text, nil
		}
		return left.String(), nil
	})
	if err != nil {
		return fun.Errorf("Couldn't write to %s: %s", config, err)
	}
	return nil
}
