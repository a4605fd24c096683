package render_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/py/value"
	configmod "brine/modules/config"
	grainsmod "brine/modules/grains"
	logmod "brine/modules/log"
	pillarmod "brine/modules/pillar"
	slsutilmod "brine/modules/slsutil"
)

// machine returns the Env of a machine whose tree is root, with the functions that formulas use.
func machine(t testing.TB, root string, spec *value.Map) *fun.Env {
	t.Helper()
	opts := value.Clone(spec.Map("opts")).(*value.Map)
	opts.Set("file_roots", value.MapOf("base", value.Strings(root)))
	e := &fun.Env{
		Identity: fun.Identity{ID: opts.Str("id"), SaltEnv: "base"},
		Data:     fun.Data{Opts: opts, Grains: value.Clone(spec.Map("grains")).(*value.Map), Pillar: value.Clone(spec.Map("pillar")).(*value.Map), Memo: &fun.Memo{}},
		Machine:  fun.Machine{Host: host.NewLocal()},
		UI:       fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{
			{Kind: fun.Exec, Name: "config", Load: configmod.Module},
			{Kind: fun.Exec, Name: "grains", Load: grainsmod.Module},
			{Kind: fun.Exec, Name: "log", Load: logmod.Module},
			{Kind: fun.Exec, Name: "pillar", Load: pillarmod.Module},
			{Kind: fun.Exec, Name: "slsutil", Load: slsutilmod.Module},
		})},
	}
	e.Up = &fileserver.Local{Server: fileserver.New(e.Host, fileserver.RootsOf(e.Opts, "file_roots"))}
	e.Invoker = dispatch.New(e)
	return e
}

func readJSON(t testing.TB, name string) *value.Map {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.ParseJSON(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Map)
}

// TestFormulas renders three formulas in the manner of the public ones on
// Debian, RedHat, Suse and Alpine. What they render to, and the data of that,
// is recorded from Jinja2 and PyYAML (testdata/record_formulas.py).
func TestFormulas(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("testdata/formulas/salt")
	if err != nil {
		t.Fatal(err)
	}
	machines, expected := readJSON(t, "testdata/formulas/machines.json"), readJSON(t, "testdata/formulas/expected.json")
	for id, want := range expected.All() {
		want := want.(*value.Map)
		for name, w := range want.All() {
			w := w.(*value.Map)
			t.Run(value.Str(id)+"/"+value.Str(name), func(t *testing.T) {
				e := machine(t, root, machines.Map(value.Str(id)))
				if name == "webd.conf" {
					got, err := webdConf(t, e, want)
					if err != nil {
						t.Fatal(err)
					}
					if d := cmp.Diff(w.Str("text"), got); d != "" {
						t.Error(d)
					}
					return
				}
				in := input(t, e, value.Str(name))
				text, err := render.For(e).Template(t.Context(), "jinja", in)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(w.Str("text"), text); d != "" {
					t.Error(d)
				}
				// Data of another rendering: the first may have changed what
				// functions gave it.
				data, err := render.For(machine(t, root, machines.Map(value.Str(id)))).SLS(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(compact(w.At("data")), compact(data)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// webdConf renders the file that webd.config.file manages, with the context
// that its recorded data has.
func webdConf(t *testing.T, e *fun.Env, want *value.Map) (string, error) {
	args := value.NewMap(0)
	for _, a := range want.Map("webd.config.file").Map("data").Map("webd-config-file-managed").List("file.managed").Items {
		args.Update(a.(*value.Map))
	}
	p := strings.TrimPrefix(args.Str("source"), "salt://")
	fi, err := e.Up.Stat(t.Context(), "base", p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := render.Read(t.Context(), e.Up, fi)
	if err != nil {
		t.Fatal(err)
	}
	vars := args.Map("context")
	vars.Set("source", args.Str("source"))
	return render.For(e).Template(t.Context(), "jinja", render.Input{Path: p, Abs: fi.Abs, SaltEnv: "base", Text: text, Vars: vars})
}

// input returns an SLS of e's tree.
func input(t testing.TB, e *fun.Env, name string) render.Input {
	t.Helper()
	fi, err := fun.FindSLS(t.Context(), e.Up, "base", name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := render.Read(t.Context(), e.Up, fi)
	if err != nil {
		t.Fatal(err)
	}
	return render.Input{Path: fi.Path, Abs: fi.Abs, SLS: name, SaltEnv: "base", Text: text}
}

// compact prints data as JSON in the order of its keys.
func compact(v value.Value) string {
	raw, err := value.AppendJSON(nil, v, value.JSONOptions{Indent: 1})
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// TestFormulasAreWhole guards against expectations that are empty.
func TestFormulasAreWhole(t *testing.T) {
	var names []string
	for _, w := range readJSON(t, "testdata/formulas/expected.json").All() {
		for k := range w.(*value.Map).All() {
			names = append(names, value.Str(k))
		}
	}
	sort.Strings(names)
	if want := 4 * 11; len(names) != want {
		t.Errorf("%d expectations, want %d: %v", len(names), want, names)
	}
}
