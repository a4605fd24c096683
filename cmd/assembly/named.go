//go:build !slim

package assembly

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/roster"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/sshexec"
)

// A namer makes the machines of targets that no list has: those of the rosters
// scan and clustershell.
type namer struct {
	r        *roster.Roster
	kinds    []string // the run's
	listed   []string // ids that the other rosters have
	warn     func(*roster.Roster)
	provider func() (*sshexec.Provider, error)

	mu sync.Mutex // one target is made at a time
}

// name makes the machines of a target; see Name of [fleet.Fleet]. Where the run
// has rosters with lists beside, these are asked only for targets that match
// nothing there.
func (n *namer) name(_ context.Context, kind string, target []string) (ids []string, named bool, err error) {
	kinds := n.kinds
	if kind != "" && !slices.Contains(kinds, kind) {
		if !roster.FromTarget(kind) {
			return nil, false, fmt.Errorf("the roster %q is not one of this run, which are %s%s; the option roster names them",
				kind, strings.Join(kinds, ", "), source.DidYouMean(kind, roster.Kinds()))
		}
		kinds = []string{kind}
	}
	lists := !roster.AllFromTarget(kinds)
	if lists && slices.ContainsFunc(target, n.lists) {
		return nil, false, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []*roster.Entry
	var fault error
	for _, k := range kinds {
		if !roster.FromTarget(k) {
			continue
		}
		got, err := n.r.Name(k, target...)
		if err != nil {
			fault = err
			continue
		}
		n.warn(got)
		found, named = append(found, got.Entries()...), true
	}
	switch {
	case !named && (lists || fault == nil):
		return nil, false, nil // an expression that matches nothing, or a list with ids that are unknown
	case !named:
		return nil, false, fault
	}
	p, err := n.provider()
	if err != nil {
		return nil, false, err
	}
	p.Add(found)
	for _, e := range found {
		if !slices.Contains(ids, e.ID) {
			ids = append(ids, e.ID)
		}
	}
	return ids, true, nil
}

// lists reports whether the rosters with lists have a machine that a word of a
// target means.
func (n *namer) lists(word string) bool {
	return slices.ContainsFunc(n.listed, func(id string) bool {
		return value.Fnmatch(word, id) || slices.Contains(strings.Split(word, ","), id)
	})
}
