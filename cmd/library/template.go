package library

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// CheckTemplate compiles the orchestration of a template, with the defaults of its form
// and one target for each name, and returns what is wrong with it. The warnings say
// why it cannot be compiled, for a value that nobody can make up, and which IDs of
// its steps no state has: with other values, one may.
func CheckTemplate(ctx context.Context, t *Templates, x *orchestration.Template) (faults source.Errors, warnings []string) {
	pillar, field := samples(x)
	if field != "" {
		return nil, []string{fmt.Sprintf("template %s was not compiled: field %s has no default, and no value that fits it is known", x.Name, field)}
	}
	targets := value.NewMap(2 * len(x.Targets))
	for _, tgt := range x.Targets {
		targets.Set(tgt.Name, value.Strings("target"))
		if tgt.AllowSSH {
			targets.Set(tgt.Name+"_ssh", value.Strings("target-ssh"))
		}
	}
	pillar.Set("targets", targets)
	o := t.S.EnvOptions("")
	cfg := *t.S.Cfg
	cfg.Opts = cfg.Opts.Copy()
	cfg.Opts.Set(assembly.TemplateRoots, value.Strings(x.Dir, x.States))
	o.Config, o.Git = &cfg, nil
	o.Fault = func(err error) { faults = append(faults, AsFaults(err)...) }
	env := assembly.NewEnv(ctx, o)
	res, err := env.Invoker.Invoke(ctx, fun.Exec, "state.show_low_sls", fun.Args{Pos: []value.Value{x.Name}, Kw: value.MapOf("pillar", pillar)})
	switch {
	case len(faults) > 0:
	case err != nil:
		faults = AsFaults(err)
	case res.Retcode != 0: // its return is a list of texts
		faults = AsFaults(errors.New(strings.Join(app.Texts(res.Value), "\n")))
	}
	for _, f := range faults {
		if f.Pos.File == "" {
			f.Pos.File = x.Dir
		} else if path := filepath.Join(x.States, f.Pos.File); !filepath.IsAbs(f.Pos.File) && exists(t.S.App.Host, path) {
			f.Pos.File = path
		}
	}
	if len(faults) == 0 {
		warnings = unknownIDs(x, res.Value)
	}
	return faults, warnings
}

// unknownIDs names the IDs of the steps of a template that low data does not have.
func unknownIDs(x *orchestration.Template, low value.Value) (warnings []string) {
	var ids []string
	if l, ok := low.(*value.List); ok {
		for _, c := range l.Items {
			if m, ok := c.(*value.Map); ok {
				ids = append(ids, m.Str("__id__"))
			}
		}
	}
	for _, step := range x.Steps {
		for _, id := range step.IDs {
			if !slices.Contains(ids, id) {
				err := fmt.Errorf("step %s: with the default values, no state has the ID %q%s", step.Name, id, source.DidYouMean(id, ids))
				warnings = append(warnings, (&source.Error{Pos: step.Pos, Err: err}).Error())
			}
		}
	}
	return warnings
}

func exists(h host.Host, path string) bool {
	_, err := h.Stat(path)
	return err == nil
}

// samples returns the pillar of a template without any answers. Values that need
// one are made up; field is one where that does not work.
func samples(x *orchestration.Template) (pillar *value.Map, field string) {
	answers := orchestration.NewAnswers()
	for _, t := range x.Targets {
		answers.Targets[t.Name] = "target"
	}
	made := map[string]bool{}
	for {
		pillar, faults := x.Form.Check(answers.Values)
		if len(faults) == 0 {
			return pillar, ""
		}
		for _, f := range faults {
			if !f.Missing || made[f.Path] || x.Form.Set(answers.Values, f.Path, sample(f.Field)) != nil {
				return nil, f.Path
			}
			made[f.Path] = true
		}
	}
}

// sample is a value that a field may have.
func sample(f *form.Field) string {
	if f.Placeholder != "" {
		return f.Placeholder
	}
	switch f.Type {
	case form.Number:
		return f.Least()
	case form.Boolean:
		return "false"
	case form.Date:
		return "2026-12-01"
	case form.Time:
		return "02:00"
	case form.DateTime:
		return "2026-12-01 02:00"
	case form.Color:
		return "#000000"
	case form.URL:
		return "https://example.com/"
	case form.Email:
		return "name@example.com"
	case form.Select:
		return value.Str(f.Values[0])
	case form.Group, form.Namespace:
		return "{}"
	case form.EditGroup:
		return "[]"
	default:
		return "text"
	}
}
