package render

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/tee"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/source"
)

// Engines returns the names that template: of a file state may have, sorted.
func Engines() []string { return []string{"jinja", "mako", "pongo2", "py"} }

// binaryHead is how much of a file tells whether it is binary, in bytes.
// Salt: salt/utils/files.py is_binary.
const binaryHead = 2048

// Template renders in with a template engine, as file.managed does for
// template: jinja. The Salt text of a fault is what Salt's exception says.
func (e *Engine) Template(ctx context.Context, engine string, in Input) (string, error) {
	ctx = tee.Unseen(ctx)
	text, err := e.decode(&in)
	if err != nil {
		if saltjinja.IsBinary(in.Text[:min(len(in.Text), binaryHead)]) {
			return string(in.Text), nil // as it is, like Salt
		}
		return "", err
	}
	in.file = in.SLS == ""
	var d *datum
	switch engine {
	case "jinja":
		d, err = e.jinja(ctx, &in, text)
	case "pongo2":
		d, err = e.pongo(ctx, &in, text)
	case "mako":
		d, err = e.pythonStage(ctx, &in, stage{name: engine}, &datum{isText: true, text: text})
	case "py":
		return e.pyTemplate(ctx, &in, text)
	default:
		return "", noEngine(in.name(), engine)
	}
	if err != nil {
		return "", err
	}
	return d.text, nil
}

// CheckEngine returns the fault of a template engine that brine does not have; nil for
// one that it has. inSalt says that Salt has it.
func CheckEngine(file, engine string) (fault *source.Error, inSalt bool) {
	switch {
	case slices.Contains(Engines(), engine):
		return nil, true
	case foreignEngine(engine):
		return noEngine(file, engine), true
	}
	return noEngine(file, engine), false
}

func foreignEngine(name string) bool {
	return slices.Contains([]string{"wempy", "cheetah", "genshi"}, name)
}

// noEngine is the fault of a template engine that is not there.
func noEngine(file, engine string) *source.Error {
	err := fmt.Errorf("the template engine %q is not available%s", engine, source.DidYouMean(engine, Engines()))
	hint := "there are " + strings.Join(Engines(), ", ")
	if foreignEngine(engine) {
		err = fmt.Errorf("the template engine %q is not supported", engine)
		hint = "write the template for jinja, or as Python (py) with a function run() that returns the text"
	}
	return &source.Error{
		Pos: source.Pos{File: file}, Hint: hint, Err: err,
		Salt: fmt.Sprintf("Specified template format %s is not supported", engine),
	}
}
