package library

import (
	"context"
	"fmt"
	"strings"

	"brine/cmd/app"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/orchestration"
)

// MatchExpr returns the ids that a target expression means.
func MatchExpr(ctx context.Context, env *fun.Env, e orchestration.Expr) ([]string, error) {
	return env.Fleet.Match(ctx, TargetOf(e), e.Type)
}

// TargetOf is a target expression as fleets take it.
func TargetOf(e orchestration.Expr) value.Value {
	if e.Type != "list" {
		return e.Text
	}
	l := value.NewList()
	for id := range strings.SplitSeq(e.Text, ",") {
		if id = strings.TrimSpace(id); id != "" {
			l.Append(id)
		}
	}
	return l
}

// MatchAll is MatchExpr, and returns an error where a list names what nobody has: the
// run would leave that out.
func MatchAll(ctx context.Context, env *fun.Env, e orchestration.Expr) ([]string, error) {
	f, ok := env.Fleet.(*fleet.Fleet)
	if !ok || e.Type != "list" {
		return MatchExpr(ctx, env, e)
	}
	ids, unlisted, err := f.Listed(ctx, fun.Job{Tgt: TargetOf(e), TgtType: e.Type})
	if err != nil || len(unlisted) == 0 {
		return ids, err
	}
	err = app.OneError(unlisted)
	if strings.ContainsAny(e.Text, "*?[") {
		words := strings.FieldsFunc(e.Text, func(r rune) bool { return r == ',' || r == ' ' })
		err = &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "a list has ids alone; C@ takes patterns: 'C@" + strings.Join(words, " or ") + "'"}
	}
	return nil, err
}

// NothingMatches says that a target expression means nobody, and which id is
// nearest.
func NothingMatches(ctx context.Context, env *fun.Env, e orchestration.Expr) error {
	near := ""
	if all, err := env.Fleet.Match(ctx, "*", "glob"); err == nil {
		near = source.DidYouMean(strings.Trim(e.Text, "*?"), all)
	}
	return fmt.Errorf("nothing matches %q (%s)%s", e.Text, e.Type, near)
}

// Within is ids in words, of which a run does nothing to those that --limit leaves out.
func Within(env *fun.Env, ids []string) string {
	f, ok := env.Fleet.(fun.Limited)
	if !ok {
		return Counted(ids)
	}
	kept, outside := f.Cut(ids)
	text := Counted(kept)
	if len(outside) > 0 {
		text += fmt.Sprintf(" (%d outside --limit)", len(outside))
	}
	return text
}

// Counted is ids in words.
func Counted(ids []string) string {
	const shown = 8
	text := strings.Join(ids[:min(shown, len(ids))], ", ")
	switch {
	case len(ids) == 0:
		return "no targets"
	case len(ids) > shown:
		text += fmt.Sprintf(" and %d more", len(ids)-shown)
	}
	return fmt.Sprintf("%d target%s: %s", len(ids), value.Plural(len(ids)), text)
}
