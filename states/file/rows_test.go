package file_test

import (
	"context"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/states/file"
)

// An example is how a function is called so that something is to be done.
type example struct {
	setup func(r *rig)
	kv    []value.Value
	quiet bool // a good run changes nothing (exists, missing)
}

func examples() map[string]example {
	f := func(text string) func(*rig) { return func(r *rig) { r.put("@/f", text, 0o644) } }
	return map[string]example{
		"absent":       {f("x"), []value.Value{"name", "@/f"}, false},
		"accumulated":  {nil, []value.Value{"name", "a", "filename", "@/f", "text", "x", "require_in", value.NewList(value.MapOf("file", "y"))}, true},
		"append":       {f("x\n"), []value.Value{"name", "@/f", "text", "more"}, false},
		"blockreplace": {f("#s\nold\n#e\n"), []value.Value{"name", "@/f", "marker_start", "#s", "marker_end", "#e", "content", "new"}, false},
		"cached":       {func(r *rig) { r.put("salt://f", "x", 0o644) }, []value.Value{"name", "salt://f"}, false},
		"comment":      {f("alpha\n"), []value.Value{"name", "@/f", "regex", "^alpha"}, false},
		"copy":         {f("x"), []value.Value{"name", "@/g", "source", "@/f"}, false},
		"decode":       {nil, []value.Value{"name", "@/f", "encoded_data", "aGk="}, false},
		"directory":    {nil, []value.Value{"name", "@/d/e", "makedirs", true, "mode", "0750"}, false},
		"exists":       {f(""), []value.Value{"name", "@/f"}, true},
		"hardlink":     {f("x"), []value.Value{"name", "@/g", "target", "@/f"}, false},
		"keyvalue":     {f("a=1\n"), []value.Value{"name", "@/f", "key", "a", "value", "2"}, false},
		"line":         {f("a\nb\n"), []value.Value{"name", "@/f", "content", "c", "mode", "insert", "after", "a"}, false},
		"managed":      {func(r *rig) { r.put("salt://f", "new\n", 0o644) }, []value.Value{"name", "@/f", "source", "salt://f", "mode", "0640"}, false},
		"missing":      {nil, []value.Value{"name", "@/f"}, true},
		"mknod":        {(*rig).tools, []value.Value{"name", "@/p", "ntype", "p"}, false},
		"not_cached": {
			func(r *rig) { r.put("@/../cache/files/base/f", "x", 0o644) },
			[]value.Value{"name", "salt://f"},
			false,
		},
		"patch": {func(r *rig) {
			r.tools()
			r.put("@/f", "a\nold\n", 0o644)
			r.put("salt://p", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-old\n+new\n", 0o644)
		}, []value.Value{"name", "@/f", "source", "salt://p"}, false},
		"prepend": {f("x\n"), []value.Value{"name", "@/f", "text", "more"}, false},
		"pruned":  {func(r *rig) { r.dirs("@/d/e") }, []value.Value{"name", "@/d", "recurse", true}, false},
		"recurse": {func(r *rig) { r.put("salt://d/a/b", "x", 0o644) }, []value.Value{"name", "@/d", "source", "salt://d"}, false},
		"rename":  {f("x"), []value.Value{"name", "@/g", "source", "@/f"}, false},
		"replace": {f("a=1\n"), []value.Value{"name", "@/f", "pattern", "^a=.*", "repl", "a=2"}, false},
		"retention_schedule": {func(r *rig) { r.put("@/b2024", "x", 0o644); r.put("@/b2023", "x", 0o644) }, []value.Value{
			"name", "@", "retain", value.MapOf("most_recent", int64(1)), "strptime_format", "b%Y",
		}, false},
		"serialize": {nil, []value.Value{"name", "@/f", "dataset", value.MapOf("a", int64(1)), "formatter", "json"}, false},
		"symlink":   {nil, []value.Value{"name", "@/l", "target", "f"}, false},
		"tidied":    {f("x"), []value.Value{"name", "@"}, false},
		"touch":     {nil, []value.Value{"name", "@/f"}, false},
		"uncomment": {f("#alpha\n"), []value.Value{"name", "@/f", "regex", "alpha"}, false},
	}
}

// TestRows runs each function in test mode, for good, and again.
func TestRows(t *testing.T) {
	t.Parallel()
	ex := examples()
	for _, spec := range file.States().Loaded().Specs {
		e, ok := ex[spec.Name]
		if !ok {
			t.Errorf("%s has no example", spec.Name)
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, r *rig) { checkRow(t, r, spec, e) })
		})
	}
}

func checkRow(t *testing.T, r *rig, spec fun.Spec, e example) {
	if e.setup != nil {
		e.setup(r)
	}
	writes := 0
	if r.fake != nil {
		writes = len(r.fake.Writes())
	}
	ret := r.call(context.Background(), spec.Name, true, e.kv...)
	if want := fun.WouldChange; ret.Err != nil || ret.Result != want && !e.quiet {
		t.Errorf("test mode: %s, want None", r.show(ret))
	}
	if r.fake != nil {
		if w := r.fake.Writes(); len(w) > writes && spec.Name != "patch" { // patch tries the patch on copies
			t.Errorf("test mode wrote %v", w[writes:])
		}
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	r.call(done, spec.Name, true, e.kv...)
	if d := time.Since(began); d > time.Minute {
		t.Errorf("took %v with a context that had ended", d)
	}
	ret = r.call(context.Background(), spec.Name, false, e.kv...)
	if ret.Err != nil || ret.Result != fun.OK {
		t.Fatalf("first run: %s, want True", r.show(ret))
	}
	if n := changes(ret); (n == 0) != e.quiet {
		t.Errorf("first run changed %d things: %s", n, r.show(ret))
	}
	ret = r.call(context.Background(), spec.Name, false, e.kv...)
	if ret.Err != nil || ret.Result != fun.OK {
		t.Errorf("second run: %s, want True", r.show(ret))
	}
	if n := changes(ret); n > 0 && !spec.Always {
		t.Errorf("second run changed %d things: %s", n, r.show(ret))
	}
	again := r.call(context.Background(), spec.Name, true, e.kv...)
	if !spec.Always && (again.Err != nil || again.Result != fun.OK || changes(again) > 0) {
		t.Errorf("test mode after the run: %s, want True without changes", r.show(again))
	}
}

func changes(ret fun.Ret) int {
	m, _ := ret.Changes.(*value.Map)
	return m.Len()
}

// TestRowsDocumented checks that each argument says what it is.
func TestRowsDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range file.States().Loaded().Specs {
		if s.Doc == "" || s.Src == "" {
			t.Errorf("%s lacks a doc or a source", s.Name)
		}
		for _, a := range s.Args {
			if a.Doc == "" {
				t.Errorf("%s: argument %s lacks a doc", s.Name, a.Name)
			}
		}
	}
}

// TestRelative checks that no function takes a path that is not absolute.
func TestRelative(t *testing.T) {
	t.Parallel()
	for name, e := range examples() {
		switch name {
		case "accumulated", "exists", "missing", "keyvalue", "cached", "not_cached", "decode", "mknod", "pruned", "retention_schedule":
			continue // these take any name, as in Salt
		case "patch":
			continue // it has other words
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fakeRig(t)
			kv := append([]value.Value{"name", "not/absolute"}, e.kv[2:]...)
			ret := r.call(context.Background(), name, false, kv...)
			if got := r.show(ret); ret.Result != fun.Failed || got != "False Specified file not/absolute is not an absolute path" {
				t.Errorf("got %q", got)
			}
			if w := r.fake.Writes(); len(w) > 0 {
				t.Errorf("wrote %v", w)
			}
		})
	}
}

// TestPlanned runs each function that plans run on an overlay there: it does what it
// does on a machine, and the machine stays as it is.
func TestPlanned(t *testing.T) {
	t.Parallel()
	for _, spec := range file.States().Loaded().Specs {
		if !spec.Files {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			r := fakeRig(t)
			e := examples()[spec.Name]
			if e.setup != nil {
				e.setup(r)
			}
			over, err := host.NewOverlay(r.fake)
			if err != nil {
				t.Fatal(err)
			}
			r.env = r.env.With(func(env *fun.Env) { env.Host = over })
			r.fake.Forget()
			ret := r.call(context.Background(), spec.Name, false, e.kv...)
			if ret.Err != nil || ret.Result != fun.OK || changes(ret) == 0 {
				t.Errorf("on an overlay: %s, want True with changes", r.show(ret))
			}
			if w := r.fake.Writes(); len(w) > 0 || len(r.fake.Calls()) > 0 || over.Refused() > 0 {
				t.Errorf("it reached the machine: wrote %v, ran %v, %d refused", w, r.fake.Calls(), over.Refused())
			}
		})
	}
}
