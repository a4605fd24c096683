package chain

import (
	"bytes"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"brine/internal/fleet/approval"
	"brine/internal/py/value"
)

// New returns the text of a chain without steps.
func New(description string) ([]byte, error) {
	return encode(mapping("description", description, "steps", []any{}))
}

// Add returns the text of a chain with a further step, at the number at, from 1,
// or at the end if at is 0. The step gets an id that no other has. Comments stay.
func (c *Chain) Add(text []byte, at int, s *Step) ([]byte, error) {
	s.ID = 1
	for i := range c.Steps {
		s.ID = max(s.ID, c.Steps[i].ID+1)
	}
	return edit(text, func(steps *yaml.Node) error {
		if at == 0 {
			at = len(steps.Content) + 1
		}
		if at < 1 || at > len(steps.Content)+1 {
			return fmt.Errorf("there is no place %d: the chain has %d steps", at, len(steps.Content))
		}
		steps.Content = slices.Insert(steps.Content, at-1, s.node())
		return nil
	})
}

// Replace returns the text of a chain with another step in the place of the one
// with a number. The id of the step stays, and so do comments.
func (c *Chain) Replace(text []byte, step string, s *Step) ([]byte, error) {
	return edit(text, func(steps *yaml.Node) error {
		i, err := number(step, min(len(steps.Content), len(c.Steps)))
		if err != nil {
			return err
		}
		s.ID = c.Steps[i-1].ID
		if s.Approve == nil {
			s.Approve = c.Steps[i-1].Approve // who changes a step says nothing of it
		}
		n, old := s.node(), steps.Content[i-1]
		n.HeadComment, n.LineComment, n.FootComment = old.HeadComment, old.LineComment, old.FootComment
		steps.Content[i-1] = n
		return nil
	})
}

// Move returns the text of a chain with the step from at the place to.
func Move(text []byte, from, to string) ([]byte, error) {
	return edit(text, func(steps *yaml.Node) error {
		i, err := number(from, len(steps.Content))
		if err != nil {
			return err
		}
		k, err := number(to, len(steps.Content))
		if err != nil {
			return err
		}
		n := steps.Content[i-1]
		steps.Content = slices.Insert(slices.Delete(steps.Content, i-1, i), k-1, n)
		return nil
	})
}

// Remove returns the text of a chain without a step.
func Remove(text []byte, step string) ([]byte, error) {
	return edit(text, func(steps *yaml.Node) error {
		i, err := number(step, len(steps.Content))
		if err == nil {
			steps.Content = slices.Delete(steps.Content, i-1, i)
		}
		return err
	})
}

// Retarget returns the text of a chain whose step has other targets. All else
// stays as it is written.
func Retarget(text []byte, step, targets string) ([]byte, error) {
	return edit(text, func(steps *yaml.Node) error {
		i, err := number(step, len(steps.Content))
		if err != nil {
			return err
		}
		m := steps.Content[i-1]
		if m.Kind != yaml.MappingNode {
			return fmt.Errorf("step %d repeats another one by an alias: change it in the file", i)
		}
		set(m, "targets", scalar(targets))
		return nil
	})
}

// Describe returns the text of a chain with another description.
func Describe(text []byte, description string) ([]byte, error) {
	return editTop(text, func(top *yaml.Node) error {
		set(top, "description", scalar(description))
		return nil
	})
}

// at returns the value of a key of a mapping; nil where there is none.
func at(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// set gives a key of a mapping another value, whose comments stay.
func set(m *yaml.Node, key string, v *yaml.Node) {
	old := at(m, key)
	if old == nil {
		m.Content = append(m.Content, scalar(key), v)
		return
	}
	v.HeadComment, v.LineComment, v.FootComment = old.HeadComment, old.LineComment, old.FootComment
	*old = *v
}

// editTop changes the mapping of a chain's text.
func editTop(text []byte, change func(top *yaml.Node) error) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("a chain must be a mapping with the key steps")
	}
	if err := change(doc.Content[0]); err != nil {
		return nil, err
	}
	return encode(&doc)
}

// edit changes the list of steps of a chain's text.
func edit(text []byte, change func(steps *yaml.Node) error) ([]byte, error) {
	return editTop(text, func(top *yaml.Node) error {
		steps := at(top, "steps")
		if steps == nil || steps.Kind != yaml.SequenceNode {
			set(top, "steps", &yaml.Node{Kind: yaml.SequenceNode})
			steps = at(top, "steps")
		}
		steps.Style = 0
		return change(steps)
	})
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// mapping is an ordered mapping of keys and values for YAML.
func mapping(kv ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(kv); i += 2 {
		n.Content = append(n.Content, scalar(kv[i]), nodeOf(kv[i+1]))
	}
	return n
}

func scalar(v any) *yaml.Node {
	n := &yaml.Node{}
	_ = n.Encode(v) // scalars can always be encoded
	return n
}

// nodeOf makes a YAML node of a value.
func nodeOf(v any) *yaml.Node {
	switch x := v.(type) {
	case *yaml.Node:
		return x
	case *value.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for k, v := range x.All() {
			n.Content = append(n.Content, nodeOf(k), nodeOf(v))
		}
		return n
	case *value.List:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, v := range x.Items {
			n.Content = append(n.Content, nodeOf(v))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, v := range x {
			n.Content = append(n.Content, nodeOf(v))
		}
		return n
	case nil, bool, int, int64, float64, string:
		return scalar(x)
	}
	return scalar(value.Str(v))
}

// Text is a step as it is written in the file of a chain.
func (s *Step) Text() string {
	text, err := encode(s.node())
	if err != nil {
		return s.Summary()
	}
	return string(text)
}

// approveValue is a rule as it is written in the file of a chain; nil: there is none.
func approveValue(r *approval.Rule) any {
	switch {
	case r == nil:
		return nil
	case len(r.By) == 0:
		return true
	}
	return value.MapOf("by", value.Strings(r.By...))
}

// Approve returns the text of a chain that asks others, or nobody, before the step with a
// number; "" is before it starts.
func Approve(text []byte, step string, r *approval.Rule) ([]byte, error) {
	change := func(m *yaml.Node) {
		if r == nil {
			drop(m, "approve")
		} else {
			set(m, "approve", nodeOf(approveValue(r)))
		}
	}
	if step == "" {
		return editTop(text, func(top *yaml.Node) error {
			change(top)
			return nil
		})
	}
	return edit(text, func(steps *yaml.Node) error {
		i, err := number(step, len(steps.Content))
		if err == nil {
			change(steps.Content[i-1])
		}
		return err
	})
}

// drop removes a key of a mapping.
func drop(m *yaml.Node, key string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content = slices.Delete(m.Content, i, i+2)
			return
		}
	}
}

// node is a step as YAML.
func (s *Step) node() *yaml.Node {
	kv := []any{"action", s.Action, "id", s.ID}
	put := func(key string, v any, has bool) {
		if has {
			kv = append(kv, key, v)
		}
	}
	put("approve", approveValue(s.Approve), s.Approve != nil)
	put("targets", s.On, s.On != "")
	put("packages", s.Packages, s.Packages.Len() > 0)
	put("command", s.Command, s.Command != "")
	put("sls", value.Strings(s.SLS...), len(s.SLS) > 0)
	put("source", s.Source, s.Source != "")
	put("dest", s.Dest, s.Dest != "" && s.Dest != "/")
	put("event", s.Event, s.Event != "")
	put("seconds", s.Seconds, s.Seconds > 0)
	put("timeout", s.Timeout, s.Timeout > 0)
	put("test", s.Test, s.Test)
	put("pillar", s.Pillar, s.Pillar.Len() > 0)
	put("pillar_for", s.PillarFor, s.PillarFor.Len() > 0)
	return mapping(kv...)
}
