package plan

import (
	"cmp"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Package is a package that a state would change.
type Package struct {
	Name   string `json:"name"`
	From   string `json:"from,omitempty"` // version that is installed; "" for none
	To     string `json:"to,omitempty"`   // version afterwards; "" for none
	Action string `json:"action"`
	// Along says that no state asks for it: it is a dependency, depends on a package
	// that is removed, or conflicts with one that is installed.
	Along bool `json:"along,omitempty"`
}

// Actions of packages.
const (
	Install   = "install"
	Upgrade   = "upgrade"
	Downgrade = "downgrade"
	Reinstall = "reinstall"
	Remove    = "remove"
)

// Loses reports whether a package is removed, or becomes an older one.
func (p Package) Loses() bool { return p.Action == Remove || p.Action == Downgrade }

// planned takes what a return has beyond what Salt returns.
func (st *State) planned(extra *value.Map) {
	if extra == nil {
		return
	}
	for _, x := range fun.ItemsOf(extra.At(fun.PlanPackages)) {
		m, ok := x.(*value.Map)
		if !ok {
			continue
		}
		p := Package{Name: m.Str("name"), From: m.Str("old"), To: m.Str("new"), Action: m.Str("action"), Along: m.At("asked") != true}
		if !slices.Contains([]string{Install, Upgrade, Downgrade, Reinstall, Remove}, p.Action) {
			p.Action = Upgrade
		}
		st.Packages = append(st.Packages, p)
	}
	if content := extra.Map(fun.PlanContent); content != nil {
		st.Diff = cmp.Or(st.Diff, content.Str("diff"))
		if size, ok := value.AsInt(content.At("size")); ok {
			st.New, st.Size = true, size
		}
	}
	if text := extra.Str(fun.PlanUnknown); text != "" {
		st.Unknown = text
	}
	st.makes(extra)
	st.leave(extra)
}

// makes takes the new files of a return. The one of the state's name is the state's.
func (st *State) makes(extra *value.Map) {
	var files []NewFile
	for _, x := range fun.ItemsOf(extra.At(fun.PlanFiles)) {
		m, ok := x.(*value.Map)
		if !ok || len(files) == maxThings {
			continue
		}
		size, _ := value.AsInt(m.At("size"))
		files = append(files, NewFile{Name: m.Str("name"), Size: max(0, size), Diff: m.Str("diff")})
	}
	if len(files) == 1 && files[0].Name == st.Name {
		st.New, st.Size, st.Diff = true, files[0].Size, files[0].Diff
		return
	}
	st.Files = files
}
