// Package render turns SLS files and templates into data and text.
//
// An [Engine] belongs to one run on one target: it knows the functions, grains,
// pillar and options that templates see, and keeps parsed templates. An SLS
// goes through a pipeline of renderers that its first line names
// ("#!jinja|yaml"), or the renderer option. Start with [For] and [Engine.SLS].
//
// Faults are *source.Error with the place in the file as the user wrote it; the
// Salt text of each is what real Salt puts behind "Rendering SLS 'base:x'
// failed: ". [Handled] tells the faults that Salt words so from those for which
// it prints a traceback.
package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"unicode/utf8"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/tee"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// DefaultPipeline is that of an SLS without a first line of its own where
// configuration names none.
const DefaultPipeline = "jinja|yaml"

// MaxText bounds the size in bytes of a file that is rendered.
const MaxText = 64 << 20

// An Input is a file to render.
type Input struct {
	Path    string // below the roots, "web/init.sls"; ":string:" is no file
	Abs     string // where it lies on this machine, "" if elsewhere
	Name    string // as errors show it; "" is Path
	SLS     string // "web"; "" if it is not an SLS
	SaltEnv string // "" is base
	Text    []byte
	// Pipeline holds instead of the configured default; a first line of Text
	// still goes before it.
	Pipeline string
	// Vars are variables besides the usual; they go before them.
	Vars *value.Map
	// Pillar, where set, is seen as pillar instead of the Env's.
	Pillar value.Mapping

	file bool // a template of a file, which has the names of no SLS
}

func (in *Input) name() string {
	if in.Name != "" {
		return in.Name
	}
	if in.Path != "" {
		return in.Path
	}
	return ":string:"
}

func (in *Input) saltenv() string {
	if in.SaltEnv != "" {
		return in.SaltEnv
	}
	return "base"
}

// An Engine renders for one Env. It is safe for concurrent use.
type Engine struct {
	env   *fun.Env
	files fun.Files
	abs   bool // errors show absolute paths
	// lenient: undefined variables print as nothing
	lenient bool

	*Shared
	salt  *saltObject
	confs *confs // of a run; nil: each SLS stands alone
}

// A place is where a template lies.
type place struct{ rel, abs string }

type engineKey struct{}

// For returns the engine of env, whose files are those of env.Up. There is one
// per Env; the functions that templates call see the machine as env does, which may
// have more on it than when the run began, see [host.Overlay].
func For(env *fun.Env) *Engine {
	e := env.Memo.Once(engineKey{}, func() any { return New(env, env.Up) }).(*Engine)
	sees := env.Host
	if over, ok := sees.(*host.Overlay); ok {
		sees = over.Looking() // a template looks, also at what programs say
	}
	if e.env.Host == sees {
		return e
	}
	own := *e
	own.env = env.With(func(c *fun.Env) { c.Host = sees })
	own.salt = &saltObject{env: own.env}
	return &own
}

// New returns an engine whose files are others than those of env.Up, such as
// the pillar's.
func New(env *fun.Env, files fun.Files) *Engine {
	return &Engine{env: env, files: files, Shared: newShared(), salt: &saltObject{env: env}}
}

// NameAbsolute makes errors show absolute paths, for files that are in no
// roots that users name by relative ones. It returns e.
func (e *Engine) NameAbsolute() *Engine {
	e.abs = true
	return e
}

// Lenient makes undefined variables print as nothing, as ext_pillar stack has
// them. It returns e.
func (e *Engine) Lenient() *Engine {
	e.lenient = true
	return e
}

// A PlainError is a fault for which Salt has no words of its own but prints an
// exception: Salt's texts around it differ.
type PlainError struct {
	PyType string // "JSONDecodeError"
	Msg    string
}

// Error returns the message.
func (e *PlainError) Error() string { return e.Msg }

// Handled reports whether Salt reports err as a rendering error ("Rendering
// SLS 'env:sls' failed: ...") and not as an exception it did not expect
// ("Rendering SLS sls failed, render error: ...").
func Handled(err error) bool {
	if _, ok := errors.AsType[*PlainError](err); ok {
		return false
	}
	if f, ok := errors.AsType[*yamlsalt.SyntaxError](err); ok {
		return f.RenderError()
	}
	return true
}

// Read returns the text of a file below the roots as Input wants it.
func Read(ctx context.Context, files fun.Files, fi fun.FileInfo) ([]byte, error) {
	r, err := files.Open(ctx, fi.SaltEnv, fi.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("read salt://%s: %w", fi.Path, err)
	}
	if len(text) > MaxText {
		return nil, fmt.Errorf("read salt://%s: it is larger than %d bytes", fi.Path, MaxText)
	}
	return text, nil
}

// SLS renders an SLS to data: mostly a *value.Map whose keys know their places,
// text where the last renderer of its pipeline gives text. An SLS that is empty
// or only blanks is an empty map.
func (e *Engine) SLS(ctx context.Context, in Input) (value.Value, error) {
	d, err := e.run(ctx, &in)
	if err != nil {
		return nil, err
	}
	if d.isText {
		return d.text, nil
	}
	return d.data, nil
}

// datum is what goes through a pipeline.
type datum struct {
	isText bool
	text   string
	pos    func(line int) source.Pos   // place of a line of text
	via    func(line int) []source.Pos // the tags that led to it; nil: none
	data   value.Value
}

// run takes in through its pipeline.
func (e *Engine) run(ctx context.Context, in *Input) (*datum, error) {
	ctx = tee.Unseen(ctx)
	text, err := e.decode(in)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return &datum{data: value.NewMap(0)}, nil
	}
	pipe, err := e.pipeline(ctx, in, text)
	if err != nil {
		return nil, err
	}
	name := in.name()
	d := &datum{isText: true, text: text, pos: func(line int) source.Pos { return source.Pos{File: name, Line: line} }}
	seen := stages{e: e, file: name}
	defer seen.logStages(ctx)
	for _, s := range pipe {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, ours := rendererOf(s.name); ours && !d.isText && s.name != "gpg" && s.name != "stateconf" && (!ByPython(s.name) || s.name == "mako") {
			return nil, &source.Error{Pos: source.Pos{File: name, Line: 1}, Err: fmt.Errorf("renderer %q comes after one that gives data, not text", s.name)}
		}
		if d, err = s.fn(e, ctx, in, s, d); err != nil {
			return nil, err
		}
		seen.add(ctx, s.name, d)
	}
	if d.isText && strings.Contains(text, "\r\n") && !strings.Contains(d.text, "\r\n") {
		// Text keeps the line ends of its file, which Jinja makes plain ones.
		d.text = strings.ReplaceAll(d.text, "\n", "\r\n")
	}
	return d, nil
}

// stages are what the renderers made of an SLS or template, for the log. Of files of
// the pillar it names only the file: which of their values are secret is not known
// before they are all rendered.
type stages struct {
	e    *Engine
	file string
	all  []rendered
}

// rendered is what one renderer made.
type rendered struct {
	by string
	d  *datum
}

func (s *stages) add(ctx context.Context, by string, d *datum) {
	if s.e.env.Log().Enabled(ctx, slog.LevelDebug) {
		s.all = append(s.all, rendered{by, d})
	}
}

// logStages logs the stages at the end: which values are secrets is seen in the data, and the text
// that it was read from has them, too.
func (s *stages) logStages(ctx context.Context) {
	if len(s.all) == 0 {
		return
	}
	own, known := s.e.files == fun.Files(s.e.env.Up), s.e.env.Secrets
	for _, t := range s.all {
		if m, ok := t.d.data.(*value.Map); ok && own && !t.d.isText {
			for _, body := range m.All() { // an ID is not the name of an argument
				known.AddArg("", false, body)
			}
		}
	}
	for _, t := range s.all {
		attrs := []any{"file", s.file, "by", t.by}
		if own && t.d.isText {
			attrs = append(attrs, "text", known.Source(t.d.text))
		} else if own {
			attrs = append(attrs, "data", known.Text(value.Repr(known.Mask(t.d.data))))
		}
		s.e.env.Log().DebugContext(ctx, "rendered", attrs...)
	}
}

// decode returns the text without a byte order mark.
func (e *Engine) decode(in *Input) (string, error) {
	if utf8.Valid(in.Text) {
		return strings.TrimPrefix(string(in.Text), "\ufeff"), nil
	}
	line, col, off := 1, 1, 0
	for off < len(in.Text) {
		r, n := utf8.DecodeRune(in.Text[off:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line, col = line+1, 0
		}
		col++
		off += n
	}
	msg := fmt.Sprintf("'utf-8' codec can't decode byte 0x%02x in position %d: invalid start byte", in.Text[off], off)
	return "", &source.Error{
		Pos:  source.Pos{File: in.name(), Line: line, Col: col},
		Hint: "save the file as UTF-8",
		Err:  &PlainError{"UnicodeDecodeError", msg},
	}
}

// A stage is one renderer of a pipeline with its arguments.
type stage struct {
	name, args string
	fn         func(e *Engine, ctx context.Context, in *Input, s stage, d *datum) (*datum, error)
}

// renderers is what a pipeline may name.
func rendererOf(name string) (func(*Engine, context.Context, *Input, stage, *datum) (*datum, error), bool) {
	switch name {
	case "jinja":
		return (*Engine).jinjaStage, true
	case "pongo2":
		return (*Engine).pongoStage, true
	case "yaml":
		return (*Engine).yamlStage, true
	case "yamlex":
		return (*Engine).yamlexStage, true
	case "gpg":
		return (*Engine).gpgStage, true
	case "json":
		return (*Engine).jsonStage, true
	case "toml":
		return (*Engine).tomlStage, true
	case "py":
		return (*Engine).pyStage, true
	case "stateconf":
		return (*Engine).stateconfStage, true
	case "mako", "pydsl", "pyobjects":
		return (*Engine).pythonStage, true
	}
	return nil, false
}

// ByPython reports whether a renderer runs a file in Python, by its name.
func ByPython(renderer string) bool {
	switch renderer {
	case "mako", "py", "pydsl", "pyobjects":
		return true
	}
	return false
}

// Renderers returns the names that a pipeline may have, sorted.
func Renderers() []string {
	return []string{"gpg", "jinja", "json", "mako", "pongo2", "py", "pydsl", "pyobjects", "stateconf", "toml", "yaml", "yamlex"}
}

// pipeline returns the stages that text asks for by its first line, else the
// configured ones.
func (e *Engine) pipeline(ctx context.Context, in *Input, text string) ([]stage, error) {
	pipe := in.Pipeline
	if pipe == "" {
		pipe = e.env.Opts.Str("renderer")
	}
	if pipe == "" {
		pipe = DefaultPipeline
	}
	first, _, _ := strings.Cut(text, "\n")
	if in.Path == ":string:" {
		// As in Salt, where the first word of a string counts.
		first = strings.Fields(text)[0]
	}
	if strings.HasPrefix(first, "#!") && !strings.HasPrefix(first, "#!/") {
		pipe = strings.TrimSpace(first)[2:]
	}
	parts := strings.Split(pipe, "|")
	if len(parts) == 1 {
		// The old spelling of two renderers, data format first.
		if format, engine, ok := strings.Cut(strings.TrimSpace(pipe), "_"); ok && (format == "yaml" || format == "json") {
			parts = []string{engine, format}
		}
	}
	var stages []stage
	for _, part := range parts {
		name, args, _ := strings.Cut(strings.TrimSpace(part), " ")
		skip, why := e.env.Limits.Renderer(name)
		switch {
		case why == "":
		case skip:
			continue
		default:
			fault := noRenderer(in.name(), name, pipe)
			fault.Err, fault.Hint = fmt.Errorf("the renderer %q is %s", name, why), ""
			return nil, fault
		}
		fn, ok := rendererOf(name)
		if !ok {
			if fn = e.custom(ctx, name); fn == nil {
				return nil, noRenderer(in.name(), name, pipe)
			}
		}
		stages = append(stages, stage{name, strings.TrimSpace(args), fn})
	}
	if len(stages) == 0 {
		return []stage{{name: "none", fn: func(*Engine, context.Context, *Input, stage, *datum) (*datum, error) {
			return &datum{data: value.NewMap(0)}, nil
		}}}, nil
	}
	return stages, nil
}

// noRenderer is the fault of a pipeline that names a renderer which is not
// there.
func noRenderer(file, name, pipe string) *source.Error {
	hint := "there are " + strings.Join(Renderers(), ", ")
	err := fmt.Errorf("the renderer %q is not available%s", name, source.DidYouMean(name, Renderers()))
	if why := absent.Why(absent.Renderer, name); why != "" {
		err = fmt.Errorf("the renderer %q is not supported", name)
		hint = "Salt has it, brine does not: " + why
	}
	return &source.Error{
		Pos: source.Pos{File: file, Line: 1, Col: 1}, Hint: hint, Err: err,
		Salt: fmt.Sprintf("The renderer \"%s\" is not available", pipe),
	}
}

// dropShebang takes the first line of a pipeline off; its newline stays, so
// that lines keep their numbers.
func dropShebang(text string) string {
	if !strings.HasPrefix(text, "#!") {
		return text
	}
	i := strings.IndexByte(text, '\n')
	if i < 0 {
		return ""
	}
	return text[i:]
}

func (e *Engine) yamlStage(_ context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	return d.loadYAML(e.Shared, yamlsalt.LoadOptions{Name: in.name(), Pos: d.pos, Ordered: true})
}

// yamlexStage reads YAML with !aggregate and !reset.
//
// Salt: salt/renderers/yamlex.py.
func (e *Engine) yamlexStage(_ context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	return d.loadYAML(e.Shared, yamlsalt.LoadOptions{Name: in.name(), Pos: d.pos, Ordered: true, Extended: true})
}

func (d *datum) loadYAML(sh *Shared, o yamlsalt.LoadOptions) (*datum, error) {
	v, err := sh.loadYAML(o, d.text)
	if err != nil {
		var (
			se *source.Error
			f  *yamlsalt.SyntaxError
		)
		if d.via != nil && errors.As(err, &se) && errors.As(err, &f) && f.Line > 0 {
			se.Via = d.via(f.Line)
		}
		return nil, err
	}
	if !value.Truth(v) {
		v = value.NewMap(0)
	}
	return &datum{data: v}, nil
}

func (e *Engine) jsonStage(_ context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	text := d.text
	skipped := 0
	if strings.HasPrefix(text, "#!") {
		i := strings.IndexByte(text, '\n')
		text = text[i+1:]
		if i < 0 {
			text = ""
		}
		skipped = 1
	}
	if strings.TrimSpace(text) == "" {
		return &datum{data: value.NewMap(0)}, nil
	}
	v, err := value.ParseJSON(text)
	if err == nil {
		return &datum{data: v}, nil
	}
	pos := source.Pos{File: in.name(), Line: 1}
	if je, ok := errors.AsType[*value.JSONError](err); ok {
		p := d.pos(je.Line + skipped)
		pos = source.Pos{File: p.File, Line: p.Line, Col: je.Col}
	}
	return nil, &source.Error{Pos: pos, Err: &PlainError{"JSONDecodeError", err.Error()}}
}

// notFound reports whether err says that a file is not there.
func notFound(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// dirOf returns the directory of a path below the roots, "" for the root.
func dirOf(p string) string {
	if d := path.Dir(p); d != "." && d != "/" {
		return d
	}
	return ""
}
