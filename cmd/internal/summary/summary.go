// Package summary words how targets fared: one line for each group of targets
// with the same outcome. Start at [Of] and [Print].
package summary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// An Outcome is what the summary says of one target.
type Outcome struct {
	ID, Text string
	Failed   bool
	Took     time.Duration // 0: not known
}

// Of returns the outcome of a target, whose return has the value v. mask hides the
// secrets in a text.
func Of(ret fun.Return, v value.Value, mask func(string) string) Outcome {
	return Outcome{ID: ret.ID, Text: outcomeText(ret, v, mask), Failed: !ret.Success(), Took: tookOf(v)}
}

// maxReason is how much of a reason a line has, in characters.
const maxReason = 240

// outcomeText is one target's line of the summary: counted states, else the
// value; why it failed where it did. It says nothing that targets with the same outcome
// differ in.
func outcomeText(ret fun.Return, v value.Value, mask func(string) string) string {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	if ret.Stage != fun.Returned {
		text := mask(ret.Stage.String() + reasonOf(ret))
		if n, ok := cause.CountOf(ret.Partial); ok {
			text += fmt.Sprintf(" (%s: %s)", ret.Progress(), countText(n))
		}
		return text
	}
	n, isRun := cause.CountOf(v)
	if ret.Success() {
		if isRun {
			return countText(n)
		}
		return oneLine(mask(resultOf(v)))
	}
	status := int64(ret.Retcode)
	if isRun || ret.Raised {
		status = 0
	}
	why := cause.Of("", v, status, cause.Options{Mask: mask}).Line(maxReason)
	if isRun && why != "" {
		return countText(n) + ": " + why
	}
	return cmp.Or(why, countText(n))
}

// resultOf is the value of a target that succeeded, of a command what it wrote.
func resultOf(v value.Value) string {
	if m, ok := v.(*value.Map); ok {
		_, isInt := value.AsInt(m.At("retcode"))
		if out, ok := m.At("stdout").(string); ok && isInt && m.Has("stderr") {
			return out
		}
	}
	return value.Str(v)
}

// reasonOf is why a target gave no return.
func reasonOf(ret fun.Return) string {
	var same interface{ Reason() string }
	switch {
	case ret.Err == nil:
		return ""
	case errors.Is(ret.Err, context.Canceled):
		return ": interrupted"
	case errors.As(ret.Err, &same):
		return ": " + strings.Join(strings.Fields(same.Reason()), " ")
	}
	return ": " + strings.Join(strings.Fields(ret.Err.Error()), " ")
}

// oneLine is text on one line, cut to what a summary can hold.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if rs := []rune(s); len(rs) > 100 {
		s = string(rs[:100]) + "..."
	}
	return s
}

// countText is how the states of a run went, as a summary shows it.
func countText(n cause.Count) string {
	parts := []string{fmt.Sprintf("ok=%d changed=%d", n.Same+n.Changed, n.Touched)}
	for _, x := range []struct {
		name string
		n    int
	}{{"would_change", n.Due}, {"failed", n.Failed}, {"not_run", n.NotRun}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", x.name, x.n))
		}
	}
	return strings.Join(parts, " ")
}

// Print prints equal outcomes together, failures last.
func Print(w io.Writer, all []Outcome) {
	groups := map[Outcome][]string{}
	times := map[Outcome]*span{}
	var order []Outcome
	for _, x := range all {
		key := Outcome{Text: x.Text, Failed: x.Failed}
		if groups[key] == nil {
			order = append(order, key)
			times[key] = &span{}
		}
		times[key].add(x.Took)
		groups[key] = append(groups[key], x.ID)
	}
	for _, ids := range groups {
		slices.SortFunc(ids, CompareIDs)
	}
	sort.Slice(order, func(i, j int) bool {
		a, b := order[i], order[j]
		if a.Failed != b.Failed {
			return b.Failed
		}
		return CompareIDs(groups[a][0], groups[b][0]) < 0
	})
	fmt.Fprintln(w, "Summary")
	fmt.Fprintln(w, "-------")
	bad := 0
	for _, g := range order {
		mark := ""
		if g.Failed {
			mark = "FAILED "
			bad += len(groups[g])
		}
		fmt.Fprintf(w, "%s%s: %s%s\n", mark, printable.Line(FoldIDs(groups[g])), printable.Line(g.Text), times[g])
	}
	fmt.Fprintf(w, "# of targets: %d, failed: %d\n", len(all), bad)
}
