package fleet

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Permit is what who runs a controller may run on targets, by the options
// publisher_acl, publisher_acl_blacklist and sudo_acl, which Salt's master looks at
// for each job.
type Permit struct {
	// User is the account that runs the controller: for root the account that
	// became root by sudo, written sudo_NAME, as in Salt. Behalf is the user on
	// whose behalf the controller runs, or "".
	User, Behalf string
	Root         bool
	// ACL are lists of functions by users; nil: anybody may call anything. SudoACL has
	// it hold for root by sudo.
	ACL       value.Value
	SudoACL   bool
	Blacklist value.Value
	Limits    *fun.Limits
	// Hosts are those of OnHosts: globs for the ids of machines that jobs may be for, by the limits of a user
	// of brine ui; none: all.
	Hosts []string
}

// reaches returns an error that names the machines among ids that jobs may not be for: also
// of jobs that other machines call, and of those that go on.
func (p *Permit) reaches(job fun.Job, ids []string) error {
	if p == nil || len(p.Hosts) == 0 {
		return nil
	}
	beyond := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(p.Hosts, func(g string) bool { ok, _ := path.Match(g, id); return ok })
	})
	if len(beyond) == 0 {
		return nil
	}
	return fun.Errorf("%s may not be run on %s: %s is limited to hosts=%s", name(job), fun.Some(beyond), cmp.Or(p.Behalf, "this run"), strings.Join(p.Hosts, ","))
}

// OnHosts is the environment variable with globs, separated by commas, for the hosts that a
// run for a user of brine ui may reach.
const OnHosts = "BRINE_ON_HOSTS"

// The options, for errors.
const (
	optionACL       = "publisher_acl"
	optionBlacklist = "publisher_acl_blacklist"
)

// functions returns an error for a job that may not run at all, else the targets on
// which alone it may; none is all.
//
// Salt: salt/master.py ClearFuncs.publish, salt/auth/__init__.py
// check_authentication. Difference: an entry of the blacklist without a dot stands
// for all functions of a module, as Salt's example means it, and a raw command is
// what cmd.run is.
func (p *Permit) functions(job fun.Job) ([][]string, error) {
	if p == nil || job.Peer || job.Continued {
		return nil, nil // others decided
	}
	names := strings.Split(job.Fun, ",")
	if job.Shell != "" {
		names = []string{"cmd.run"}
		if err := p.Limits.Command(job.Shell); err != nil {
			return nil, err
		}
	}
	if err := p.blacklisted(names); err != nil {
		return nil, err
	}
	user, bySudo := strings.CutPrefix(p.User, "sudo_")
	if !value.Truth(p.ACL) || p.Root && (!bySudo || !p.SudoACL) {
		return nil, nil
	}
	acl, ok := p.ACL.(*value.Map)
	if !ok {
		return nil, fun.Errorf("the option %s must be a mapping of users to lists of functions, not %s", optionACL, value.TypeName(p.ACL))
	}
	var rules []value.Value
	for pattern, list := range acl.All() {
		if !matches(value.Str(pattern), user) {
			continue
		}
		l, ok := list.(*value.List)
		if !ok {
			return nil, fun.Errorf("the option %s must have a list of functions for %s, not %s", optionACL, value.Str(pattern), value.TypeName(list))
		}
		rules = append(rules, l.Items...)
	}
	var limits [][]string
	for _, name := range names {
		tgts, err := permitted(rules, name)
		if err != nil {
			return nil, err
		}
		if tgts == nil {
			return nil, fun.Errorf("%s may not run %s on targets: the option %s of the configuration does not allow it", user, name, optionACL)
		}
		if !slices.Contains(tgts, "") {
			limits = append(limits, tgts)
		}
	}
	return limits, nil
}

// permitted returns the targets on which rules allow a function, "" is any; nil
// where they do not.
func permitted(rules []value.Value, name string) ([]string, error) {
	var tgts []string
	for _, rule := range rules {
		switch x := rule.(type) {
		case string:
			ok, err := fullMatch(optionACL, x, name)
			if err != nil {
				return nil, err
			}
			if ok {
				tgts = append(tgts, "")
			}
		case *value.Map:
			for tgt, funs := range x.All() {
				list, ok := funs.(*value.List)
				if !ok {
					list = value.NewList(funs)
				}
				got, err := permitted(textOnly(list.Items), name)
				if err != nil {
					return nil, err
				}
				if got != nil && value.Str(tgt) != "" {
					tgts = append(tgts, value.Str(tgt))
				}
			}
		}
	}
	return tgts, nil
}

// textOnly returns the strings among items. Other items are rules by arguments,
// which allow nothing here.
func textOnly(items []value.Value) []value.Value {
	return slices.DeleteFunc(slices.Clone(items), func(v value.Value) bool { _, ok := v.(string); return !ok })
}

// blacklisted returns an error where the user or one of the functions is on the
// blacklist.
func (p *Permit) blacklisted(names []string) error {
	if !value.Truth(p.Blacklist) {
		return nil
	}
	black, ok := p.Blacklist.(*value.Map)
	if !ok {
		return fun.Errorf("the option %s must be a mapping with users and modules, not %s", optionBlacklist, value.TypeName(p.Blacklist))
	}
	entries := func(key string) ([]string, error) {
		switch v := black.At(key).(type) {
		case nil:
			return nil, nil
		case string:
			return []string{v}, nil
		case *value.List:
			return v.Strs(), nil
		default:
			return nil, fun.Errorf("%s of the option %s must be a list, not %s", key, optionBlacklist, value.TypeName(v))
		}
	}
	users, err := entries("users")
	if err != nil {
		return err
	}
	modules, err := entries("modules")
	if err != nil {
		return err
	}
	for _, pattern := range users {
		for _, user := range []string{p.User, p.Behalf} {
			if user != "" && matches(pattern, user) {
				return fun.Errorf("%s may run nothing on targets: the option %s of the configuration forbids it", user, optionBlacklist)
			}
		}
	}
	for _, pattern := range modules {
		for _, name := range names {
			mod, _, _ := strings.Cut(name, ".")
			if matches(pattern, name) || !strings.Contains(pattern, ".") && matches(pattern, mod) {
				return fun.Errorf("%s may not be run on targets: the option %s of the configuration forbids it", name, optionBlacklist)
			}
		}
	}
	return nil
}

// matches reports whether a glob or a regular expression matches all of a text.
// Salt: salt/utils/stringutils.py expr_match.
func matches(pattern, text string) bool {
	if value.Fnmatch(pattern, text) {
		return true
	}
	ok, err := fullMatch(optionBlacklist, pattern, text)
	return ok && err == nil
}

// permit returns an error where a job may not run on one of ids.
func (f *Fleet) permit(ctx context.Context, limits [][]string, job fun.Job, ids []string) error {
	for _, tgts := range limits {
		left := ids
		for _, tgt := range tgts {
			allowed, err := f.Match(ctx, tgt, "compound")
			if err != nil {
				return fun.Errorf("the option %s: %v", optionACL, err)
			}
			left = without(left, allowed)
		}
		if len(left) > 0 {
			return fun.Errorf("%s may not be run on %s: the option %s of the configuration does not allow it", name(job), strings.Join(left, ", "), optionACL)
		}
	}
	return nil
}
