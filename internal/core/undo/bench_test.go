package undo

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// BenchmarkKept is what it costs to replace 1,000 files, each as one state, without undo and
// with it. A whole run does more for each file, so that undo costs a smaller part of it.
func BenchmarkKept(b *testing.B) {
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprintf("undo=%t", keep), func(b *testing.B) {
			h, dir, cache := host.NewLocal(), b.TempDir(), b.TempDir()
			n := 0
			for b.Loop() {
				n++
				env := envOf(h, cache, fmt.Sprintf("20261121090807%06d", n))
				var r *Run
				if keep {
					var err error
					if r, err = Begin(env); err != nil {
						b.Fatal(err)
					}
				}
				for i := range 1000 {
					to, after := host.Host(h), func(*value.Map) {}
					if keep {
						c := &fun.Chunk{State: "file", Fun: "managed", ID: fmt.Sprint(i), Name: fmt.Sprint(i), Low: value.NewMap(0)}
						to, after = r.State(b.Context(), env, c, &fun.Spec{Files: true})
					}
					text := fmt.Sprintf("line one\nvalue %d of %d\n", n, i)
					if err := to.WriteFile(filepath.Join(dir, fmt.Sprint(i)), strings.NewReader(text), host.WriteOptions{}); err != nil {
						b.Fatal(err)
					}
					after(value.MapOf("result", true, "changes", value.MapOf("diff", "x")))
				}
				if keep {
					r.End(env)
				}
			}
		})
	}
}
