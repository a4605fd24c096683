package roster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// terraformKeys are the attributes of a salt_host resource that are keys of an
// entry; those that are true are yes or no.
// Salt: salt/roster/terraform.py TF_ROSTER_ATTRS.
func terraformKeys() map[string]bool {
	return map[string]bool{
		"host": false, "user": false, "passwd": false, "port": false, "sudo": true, "sudo_user": false, "tty": true,
		"priv": false, "timeout": false, "minion_opts": false, "thin_dir": false, "cmd_umask": false,
	}
}

// terraform reads the salt_host resources of a state file, of the format of
// Terraform 0.12 and later or of the one before.
// Salt: salt/roster/terraform.py. Difference: a file that cannot be read is an
// error; there it is a roster without targets.
func (l *loader) terraform(file string) error {
	b, err := l.o.Files.ReadFile(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the roster terraform reads %s, which is missing: run brine beside it, or name it with --roster-file: %w", file, err)
		}
		return fmt.Errorf("read Terraform state: %w", err)
	}
	v, err := value.DecodeJSON(bytes.NewReader(b))
	if err != nil {
		return &source.Error{Pos: source.Pos{File: file}, Err: fmt.Errorf("read Terraform state: %w", err)}
	}
	state, _ := v.(*value.Map)
	switch {
	case state.Has("resources"):
		each(state.At("resources"), func(name string, r *value.Map) {
			if r.Str("type") != "salt_host" {
				return
			}
			each(r.At("instances"), func(_ string, inst *value.Map) {
				l.saltHost(file, r.Str("name"), r, inst.Map("attributes"))
			})
		})
	case state.Has("modules"):
		each(state.At("modules"), func(_ string, m *value.Map) {
			each(m.At("resources"), func(name string, r *value.Map) {
				if r.Str("type") == "salt_host" {
					l.saltHost(file, name, r, r.Map("primary").Map("attributes"))
				}
			})
		})
	default:
		return &source.Error{
			Pos: source.Pos{File: file}, Err: errors.New("this is not a Terraform state: it has neither resources nor modules"),
			Hint: "the roster terraform reads terraform.tfstate; of a remote state: terraform state pull >terraform.tfstate",
		}
	}
	if len(l.r.entries) == 0 {
		l.warn(source.Pos{File: file}, "the Terraform state has no salt_host resources, so it has no targets")
	}
	return nil
}

// each calls do for the mappings in a list, or in a mapping by their names.
func each(v value.Value, do func(name string, m *value.Map)) {
	switch v := v.(type) {
	case *value.List:
		for _, x := range v.Items {
			if m, ok := x.(*value.Map); ok {
				do("", m)
			}
		}
	case *value.Map:
		for k, x := range v.All() {
			if m, ok := x.(*value.Map); ok {
				do(value.Str(k), m)
			}
		}
	}
}

// saltHost adds the entry of a resource; one without an id is left out.
func (l *loader) saltHost(file, name string, resource, attrs *value.Map) {
	id := attrs.Str("salt_id")
	if id == "" {
		id = resource.Str("id")
	}
	if id == "" {
		l.warn(source.Pos{File: file}, "the salt_host resource %q has no salt_id and is left out", name)
		return
	}
	m := value.NewMap(8)
	yesNo := terraformKeys()
	for k, v := range attrs.All() {
		key := value.Str(k)
		isBool, known := yesNo[key]
		if !known || v == nil || v == "" {
			continue
		}
		if s, ok := v.(string); ok && isBool { // older states have all as text
			v = isYes(strings.TrimSpace(s))
		}
		if key == "port" || key == "timeout" {
			if n, ok := value.AsInt(v); ok && n == 0 { // not set
				continue
			}
		}
		m.Set(key, v)
	}
	l.add(id, m, source.Pos{File: file})
}
