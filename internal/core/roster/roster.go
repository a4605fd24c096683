// Package roster reads who the targets are and how they are reached: Salt's
// flat roster and its directory of files, ssh_config, and Ansible inventories.
// Start at [Sources] and [Load].
package roster

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/absent"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Secret is a password. It prints as stars in every format; Reveal returns
// the text.
type Secret struct{ text string }

// NewSecret returns text as a Secret.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// IsSet reports whether there is a text.
func (s Secret) IsSet() bool { return s.text != "" }

const stars = "********"

// Format prints stars for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// String returns stars, or "" where there is no secret.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return stars
}

// GoString returns stars.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns stars, for JSON, logs and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Connections of an entry.
const (
	SSH   = "ssh"
	Local = "local" // this machine, in this process
)

// An Entry is one target. A field is its zero value where neither the roster
// nor its defaults set it.
type Entry struct {
	ID         string
	Pos        source.Pos
	Connection string // SSH or Local
	Host       string // name or address; the id where the roster has none
	Port       int
	User       string
	Passwd     Secret
	Priv       string // file of the private key, or "agent-forwarding"
	PrivPasswd Secret
	// Sudo runs as root, or as SudoUser, by sudo.
	Sudo     bool
	SudoUser string
	TTY      bool
	Timeout  time.Duration // of the connection
	// MinionOpts are configuration of the target; Grains its static grains:
	// those of the key grains over those of minion_opts.
	MinionOpts         *value.Map
	Grains             *value.Map
	ThinDir            string
	SetPath            string // PATH on the target; "$PATH" stands for its own
	SSHOptions         []string
	CmdUmask           string // octal
	PreFlight          string // script run there before anything else
	PreFlightArgs      []string
	IdentitiesOnly     bool
	RemotePortForwards string
	// Relay is the id of the entry whose machine makes the connections to this one;
	// "" is none. RelayFallback is what stands in for a relay that cannot be used:
	// another one, or Direct; "" is nothing.
	Relay, RelayFallback string
	// Extra are the keys that brine does not know, without what looks like a
	// secret.
	Extra *value.Map
	// Err is why the entry cannot be used: values of a wrong type. It is a target
	// that cannot be reached; the other entries can.
	Err error

	adHoc    bool // named on the command line
	secrets  bool // its own data have a password
	ownRelay bool // its own data say which relay, at relayAt
	relayAt  source.Pos
}

// A Roster is the entries of all sources in their order.
//
// It is safe for concurrent use.
type Roster struct {
	o      Options
	groups *value.Map
	warn   source.Errors

	mu      sync.RWMutex // guards what Name changes
	entries []*Entry
	index   map[string]*Entry
}

// Entries returns all entries in the order of their sources.
func (r *Roster) Entries() []*Entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.entries)
}

// Get returns the entry of an id.
func (r *Roster) Get(id string) (*Entry, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, ok := r.index[id]
	return e, ok
}

// Nodegroups returns the groups of inventories: name → list of ids.
func (r *Roster) Nodegroups() *value.Map { return r.groups }

// Warnings returns what Salt accepts silently: unknown keys, ids that occur
// twice, invalid entries. The entry's Err says what is wrong with an invalid
// one.
func (r *Roster) Warnings() source.Errors { return r.warn }

// A Source is a roster to read.
type Source struct {
	Kind string // one of Kinds
	Path string // a file; of the kind flat also a directory of them
}

// Kinds are the kinds of rosters.
func Kinds() []string {
	return []string{"flat", "dir", "sshconfig", "ansible", "terraform", "scan", "clustershell"}
}

// Files is what the package needs of the machine.
type Files interface {
	ReadFile(path string) ([]byte, error)
	// ReadDir returns the names in a directory, sorted.
	ReadDir(path string) ([]string, error)
}

// Options say how rosters are read.
type Options struct {
	// Render returns the data of a file through its renderers (jinja|yaml),
	// with places where it knows them.
	Render func(path string) (value.Value, error)
	Files  Files
	// Module returns what a module of the tree says of all targets, an error that is
	// fs.ErrNotExist where the tree has none of that name. nil: there are no modules.
	Module func(kind string) (value.Value, error)
	// Defaults are keys of every entry that does not have them.
	Defaults *value.Map
	// Domain is what the kind dir puts behind an id to make a host.
	Domain string
	// ScanPorts are the ports that the kinds try that make their entries of
	// targets (see FromTarget), and Open tries one; nil: none is tried.
	ScanPorts []string
	Open      func(host string, port int) bool
	// AdHoc are targets that the command line names by their addresses.
	AdHoc []Address
	// Exposed reports whether others than the user can read a file; nil: nobody.
	Exposed func(path string) bool
	// Home is the directory of the person, for ~ and includes in ssh_config, and
	// Me the account, for its "Match localuser".
	Home, Me string
}

// Defaults returns the keys that configuration gives to every entry: the
// options ssh_user, ssh_port and so on, and roster_defaults over them.
// Salt: salt/client/ssh/__init__.py.
func Defaults(opts value.Mapping) *value.Map {
	d := value.NewMap(8)
	for _, k := range []string{"user", "port", "passwd", "priv", "priv_passwd", "sudo", "sudo_user", "timeout", "identities_only", "remote_port_forwards", "options"} {
		if v, ok := opts.Get("ssh_" + k); ok && v != nil && v != "" {
			if k == "options" {
				k = "ssh_options"
			}
			d.Set(k, v)
		}
	}
	if v, ok := opts.Get("roster_defaults"); ok {
		if m, ok := v.(value.Mapping); ok {
			d.Update(m)
		}
	}
	return d
}

// Sources returns the rosters that configuration names.
//
// The option roster gives the kinds (a string with commas, or a list; default:
// flat). A flat or ansible roster is roster_file (a file or directory, or a
// list of them), looked for in the directories of the option rosters if there
// is no such path; without that option it is the file roster in configDir, the
// directory of the configuration. If that default file is missing, the list is
// empty. home is the user's directory, for ~/.ssh/config. Other kinds are those of
// modules of the tree, or unknown, which [Load] finds out.
func Sources(opts value.Mapping, files Files, configDir, home string) ([]Source, error) {
	var out []Source
	for _, kind := range KindsOf(opts) {
		switch kind {
		case "flat", "ansible":
			found, err := listed(kind, opts, files, configDir)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		case "scan", "clustershell":
			out = append(out, Source{Kind: kind})
		case "terraform":
			paths := texts(opts, "roster_file")
			if len(paths) == 0 {
				paths = []string{"terraform.tfstate"}
			}
			for _, p := range paths {
				out = append(out, Source{kind, p})
			}
		case "dir":
			p := path.Join(configDir, "roster.d")
			if set := texts(opts, "roster_dir"); len(set) > 0 {
				p = set[0]
			}
			out = append(out, Source{kind, p})
		case "sshconfig":
			p := path.Join(home, ".ssh/config")
			if set := texts(opts, "ssh_config_file"); len(set) > 0 {
				p = set[0]
			}
			if rest, ok := strings.CutPrefix(p, "~/"); ok {
				p = path.Join(home, rest)
			}
			out = append(out, Source{kind, p})
		default:
			out = append(out, Source{Kind: kind}) // a module of the tree may have it
		}
	}
	return out, nil
}

// KindsOf returns the kinds of rosters that configuration names.
func KindsOf(opts value.Mapping) []string {
	if kinds := texts(opts, "roster"); len(kinds) > 0 {
		return kinds
	}
	return []string{"flat"}
}

// listed returns the files of a flat roster or of an inventory.
func listed(kind string, opts value.Mapping, files Files, configDir string) ([]Source, error) {
	paths := texts(opts, "roster_file")
	if len(paths) == 0 {
		if p := path.Join(configDir, "roster"); exists(files, p) {
			return []Source{{kind, p}}, nil
		} else if p := "/etc/ansible/hosts"; kind == "ansible" && exists(files, p) {
			return []Source{{kind, p}}, nil
		}
		return nil, nil
	}
	var out []Source
	for _, p := range paths {
		found, err := find(files, p, texts(opts, "rosters"))
		if err != nil {
			return nil, err
		}
		out = append(out, Source{kind, found})
	}
	return out, nil
}

func unknownKind(kind string) error {
	switch kind {
	case "cache", "cloud":
		return fmt.Errorf("the roster %q reads what a Salt master keeps of its minions, which brine does not have; write a flat roster of it: salt-run cache.grains or salt-run cache.cloud shows the addresses", kind)
	}
	if why := absent.ReasonSuffix(absent.Roster, kind); why != "" {
		return fmt.Errorf("unknown kind of roster %q%s", kind, why)
	}
	return fmt.Errorf("unknown kind of roster %q%s; kinds are %s", kind, source.DidYouMean(kind, Kinds()), strings.Join(Kinds(), ", "))
}

// texts returns an option that is text with commas, or a list.
func texts(opts value.Mapping, key string) []string {
	v, _ := opts.Get(key)
	var out []string
	switch v := v.(type) {
	case string:
		for s := range strings.SplitSeq(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	case *value.List:
		for _, x := range v.Items {
			if s := value.Str(x); x != nil && s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func exists(files Files, p string) bool {
	if _, err := files.ReadDir(p); err == nil {
		return true
	}
	_, err := files.ReadFile(p)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

func find(files Files, p string, dirs []string) (string, error) {
	if exists(files, p) {
		return p, nil
	}
	for _, d := range dirs {
		for _, name := range []string{p, path.Base(p)} {
			if q := path.Join(d, name); exists(files, q) {
				return q, nil
			}
		}
	}
	var names []string
	for _, d := range append(slices.Clone(dirs), path.Dir(p)) {
		if all, err := files.ReadDir(d); err == nil {
			names = append(names, all...)
		}
	}
	return "", fmt.Errorf("roster file %q not found%s: %w", p, source.DidYouMean(path.Base(p), names), fs.ErrNotExist)
}

// Load reads all sources. Of the kinds that [FromTarget] names there is nothing
// to read, see [Roster.Name]. It fails if a source cannot be read; the error of
// an invalid entry is its Err, and mistakes are in the roster's warnings.
func Load(o Options, sources ...Source) (*Roster, error) {
	l := loader{o: o, r: &Roster{o: o, index: map[string]*Entry{}, groups: value.NewMap(0)}, warned: map[string]bool{}}
	for _, s := range sources {
		var err error
		switch s.Kind {
		case "", "flat":
			err = l.flat(s.Path, true)
		case "dir":
			err = l.dir(s.Path)
		case "sshconfig":
			err = l.sshConfig(s.Path)
		case "ansible":
			err = l.inventory(s.Path)
		case "terraform":
			err = l.terraform(s.Path)
		case "scan", "clustershell": // see Name
		default:
			err = l.module(s.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, a := range o.AdHoc {
		if err := l.adHoc(a); err != nil {
			return nil, err
		}
	}
	l.relays()
	l.exposed()
	l.warnMistakes()
	return l.r, nil
}

type loader struct {
	o        Options
	r        *Roster
	mistakes []*mistake
	byText   map[string]*mistake // by their texts
	// vaults are encrypted files that were warned of.
	vaults map[string]bool
	warned map[string]bool // files of which a fault has been told
	// unknownRelays are names of relays that are not in the roster.
	unknownRelays map[string]error
}

// A mistake is one that a single entry makes, or several in the same way.
type mistake struct {
	pos  source.Pos // of the first
	ids  []string
	text string
}

// noteMistake notes a mistake of an entry; mistakes with the same text become one
// warning.
func (l *loader) noteMistake(id string, pos source.Pos, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s := l.byText[text]; s != nil {
		if s.ids[len(s.ids)-1] != id {
			s.ids = append(s.ids, id)
		}
		return
	}
	s := &mistake{pos, []string{id}, text}
	if l.byText == nil {
		l.byText = map[string]*mistake{}
	}
	l.mistakes, l.byText[text] = append(l.mistakes, s), s
}

// warnMistakes turns the noted mistakes into warnings.
func (l *loader) warnMistakes() {
	for _, s := range l.mistakes {
		who := fmt.Sprintf("roster entry %q", s.ids[0])
		if n := len(s.ids) - 1; n > 0 {
			who = fmt.Sprintf("roster entry %q and %d more", s.ids[0], n)
		}
		l.warn(s.pos, "%s: %s", who, s.text)
	}
}

// exposed warns of files with passwords that others can read.
func (l *loader) exposed() {
	if l.o.Exposed == nil {
		return
	}
	seen := map[string]bool{}
	for _, e := range l.r.entries {
		file := e.Pos.File
		if !e.secrets || seen[file] {
			continue
		}
		seen[file] = true
		if l.o.Exposed(file) {
			l.r.warn = append(l.r.warn, &source.Error{
				Pos: source.Pos{File: file}, Err: errors.New("the file has passwords and every user can read it: chmod o-rwx " + file),
			})
		}
	}
}

func (l *loader) warn(pos source.Pos, format string, args ...any) {
	l.r.warn = append(l.r.warn, &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)})
}

// flat reads a file {id: entry}, or all files of a directory but hidden ones
// and backups.
func (l *loader) flat(p string, dirToo bool) error {
	if dirToo {
		if names, err := l.o.Files.ReadDir(p); err == nil {
			for _, name := range names {
				if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".bak") {
					continue
				}
				sub := path.Join(p, name)
				if _, err := l.o.Files.ReadDir(sub); err == nil {
					continue
				}
				if err := l.flat(sub, false); err != nil {
					return err
				}
			}
			return nil
		}
	}
	v, err := l.o.Render(p)
	if m, ok := v.(*value.Map); err == nil && ok && isInventory(m) || (err != nil || v != nil && !ok) && l.isINI(p, err == nil) {
		return &source.Error{
			Pos: source.Pos{File: p, Line: 1}, Err: errors.New("this is an inventory of Ansible, and a roster is a mapping of ids"),
			Hint: "add --roster ansible, or roster: ansible to the configuration",
		}
	}
	if err != nil {
		return fmt.Errorf("read roster %s: %w", p, err)
	}
	return l.addAll(v, p)
}

// addAll adds the entries of a mapping, which came from a file or a module.
func (l *loader) addAll(v value.Value, from string) error {
	switch v := v.(type) {
	case nil:
		return nil
	case *value.Map:
		for id, data := range v.All() {
			l.add(value.Str(id), data, orFile(v.Pos(id), from))
		}
		return nil
	default:
		return &source.Error{Pos: source.Pos{File: from}, Err: fmt.Errorf("a roster is a mapping of ids, not %s", value.Kind(v))}
	}
}

// module adds the targets of a module of the tree.
func (l *loader) module(kind string) error {
	if l.o.Module == nil {
		return unknownKind(kind)
	}
	v, err := l.o.Module(kind)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unknownKind(kind)
	case err != nil:
		return err
	}
	return l.addAll(v, "salt://_roster/"+kind+".py")
}

// isInventory reports whether data is an inventory of Ansible in YAML or JSON.
func isInventory(m *value.Map) bool {
	all, ok := m.At("all").(*value.Map)
	if !ok {
		return m.Has("_meta")
	}
	_, hosts := all.At("hosts").(*value.Map)
	_, children := all.At("children").(*value.Map)
	return hosts || children
}

// isINI reports whether a file that is not a roster is an inventory of Ansible in INI: a
// host has variables there, or, in what is not YAML either, a line is the head of a group.
func (l *loader) isINI(p string, yaml bool) bool {
	text, err := l.o.Files.ReadFile(p)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, vars, ok := strings.Cut(line, " "); ok && !strings.ContainsAny(name, "#;:=") && strings.Contains(vars, "ansible_") && strings.Contains(vars, "=") {
			return true
		}
		if inner, ok := strings.CutPrefix(line, "["); ok && !yaml && strings.IndexByte(inner, ']') == len(inner)-1 && !strings.ContainsAny(inner, " ,{\"'") {
			return true
		}
	}
	return false
}

// dir reads a directory whose files are named by ids.
func (l *loader) dir(p string) error {
	names, err := l.o.Files.ReadDir(p)
	if err != nil {
		return fmt.Errorf("read roster directory %s: %w", p, err)
	}
	for _, name := range names {
		file := path.Join(p, name)
		if strings.HasPrefix(name, ".") {
			continue
		}
		if _, err := l.o.Files.ReadDir(file); err == nil {
			continue
		}
		v, err := l.o.Render(file)
		if err != nil {
			// Salt goes on with the other files.
			l.warn(source.Pos{File: file}, "the entry cannot be read: %w", err)
			continue
		}
		m, ok := v.(*value.Map)
		if !ok || m.Len() == 0 {
			if v != nil && !ok {
				l.warn(source.Pos{File: file}, "an entry is a mapping, not %s", value.Kind(v))
			}
			continue
		}
		if !m.Has("host") {
			m = m.Copy()
			m.Set("host", strings.TrimSuffix(name+"."+l.o.Domain, "."))
		}
		l.add(name, m, source.Pos{File: file})
	}
	return nil
}

func orFile(p source.Pos, file string) source.Pos {
	if p.IsZero() {
		return source.Pos{File: file}
	}
	return p
}

// add adds an entry: a mapping, or text that is the host.
func (l *loader) add(id string, data value.Value, pos source.Pos) {
	var m *value.Map
	switch data := data.(type) {
	case string:
		m = value.MapOf("host", data)
	case *value.Map:
		m = data
	default:
		l.warn(pos, "roster entry %q must be a host or a mapping, not %s", id, value.Kind(data))
		return
	}
	if first, ok := l.r.index[id]; ok {
		l.warn(pos, "roster entry %q is there already, in %s, which counts", id, first.Pos)
		return
	}
	e := l.entry(id, m, pos)
	l.r.entries = append(l.r.entries, e)
	l.r.index[id] = e
}
