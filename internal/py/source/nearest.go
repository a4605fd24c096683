package source

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that a user most likely meant by name, and
// false where none is near enough to be worth suggesting.
//
// Names of one or two letters have no near ones. Near means an edit distance (insert, delete, replace, swap of neighbours,
// case ignored) of at most a third of the name's length, at least one.
func Nearest(name string, candidates []string) (string, bool) {
	if len(name) < 3 {
		return "", false
	}
	low := strings.ToLower(name)
	best, bestDist := "", max(1, len(low)/3)+1
	for _, c := range candidates {
		if c == name || len(c)-len(name) >= bestDist || len(name)-len(c) >= bestDist {
			continue
		}
		if d := distance(low, strings.ToLower(c), bestDist); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best, best != ""
}

// Near returns the candidates that are near name as [Nearest] has it, the nearest
// first.
func Near(name string, candidates []string) []string {
	var near []string
	left := candidates
	for {
		n, ok := Nearest(name, left)
		if !ok {
			return near
		}
		near = append(near, n)
		left = slices.DeleteFunc(slices.Clone(left), func(c string) bool { return c == n })
	}
}

// DidYouMean returns ` (did you mean "x"?)` for the nearest candidate, or "".
func DidYouMean(name string, candidates []string) string {
	if n, ok := Nearest(name, candidates); ok {
		return ` (did you mean "` + n + `"?)`
	}
	return ""
}

// distance is the optimal string alignment distance of a and b in bytes, or limit if it is not less.
func distance(a, b string, limit int) int {
	before := 0
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
			least = min(least, cur[j])
		}
		if least >= limit && before >= limit {
			return limit // no later row has less than the least of two rows
		}
		before = least
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
