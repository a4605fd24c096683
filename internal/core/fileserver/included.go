package fileserver

import (
	"strings"

	"brine/internal/py/pyre"
	"brine/internal/py/value"
)

// Included reports whether a relative path passes include_pat and exclude_pat:
// globs, or regular expressions after E@, one or a list.
//
// Salt: salt/utils/stringutils.py check_include_exclude.
func Included(path string, include, exclude value.Value) (bool, error) {
	if value.Truth(include) {
		if ok, err := matchesAny(path, include); !ok || err != nil {
			return false, err
		}
	}
	if value.Truth(exclude) {
		ok, err := matchesAny(path, exclude)
		return !ok, err
	}
	return true, nil
}

func matchesAny(path string, patterns value.Value) (bool, error) {
	items := []value.Value{patterns}
	if l, ok := patterns.(*value.List); ok {
		items = l.Items
	}
	for _, it := range items {
		p := value.Str(it)
		expr, isRegexp := strings.CutPrefix(p, "E@")
		if !isRegexp {
			if value.Fnmatch(p, path) {
				return true, nil
			}
			continue
		}
		re, err := pyre.Compile(expr, 0)
		if err != nil {
			return false, err
		}
		if ok, err := re.Has(path); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
