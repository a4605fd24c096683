package value

import (
	"strconv"
	"strings"
)

// DefaultDelim separates the parts of a path into data: Salt's
// DEFAULT_TARGET_DELIM.
const DefaultDelim = ":"

// Traverse returns the value at path ("a:b:0") in data, and whether it exists.
// Parts are separated by delim ("" is a colon). A part is a key, or an index of
// a list, or, on a list, a key of the first mapping in it that has the key. A
// part that is not a key as a string is tried as the number, boolean or null
// that YAML would read it as.
//
// Salt: salt/utils/data.py traverse_dict_and_list.
func Traverse(data Value, path, delim string) (Value, bool) {
	if delim == "" {
		delim = DefaultDelim
	}
	return TraverseParts(data, strings.Split(path, delim))
}

// TraverseKey is Traverse for a path that may be other than text: a list is
// the parts, any other scalar is one part.
func TraverseKey(data, path Value, delim string) (Value, bool) {
	switch p := path.(type) {
	case string:
		return Traverse(data, p, delim)
	case *List:
		return traverse(data, p.Items)
	case Tuple:
		return traverse(data, p)
	}
	return traverse(data, []Value{path})
}

// TraverseParts is Traverse for a path that is split.
func TraverseParts(data Value, parts []string) (Value, bool) {
	ptr := data
	for _, p := range parts {
		var ok bool
		if ptr, ok = step(ptr, p); !ok {
			return nil, false
		}
	}
	return ptr, true
}

func traverse(data Value, parts []Value) (Value, bool) {
	ptr := data
	for _, p := range parts {
		var ok bool
		if ptr, ok = step(ptr, p); !ok {
			return nil, false
		}
	}
	return ptr, true
}

func step(ptr, part Value) (Value, bool) {
	switch x := ptr.(type) {
	case *List:
		return stepList(x, part)
	case Mapping:
		if v, ok := x.Get(part); ok {
			return v, true
		}
		if s, ok := part.(string); ok {
			if k, ok := scalarOf(s); ok {
				return x.Get(k)
			}
		}
	}
	return nil, false
}

func stepList(l *List, part Value) (Value, bool) {
	idx, numeric := AsInt(part)
	key := part
	if s, ok := part.(string); ok {
		if n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil {
			idx, numeric, key = n, true, n
		}
	}
	for _, x := range l.Items {
		if m, ok := x.(Mapping); ok {
			if v, ok := m.Get(key); ok {
				return v, true
			}
		}
	}
	if !numeric {
		return nil, false
	}
	if idx < 0 {
		idx += int64(len(l.Items))
	}
	if idx < 0 || idx >= int64(len(l.Items)) {
		return nil, false
	}
	return l.Items[idx], true
}

// scalarOf returns what YAML reads plain s as, where that is not text.
func scalarOf(s string) (Value, bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	case "null", "none", "~", "":
		return nil, true
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	if strings.ContainsRune(s, '.') {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f, true
		}
	}
	return nil, false
}

// FilterBy returns the entry of lookup whose key (a glob) matches the value at
// path in data, first value and first key first; if none does, the entry at
// def. base names an entry that the result is merged over, and merge is merged
// over the result. The error says which of them is not a mapping.
//
// Salt: salt/utils/data.py filter_by.
func FilterBy(lookup Mapping, data Value, path string, merge, def, base Value) (Value, error) {
	ret := pick(lookup, data, path)
	if ret == nil {
		ret, _ = lookup.Get(def)
	}
	if Truth(base) {
		if bv, ok := lookup.Get(base); ok {
			bm, isMap := bv.(Mapping)
			switch {
			case ret == nil:
				ret = bv
			case isMap:
				rm, ok := ret.(Mapping)
				if !ok {
					return nil, Raise("SaltException", "filter_by default and look-up values must both be dictionaries.")
				}
				ret = Update(ToMap(Clone(bm)), rm, true, false)
			}
		}
	}
	if Truth(merge) {
		mm, ok := merge.(Mapping)
		if !ok {
			return nil, Raise("SaltException", "filter_by merge argument must be a dictionary.")
		}
		if ret == nil {
			return merge, nil
		}
		rm, ok := ret.(*Map)
		if !ok {
			return nil, Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")
		}
		// The look-up table may be one that templates share: Salt changes it
		// in place, which then shows in every later use.
		Update(rm, ToMap(Clone(mm)), true, false)
	}
	return ret, nil
}

func pick(lookup Mapping, data Value, path string) Value {
	val, ok := Traverse(data, path, "")
	if !ok {
		val = NewList()
	}
	each := []Value{val}
	if l, ok := val.(*List); ok {
		each = l.Items
	}
	for _, x := range each {
		for _, k := range lookup.Keys() {
			if Fnmatch(Str(k), Str(x)) {
				if v, _ := lookup.Get(k); v != nil {
					return v
				}
				break
			}
		}
	}
	return nil
}
