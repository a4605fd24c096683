package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/exec"
)

// hasUnknown reports whether a value has text of an unknown value in it.
func hasUnknown(v value.Value) bool {
	switch v := v.(type) {
	case string:
		return isUnknown(v)
	case unknown:
		return true
	case *value.List:
		return slices.ContainsFunc(v.Items, hasUnknown)
	case value.Tuple:
		return slices.ContainsFunc(v, hasUnknown)
	case *value.Map:
		for k, x := range v.All() {
			if hasUnknown(k) || hasUnknown(x) {
				return true
			}
		}
	}
	return false
}

// values checks the values of the declared arguments, by what a run makes of them.
func (r *run) values(c *fun.Chunk, spec *fun.Spec) {
	for i := range spec.Args {
		a := &spec.Args[i]
		v, ok := c.Low.Get(a.Key())
		if !ok || a.Type == fun.Any || hasUnknown(v) || isSlot(v) {
			continue
		}
		pos := posOf(c, a.Name)
		_, slip, err := a.Convert(v)
		switch {
		case err != nil && r.asked && r.l.isRendered(pos):
			r.unjudged(pos, "%s (%s)", messageOf(err), machineOnly)
		case err != nil:
			r.add(Finding{Rule: wrongValue, Pos: pos, Message: messageOf(err), Hint: modeHint(a, v)})
		case slip != "":
			r.add(Finding{Rule: stringBoolean, Pos: pos, Message: a.Name + ": " + slip})
		case modeHint(a, v) != "":
			r.add(Finding{Rule: decimalMode, Pos: pos, Message: fmt.Sprintf("%s is the number %s: a run sets 0%s", a.Name, value.Str(v), value.Str(v)), Hint: modeHint(a, v)})
		case a.Type&fun.Mode != 0:
			r.numberMode(a, v, pos)
		}
	}
	for _, group := range spec.Exclusive {
		var given []string
		for _, name := range group {
			if v := c.Low.At(name); value.Truth(v) {
				given = append(given, name)
			}
		}
		if len(given) > 1 {
			r.add(Finding{
				Rule: conflictingArguments, Pos: posOf(c, given[1]),
				Message: fmt.Sprintf("%s.%s takes only one of %s", c.State, c.Fun, strings.Join(given, " and ")),
			})
		}
	}
}

// messageOf returns what a run says of a value that it refuses.
func messageOf(err error) string {
	if wrong, ok := errors.AsType[*fun.InvocationError](err); ok {
		return wrong.Msg
	}
	return err.Error()
}

func isSlot(v value.Value) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, "__slot__:")
}

// The decimal numbers of usual modes: a template that computes 0o644, or JSON data,
// gives 420.
var decimalModes = map[int64]string{
	256: "0400", 288: "0440", 292: "0444", 384: "0600", 416: "0640", 420: "0644", 432: "0660", 436: "0664", 438: "0666",
	448: "0700", 456: "0710", 488: "0750", 493: "0755", 504: "0770", 509: "0775", 511: "0777", 1023: "1777",
}

// modeHint says which mode a number likely means; "" is none.
func modeHint(a *fun.Arg, v value.Value) string {
	n, ok := v.(int64)
	if mode := decimalModes[n]; ok && mode != "" && a.Type&fun.Mode != 0 {
		return fmt.Sprintf("%d is the decimal number of %s: write '%s'", n, mode, mode)
	}
	return ""
}

// numberMode finds a mode that is a number by its value, where the text of its line does
// not show it: it is on another line, has an anchor or a tag, is an alias, or comes from a
// template.
func (r *run) numberMode(a *fun.Arg, v value.Value, pos source.Pos) {
	n, ok := v.(int64)
	f := r.l.fileOf(pos.File)
	if !ok || f == nil {
		return
	}
	line, start, digits, plain := f.writtenNumber(pos.Line, a.Name)
	at, fix := pos, (*Edit)(nil)
	if digits != "" {
		at = source.Pos{File: f.Abs, Line: line, Col: utf8.RuneCountInString(f.lines[line-1][:start]) + 1}
		if plain {
			fix = &Edit{Start: start, End: start + len(digits), New: "'" + digits + "'", Line: f.lines[line-1]}
		}
	}
	text, p := "", pattern()
	if line > 0 {
		text = f.lines[line-1]
	}
	if strings.HasPrefix(digits, "0") && len(digits) > 1 && !p.octal.MatchString(text) && !p.octalFlow.MatchString(text) {
		r.add(Finding{Rule: yamlOctal, Pos: at, Message: fmt.Sprintf("the number %s starts with 0", digits), Hint: "quote it: '" + digits + "'", Fix: fix})
	}
	if !modeLine().MatchString(text) {
		r.add(Finding{Rule: unquotedMode, Pos: at, Message: fmt.Sprintf("%s is the number %d", a.Name, n), Hint: fmt.Sprintf("write '%04d'", n), Fix: fix})
	}
}

var numberAfterKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*((?:[&!]\S+\s+)*)([0-9]+)\s*(?:[,}#].*)?$`) })

// writtenNumber returns where the number of a key of a line is written, and whether it has
// no anchor or tag. There are no digits where it is made in another way.
func (f *file) writtenNumber(line int, key string) (at, start int, digits string, plain bool) {
	if line < 1 || line > len(f.lines) {
		return 0, 0, "", false
	}
	text := f.lines[line-1]
	from := strings.Index(text, key)
	if from < 0 {
		return line, 0, "", false
	}
	from += len(key)
	colon := strings.IndexByte(text[from:], ':')
	if colon < 0 || strings.Trim(text[from:from+colon], ` '"`) != "" {
		return line, 0, "", false
	}
	from += colon + 1
	if rest := strings.TrimSpace(text[from:]); line < len(f.lines) && (rest == "" || rest[0] == '#') {
		line, from = line+1, 0
		text = f.lines[line-1]
	}
	m := numberAfterKey().FindStringSubmatchIndex(text[from:])
	if m == nil {
		return line, 0, "", false
	}
	return line, from + m[4], text[from+m[4] : from+m[5]], m[2] == m[3]
}

// conditionArgs are the arguments of the state system that name commands or functions.
var conditionArgs = words("onlyif unless creates check_cmd")

// conditions checks what the state system itself reads of a state.
func (r *run) conditions(c *fun.Chunk) {
	known := func(v value.Value) bool { return !hasUnknown(v) }
	for _, s := range exec.Mistakes(c, known) {
		rule := badCondition
		switch {
		case s.Arg == "retry":
			rule = badRetry
		case !conditionArgs[s.Arg]:
			rule = badSlot
		}
		r.add(Finding{Rule: rule, Pos: posOf(c, s.Arg), Message: s.Text})
	}
	for _, arg := range []string{"onlyif", "unless"} {
		for _, entry := range itemsOrOne(c.Low.At(arg)) {
			m, _ := entry.(*value.Map)
			if name, ok := m.At("fun").(string); ok {
				pos := m.Pos("fun")
				if pos.IsZero() {
					pos = posOf(c, arg)
				}
				r.function(fun.Exec, name, pos)
			}
		}
	}
	for _, s := range exec.Slots(c) {
		if name := s.Function(); name != "" {
			r.function(fun.Exec, name, posOf(c, s.Arg))
		}
	}
}

func itemsOrOne(v value.Value) []value.Value {
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return []value.Value{v}
}

// engineOf checks the name of a template engine; it reports whether it is jinja.
func (r *run) engineOf(c *fun.Chunk) bool {
	engine, ok := c.Low.At("template").(string)
	if !ok || engine == "" || isUnknown(engine) {
		return false
	}
	if fault, inSalt := render.CheckEngine("", engine); fault != nil {
		f := Finding{Rule: unknownRenderer, Pos: posOf(c, "template"), Message: fault.Err.Error(), Hint: fault.Hint}
		if inSalt {
			f.Rule = notInBrine
		}
		r.add(f)
	} else if engine != "jinja" {
		r.unjudged(posOf(c, "template"), "the template engine %s does not run here", engine)
	}
	return engine == "jinja"
}

// steps checks the SLS files that a step of an orchestration applies.
func (r *run) steps(ctx context.Context, c *fun.Chunk) {
	arg := ""
	switch c.State + "." + c.Fun {
	case "salt.state":
		arg = "sls"
	case "salt.function":
		if c.Name == "state.apply" || c.Name == "state.sls" {
			arg = "arg"
		}
	case "salt.runner":
		if _, fn, _ := strings.Cut(c.Name, "state.orch"); c.Name == "state.sls" || fn == "" || fn == "estrate" {
			arg = "mods"
		}
	}
	if arg == "" || !c.Low.Has(arg) {
		return
	}
	saltenv := c.Low.Str("saltenv")
	if saltenv == "" {
		saltenv = c.SaltEnv
	}
	entries := itemsOrOne(c.Low.At(arg))
	if arg == "arg" && len(entries) > 1 {
		entries = entries[:1] // the others are the function's further arguments
	}
	for _, entry := range entries {
		text, _ := entry.(string)
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" && !isUnknown(name) && !value.HasGlob(name) {
				r.absentSLS(ctx, saltenv, name, posOf(c, arg))
			}
		}
	}
}

// absentSLS notes an SLS that a step names and that is not in the tree.
func (r *run) absentSLS(ctx context.Context, saltenv, name string, pos source.Pos) {
	all, err := fun.ListSLS(ctx, r.env.Up, saltenv)
	if err != nil || len(all) == 0 {
		r.unjudged(pos, "the SLS %s of saltenv %s: the tree has no SLS files of it", name, saltenv)
		return
	}
	if _, err := fun.FindSLS(ctx, r.env.Up, saltenv, name); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	f := Finding{Rule: missingInclude, Pos: pos, Message: "SLS " + name + " does not exist in saltenv " + saltenv}
	if near, ok := source.Nearest(name, all); ok {
		f.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	r.add(f)
}

// writers are the state functions that decide what is at a path.
var writers = words("file.managed file.serialize file.symlink file.hardlink file.directory file.absent file.decode file.mknod")

// written reports whether a state decides, on every run, what is at the path of its
// name.
func written(c *fun.Chunk) bool {
	if !writers[c.State+"."+c.Fun] || !strings.HasPrefix(c.Name, "/") || isUnknown(c.Name) {
		return false
	}
	for k := range c.Low.All() {
		switch name, _ := k.(string); {
		case strings.HasPrefix(name, "onchanges"), strings.HasPrefix(name, "onfail"), conditionArgs[name], name == "prereq":
			return false
		case (name == "replace" || name == "create") && !value.Truth(c.Low.At(name)):
			return false
		}
	}
	if c.Fun == "managed" {
		return slices.ContainsFunc([]string{"source", "contents", "contents_pillar", "contents_grains"}, func(arg string) bool { return value.Truth(c.Low.At(arg)) })
	}
	return true
}

// samePaths finds states of a run that undo each other: they decide what is at the same
// path.
func (r *run) samePaths(chunks []*fun.Chunk) {
	if r.vary != nil {
		return // not all that a condition excludes is known to exclude each other
	}
	first := map[string]*fun.Chunk{}
	for _, c := range chunks {
		if !written(c) {
			continue
		}
		name := strings.TrimRight(c.Name, "/")
		other := first[name]
		if other == nil {
			first[name] = c
			continue
		}
		if other.Fun == c.Fun && (c.Fun == "absent" || c.Fun == "directory") {
			continue
		}
		a, b := other, c
		if slices.MinFunc([]*fun.Chunk{a, b}, func(x, y *fun.Chunk) int {
			return strings.Compare(sortKey(x.Pos), sortKey(y.Pos))
		}) == b {
			a, b = b, a
		}
		r.add(Finding{Rule: duplicatePath, Pos: b.Pos, Message: fmt.Sprintf("%s is decided by %s.%s and by %s.%s (%s)", name, b.State, b.Fun, a.State, a.Fun, a.Pos)})
	}
}

// sortKey orders places by file and line.
func sortKey(p source.Pos) string {
	return p.File + "\x00" + fmt.Sprintf("%09d", p.Line) + strconv.Itoa(p.Col)
}
