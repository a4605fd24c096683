package saltapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// Who is meant by a target, the master decides: by its keys where the target is
// ids, and else the minions themselves. The function that finds them out is
// test.ping, which is published for the target. The master answers at once with
// the minions that it expects returns of; of grains, pillar and addresses it
// knows what it has cached, so there the answers of the minions count.

// A finding is what a target means.
type finding struct {
	ids     []string
	unasked map[string]error
}

// Resolve returns the ids of the minions that a target means, sorted, and those
// that may be meant, with the reason why that is not known.
func (p *Provider) Resolve(ctx context.Context, tgt value.Value, tgtType string, groups *value.Map) (ids []string, unasked map[string]error, err error) {
	// What minions say of themselves is never older than the last thing that ran there.
	now, key := byData(tgt, tgtType), tgtType+"\x00"+value.Repr(tgt)
	if now {
		key += "\x00" + strconv.FormatInt(p.ran.Load(), 10)
	}
	ctx, cancel := p.untilDrained(ctx)
	defer cancel()
	f, err := p.found.get(ctx, key, now, func(ctx context.Context) (*finding, error) {
		f, err := &finding{}, error(nil)
		f.ids, f.unasked, err = p.resolve(ctx, tgt, tgtType, groups)
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, id := range f.ids {
			p.know(id)
		}
		for id := range f.unasked {
			p.know(id)
		}
		return f, err
	})
	if err := drained(ctx, cmp.Or(err, ctx.Err())); err != nil {
		return nil, nil, err
	}
	return slices.Clone(f.ids), maps.Clone(f.unasked), nil
}

// know notes that an id was found. As many are kept as a target may mean. mu is held.
func (p *Provider) know(id string) {
	if len(p.known) < p.o.Config.Minions {
		p.known[id] = true
	}
}

func (p *Provider) resolve(ctx context.Context, tgt value.Value, tgtType string, groups *value.Map) (ids []string, unasked map[string]error, err error) {
	if tgtType == "" {
		tgtType = "glob"
	}
	if p.o.Config.SSH {
		ids, err := p.resolveSSH(ctx, tgt, tgtType, groups)
		slices.Sort(ids)
		return ids, nil, err
	}
	prefix := p.o.Config.Prefix
	switch {
	case tgtType == "nodegroup", tgtType == "compound":
		words, err := target.Words(tgt, tgtType, groups)
		if err != nil {
			return nil, nil, &fun.TargetError{Err: err}
		}
		if words, err = p.ownWords(ctx, words); err != nil {
			return nil, nil, err
		}
		return p.ping(ctx, strings.Join(words, " "), "compound")
	case prefix != "" && slices.Contains([]string{"glob", "pcre", "list"}, tgtType):
		ids, err := p.among(ctx, tgt, tgtType)
		return ids, nil, err
	}
	return p.ping(ctx, tgt, tgtType)
}

// among returns the ids, with the prefix, that a target of ids means.
func (p *Provider) among(ctx context.Context, tgt value.Value, tgtType string) ([]string, error) {
	m, err := target.Compile(tgt, tgtType, nil)
	if err != nil {
		return nil, &fun.TargetError{Err: err}
	}
	all, _, err := p.ping(ctx, "*", "glob")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range all {
		ok, err := m.Match(target.Minion{ID: id})
		if err != nil {
			return nil, fmt.Errorf("match %s: %w", id, err)
		}
		if ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// nobody is a word of a compound that means no minion: ids have no slashes.
const nobody = "L@/"

// ownWords returns the words of a compound with the minions' own ids, where those
// of the fleet have a prefix.
func (p *Provider) ownWords(ctx context.Context, words []string) ([]string, error) {
	if p.o.Config.Prefix == "" {
		return words, nil
	}
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = word
		typ, pattern, ok := target.IDWord(word)
		if !ok {
			continue
		}
		ids, err := p.among(ctx, pattern, typ)
		if err != nil {
			return nil, err
		}
		if out[i] = nobody; len(ids) > 0 {
			for j := range ids {
				ids[j] = p.minion(ids[j])
			}
			out[i] = "L@" + strings.Join(ids, ",")
		}
	}
	return out, nil
}

// ping returns the ids, with the prefix, of the minions that a target means to the
// master.
func (p *Provider) ping(ctx context.Context, tgt value.Value, tgtType string) (ids []string, unasked map[string]error, err error) {
	q, forget, err := p.ask(ctx, opFind, tgt, tgtType, "test.ping")
	if err != nil {
		return nil, nil, err
	}
	defer forget()
	meant := q.minions
	if !byData(tgt, tgtType) {
		p.leaveOutOthers(tgt, tgtType, meant)
	} else if len(q.minions) > 0 {
		if meant, unasked, err = p.answering(ctx, q); err != nil {
			return nil, nil, err
		}
	}
	for id := range meant {
		ids = append(ids, p.o.Config.Prefix+id)
	}
	slices.Sort(ids)
	return ids, unasked, nil
}

// leaveOutOthers deletes the minions that a target of ids does not mean, whatever their
// master says.
func (p *Provider) leaveOutOthers(tgt value.Value, tgtType string, minions map[string]bool) {
	m, err := target.Compile(tgt, tgtType, nil)
	if err != nil {
		return // the master has another syntax, and the last word
	}
	n, some := 0, ""
	for id := range minions {
		if ok, err := m.Match(target.Minion{ID: id}); err == nil && !ok {
			delete(minions, id)
			if n++; some == "" || id < some {
				some = id
			}
		}
	}
	if n > 0 {
		p.warnOnce(fmt.Sprintf("fleet %s: its master names %d minions that the target %s does not mean, such as %s: they are left out", p.FleetName(), n, short(value.Repr(tgt)), some))
	}
}

// short is the beginning of a text that is long.
func short(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// byData reports whether a target is matched by more than ids.
func byData(tgt value.Value, tgtType string) bool {
	switch tgtType {
	case "", "glob", "pcre", "list":
		return false
	case "compound":
		for w := range strings.FieldsSeq(value.Str(tgt)) {
			if _, _, ids := target.IDWord(w); !ids && !target.IsOperator(w) {
				return true
			}
		}
		return false
	}
	return true
}

// answering returns those of the minions that a question was sent to that answer
// it: they are meant. All are asked without the target, too, so that those who are
// not meant can be told from those who do not answer.
func (p *Provider) answering(ctx context.Context, q *question) (meant map[string]bool, unasked map[string]error, err error) {
	minions := slices.Sorted(maps.Keys(q.minions))
	all, forget, err := p.ask(ctx, opFind, value.Strings(minions...), "list", "test.ping")
	if err != nil {
		return nil, nil, err
	}
	defer forget()
	ctx, cancel := context.WithTimeout(ctx, p.o.Gather) // for the minions; the master has timeout
	defer cancel()
	meant, up := map[string]bool{}, map[string]bool{}
	var grace <-chan time.Time // runs when every minion has answered one of the two
	for silent := len(minions); len(meant) < len(minions); {
		if silent == 0 && grace == nil {
			grace = time.After(pingGrace)
		}
		select {
		case a := <-q.answers:
			if !meant[a.minion] && !up[a.minion] {
				silent--
			}
			meant[a.minion] = true
		case a := <-all.answers:
			// A master may have sent it to others, too: they were not asked for.
			if q.minions[a.minion] && !meant[a.minion] && !up[a.minion] {
				silent--
				up[a.minion] = true
			}
		case <-grace:
			return meant, nil, nil
		case <-ctx.Done():
			unasked = map[string]error{}
			for _, id := range minions {
				if !meant[id] && !up[id] {
					unasked[p.o.Config.Prefix+id] = fmt.Errorf("it did not answer its master within %s", p.o.Gather)
				}
			}
			return meant, unasked, nil
		}
	}
	return meant, nil, nil
}

// pingGrace is how long the answer of a minion to the question with the target may
// come after its answer to the other one, which was asked later.
const pingGrace = 1500 * time.Millisecond
