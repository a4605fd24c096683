package low_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/memtree"
	"brine/runner/high"
	"brine/runner/low"
)

const corpus = "../../testdata/conformance"

func lows(chunks []*fun.Chunk) value.Value {
	l := &value.List{}
	for _, c := range chunks {
		l.Append(c.Low)
	}
	return l
}

func texts(err error) value.Value { return high.Texts(source.Faults(err)) }

// TestRecorded compares with what Salt showed of trees that need no template.
func TestRecorded(t *testing.T) {
	for _, tt := range []struct{ name, fun, mods, file string }{
		{"compile-dup-id-two-sls", "sls", "a,b", "expected.json"},
		{"compile-dup-id-two-sls", "show_low_sls", "a,b", "expected.2.json"},
		{"compile-dup-id-two-sls", "show_sls", "a,b", "expected.3.json"},
		{"compile-dup-key", "show_sls", "s", "expected.json"},
		{"compile-err-missing-sls", "sls", "nothere", "expected.json"},
		{"compile-err-missing-sls", "sls", "some.deep.path", "expected.4.json"},
		{"compile-err-not-dict", "sls", "lst", "expected.json"},
		{"compile-err-not-dict", "sls", "txt", "expected.2.json"},
		{"compile-err-not-dict", "show_sls", "blank", "expected.5.json"},
		{"compile-err-structure", "sls", "b", "expected.2.json"},
		{"compile-err-structure", "sls", "c", "expected.3.json"},
		{"compile-err-structure", "sls", "d", "expected.4.json"},
		{"compile-err-structure", "sls", "e", "expected.5.json"},
		{"compile-err-structure", "sls", "f", "expected.6.json"},
		{"compile-err-structure", "sls", "g", "expected.7.json"},
		{"compile-err-structure", "sls", "h", "expected.8.json"},
		{"compile-err-yaml", "sls", "tab", "expected.json"},
		{"compile-err-yaml", "sls", "indent", "expected.2.json"},
		{"compile-err-yaml", "sls", "bracket", "expected.3.json"},
		{"compile-err-yaml", "sls", "colon", "expected.4.json"},
		{"compile-exclude", "show_low_sls", "main", "expected.json"},
		{"compile-exclude", "show_sls", "main", "expected.3.json"},
		{"compile-extend", "show_low_sls", "main", "expected.json"},
		{"compile-extend", "show_sls", "main", "expected.3.json"},
		{"compile-extend-missing", "show_low_sls", "main", "expected.json"},
		{"compile-extend-missing", "sls", "main", "expected.2.json"},
		{"compile-include-absolute", "show_sls", "main", "expected.json"},
		{"compile-include-missing", "show_sls", "main", "expected.json"},
		{"compile-include-relative", "show_low_sls", "tree.branch,tree.branch.leaf", "expected.json"},
		{"compile-include-twice", "show_low_sls", "a", "expected.json"},
		{"compile-multi-sls", "show_sls", "a,b", "expected.json"},
		{"compile-multi-sls", "show_sls", "a,missing", "expected.2.json"},
		{"compile-multi-sls", "sls", "a,missing,b", "expected.3.json"},
		{"compile-names", "show_low_sls", "s", "expected.json"},
		{"compile-short-dec", "show_sls", "s", "expected.json"},
		{"compile-short-dec-low", "show_low_sls", "s", "expected.json"},
		{"compile-yaml-scalars", "show_sls", "s", ""},
		{"req-recursive", "sls", "s", "expected.json"},
		{"req-use", "show_low_sls", "s", "expected.json"},
	} {
		t.Run(tt.name+"/"+tt.fun+"/"+tt.mods, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(corpus, tt.name)
			env := memtree.Recorded(t, dir).Env(t)
			h := high.New(env, nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: strings.Split(tt.mods, ",")}})
			var got value.Value
			switch tt.fun {
			case "sls":
				got = high.Texts(h.Faults)
				if len(h.Faults) == 0 {
					chunks, err := (&low.Compiler{}).Compile(h)
					got = lows(chunks)
					if err != nil {
						got = texts(err)
					}
				}
			default:
				faults := append(h.Faults, h.Verify()...)
				got = h.Data
				if len(faults) > 0 {
					got = high.Texts(faults)
				} else if tt.fun == "show_low_sls" {
					chunks, err := low.Show(h)
					if err != nil {
						t.Fatal(err)
					}
					got = lows(chunks)
				}
			}
			if tt.file == "" {
				return
			}
			if diff := cmp.Diff(memtree.Answer(t, dir, tt.file), memtree.JSON(t, got)); diff != "" {
				t.Errorf("-Salt +brine:\n%s", diff)
			}
			for _, f := range h.Faults {
				if f.Pos.File == "" && !strings.Contains(f.SaltText(), "No matching") {
					t.Errorf("no place: %s", f.Trace())
				}
			}
		})
	}
}
