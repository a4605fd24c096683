package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/jinja"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// jinjaKey tells environments apart: SLS files and other templates have
// options of their own, and each saltenv its files.
type jinjaKey struct {
	sls     bool
	saltenv string
	opts    string // the options that it was made by
}

// jinjaEnv returns the environment for SLS files or other templates of a
// saltenv.
func (e *Engine) jinjaEnv(sls bool, saltenv string) *jinja.Env {
	key := "jinja_env"
	if sls {
		key = "jinja_sls_env"
	}
	k := jinjaKey{sls: sls, saltenv: saltenv}
	if e.many {
		// Engines that share may have other options.
		opts := value.Tuple{e.abs, e.lenient}
		for _, name := range [...]string{key, "allow_undefined", "jinja_trim_blocks", "jinja_lstrip_blocks", "jinja_max_time", "jinja_max_memory"} {
			opts = append(opts, e.env.Opts.At(name))
		}
		k.opts = value.Repr(opts)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if env := e.jinjas[k]; env != nil {
		return env
	}
	var o jinja.Options
	if e.lenient || value.Truth(e.env.Opts.At("allow_undefined")) {
		o.Undefined = jinja.Plain
	}
	for _, name := range o.Apply(e.env.Opts.Map(key)) {
		e.env.Log().Warn("jinja environment option is not recognized", "option", name, "of", key)
	}
	o.TrimBlocks = o.TrimBlocks || value.Truth(e.env.Opts.At("jinja_trim_blocks"))
	o.LstripBlocks = o.LstripBlocks || value.Truth(e.env.Opts.At("jinja_lstrip_blocks"))
	o.Extension = saltjinja.New(saltjinja.Options{
		Unknown: unknownOf(e.env.Host),
		Host:    hostOps{e.env.Host},
		Query: func(c *jinja.Call) (value.Value, error) {
			return c.State.Untimed(func() (value.Value, error) { return invoke(c.State.Context(), e.env, "http.query", c.Args, c.Kw) })
		},
	})
	o.MaxTime = e.maxTime()
	o.MaxMemory = int(e.limit("jinja_max_memory") * (1 << 20))
	o.Profile = e.profile
	if note := e.env.OnBranch; note != nil && !e.many { // engines that share are of several runs
		o.Branch = func(template string, off int32, yes bool) { note(e.absOf(template), off, yes) }
	}
	env := jinja.New(o, &loader{e: e, saltenv: saltenv})
	e.jinjas[k] = env
	return env
}

// DefaultMaxTime is how long one template may take, without the functions that
// it calls, where the option jinja_max_time says nothing else.
const DefaultMaxTime = jinja.DefaultMaxTime

// maxTime returns how long one template may take: the option jinja_max_time, in
// seconds.
func (e *Engine) maxTime() time.Duration {
	if n := e.limit("jinja_max_time"); n > 0 {
		return time.Duration(n * float64(time.Second))
	}
	return DefaultMaxTime
}

// limit returns an option that is a number above 0; 0 where it is not given, or
// is something else, of which it warns.
func (e *Engine) limit(name string) float64 {
	v := e.env.Opts.At(name)
	var n float64
	switch v := v.(type) {
	case nil:
		return 0
	case int64:
		n = float64(v)
	case float64:
		n = v
	}
	if n > 0 && n < 1<<20 {
		return n
	}
	e.env.Warn(fun.Warning{Text: fmt.Sprintf("%s: %s is not a number above 0 and below %d: the default applies", name, value.Repr(v), 1<<20)})
	return 0
}

// profile logs how long the body of a profile tag, or an import, takes.
func (e *Engine) profile(label, what string) func() {
	start := e.env.Host.Now()
	return func() {
		e.env.Log().Debug("time to render", "what", label, "template", what, "seconds", e.env.Host.Now().Sub(start).Seconds())
	}
}

// jinjaStage renders a Jinja template.
func (e *Engine) jinjaStage(ctx context.Context, in *Input, s stage, d *datum) (*datum, error) {
	if s.args != "" && s.args != "-s" {
		return nil, &source.Error{Pos: source.Pos{File: in.name(), Line: 1, Col: 1}, Err: errors.New("Unknown renderer option: " + s.args)}
	}
	return e.jinja(ctx, in, d.text)
}

// jinja renders text as a Jinja template.
func (e *Engine) jinja(ctx context.Context, in *Input, text string) (*datum, error) {
	vars := e.vars(in)
	sls, _ := vars.At("sls").(string)
	env := e.jinjaEnv(sls != "", in.saltenv())
	name := in.name()
	e.notePlace(name, in.Path, in.Abs)
	t, err := env.Parse(name, text)
	if err != nil {
		return nil, e.jinjaFault(ctx, err, in, text)
	}
	out, err := t.Render(withBases(ctx, name, tplDir(vars, in)), vars)
	if err != nil {
		return nil, e.jinjaFault(ctx, err, in, text)
	}
	return &datum{isText: true, text: out.Text, pos: out.Pos, via: out.Via}, nil
}

// tplDir returns the directory that relative imports of the main template
// start from.
func tplDir(vars *value.Map, in *Input) string {
	if d, ok := vars.At("tpldir").(string); ok {
		if d == "." {
			return ""
		}
		return d
	}
	return dirOf(in.Path)
}

// bases knows, of each template of a rendering, the directory that it takes
// relative imports from, and the variables of its own.
type bases struct {
	mu   sync.Mutex
	of   map[string]string
	vars map[string]*value.Map
}

type basesKey struct{}

// withBases returns a context for rendering the main template name, whose
// directory is dir.
func withBases(ctx context.Context, name, dir string) context.Context {
	b := &bases{of: map[string]string{name: dir}, vars: map[string]*value.Map{}}
	return jinja.WithImportVars(context.WithValue(ctx, basesKey{}, b), b.varsOf)
}

func (b *bases) get(name string) (string, bool) {
	if b == nil {
		return "", false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.of[name]
	return d, ok
}

func (b *bases) varsOf(name string) *value.Map {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.vars[name]
}

// set notes a template that was loaded by the name tplfile.
func (b *bases) set(name, dir, tplfile string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, main := b.of[name]; main && b.vars[name] == nil {
		return // the main template imports itself
	}
	b.of[name] = dir
	tpldir := dir
	if dir == "" {
		tpldir = "."
	}
	b.vars[name] = value.MapOf("tplfile", tplfile, "tpldir", tpldir, "tpldot", strings.ReplaceAll(dir, "/", "."))
}

// loader finds templates of one saltenv for import, include and the like.
type loader struct {
	e       *Engine
	saltenv string
}

// Load returns the template name. A name that starts with ./ or ../ is taken
// from the directory of the SLS, as Salt does, or else from that of the
// template that asks; others from the roots. Nothing outside of the roots is
// found.
func (l *loader) Load(ctx context.Context, name, from string) (jinja.Source, error) {
	rel, saltenv := name, l.saltenv
	if p, env, ok := fun.SplitURL(name); ok {
		rel = p
		if env != "" {
			saltenv = env
		}
	}
	b, _ := ctx.Value(basesKey{}).(*bases)
	if head, _, _ := strings.Cut(rel, "/"); head != "." && head != ".." {
		fi, src, err := l.read(ctx, name, strings.TrimLeft(path.Clean("/"+rel), "/"), saltenv)
		if err == nil {
			b.set(src.Name, dirOf(fi.Path), fi.Path)
		}
		return src, err
	}
	base, known := b.get(from)
	own := dirOf(l.e.relOf(from))
	if !known {
		base = own
	}
	for _, dir := range []string{base, own} {
		p := path.Join(dir, rel)
		if p == ".." || strings.HasPrefix(p, "../") {
			continue
		}
		_, src, err := l.read(ctx, name, p, saltenv)
		if _, ok := errors.AsType[*jinja.NotFoundError](err); ok {
			continue
		}
		if err == nil {
			b.set(src.Name, base, name)
		}
		return src, err
	}
	return jinja.Source{}, l.missing(ctx, name, saltenv)
}

// missing is the error of a template that is not there.
func (l *loader) missing(ctx context.Context, name, saltenv string) error {
	return &jinja.NotFoundError{Name: name, Hint: func() string {
		if near := l.near(ctx, name, saltenv); near != "" {
			return fmt.Sprintf("did you mean %q?", near)
		}
		return ""
	}}
}

// maxNear is how many files are looked through for a name that is near.
const maxNear = 5000

// near returns the file whose name a user most likely meant, "" for none.
func (l *loader) near(ctx context.Context, name, saltenv string) string {
	all, err := fun.ListFiles(ctx, l.e.files, saltenv, "")
	if err != nil || len(all) > maxNear {
		return ""
	}
	names := make([]string, len(all))
	for i, fi := range all {
		names[i] = fi.Path
	}
	n, _ := source.Nearest(name, names)
	return n
}

// read returns the template at a path below the roots.
func (l *loader) read(ctx context.Context, name, rel, saltenv string) (fun.FileInfo, jinja.Source, error) {
	fi, err := l.e.files.Stat(ctx, saltenv, rel)
	if err != nil {
		if notFound(err) {
			return fi, jinja.Source{}, l.missing(ctx, name, saltenv)
		}
		return fi, jinja.Source{}, err
	}
	if !fi.Mode.IsRegular() {
		return fi, jinja.Source{}, l.missing(ctx, name, saltenv)
	}
	key := saltenv + "\x00" + fi.Path
	stamp := l.e.stamp(fi)
	if src, ok := l.e.source(key, stamp); ok {
		return fi, src, nil
	}
	raw, err := Read(ctx, l.e.files, fi)
	if err != nil {
		return fi, jinja.Source{}, err
	}
	shown := l.e.shown(fi)
	text, err := l.e.decode(&Input{Name: shown, Text: raw})
	if err != nil {
		return fi, jinja.Source{}, err
	}
	l.e.notePlace(shown, fi.Path, fi.Abs)
	src := jinja.Source{Name: shown, Text: text, Key: key}
	l.e.mu.Lock()
	l.e.sources[key] = stamped{stamp, src}
	l.e.mu.Unlock()
	return fi, src, nil
}

// A stamped source is a template that was read, with what says whether its file
// has changed since.
type stamped struct {
	stamp stamp
	src   jinja.Source
}

type stamp struct {
	size, mtime int64
	abs         string
}

// stamp returns what is known of the state of a file.
func (e *Engine) stamp(fi fun.FileInfo) stamp {
	s := stamp{size: fi.Size, abs: fi.Abs}
	if fi.Abs != "" {
		if st, err := e.env.Host.Stat(fi.Abs); err == nil {
			s.size, s.mtime = st.Size, st.Mtime.UnixNano()
		}
	}
	return s
}

// source returns a template that was read and has not changed.
func (e *Engine) source(key string, now stamp) (jinja.Source, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.sources[key]
	return s.src, ok && s.stamp == now
}

// shown returns the name of a file in errors.
func (e *Engine) shown(fi fun.FileInfo) string {
	if e.abs && fi.Abs != "" {
		return fi.Abs
	}
	return fi.Path
}

// notePlace remembers the path below the roots and the absolute path of the
// template that errors call name.
func (e *Engine) notePlace(name, rel, abs string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.places[name] = place{rel, abs}
}

// absOf returns where the template of a name lies, or the name.
func (e *Engine) absOf(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.places[name]; p.abs != "" {
		return p.abs
	}
	return name
}

// relOf returns the path below the roots of the template of a name.
func (e *Engine) relOf(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.places[name].rel
}

// bare is a Jinja fault without its place, which the source.Error around it
// has, in one line.
type bare struct{ err *jinja.Error }

func (b bare) Error() string {
	if b.err.PyType == "TemplateNotFound" {
		return fmt.Sprintf("template %q is not in the fileserver", b.err.Msg)
	}
	line, _, _ := strings.Cut(b.err.Msg, "\n")
	if name, ok := missingFunction(line); ok {
		if !strings.Contains(name, ".") {
			return "there is no execution module " + name
		}
		return "there is no execution function " + name
	}
	return line
}

// missingFunction returns the quoted name of the function of salt that a message
// says is not there.
func missingFunction(msg string) (quoted string, ok bool) {
	return strings.CutPrefix(msg, "'salt.utils.templates.AliasedLoader object' has no attribute ")
}

// hint returns what the user may do about a fault: of a function that is not
// there, what the table knows of its name.
func (e *Engine) hint(je *jinja.Error) string {
	line, _, _ := strings.Cut(je.Msg, "\n")
	quoted, ok := missingFunction(line)
	if !ok {
		return je.Hint
	}
	_, _, err := e.env.Find(fun.Exec, strings.Trim(quoted, "'"))
	missing, ok := errors.AsType[*fun.NotFoundError](err)
	switch {
	case !ok:
		return je.Hint
	case missing.Reason != "":
		return missing.Error()
	}
	return cmp.Or(missing.Hint(), je.Hint)
}

func (b bare) Unwrap() error { return b.err }

// jinjaFault makes a placed fault with Salt's text of what jinja returned.
//
// Salt: salt/utils/templates.py render_jinja_tmpl, salt/exceptions.py
// SaltRenderError.
func (e *Engine) jinjaFault(ctx context.Context, err error, in *Input, text string) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	var je *jinja.Error
	if !errors.As(err, &je) {
		return err
	}
	prefix, raised := saltPrefix(je)
	msg := je.Msg
	var salt strings.Builder
	salt.WriteString(prefix + msg)
	at := je.At
	if at.IsZero() {
		at = je.Pos
	}
	switch {
	case at.File == in.name() || at.File == "":
		if raised {
			salt.WriteByte('\n')
		}
		if at.Line > 0 && text != "" {
			salt.WriteString("; line " + strconv.Itoa(at.Line) + "\n\n" + value.Excerpt(text, at.Line))
		}
	default:
		salt.WriteString("\n" + e.absOf(at.File) + "(" + strconv.Itoa(at.Line) + "):\n" + value.Excerpt(je.Source, at.Line))
	}
	return &source.Error{Pos: je.Pos, Via: je.Via, Hint: e.hint(je), Salt: salt.String(), Err: bare{je}}
}

// saltPrefix returns what Salt puts before a message, by the exception, and
// whether it goes on with a traceback.
func saltPrefix(je *jinja.Error) (prefix string, raised bool) {
	switch je.Kind {
	case jinja.UndefinedName:
		return "Jinja variable ", false
	case jinja.Syntax:
		return "Jinja syntax error: ", false
	case jinja.NotFound:
		return "Jinja error: ", true
	case jinja.Runtime: // as its Python type is
	}
	switch je.PyType {
	case "UndefinedError":
		return "Jinja variable ", false
	case "TemplateRuntimeError", "TemplateSyntaxError", "TemplateAssertionError", "SecurityError", "FilterArgumentError":
		return "Jinja syntax error: ", false
	case "SaltInvocationError", "CommandExecutionError":
		return "Problem running salt function in Jinja template: ", false
	}
	return "Jinja error: ", true
}

// Branches returns the branches of a Jinja template, which is an SLS or another one, of the
// environment base.
func (e *Engine) Branches(sls bool, name, text string) ([]jinja.Branch, error) {
	return e.jinjaEnv(sls, "base").Branches(name, text)
}
