// Package inimanage is Salt's state module "ini_manage", which serves as "ini".
package inimanage

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/inimanage"
)

// States returns the rows of the state module "ini".
func States() fun.Module {
	return fun.Module{Name: "ini", Kind: fun.State, Doc: "Manage INI files.", Specs: specs}
}

// A work is what a state says and does.
type work struct {
	c       *fun.Call
	f       *inimanage.File
	comment string
	changes *value.Map
	due     bool
}

// do reads the file, lets act do its work on it and writes it, unless in test mode.
func do(c *fun.Call, a *sepArg, act func(w *work) error) fun.Ret {
	w := &work{c: c, changes: value.NewMap(2)}
	err := inimanage.Edit(c.Env, c.Name, a.Separator, func(f *inimanage.File) (bool, error) {
		w.f = f
		err := act(w)
		return !c.Test && w.due, err
	})
	switch {
	case err != nil:
		return fun.Raise(err)
	case c.Test:
		if w.comment == "" {
			w.comment = "No changes detected."
		}
		if w.due {
			return fun.Ret{Result: fun.WouldChange, Comment: w.comment}
		}
		return fun.Ret{Result: fun.OK, Comment: w.comment}
	case !w.due:
		return fun.Ret{Result: fun.OK, Comment: "No anomaly detected"}
	}
	return fun.Ret{Result: fun.OK, Comment: "Changes take effect", Changes: w.changes}
}

// say adds a line to the comment of a dry run.
func (w *work) say(due bool, words ...string) {
	for _, s := range words {
		w.comment += s
	}
	w.comment += ".\n"
	w.due = w.due || due
}

// in returns how comments name a section.
func in(sect string) string {
	if sect == "" {
		return ""
	}
	return " in section " + sect
}

type optionsPresentArgs struct {
	nameArg
	Sections *value.Map `arg:"sections" doc:"options by section; an option outside of a section has its value"`
	sepArg
	Strict bool `arg:"strict" default:"False" doc:"remove other options from these sections"`
}

// optionsPresent sets options. Salt: salt/states/ini_manage.py options_present.
func optionsPresent(_ context.Context, c *fun.Call, a *optionsPresentArgs) fun.Ret {
	sections := a.Sections
	return do(c, &a.sepArg, func(w *work) error {
		if sections == nil {
			return nil
		}
		top := value.NewMap(1)
		for k, v := range sections.All() {
			if _, ok := v.(value.Mapping); !ok {
				top.Set(k, v)
			}
		}
		if err := w.options("", top); err != nil {
			return err
		}
		if a.Strict {
			w.strict("", top, "Removed key ")
		}
		for k, v := range sections.All() {
			body, ok := v.(value.Mapping)
			if !ok {
				continue
			}
			m := value.NewMap(body.Len())
			m.Update(body)
			if a.Strict {
				w.strict(value.Str(k), m, "Deleted key ")
			}
			if err := w.options(value.Str(k), m); err != nil {
				return err
			}
		}
		return nil
	})
}

// strict removes the options of a section that are not in body.
func (w *work) strict(sect string, body *value.Map, verb string) {
	if sect != "" && !w.f.Has(sect) {
		return
	}
	names := map[string]bool{}
	for k := range body.All() {
		names[value.Str(k)] = true
	}
	gone := value.NewMap(2)
	for k, v := range w.f.Section(sect).All() {
		name := value.Str(k)
		if names[name] {
			continue
		}
		w.say(true, verb, name, in(sect))
		gone.Set(name, value.MapOf("before", v, "after", nil))
		w.f.Remove(sect, name)
	}
	w.note(sect, gone)
}

// note adds to the changes of a section.
func (w *work) note(sect string, m *value.Map) {
	if m.Len() == 0 {
		return
	}
	w.due = true
	if sect == "" {
		w.changes.Update(m)
		return
	}
	if have := w.changes.Map(sect); have != nil {
		have.Update(m)
		return
	}
	w.changes.Set(sect, m)
}

// options sets the options of a section.
func (w *work) options(sect string, body *value.Map) error {
	for k, v := range body.All() {
		verb := "Changed key "
		have, ok := w.f.Get(sect, value.Str(k))
		same := ok && (sect == "" || w.f.Has(sect)) && have == value.Str(v)
		if same {
			verb = "Unchanged key "
		}
		w.say(!same, verb, value.Str(k), in(sect))
	}
	if sect == "" {
		changes, err := inimanage.Update(w.f, body)
		if err == nil {
			w.note("", changes)
		}
		return err
	}
	changes, err := inimanage.Update(w.f, value.MapOf(sect, body))
	if err != nil {
		return err
	}
	if m := changes.Map(sect); m != nil {
		w.note(sect, m)
	}
	return nil
}

type optionsAbsentArgs struct {
	nameArg
	Sections *value.Map `arg:"sections" doc:"lists of options by section"`
	sepArg
}

// optionsAbsent removes options. Salt: salt/states/ini_manage.py options_absent.
// Difference: a single option may be written as text; without a section of that
// name it is an option above the first section.
func optionsAbsent(_ context.Context, c *fun.Call, a *optionsAbsentArgs) fun.Ret {
	sections := a.Sections
	return do(c, &a.sepArg, func(w *work) error {
		if sections == nil {
			return nil
		}
		for k, v := range sections.All() {
			sect := value.Str(k)
			l, ok := v.(*value.List)
			if !ok {
				w.one(sect, v)
				continue
			}
			gone := value.NewMap(1)
			for _, o := range l.Items {
				old, found := w.f.Remove(sect, value.Str(o))
				if !found {
					w.say(false, "Key ", value.Str(o), in(sect), " does not exist")
					continue
				}
				w.say(true, "Deleted key ", value.Str(o), in(sect))
				gone.Set(value.Str(o), old)
			}
			w.note(sect, gone)
		}
		return nil
	})
}

// one removes the one option that is written for a section.
func (w *work) one(sect string, v value.Value) {
	name, from := value.Str(v), sect
	if v == nil || !w.f.Has(sect) {
		name, from = sect, ""
	}
	old, found := w.f.Remove(from, name)
	if !found {
		w.say(false, "Key ", name, in(from), " does not exist")
		return
	}
	w.say(true, "Deleted key ", name, in(from))
	w.changes.Set(sect, old)
}

// names returns the argument sections, a list or the keys of a mapping.
func names(a *sectionsPresentArgs) []string {
	if m := fun.MapOf(a.Sections); m != nil {
		var ss []string
		for k := range m.All() {
			ss = append(ss, value.Str(k))
		}
		return ss
	}
	return fun.StringsOf(a.Sections)
}

// sectionsPresentArgs are the arguments of sectionsPresent and sectionsAbsent.
type sectionsPresentArgs struct {
	nameArg
	Sections value.Value `arg:"sections,list|dict" doc:"sections, as a list or as the keys of a mapping"`
	sepArg
}

// sectionsPresent makes sections. Salt: salt/states/ini_manage.py sections_present.
func sectionsPresent(_ context.Context, c *fun.Call, a *sectionsPresentArgs) fun.Ret {
	return do(c, &a.sepArg, func(w *work) error {
		for _, n := range names(a) {
			if w.f.Has(n) {
				w.say(false, "Section unchanged ", n)
				continue
			}
			w.say(true, "Created new section ", n)
			changes, err := inimanage.Update(w.f, value.MapOf(n, value.NewMap(0)))
			if err != nil {
				return err
			}
			w.changes.Update(changes)
		}
		return nil
	})
}

// sectionsAbsent removes sections. Salt: salt/states/ini_manage.py sections_absent.
func sectionsAbsent(_ context.Context, c *fun.Call, a *sectionsPresentArgs) fun.Ret {
	return do(c, &a.sepArg, func(w *work) error {
		for _, n := range names(a) {
			old := w.f.Section(n)
			if !w.f.RemoveSection(n) {
				w.say(false, "Section ", n, " does not exist")
				continue
			}
			w.say(true, "Deleted section ", n)
			w.changes.Set(n, old)
		}
		return nil
	})
}
