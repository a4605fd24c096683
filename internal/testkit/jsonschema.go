package testkit

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CheckSchema fails t where a JSON text does not satisfy the JSON schema in a file.
// It knows the keywords of draft 7 that published schemas of reports use; a format
// is not checked.
func CheckSchema(t testing.TB, schemaFile string, text []byte) {
	t.Helper()
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	s := &schema{}
	if err := json.Unmarshal(raw, &s.root); err != nil {
		t.Fatalf("%s: %v", schemaFile, err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("the text is not JSON: %v", err)
	}
	for _, fault := range s.check(s.root, doc, "$") {
		t.Errorf("schema: %s", fault)
	}
}

type schema struct{ root map[string]any }

// check returns what of v does not satisfy a schema.
func (s *schema) check(rule map[string]any, v any, at string) (faults []string) {
	bad := func(format string, args ...any) { faults = append(faults, at+": "+fmt.Sprintf(format, args...)) }
	if ref, ok := rule["$ref"].(string); ok {
		var to any = s.root
		for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			m, _ := to.(map[string]any)
			to = m[part]
		}
		target, ok := to.(map[string]any)
		if !ok {
			return []string{at + ": the schema has no " + ref}
		}
		return s.check(target, v, at)
	}
	if typ, ok := rule["type"]; ok && !hasType(typ, v) {
		bad("%v is not of type %v", v, typ)
		return faults
	}
	if enum, ok := rule["enum"].([]any); ok && !slices.Contains(enum, v) {
		bad("%v is not one of %v", v, enum)
	}
	faults = append(faults, s.combined(rule, v, at)...)
	switch v := v.(type) {
	case map[string]any:
		faults = append(faults, s.object(rule, v, at)...)
	case []any:
		if n, ok := rule["minItems"].(float64); ok && len(v) < int(n) {
			bad("%d items are too few", len(v))
		}
		if items, ok := rule["items"].(map[string]any); ok {
			for i, x := range v {
				faults = append(faults, s.check(items, x, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case string:
		if p, ok := rule["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			bad("%q does not match %s", v, p)
		}
	case float64:
		if low, ok := rule["minimum"].(float64); ok && v < low {
			bad("%v is less than %v", v, low)
		}
	}
	return faults
}

func (s *schema) object(rule map[string]any, v map[string]any, at string) (faults []string) {
	properties, _ := rule["properties"].(map[string]any)
	required, _ := rule["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			faults = append(faults, fmt.Sprintf("%s: %v is missing", at, name))
		}
	}
	for name, x := range v {
		sub, known := properties[name].(map[string]any)
		more, _ := rule["additionalProperties"].(map[string]any)
		switch {
		case known:
			faults = append(faults, s.check(sub, x, at+"."+name)...)
		case more != nil:
			faults = append(faults, s.check(more, x, at+"."+name)...)
		case rule["additionalProperties"] == false:
			faults = append(faults, fmt.Sprintf("%s: %s is not a property", at, name))
		}
	}
	return faults
}

// combined checks allOf, anyOf and oneOf.
func (s *schema) combined(rule map[string]any, v any, at string) (faults []string) {
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		subs, ok := rule[key].([]any)
		if !ok {
			continue
		}
		met := 0
		for _, sub := range subs {
			if m, ok := sub.(map[string]any); ok && len(s.check(m, v, at)) == 0 {
				met++
			}
		}
		if met == 0 || key == "allOf" && met < len(subs) || key == "oneOf" && met > 1 {
			faults = append(faults, fmt.Sprintf("%s: %d of the %d schemas of %s hold", at, met, len(subs), key))
		}
	}
	return faults
}

func hasType(typ, v any) bool {
	if list, ok := typ.([]any); ok {
		return slices.ContainsFunc(list, func(t any) bool { return hasType(t, v) })
	}
	switch v := v.(type) {
	case nil:
		return typ == "null"
	case bool:
		return typ == "boolean"
	case string:
		return typ == "string"
	case float64:
		return typ == "number" || typ == "integer" && v == float64(int64(v))
	case []any:
		return typ == "array"
	case map[string]any:
		return typ == "object"
	}
	return false
}
