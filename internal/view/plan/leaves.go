package plan

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Leaves is what a state that would change something is to leave on a machine.
type Leaves struct {
	ID     string `json:"id"`
	Fun    string `json:"fun"`
	Name   string `json:"name"`
	Things []Left `json:"things"`
	More   int64  `json:"more,omitempty"` // how many things are left out
}

// A Left is one thing that a state leaves.
type Left struct {
	// Kind is file, directory, link or path; user, group, package, service, mount,
	// sysctl, crontab (by its user), module, timezone or grain; of rules for packets table,
	// chain, set, zone or firewall_service.
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Absent bool   `json:"absent,omitempty"` // it is there no longer
	// Hash is the keyed hash of the content of a file, and Size how many bytes it has.
	Hash    string   `json:"hash,omitempty"`
	Size    *int64   `json:"size,omitempty"`
	Mode    string   `json:"mode,omitempty"`
	User    string   `json:"user,omitempty"`
	Group   string   `json:"group,omitempty"`
	Target  string   `json:"target,omitempty"` // of a link
	Home    string   `json:"home,omitempty"`
	Shell   string   `json:"shell,omitempty"`
	Members []string `json:"members,omitempty"` // of a group
	Version string   `json:"version,omitempty"` // of a package
	Running *bool    `json:"running,omitempty"` // of a service, as the two below
	Enabled *bool    `json:"enabled,omitempty"`
	Masked  *bool    `json:"masked,omitempty"`
	Device  string   `json:"device,omitempty"` // of a mount
	FSType  string   `json:"fstype,omitempty"`
	Value   string   `json:"value,omitempty"` // of a sysctl or grain, or the policy of a chain
}

// Bounds of what a machine says that states leave.
const (
	maxThings  = 200     // of a state
	maxText    = 4 << 10 // bytes of a text
	maxMembers = 100
)

// KeyLeaves returns what machines answer with keyed hashes instead of the digests of what
// files contain: a digest would let others try what a secret is.
func KeyLeaves(rets *value.Map, hash func([]byte) string) *value.Map {
	out := rets.Copy()
	for k, v := range rets.All() {
		ret, _ := v.(*value.Map)
		extra := ret.Map(fun.PlanKey)
		if extra.List(fun.PlanLeaves).Len() == 0 {
			continue
		}
		list := value.NewList()
		for _, x := range fun.ItemsOf(extra.At(fun.PlanLeaves)) {
			if m, ok := x.(*value.Map); ok && m.Str("sha256") != "" {
				m = m.Copy()
				m.Set("hash", hash([]byte(m.Str("sha256"))))
				m.Delete("sha256")
				x = m
			}
			list.Append(x)
		}
		extra, ret = extra.Copy(), ret.Copy()
		extra.Set(fun.PlanLeaves, list)
		ret.Set(fun.PlanKey, extra)
		out.Set(k, ret)
	}
	return out
}

// leave takes what a return says that its state leaves.
func (st *State) leave(extra *value.Map) {
	more, _ := value.AsInt(extra.At(fun.PlanMore))
	l := &Leaves{ID: st.ID, Fun: st.Fun, Name: st.Name, More: max(0, more)}
	for _, x := range fun.ItemsOf(extra.At(fun.PlanLeaves)) {
		m, ok := x.(*value.Map)
		if !ok || m.Str("kind") == "" {
			continue
		}
		if len(l.Things) == maxThings {
			l.More++
			continue
		}
		l.Things = append(l.Things, leftOf(m))
	}
	for _, p := range st.Packages {
		if len(l.Things) == maxThings {
			l.More++
			continue
		}
		l.Things = append(l.Things, Left{Kind: "package", Name: p.Name, Version: p.To, Absent: p.Action == Remove})
	}
	if len(l.Things) > 0 {
		st.leaves = l
	}
}

func leftOf(m *value.Map) Left {
	text := func(key string) string {
		s := m.Str(key)
		if len(s) > maxText {
			s = s[:maxText]
		}
		return s
	}
	flag := func(key string) *bool {
		if b, ok := m.At(key).(bool); ok {
			return &b
		}
		return nil
	}
	l := Left{
		Kind: text("kind"), Name: text("name"), Absent: m.At("absent") == true, Hash: text("hash"), Mode: text("mode"), User: text("user"),
		Group: text("group"), Target: text("target"), Home: text("home"), Shell: text("shell"), Running: flag("running"),
		Enabled: flag("enabled"), Masked: flag("masked"), Device: text("device"), FSType: text("fstype"), Value: text("value"),
	}
	if n, ok := value.AsInt(m.At("size")); ok && n >= 0 {
		l.Size = &n
	}
	for _, x := range fun.ItemsOf(m.At("members")) {
		if name, ok := x.(string); ok && len(l.Members) < maxMembers {
			l.Members = append(l.Members, name[:min(len(name), maxText)])
		}
	}
	return l
}

// LeavesOf returns what the states of each machine leave, in their order.
func LeavesOf(states map[string][]*State) map[string][]*Leaves {
	out := map[string][]*Leaves{}
	for id, list := range states {
		for _, st := range list {
			if st.leaves != nil && st.Effect == Change {
				out[id] = append(out[id], st.leaves)
			}
		}
	}
	return out
}
