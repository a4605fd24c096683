package manage

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type presentArgs struct {
	_      fun.Arguments
	Subset value.Value `arg:"subset,str|list[str]" doc:"only these targets: IDs, addresses or networks such as 10.0.0.0/24"`
	ShowIP bool        `arg:"show_ip" default:"False" doc:"return the address of each target by ID: the first of its grains ipv4 and ipv6 that is in subset, but for loopback addresses"`
}

type absentArgs struct {
	_      fun.Arguments
	Subset value.Value `arg:"subset,str|list[str]" doc:"only these targets, by ID"`
	_      bool        `arg:"show_ip" default:"False" doc:"accepted without effect; the address of a target that does not respond is not known"`
}

// A subset is what limits a question: targets by ID, and networks that one of a
// target's addresses is in. Neither: all targets.
type subset struct {
	ids      map[string]bool
	networks []netip.Prefix
}

// parseSubset reads the argument subset: a list, or a string with commas. Salt
// documents networks and looks for IDs: both are understood.
func parseSubset(v value.Value) (s subset, err error) {
	if v == nil {
		return s, nil
	}
	words := strings.Split(value.Str(v), ",")
	if l, ok := v.(*value.List); ok {
		words = make([]string, l.Len())
		for i, x := range l.Items {
			words[i] = value.Str(x)
		}
	}
	s.ids = map[string]bool{}
	for _, w := range words {
		w = strings.TrimSpace(w)
		if w == "" {
			return s, fun.Errorf("subset %s has an empty element; name targets or networks, as in web1,10.0.0.0/24", value.Repr(v))
		}
		p, isNetwork, err := network(w)
		switch {
		case err != nil:
			return s, err
		case isNetwork:
			s.networks = append(s.networks, p)
		default:
			s.ids[w] = true
		}
	}
	if len(words) == 0 {
		return s, fun.Errorf("subset is empty; leave it out to ask all targets")
	}
	return s, nil
}

// network reads a word of a subset that is an address or a network.
func network(w string) (p netip.Prefix, ok bool, err error) {
	if a, err := netip.ParseAddr(w); err == nil {
		return netip.PrefixFrom(a.WithZone(""), a.BitLen()), true, nil
	}
	if !strings.Contains(w, "/") {
		return p, false, nil
	}
	if p, err = netip.ParsePrefix(w); err != nil {
		return p, false, fun.Errorf("subset: %q is not a network such as 10.0.0.0/24", w)
	}
	return p.Masked(), true, nil
}

// job returns the function fn as a job on the targets of the subset: all of them
// where there are networks, since only the targets know their addresses.
func (s subset) job(fn string) fun.Job {
	if len(s.ids) > 0 && len(s.networks) == 0 {
		return fun.Job{Tgt: value.Strings(slices.Sorted(maps.Keys(s.ids))...), TgtType: "list", Fun: fn}
	}
	return fun.Job{Tgt: "*", TgtType: "glob", Fun: fn}
}

// ask runs fn on the targets of the subset and hands over the returns of those that
// respond. An ID that no target has is an error.
func (s subset) ask(ctx context.Context, c *fun.Call, fn string, args []value.Value, each func(fun.Return) error) (fun.Summary, error) {
	job := s.job(fn)
	job.Args.Pos = args
	sum, err := ask(ctx, c, job, func(r fun.Return) error {
		if e, ok := errors.AsType[*fun.UnlistedError](r.Err); ok {
			return fun.Errorf("subset: %v", e)
		}
		if r.Stage != fun.Returned {
			return nil
		}
		return each(r)
	})
	if err != nil {
		return sum, err
	}
	for _, id := range slices.Sorted(maps.Keys(s.ids)) {
		_, asked := slices.BinarySearch(sum.Targets, id)
		_, outside := slices.BinarySearch(sum.Outside, id)
		if !asked && !outside {
			return sum, fun.Errorf("subset: no target has the ID %q", id)
		}
	}
	return sum, nil
}

// holds returns whether the subset has a target, and the address to show of it.
func (s subset) holds(id string, addrs []netip.Addr) (a netip.Addr, ok bool) {
	if len(s.networks) == 0 || s.ids[id] {
		return first(addrs), true
	}
	inside := slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool {
		return !slices.ContainsFunc(s.networks, func(p netip.Prefix) bool { return p.Contains(a) })
	})
	return first(inside), len(inside) > 0
}

// first returns the first address that other machines can use; the first of all where
// there is none such.
func first(addrs []netip.Addr) (a netip.Addr) {
	if i := slices.IndexFunc(addrs, func(a netip.Addr) bool { return !a.IsLoopback() }); i >= 0 {
		return addrs[i]
	}
	if len(addrs) > 0 {
		return addrs[0]
	}
	return a
}

// addresses returns the addresses of a target out of what it returned for
// grains.item; others are left out.
func addresses(v value.Value) []netip.Addr {
	grains, _ := v.(*value.Map)
	var addrs []netip.Addr
	for _, name := range []string{"ipv4", "ipv6"} {
		list := grains.List(name)
		for i := range list.Len() {
			if a, err := netip.ParseAddr(value.Str(list.Items[i])); err == nil {
				addrs = append(addrs, a.WithZone(""))
			}
		}
	}
	return addrs
}

// present lists the targets that respond.
// Salt: salt/runners/manage.py list_state, and others that call it.
func present(ctx context.Context, c *fun.Call, a *presentArgs) (fun.Result, error) {
	s, err := parseSubset(a.Subset)
	if err != nil {
		return fun.Result{}, err
	}
	fn, args := "test.ping", []value.Value(nil)
	byAddress := a.ShowIP || len(s.networks) > 0
	if byAddress {
		fn, args = "grains.item", []value.Value{"ipv4", "ipv6"}
	}
	shown := map[string]value.Value{}
	sum, err := s.ask(ctx, c, fn, args, func(r fun.Return) error {
		var addrs []netip.Addr
		if byAddress {
			v, err := r.Value()
			if err != nil {
				return err
			}
			addrs = addresses(v)
		}
		if at, ok := s.holds(r.ID, addrs); ok && at.IsValid() {
			shown[r.ID] = at.String()
		} else if ok {
			shown[r.ID] = nil
		}
		return nil
	})
	if err != nil {
		return fun.Result{}, err
	}
	ids := value.NewMap(len(shown))
	for _, id := range sum.Targets {
		if at, ok := shown[id]; ok {
			ids.Set(id, at)
		}
	}
	if a.ShowIP {
		return fun.Value(ids)
	}
	return fun.Value(value.NewList(ids.Keys()...))
}

// absent lists the targets that do not respond.
// Salt: salt/runners/manage.py list_not_state, and others that call it.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) (fun.Result, error) {
	s, err := parseSubset(a.Subset)
	if err != nil {
		return fun.Result{}, err
	}
	if len(s.networks) > 0 {
		return fun.Result{}, fun.Errorf("subset: %s is a network or an address, and those of a target that does not respond are not known; name targets by ID", s.networks[0])
	}
	sum, err := s.ask(ctx, c, "test.ping", nil, func(fun.Return) error { return nil })
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.Strings(sum.Missing...))
}
