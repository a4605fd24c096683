// Package aliases is Salt's execution module "aliases": the mail aliases of the
// machine, /etc/aliases.
package aliases

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/textfile"
	"brine/modules/tool"
)

// Module returns the execution module "aliases".
func Module() fun.Module {
	return fun.Module{Name: "aliases", Kind: fun.Exec, Doc: "Read and edit the file of mail aliases.", Specs: specs}
}

// A Line is a logical line of the file: an alias, whose target may go on in
// indented lines, or text that stays as it is.
type Line struct {
	Alias, Target string // "" and "" for other text
	Comment       string // after the target, with the blanks before it
	raw           string
}

// Parse reads the file.
func Parse(text string) []Line {
	var lines []Line
	for raw := range strings.Lines(text) {
		more := strings.TrimSpace(raw)
		if last := len(lines) - 1; last >= 0 && lines[last].Alias != "" && (raw[0] == ' ' || raw[0] == '\t') && more != "" && more[0] != '#' {
			l := &lines[last]
			more, comment := cutComment(more)
			if l.Target != "" && more != "" {
				l.Target = strings.TrimRight(l.Target, " \t") + " "
			}
			l.Target += more
			l.Comment += comment
			l.raw += raw
			continue
		}
		l := Line{raw: raw}
		if name, rest, ok := cutName(raw); ok {
			l.Alias = name
			l.Target, l.Comment = cutComment(strings.TrimSpace(rest))
		}
		lines = append(lines, l)
	}
	return lines
}

// cutName divides a line at the colon behind its name. ok is false for what is not
// an alias.
func cutName(line string) (name, rest string, ok bool) {
	quoted := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '#':
			return "", "", false
		case c == ':':
			name = strings.TrimSpace(line[:i])
			return name, line[i+1:], name != ""
		}
	}
	return "", "", false
}

// cutComment divides a target from the comment behind it, which keeps the blanks
// before it.
func cutComment(text string) (target, comment string) {
	quoted := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '#' && !quoted && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			target = strings.TrimRight(text[:i], " \t")
			return target, text[len(target):]
		}
	}
	return text, ""
}

// path returns the path of the file.
func path(ctx context.Context, env *fun.Env) (string, error) {
	v, err := env.Exec(ctx, "config.option", nil, "aliases.file")
	if err != nil {
		return "", err
	}
	if p := value.Str(v); v != nil && p != "" {
		return p, nil
	}
	return "/etc/aliases", nil
}

func read(ctx context.Context, env *fun.Env) ([]Line, error) {
	p, err := path(ctx, env)
	if err != nil {
		return nil, err
	}
	text, err := textfile.Read(env.Host, p)
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	return Parse(value.DecodeReplace([]byte(text))), nil
}

// target returns the target of an alias, "" where there is none. Of several, the
// last counts.
func target(lines []Line, alias string) (found string, ok bool) {
	for _, l := range lines {
		if l.Alias != "" && l.Alias == alias {
			found, ok = l.Target, true
		}
	}
	return found, ok
}

func listAliases(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	lines, err := read(ctx, c.Env)
	ret := value.NewMap(len(lines))
	for _, l := range lines {
		if l.Alias != "" {
			ret.Set(l.Alias, l.Target)
		}
	}
	return fun.Result{Value: ret, Out: "yaml"}, err
}

func getTarget(ctx context.Context, c *fun.Call, a *aliasArg) (fun.Result, error) {
	lines, err := read(ctx, c.Env)
	t, _ := target(lines, a.Alias)
	return fun.Result{Value: t, Out: "txt"}, err
}

// wanted returns the argument target as the file has it.
func wanted(a *hasTargetArgs) (string, error) {
	t := strings.Join(a.Target, ", ")
	switch {
	case strings.TrimSpace(t) == "":
		return "", &fun.InvocationError{Msg: "target can not be an empty string", Arg: "target"}
	case strings.ContainsAny(t, "\r\n\x00"):
		return "", &fun.InvocationError{Msg: "target must be one line, not " + value.Repr(t), Arg: "target"}
	}
	return t, nil
}

// hasTargetArgs are the arguments of hasTarget and setTarget.
type hasTargetArgs struct {
	aliasArg
	targetArg
}

func hasTarget(ctx context.Context, c *fun.Call, a *hasTargetArgs) (fun.Result, error) {
	want, err := wanted(a)
	if err != nil {
		return fun.Result{}, err
	}
	lines, err := read(ctx, c.Env)
	t, ok := target(lines, a.Alias)
	return fun.Result{Value: ok && t == want, Out: "txt"}, err
}

func setTarget(ctx context.Context, c *fun.Call, a *hasTargetArgs) (fun.Result, error) {
	alias := a.Alias
	if alias == "" {
		return fun.Result{}, &fun.InvocationError{Msg: "alias can not be an empty string", Arg: "alias"}
	}
	want, err := wanted(a)
	if err != nil {
		return fun.Result{}, err
	}
	if name, _, ok := cutName(alias + ":"); !ok || name != alias || strings.ContainsAny(alias, "\r\n\x00") {
		return fun.Result{}, &fun.InvocationError{Msg: value.Repr(alias) + " cannot be the name of an alias", Arg: "alias"}
	}
	err = edit(ctx, c.Env, func(lines []Line) []Line {
		if t, _ := target(lines, alias); t == want {
			return lines
		}
		done := false
		lines = slices.DeleteFunc(lines, func(l Line) bool {
			again := l.Alias == alias && done
			done = done || l.Alias == alias
			return again
		})
		for i := range lines {
			if l := &lines[i]; l.Alias == alias {
				l.Target, l.raw = want, ""
				return lines
			}
		}
		return append(lines, Line{Alias: alias, Target: want})
	})
	return fun.Result{Value: err == nil, Out: "txt"}, err
}

func rmAlias(ctx context.Context, c *fun.Call, a *aliasArg) (fun.Result, error) {
	alias := a.Alias
	err := edit(ctx, c.Env, func(lines []Line) []Line {
		return slices.DeleteFunc(lines, func(l Line) bool { return alias != "" && l.Alias == alias })
	})
	return fun.Result{Value: err == nil, Out: "txt"}, err
}

// edit changes the file and has the mail system read it.
func edit(ctx context.Context, env *fun.Env, change func([]Line) []Line) error {
	p, err := path(ctx, env)
	if err != nil {
		return err
	}
	defer textfile.Lock(env, p)()
	text, err := textfile.Read(env.Host, p)
	if err != nil {
		return fun.Errorf("%v", err)
	}
	var b strings.Builder
	for _, l := range change(Parse(text)) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		if l.raw != "" {
			b.WriteString(l.raw)
		} else {
			b.WriteString(l.Alias + ": " + l.Target + l.Comment + "\n")
		}
	}
	if b.String() == text {
		return nil
	}
	if err := textfile.WriteMode(env.Host, p, b.String(), 0o644); err != nil {
		return fun.Errorf("%v", err)
	}
	if !tool.Has(env.Host, "newaliases") {
		return nil
	}
	out, err := tool.Run(ctx, env.Host, "newaliases")
	if err == nil && out.Status != 0 {
		env.Warn(fun.Warning{Text: "newaliases failed: " + out.Fault()})
	}
	return err
}
