package file

import (
	"context"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/difflib"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/tool"
)

// A finder is the criteria and actions of one find.
// Salt: salt/utils/find.py.
type finder struct {
	f                  *FS
	tests              []func(name, path string, st host.Stat) (bool, error)
	minDepth, maxDepth int
	print              []string
	del                string // types to delete
	exec               []string
	found              []value.Value
}

type findArgs struct {
	pathArg
	fun.SystemPath
	findCriteria
	More fun.Varargs
	Rest fun.Kwargs
}

// findCriteria are the criteria and actions of find.
type findCriteria struct {
	_ fun.Arguments
	_ value.Value `arg:"name,kw,str" doc:"shell pattern of the name"`
	_ value.Value `arg:"iname,kw,str" doc:"shell pattern of the name, in any case"`
	_ value.Value `arg:"regex,kw,str" doc:"regular expression of the name"`
	_ value.Value `arg:"iregex,kw,str" doc:"regular expression of the name, in any case"`
	_ value.Value `arg:"type,kw,str" doc:"letters of types: b, c, d, p, f, l, s"`
	_ value.Value `arg:"user,kw,str" doc:"owners, by name or ID, separated by commas or spaces"`
	_ value.Value `arg:"owner,kw,str" doc:"the same as user"`
	_ value.Value `arg:"group,kw,str" doc:"groups, by name or ID, separated by commas or spaces"`
	_ value.Value `arg:"size,kw,str" doc:"size with a unit, such as 10k, +1m or -1g"`
	_ value.Value `arg:"mtime,kw,str" doc:"time since the last change, such as 3d or +1w; a number is days"`
	_ value.Value `arg:"grep,kw,str" doc:"regular expression that the content matches"`
	_ value.Value `arg:"mindepth,kw,int|str" doc:"number of directories between path and what is found, at least"`
	_ value.Value `arg:"maxdepth,kw,int|str" doc:"number of directories between path and what is found, at most"`
	_ value.Value `arg:"print,kw,str" doc:"what to return: group, md5, mode, mtime, name, path, size, type, user"`
	_ value.Value `arg:"delete,kw,bool|str" doc:"delete what is found; letters of types delete only these"`
	_ value.Value `arg:"exec,kw,str" doc:"command to run for each; {} is the path"`
}

func find(ctx context.Context, c *fun.Call, a *findArgs) (fun.Result, error) {
	f := on(c)
	opts := c.Given(&a.findCriteria)
	opts.Update(a.Rest.Map)
	for _, p := range a.More {
		switch p {
		case "delete":
			opts.Set("delete", "f")
		case "print":
			opts.Set("print", "path")
		}
	}
	fd := &finder{f: f, maxDepth: -1}
	for k, v := range opts.All() {
		if key := value.Str(k); !strings.HasPrefix(key, "__") {
			if err := fd.option(key, v); err != nil {
				return fun.Value("error: " + err.Error()) // as in Salt
			}
		}
	}
	roots := f.Glob(f.Expand(a.Path))
	for _, root := range roots {
		if err := f.CheckSystem(root, true); err != nil && fd.del != "" {
			return fun.Result{}, fun.Errorf("%s", err)
		}
	}
	for _, root := range roots {
		if err := fd.walk(ctx, root, root, 1); err != nil {
			return fun.Result{}, err
		}
	}
	sort.SliceStable(fd.found, func(i, j int) bool { return value.Str(fd.found[i]) < value.Str(fd.found[j]) })
	return fun.Value(value.NewList(fd.found...))
}

// option takes one criterion or action.
func (fd *finder) option(key string, v value.Value) error {
	s := value.Str(v)
	regex := func(pattern string, flags pyre.Flags) error {
		re, err := pyre.Compile(pattern, flags)
		if err != nil {
			return fmt.Errorf("invalid regular expression: %q", pattern)
		}
		fd.test(func(name, _ string, _ host.Stat) (bool, error) {
			m, err := re.Match(name)
			return m != nil, err
		})
		return nil
	}
	switch key {
	case "name":
		fd.test(func(name, _ string, _ host.Stat) (bool, error) { return value.Fnmatch(s, name), nil })
	case "iname":
		low := strings.ToLower(s)
		fd.test(func(name, _ string, _ host.Stat) (bool, error) { return value.Fnmatch(low, strings.ToLower(name)), nil })
	case "regex":
		return regex(s, 0)
	case "iregex":
		return regex(s, pyre.IgnoreCase)
	case "type":
		return fd.types(s)
	case "owner", "user":
		return fd.owners(s, "user", func(id string) (int, bool) { return fd.f.UserToUID(id) }, func(st host.Stat) int { return st.UID })
	case "group":
		return fd.owners(s, "group", func(id string) (int, bool) { return fd.f.GroupToGID(id) }, func(st host.Stat) int { return st.GID })
	case "size":
		lo, hi, err := sizeRange(s)
		fd.test(func(_, _ string, st host.Stat) (bool, error) { return st.Size >= lo && st.Size <= hi, nil })
		return err
	case "mtime":
		at, newer, err := mtimeLimit(s, fd.f.Now())
		fd.test(func(_, _ string, st host.Stat) (bool, error) {
			if newer {
				return !st.Mtime.Before(at), nil
			}
			return !st.Mtime.After(at), nil
		})
		return err
	case "grep":
		return fd.grep(s)
	case "mindepth", "maxdepth":
		n, ok := asNumber(v)
		if !ok {
			return fmt.Errorf("invalid value for \"%s\" option", key)
		}
		if key == "mindepth" {
			fd.minDepth = n
		} else {
			fd.maxDepth = n
		}
	case "print":
		return fd.printFields(s)
	case "delete":
		fd.del = s
		if v == true || s == "" {
			fd.del = "f"
		}
	case "exec":
		fd.exec = append(fd.exec, s)
	default:
		return fmt.Errorf("invalid option \"%s\"", key)
	}
	return nil
}

func (fd *finder) test(t func(name, path string, st host.Stat) (bool, error)) {
	fd.tests = append(fd.tests, t)
}

// typeLetter is how find names the kinds of files.
func typeLetter(st host.Stat) string {
	return map[string]string{"block": "b", "char": "c", "dir": "d", "file": "f", "link": "l", "pipe": "p", "socket": "s"}[typeName(st.Mode)]
}

func (fd *finder) types(s string) error {
	if s == "" || strings.Trim(s, "bcdflps") != "" {
		return fmt.Errorf("invalid type \"%s\" (must be one or more of b, c, d, p, f, l, s)", s)
	}
	fd.test(func(_, _ string, st host.Stat) (bool, error) { return strings.Contains(s, typeLetter(st)), nil })
	return nil
}

func (fd *finder) owners(s, what string, lookup func(string) (int, bool), of func(host.Stat) int) error {
	ids := map[int]bool{}
	for name := range strings.SplitSeq(strings.ReplaceAll(s, " ", ","), ",") {
		if name == "" {
			continue
		}
		id, err := strconv.Atoi(name)
		if err != nil {
			var ok bool
			if id, ok = lookup(name); !ok {
				return fmt.Errorf("no such %s \"%s\"", what, name)
			}
		}
		ids[id] = true
	}
	fd.test(func(_, _ string, st host.Stat) (bool, error) { return ids[of(st)], nil })
	return nil
}

// sizeRange reads [+-]N[bkmgt].
func sizeRange(s string) (lo, hi int64, err error) {
	text := strings.TrimSpace(s)
	style := byte('=')
	if text != "" && (text[0] == '-' || text[0] == '+') {
		style, text = text[0], text[1:]
	}
	unit := int64(1)
	if text != "" {
		if i := strings.IndexByte("bkmgt", text[len(text)-1]); i >= 0 {
			unit = 1 << (10 * i)
			text = strings.TrimSpace(text[:len(text)-1])
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("invalid size: \"%s\"", s)
	}
	num := int64(n * float64(unit))
	switch style {
	case '-':
		return 0, num, nil
	case '+':
		return num, math.MaxInt64, nil
	}
	return num, num + unit - 1, nil
}

// mtimeLimit reads [+-]NwNdNhNmNs as a time before now; newer says that files
// since then are meant.
func mtimeLimit(s string, now time.Time) (at time.Time, newer bool, err error) {
	text := strings.TrimSpace(s)
	if text != "" && (text[0] == '-' || text[0] == '+') {
		newer, text = text[0] == '-', text[1:]
	}
	units := map[byte]time.Duration{'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}
	var total, smallest time.Duration
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		i := 0
		for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
			i++
		}
		n, perr := strconv.ParseFloat(text[:i], 64)
		if perr != nil {
			return at, newer, fmt.Errorf("invalid time interval: \"%s\"", s)
		}
		text = strings.TrimSpace(text[i:])
		unit := time.Second
		if text != "" {
			u, ok := units[text[0]|32]
			if !ok {
				return at, newer, fmt.Errorf("invalid time interval: \"%s\"", s)
			}
			unit, text = u, text[1:]
		}
		total += time.Duration(n * float64(unit))
		smallest = unit
	}
	if smallest == 0 {
		return at, newer, fmt.Errorf("invalid time interval: \"%s\"", s)
	}
	return now.Add(-total / smallest * smallest), newer, nil
}

func (fd *finder) grep(pattern string) error {
	re, err := pyre.Compile(pattern, 0)
	if err != nil {
		return fmt.Errorf("invalid regular expression: %q", pattern)
	}
	fd.test(func(_, p string, st host.Stat) (bool, error) {
		if !st.Mode.IsRegular() {
			return false, nil
		}
		b, err := fd.f.ReadFile(p)
		if err != nil {
			return false, nil // what cannot be read does not match
		}
		for _, l := range difflib.SplitLines(string(b)) {
			if ok, err := re.Has(l); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	})
	return nil
}

// printable are the fields that print may name.
const printable = "group md5 mode mtime name path size type user"

func (fd *finder) printFields(s string) error {
	for _, field := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !strings.Contains(" "+printable+" ", " "+field+" ") {
			return fmt.Errorf("invalid print field \"%s\"", field)
		}
		fd.print = append(fd.print, field)
	}
	return nil
}

func (fd *finder) walk(ctx context.Context, root, dir string, depth int) error {
	if dir == root && fd.minDepth < 1 {
		if err := fd.check(ctx, filepath.Base(root), root); err != nil {
			return err
		}
	}
	names, err := fd.f.ReadDir(dir)
	if err != nil || fd.maxDepth >= 0 && depth > fd.maxDepth {
		return nil // as Python's os.walk
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, n := range names {
		p := path.Join(dir, n)
		sub := fd.f.IsDir(p) && !fd.f.IsLink(p)
		if depth >= fd.minDepth {
			if err := fd.check(ctx, n, p); err != nil {
				return err
			}
		}
		if sub {
			if err := fd.walk(ctx, root, p, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// check tests one path and acts on it.
func (fd *finder) check(ctx context.Context, name, p string) error {
	st, err := fd.f.Stat(p)
	if err != nil {
		if st, err = fd.f.Lstat(p); err != nil {
			return nil // it is gone
		}
	}
	for _, t := range fd.tests {
		if ok, err := t(name, p, st); err != nil || !ok {
			return err
		}
	}
	for _, cmd := range fd.exec {
		out, err := fd.run(ctx, cmd, p)
		if err != nil {
			return err
		}
		fd.found = append(fd.found, out)
	}
	if len(fd.print) > 0 {
		v, err := fd.fields(name, p, st)
		if err != nil {
			return err
		}
		fd.found = append(fd.found, v)
	}
	if fd.del != "" && strings.Contains(fd.del, typeLetter(st)) {
		if fd.f.Test {
			fd.found = append(fd.found, p)
			return nil
		}
		if _, err := fd.f.Remove(p); err != nil {
			return err
		}
		fd.found = append(fd.found, p)
	} else if len(fd.exec) == 0 && len(fd.print) == 0 && fd.del == "" {
		fd.found = append(fd.found, p)
	}
	return nil
}

func (fd *finder) run(ctx context.Context, cmd, p string) (string, error) {
	argv := strings.Fields(cmd)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "{}", p)
	}
	if len(argv) == 0 {
		return "", invalid("exec needs a command")
	}
	out, err := fd.f.Run(ctx, host.Cmd{Argv: argv})
	if err != nil {
		return "", tool.NotRun(strings.Join(argv, " "), argv[0], err)
	}
	return strings.ReplaceAll(cmd, "{}", p) + ":\n" + string(out.Stdout) + "\n", nil
}

func (fd *finder) fields(name, p string, st host.Stat) (value.Value, error) {
	var vals []value.Value
	for _, field := range fd.print {
		var v value.Value
		switch field {
		case "path":
			v = p
		case "name":
			v = name
		case "size":
			v = st.Size
		case "type":
			v = typeLetter(st)
		case "mode":
			v = int64(st.Perm() & 0o777)
		case "mtime":
			v = st.Mtime.Unix()
		case "user":
			v = fd.f.UIDToUser(st.UID)
		case "group":
			v = fd.f.GIDToGroup(st.GID)
		case "md5":
			v = ""
			if st.Mode.IsRegular() {
				sum, err := cp.HashFile(fd.f.Host, p, "md5")
				if err != nil {
					return nil, osError(err)
				}
				v = sum
			}
		}
		vals = append(vals, v)
	}
	if len(vals) == 1 {
		return vals[0], nil
	}
	return value.NewList(vals...), nil
}
