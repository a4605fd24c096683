package rpm

import (
	"context"
	"io"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/tool"
)

// fileTypes are the letters by which rpm -V marks files.
var fileTypes = map[byte]string{'c': "config", 'd': "doc", 'g': "ghost", 'l': "license", 'r': "readme"}

// mismatches name the columns of rpm -V for verify.
var mismatches = [...]string{"size", "mode", "md5sum", "device major/minor number", "readlink path", "user", "group", "mtime", "capabilities"}

// flags name the columns of rpm -V for modified.
var flags = [...]string{"size", "mode", "checksum", "device", "symlink", "owner", "group", "time", "capabilities"}

// A difference is a line of rpm -V: "S.5....T.  c /etc/x" or "missing   c /etc/x".
type difference struct {
	columns string // "" where the file is missing
	mark    byte   // a key of fileTypes; 0: none
	path    string
}

// differences reads the output of rpm -V. other are the lines that do not tell of a
// file, such as those of missing dependencies.
func differences(text string) (list []difference, other []string) {
	for line := range strings.SplitSeq(text, "\n") {
		d, ok := parseDifference(line)
		if ok {
			list = append(list, d)
		} else if line != "" {
			other = append(other, line)
		}
	}
	return list, other
}

func parseDifference(line string) (d difference, ok bool) {
	head, rest, found := strings.Cut(line, " ")
	if !found {
		return d, false
	}
	if head != "missing" {
		if len(head) < 8 || len(head) > len(flags) || strings.Trim(head, "SM5DLUGTP.?") != "" {
			return d, false
		}
		d.columns = head
	}
	rest = strings.TrimLeft(rest, " ")
	if len(rest) > 2 && rest[1] == ' ' && rest[0] >= 'a' && rest[0] <= 'z' {
		d.mark, rest = rest[0], strings.TrimLeft(rest[1:], " ")
	}
	d.path = rest
	return d, strings.HasPrefix(rest, "/")
}

// changed returns the names of the columns that differ. A column with a question
// mark could not be compared.
func (d *difference) changed(names []string, unknown bool) []string {
	var list []string
	for i := range d.columns {
		if c := d.columns[i]; c != '.' && (unknown || c != '?') {
			list = append(list, names[i])
		}
	}
	return list
}

type verifyArgs struct {
	IgnoreTypes   value.Value `arg:"ignore_types,kw,comma[str]" doc:"types of files to leave out: config, doc, ghost, license, readme"`
	VerifyOptions value.Value `arg:"verify_options,kw,comma[str]" doc:"options of rpm -V without the dashes, such as nomtime"`
	rootArg
	_ fun.Varargs
	_ fun.Kwargs
}

func verify(ctx context.Context, c *fun.Call, a *verifyArgs) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	m, err := Verify(ctx, c.Env, Verification{Names: wanted, Root: a.Root, Ignore: pkg.Words(a.IgnoreTypes), Options: pkg.Words(a.VerifyOptions)})
	return fun.Result{Value: m}, err
}

// A Verification says what Verify is to compare.
type Verification struct {
	Names   []string // packages; none: all
	Root    string   // "" is /
	Ignore  []string // types of files to leave out
	Options []string // of rpm, without the dashes
}

// Verify compares installed files with rpm's database. It returns by path what
// differs.
// Salt: salt/modules/rpm_lowpkg.py verify.
func Verify(ctx context.Context, env *fun.Env, v Verification) (*value.Map, error) {
	var args []string
	for _, o := range v.Options {
		if o == "" || strings.HasPrefix(o, "-") || strings.ContainsAny(o, "= \t\n") {
			return nil, &fun.InvocationError{Msg: "invalid verify option " + value.Repr(o), Arg: "verify_options"}
		}
		args = append(args, "--"+o)
	}
	out, err := Query(ctx, env.Host, v.Root, slices.Concat(args, asking(v.Names, "-V"), v.Names)...)
	if err != nil {
		return nil, err
	}
	list, other := differences(out.Stdout)
	if len(list) == 0 && out.Status != 0 && (out.Stderr != "" || slices.ContainsFunc(other, missing)) {
		msg := "Failed to verify package(s)"
		if why := strings.TrimSpace(strings.Join(append(other, out.Stderr), "\n")); why != "" {
			msg += ": " + why
		}
		return nil, &fun.CommandError{Msg: msg}
	}
	m := value.NewMap(len(list))
	for i := range list {
		d := &list[i]
		kind := fileTypes[d.mark]
		if kind != "" && slices.Contains(v.Ignore, kind) {
			continue
		}
		one := value.NewMap(2)
		if d.columns == "" {
			one.Set("missing", true)
		} else {
			one.Set("mismatch", value.Strings(d.changed(mismatches[:], false)...))
		}
		if kind != "" {
			one.Set("type", kind)
		}
		m.Set(d.path, one)
	}
	return m, nil
}

type modifiedGiven struct {
	rootArg
	Size         value.Value `arg:"size,kw,bool" doc:"return only files whose size differs (True) or not (False)"`
	Mode         value.Value `arg:"mode,kw,bool" doc:"the same for the mode"`
	Checksum     value.Value `arg:"checksum,kw,bool" doc:"the same for the content"`
	Device       value.Value `arg:"device,kw,bool" doc:"the same for the number of a device"`
	Symlink      value.Value `arg:"symlink,kw,bool" doc:"the same for the target of a symbolic link"`
	Owner        value.Value `arg:"owner,kw,bool" doc:"the same for the owner"`
	Group        value.Value `arg:"group,kw,bool" doc:"the same for the group"`
	Time         value.Value `arg:"time,kw,bool" doc:"the same for the time of the last change"`
	Capabilities value.Value `arg:"capabilities,kw,bool" doc:"the same for the capabilities"`
	_            fun.Varargs
	Rest         fun.Kwargs
}

func modified(ctx context.Context, c *fun.Call, a *modifiedGiven) (fun.Result, error) {
	wanted, err := names(c)
	if err != nil {
		return fun.Result{}, err
	}
	want := value.NewMap(0)
	for k, v := range value.MapOf(
		"size", a.Size, "mode", a.Mode, "checksum", a.Checksum, "device", a.Device, "symlink", a.Symlink,
		"owner", a.Owner, "group", a.Group, "time", a.Time, "capabilities", a.Capabilities,
	).All() {
		if v != nil {
			want.Set(k, v)
		}
	}
	for k, v := range a.Rest.All() {
		if s, _ := k.(string); !strings.HasPrefix(s, "_") {
			want.Set(k, v)
		}
	}
	return Modified(ctx, c.Env, a.Root, wanted, want)
}

// Modified returns by path which attributes of installed files differ from rpm's
// database. want says of attributes whether they have to differ.
// Salt: salt/modules/rpm_lowpkg.py modified.
func Modified(ctx context.Context, env *fun.Env, root string, names []string, want *value.Map) (fun.Result, error) {
	out, err := Query(ctx, env.Host, root, slices.Concat([]string{"-Va"}, names)...)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status > 1 {
		return fun.Result{Value: value.MapOf("retcode", int64(out.Status), "stderr", out.Stderr), Retcode: out.Status}, nil
	}
	m := value.NewMap(0)
	list, _ := differences(out.Stdout)
	for i := range list {
		d := &list[i]
		stats := d.changed(flags[:], true)
		if d.columns == "" {
			stats = []string{"missing"}
		}
		if d.mark != 0 {
			stats = append(stats, "config")
		}
		include := true
		for k, v := range want.All() {
			if slices.Contains(stats, value.Str(k)) != value.Truth(v) {
				include = false
			}
		}
		if include {
			m.Set(d.path, value.Strings(stats...))
		}
	}
	return fun.Result{Value: m, Retcode: out.Status}, nil
}

// maxArchive bounds the content of a package that is compared.
const maxArchive = 1 << 30

// rawOutput runs a program that changes nothing and returns what it prints.
func rawOutput(ctx context.Context, env *fun.Env, stdin []byte, argv ...string) ([]byte, error) {
	var in io.Reader = strings.NewReader(string(stdin))
	out, err := env.Host.Run(ctx, host.Cmd{Argv: argv, Env: tool.Environ(env.Host), Dir: "/", Stdin: in, MaxOutput: maxArchive, ReadOnly: true})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fun.Errorf("%s cannot be run: %v", argv[0], err)
	}
	if out.Truncated || out.Status > 1 || out.Status == 1 && argv[0] != "diff" {
		why := strings.TrimSpace(value.DecodeReplace(out.Stderr))
		if out.Truncated {
			why = "the package is too large"
		}
		return nil, fun.Errorf("%s failed: %s", argv[0], why)
	}
	return out.Stdout, nil
}
