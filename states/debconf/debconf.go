// Package debconf is Salt's state module "debconf": answers to the questions that
// packages of Debian ask.
package debconf

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "debconf".
func States() fun.Module {
	return fun.Module{Name: "debconf", Kind: fun.State, Doc: "Manage the answers to questions of packages.", Specs: specs, Avail: fun.Needs("debconf", "")}
}

// hidden is what a report shows of a password.
const hidden = "(password hidden)"

// An answer is what the state wants.
type answer struct{ question, kind, text string }

// shown is the answer as a report has it.
func (a *answer) shown() string {
	if a.kind == "password" {
		return hidden
	}
	return a.text
}

// readAnswer reads an entry of the argument data.
func readAnswer(question string, v value.Value) (answer, error) {
	m, ok := v.(*value.Map)
	if !ok {
		return answer{}, &fun.InvocationError{Msg: "data: the answer to " + question + " must be a mapping with type and value", Arg: "data"}
	}
	for _, key := range []string{"type", "value"} {
		if !m.Has(key) {
			return answer{}, &fun.InvocationError{Msg: "data: the answer to " + question + " has no " + key, Arg: "data"}
		}
	}
	a := answer{question: question, kind: m.Str("type")}
	switch val := m.At("value").(type) {
	case *value.List: // of a multiselect
		words := make([]string, len(val.Items))
		for i, x := range val.Items {
			words[i] = value.Str(x)
		}
		a.text = strings.Join(words, ", ")
	default:
		a.text = value.Str(val)
		if a.kind == "boolean" {
			a.text = "false"
			if value.Truth(val) && !strings.EqualFold(value.Str(val), "false") {
				a.text = "true"
			}
		}
	}
	return a, nil
}

// has reports whether an answer is among those of debconf.show.
func has(current value.Value, a *answer) bool {
	list, _ := current.(*value.List)
	if list == nil {
		return false
	}
	want := value.Strings(a.question, a.kind, a.text)
	for _, x := range list.Items {
		if value.Equal(x, want) {
			return true
		}
	}
	return false
}

type setArgs struct {
	_    string     `arg:"name,required" doc:"name of the package"`
	Data *value.Map `arg:"data,required,secret" doc:"mapping of a question to a mapping with its type and the value; a multiselect may have a list"`
	_    fun.Kwargs
}

// set answers questions of a package. Salt: salt/states/debconfmod.py set.
func set(ctx context.Context, c *fun.Call, args *setArgs) fun.Ret {
	data := args.Data
	asked := make([]answer, 0, data.Len())
	for k, v := range data.All() {
		a, err := readAnswer(value.Str(k), v)
		if err != nil {
			return fun.Raise(err)
		}
		asked = append(asked, a)
	}
	current, err := c.Env.Exec(ctx, "debconf.show", nil, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	var same strings.Builder
	var failed error
	changes := value.NewMap(0)
	for i := range asked {
		a := &asked[i]
		switch {
		case has(current, a):
			if same.Len() == 0 {
				same.WriteString("Unchanged answers: ")
			}
			same.WriteString(a.question + " ")
		case c.Test:
			changes.Set(a.question, "New value: "+a.shown())
		default:
			done, err := c.Env.Exec(ctx, "debconf.set", nil, c.Name, a.question, a.kind, a.text)
			if err == nil && value.Truth(done) {
				changes.Set(a.question, a.shown())
				continue
			}
			if failed == nil && err != nil {
				failed = err
			}
			changes.Set(a.question, "Failed to set!")
		}
	}
	switch {
	case failed != nil:
		return fun.Ret{Comment: "Some settings failed to be applied. " + failed.Error(), Changes: changes}
	case changes.Len() == 0:
		return fun.Ret{Result: fun.OK, Comment: "All specified answers are already set"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: same.String(), Changes: changes}
	}
	return fun.Ret{Result: fun.OK, Comment: same.String(), Changes: changes}
}

type setFileArgs struct {
	_        string      `arg:"name,required" doc:"any text"`
	Source   string      `arg:"source,required" doc:"path or URL of the file"`
	Template string      `arg:"template" doc:"template engine that renders the file, such as jinja; default: none"`
	Context  value.Value `arg:"context" doc:"mapping of variables of the template"`
	Defaults value.Value `arg:"defaults" doc:"mapping of variables that context does not set"`
	Rest     fun.Kwargs
}

// setFile sets the answers of a file. Salt: salt/states/debconfmod.py set_file.
func setFile(ctx context.Context, c *fun.Call, a *setFileArgs) fun.Ret {
	kw := a.Rest.Copy()
	if !kw.Has("saltenv") {
		kw.Set("saltenv", c.Env.SaltEnv)
	}
	name := "debconf.set_file"
	kw.Set("path", a.Source)
	vars := value.NewMap(2)
	for _, arg := range [...]struct {
		name, title string
		given       value.Value
	}{{"context", "Context", a.Context}, {"defaults", "Defaults", a.Defaults}} {
		v := arg.given
		if v == nil {
			v = value.NewMap(0)
		}
		if _, ok := v.(*value.Map); !ok {
			return fun.Fail("%s must be formed as a dict", arg.title)
		}
		vars.Set(arg.name, v)
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Debconf selections would have been set."}
	}
	if a.Template != "" {
		name = "debconf.set_template"
		kw.Set("template", a.Template)
		kw.Update(vars)
	}
	done, err := c.Env.Exec(ctx, name, kw)
	switch {
	case err != nil:
		return fun.Raise(err)
	case !value.Truth(done):
		return fun.Fail("Unable to set debconf selections from file.")
	}
	return fun.Ret{Result: fun.OK, Comment: "Debconf selections were set."}
}
