package orchestration

import (
	"brine/internal/fleet/approval"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// ParseApprove reads the key approve of a chain, a template or one of their steps: True,
// or a mapping with the key by.
func ParseApprove(c *yamlsalt.Checker, m *value.Map) *approval.Rule {
	const key = "approve"
	switch v := m.At(key).(type) {
	case nil:
		if m.Has(key) {
			c.Fault(m.Pos(key), "approve must be True, False or a mapping with the key by, not None")
		}
	case bool:
		if v {
			return &approval.Rule{}
		}
	case *value.Map:
		c.Keys(v, key, "by")
		r := &approval.Rule{By: c.Texts(v, "by")}
		if len(r.By) == 0 {
			c.Fault(m.Pos(key), "approve: by must name roles or users")
		}
		for _, name := range r.By {
			if err := approval.CheckBy(name); err != nil {
				c.Fault(v.Pos("by"), "approve: by: %w", err)
			}
		}
		return r
	default:
		c.Fault(m.Pos(key), "approve must be True, False or a mapping with the key by, not %s", value.Kind(v))
	}
	return nil
}
