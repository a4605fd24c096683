// Package summary words how targets fared: one line for each group of targets
// with the same outcome. Start at [Of] and [Print].
package summary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
)

// An Outcome is what the summary says of one target.
type Outcome struct {
	ID, Text string
	Failed   bool
}

// Of returns the outcome of a target, whose return has the value v.
func Of(ret fun.Return, v value.Value) Outcome {
	return Outcome{ID: ret.ID, Text: outcomeText(ret, v), Failed: !ret.Success()}
}

// outcomeText is one target's line of the summary: counted states, else the
// value; why it failed where it did. It says nothing that targets with the same outcome
// differ in.
func outcomeText(ret fun.Return, v value.Value) string {
	if ret.Stage != fun.Returned {
		text := ret.Stage.String() + reasonOf(ret)
		if n, ok := countStates(ret.Partial); ok {
			text += fmt.Sprintf(" (%s: %s)", ret.Progress(), n)
		}
		return text
	}
	if n, ok := countStates(v); ok {
		return n.String() + n.why()
	}
	switch x := v.(type) {
	case *value.Map:
		code, isInt := value.AsInt(x.At("retcode"))
		if out, ok := x.At("stdout").(string); ok && isInt && x.Has("stderr") {
			// Of a raw command, or of what went wrong before the function.
			text := x.Str("stderr")
			if code == 0 || strings.TrimSpace(text) == "" {
				text = out
			}
			if text = oneLine(text); code != 0 {
				text = strings.TrimSpace(fmt.Sprintf("retcode=%d %s", code, text))
			}
			return text
		}
	case *value.List:
		if ret.Retcode != 0 && x.Len() > 0 {
			return fmt.Sprintf("retcode=%d %s", ret.Retcode, oneLine(value.Str(x.Items[0])))
		}
	}
	if ret.Retcode != 0 {
		return fmt.Sprintf("retcode=%d %s", ret.Retcode, oneLine(value.Str(v)))
	}
	return oneLine(value.Str(v))
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

// stateCount is how the states of a run went.
type stateCount struct {
	ok, changed, failed int
	first               string // the first one that failed, and why
}

// String is the count as a summary shows it.
func (n stateCount) String() string {
	s := fmt.Sprintf("ok=%d changed=%d", n.ok, n.changed)
	if n.failed > 0 {
		s += fmt.Sprintf(" failed=%d", n.failed)
	}
	return s
}

// why names the first state that failed.
func (n stateCount) why() string {
	if n.first == "" {
		return ""
	}
	return ": " + n.first
}

// countStates counts the states of a run; false where v is none.
func countStates(v value.Value) (n stateCount, ok bool) {
	m, isMap := v.(*value.Map)
	if !isMap || m.Len() == 0 {
		return n, false
	}
	first := int64(-1)
	for k, x := range m.All() {
		st, isMap := x.(*value.Map)
		if !isMap || !st.Has("result") || !st.Has("__run_num__") {
			return n, false
		}
		if st.At("result") == false {
			n.failed++
			if num, _ := value.AsInt(st.At("__run_num__")); first < 0 || num < first {
				first, n.first = num, failedState(value.Str(k), st)
			}
		} else {
			n.ok++
		}
		if ch, isMap := st.At("changes").(*value.Map); isMap && ch.Len() > 0 {
			n.changed++
		}
	}
	return n, true
}

// failedState names a state that failed, and the reason that it gives.
func failedState(tag string, st *value.Map) string {
	comment, _, _ := strings.Cut(strings.TrimSpace(value.Str(st.At("comment"))), "\n")
	parts := strings.Split(tag, "_|-")
	if len(parts) < 4 {
		return oneLine(comment)
	}
	name := fmt.Sprintf("%s (%s.%s)", parts[1], parts[0], parts[len(parts)-1])
	if comment == "" {
		return name
	}
	return name + ": " + oneLine(comment)
}

// Print prints equal outcomes together, failures last.
func Print(w io.Writer, all []Outcome) {
	groups := map[Outcome][]string{}
	var order []Outcome
	for _, x := range all {
		key := Outcome{Text: x.Text, Failed: x.Failed}
		if groups[key] == nil {
			order = append(order, key)
		}
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
		fmt.Fprintf(w, "%s%s: %s\n", mark, printable.Line(FoldIDs(groups[g])), printable.Line(g.Text))
	}
	fmt.Fprintf(w, "# of targets: %d, failed: %d\n", len(all), bad)
}
