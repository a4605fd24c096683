//go:build !slim

package pillar

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"brine/internal/core/python"
	"brine/internal/py/value"
)

//go:embed makostack.py
var makoText string

// extMakostack is the external pillar stack with templates of mako, by its Python package.
//
// Salt: salt/pillar/makostack.py. Difference: a template that fails is an error; Salt leaves it
// out.
func (j *job) extMakostack(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	m, err := python.OpenText(ctx, j.env, "renderers", "makostack", makoText)
	if err != nil {
		return nil, err
	}
	return j.stackOf(pillar, a, "makostack", func(cfg, namespace string, stack *value.Map) (*value.Map, error) {
		dir, name := filepath.Split(cfg)
		dir = filepath.Clean(dir)
		template := func(name string) (value.Value, error) {
			vars := value.MapOf("stack", stack, "pillar", pillar, "minion_id", j.env.ID)
			v, err := m.Render(ctx, j.env.SubjectGrains(), name, false, value.NewList(), value.MapOf("tmplpath", dir, "context", vars))
			if raised, ok := python.Raised(err); ok {
				err = errors.New(raised.Msg)
			}
			if err != nil {
				err = fmt.Errorf("render %s: %w", filepath.Join(dir, name), err)
			}
			return v, err
		}
		listed, err := template(name)
		if err != nil {
			return nil, err
		}
		for _, item := range stackItems(value.Str(listed)) {
			if item = strings.TrimRight(item, "\r"); strings.TrimSpace(item) == "" {
				continue
			}
			text, err := template(item)
			if err != nil {
				return nil, err
			}
			if text == nil {
				continue
			}
			if stack, err = j.stackFile(filepath.Join(dir, item), value.Str(text), namespace, stack); err != nil {
				return nil, err
			}
		}
		return stack, nil
	})
}
