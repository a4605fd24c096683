package template

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/sdb"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// given reads the answers of the command line.
func (r *templateRun) given(ctx context.Context, c *cobra.Command) (err error) {
	r.answers = orchestration.NewAnswers()
	from := r.opts.answers
	if from == "" && r.opts.Resume != "" {
		from = orchestration.Last // a record has no pillar, only its hash
	}
	encrypted := false
	switch {
	case from == "":
	case isLabel(from):
		r.answers, err = r.Store.Load(r.t, from)
	default:
		r.answers, encrypted, err = orchestration.Open(ctx, r.app.Host, r.t, from)
	}
	if err != nil {
		return fmt.Errorf("--answers: %w", err)
	}
	if encrypted {
		r.unkept = orchestration.Leaves(r.answers.Values)
	}
	if err := r.data(from); err != nil {
		return err
	}
	if err := r.fetch(ctx, r.answers.Values, nil); err != nil {
		return fmt.Errorf("--answers %s: %w", from, err)
	}
	for _, x := range r.opts.targets {
		name, expr, ok := strings.Cut(x, "=")
		if !ok {
			return app.Usagef(c, "--target %s: write <name>=<target expression>", x)
		}
		if _, err := r.t.Find(name); err != nil {
			return app.Usagef(c, "--target: %s", err)
		}
		r.answers.Targets[name] = expr
	}
	for _, x := range r.opts.sets {
		if err := r.set(ctx, c, x); err != nil {
			return err
		}
	}
	for _, x := range r.opts.envs {
		path, name, ok := strings.Cut(x, "=")
		if !ok {
			return app.Usagef(c, "--set-env %s: write <field>=<variable>", x)
		}
		text := r.app.Getenv(name)
		if text == "" {
			return app.Usagef(c, "--set-env %s: the environment variable %s is empty", path, name)
		}
		if err := r.t.Form.Set(r.answers.Values, path, text); err != nil {
			return app.Usagef(c, "--set-env %s", err)
		}
	}
	return nil
}

// data sees to it that answers of somebody else are nothing but data: those of a user of
// brine ui, those of a file that others may write, and those that are kept, which may be
// of either. Afterwards, values of the command line can be added, which are one's own.
func (r *templateRun) data(from string) error {
	a := r.answers
	var faults []form.ValueError
	switch a.Foreign = a.Foreign || r.behalf(); {
	case a.Foreign:
		faults = r.t.Form.Foreign(a.Values)
	case isLabel(from):
		faults = r.t.Form.Kept(a.Values)
	}
	if len(faults) == 0 {
		a.Foreign = r.behalf()
		return nil
	}
	var es source.Errors
	for _, e := range faults {
		es = append(es, &source.Error{Err: fmt.Errorf("--answers %s: %w", from, e), Hint: "the answers are kept ones, or of somebody else: nothing in them is looked up; use --set, or a file of your own"})
	}
	return es
}

// behalf reports whether the run is for a user of brine ui.
func (r *templateRun) behalf() bool { return r.app.Getenv(app.OnBehalf) != "" }

// set reads an answer of --set.
func (r *templateRun) set(ctx context.Context, c *cobra.Command, x string) error {
	path, text, ok := strings.Cut(x, "=")
	switch {
	case !ok:
		return app.Usagef(c, "--set %s: write <field>=<value>", x)
	case sdb.Is(text) && !r.behalf():
		if err := r.t.Form.Set(r.answers.Values, path, ""); err != nil {
			return app.Usagef(c, "--set %s", err)
		}
		v, err := r.fetched(ctx, text)
		if err != nil {
			return fmt.Errorf("--set %s: %w", path, err)
		}
		r.unkept = append(r.unkept, orchestration.PathOf(path))
		if r.t.Form.Set(r.answers.Values, path, value.Str(v)) != nil { // the error may quote the value
			return fmt.Errorf("--set %s: the value of %s is not YAML or JSON, as a field that holds others needs it", path, text)
		}
		return nil
	case r.t.Form.IsPassword(path):
		return app.Usagef(c, "--set %s: a password on the command line can be read by everybody; use --set-env, an sdb:// URI, --answers or the prompt", path)
	}
	if err := r.t.Form.Set(r.answers.Values, path, text); err != nil {
		return app.Usagef(c, "--set %s", err)
	}
	return nil
}

// fetched returns the value of an sdb:// URI.
func (r *templateRun) fetched(ctx context.Context, uri string) (value.Value, error) {
	v, err := sdb.Get(ctx, r.env, uri, true)
	if err == nil && v == nil {
		err = fmt.Errorf("%s has no value", uri)
	}
	return v, err
}

// fetch puts the values of sdb:// URIs into answers of a file. They are not kept.
func (r *templateRun) fetch(ctx context.Context, v value.Value, path orchestration.Path) error {
	one := func(key, x value.Value, set func(value.Value)) error {
		at := path.To(key)
		if !sdb.Is(x) || r.answers.Foreign {
			return r.fetch(ctx, x, at)
		}
		got, err := r.fetched(ctx, value.Str(x))
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		r.unkept = append(r.unkept, at)
		set(got)
		return nil
	}
	switch v := v.(type) {
	case *value.Map:
		for _, k := range v.Keys() {
			if err := one(k, v.At(k), func(x value.Value) { v.Set(k, x) }); err != nil {
				return err
			}
		}
	case *value.List:
		for i, x := range v.Items {
			if err := one(int64(i), x, func(x value.Value) { v.Items[i] = x }); err != nil {
				return err
			}
		}
	}
	return nil
}
