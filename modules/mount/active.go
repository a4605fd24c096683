package mount

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// An Active is a mounted file system. Blanks in its fields are \040, as in /proc.
type Active struct {
	Device, Name, FSType string
	Opts, SuperOpts      []string
	ID, Parent           string
	Major, Minor, Root   string
	UUID, Label          string
}

// Mounts are the mounted file systems by mount point; of several at one place the
// last.
type Mounts struct {
	order []string
	by    map[string]*Active
}

// Get returns what is mounted at a place, nil for nothing.
func (m *Mounts) Get(name string) *Active { return m.by[Escape(name)] }

func (m *Mounts) set(a *Active) {
	if m.by == nil {
		m.by = map[string]*Active{}
	}
	if m.by[a.Name] == nil {
		m.order = append(m.order, a.Name)
	}
	m.by[a.Name] = a
}

// ParseMounts reads /proc/self/mounts.
func ParseMounts(text string) *Mounts {
	m := &Mounts{}
	for _, l := range textfile.Lines(text) {
		f := strings.Fields(l)
		if len(f) >= 4 {
			m.set(&Active{Device: f[0], Name: f[1], FSType: f[2], Opts: strings.Split(f[3], ",")})
		}
	}
	return m
}

// ParseMountInfo reads /proc/self/mountinfo.
func ParseMountInfo(text string) *Mounts {
	m := &Mounts{}
	for _, l := range textfile.Lines(text) {
		f := strings.Fields(l)
		sep := slices.Index(f, "-")
		if sep < 6 || len(f) < sep+3 {
			continue
		}
		a := &Active{ID: f[0], Parent: f[1], Root: f[3], Name: f[4], Opts: strings.Split(f[5], ","), FSType: f[sep+1], Device: f[sep+2]}
		a.Major, a.Minor, _ = strings.Cut(f[2], ":")
		if len(f) > sep+3 {
			a.SuperOpts = strings.Split(f[sep+3], ",")
		}
		m.set(a)
	}
	return m
}

// List returns the mounted file systems. extended tells more of each, as Salt does.
func List(ctx context.Context, env *fun.Env, extended bool) (*Mounts, error) {
	const short, long = "/proc/self/mounts", "/proc/self/mountinfo"
	if extended {
		if b, err := env.Host.ReadFile(long); err == nil {
			m := ParseMountInfo(string(b))
			m.resolve(env.Host)
			return m, m.identify(ctx, env)
		}
	}
	b, err := env.Host.ReadFile(short)
	if err != nil {
		return nil, fun.Errorf("File not readable %s", short)
	}
	m := ParseMounts(string(b))
	m.resolve(env.Host)
	return m, nil
}

// resolve writes users and groups in the options as numbers.
func (m *Mounts) resolve(h host.Host) {
	for _, a := range m.by {
		for _, opts := range [][]string{a.Opts, a.SuperOpts} {
			for i, o := range opts {
				opts[i] = NumericOwner(h, o)
			}
		}
	}
}

// NumericOwner returns an option uid=NAME or gid=NAME with the number of the
// account, and other options as they are.
func NumericOwner(h host.Host, opt string) string {
	key, name, ok := strings.Cut(opt, "=")
	if _, err := strconv.Atoi(name); !ok || err == nil {
		return opt
	}
	switch key {
	case "uid":
		if u, err := h.LookupUser(name); err == nil {
			return "uid=" + strconv.Itoa(u.UID)
		}
	case "gid":
		if g, err := h.LookupGroup(name); err == nil {
			return "gid=" + strconv.Itoa(g.GID)
		}
	}
	return opt
}

// identify adds UUID and label of the devices.
func (m *Mounts) identify(ctx context.Context, env *fun.Env) error {
	if !slices.ContainsFunc(m.order, func(n string) bool { return strings.HasPrefix(m.by[n].Device, "/dev/") }) {
		return nil
	}
	devices, err := Devices(ctx, env)
	if err != nil {
		return err
	}
	for _, a := range m.by {
		d := devices[a.Device]
		a.UUID, a.Label = strings.ToLower(d["UUID"]), d["LABEL"]
	}
	return nil
}

// blank returns a field with blanks as Salt shows them.
func blank(s string) string { return strings.ReplaceAll(s, `\040`, `\ `) }

func blanks(ss []string) *value.List {
	l := value.NewList()
	for _, s := range ss {
		l.Append(blank(s))
	}
	return l
}

// value returns the file systems as mount.active does.
func (m *Mounts) value(extended bool) *value.Map {
	out := value.NewMap(len(m.order))
	none := func(s string) value.Value {
		if s == "" {
			return nil
		}
		return s
	}
	for _, n := range m.order {
		a := m.by[n]
		if !extended || a.ID == "" {
			out.Set(n, value.MapOf("device", a.Device, "alt_device", a.Device, "fstype", a.FSType, "opts", blanks(a.Opts)))
			continue
		}
		out.Set(n, value.MapOf(
			"mountid", a.ID, "parentid", a.Parent, "major", a.Major, "minor", a.Minor, "root", a.Root, "opts", blanks(a.Opts), "fstype", a.FSType,
			"device", blank(a.Device), "alt_device", a.Device, "superopts", blanks(a.SuperOpts), "device_uuid", none(a.UUID), "device_label", none(a.Label),
		))
	}
	return out
}

type devicesKey struct{ what string }

// Devices returns what blkid knows of the block devices: UUID, LABEL, TYPE and
// more by device. It is asked once in a run, unless what names a device or a token
// such as LABEL=data.
func Devices(ctx context.Context, env *fun.Env, what ...string) (map[string]map[string]string, error) {
	key := devicesKey{strings.Join(what, " ")}
	if env.Memo != nil && len(what) == 0 {
		if d, ok := env.Memo.Load(key); ok {
			return d.(map[string]map[string]string), nil
		}
	}
	devices := map[string]map[string]string{}
	if _, err := env.Host.LookPath("blkid", ""); err == nil {
		out, err := tool.Look(ctx, env.Host, append([]string{"blkid"}, what...)...)
		if err != nil {
			return nil, err
		}
		devices = ParseBlkid(out.Stdout)
	}
	if env.Memo != nil && len(what) == 0 {
		env.Memo.Store(key, devices)
	}
	return devices, nil
}

// ParseBlkid reads the output of blkid: DEVICE: KEY="VALUE" ...
func ParseBlkid(text string) map[string]map[string]string {
	devices := map[string]map[string]string{}
	for _, l := range textfile.Lines(text) {
		device, rest, ok := strings.Cut(l, ": ")
		if !ok {
			continue
		}
		m := map[string]string{}
		for rest != "" {
			key, after, ok := strings.Cut(strings.TrimLeft(rest, " "), `="`)
			if !ok {
				break
			}
			end := 0
			for end < len(after) && (after[end] != '"' || end > 0 && after[end-1] == '\\') {
				end++
			}
			m[key] = after[:end]
			rest = after[min(end+1, len(after)):]
		}
		devices[device] = m
	}
	return devices
}

// PointOf returns the mount point above a path.
// Salt: salt/modules/mount.py get_mount_from_path.
func PointOf(h host.Host, path string) string {
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		up := filepath.Dir(p)
		if p == up {
			return p
		}
		a, err := h.Stat(p)
		if err != nil {
			continue
		}
		if b, err := h.Stat(up); err == nil && (a.Dev != b.Dev || a.Inode == b.Inode) {
			return p
		}
	}
}
