// Package inimanage is Salt's execution module "ini_manage", which serves as "ini":
// options and sections of INI files.
package inimanage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// Module returns the execution module "ini".
func Module() fun.Module {
	return fun.Module{Name: "ini", Kind: fun.Exec, Doc: "Manage INI files.", Specs: specs}
}

// Read returns a file; one that does not exist is empty.
func Read(env *fun.Env, name, sep string) (*File, error) {
	text, err := textfile.Read(env.Host, name)
	if err != nil {
		return nil, fun.Errorf("Unable to open file '%s'. Exception: %s", name, host.OSError(err))
	}
	return Parse(text, sep), nil
}

// Edit lets change change a file and writes it, if change says so.
func Edit(env *fun.Env, name, sep string, change func(*File) (bool, error)) error {
	defer textfile.Lock(env, name)()
	f, err := Read(env, name, sep)
	if err != nil {
		return err
	}
	if due, err := change(f); err != nil || !due {
		return err
	}
	if _, err = env.Host.Stat(filepath.Dir(name)); err == nil {
		err = textfile.Write(env.Host, name, f.String())
	} else if errors.Is(err, fs.ErrNotExist) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return fun.Errorf("Unable to write file '%s'. Exception: %s", name, host.OSError(err))
	}
	return nil
}

// checkName refuses names that would not be read back.
func checkName(what, name string) error {
	if name == "" || strings.ContainsAny(name, "\r\n\x00") || what == "section" && strings.ContainsAny(name, "[]") || what == "option" && strings.ContainsAny(name[:1], "#;[ \t") {
		return fun.Errorf("invalid name of a %s: %s", what, value.Repr(name))
	}
	return nil
}

// before is a change as Salt reports it.
func before(old, now value.Value) *value.Map { return value.MapOf("before", old, "after", now) }

// put gives an option a value and notes in changes what it was.
func put(f *File, sect, name string, val value.Value, changes *value.Map) error {
	if err := checkName("option", name); err != nil {
		return err
	}
	if _, ok := val.(value.Mapping); ok {
		return fun.Errorf("the option %s is a mapping; sections have no sections of their own", name)
	}
	text := value.Str(val)
	old, had := f.Get(sect, name)
	if !f.Set(sect, name, text) {
		return nil
	}
	if had {
		changes.Set(name, before(old, text))
	} else {
		changes.Set(name, before(nil, text))
	}
	return nil
}

// Update sets options: values, or mappings of them for sections. It returns what
// changed. Salt: salt/modules/ini_manage.py set_option.
func Update(f *File, sections *value.Map) (*value.Map, error) {
	changes := value.NewMap(2)
	for k, v := range sections.All() {
		name := value.Str(k)
		body, ok := v.(value.Mapping)
		if !ok {
			if err := put(f, "", name, v, changes); err != nil {
				return nil, err
			}
			continue
		}
		if err := checkName("section", name); err != nil {
			return nil, err
		}
		fresh := !f.Has(name)
		if fresh {
			f.Add(name)
		}
		sub := value.NewMap(2)
		for _, o := range body.Keys() {
			val, _ := body.Get(o)
			if err := put(f, name, value.Str(o), val, sub); err != nil {
				return nil, err
			}
		}
		switch {
		case fresh:
			changes.Set(name, before(nil, f.Section(name)))
		case sub.Len() > 0:
			changes.Set(name, sub)
		}
	}
	return changes, nil
}

type setOptionArgs struct {
	fileArg
	Sections *value.Map `arg:"sections" doc:"options by section; an option outside of a section has its value"`
	sepArg
}

func setOption(_ context.Context, c *fun.Call, a *setOptionArgs) (fun.Result, error) {
	sections := a.Sections
	if sections == nil {
		sections = value.NewMap(0)
	}
	var changes *value.Map
	err := Edit(c.Env, a.FileName, a.Separator, func(f *File) (due bool, err error) {
		changes, err = Update(f, sections)
		return err == nil && changes.Len() > 0, err
	})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(changes)
}

// getOptionArgs are the arguments of getOption and removeOption.
type getOptionArgs struct {
	fileArg
	sectionArg
	optionArg
	sepArg
}

func getOption(_ context.Context, c *fun.Call, a *getOptionArgs) (fun.Result, error) {
	f, err := Read(c.Env, a.FileName, a.Separator)
	if err != nil {
		return fun.Result{}, err
	}
	if v, ok := f.Get(a.Section, a.Option); ok {
		return fun.Value(v)
	}
	return fun.Value(nil)
}

func removeOption(_ context.Context, c *fun.Call, a *getOptionArgs) (fun.Result, error) {
	var val value.Value
	err := Edit(c.Env, a.FileName, a.Separator, func(f *File) (bool, error) {
		sect := a.Section
		if !f.Has(sect) {
			sect = ""
		}
		old, found := f.Remove(sect, a.Option)
		if found {
			val = old
		}
		return found, nil
	})
	return fun.Result{Value: val}, err
}

// getSectionArgs are the arguments of getSection and removeSection.
type getSectionArgs struct {
	fileArg
	sectionArg
	sepArg
}

func getSection(_ context.Context, c *fun.Call, a *getSectionArgs) (fun.Result, error) {
	f, err := Read(c.Env, a.FileName, a.Separator)
	if err != nil {
		return fun.Result{}, err
	}
	if a.Section == "" {
		return fun.Value(value.NewMap(0))
	}
	return fun.Value(f.Section(a.Section))
}

func removeSection(_ context.Context, c *fun.Call, a *getSectionArgs) (fun.Result, error) {
	var val value.Value
	err := Edit(c.Env, a.FileName, a.Separator, func(f *File) (bool, error) {
		old := f.Section(a.Section)
		if !f.RemoveSection(a.Section) {
			return false, nil
		}
		val = old
		return true, nil
	})
	return fun.Result{Value: val}, err
}

type getINIArgs struct {
	fileArg
	sepArg
}

func getINI(_ context.Context, c *fun.Call, a *getINIArgs) (fun.Result, error) {
	f, err := Read(c.Env, a.FileName, a.Separator)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(f.Value())
}
