package fun

import "brine/internal/py/value"

// PlanKey is the key of a state's return that has what a plan shows beyond what Salt
// returns in test mode. It is there where Env.Plan is set, and only there.
const PlanKey = "__plan__"

// Keys of what is under PlanKey.
const (
	PlanPackages = "packages" // list of mappings: name, old, new, action, asked
	PlanContent  = "content"  // mapping: sha256 of what is written; of a new file size and diff
	PlanUnknown  = "unknown"  // what of its effect is not known, and why
	PlanUnsure   = "unsure"   // why it is not known whether it acts; "" where it is
	PlanLeaves   = "leaves"   // list of mappings: what it leaves, by kind and name
	PlanMore     = "more"     // how many of these are left out
	PlanReal     = "real"     // where its path leads to, if a link is on the way
	PlanFiles    = "files"    // list of mappings: files that are made, by name, with size and diff
)

// Planned puts what a plan shows of a state into its return.
func (r Ret) Planned(key string, v value.Value) Ret {
	extra := value.NewMap(1)
	if r.Extra != nil {
		extra = r.Extra.Copy()
	}
	plan := value.NewMap(1)
	if had := extra.Map(PlanKey); had != nil {
		plan = had.Copy()
	}
	plan.Set(key, v)
	extra.Set(PlanKey, plan)
	r.Extra = extra
	return r
}

// A TrialError is what Spec.Leaves returns of a state that failed when it was tried.
type TrialError struct{ Comment string }

// Error returns the comment of the state.
func (e *TrialError) Error() string { return e.Comment }
