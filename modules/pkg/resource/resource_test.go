package resource_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/debtest"
	"brine/modules/pkg/aptpkg"
	"brine/modules/pkg/resource"
)

// entries are a provider of pkg, and pkg_resource.
var entries = []fun.Entry{
	{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
	{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module},
}

// The expected values are those of salt/modules/pkg_resource.py.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, kw string
		pos      []value.Value
		want     string
	}{
		{"version", "", []value.Value{"tool"}, "'1.0'"},
		{"version", "", []value.Value{"t*", "none"}, "{'tool': '1.0', 'none': ''}"},
		{"version", "versions_as_list: True", []value.Value{"none"}, "[]"},
		{"version", "", nil, "{}"},
		{"version_clean", "verstr: '1.0'", nil, "'1.0'"},
		{"version_clean", "verstr: ", nil, "None"},
		{"check_extra_requirements", "{pkgname: a, pkgver: '1'}", nil, "True"},
		{"version_compare", "{ver1: '1.0~rc1', oper: <, ver2: '1.0'}", nil, "True"},
		{"version_compare", "{ver1: '1:1.0', oper: ==, ver2: '1.0', ignore_epoch: True}", nil, "True"},
		{"version_compare", "{ver1: '1', oper: <>, ver2: '2'}", nil, "False"},
		{"format_version", "{epoch: 1, version: 2.0, release: 3}", nil, "'1:2.0-3'"},
		{"format_version", "{epoch: '', version: 2.0, release: ''}", nil, "'2.0'"},
		{"pack_sources", "sources: [a: /b, 'c:amd64': /d]", nil, "{'a': '/b', 'c': '/d'}"},
		{"pack_sources", "{sources: '[{c:amd64: /d}]', normalize: False}", nil, "{'c:amd64': '/d'}"},
		{"pack_sources", "sources: [a]", nil, "{}"},
		{"pack_sources", "sources: '{'", nil, "{}"},
		{"parse_targets", "name: 'a,b:amd64'", nil, "({'a': None, 'b': None}, 'repository')"},
		{"parse_targets", "{name: a, version: 1}", nil, "({'a': '1'}, 'repository')"},
		{"parse_targets", "pkgs: [a, b: 1]", nil, "({'a': None, 'b': '1'}, 'repository')"},
		{"parse_targets", "sources: [a: /b]", nil, "(['/b'], 'file')"},
		{"parse_targets", "{pkgs: [a], sources: [a: /b]}", nil, "(None, None)"},
		{"parse_targets", "pkgs: [[a]]", nil, "(None, None)"},
		{"parse_targets", "{name: a, advisory_ids: [x]}", nil, "(['x'], 'advisory')"},
		{"parse_targets", "{name: a, advisory_ids: []}", nil, "(['a'], 'advisory')"},
		{"parse_targets", "", nil, "(None, None)"},
		{"parse_targets", "sources: [a: b]", nil, "error: Path b for package a is either not absolute or an invalid protocol"},
		{
			"format_pkg_list", "{packages: {'a:i386': [{epoch: 1, version: 2, release: 3, arch: i386}], b: [{epoch: , version: 2, release: ''}]}, versions_as_list: False, attr: }", nil,
			"{'a:i386': '1:2-3', 'b': '2'}",
		},
		{
			"format_pkg_list", "{packages: {'a:i386': [{epoch: 1, version: 2, release: 3, arch: i386}]}, versions_as_list: True, attr: [release]}", nil,
			"{'a': [{'version': 2, 'release': 3, 'arch': 'i386'}]}",
		},
		{"format_pkg_list", "{packages: {a: 1}, versions_as_list: True, attr: }", nil, "error: packages must be a mapping of names to lists of mappings"},
	} {
		m := debtest.New(t, fun.NewTable(entries), "tool 1.0\n")
		if got := m.Exec("pkg_resource."+tt.name, tt.kw, tt.pos...); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.name, tt.kw, got, tt.want)
		}
	}
}

// These change the mapping that they are given.
func TestInPlace(t *testing.T) {
	t.Parallel()
	m := debtest.New(t, fun.NewTable(entries), "")
	pkgs := value.NewMap(0)
	do := func(name string, more ...value.Value) {
		t.Helper()
		if got := m.Exec("pkg_resource."+name, "", append([]value.Value{pkgs}, more...)...); got != "None" {
			t.Errorf("%s: %s", name, got)
		}
	}
	do("add_pkg", "a", "2")
	do("add_pkg", "a", "1")
	do("add_pkg", "a", "2")
	do("sort_pkglist")
	if got := value.Repr(pkgs); got != "{'a': ['1', '2']}" {
		t.Errorf("sorted: %s", got)
	}
	do("stringify")
	if got := value.Repr(pkgs); got != "{'a': '1,2'}" {
		t.Errorf("stringified: %s", got)
	}
}
