package exec_test

import (
	"context"
	"fmt"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/runner/exec"
)

func nops(n int) []*fun.Chunk {
	chunks := make([]*fun.Chunk, n)
	for i := range chunks {
		chunks[i] = chunk(fmt.Sprintf("n%05d: test.nop", i))
	}
	return chunks
}

func bench(b *testing.B, chunks []*fun.Chunk) {
	r := newRig(b)
	b.ReportAllocs()
	for b.Loop() {
		got, err := exec.Run(context.Background(), r.env, chunks, exec.Options{})
		if err != nil || got.Returns.Len() != len(chunks) {
			b.Fatal(err, got.Returns.Len())
		}
	}
}

// BenchmarkNop runs states without requisites: time is to be linear.
func BenchmarkNop(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { bench(b, nops(n)) })
	}
}

// BenchmarkEdges runs states with five requisites each, on earlier states.
func BenchmarkEdges(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(5*n), func(b *testing.B) { bench(b, edges(n)) })
	}
}

func edges(n int) []*fun.Chunk {
	chunks := nops(n)
	kinds := []string{"require", "watch", "require_any", "watch_any", "require"}
	for i, c := range chunks {
		for k, kind := range kinds {
			l := c.Low.List(kind)
			if l == nil {
				l = value.NewList()
				c.Low.Set(kind, l)
			}
			if j := i * (k + 1) / 7; j < i {
				l.Append(value.MapOf("test", fmt.Sprintf("n%05d", j)))
			}
		}
	}
	return chunks
}

// BenchmarkChain runs a chain in which each state requires the next one.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { bench(b, chain(n)) })
	}
}

func chain(n int) []*fun.Chunk {
	chunks := nops(n)
	for i := range n - 1 {
		chunks[i].Low.Set("require", req(fmt.Sprintf("test: n%05d", i+1)))
	}
	return chunks
}

// BenchmarkSLS runs states that all require a whole SLS of as many states.
func BenchmarkSLS(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			chunks := nops(n)
			for i := range n / 2 {
				chunks[i] = chunk(fmt.Sprintf("part/m%05d: test.nop", i))
			}
			for _, c := range chunks[n/2:] {
				c.Low.Set("require", req("sls: part"))
			}
			bench(b, chunks)
		})
	}
}

// TestDeep: long chains neither exhaust the stack nor fail, whatever they are
// made of.
func TestDeep(t *testing.T) {
	t.Parallel()
	const n = 20000
	for name, chunks := range map[string][]*fun.Chunk{"require": chain(n), "ring": ring(n), "prereq": prereqs(n), "edges": edges(n)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := exec.Run(context.Background(), newRig(t).env, chunks, exec.Options{})
			if err != nil || got.Returns.Len() != n {
				t.Errorf("%d returns, %v", got.Returns.Len(), err)
			}
			if got.OK() != (name != "ring") {
				t.Errorf("OK() = %v", got.OK())
			}
		})
	}
}

func ring(n int) []*fun.Chunk {
	chunks := chain(n)
	chunks[n-1].Low.Set("require", req("test: n00000"))
	return chunks
}

func prereqs(n int) []*fun.Chunk {
	chunks := nops(n)
	for i := range n - 1 {
		chunks[i].Low.Set("prereq", req(fmt.Sprintf("test: n%05d", i+1)))
	}
	return chunks
}
