package library

import (
	"context"
	"errors"
	"path/filepath"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/py/source"
	"brine/internal/view/orchestration"
)

// Templates are the orchestration templates of a tree, and the answers that are
// kept for them.
type Templates struct {
	S     *session.Session
	Roots []string
	Store *orchestration.Store
}

// TemplatesOf returns the templates that a session sees.
func TemplatesOf(ctx context.Context, s *session.Session) (*Templates, error) {
	git := s.Git
	if git == nil {
		git = assembly.NewGit(s.EnvOptions(""))
	}
	roots, err := git.TemplateDirs(ctx, s.Cfg.Opts)
	if err != nil {
		return nil, err
	}
	dir := s.Cfg.Opts.Str("orchestration_data")
	if dir == "" {
		dir = filepath.Join(s.Cfg.CacheDir, "orchestration_data")
		if s.Cfg.Dir != "" {
			dir = filepath.Join(s.Cfg.Dir, "orchestration_data")
		}
	}
	return &Templates{S: s, Roots: roots, Store: &orchestration.Store{Files: s.App.Host, Dir: dir}}, nil
}

// Find returns a template by its name, and hints at similar ones.
func (t *Templates) Find(name string) (*orchestration.Template, error) {
	found, err := orchestration.Find(t.S.App.Host, t.Roots, name)
	if _, ok := errors.AsType[*orchestration.NotFoundError](err); ok {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "'brine template list' lists the templates, 'brine template new' makes one"}
	}
	return found, err
}

// AsFaults returns the faults of an error that may have no place.
func AsFaults(err error) source.Errors {
	if es := source.Faults(err); len(es) > 0 {
		return es
	}
	return source.Errors{&source.Error{Err: err}}
}
