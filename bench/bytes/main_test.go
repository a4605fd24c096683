package main

import (
	"debug/elf"
	"os"
	"strings"
	"testing"
)

// TestRead divides up the program that runs the test.
func TestRead(t *testing.T) {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	got, err := read(f)
	if err != nil {
		t.Fatal(err)
	}
	code := 0
	own := false
	for _, r := range got.rows {
		code += r.code
		own = own || strings.HasPrefix(r.name, "brine/bench/bytes") && r.code > 1000 && r.tables > 500 && r.names > 50
	}
	if size := int(f.Section(".text").Size); code > size || code < size-size/100 {
		t.Errorf("the functions have %d bytes of code, the section %d", code, size)
	}
	if !own {
		t.Error("the package of this test is not there")
	}
	parts := 0
	for _, p := range got.parts[:4] {
		parts += p.size
	}
	if size := int(f.Section(".gopclntab").Size); parts > size || parts < size-200 {
		t.Errorf("the parts have %d bytes, the section %d", parts, size)
	}
	var out strings.Builder
	if err := run(&out, "/proc/self/exe", 3); err != nil || strings.Count(out.String(), "\n") < 12 || !strings.Contains(out.String(), " runtime\n") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	if err := run(&out, os.DevNull, 3); err == nil {
		t.Error("a file that is no program has a table")
	}
}

func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"main.main":             "main",
		"net/http.(*Client).Do": "net/http",
		"slices.Sort[go.shape.[]net/netip.Prefix]":      "slices",
		"gopkg.in/yaml%2ev3.Node.Encode":                "gopkg.in/yaml.v3",
		"type:.eq.brine/internal/fleet.Provider":        "brine/internal/fleet",
		"brine/modules/pkg/aptpkg.(*apt).install.func1": "brine/modules/pkg/aptpkg",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%s is of %q, not %q", name, got, want)
		}
	}
}
