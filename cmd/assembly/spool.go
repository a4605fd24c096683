package assembly

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// A Spool is where the rows of a returner wait, one directory for each returner,
// configuration and destination.
type Spool struct {
	Dir   string
	Owner []byte // what Dir says of whose rows it has
	Down  string // notes that the store hangs, whoever writes to it
	To    *value.Map
}

// SpoolOf returns the spool of a returner with settings that were checked, below a
// cache directory. kwargs are those of the settings that a run was given.
func SpoolOf(cache, name string, s returner.Settings, kwargs *value.Map) Spool {
	to := s.Destination()
	owner := value.MapOf("name", name, "config", s.Config, "to", to)
	if kwargs.Len() > 0 {
		owner.Set("kwargs", kwargs)
	}
	key := name
	if s.Config != "" {
		key += "@" + s.Config
	}
	root := filepath.Join(cache, "spool")
	return Spool{
		Dir:   filepath.Join(root, url.PathEscape(key)+"-"+digest(owner)),
		Owner: append(value.EncodeJSON(owner), '\n'),
		Down:  filepath.Join(root, ".hung-"+url.PathEscape(s.Spec.Name)+"-"+digest(to)),
		To:    to,
	}
}

func digest(m *value.Map) string {
	sum := sha256.Sum256(value.EncodeJSON(m))
	return hex.EncodeToString(sum[:6])
}

// A SpoolOwner is whose rows a spool has, as it says itself.
type SpoolOwner struct {
	Dir    string
	Name   string // "" where it does not say
	Config string
	Kwargs *value.Map
	To     *value.Map
}

// SpoolOwners returns the spools below a cache directory, in order.
func SpoolOwners(cache string) []SpoolOwner {
	root := filepath.Join(cache, "spool")
	dirs, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []SpoolOwner
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		o := SpoolOwner{Dir: filepath.Join(root, d.Name())}
		if b, err := os.ReadFile(filepath.Join(o.Dir, jobs.OwnerFile)); err == nil {
			v, _ := value.ParseJSON(string(b))
			if m, ok := v.(*value.Map); ok && m.Map("to") != nil {
				o.Name, o.Config, o.Kwargs, o.To = m.Str("name"), m.Str("config"), m.Map("kwargs"), m.Map("to")
			}
		}
		out = append(out, o)
	}
	return out
}

// Whose names a spool's returner and where its rows go.
func (o SpoolOwner) Whose() string {
	if o.Name == "" {
		return filepath.Base(o.Dir)
	}
	return o.Name + PlaceOf(o.To)
}

// PlaceOf is a destination in words, behind the name of a returner.
func PlaceOf(to *value.Map) string {
	var parts []string
	for k, v := range to.All() {
		if t := value.Str(v); t != "" {
			parts = append(parts, value.Str(k)+" "+t)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Owned returns the settings that the rows of a spool go with, where the
// configuration of env leads to the same place as that of the run that left them.
// Else its error says what leads there.
func (o SpoolOwner) Owned(ctx context.Context, env *fun.Env, cache string) (returner.Settings, Spool, error) {
	if o.Name == "" {
		return returner.Settings{}, Spool{}, fmt.Errorf("it does not say where they were to go: move its files *%s into the spool of the returner that they are meant for, or remove them", jobs.SpoolSuffix)
	}
	set, err := CheckSettings(ctx, env, o.Name, returner.Settings{Config: o.Config, Kwargs: o.Kwargs})
	if err != nil {
		return set, Spool{}, err
	}
	sp := SpoolOf(cache, o.Name, set, o.Kwargs)
	if sp.Dir != o.Dir {
		return set, sp, fmt.Errorf("this configuration leads to %s%s, and they are for %s: a run with the configuration of that time sends them", o.Name, PlaceOf(sp.To), o.Whose())
	}
	return set, sp, nil
}
