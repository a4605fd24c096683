package ui

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"brine/internal/py/value"
	"brine/internal/view/chain"
	"brine/internal/view/form"
)

// A formula with a form (form.yml) asks for the values of its pillar field by field. The page of
// a step asks for the SLS first, and has what that one takes then.

// formulaForm is what the page of a step of a formula has for the pillar.
type formulaForm struct {
	Of       string // the SLS that the page asks for the pillar of; "": none yet
	Form     *form.Form
	Fields   []fieldView
	Problems []string
	Note     string // why the form of the formula is not there
	values   *value.Map
}

// asksAgain reports whether the form of a step is to be shown again, with other fields, and not to
// be saved: the fields are not those of its SLS, or a button changes them.
func asksAgain(sent url.Values) bool {
	if sent.Get("action") != chain.Formula || strings.TrimSpace(sent.Get("pillar")) != "" {
		return false
	}
	return sent.Get("op") != "" || sent.Get("form") != strings.TrimSpace(sent.Get("sls"))
}

// stepAction is the name in the audit record of what the form of a step was sent for.
func stepAction(sent url.Values) string {
	if asksAgain(sent) {
		return "chain.form"
	}
	return "chain.step"
}

// formula finds what a step of a formula takes, which has a pillar now. sent is the form of the
// page; nil: the page is shown for the first time.
func (s *Server) formula(r *http.Request, f *stepForm, pillar *value.Map, sent url.Values) error {
	sls := f.Fields["sls"]
	if f.Action != chain.Formula || sls == "" {
		return nil
	}
	x := &formulaForm{Of: sls}
	f.Formula = x
	if f.Fields["pillar"] != "" && sent != nil { // it was written as YAML
		return nil
	}
	found, err := s.back(r.Context()).form(r.Context(), sls)
	if err != nil {
		x.Note = "The form of this formula cannot be read: " + sentence(err.Error())
		return nil
	}
	if found == nil {
		return nil
	}
	kept, wrong := found.Check(pillar)
	if i := slices.IndexFunc(wrong, func(w form.ValueError) bool { return !w.Missing }); i >= 0 { // the form would lose it
		x.Note = "The values of this step are shown as they are, since the form of the formula does not take them: " + wrong[i].Error() + "."
		return nil
	}
	x.Form = found
	if sent == nil || sent.Get("form") != sls {
		x.Fields, x.Problems = viewFields(found, pillar, kept, nil, nil)
		return nil
	}
	op, path, _ := strings.Cut(sent.Get("op"), " ")
	in := &formReader{form: sent}
	switch op {
	case "add":
		in.add = path
	case "remove":
		in.remove = path
	}
	answers := in.fields(found.Fields, "")
	keepSecrets(found.Fields, answers, pillar)
	filled, wrong := found.Check(answers)
	var faults []error
	var missing []string
	for _, w := range wrong {
		switch {
		case !w.Missing:
			faults = append(faults, w)
		case op == "":
			missing = append(missing, w.Path)
		}
	}
	x.Fields, x.Problems = viewFields(found, answers, filled, faults, missing)
	x.Problems = slices.Concat(in.faults, x.Problems)
	if op == "" && len(faults)+len(missing)+len(in.faults) > 0 {
		return errors.New("the values are not all right: see below")
	}
	x.values = filled
	return nil
}

// keepSecrets puts the secrets of a pillar, which pages do not have, among answers without them.
// Those of a list stay with its items as long as there are as many of them.
func keepSecrets(fields []*form.Field, answers, pillar *value.Map) {
	for _, f := range fields {
		was, now := pillar.At(f.Name), answers.At(f.Name)
		if isSecret(f) {
			if now == nil && was != nil {
				answers.Set(f.Name, was)
			}
			continue
		}
		keepSecretsIn(f, now, was)
	}
}

// keepSecretsIn is keepSecrets of a field that holds others.
func keepSecretsIn(f *form.Field, now, was value.Value) {
	switch now := now.(type) {
	case *value.Map:
		was, _ := was.(*value.Map)
		if f.Type != form.EditGroup {
			keepSecrets(f.Fields, now, was)
			return
		}
		for k, v := range now.All() {
			keepSecretsIn(f.Item, v, was.At(k))
		}
	case *value.List:
		was, _ := was.(*value.List)
		for i, v := range now.Items {
			if was.Len() == now.Len() && f.Item != nil {
				keepSecretsIn(f.Item, v, was.Items[i])
			}
		}
	}
}
