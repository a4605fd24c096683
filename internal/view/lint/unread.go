package lint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/core/star"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// What lint does not read is a limit of lint, or of the machine that it runs on, and not a
// fault of the tree: it is never an error, and never passed over.

// noGPG are the options by which pipelines leave out the renderer gpg: lint has no keys, and
// what is encrypted is unknown.
func noGPG() *fun.Limits {
	limits, err := fun.NewLimits(value.MapOf("renderer_blacklist", value.NewList("gpg")))
	if err != nil {
		panic(err) // the options are those above
	}
	return limits
}

// pgpMessage begins an encrypted text.
const pgpMessage = "-----BEGIN PGP MESSAGE-----"

// hide replaces what is encrypted in data by unknown values.
func (p *probe) hide(v value.Value, at string) value.Value {
	if !render.Encrypted(v) {
		return v
	}
	switch v := v.(type) {
	case *value.List:
		for i, x := range v.Items {
			v.Items[i] = p.hide(x, fmt.Sprintf("%s.%d", at, i))
		}
	case *value.Map:
		for k, x := range v.All() {
			v.Set(k, p.hide(x, at+"."+value.Str(k)))
		}
	default:
		return unknown{p: p, path: at}
	}
	return v
}

// pipeline returns the renderers of an SLS: those that its first line names, else those of
// the configuration.
func (l *linter) pipeline(first string) []string {
	if names := pipelineOf(first); names != nil {
		return names
	}
	return pipelineOf("#!" + cmp.Or(l.o.Opts.Str("renderer"), render.DefaultPipeline))
}

// notRendered returns where an SLS names a renderer that does not run here, since it runs a
// program, or brine does not have it, and its name; or where it has a text that is encrypted
// as a whole.
func (l *linter) notRendered(text []byte) (name string, line int) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return notRendered(l.pipeline(string(first)), text)
}

func notRendered(pipe []string, text []byte) (name string, line int) {
	for _, name := range pipe {
		if !slices.Contains(render.Renderers(), name) || name == "pongo2" || render.ByPython(name) {
			return name, 1
		}
	}
	at := slices.Index(pipe, "gpg")
	if at < 0 || slices.ContainsFunc(pipe[:at], isData) {
		return "", 0 // what it decrypts are values
	}
	if before, _, ok := bytes.Cut(text, []byte(pgpMessage)); ok {
		return "gpg", bytes.Count(before, []byte("\n")) + 1
	}
	return "", 0
}

// isData reports whether a renderer makes data of text.
func isData(name string) bool { return name != "jinja" && name != "gpg" && name != "mako" }

// backends are the file server backends of the configuration whose files lint does not have;
// "" is none.
func backends(opts *value.Map) string {
	var names []string
	list := opts.List("fileserver_backend")
	for i := range list.Len() {
		if name := value.Str(list.Items[i]); name != "roots" && name != "file_roots" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// elsewhereToo reports whether what a finding misses may be with a file server backend that
// lint does not ask, and then says so.
func (m *merge) elsewhereToo(f *Finding) {
	if m.l.backends == "" || f.Rule != missingInclude && f.Rule != missingFile || strings.HasPrefix(f.Message, "pillar SLS ") {
		return
	}
	f.Message += fmt.Sprintf(" in the roots, and files of %s are not looked at", m.l.backends)
	f.Rule, f.Hint = notJudged, ""
}

// leaveLost takes out SLS files that no name leads to: no run ever reads them.
func (l *linter) leaveLost() {
	have := map[string]bool{}
	for _, f := range l.files {
		have[depOf(f.pillar, f.saltenv, f.Path)] = true
	}
	l.lost = nil
	for _, f := range l.files {
		f.lost = false
		if f.sls == "" || ofModules(f.Path) {
			continue
		}
		base := strings.ReplaceAll(f.sls, ".", "/")
		found := Finding{Rule: unreachableSLS, Pos: source.Pos{File: f.Abs, Line: 1, Col: 1}}
		switch first := base + ".sls"; {
		case f.Path == first:
			continue
		case f.Path != base+"/init.sls":
			found.Message = fmt.Sprintf("no SLS name leads to the file: %s is %s", f.sls, first)
			found.Hint = "dots of an SLS name are directories: take those of the file's path away"
		case have[depOf(f.pillar, f.saltenv, first)]:
			found.Message = fmt.Sprintf("the file is never read: the SLS %s is %s", f.sls, first)
			found.Hint = "put both into one file, or give one another name"
		default:
			continue
		}
		f.lost = true
		l.lost = append(l.lost, found)
	}
	l.sls = slices.DeleteFunc(l.sls, func(f *file) bool { return f.lost })
}

// readable notes what is not read of a file, and why.
func (l *linter) readable(f *file, err error) {
	note := func(format string, args ...any) { f.addf(1, 1, notJudged, "", format, args...) }
	switch {
	case err != nil && f.isTemplate():
		note("the file cannot be read: %s", reason(err))
	case f.Size > maxText && f.isTemplate():
		note("the file has more than %d MB: the rules that look at text leave it out", maxText>>20)
	case f.isStar() && f.Size > star.MaxChecked:
		note("the module has more than %d KB: it is not checked", star.MaxChecked>>10)
	}
}

// reason is an error without the operation and the path, which the finding has.
func reason(err error) string {
	text := err.Error()
	return strings.TrimSpace(text[strings.LastIndexByte(text, ':')+1:])
}

// unreadable reports whether a file of the tree cannot be read, by the name that runs have
// for it.
func (l *linter) unreadable(pillar bool, saltenv, p string) bool {
	return len(l.broken) > 0 && l.broken[depOf(pillar, saltenv, strings.TrimLeft(path.Clean("/"+p), "/"))]
}

// mayMatch reports whether a target of a function of module match asks for what is not known
// of the machine, such as its ID.
func mayMatch(name string, args fun.Args) bool {
	kind, tgts := strings.TrimPrefix(name, "match."), args.Pos[:min(len(args.Pos), 1)]
	given, tgtType := args.Kw.At("minion_id"), args.Kw.At("tgt_type")
	switch rest := args.Pos[len(tgts):]; {
	case kind == "ifelse": // targets and values alternate
		for i := 0; i < len(rest); i += 2 {
			if i+1 < len(rest) {
				tgts = append(slices.Clip(tgts), rest[i+1])
			}
		}
	case kind == "filter_by" || kind == "search_by":
		if len(rest) > 0 {
			tgtType = rest[0]
		}
	case len(rest) > 0 && !strings.HasPrefix(kind, "grain") && !strings.HasPrefix(kind, "pillar"):
		given = rest[0]
	}
	if given != nil {
		return false
	}
	if t, ok := tgtType.(string); ok && t != "" {
		kind = t
	}
	var asks func(v value.Value) bool
	asks = func(v value.Value) bool {
		switch v := v.(type) {
		case string:
			return targetAsks(kind, v)
		case *value.List:
			return slices.ContainsFunc(v.Items, asks)
		case *value.Map:
			for k, x := range v.All() {
				if name == "match.search_by" {
					k = x
				}
				if asks(k) {
					return true
				}
			}
		}
		return false
	}
	return slices.ContainsFunc(tgts, asks) || slices.ContainsFunc([]string{"tgt", "lookup"}, func(key string) bool { return asks(args.Kw.At(key)) })
}

// targetAsks reports whether a target of a kind depends on the ID of the machine, or on its
// addresses.
func targetAsks(kind, target string) bool {
	switch kind {
	case "grain", "grain_pcre", "pillar", "pillar_pcre":
		return false
	case "glob", "list", "pcre", "ipcidr", "data", "nodegroup", "range":
		return target != "*"
	}
	for word := range strings.FieldsSeq(strings.NewReplacer("(", " ", ")", " ").Replace(target)) {
		if word == "and" || word == "or" || word == "not" || word == "*" {
			continue
		}
		if c, _, ok := strings.Cut(word, "@"); !ok || !slices.Contains([]string{"G", "P", "I", "J"}, c) {
			return true
		}
	}
	return false
}

// touched is a mapping that notes when somebody asks for what is not known.
type touched struct {
	value.Mapping
	asked *bool
}

// Get returns the value at key.
func (t touched) Get(key value.Value) (value.Value, bool) {
	v, ok := t.Mapping.Get(key)
	*t.asked = *t.asked || !ok || hasUnknown(v)
	return v, ok
}

// match calls a function of module match, whose answer is unknown if it depends on what
// only a machine has.
func (v *invoker) match(ctx context.Context, kind fun.Kind, name string, args fun.Args) (fun.Result, error) {
	asked := !v.hasID && mayMatch(name, args)
	if !asked {
		known := func(m value.Mapping) value.Mapping {
			if k, ok := m.(knownMap); ok {
				return touched{k.Mapping, &asked}
			}
			return m
		}
		env := v.env.With(func(e *fun.Env) { e.Grains, e.Pillar = known(e.Grains), known(e.Pillar) })
		if got, err := v.newReal(env).Invoke(ctx, kind, name, args); !asked {
			return got, err
		}
	}
	return v.unknown(name, args)
}
