package library

import (
	"context"
	"errors"
	"fmt"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/fleet/queue"
	"brine/internal/view/orchestration"
)

// TemplateWork is the work of a template with kept answers, NAME@LABEL, for a queue. It
// fails unless the answers are there and complete.
func TemplateWork(ctx context.Context, s *session.Session, text string) (*queue.Work, error) {
	name, label := queue.CutTemplate(text)
	if label == "" {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("template %s: say which kept answers it runs with, as %s@<label>", name, name), Hint: "'brine template run " + name + " --save-as <label>' keeps answers"}
	}
	if label == orchestration.Last {
		return nil, errors.New("the answers of the last run change with each run: keep some with 'brine template run --save-as <label>'")
	}
	ts, err := TemplatesOf(ctx, s)
	if err != nil {
		return nil, err
	}
	t, err := ts.Find(name)
	if err != nil {
		return nil, err
	}
	a, err := ts.Store.Load(t, label)
	if err != nil {
		return nil, err
	}
	_, faults, missing := t.Check(a)
	if len(faults) > 0 {
		return nil, fmt.Errorf("the answers %s of template %s: %w", label, name, errors.Join(faults...))
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the answers %s of template %s have nothing for %s, and nobody can be asked; passwords are not kept", label, name, missing[0].Path)
	}
	w := &queue.Work{Template: text}
	_, err = w.Encode()
	return w, err
}
