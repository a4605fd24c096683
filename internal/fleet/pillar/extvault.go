//go:build !slim

package pillar

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/sdb"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// extVault makes pillar of secrets: conf is "path=secret/{minion}", in which
// values of the pillar can stand, too.
//
// Salt: salt/pillar/vault.py. Difference: only a secret that does not exist is
// passed over; whatever else goes wrong is an error.
func (j *job) extVault(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	conf, _ := a.get(0, "conf").(string)
	pattern := ""
	for word := range strings.FieldsSeq(conf) {
		if p, ok := strings.CutPrefix(word, "path="); ok && pattern == "" {
			pattern = p
		}
	}
	if pattern == "" {
		return nil, fmt.Errorf("%q is not a valid Vault ext_pillar config: it has no path=", conf)
	}
	if j.opts.Map("vault").Str("url") == "" {
		return nil, errors.New("the option vault has no url")
	}
	paths, err := j.vaultPaths(pattern, pillar)
	if err != nil {
		j.warn(source.Pos{}, "ext_pillar vault: %v", err)
		return nil, nil
	}
	v, err := sdb.OpenVault(ctx, j.env)
	if err != nil {
		return nil, err
	}
	strategy, lists := j.strategy.For(j.renderer), j.lists
	if s, ok := a.get(2, "merge_strategy").(string); ok {
		if strategy = value.Strategy(s); !strategy.Known() {
			return nil, fmt.Errorf("the merge_strategy %q is unknown", s)
		}
	}
	if l := a.get(3, "merge_lists"); l != nil {
		lists = value.Truth(l)
	}
	out := value.NewMap(4)
	for _, p := range paths {
		m, err := v.Secret(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("the secret %s: %w", p, err)
		}
		out = value.Merge(out, m, strategy, j.renderer, lists)
	}
	if key := a.get(1, "nesting_key"); value.Truth(key) {
		out = value.MapOf(key, out)
	}
	return out, nil
}

// vaultMarks are the places of values in a path: {minion}, {pillar[roles]}.
var vaultMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(minion|pillar)((?:\[[^\[\]]+\])*)\}`) })

// maxPaths is how many paths lists of a pillar may expand to.
const maxPaths = 1000

// vaultPaths puts values into a path; a list makes a path for each of its items.
func (j *job) vaultPaths(pattern string, pillar *value.Map) ([]string, error) {
	out := []string{""}
	rest := pattern
	for {
		at := vaultMarks().FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		var v value.Value = j.env.ID
		if rest[at[2]:at[3]] == "pillar" {
			v = pillar
			for key := range strings.SplitSeq(strings.Trim(rest[at[4]:at[5]], "[]"), "][") {
				m, ok := v.(*value.Map)
				if !ok || !m.Has(key) {
					return nil, fmt.Errorf("Could not resolve pillar path pattern %s", pattern)
				}
				v = m.At(key)
			}
		}
		items := []value.Value{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
		if len(out)*len(items) > maxPaths {
			return nil, fmt.Errorf("%s is more than %d paths", pattern, maxPaths)
		}
		var next []string
		for _, prefix := range out {
			for _, x := range items {
				next = append(next, prefix+rest[:at[0]]+value.Str(x))
			}
		}
		out, rest = next, rest[at[1]:]
	}
	for i := range out {
		out[i] = strings.Trim(out[i]+rest, "/")
		if !sdb.IsPath(out[i]) {
			return nil, fmt.Errorf("%q is not a path of Vault", out[i])
		}
	}
	return out, nil
}
