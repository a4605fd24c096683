package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// A silent is a Provider that fails the test where a machine would be connected to.
type silent struct {
	t    *testing.T
	kept map[string]*value.Map // grains that are kept; nil: none are
}

func (s *silent) IDs(context.Context) ([]string, error) { return []string{"db1", "web1", "web2"}, nil }

func (s *silent) Minion(context.Context, string) target.Minion {
	s.t.Error("a machine is connected to, or its pillar is rendered")
	return target.Minion{}
}

func (s *silent) Kept(id string) target.Minion {
	asked := false
	return target.Minion{
		ID: id,
		Grains: func() value.Mapping {
			asked = true
			if g := s.kept[id]; g != nil {
				return g
			}
			return value.NewMap(0)
		},
		Unknown: func() error {
			if asked && s.kept[id] == nil {
				return errors.New("not kept")
			}
			return nil
		},
	}
}

func (s *silent) Run(context.Context, fun.Job, string, func()) fun.Return {
	s.t.Error("something is run")
	return fun.Return{}
}

func (s *silent) FindJob(context.Context, string, []string, func(string, int)) {
	s.t.Error("machines are asked")
}

// An unaskedMaster is a Resolver that must not be asked.
type unaskedMaster struct{ silent }

func (m *unaskedMaster) FleetName() string { return "prod" }

func (m *unaskedMaster) Resolve(context.Context, value.Value, string, *value.Map) ([]string, map[string]error, error) {
	m.t.Error("a master is asked")
	return nil, nil, nil
}

// TestKnown matches by what is known here, and reaches nobody.
func TestKnown(t *testing.T) {
	t.Parallel()
	f := &Fleet{
		Providers:  []Provider{&silent{t: t, kept: map[string]*value.Map{"web1": value.MapOf("os", "Debian"), "db1": value.MapOf("os", "Suse")}}, &unaskedMaster{silent{t: t}}},
		Nodegroups: value.MapOf("secret", "I@db:password:s*", "web", "web*"),
		Name: func(context.Context, string, []string) ([]string, bool, error) {
			t.Error("a machine is made of a name")
			return nil, false, nil
		},
	}
	for _, tt := range []struct {
		typ, expr  string
		ids, maybe string
		pillar     bool
	}{
		{"glob", "*", "db1 web1 web2", "", false},
		{"glob", "10.0.0.0/24", "", "", false},
		{"list", "web1,other", "web1", "", false},
		{"grain", "os:Debian", "web1", "web2", false},
		{"compound", "not G@os:Debian", "db1", "web2", false},
		{"nodegroup", "web", "web1 web2", "", false},
		{"pillar", "db:password:secret", "", "", true},
		{"pillar_pcre", "db:password:s.*", "", "", true},
		{"compound", "web* and I@db:password:secret", "", "", true},
		{"compound", "web* or not J@db:password:s", "", "", true},
		{"nodegroup", "secret", "", "", true},
		{"compound", "web* and N@secret", "", "", true},
	} {
		ids, maybe, elsewhere, err := f.Known(t.Context(), tt.expr, tt.typ)
		if tt.pillar {
			if !errors.Is(err, ErrPillar) || len(ids)+len(maybe) > 0 {
				t.Errorf("%s %s: %v, %v", tt.typ, tt.expr, ids, err)
			}
			continue
		}
		if strings.Join(ids, " ") != tt.ids || strings.Join(maybe, " ") != tt.maybe || !slices.Equal(elsewhere, []string{"prod"}) || err != nil {
			t.Errorf("%s %s: %v, maybe %v, elsewhere %v, %v", tt.typ, tt.expr, ids, maybe, elsewhere, err)
		}
	}
	// Facts count where nothing else is known, and only if grains are asked for.
	asked := 0
	facts := func(id string) *value.Map {
		if asked++; id == "web2" {
			return value.MapOf("os", "Debian")
		}
		return nil
	}
	if ids, maybe, _, err := f.KnownBy(t.Context(), "os:Debian", "grain", facts); strings.Join(ids, " ") != "web1 web2" || len(maybe) > 0 || err != nil {
		t.Errorf("by facts: %v, maybe %v, %v", ids, maybe, err)
	}
	if ids, maybe, _, err := f.KnownBy(t.Context(), "not G@role:x", "compound", func(string) *value.Map { return nil }); strings.Join(ids, " ") != "db1 web1" || strings.Join(maybe, " ") != "web2" || err != nil {
		t.Errorf("without facts: %v, maybe %v, %v", ids, maybe, err)
	}
	asked = 0
	if ids, _, _, err := f.KnownBy(t.Context(), "web*", "glob", facts); len(ids) != 2 || err != nil || asked > 0 {
		t.Errorf("a glob reads facts %d times: %v, %v", asked, ids, err)
	}
	if got := KnownText([]string{"a", "b", "c", "d", "e", "f"}, []string{"prod"}); !strings.Contains(got, "a, b, c, d, e and 1 more.") || !strings.Contains(got, "prod.") || KnownText(nil, nil) != "" {
		t.Errorf("says %q", got)
	}
}
