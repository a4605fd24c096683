// Package form is a form in the shape of Salt formulas with forms: a YAML file
// (form.yml) that describes values of a pillar, with their types, defaults and
// conditions. [Parse] reads one, [Form.Defaults] are the values without any
// answer, and [Form.Check] makes a pillar of answers or says what is wrong with
// them.
//
// Salt: the documentation of SUSE's formulas with forms.
package form

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A Type is the type of a field.
type Type string

// The types of fields. Group, EditGroup and Namespace hold other fields: a
// namespace is a group without a heading.
const (
	Text      Type = "text"
	Password  Type = "password"
	Number    Type = "number"
	URL       Type = "url"
	Email     Type = "email"
	Date      Type = "date"
	Time      Type = "time"
	DateTime  Type = "datetime"
	Boolean   Type = "boolean"
	Color     Type = "color"
	Select    Type = "select"
	Group     Type = "group"
	EditGroup Type = "edit-group"
	Namespace Type = "namespace"
)

// hiddenGroup is the old name of namespace.
const hiddenGroup = "hidden-group"

var typeNames = []string{
	string(Text), string(Password), string(Number), string(URL), string(Email), string(Date), string(Time), string(DateTime),
	string(Boolean), string(Color), string(Select), string(Group), string(EditGroup), string(Namespace), hiddenGroup,
}

// A Form is the fields of a pillar.
type Form struct{ Fields []*Field }

// A Field describes one value of a pillar, or several.
type Field struct {
	Name        string // key of the value
	Label       string // for people
	Help        string
	Placeholder string
	Type        Type

	Default  value.Value // nil: none, as HasDefault says
	IfEmpty  value.Value // the value of an empty field
	Optional bool        // an empty field is left out
	// Values are the choices of a select field.
	Values []value.Value

	Fields []*Field // of a group or a namespace
	// Item is one item of an edit-group; Key is the key of an item, where the
	// items are a dict.
	Item, Key          *Field
	MinItems, MaxItems int // of an edit-group; MaxItems 0: no limit
	ItemName           string

	HasDefault, HasIfEmpty bool
	ReadOnly               bool

	Pos source.Pos

	min, max                   value.Value // of a number; nil: no limit
	match                      *pyre.Regexp
	matchText                  string
	visible, disabled, require *condition // nil: shown, enabled, and as needed
}

// Least is the smallest number that a field takes, as text.
func (f *Field) Least() string {
	switch {
	case f.min != nil:
		return value.Str(f.min)
	case f.max != nil:
		return value.Str(f.max)
	}
	return "1"
}

// Holds reports whether the field holds others.
func (f *Field) Holds() bool { return f.Type == Group || f.Type == Namespace || f.Type == EditGroup }

// itemLabel is what the item of an edit-group with a number, from 1, or a key is
// called: $itemName with ${i} replaced.
func (f *Field) itemLabel(key string) string {
	if n, err := strconv.Atoi(key); err == nil && f.Key == nil {
		key = strconv.Itoa(n + 1)
	}
	name := f.ItemName
	if name == "" {
		name = f.Label
	}
	if strings.Contains(name, "${i}") {
		return strings.ReplaceAll(name, "${i}", key)
	}
	return name + " " + key
}

// Within names the items of edit-groups that the field at a path is in, the
// outermost first.
func (f *Form) Within(path string) []string {
	var out []string
	at := &Field{Type: Namespace, Fields: f.Fields}
	for k := range strings.SplitSeq(path, ":") {
		if at.Type == EditGroup {
			out = append(out, at.itemLabel(k))
			at = at.Item
			continue
		}
		next, ok := find(at.Fields, k)
		if !ok {
			break
		}
		at = next
	}
	return out
}

// Match is the regular expression that a text has to match; "": any.
func (f *Field) Match() string { return f.matchText }

// attributes are the keys of a field that are not other fields.
var attributes = []string{
	"$type", "$name", "$help", "$placeholder", "$default", "$optional", "$ifEmpty", "$values", "$key", "$minItems", "$maxItems",
	"$itemName", "$prototype", "$scope", "$visible", "$visibleIf", "$disabled", "$disabledIf", "$required", "$match", "$min", "$max", "$readonly",
}

// Parse reads the fields of a form. The keys of m have positions. All faults are
// returned together; the form is nil then.
func Parse(m *value.Map) (*Form, source.Errors) {
	p := &parser{}
	f := &Form{Fields: p.fields(m, 0)}
	if len(p.Errs) > 0 {
		return nil, p.Errs
	}
	return f, nil
}

// maxDepth bounds how deep groups are nested.
const maxDepth = 32

type parser struct{ yamlsalt.Checker }

// fields reads the keys of a group that are fields.
func (p *parser) fields(m *value.Map, depth int) []*Field {
	var out []*Field
	for k, v := range m.All() {
		name := value.Str(k)
		if strings.HasPrefix(name, "$") {
			continue
		}
		sub, ok := v.(*value.Map)
		if !ok && v != nil {
			p.Fault(m.Pos(k), "field %s must be a mapping with attributes such as $type, not %s", name, value.Kind(v))
			continue
		}
		out = append(out, p.field(name, sub, m.Pos(k), depth+1))
	}
	return out
}

// field reads one field.
func (p *parser) field(name string, m *value.Map, pos source.Pos, depth int) *Field {
	f := &Field{Name: name, Pos: pos, Label: m.Str("$name"), Help: m.Str("$help"), Placeholder: m.Str("$placeholder"), ItemName: m.Str("$itemName")}
	if f.Label == "" {
		f.Label = labelOf(name)
	}
	before := len(p.Errs)
	if depth > maxDepth {
		p.Fault(pos, "field %s: groups are nested more than %d deep", name, maxDepth)
		return f
	}
	for k := range m.All() {
		if a := value.Str(k); strings.HasPrefix(a, "$") && !slices.Contains(attributes, a) {
			p.Fault(m.Pos(k), "field %s: unknown attribute %s%s", name, a, source.DidYouMean(a, attributes))
		}
	}
	f.Type = p.typeOf(m, name)
	f.Default, f.HasDefault = m.Get("$default")
	f.IfEmpty, f.HasIfEmpty = m.Get("$ifEmpty")
	f.Optional = p.flag(m, name, "$optional")
	f.ReadOnly = p.flag(m, name, "$readonly") || m.Str("$scope") == "readonly"
	f.min, f.max = p.number(m, name, "$min"), p.number(m, name, "$max")
	f.MinItems, f.MaxItems = p.count(m, name, "$minItems"), p.count(m, name, "$maxItems")
	if f.MaxItems > 0 && f.MinItems > f.MaxItems {
		p.Fault(m.Pos("$minItems"), "field %s: $minItems %d is more than $maxItems %d", name, f.MinItems, f.MaxItems)
	}
	p.match(f, m)
	p.conditions(f, m)
	switch f.Type {
	case Select:
		l := m.List("$values")
		if l.Len() == 0 {
			p.Fault(pos, "field %s: a select field needs $values, a list", name)
		} else {
			f.Values = l.Items
		}
	case Group, Namespace:
		f.Fields = p.fields(m, depth)
	case EditGroup:
		p.prototype(f, m, depth)
	default:
	}
	if len(p.Errs) == before { // else the field may lack what a check needs
		p.checkDefault(f, m)
	}
	return f
}

// typeOf returns the type of a field: text if it says nothing, a group if it has
// fields.
func (p *parser) typeOf(m *value.Map, name string) Type {
	v, ok := m.Get("$type")
	if !ok {
		for k := range m.All() {
			if !strings.HasPrefix(value.Str(k), "$") {
				return Group
			}
		}
		return Text
	}
	switch t := value.Str(v); {
	case t == hiddenGroup:
		return Namespace
	case t == "string":
		return Text
	case t == "checkbox":
		return Boolean
	case slices.Contains(typeNames, t):
		return Type(t)
	default:
		p.Fault(m.Pos("$type"), "field %s: unknown type %q%s; the types are %s", name, t, source.DidYouMean(t, typeNames), strings.Join(typeNames, ", "))
		return Text
	}
}

// prototype reads the item of an edit-group.
func (p *parser) prototype(f *Field, m *value.Map, depth int) {
	proto, ok := m.At("$prototype").(*value.Map)
	if !ok {
		p.Fault(f.Pos, "field %s: an edit-group needs $prototype, a mapping that describes one item", f.Name)
		return
	}
	if k, has := proto.Get("$key"); has {
		km, ok := k.(*value.Map)
		if !ok && k != nil {
			p.Fault(proto.Pos("$key"), "field %s: $key must be a mapping with attributes such as $type, not %s", f.Name, value.Kind(k))
		}
		f.Key = p.field("$key", km, proto.Pos("$key"), depth+1)
		if f.Key.Label == labelOf("$key") {
			f.Key.Label = "Key"
		}
		if f.Key.Holds() {
			p.Fault(proto.Pos("$key"), "field %s: $key cannot be a group", f.Name)
		}
	}
	f.Item = p.field(f.Name, proto, m.Pos("$prototype"), depth+1)
	f.Item.Label = f.Label
}

// labelOf makes a label of a key.
func labelOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	for i, w := range words {
		_, n := utf8.DecodeRuneInString(w)
		words[i] = strings.ToUpper(w[:n]) + w[n:]
	}
	return strings.Join(words, " ")
}

func (p *parser) flag(m *value.Map, name, key string) bool {
	v, ok := m.Get(key)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		p.Fault(m.Pos(key), "field %s: %s must be true or false, not %s", name, key, value.Repr(v))
	}
	return b
}

func (p *parser) count(m *value.Map, name, key string) int {
	v, ok := m.Get(key)
	if !ok {
		return 0
	}
	n, ok := value.AsInt(v)
	if !ok || n < 0 || n > maxItems {
		p.Fault(m.Pos(key), "field %s: %s must be a number from 0 to %d, not %s", name, key, maxItems, value.Repr(v))
		return 0
	}
	return int(n)
}

func (p *parser) number(m *value.Map, name, key string) value.Value {
	v, ok := m.Get(key)
	if !ok {
		return nil
	}
	if _, isBool := v.(bool); isBool || !value.IsNumber(v) {
		p.Fault(m.Pos(key), "field %s: %s must be a number, not %s", name, key, value.Repr(v))
		return nil
	}
	return v
}

// match reads $match.
func (p *parser) match(f *Field, m *value.Map) {
	v, ok := m.Get("$match")
	if !ok {
		return
	}
	text, ok := v.(string)
	if !ok {
		p.Fault(m.Pos("$match"), "field %s: $match must be a regular expression, not %s", f.Name, value.Kind(v))
		return
	}
	re, err := pyre.Compile("(?:"+text+`)\Z`, 0)
	if err != nil {
		p.Fault(m.Pos("$match"), "field %s: $match %q: %w", f.Name, text, err)
		return
	}
	f.match, f.matchText = re, text
}

// conditions reads the attributes that depend on other fields.
func (p *parser) conditions(f *Field, m *value.Map) {
	one := func(old *condition, key string, parse func(string) (*condition, error)) *condition {
		v, ok := m.Get(key)
		if !ok {
			return old
		}
		if old != nil {
			p.Fault(m.Pos(key), "field %s: %s has two forms here; keep one of them", f.Name, strings.TrimSuffix(key, "If"))
		}
		if b, ok := v.(bool); ok {
			return &condition{root: literal{b}, text: value.Str(v)}
		}
		text, ok := v.(string)
		if !ok {
			p.Fault(m.Pos(key), "field %s: %s must be a condition, not %s", f.Name, key, value.Kind(v))
			return nil
		}
		c, err := parse(text)
		if err != nil {
			p.Fault(m.Pos(key), "field %s: %s %q: %w", f.Name, key, text, err)
			return nil
		}
		c.key, c.pos = key, m.Pos(key)
		return c
	}
	f.visible = one(one(nil, "$visible", parseCondition), "$visibleIf", parseIf)
	f.disabled = one(one(nil, "$disabled", parseCondition), "$disabledIf", parseIf)
	f.require = one(nil, "$required", parseCondition)
}

// checkDefault checks the default of a field by its type.
func (p *parser) checkDefault(f *Field, m *value.Map) {
	if !f.HasDefault || f.Default == nil {
		return
	}
	if f.Type == Group || f.Type == Namespace {
		p.Fault(m.Pos("$default"), "field %s: a group has no $default; its fields have", f.Name)
		return
	}
	c := &checker{allowUnknown: true}
	c.field(f, f.Default)
	for _, e := range c.faults {
		p.Fault(m.Pos("$default"), "field %s: $default: %s", f.Name, e.Text)
	}
}
