package roster

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// An inventory is what an Ansible inventory says: hosts, groups of them, and
// variables.
type inventory struct {
	hosts  map[string]*invHost
	order  []string
	groups map[string]*invGroup
}

type invHost struct {
	pos   source.Pos
	vars  *value.Map
	files *value.Map // of host_vars; nil: none
}

type invGroup struct {
	hosts, children []string
	vars            *value.Map
	files           *value.Map // of group_vars; nil: none
	pos             source.Pos // where it is first named
}

// maxHosts bounds the hosts of an inventory, and what a range such as
// web[1:500] stands for.
const maxHosts = 100_000

// inventory reads an Ansible inventory in INI, YAML or JSON (the output of
// ansible-inventory --list), or a directory of them, with group_vars and
// host_vars beside it. Its groups become node groups; of its variables those of
// the connection are taken, with Ansible's precedence: all, groups from parent to
// child, the host's own, those of directories after those of files.
// Salt: salt/roster/ansible.py. Unlike there, a target is matched by ids only,
// and groups are for the target type nodegroup; a program is not run.
func (l *loader) inventory(p string) error {
	inv := &inventory{hosts: map[string]*invHost{}, groups: map[string]*invGroup{}}
	if err := l.inventories(inv, p, 0); err != nil {
		return err
	}
	dir := path.Dir(p)
	if _, err := l.o.Files.ReadDir(p); err == nil {
		dir = p
	}
	if err := l.variables(inv, dir); err != nil {
		return err
	}
	return l.addInventory(inv)
}

// inventoryFile reads one file; one of many that is a program is left out.
func (l *loader) inventoryFile(inv *inventory, file string, many bool) error {
	b, err := l.o.Files.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read inventory: %w", err)
	}
	switch first := firstLine(string(b)); {
	case strings.HasPrefix(first, "#!"):
		const hint = "write its output to a file: ansible-inventory --list > inventory.json"
		if many {
			l.warn(source.Pos{File: file, Line: 1}, "an inventory that is a program is not run; %s", hint)
			return nil
		}
		return &source.Error{Pos: source.Pos{File: file, Line: 1}, Err: fmt.Errorf("an inventory that is a program is not run"), Hint: hint}
	case strings.HasPrefix(first, vaultHead):
		return &source.Error{Pos: source.Pos{File: file, Line: 1}, Err: fmt.Errorf("the inventory is encrypted (ansible-vault)"), Hint: "ansible-vault view writes it in the clear"}
	case strings.HasSuffix(file, ".yml"), strings.HasSuffix(file, ".yaml"), strings.HasSuffix(file, ".json"),
		first == "---", strings.HasPrefix(first, "{"), strings.HasPrefix(first, "all:"), strings.HasPrefix(first, "plugin:"):
		v, err := ansibleYAML(file, b)
		if err != nil {
			return err
		}
		if m, ok := v.(*value.Map); ok && m.Has("plugin") {
			return l.plugin(inv, file, m)
		}
		return inv.readYAML(file, v)
	}
	return inv.readINI(file, string(b))
}

// firstLine returns the first line that is not a comment, without surrounding
// blanks.
func firstLine(text string) string {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || i > 0 && line[0] == '#' || line[0] == '#' && !strings.HasPrefix(line, "#!") || line[0] == ';' {
			continue
		}
		return line
	}
	return ""
}

func (inv *inventory) group(name string, pos source.Pos) *invGroup {
	g := inv.groups[name]
	if g == nil {
		g = &invGroup{vars: value.NewMap(0), pos: pos}
		inv.groups[name] = g
	}
	return g
}

// host adds the hosts of a pattern to a group and returns them.
func (inv *inventory) host(group, pattern string, pos source.Pos) ([]*invHost, error) {
	names, err := expandHosts(pattern, maxHosts)
	if err != nil {
		return nil, &source.Error{Pos: pos, Err: err}
	}
	g := inv.group(group, pos)
	var out []*invHost
	for _, name := range names {
		h := inv.hosts[name]
		if h == nil {
			h = &invHost{pos: pos, vars: value.NewMap(0)}
			inv.hosts[name] = h
			if inv.order = append(inv.order, name); len(inv.order) > maxHosts {
				return nil, &source.Error{Pos: pos, Err: fmt.Errorf("more than %d hosts", maxHosts)}
			}
		}
		g.hosts = append(g.hosts, name)
		out = append(out, h)
	}
	return out, nil
}

// readINI reads the format that is like INI but has a host with its variables
// on a line.
func (inv *inventory) readINI(file, text string) error {
	group, kind := "ungrouped", ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		pos := source.Pos{File: file, Line: i + 1, Col: 1}
		fail := func(format string, args ...any) error {
			return &source.Error{Pos: pos, Err: fmt.Errorf(format, args...)}
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			if head, ok := header(line); ok {
				group, kind, _ = strings.Cut(head, ":")
				if kinds := []string{"vars", "children", "hosts"}; kind != "" && !slices.Contains(kinds, kind) {
					return fail("section [%s:%s] has an unknown kind%s", group, kind, source.DidYouMean(kind, kinds))
				}
				inv.group(group, pos)
				continue
			}
		}
		switch kind {
		case "children":
			name, _, _ := strings.Cut(line, " ")
			inv.group(name, pos)
			g := inv.group(group, pos)
			g.children = append(g.children, name)
		case "vars":
			if !setINIVar(inv.group(group, pos).vars, line) {
				return fail("a variable of [%s:vars] needs KEY=VALUE", group)
			}
		default:
			if err := inv.readINIHost(group, line, pos); err != nil {
				return err
			}
		}
	}
	return nil
}

// setINIVar sets a variable from KEY=VALUE; a number in quotation marks is text.
func setINIVar(vars *value.Map, line string) bool {
	k, v, ok := strings.Cut(line, "=")
	if !ok {
		return false
	}
	k, v = strings.TrimSpace(k), strings.TrimSpace(v)
	if text := unquote(v); text != v {
		vars.Set(k, text)
	} else {
		setVar(vars, k, v)
	}
	return true
}

// readINIHost reads the line of a host, or of a range of hosts.
func (inv *inventory) readINIHost(group, line string, pos source.Pos) error {
	words, err := splitWords(line)
	if err != nil {
		return &source.Error{Pos: pos, Err: err}
	}
	if len(words) == 0 {
		return nil
	}
	name, port := hostPort(words[0])
	hosts, err := inv.host(group, name, pos)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if port != "" {
			h.vars.Set("ansible_port", port)
		}
		for _, w := range words[1:] {
			k, v, ok := strings.Cut(w, "=")
			if !ok {
				return &source.Error{Pos: pos, Err: fmt.Errorf("%q behind a host needs KEY=VALUE", w)}
			}
			setVar(h.vars, k, v)
		}
	}
	return nil
}

// header returns what is in the brackets of a section line. A host that begins
// with a bracket, an IPv6 address or a range, is none.
func header(line string) (string, bool) {
	end := strings.IndexByte(line, ']')
	if end < 0 {
		return "", false
	}
	if rest := strings.TrimSpace(line[end+1:]); rest != "" && rest[0] != '#' && rest[0] != ';' {
		return "", false
	}
	return strings.TrimSpace(line[1:end]), true
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// splitWords cuts a line as a shell does, up to a comment.
func splitWords(line string) ([]string, error) {
	var words []string
	var word []byte
	inWord := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\r':
			if inWord {
				words, word, inWord = append(words, string(word)), nil, false
			}
		case '#':
			if !inWord {
				return words, nil
			}
			word = append(word, c)
		case '\'', '"':
			inWord = true
			for i++; ; i++ {
				if i >= len(line) {
					return nil, fmt.Errorf("a quote is not closed")
				}
				if line[i] == c {
					break
				}
				if c == '"' && line[i] == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\') {
					i++
				}
				word = append(word, line[i])
			}
		case '\\':
			inWord = true
			if i++; i < len(line) {
				word = append(word, line[i])
			}
		default:
			inWord = true
			word = append(word, c)
		}
	}
	if inWord {
		words = append(words, string(word))
	}
	return words, nil
}

// hostPort cuts the port off "host:2222" and "[fe80::1]:2222".
func hostPort(s string) (host, port string) {
	if strings.HasPrefix(s, "[") {
		if end := strings.Index(s, "]:"); end > 0 && strings.Count(s[:end], ":") > 1 && isDigits(s[end+2:]) {
			return s[1:end], s[end+2:]
		}
	}
	i := strings.LastIndexByte(s, ':')
	if i < 0 || !isDigits(s[i+1:]) || strings.Count(s[:i], "[") != strings.Count(s[:i], "]") {
		return s, ""
	}
	if strings.Contains(s[:i], ":") && !strings.Contains(s[:i], "[") { // a bare IPv6 address
		return s, ""
	}
	return s[:i], s[i+1:]
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// expandHosts writes ranges out: web[01:03], db[a:c], x[1:9:2].
func expandHosts(pattern string, limit int) ([]string, error) {
	start := strings.IndexByte(pattern, '[')
	if start < 0 || !strings.Contains(pattern[start:], ":") {
		return []string{pattern}, nil
	}
	end := strings.IndexByte(pattern[start:], ']')
	if end < 0 {
		return nil, fmt.Errorf("the range of %q is not closed", pattern)
	}
	head, body, tail := pattern[:start], pattern[start+1:start+end], pattern[start+end+1:]
	items, err := []string{"[" + body + "]"}, error(nil)
	if strings.Contains(body, ":") {
		if items, err = rangeItems(body, limit); err != nil {
			return nil, fmt.Errorf("host %q: %w", pattern, err)
		}
	}
	rest, err := expandHosts(tail, limit)
	if err != nil {
		return nil, err
	}
	if len(items)*len(rest) > limit {
		return nil, fmt.Errorf("host %q stands for too many hosts", pattern)
	}
	var out []string
	for _, it := range items {
		for _, r := range rest {
			out = append(out, head+it+r)
		}
	}
	return out, nil
}

func rangeItems(body string, limit int) ([]string, error) {
	parts := strings.Split(body, ":")
	step := 1
	if len(parts) == 3 {
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 1 || n > maxHosts {
			return nil, fmt.Errorf("[%s] has no step that is a number", body)
		}
		step = n
	}
	if len(parts) > 3 {
		return nil, fmt.Errorf("[%s] is not a range", body)
	}
	from, to := parts[0], parts[1]
	var out []string
	if len(from) == 1 && len(to) == 1 && isLetter(from[0]) && isLetter(to[0]) {
		for c := int(from[0]); c <= int(to[0]); c += step {
			out = append(out, string(rune(c)))
		}
		return out, nil
	}
	if from == "" {
		from = "0"
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || lo < 0 || hi < lo {
		return nil, fmt.Errorf("[%s] is not a range", body)
	}
	width := 0
	if len(from) > 1 && from[0] == '0' {
		if width = len(from); len(to) != width {
			return nil, fmt.Errorf("both ends of [%s] need the same number of digits", body)
		}
	}
	if (hi-lo)/step >= limit {
		return nil, fmt.Errorf("[%s] stands for too many hosts", body)
	}
	for n := lo; n <= hi; n += step {
		out = append(out, fmt.Sprintf("%0*d", width, n))
	}
	return out, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// maxGroups bounds groups within each other.
const maxGroups = 100

// readYAML reads {group: {hosts: {name: vars}, vars: {}, children: {group: ...}}},
// or the same with lists of names and the variables in _meta.
func (inv *inventory) readYAML(file string, v value.Value) error {
	top, ok := v.(*value.Map)
	if !ok {
		return &source.Error{Pos: source.Pos{File: file}, Err: fmt.Errorf("an inventory is a mapping of groups, not %s", value.Kind(v))}
	}
	for k, data := range top.All() {
		if k == "_meta" {
			continue
		}
		if err := inv.readGroup(value.Str(k), data, orFile(top.Pos(k), file), 0); err != nil {
			return err
		}
	}
	for name, vars := range top.Map("_meta").Map("hostvars").All() {
		if inv.hosts[value.Str(name)] == nil { // in no group
			if _, err := inv.host("ungrouped", value.Str(name), source.Pos{File: file}); err != nil {
				return err
			}
		}
		if h, m := inv.hosts[value.Str(name)], vars; h != nil {
			if m, ok := m.(*value.Map); ok {
				h.vars.Update(m)
			}
		}
	}
	return nil
}

func (inv *inventory) readGroup(name string, data value.Value, pos source.Pos, depth int) error {
	if depth > maxGroups {
		return &source.Error{Pos: pos, Err: fmt.Errorf("more than %d groups within each other", maxGroups)}
	}
	g := inv.group(name, pos)
	fail := func(pos source.Pos, format string, args ...any) error {
		return &source.Error{Pos: orFile(pos, g.pos.File), Err: fmt.Errorf("group %q: "+format, append([]any{name}, args...)...)}
	}
	m, ok := data.(*value.Map)
	if l, isList := data.(*value.List); isList {
		m, ok = value.MapOf("hosts", l), true
	}
	if !ok {
		if data == nil {
			return nil
		}
		return fail(pos, "needs a mapping, not %s", value.Kind(data))
	}
	for k, v := range m.All() {
		at := orFile(m.Pos(k), pos.File)
		switch k {
		case "hosts":
			if err := inv.readHosts(name, v, at); err != nil {
				return err
			}
		case "vars":
			if vars, ok := v.(*value.Map); ok {
				g.vars.Update(vars)
			} else if v != nil {
				return fail(at, "vars needs a mapping, not %s", value.Kind(v))
			}
		case "children":
			ok, err := inv.readChildren(g, v, at, depth)
			if err != nil {
				return err
			}
			if !ok {
				return fail(at, "children needs a mapping, not %s", value.Kind(v))
			}
		default:
			return fail(at, "unknown key %q%s", value.Str(k), source.DidYouMean(value.Str(k), []string{"hosts", "vars", "children"}))
		}
	}
	return nil
}

// readChildren reads the groups of a group. It reports false of what is neither
// a mapping nor a list.
func (inv *inventory) readChildren(g *invGroup, data value.Value, pos source.Pos, depth int) (bool, error) {
	switch data := data.(type) {
	case nil:
	case *value.List:
		for _, c := range data.Items {
			inv.group(value.Str(c), pos)
			g.children = append(g.children, value.Str(c))
		}
	case *value.Map:
		for c, body := range data.All() {
			g.children = append(g.children, value.Str(c))
			if err := inv.readGroup(value.Str(c), body, orFile(data.Pos(c), pos.File), depth+1); err != nil {
				return true, err
			}
		}
	default:
		return false, nil
	}
	return true, nil
}

func (inv *inventory) readHosts(group string, v value.Value, pos source.Pos) error {
	switch v := v.(type) {
	case nil:
	case *value.List:
		for i, x := range v.Items {
			if _, err := inv.host(group, value.Str(x), orFile(v.PosAt(i), pos.File)); err != nil {
				return err
			}
		}
	case *value.Map:
		for k, vars := range v.All() {
			hosts, err := inv.host(group, value.Str(k), orFile(v.Pos(k), pos.File))
			if err != nil {
				return err
			}
			if m, ok := vars.(*value.Map); ok {
				for _, h := range hosts {
					h.vars.Update(m)
				}
			}
		}
	default:
		return &source.Error{Pos: pos, Err: fmt.Errorf("hosts of group %q needs a mapping, not %s", group, value.Kind(v))}
	}
	return nil
}

// addInventory makes entries and node groups.
func (l *loader) addInventory(inv *inventory) error {
	names := make([]string, 0, len(inv.groups))
	for name := range inv.groups {
		names = append(names, name)
	}
	sort.Strings(names)
	depth := map[string]int{}
	for _, name := range names {
		if err := inv.depths(name, nil, depth); err != nil {
			return err
		}
	}
	members := map[string]map[string]bool{}
	for _, name := range names {
		set := map[string]bool{}
		inv.members(name, set, map[string]bool{})
		if name == "all" {
			for _, h := range inv.order {
				set[h] = true
			}
		}
		members[name] = set
	}
	// Variables: all first, then groups from the outermost in, by name.
	sort.SliceStable(names, func(i, j int) bool {
		if (names[i] == "all") != (names[j] == "all") {
			return names[i] == "all"
		}
		return depth[names[i]] < depth[names[j]]
	})
	left := map[string]bool{} // hosts that are not targets
	for _, id := range inv.order {
		h := inv.hosts[id]
		vars := inv.varsOf(id, names, members)
		if kind, ok := foreign(vars); ok {
			l.noteMistake(id, h.pos, "left out: its connection is %s, not SSH", kind)
			left[id] = true
			continue
		}
		clear, _ := unsealed(vars, "", 0, func(name string) {
			l.noteMistake(id, h.pos, "the variable %s is encrypted (!vault) and is left out", name)
		})
		vars, _ = clear.(*value.Map)
		l.add(id, connectionVars(vars), h.pos)
	}
	sort.Strings(names)
	for _, name := range append(names, "all") {
		ids := value.NewList()
		for _, id := range inv.order {
			if (members[name][id] || name == "all") && !left[id] {
				ids.Append(id)
			}
		}
		if !l.r.groups.Has(name) && (ids.Len() > 0 || name != "ungrouped") {
			l.r.groups.Set(name, ids)
		}
	}
	return nil
}

// varsOf returns the variables of a host: those of its groups, named in the order
// in which they hold, then its own, those of directories after those of files.
func (inv *inventory) varsOf(id string, groups []string, members map[string]map[string]bool) *value.Map {
	vars := value.NewMap(0)
	for _, name := range groups {
		if members[name][id] {
			vars.Update(inv.groups[name].vars)
		}
	}
	for _, name := range groups {
		if members[name][id] {
			vars.Update(inv.groups[name].files)
		}
	}
	vars.Update(inv.hosts[id].vars)
	vars.Update(inv.hosts[id].files)
	return vars
}

// depths notes how many groups a group is within.
func (inv *inventory) depths(name string, open []string, depth map[string]int) error {
	if slices.Contains(open, name) {
		return &source.Error{Pos: inv.groups[name].pos, Err: fmt.Errorf("group %q contains itself: %s", name, strings.Join(append(open, name), " → "))}
	}
	if len(open) > maxGroups {
		return &source.Error{Pos: inv.groups[name].pos, Err: fmt.Errorf("more than %d groups within each other", maxGroups)}
	}
	if d, ok := depth[name]; ok && d >= len(open) {
		return nil
	}
	depth[name] = len(open)
	for _, c := range inv.groups[name].children {
		if err := inv.depths(c, append(slices.Clip(open), name), depth); err != nil {
			return err
		}
	}
	return nil
}

func (inv *inventory) members(name string, set, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	for _, h := range inv.groups[name].hosts {
		set[h] = true
	}
	for _, c := range inv.groups[name].children {
		inv.members(c, set, seen)
	}
}

// connectionVars makes roster keys of Ansible's variables of the connection.
func connectionVars(vars *value.Map) *value.Map {
	out := value.NewMap(4)
	for _, f := range [][2]string{
		// Of a pair, the later name is the one that Ansible prefers.
		{"ansible_ssh_host", "host"},
		{"ansible_host", "host"},
		{"ansible_ssh_port", "port"},
		{"ansible_port", "port"},
		{"ansible_ssh_user", "user"},
		{"ansible_user", "user"},
		{"ansible_sudo_pass", "passwd"},
		{"ansible_become_pass", "passwd"},
		{"ansible_become_password", "passwd"},
		{"ansible_ssh_pass", "passwd"},
		{"ansible_ssh_password", "passwd"},
		{"ansible_password", "passwd"},
		{"ansible_private_key_file", "priv"},
		{"ansible_ssh_private_key_file", "priv"},
		{"ansible_become_user", "sudo_user"},
		{"ansible_timeout", "timeout"},
		{"ansible_ssh_timeout", "timeout"},
	} {
		v, ok := vars.Get(f[0])
		if !ok || v == nil {
			continue
		}
		if f[1] == "passwd" {
			v = value.Str(v)
		}
		out.Set(f[1], v)
	}
	for _, k := range []string{"ansible_become", "ansible_sudo"} {
		if v, ok := vars.Get(k); ok {
			out.Set("sudo", isYes(v))
		}
	}
	if !out.Has("sudo") && (vars.Has("ansible_sudo_pass") || vars.Has("ansible_become_pass") || vars.Has("ansible_become_password")) {
		out.Set("sudo", true)
	}
	if vars.Str("ansible_connection") == "local" {
		out.Set("connection", Local)
	}
	options := sshOptions(vars)
	if options.Len() > 0 {
		out.Set("ssh_options", options)
	}
	// The other variables are configuration of the target, as with Salt; what is
	// Ansible's own, its passwords too, means nothing there.
	minion := value.NewMap(0)
	for k, v := range vars.All() {
		if !strings.HasPrefix(value.Str(k), "ansible_") {
			minion.Set(k, v)
		}
	}
	if minion.Len() > 0 {
		out.Set("minion_opts", minion)
	}
	return out
}

// sshOptions returns the options of OpenSSH that variables give its program.
func sshOptions(vars *value.Map) *value.List {
	options := value.NewList()
	for _, k := range []string{"ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args"} {
		words, _ := splitWords(vars.Str(k)) // what cannot be split gives none
		for i := 0; i < len(words); i++ {
			if o, ok := strings.CutPrefix(words[i], "-o"); ok {
				if o == "" && i+1 < len(words) {
					i++
					o = words[i]
				}
				options.Append(o)
			}
			if words[i] == "-J" && i+1 < len(words) {
				i++
				options.Append("ProxyJump=" + words[i])
			}
		}
	}
	return options
}

// setVar sets a variable of an INI inventory.
func setVar(vars *value.Map, k, v string) {
	if strings.HasPrefix(k, "ansible_") {
		vars.Set(k, v) // a password of digits is none but text
		return
	}
	vars.Set(k, literal(v))
}

// literal reads a value of an INI inventory, where Ansible takes numbers and
// Python's names for what they are.
func literal(text string) value.Value {
	switch text {
	case "True":
		return true
	case "False":
		return false
	case "None":
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	// A number without a point that is none of those above, as 0644, is text.
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.Contains(text, ".") && strings.Trim(text, "0123456789.-") == "" {
		return f
	}
	return text
}

func isYes(v value.Value) bool {
	if s, ok := v.(string); ok {
		switch strings.ToLower(s) {
		case "yes", "true", "on", "1", "y", "t":
			return true
		}
		return false
	}
	return value.Truth(v)
}
