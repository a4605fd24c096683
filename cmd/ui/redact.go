package ui

import (
	"context"
	"errors"
	"fmt"

	"brine/cmd/library"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/view/orchestration"
	"brine/internal/view/ui"
)

// What the pages show is without the secrets that records leave out: those whose names
// say so, and the values that the session has got to know.

// shown is text of people, or about what they wrote, as pages have it.
func shown(known *redact.Set, text string) string {
	if known == nil {
		return text
	}
	return value.Str(redact.Hide(known.Source(text)))
}

// A redactedError is an error whose text has no secrets.
type redactedError struct {
	text string
	err  error
}

// Error is the text without secrets.
func (e *redactedError) Error() string { return e.text }

// Unwrap returns the error, whose text may have secrets.
func (e *redactedError) Unwrap() error { return e.err }

// redacted returns an error without the secrets in its text.
func redacted(known *redact.Set, err error) error {
	if err == nil {
		return nil
	}
	if text := shown(known, err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// shownSLS compiles an SLS for a page, and returns the beginning of its file.
func shownSLS(ctx context.Context, s *session.Session, env *fun.Env, sls string) (low *value.List, text string, err error) {
	text = shown(s.Secrets, firstOf(ctx, env, sls))
	if low, err = library.Compiled(ctx, env, sls, nil); err != nil {
		return nil, text, err
	}
	out := value.NewList()
	for _, x := range low.Items {
		chunk, _ := x.(*value.Map)
		out.Append(s.Mask(shownChunk(s, chunk)))
	}
	return out, s.Secrets.Text(text), nil
}

// shownChunk is a chunk of low data in which the arguments of functions are as the
// records of their jobs have them.
func shownChunk(s *session.Session, chunk *value.Map) *value.Map {
	if s.Secrets == nil || chunk.Str("state") != "salt" || !chunk.Has("arg") && !chunk.Has("kwarg") {
		return chunk
	}
	call := fun.Args{Kw: value.ToMap(chunk.At("kwarg"))}
	switch v := chunk.At("arg").(type) {
	case nil:
	case *value.List:
		call.Pos = v.Items
	default:
		call.Pos = []value.Value{v}
	}
	out := chunk.Copy()
	pos, kw := value.NewList(), value.NewMap(0)
	for _, v := range jobs.ArgsOf(s.Table, fun.Job{Fun: chunk.Str("name"), Args: call}).Items {
		if m, ok := v.(*value.Map); ok && m.At("__kwarg__") == true {
			kw = m.Copy()
			kw.Delete("__kwarg__")
			continue
		}
		pos.Append(v)
	}
	if chunk.Has("arg") {
		out.Set("arg", pos)
	}
	if chunk.Has("kwarg") {
		out.Set("kwarg", kw)
	}
	return out
}

// secretPaths are the paths of answers that are secret by their names.
func secretPaths(s *session.Session, values *value.Map) []orchestration.Path {
	known := s.Secrets
	if known == nil {
		known = redact.NewSet() // no page has them, whatever records do
	}
	var out []orchestration.Path
	for _, p := range known.Paths(values) {
		out = append(out, orchestration.PathOf(p))
	}
	return out
}

// knowPillar adds the secrets of the controller's pillar to a set.
func knowPillar(ctx context.Context, s *session.Session, known *redact.Set) error {
	env := s.Env(ctx, s.JIDs.Next(s.App.Host.Now()))
	items, err := env.Invoker.Invoke(ctx, fun.Exec, "pillar.items", fun.Args{Kw: value.NewMap(0)})
	if err != nil {
		return fmt.Errorf("the pillar of the controller cannot be rendered: %w", err)
	}
	pillar, ok := items.Value.(value.Mapping)
	if !ok {
		return errors.New("the pillar of the controller cannot be rendered")
	}
	if _, broken := pillar.Get("_errors"); broken {
		return errors.New("the pillar of the controller cannot be rendered: 'brine call pillar.items' says why")
	}
	known.AddPillar(items.Value)
	return nil
}

// shownDetails are the details of an action as its record has them, whatever other
// records have: without secrets. Those of the pillar are looked for only in texts that
// are defined: whoever types a guess must not learn from the record that it is right.
func shownDetails(ctx context.Context, s *session.Session, x ui.Action) string {
	known := redact.NewSet()
	if x.Defined {
		if err := knowPillar(ctx, s, known); err != nil {
			return "(not recorded, since it is not known which secrets it has: " + shown(known, err.Error()) + ")"
		}
	}
	return shown(known, x.Details)
}

// Redact returns texts without secrets: those whose names say so, and those of the
// controller's pillar; see [ui.Backend].
func (b *backend) Redact(ctx context.Context, texts []string) ([]string, error) {
	out := make([]string, len(texts))
	err := b.session(ctx, func(s *session.Session) error {
		if s.Secrets == nil {
			copy(out, texts)
			return nil
		}
		if err := knowPillar(ctx, s, s.Secrets); err != nil {
			return err
		}
		for i, text := range texts {
			out[i] = shown(s.Secrets, text)
		}
		return nil
	})
	return out, err
}
