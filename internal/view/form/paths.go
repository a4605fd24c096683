package form

import (
	"fmt"
	"strconv"

	"brine/internal/py/source"
)

// A level is a field with the one that it is in: nil for the form itself.
type level struct {
	above *level
	field *Field
}

// UnknownFields returns the faults of conditions that name a field which the form
// does not have: its value is always absent.
func (f *Form) UnknownFields() source.Errors {
	top := &level{field: &Field{Type: Namespace, Fields: f.Fields}}
	return unknownFields(top, top)
}

func unknownFields(form, at *level) (faults source.Errors) {
	if at.field.Type == EditGroup {
		return unknownFields(form, &level{at, at.field.Item})
	}
	for _, f := range at.field.Fields {
		here := &level{at, f}
		for _, c := range []*condition{f.visible, f.disabled, f.require} {
			for _, p := range c.paths() {
				if err := p.missing(form, here); err != nil {
					faults = append(faults, &source.Error{Pos: c.pos, Err: fmt.Errorf("field %s: %s %q: %w", f.Name, c.key, c.text, err)})
				}
			}
		}
		if f.Holds() {
			faults = append(faults, unknownFields(form, here)...)
		}
	}
	return faults
}

// paths returns the values that a condition looks at; nil has none.
func (c *condition) paths() []path {
	if c == nil {
		return nil
	}
	return pathsOf(c.root)
}

func pathsOf(x expr) (out []path) {
	switch x := x.(type) {
	case path:
		return []path{x}
	case not:
		return pathsOf(x.x)
	case binary:
		return append(pathsOf(x.a), pathsOf(x.b)...)
	case list:
		for _, y := range x {
			out = append(out, pathsOf(y)...)
		}
	}
	return out
}

// missing returns an error if a path of a condition of the field here leads to no
// field.
func (p path) missing(form, here *level) error {
	at := form
	if !p.absolute {
		at = here
		for range p.up {
			if at = at.above; at == nil {
				return fmt.Errorf("it is %d levels above the field, and the form has fewer", p.up)
			}
		}
	}
	field, within := at.field, "the form"
	for _, k := range p.keys {
		if field.Name != "" {
			within = field.Name
		}
		next := (*Field)(nil)
		switch {
		case field.Type == EditGroup:
			if _, err := strconv.Atoi(k); err == nil || field.Key != nil {
				next = field.Item
			}
		case field.Holds():
			next, _ = find(field.Fields, k)
		}
		if next == nil {
			return fmt.Errorf("there is no field %q in %s%s", k, within, source.DidYouMean(k, names(field.Fields)))
		}
		field = next
	}
	return nil
}
