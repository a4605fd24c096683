package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
	"brine/runner/low"
)

// check checks compiled states.
func (r *run) check(ctx context.Context, h *high.High, chunks []*fun.Chunk) {
	r.states(ctx, h, chunks)
	r.requisites(chunks)
	r.samePaths(chunks)
}

// states checks compiled states, each by itself.
func (r *run) states(ctx context.Context, h *high.High, chunks []*fun.Chunk) {
	for _, f := range low.Unknown(r.l.known, h, chunks) {
		rule := unknownState
		if strings.Contains(f.Err.Error(), "of Salt is not available") {
			rule = notInBrine
		}
		if isUnknown(f.Error()) {
			r.unjudgedFaults("", f)
			continue
		}
		r.add(Finding{Rule: rule, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint})
	}
	for _, f := range low.Invalid(r.l.known, h, chunks) {
		r.add(Finding{Rule: unknownArgument, Pos: f.Pos, Message: f.Err.Error(), Hint: f.Hint})
	}
	for _, c := range chunks {
		r.l.used.state(c)
		r.arguments(c)
		r.conditions(c)
		r.calls(c)
		r.steps(ctx, c)
		r.paths(c)
		r.old(c)
		r.files(ctx, c)
		if r.engineOf(c) {
			r.template(ctx, c)
		}
	}
}

// posOf returns the place of an argument, else that of the state.
func posOf(c *fun.Chunk, arg string) source.Pos {
	if pos := c.Low.Pos(arg); !pos.IsZero() {
		return pos
	}
	return c.Pos
}

// arguments finds required arguments that are not given and, of functions that
// take any argument, those whose names are near to declared ones.
func (r *run) arguments(c *fun.Chunk) {
	spec := r.l.known.Spec(fun.State, c.State+"."+c.Fun)
	if spec == nil {
		return
	}
	for k := range c.Low.All() {
		name, _ := k.(string)
		if !spec.VarKw || spec.Hands || spec.Declares(name) || dispatch.Internal(name) || isUnknown(name) {
			continue
		}
		if near, _ := dispatch.Miss(r.l.known, spec, name); near != "" {
			r.add(Finding{Rule: unknownArgument, mild: true, Pos: posOf(c, name), Message: fmt.Sprintf("%s.%s has no argument %q", c.State, c.Fun, name), Hint: fmt.Sprintf("did you mean %q?", near)})
		}
	}
	r.values(c, spec)
	for _, name := range spec.Missing(c.Low) {
		r.add(Finding{Rule: missingArgument, Pos: c.Pos, Message: fmt.Sprintf("%s.%s needs the argument %s", c.State, c.Fun, name), Hint: fmt.Sprintf("'brine doc %s.%s' lists its arguments", c.State, c.Fun)})
	}
}

// calls finds unknown functions that a state calls: module.run and those of
// orchestrations.
func (r *run) calls(c *fun.Chunk) {
	switch c.State + "." + c.Fun {
	case "salt.state":
		r.l.noteGiven(c.Low.At("pillar"))
	case "salt.function":
		r.function(fun.Exec, c.Name, posOf(c, "name"))
		if name, ok := c.Low.At("fail_function").(string); ok {
			r.function(fun.Exec, name, posOf(c, "fail_function"))
		}
	case "schedule.present":
		if name, ok := c.Low.At("function").(string); ok {
			r.function(fun.Exec, name, posOf(c, "function"))
		}
	case "salt.runner":
		r.function(fun.Runner, c.Name, posOf(c, "name"))
	case "salt.wheel":
		r.function(fun.Wheel, c.Name, posOf(c, "name"))
	case "module.run", "module.wait":
		if c.Low.Has("name") && strings.Contains(c.Name, ".") && c.Low.Pos("name") != (source.Pos{}) {
			r.function(fun.Exec, c.Name, posOf(c, "name"))
		}
		for k := range c.Low.All() {
			if name, _ := k.(string); strings.Contains(name, ".") {
				r.function(fun.Exec, name, posOf(c, name))
			}
		}
	}
}

// function notes a function that does not exist.
func (r *run) function(kind fun.Kind, name string, pos source.Pos) {
	if isUnknown(name) {
		r.unjudged(pos, "which %s it is: %s", kind, machineOnly)
	}
	if isUnknown(name) || !strings.Contains(name, ".") {
		return
	}
	r.l.used.function(kind, name, pos)
	if _, _, ok := r.l.known.Lookup(kind, name); ok {
		return
	}
	nf := r.l.known.NotFound(kind, name)
	f := Finding{Rule: unknownFunction, Pos: pos, Message: fmt.Sprintf("unknown %s %q", kind, name), Hint: nf.Hint()}
	if nf.InSalt {
		f.Rule, f.Message = notInBrine, fmt.Sprintf("%s %q of Salt is not available in brine", kind, name)
	}
	r.add(f)
}

// system directories that no state should remove or empty.
var systemDirs = words("/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var /var/lib /var/log")

var removesSystem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;&|]\s*|\bsudo\s+)rm\s+(?:-[-\w]*\s+)*(/|/\*|/(?:bin|boot|dev|etc|home|lib|lib64|opt|root|sbin|srv|sys|usr|var)/?\*?)(?:\s|;|&|$)`)
})

// paths finds states and commands that harm the system, and empty parts of paths.
func (r *run) paths(c *fun.Chunk) {
	name := c.Name
	if isUnknown(name) {
		return
	}
	pos := posOf(c, "name")
	note := func(rule, format string, args ...any) {
		r.add(Finding{Rule: rule, Pos: pos, Message: fmt.Sprintf(format, args...)})
	}
	dangerous := func(format string, args ...any) { note(dangerousPath, format, args...) }
	switch c.State {
	case "cmd":
		if m := removesSystem().FindStringSubmatch(name); m != nil && c.Fun != "script" {
			dangerous("the command removes %s", m[1])
		}
	case "file":
		if !strings.HasPrefix(name, "/") {
			return
		}
		system := systemDirs[path.Clean(name)]
		forced := value.Truth(c.Low.At("force_system_path"))
		switch {
		case system && (c.Fun == "absent" || c.Fun == "tidied" || c.Fun == "pruned") && !forced:
			dangerous("file.%s of the system directory %s", c.Fun, name)
		case system && (c.Fun == "directory" || c.Fun == "recurse") && value.Truth(c.Low.At("clean")) && !forced:
			dangerous("file.%s with clean removes what is in the system directory %s", c.Fun, name)
		case system && c.Fun == "directory" && value.Truth(c.Low.At("recurse")) && !forced:
			dangerous("file.directory with recurse changes all of the system directory %s", name)
		case strings.Contains(name, "//"):
			note(emptyPath, "the path %s has an empty part: is a variable empty?", name)
		case slices.Contains(strings.Split(name, "/"), "None"):
			note(emptyPath, "the path %s has a part None: is a variable not set?", name)
		}
	}
}

// The states and arguments that Salt has replaced, with what to write instead.
var (
	oldStates = map[string]string{
		"cmd.wait":        "use cmd.run with onchanges",
		"cmd.wait_script": "use cmd.script with onchanges",
		"module.wait":     "use module.run with onchanges",
	}
	oldArgs = map[string]map[string]string{
		"user.present":  {"gid_from_name": "use usergroup"},
		"pip.installed": {"use_wheel": "pip always uses wheels", "no_use_wheel": "use no_binary", "mirrors": "use index_url"},
		"pkg.installed": {"ignore_epoch": "it has no effect"},
		"file.managed":  {"env": "use saltenv in the URL", "check_file_meta": "it has no effect"},
		"git.latest":    {"always_fetch": "it has no effect"},
	}
)

// old finds deprecated states and arguments.
func (r *run) old(c *fun.Chunk) {
	name := c.State + "." + c.Fun
	if hint, ok := oldStates[name]; ok {
		r.add(Finding{Rule: deprecated, Pos: c.Pos, Message: name + " is deprecated", Hint: hint})
	}
	for arg, hint := range oldArgs[name] {
		if c.Low.Has(arg) {
			r.add(Finding{Rule: deprecated, Pos: posOf(c, arg), Message: fmt.Sprintf("the argument %s of %s is deprecated", arg, name), Hint: hint})
		}
	}
}

// files finds salt:// URLs that lead to nothing.
func (r *run) files(ctx context.Context, c *fun.Chunk) {
	for k, v := range c.Low.All() {
		arg, _ := k.(string)
		if strings.HasPrefix(arg, "__") {
			continue
		}
		var urls []string
		pos := posOf(c, arg)
		switch v := v.(type) {
		case string:
			urls = []string{v}
		case *value.List:
			if arg != "source" && arg != "sources" && arg != "source_hash" {
				continue
			}
			for i := range v.Items {
				switch x := v.Items[i].(type) {
				case string:
					urls = append(urls, x)
				case *value.Map:
					if x.Len() > 0 {
						first, val := x.Entry(0)
						u, _ := first.(string)
						if s, ok := val.(string); ok && strings.HasPrefix(s, "salt://") {
							u = s
						}
						urls = append(urls, u)
					}
				}
			}
		}
		r.anyFile(ctx, c, pos, urls)
	}
}

// anyFile notes a fault if none of the sources of an argument exists.
func (r *run) anyFile(ctx context.Context, c *fun.Chunk, pos source.Pos, urls []string) {
	missing := ""
	for _, url := range urls {
		p, env, ok := fun.SplitURL(url)
		if !ok || isUnknown(url) || strings.ContainsAny(url, "\n ") || p == "" {
			return
		}
		if env == "" {
			env = c.SaltEnv
		}
		p = strings.TrimPrefix(strings.Trim(p, "/"), "|")
		if r.l.exists[env+" "+p] {
			return
		}
		_, err := r.env.Up.Stat(ctx, env, p)
		if !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if dirs, err := r.env.Up.Dirs(ctx, env, p); err == nil && len(dirs) > 0 {
			return
		}
		missing = url
	}
	if missing == "" {
		return
	}
	f := Finding{Rule: missingFile, Pos: pos, Message: fmt.Sprintf("%s does not exist", missing)}
	if len(urls) > 1 {
		f.Message = "none of the sources exists: " + strings.Join(urls, ", ")
	} else if near := r.nearFile(ctx, missing, c.SaltEnv); near != "" {
		f.Hint = fmt.Sprintf("did you mean \"salt://%s\"?", near)
	}
	r.add(f)
}

// nearFile returns the file of the same directory, or the same name, that a URL
// likely means.
func (r *run) nearFile(ctx context.Context, url, saltenv string) string {
	p := strings.TrimPrefix(url, "salt://")
	files, err := fun.ListFiles(ctx, r.env.Up, saltenv, "")
	if err != nil {
		return ""
	}
	var beside []string
	for _, f := range files {
		if path.Dir(f.Path) == path.Dir(p) {
			beside = append(beside, f.Path)
		}
	}
	near, _ := source.Nearest(p, beside)
	return near
}

// requisiteKinds are the requisites that name other states, and whether the state
// that has it waits for them.
var requisiteKinds = []string{
	"require", "require_any", "watch", "watch_any", "onchanges", "onchanges_any", "onfail", "onfail_any", "onfail_all", "prereq", "listen",
}

// requisites finds requisites to nothing, and circles.
func (r *run) requisites(chunks []*fun.Chunk) {
	x := newIndex(chunks)
	edges := make([][]int, len(chunks))
	for i, c := range chunks {
		for _, kind := range requisiteKinds {
			list, _ := c.Low.At(kind).(*value.List)
			for n := range list.Len() {
				pos := list.PosAt(n)
				if pos.IsZero() {
					pos = posOf(c, kind)
				}
				state, hits := r.requisite(x, c, kind, list.Items[n], pos)
				for _, j := range hits {
					switch {
					case kind == "listen" || j == i || state == "sls" && chunks[j].SLS == c.SLS:
					case kind == "prereq":
						edges[j] = append(edges[j], i)
					default:
						edges[i] = append(edges[i], j)
					}
				}
			}
		}
	}
	circle := circleOf(edges)
	if circle == nil {
		return
	}
	var ids []string
	first := slices.Index(circle, slices.Min(circle))
	for n := range len(circle) + 1 {
		c := chunks[circle[(first+n)%len(circle)]]
		ids = append(ids, c.State+": "+c.ID)
	}
	at := chunks[circle[first]]
	r.add(Finding{Rule: requisiteCycle, Pos: at.Pos, Message: "states require each other: " + strings.Join(ids, " → ")})
}

// requisite returns the states that one item of a requisite names, and by what kind
// of state it names them; it notes an item that names nothing.
func (r *run) requisite(x *index, c *fun.Chunk, kind string, item value.Value, pos source.Pos) (state string, hits []int) {
	state, text, ok := reference(item)
	if !ok {
		return "", nil
	}
	hits = x.find(state, text)
	switch {
	case len(hits) > 0:
		r.u.met[pos] = true
	case !isUnknown(text):
		r.unmet(Finding{
			Rule: missingRequisite, Pos: pos, Hint: x.hint(state, text),
			Message: fmt.Sprintf("%s of %s names no state: %s: %s", kind, clean(c.ID), state, text),
		})
	}
	return state, hits
}

// reference returns what one item of a requisite names.
func reference(item value.Value) (state, text string, ok bool) {
	switch item := item.(type) {
	case string:
		return "id", item, true
	case *value.Map:
		if item.Len() == 0 {
			return "", "", false
		}
		k, v := item.Entry(0)
		state, _, _ = strings.Cut(value.Str(k), ".")
		text, ok = v.(string)
		return state, text, ok
	}
	return "", "", false
}

// An index finds the chunks that requisites name.
type index struct {
	chunks []*fun.Chunk
	state  map[[2]string][]int
	id     map[string][]int
	sls    map[string][]int
}

func newIndex(chunks []*fun.Chunk) *index {
	x := &index{chunks: chunks, state: map[[2]string][]int{}, id: map[string][]int{}, sls: map[string][]int{}}
	for i, c := range chunks {
		names := []string{c.ID}
		if c.Name != c.ID {
			names = append(names, c.Name)
		}
		for _, n := range names {
			x.state[[2]string{c.State, n}] = append(x.state[[2]string{c.State, n}], i)
			x.id[n] = append(x.id[n], i)
		}
		x.sls[c.SLS] = append(x.sls[c.SLS], i)
	}
	return x
}

// find returns the chunks that a reference names.
func (x *index) find(state, text string) []int {
	switch {
	case value.HasGlob(text):
		var out []int
		for i, c := range x.chunks {
			switch {
			case state == "sls" && value.Fnmatch(text, c.SLS):
			case state == "sls" || state != "id" && c.State != state:
				continue
			case state != "sls" && !value.Fnmatch(text, c.ID) && !value.Fnmatch(text, c.Name):
				continue
			}
			out = append(out, i)
		}
		if len(out) > 0 {
			return out
		}
	case state == "sls":
		return x.sls[text]
	}
	if state == "id" {
		return x.id[text]
	}
	return x.state[[2]string{state, text}]
}

// hint says which state a reference to nothing likely means.
func (x *index) hint(state, text string) string {
	if at := x.id[text]; len(at) > 0 && state != "sls" {
		return fmt.Sprintf("%s is %s: write %s: %s", text, x.chunks[at[0]].State, x.chunks[at[0]].State, text)
	}
	var names []string
	for k := range x.state {
		if k[0] == state || state == "id" {
			names = append(names, k[1])
		}
	}
	slices.Sort(names)
	if near, ok := source.Nearest(text, names); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// circleOf returns the nodes of a circle in a graph; nil where there is none.
func circleOf(edges [][]int) []int {
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(edges))
	type frame struct{ node, next int }
	for start := range edges {
		if state[start] != fresh {
			continue
		}
		stack := []frame{{node: start}}
		state[start] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(edges[top.node]) {
				state[top.node] = done
				stack = stack[:len(stack)-1]
				continue
			}
			to := edges[top.node][top.next]
			top.next++
			switch state[to] {
			case fresh:
				state[to] = open
				stack = append(stack, frame{node: to})
			case open:
				var circle []int
				for i := range stack {
					if len(circle) > 0 || stack[i].node == to {
						circle = append(circle, stack[i].node)
					}
				}
				return circle
			}
		}
	}
	return nil
}

// parsePos reads "file:line:col".
func parsePos(s string) (source.Pos, bool) {
	parts := strings.Split(s, ":")
	var nums []int
	for len(parts) > 1 && len(nums) < 2 {
		n, err := strconv.Atoi(parts[len(parts)-1])
		if err != nil {
			break
		}
		nums = append([]int{n}, nums...)
		parts = parts[:len(parts)-1]
	}
	p := source.Pos{File: strings.Join(parts, ":")}
	if len(nums) > 0 {
		p.Line = nums[0]
	}
	if len(nums) > 1 {
		p.Col = nums[1]
	}
	return p, p.File != ""
}
