// Package difflib makes unified diffs exactly as Python's difflib does, since
// the diffs that states report are compared with Salt's line by line. Start
// with [Unified].
//
// It is the algorithm of difflib.SequenceMatcher: the longest matching block
// first, then both sides of it, lines that are very frequent in a long file
// (autojunk) not looked for.
package difflib

import (
	"fmt"
	"sort"
	"strings"
)

// context is the number of lines around a change.
const context = 3

// Unified returns the lines of the unified diff of a and b, none where they
// are equal. Lines of a and b carry their own line ends; end is put after the
// header and hunk lines. from and to are the names in the header, which may be
// empty.
func Unified(a, b []string, from, to, end string) []string {
	var out []string
	for _, group := range groups(opcodes(a, b)) {
		if out == nil {
			out = append(out, "--- "+from+end, "+++ "+to+end)
		}
		first, last := group[0], group[len(group)-1]
		out = append(out, fmt.Sprintf("@@ -%s +%s @@%s", span(first.a0, last.a1), span(first.b0, last.b1), end))
		for _, op := range group {
			if op.equal {
				for _, l := range a[op.a0:op.a1] {
					out = append(out, " "+l)
				}
				continue
			}
			for _, l := range a[op.a0:op.a1] {
				out = append(out, "-"+l)
			}
			for _, l := range b[op.b0:op.b1] {
				out = append(out, "+"+l)
			}
		}
	}
	return out
}

// String is Unified of lines that keep their newlines, joined.
func String(a, b []string, from, to string) string {
	return strings.Join(Unified(a, b, from, to, "\n"), "")
}

// span writes the range of a hunk.
func span(start, stop int) string {
	begin, n := start+1, stop-start
	if n == 1 {
		return fmt.Sprint(begin)
	}
	if n == 0 {
		begin--
	}
	return fmt.Sprintf("%d,%d", begin, n)
}

// An opcode says that a[a0:a1] became b[b0:b1].
type opcode struct {
	equal          bool
	a0, a1, b0, b1 int
}

func opcodes(a, b []string) []opcode {
	var ops []opcode
	i, j := 0, 0
	for _, m := range newMatcher(a, b).blocks() {
		if i < m.a || j < m.b {
			ops = append(ops, opcode{false, i, m.a, j, m.b})
		}
		i, j = m.a+m.n, m.b+m.n
		if m.n > 0 {
			ops = append(ops, opcode{true, m.a, i, m.b, j})
		}
	}
	return ops
}

// groups splits the opcodes into hunks with their context.
func groups(ops []opcode) [][]opcode {
	if len(ops) == 0 {
		return nil
	}
	if first := &ops[0]; first.equal {
		first.a0, first.b0 = max(first.a0, first.a1-context), max(first.b0, first.b1-context)
	}
	if last := &ops[len(ops)-1]; last.equal {
		last.a1, last.b1 = min(last.a1, last.a0+context), min(last.b1, last.b0+context)
	}
	var all [][]opcode
	var group []opcode
	for _, op := range ops {
		if op.equal && op.a1-op.a0 > 2*context {
			head := op
			head.a1, head.b1 = min(op.a1, op.a0+context), min(op.b1, op.b0+context)
			all = append(all, append(group, head))
			group = nil
			op.a0, op.b0 = max(op.a0, op.a1-context), max(op.b0, op.b1-context)
		}
		group = append(group, op)
	}
	if len(group) > 0 && (len(group) > 1 || !group[0].equal) {
		all = append(all, group)
	}
	return all
}

// A matcher compares two sequences whose lines are numbered: equal lines have
// equal numbers.
type matcher struct {
	a, b []int
	b2j  [][]int // by number: where b has it; nil for what is not looked for
}

func newMatcher(a, b []string) *matcher {
	ids := make(map[string]int, len(b))
	number := func(lines []string) []int {
		ns := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = len(ids)
				ids[l] = id
			}
			ns[i] = id
		}
		return ns
	}
	m := &matcher{b: number(b), a: number(a)}
	m.b2j = make([][]int, len(ids))
	for j, id := range m.b {
		m.b2j[id] = append(m.b2j[id], j)
	}
	if n := len(b); n >= 200 { // autojunk
		for id, js := range m.b2j {
			if len(js) > n/100+1 {
				m.b2j[id] = nil
			}
		}
	}
	return m
}

type block struct{ a, b, n int }

// longest returns the longest matching block within a[alo:ahi] and b[blo:bhi],
// of several the one that begins first in a, then in b.
func (m *matcher) longest(alo, ahi, blo, bhi int, len1, len2 map[int]int) block {
	best := block{alo, blo, 0}
	clear(len1)
	for i := alo; i < ahi; i++ {
		clear(len2)
		for _, j := range m.b2j[m.a[i]] {
			if j < blo {
				continue
			}
			if j >= bhi {
				break
			}
			k := len1[j-1] + 1
			len2[j] = k
			if k > best.n {
				best = block{i - k + 1, j - k + 1, k}
			}
		}
		len1, len2 = len2, len1
	}
	// What was not looked for still counts beside a block.
	for best.a > alo && best.b > blo && m.a[best.a-1] == m.b[best.b-1] {
		best.a, best.b, best.n = best.a-1, best.b-1, best.n+1
	}
	for best.a+best.n < ahi && best.b+best.n < bhi && m.a[best.a+best.n] == m.b[best.b+best.n] {
		best.n++
	}
	return best
}

// blocks returns the matching blocks in order, neighbours joined, and an empty
// one at the end.
func (m *matcher) blocks() []block {
	type span struct{ alo, ahi, blo, bhi int }
	var found []block
	len1, len2 := map[int]int{}, map[int]int{}
	todo := []span{{0, len(m.a), 0, len(m.b)}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		x := m.longest(s.alo, s.ahi, s.blo, s.bhi, len1, len2)
		if x.n == 0 {
			continue
		}
		found = append(found, x)
		if s.alo < x.a && s.blo < x.b {
			todo = append(todo, span{s.alo, x.a, s.blo, x.b})
		}
		if x.a+x.n < s.ahi && x.b+x.n < s.bhi {
			todo = append(todo, span{x.a + x.n, s.ahi, x.b + x.n, s.bhi})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].a < found[j].a })
	var out []block
	for _, x := range found {
		if n := len(out); n > 0 && out[n-1].a+out[n-1].n == x.a && out[n-1].b+out[n-1].n == x.b {
			out[n-1].n += x.n
			continue
		}
		out = append(out, x)
	}
	return append(out, block{len(m.a), len(m.b), 0})
}

// SplitLines splits s after each newline; the newlines stay. As Python's
// file.readlines(), it knows \n alone.
func SplitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
