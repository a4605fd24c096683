package form

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// maxItems bounds the items of an edit-group, maxValues those of a whole form:
// edit-groups that are nested multiply.
const (
	maxItems  = 1000
	maxValues = 20000
)

// A ValueError is what is wrong with one value.
type ValueError struct {
	Path    string // keys and indices, joined by ":"
	Field   *Field // nil of a key that no field has
	Text    string // what is wrong
	Missing bool   // there is no value, and one is needed
	Quotes  bool   // Text quotes the value
}

// Error is the path and what is wrong.
func (p ValueError) Error() string { return p.Path + ": " + p.Text }

// Check makes a pillar of answers: values of the right types, defaults where
// there is no answer, without what conditions and $optional leave out. The
// answers may have typed values or text. A field without answer, default and
// $ifEmpty is missing, unless it is optional, hidden, disabled or has $required:
// false. Values of hidden and disabled fields are their defaults.
//
// With problems, the pillar has what could be made of the answers.
func (f *Form) Check(answers *value.Map) (*value.Map, []ValueError) {
	c := &checker{}
	return c.check(f, answers), c.faults
}

// Inactive returns the paths of the fields that conditions hide or disable, with
// these answers.
func (f *Form) Inactive(answers *value.Map) map[string]bool {
	c := &checker{inactive: map[string]bool{}}
	c.check(f, answers)
	return c.inactive
}

func (c *checker) check(f *Form, answers *value.Map) *value.Map {
	top := &Field{Type: Namespace, Fields: f.Fields}
	filled, _ := c.field(top, answers).(*value.Map)
	if filled == nil {
		filled = value.NewMap(0)
	}
	c.form = filled
	c.settle(top, &node{value: filled}, true)
	for _, edit := range c.edits {
		edit()
	}
	return filled
}

// Defaults are the values of a form without any answer.
func (f *Form) Defaults() *value.Map {
	m, _ := f.Check(value.NewMap(0))
	return m
}

// Public returns values without those of password fields: what may be kept.
func (f *Form) Public(values *value.Map) *value.Map {
	return publicMap(f.Fields, values)
}

func publicMap(fields []*Field, m *value.Map) *value.Map {
	out := m.Copy()
	for _, f := range fields {
		v, ok := out.Get(f.Name)
		if !ok {
			continue
		}
		if f.Type == Password {
			out.Delete(f.Name)
			continue
		}
		out.Set(f.Name, f.public(v))
	}
	return out
}

// public returns the value of a field without passwords.
func (f *Field) public(v value.Value) value.Value {
	switch x := v.(type) {
	case *value.Map:
		switch {
		case f.Type == Group || f.Type == Namespace:
			return publicMap(f.Fields, x)
		case f.Type == EditGroup && f.Item.Type == Password:
			return value.NewMap(0)
		case f.Type == EditGroup:
			out := value.NewMap(x.Len())
			for k, v := range x.All() {
				out.Set(k, f.Item.public(v))
			}
			return out
		}
	case *value.List:
		if f.Type != EditGroup {
			return v
		}
		out := value.NewList()
		if f.Item.Type != Password {
			for _, v := range x.Items {
				out.Append(f.Item.public(v))
			}
		}
		return out
	}
	return v
}

// Passwords returns the values of the password fields.
func (f *Form) Passwords(values *value.Map) []string {
	var out []string
	var walk func(f *Field, v value.Value)
	walk = func(f *Field, v value.Value) {
		switch x := v.(type) {
		case *value.Map:
			for k, v := range x.All() {
				if f.Type == EditGroup {
					walk(f.Item, v)
				} else if g, ok := find(f.Fields, value.Str(k)); ok {
					walk(g, v)
				}
			}
		case *value.List:
			for _, v := range x.Items {
				if f.Type == EditGroup {
					walk(f.Item, v)
				}
			}
		case nil:
		default:
			if f.Type == Password {
				out = append(out, value.Str(x))
			}
		}
	}
	walk(&Field{Type: Namespace, Fields: f.Fields}, values)
	return out
}

// IsPassword reports whether the field at a path is a password, or has one.
func (f *Form) IsPassword(path string) bool {
	at := &Field{Type: Namespace, Fields: f.Fields}
	for k := range strings.SplitSeq(path, ":") {
		if at.Type == EditGroup {
			at = at.Item
			continue
		}
		next, ok := find(at.Fields, k)
		if !ok {
			return false
		}
		at = next
	}
	return at.hasPassword()
}

func (f *Field) hasPassword() bool {
	return f.Type == Password || f.Item != nil && f.Item.hasPassword() || slices.ContainsFunc(f.Fields, (*Field).hasPassword)
}

// Set puts an answer into answers. The path is keys and indices of edit-groups,
// joined by ":"; the text is YAML where the field holds others.
func (f *Form) Set(answers *value.Map, path, text string) error {
	fields, here := f.Fields, value.Value(answers)
	keys := strings.Split(path, ":")
	for i, k := range keys {
		at, ok := find(fields, k)
		if !ok {
			return fmt.Errorf("%s: the form has no field %q%s", path, k, source.DidYouMean(k, names(fields)))
		}
		m, _ := here.(*value.Map)
		if i == len(keys)-1 {
			v, err := at.parse(text)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			m.Set(k, v)
			return nil
		}
		switch at.Type {
		case Group, Namespace:
			fields = at.Fields
			here = child(m, k)
		case EditGroup:
			return at.setItem(m, k, keys[i+1:], path, text)
		default:
			return fmt.Errorf("%s: %s is a field of the type %s, which has no fields", path, k, at.Type)
		}
	}
	return nil
}

// child returns the dict at a key, a new one where there is none.
func child(m *value.Map, key string) *value.Map {
	c, ok := m.At(key).(*value.Map)
	if !ok {
		c = value.NewMap(2)
		m.Set(key, c)
	}
	return c
}

// setItem puts an answer into an item of an edit-group.
func (f *Field) setItem(m *value.Map, name string, keys []string, path, text string) error {
	inner := &Form{Fields: []*Field{f.itemField(keys[0])}}
	if f.Key != nil {
		return inner.within(child(m, name), keys, path, text)
	}
	n, err := strconv.Atoi(keys[0])
	if err != nil || n < 0 || n >= maxItems {
		return fmt.Errorf("%s: %q is not the number of an item, which are counted from 0", path, keys[0])
	}
	l, ok := m.At(name).(*value.List)
	if !ok {
		l = value.NewList()
		m.Set(name, l)
	}
	if n > l.Len() {
		return fmt.Errorf("%s: item %d is set before item %d", path, n, l.Len())
	}
	item := value.NewMap(1)
	if n < l.Len() {
		item.Set(keys[0], l.Items[n])
	} else {
		l.Append(nil)
	}
	if err := inner.within(item, keys, path, text); err != nil {
		return err
	}
	l.Items[n] = item.At(keys[0])
	return nil
}

// within is Set with the whole path in the error.
func (f *Form) within(m *value.Map, keys []string, path, text string) error {
	err := f.Set(m, strings.Join(keys, ":"), text)
	if err != nil && !strings.HasPrefix(err.Error(), path) {
		_, rest, _ := strings.Cut(err.Error(), ": ")
		return fmt.Errorf("%s: %s", path, rest)
	}
	return err
}

// itemField is an item of an edit-group as a field with its key.
func (f *Field) itemField(key string) *Field {
	item := *f.Item
	item.Name = key
	return &item
}

// parse makes a value of text: YAML of a field that holds others.
func (f *Field) parse(text string) (value.Value, error) {
	if !f.Holds() {
		return text, nil
	}
	v, err := yamlsalt.LoadString(text)
	if err != nil {
		return nil, fmt.Errorf("the value of a field of the type %s is YAML or JSON: %w", f.Type, err)
	}
	return v, nil
}

func find(fields []*Field, name string) (*Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return nil, false
}

func names(fields []*Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

type checker struct {
	form         *value.Map
	faults       []ValueError
	edits        []func() // of what conditions look at, when all are evaluated
	values       int      // so far
	allowUnknown bool     // keys without a field are accepted: a default may have some
	path         []string

	inactive map[string]bool // paths of what conditions hide or disable; nil: not asked for
}

func (c *checker) fault(f *Field, format string, args ...any) {
	c.faults = append(c.faults, ValueError{Path: strings.Join(c.path, ":"), Field: f, Text: fmt.Sprintf(format, args...)})
}

// at calls do with a key added to the path.
func (c *checker) at(key string, do func()) {
	c.path = append(c.path, key)
	do()
	c.path = c.path[:len(c.path)-1]
}

// field converts an answer by the type of its field and fills in defaults.
func (c *checker) field(f *Field, v value.Value) value.Value {
	if c.values++; c.values > maxValues {
		if c.values == maxValues+1 {
			c.fault(f, "the form has more than %d values", maxValues)
		}
		return nil
	}
	switch f.Type {
	case Group, Namespace:
		return c.group(f, v)
	case EditGroup:
		return c.items(f, v)
	default:
	}
	if v == nil || v == "" {
		return v
	}
	if isContainer(v) {
		c.fault(f, "must be %s, not %s", f.Wants(), value.Kind(v))
		return nil
	}
	out, ok := f.scalar(v)
	switch text, isText := out.(string); {
	case ok && isText && isSlot(text) && !value.Equal(text, f.Default) && f.Type != Select:
		c.fault(f, "%s", errSlot)
		return out
	case !ok && f.Type == Password:
		c.fault(f, "must be %s", f.Wants())
	case !ok:
		c.fault(f, "%q is not %s", value.Str(v), f.Wants())
		c.faults[len(c.faults)-1].Quotes = true
	default:
		return out
	}
	return v
}

// group converts the answers for a group.
func (c *checker) group(f *Field, v value.Value) value.Value {
	m, ok := v.(*value.Map)
	if !ok && v != nil {
		c.fault(f, "must be a mapping of fields, not %s", value.Kind(v))
	}
	for k := range m.All() {
		if _, ok := find(f.Fields, value.Str(k)); !ok && !c.allowUnknown {
			c.at(value.Str(k), func() { c.fault(nil, "the form has no such field%s", source.DidYouMean(value.Str(k), names(f.Fields))) })
		}
	}
	out := value.NewMap(len(f.Fields))
	for _, g := range f.Fields {
		c.at(g.Name, func() {
			v, answered := m.Get(g.Name)
			switch {
			case answered && g.ReadOnly && !value.Equal(v, g.Default):
				c.fault(g, "cannot be changed")
			case !answered && g.HasDefault:
				v = g.Default
			case !answered && g.Type == Boolean:
				v = false
			}
			out.Set(g.Name, c.field(g, v))
		})
	}
	return out
}

// items converts the answers for an edit-group. Without any there are as many
// items as it has at least.
func (c *checker) items(f *Field, v value.Value) value.Value {
	if f.Key != nil {
		m, ok := v.(*value.Map)
		if !ok && v != nil && !isEmptyList(v) {
			c.fault(f, "must be a mapping of items, not %s", value.Kind(v))
		}
		out := value.NewMap(m.Len())
		for k, v := range m.All() {
			c.at(value.Str(k), func() {
				c.field(f.Key, k)
				out.Set(value.Str(k), c.field(f.Item, v))
			})
		}
		return out
	}
	l, ok := v.(*value.List)
	if !ok && v != nil {
		c.fault(f, "must be a list of items, not %s", value.Kind(v))
	}
	out := value.NewList()
	for i := range max(l.Len(), fewest(f, v)) {
		if c.values > maxValues {
			break
		}
		c.at(strconv.Itoa(i), func() {
			var v value.Value
			if i < l.Len() {
				v = l.Items[i]
			} else if f.Item.HasDefault {
				v = f.Item.Default
			}
			out.Append(c.field(f.Item, v))
		})
	}
	return out
}

// fewest is how many items an edit-group is filled up to: none if there are
// answers.
func fewest(f *Field, v value.Value) int {
	if v != nil {
		return 0
	}
	return f.MinItems
}

func isEmptyList(v value.Value) bool {
	l, ok := v.(*value.List)
	return ok && l.Len() == 0
}

// settle looks at conditions, and leaves out or complains of what is empty. n is
// the node of f; live is false within what is hidden or disabled.
func (c *checker) settle(f *Field, n *node, live bool) {
	switch x := n.value.(type) {
	case *value.Map:
		if f.Type == EditGroup {
			for k, v := range x.All() {
				c.at(value.Str(k), func() { c.settleItem(f.Item, &node{parent: n, value: v}, live) })
			}
			return
		}
		for _, g := range f.Fields {
			c.at(g.Name, func() { c.settleField(g, x, n, live) })
		}
	case *value.List:
		if f.Type != EditGroup {
			return
		}
		for i, v := range x.Items {
			c.at(strconv.Itoa(i), func() { c.settleItem(f.Item, &node{parent: n, value: v}, live) })
		}
	}
}

// settleItem looks at one item of an edit-group.
func (c *checker) settleItem(f *Field, n *node, live bool) {
	if !f.Holds() && live && empty(n.value) {
		c.missing(f)
		return
	}
	c.settle(f, n, live)
}

// settleField looks at one field of the group at n.
func (c *checker) settleField(f *Field, m *value.Map, n *node, live bool) {
	v := m.At(f.Name)
	here := &node{parent: n, value: v}
	shown := live && (f.visible == nil || f.visible.holds(c.form, here)) && (f.disabled == nil || !f.disabled.holds(c.form, here))
	if !shown && c.inactive != nil {
		c.inactive[strings.Join(c.path, ":")] = true
	}
	if f.Holds() {
		c.settle(f, here, shown)
		count, _ := value.Len(v)
		if f.Type != EditGroup {
			return
		}
		switch {
		case count == 0 && f.Optional:
			c.edit(func() { m.Delete(f.Name) })
		case shown && count < f.MinItems:
			c.fault(f, "needs at least %d item%s, not %d", f.MinItems, value.Plural(f.MinItems), count)
		case f.MaxItems > 0 && count > f.MaxItems, count > maxItems:
			c.fault(f, "takes at most %d item%s, not %d", cmp.Or(f.MaxItems, maxItems), value.Plural(f.MaxItems), count)
		}
		return
	}
	if !empty(v) {
		return
	}
	switch {
	case shown && f.require != nil && f.require.holds(c.form, here):
		c.missing(f)
	case f.Optional:
		c.edit(func() { m.Delete(f.Name) })
	case f.HasIfEmpty:
		c.edit(func() { m.Set(f.Name, f.IfEmpty) })
	case shown && !f.HasDefault && f.require == nil:
		c.missing(f)
	}
}

func (c *checker) edit(do func()) { c.edits = append(c.edits, do) }

func (c *checker) missing(f *Field) {
	c.faults = append(c.faults, ValueError{Path: strings.Join(c.path, ":"), Field: f, Missing: true, Text: "has no value"})
}

func empty(v value.Value) bool { return v == nil || v == "" }

// Wants describes what a field takes, in words for people.
func (f *Field) Wants() string {
	switch f.Type {
	case Number:
		switch {
		case f.min != nil && f.max != nil:
			return fmt.Sprintf("a number from %s to %s", value.Str(f.min), value.Str(f.max))
		case f.min != nil:
			return "a number of at least " + value.Str(f.min)
		case f.max != nil:
			return "a number of at most " + value.Str(f.max)
		}
		return "a number"
	case URL:
		return "a URL such as https://example.com/"
	case Email:
		return "an address such as name@example.com"
	case Date:
		return "a date such as 2026-12-01"
	case Time:
		return "a time such as 02:00"
	case DateTime:
		return "a date and time such as 2026-12-01 02:00"
	case Boolean:
		return "true or false"
	case Color:
		return "a color such as #00aaff"
	case Select:
		var vs []string
		for _, v := range f.Values {
			vs = append(vs, value.Str(v))
		}
		return "one of " + strings.Join(vs, ", ")
	default:
	}
	if f.match != nil {
		return "text that matches " + f.matchText
	}
	return "text"
}

var color = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#(?:[0-9A-Fa-f]{3}){1,2}$`) })

// layouts are how dates and times are written.
var layouts = map[Type][]string{
	Date:     {time.DateOnly},
	Time:     {"15:04", time.TimeOnly},
	DateTime: {"2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", time.RFC3339},
}

// scalar converts a value by the type of the field.
func (f *Field) scalar(v value.Value) (value.Value, bool) {
	text := value.Str(v)
	switch f.Type {
	case Number:
		return f.number(v)
	case Boolean:
		return truthOf(v)
	case Select:
		for _, choice := range f.Values {
			if value.Equal(v, choice) || text == value.Str(choice) {
				return choice, true
			}
		}
		return nil, false
	case URL:
		u, err := url.Parse(text)
		return text, err == nil && u.Scheme != "" && (u.Host != "" || u.Scheme == "file")
	case Email:
		user, host, ok := strings.Cut(text, "@")
		return text, ok && user != "" && host != "" && !strings.ContainsAny(text, " \t\n<>") && !strings.Contains(host, "@")
	case Color:
		return text, color().MatchString(text)
	case Date, Time, DateTime:
		return text, slices.ContainsFunc(layouts[f.Type], func(l string) bool {
			_, err := time.Parse(l, text)
			return err == nil
		})
	default:
	}
	if f.match != nil {
		m, err := f.match.Match(text)
		return text, err == nil && m != nil
	}
	return text, true
}

func (f *Field) number(v value.Value) (value.Value, bool) {
	if s, ok := v.(string); ok {
		s = strings.TrimSpace(s)
		n, err := strconv.ParseInt(s, 10, 64)
		v = n
		if err != nil {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || x != x {
				return nil, false
			}
			v = x
		}
	}
	if _, ok := v.(bool); ok || !value.IsNumber(v) {
		return nil, false
	}
	below, err1 := value.Compare("<", v, orElse(f.min, v))
	above, err2 := value.Compare(">", v, orElse(f.max, v))
	return v, err1 == nil && err2 == nil && !below && !above
}

func orElse(v, other value.Value) value.Value {
	if v == nil {
		return other
	}
	return v
}

func truthOf(v value.Value) (value.Value, bool) {
	switch strings.ToLower(value.Str(v)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return nil, false
}

// isContainer reports whether a value holds others.
func isContainer(v value.Value) bool {
	switch v.(type) {
	case *value.Map, *value.List, *value.Set, value.Tuple:
		return true
	}
	return false
}
