package outputter

import (
	"bytes"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// Data of any shape print without a panic, and what is printed ends with one
// newline.
func FuzzOutputters(f *testing.F) {
	for _, s := range []string{
		`{"local": {"test_|-a_|-b_|-nop": {"__id__": "a", "__run_num__": 1, "__sls__": "s", "changes": {"k": [1]}, "comment": "c\nd", "duration": 1.5, "name": "b", "result": true, "start_time": "12:00"}}}`,
		`{"data": {"x_master": {"salt_|-i_|-state.orch_|-runner": {"result": null, "changes": {"data": {"w": {}}}, "comment": [], "name": "state.orch", "warnings": ["a b"]}}, "retcode": 0}}`,
		`{"local": {"a": {"result": true, "changes": {"out": "highstate", "ret": {"w": ["e"]}}, "comment": null, "data": {"k": 1}, "duration": "x ms", "start_time": 5, "warnings": "w"}}}`,
		`[{"a_b": 1, "c": "two words"}, {"c": 2}]`, `{"t": [["a", "b c"], ["d"]], "l": {}}`, `{"minions": ["b", 1, {}], "local": {"k": null}}`,
		`"text"`, `null`, `{"": {"": {"": []}}}`, `{"a": {"_|-": {"result": {}, "changes": 1}}}`,
	} {
		f.Add([]byte(s))
	}
	opts := []*Options{
		{},
		{StateOutput: "filter_id", HideClean: true, Color: true, Opts: value.MapOf("state_compress_ids", true, "state_output_pct", true, "state_output_terse", "True")},
		{StateOutput: "terse", HideProfile: true, NestedIndent: 3, Opts: value.MapOf("state_tabular", "{1:>9} {6[comment]!s} {4")},
		{StateOutput: "terse", Indent: new(int), Opts: value.MapOf("state_tabular", true, "out.table.rows_key", "t", "out.table.width", int64(2))},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.DecodeJSON(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, name := range Names() {
			fn, _ := Lookup(name)
			for _, o := range opts {
				var b bytes.Buffer
				if err := fn(&b, v, o); err != nil {
					continue
				}
				if s := b.String(); s != "" && (!strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\n\n")) {
					t.Errorf("%s of %s ends in %q", name, data, s[max(0, len(s)-10):])
				}
			}
		}
	})
}
