package session

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/config"
	"brine/internal/core/config/options"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Setting is an option that a configuration sets.
type Setting struct {
	options.Option
	Value value.Value
	Pos   source.Pos
}

// Settings returns the options that files of a configuration set, in their order.
func Settings(cfg *config.Config) []Setting {
	var out []Setting
	given := cfg.Settings()
	for k, v := range given.All() {
		name, ok := k.(string)
		pos := cfg.Place(name)
		if ok && !pos.IsZero() {
			out = append(out, Setting{options.Of(name), v, pos})
		}
	}
	return out
}

// Asks reports whether an option that is not supported asks for something: it is
// not what a run does without it.
func (x *Setting) Asks(kind config.Kind, user string) bool {
	if x.Verdict != options.Unsupported {
		return false
	}
	def := config.Default(kind, x.Name)
	if x.Name == "user" {
		def = user
	}
	if def == nil {
		return value.Truth(x.Value)
	}
	return !value.Equal(x.Value, def)
}

// obey refuses a run whose configuration forbids what brine cannot keep from
// happening, and tells of options that are not supported and that a run would have
// gone by. It looks at nothing but the options that are set.
func (s *Session) obey() error {
	if _, err := fun.LimitsAt(s.Cfg.Opts, s.Cfg.Place); err != nil {
		return err
	}
	user := ""
	for _, x := range Settings(s.Cfg) {
		if x.Verdict != options.Unsupported {
			continue
		}
		if user == "" {
			user = s.accountName()
		}
		switch {
		case !x.Asks(s.Cfg.Kind, user):
		case x.Restrictive:
			return &source.Error{
				Pos: x.Pos, Err: fmt.Errorf("the option %s would restrict this run, and is not supported", x.Name), Hint: "take it out of the configuration: " + x.Note,
			}
		case !x.Cosmetic:
			s.Warn(fun.Warning{Where: x.Pos.String(), Text: fmt.Sprintf("the option %s is not supported: %s", x.Name, x.Note)})
		}
	}
	return nil
}

// accountName is the account that brine runs as.
func (s *Session) accountName() string {
	uid := s.App.Host.Geteuid()
	if a, err := s.App.Host.LookupUID(uid); err == nil {
		return a.Name
	}
	return fmt.Sprint(uid)
}

// Counts returns how many settings have each verdict, as text.
func Counts(all []Setting) string {
	var parts []string
	for _, v := range options.Verdicts() {
		n := 0
		for i := range all {
			if all[i].Verdict == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// ByVerdict sorts settings for a report.
func ByVerdict(all []Setting) {
	order := options.Verdicts()
	slices.SortStableFunc(all, func(x, y Setting) int {
		if d := slices.Index(order, x.Verdict) - slices.Index(order, y.Verdict); d != 0 {
			return d
		}
		return strings.Compare(x.Name, y.Name)
	})
}
