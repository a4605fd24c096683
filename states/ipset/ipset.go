// Package ipset is Salt's state module "ipset": sets of addresses of firewalls.
package ipset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/ipset"
	"brine/modules/tool"
)

// States returns the rows of the state module "ipset".
func States() fun.Module {
	return fun.Module{Name: "ipset", Kind: fun.State, Doc: "Manage sets of addresses of firewalls.", Specs: specs, Avail: tool.Needs("ipset", "The ipset execution modules cannot be loaded: ipset binary not in path.")}
}

func done(result fun.Outcome, format string, args ...any) fun.Ret {
	return fun.Ret{Result: result, Comment: fmt.Sprintf(format, args...)}
}

// changed is the return of a change, in Salt's words.
func changed(name, format string, args ...any) fun.Ret {
	ret := done(fun.OK, format, args...)
	ret.Changes = value.MapOf("locale", name)
	return ret
}

type setPresentArgs struct {
	Name    string      `arg:"name,required" doc:"name of the set"`
	SetType string      `arg:"set_type,required" doc:"type of the set, such as hash:ip or list:set"`
	Family  string      `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"family of the addresses"`
	Comment value.Value `arg:"comment" default:"False" doc:"entries may have comments; any text or True says so"`
	ipset.SetArgs
	_ fun.Kwargs
}

// setPresent makes sure that a set is there. Salt: salt/states/ipset.py set_present.
func setPresent(ctx context.Context, c *fun.Call, a *setPresentArgs) fun.Ret {
	s, name, family := ipset.Client{Env: c.Env}, a.Name, a.Family
	have, err := s.Find(ctx, name)
	switch {
	case err != nil:
		return fun.FailedBy(err, "")
	case have != nil:
		return done(fun.OK, "ipset set %s already exists for %s", name, family)
	case c.Test:
		return done(fun.WouldChange, "ipset set %s would be added for %s", name, family)
	}
	if err := s.Create(ctx, ipset.Definition{
		Name: name, Type: a.SetType, Family: family, Options: a.Options(), Comment: value.Truth(a.Comment),
	}); err != nil {
		return fun.FailedBy(err, "Failed to create set "+name+" for "+family+": ")
	}
	return changed(name, "ipset set %s created successfully for %s", name, family)
}

// setAbsentArgs are the arguments of setAbsent and flush.
type setAbsentArgs struct {
	Name   string `arg:"name,required" doc:"name of the set"`
	Family string `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"family, as comments name it"`
	_      fun.Kwargs
}

// setAbsent makes sure that a set is not there. Salt: salt/states/ipset.py set_absent.
// Difference: a set that a rule uses keeps its entries.
func setAbsent(ctx context.Context, c *fun.Call, a *setAbsentArgs) fun.Ret {
	s, name, family := ipset.Client{Env: c.Env}, a.Name, a.Family
	have, err := s.Find(ctx, name)
	switch {
	case err != nil:
		return fun.FailedBy(err, "")
	case have == nil:
		return done(fun.OK, "ipset set %s for %s is already absent", name, family)
	case c.Test:
		return done(fun.WouldChange, "ipset set %s for %s would be removed", name, family)
	}
	if err := s.Destroy(ctx, name); err != nil {
		return fun.FailedBy(err, "Failed to delete set "+name+" for "+family+": ")
	}
	return changed(name, "ipset set %s deleted successfully for family %s", name, family)
}

// flush makes sure that a set has no entries. Salt: salt/states/ipset.py flush.
// Difference: an empty set is not flushed.
func flush(ctx context.Context, c *fun.Call, a *setAbsentArgs) fun.Ret {
	s, name, family := ipset.Client{Env: c.Env}, a.Name, a.Family
	have, err := s.Find(ctx, name)
	switch {
	case err != nil:
		return fun.FailedBy(err, "")
	case have == nil:
		return done(fun.Failed, "ipset set %s does not exist for %s", name, family)
	case len(have.Members) == 0:
		return done(fun.OK, "ipset set %s for %s has no entries", name, family)
	case c.Test:
		return done(fun.WouldChange, "ipset entries in set %s for %s would be flushed", name, family)
	}
	if err := s.Flush(ctx, name); err != nil {
		return fun.FailedBy(err, "Failed to flush ipset entries from set "+name+" for "+family+": ")
	}
	return changed(name, "Flushed ipset entries from set %s for %s", name, family)
}

// entries returns what is to be in a set or not: the words of each entry of list with
// the options that all have.
func entries(a *ipset.AddArgs, list []string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		words := strings.Fields(e)
		if a.Timeout != nil && !slices.Contains(words, "timeout") {
			e += " timeout " + strconv.FormatInt(fun.IntOf(a.Timeout), 10)
		}
		if a.Comment != nil && !slices.Contains(words, "comment") {
			text := strings.ReplaceAll(fun.TextOf(a.Comment), `"`, "")
			if len(strings.Fields(text)) != 1 {
				text = `"` + text + `"`
			}
			e += " comment " + text
		}
		out[i] = e
	}
	return out
}

// A job is one state about entries in progress.
type job struct {
	s       ipset.Client
	name    string
	set     *ipset.Set
	family  string
	result  fun.Outcome
	comment strings.Builder
	changed bool
}

func (j *job) say(format string, args ...any) { fmt.Fprintf(&j.comment, format+"\n", args...) }

func (j *job) ret() fun.Ret {
	ret := fun.Ret{Result: j.result, Comment: j.comment.String()}
	if j.changed {
		ret.Changes = value.MapOf("locale", j.name)
	}
	return ret
}

// begin finds the set of a state about entries.
func begin(ctx context.Context, c *fun.Call, j *job, setName string, list []string) *fun.Ret {
	refuse := func(ret fun.Ret) *fun.Ret { return &ret }
	if len(list) == 0 {
		return refuse(done(fun.Failed, "ipset entry must be specified"))
	}
	if setName == "" {
		return refuse(done(fun.Failed, "set_name must be specified"))
	}
	var err error
	if j.set, err = j.s.Find(ctx, setName); err != nil {
		return refuse(fun.FailedBy(err, ""))
	}
	if j.set == nil {
		if c.Test {
			j.result = fun.WouldChange
			j.set = &ipset.Set{Name: setName, Info: value.NewMap(0)}
			return nil
		}
		return refuse(done(fun.Failed, "Error: Set %s does not exist", setName))
	}
	return nil
}

func first(entry string) string {
	word, _, _ := strings.Cut(entry, " ")
	return word
}

type presentArgs struct {
	Name   string   `arg:"name,required" doc:"any text"`
	Entry  []string `arg:"entry" doc:"entry, or a list of entries: address, network, port and so on, with options"`
	Family string   `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"family, as comments name it"`
	setArg
	ipset.AddArgs
	_ fun.Kwargs
}

func failedToAdd(entry, set, family string) string {
	return "Failed to add to entry " + entry + " to set " + set + " for family " + family + ".\n"
}

// present makes sure that a set has entries. Salt: salt/states/ipset.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	j := &job{s: ipset.Client{Env: c.Env}, name: a.Name, family: a.Family, result: fun.OK}
	list := entries(&a.AddArgs, a.Entry)
	if refused := begin(ctx, c, j, a.SetName, list); refused != nil {
		if len(list) > 0 && a.SetName != "" {
			refused.Comment = failedToAdd(list[len(list)-1], a.SetName, a.Family) + value.Str(refused.Comment)
		}
		return *refused
	}
	for _, e := range list {
		switch {
		case j.set.Has(e):
			j.say("entry for %s already in set %s for %s", first(e), j.set.Name, j.family)
		case c.Test:
			j.result = fun.WouldChange
			j.say("entry %s would be added to set %s for family %s", first(e), j.set.Name, j.family)
		default:
			if err := j.s.Add(ctx, j.set, e, a.Options()); err != nil {
				ret := fun.FailedBy(err, failedToAdd(e, j.set.Name, j.family))
				ret.Changes = j.ret().Changes
				return ret
			}
			j.changed = true
			j.say("entry %s added to set %s for family %s", e, j.set.Name, j.family)
		}
	}
	return j.ret()
}

type absentArgs struct {
	Name    string   `arg:"name,required" doc:"any text"`
	Entry   []string `arg:"entry" doc:"entry, or a list of entries"`
	Entries []string `arg:"entries" doc:"further entries"`
	Family  string   `arg:"family" default:"ipv4" oneof:"ipv4|ip4|ipv6|ip6" doc:"family, as comments name it"`
	setArg
	ipset.AddArgs
	_ fun.Kwargs
}

// absent makes sure that a set does not have entries. Salt: salt/states/ipset.py
// absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	j := &job{s: ipset.Client{Env: c.Env}, name: a.Name, family: a.Family, result: fun.OK}
	list := entries(&a.AddArgs, append(a.Entry, a.Entries...))
	if refused := begin(ctx, c, j, a.SetName, list); refused != nil {
		return *refused
	}
	j.result = fun.OK
	for _, e := range list {
		switch {
		case !j.set.Has(first(e)):
			j.say("ipset entry for %s not present in set %s for %s", e, j.set.Name, j.family)
		case c.Test:
			j.result = fun.WouldChange
			j.say("ipset entry %s would be removed from set %s for %s", first(e), j.set.Name, j.family)
		default:
			if err := j.s.Delete(ctx, j.set.Name, e); err != nil {
				ret := fun.FailedBy(err, fmt.Sprintf("Failed to delete ipset entry from set %s for %s. Attempted entry was %s.\n", j.set.Name, j.family, e))
				ret.Changes = j.ret().Changes
				return ret
			}
			j.changed = true
			j.say("ipset entry %s removed from set %s for %s", e, j.set.Name, j.family)
		}
	}
	return j.ret()
}
