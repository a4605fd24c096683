//go:build !slim

package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
	lockrun "brine/runner/fn/lock"
)

// SharesRecords reports whether the job cache of env is a database that several
// controllers can share.
func SharesRecords(env *fun.Env) bool { return historySource(env) != localHistory }

// OpenShared opens what controllers share: in the database of the job cache, else the
// locks of this machine. The caller closes it.
func OpenShared(ctx context.Context, env *fun.Env) (*shared.Store, error) {
	s, err := openShared(ctx, env, historySource(env))
	if err != nil {
		return nil, err
	}
	files := jobs.NewFiles(env.CacheDir, 0, env.Host.Now)
	s.Dead = func(jid string) bool {
		j, err := files.Job(context.Background(), jid)
		return err == nil && j != nil && j.State != jobs.Active
	}
	return s, nil
}

func openShared(ctx context.Context, env *fun.Env, source string) (*shared.Store, error) {
	if source == localHistory {
		return shared.Open(ctx, shared.Path(env.CacheDir))
	}
	r, err := OpenReturner(ctx, env, source, returner.Settings{})
	if err != nil {
		return nil, fmt.Errorf("returner %s: %w", source, err)
	}
	s := r.(interface{ Shared() *shared.Store }).Shared() // every one that keeps a history has it
	if err := s.Create(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("returner %s: %w; 'brine run returner.schema %s' prints them", source, err, source)
	}
	return s, nil
}

// SharedJob returns an orchestration that another controller recorded in the database
// of the job cache; nil where there is none.
func SharedJob(ctx context.Context, env *fun.Env, jid string) (*jobs.Job, error) {
	if !SharesRecords(env) {
		return nil, nil
	}
	s, err := OpenShared(ctx, env)
	if err != nil {
		return nil, err
	}
	j, err := s.Job(ctx, jid)
	return j, errors.Join(err, s.Close())
}

// TargetsOf returns the ids of all targets that the steps of an orchestration name,
// sorted; nil is all that there are, where steps choose targets by what is not known
// before they run.
func TargetsOf(ctx context.Context, env *fun.Env, chunks []*fun.Chunk) []string {
	var out []string
	for _, c := range chunks {
		tgt, has := c.Low.Get("tgt")
		if c.Low.Str("state") != "salt" || !has {
			continue
		}
		kind := c.Low.Str("tgt_type")
		if kind == "" {
			kind = c.Low.Str("expr_form")
		}
		if !byID(env.Opts, kind, tgt, 0) {
			return nil // by grains, pillar and the like, which a step may change
		}
		ids, err := env.Fleet.Match(ctx, tgt, kind)
		if err != nil || len(ids) == 0 {
			return nil // an earlier step may make them
		}
		out = append(out, ids...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byID reports whether a target chooses machines by nothing but their ids.
func byID(opts *value.Map, kind string, tgt value.Value, depth int) bool {
	const deep = 20 // nodegroups in nodegroups
	switch kind {
	case "", "glob", "list", "pcre":
		return true
	case "nodegroup":
		group, known := opts.Map("nodegroups").Get(value.Str(tgt))
		return known && depth < deep && byID(opts, "compound", group, depth+1)
	case "compound":
	default:
		return false
	}
	var text []string
	if l, ok := tgt.(*value.List); ok {
		for _, x := range l.Items {
			text = append(text, value.Str(x))
		}
	} else {
		text = []string{value.Str(tgt)}
	}
	for word := range strings.FieldsSeq(strings.Join(text, " ")) {
		letter, rest, typed := strings.Cut(word, "@")
		switch {
		case !typed, letter == "L", letter == "E":
		case letter != "N" || !byID(opts, "nodegroup", rest, depth):
			return false
		}
	}
	return true
}

// lockRunner is the runner module "lock".
func lockRunner() fun.Module { return lockrun.Runners(OpenShared) }
