package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// maxLeft is how many things are named that a state would leave.
const maxLeft = 100

// showLeft has a return say what the state would leave.
func showLeft(ret *value.Map, left []value.Value) {
	if len(left) == 0 {
		return
	}
	shown := ret.Map(fun.PlanKey).Copy()
	if more := len(left) - maxLeft; more > 0 {
		left = left[:maxLeft]
		shown.Set(fun.PlanMore, int64(more))
	}
	shown.Set(fun.PlanLeaves, value.NewList(left...))
	ret.Set(fun.PlanKey, shown)
}

// leads has a return say where the path of its state leads, if a link is on the way: a link
// that comes behind a plan takes what is written to another place.
func (r *run) leads(c *fun.Chunk, ret *value.Map) {
	if c.State != "file" || !path.IsAbs(c.Name) {
		return
	}
	name := path.Clean(c.Name)
	real := name
	for rest := ""; ; name, rest = path.Dir(name), path.Join(path.Base(name), rest) {
		to, err := r.env.Host.EvalSymlinks(name)
		if err == nil {
			real = path.Join(to, rest)
			break
		}
		if name == "/" {
			break
		}
	}
	if real == path.Clean(c.Name) {
		return
	}
	shown := ret.Map(fun.PlanKey).Copy()
	shown.Set(fun.PlanReal, real)
	ret.Set(fun.PlanKey, shown)
}

// left returns what the last state put on the overlay, and the paths of it. Users and groups have no numbers:
// those that no state gives are chosen when it runs.
func (r *run) left() (out []value.Value, paths []string) {
	o := r.plan.over
	touched := o.Touched()
	for _, p := range touched.Paths {
		p = path.Clean(p)
		if !path.IsAbs(p) || strings.HasPrefix(p, "/proc/") || r.env.CacheDir != "" && strings.HasPrefix(p, path.Clean(r.env.CacheDir)+"/") {
			continue // such as backups, whose names have the time
		}
		paths = append(paths, p)
		if len(out) >= maxLeft {
			out = append(out, nil) // only counted
		} else if m := leftPath(o, p); m != nil {
			out = append(out, m)
		}
	}
	for _, name := range touched.Groups {
		m := value.MapOf("kind", "group", "name", name)
		if g, err := o.LookupGroup(name); err != nil {
			m.Set("absent", true)
		} else if len(g.Members) > 0 {
			m.Set("members", value.Strings(g.Members...))
		}
		out = append(out, m)
	}
	for _, name := range touched.Users {
		m := value.MapOf("kind", "user", "name", name)
		if u, err := o.LookupUser(name); err != nil {
			m.Set("absent", true)
		} else {
			m.Set("home", u.Home)
			m.Set("shell", u.Shell)
		}
		out = append(out, m)
	}
	for _, name := range touched.Crontabs {
		out = append(out, value.MapOf("kind", "crontab", "name", name))
	}
	return out, paths
}

// Bounds of the new files that a state shows: how many, and how many bytes of what they
// contain.
const (
	maxMade  = 200
	maxShown = 64 << 10
)

// made returns the files among paths that are new on the machine, each with its size and,
// where it is text and changes are shown, what it contains as a diff.
func (r *run) made(c *fun.Chunk, ret *value.Map, paths []string) []value.Value {
	p, room := r.plan, maxShown
	if p.made == nil {
		p.made = map[string]bool{}
	}
	hide := c.Low.At("show_changes") == false || value.Truth(r.env.Opts.At("obfuscate_templates"))
	shown := ret.Map(fun.PlanKey).Map(fun.PlanContent).Has("size") // the state says it itself
	var out []value.Value
	for _, name := range paths {
		st, err := p.over.Lstat(name)
		if err != nil {
			delete(p.made, name)
			continue
		}
		if _, err := p.over.Below(name); err == nil || p.made[name] || !st.Mode.IsRegular() {
			continue
		}
		p.made[name] = true
		if shown || len(out) == maxMade {
			continue
		}
		m := value.MapOf("name", name, "size", st.Size)
		if text, all := r.textOf(name, st.Size, room); text != "" && !hide && ofTree(c, name) {
			room -= len(text)
			m.Set("diff", diffOfNew(name, text, st.Size-int64(len(text)), all))
		}
		out = append(out, m)
	}
	return out
}

// ofTree reports whether what a state writes to a new file comes from its arguments or from
// the tree. What it copies on the target itself, such as backups and keys, no run shows.
func ofTree(c *fun.Chunk, name string) bool {
	switch c.State + "." + c.Fun {
	case "file.copy", "file.rename", "file.hardlink", "file.absent", "file.tidied", "file.pruned":
		return false
	case "file.recurse":
		return strings.HasPrefix(name, path.Clean(c.Name)+"/")
	}
	return c.State == "ssh_auth" || name == path.Clean(c.Name)
}

// textOf returns the first lines of a file of an overlay, as many as there is room for, and
// whether that is all; "" for one that is not text.
func (r *run) textOf(name string, size int64, room int) (text string, all bool) {
	f, err := r.plan.over.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, int64(room)))
	all = int64(len(head)) == size
	if !all {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	if err != nil || !utf8.Valid(head) || bytes.IndexByte(head, 0) >= 0 {
		return "", false
	}
	return string(head), all
}

// diffOfNew is a text as the diff of a file that was not there; more bytes of it are not
// shown.
func diffOfNew(name, text string, more int64, all bool) string {
	n := strings.Count(text, "\n")
	var b strings.Builder
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	count := "1"
	if n != 1 {
		count = "1," + strconv.Itoa(n)
	}
	b.WriteString("--- /dev/null\n+++ " + name + "\n@@ -0,0 +" + count + " @@\n")
	for line := range strings.Lines(text) {
		b.WriteString("+" + line)
	}
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
	if !all {
		b.WriteString("\\ " + strconv.FormatInt(more, 10) + " more bytes are not shown\n")
	}
	return b.String()
}

// leftPath returns what an overlay has at a path; nil for what neither it nor the machine
// has.
func leftPath(o *host.Overlay, p string) *value.Map {
	st, err := o.Lstat(p)
	if err != nil {
		if _, err := o.Below(p); err != nil {
			return nil
		}
		return value.MapOf("kind", "path", "name", p, "absent", true)
	}
	kind := "path"
	m := value.MapOf("kind", kind, "name", p)
	switch {
	case st.Mode.IsDir():
		kind = "directory"
	case st.Mode.IsRegular():
		kind = "file"
		m.Set("size", st.Size)
		if sum := sumOf(o, p); sum != "" {
			m.Set("sha256", sum)
		}
	case st.Mode&fs.ModeSymlink != 0:
		kind = "link"
		if to, err := o.Readlink(p); err == nil {
			m.Set("target", to)
		}
	}
	m.Set("kind", kind)
	if kind != "link" {
		m.Set("mode", "0"+strconv.FormatUint(uint64(st.Perm()), 8))
	}
	owner, group := strconv.Itoa(st.UID), strconv.Itoa(st.GID)
	if u, err := o.LookupUID(st.UID); err == nil {
		owner = u.Name
	}
	if g, err := o.LookupGID(st.GID); err == nil {
		group = g.Name
	}
	m.Set("user", owner)
	m.Set("group", group)
	return m
}

// sumOf returns the digest of a file, "" where its content is not kept.
func sumOf(o *host.Overlay, p string) string {
	f, err := o.Open(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	d := sha256.New()
	if _, err := io.Copy(d, f); err != nil {
		return ""
	}
	return hex.EncodeToString(d.Sum(nil))
}

// declared returns what a state leaves that is neither a file nor an account: it is what the
// state says, since it is sure to act.
func declared(c *fun.Chunk) []value.Value {
	text := func(arg string) string {
		v := c.Low.At(arg)
		if v == nil {
			return ""
		}
		return value.Str(v)
	}
	one := func(kind, name string, more ...value.Value) []value.Value {
		m := value.MapOf("kind", kind, "name", name)
		for i := 0; i+1 < len(more); i += 2 {
			if s, ok := more[i+1].(string); !ok || s != "" {
				m.Set(more[i], more[i+1])
			}
		}
		return []value.Value{m}
	}
	if filters(c) && c.State != "service" {
		return rules(c, one)
	}
	switch c.State + "." + c.Fun {
	case "service.running", "service.dead":
		more := []value.Value{"running", c.Fun == "running"}
		if enable, ok := c.Low.At("enable").(bool); ok {
			more = append(more, "enabled", enable)
		}
		return one("service", c.Name, more...)
	case "service.enabled", "service.disabled":
		return one("service", c.Name, "enabled", c.Fun == "enabled")
	case "service.masked", "service.unmasked":
		return one("service", c.Name, "masked", c.Fun == "masked")
	case "mount.mounted":
		return one("mount", c.Name, "device", text("device"), "fstype", text("fstype"))
	case "mount.unmounted":
		return one("mount", c.Name, "absent", true)
	case "sysctl.present":
		return one("sysctl", c.Name, "value", text("value"))
	case "kmod.present", "kmod.absent":
		return loaded(c, one)
	case "timezone.system":
		return one("timezone", c.Name)
	case "grains.present":
		return one("grain", c.Name, "value", text("value"))
	case "grains.absent":
		return one("grain", c.Name, "absent", true)
	}
	return nil
}

// rules are the chain, table, set or zone of a state about packets: what rules it has then is
// not said.
func rules(c *fun.Chunk, one func(kind, name string, more ...value.Value) []value.Value) []value.Value {
	or := func(arg, missing string) string {
		if v, ok := c.Low.At(arg).(string); ok && v != "" {
			return v
		}
		return missing
	}
	family, table, chain := or("family", "ipv4"), or("table", "filter"), or("chain", "")
	var more []value.Value
	switch {
	case strings.HasSuffix(c.Fun, "absent") && c.Fun != "absent":
		more = []value.Value{"absent", true}
	case c.Fun == "set_policy":
		more = []value.Value{"value", or("policy", "")}
	}
	switch {
	case c.State == "ipset":
		return one("set", or("set_name", c.Name), more...)
	case c.State == "firewalld" && c.Fun == "service":
		return one("firewall_service", c.Name)
	case c.State == "firewalld":
		return one("zone", c.Name)
	case strings.HasPrefix(c.Fun, "table_"):
		return one("table", family+" "+c.Name, more...)
	case strings.HasPrefix(c.Fun, "chain_"):
		chain = c.Name
	case chain == "":
		return one("table", family+" "+table)
	}
	return one("chain", family+" "+table+" "+chain, more...)
}

// loaded are the kernel modules of a state.
func loaded(c *fun.Chunk, one func(kind, name string, more ...value.Value) []value.Value) []value.Value {
	mods := items(c.Low.At("mods"))
	if len(mods) == 0 {
		mods = []value.Value{c.Name}
	}
	var out []value.Value
	for _, mod := range mods {
		if c.Fun == "present" {
			out = append(out, one("module", value.Str(mod))...)
		} else {
			out = append(out, one("module", value.Str(mod), "absent", true)...)
		}
	}
	return out
}
