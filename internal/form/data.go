package form

import (
	"strconv"
	"strings"
	"unicode"

	"brine/internal/value"
)

// Text that is evaluated where a value is used, whatever the form says of it.
const (
	slotMark  = "__slot__:"
	sdbScheme = "sdb://"
	saltFile  = "salt://"
	pgpHead   = "-----BEGIN PGP MESSAGE-----"
)

// errSlot is what is wrong with text that a state would call as a function.
const errSlot = "must not have " + slotMark + ": where a state uses it, a function would be called"

// isSlot reports whether text could become a slot.
func isSlot(text string) bool { return strings.Contains(text, slotMark) }

// Foreign says what of answers of somebody else is more than data: URIs that name
// secrets or files of whoever runs the orchestration, messages that would be decrypted,
// and text that could break out of the line of an SLS that it is written into. What the
// form itself has as default or choice is its author's. A salt:// URI is data where the
// field is a URL.
func (f *Form) Foreign(answers *value.Map) []ValueError {
	c := &checker{}
	c.foreign(&Field{Type: Namespace, Fields: f.Fields}, answers)
	return c.faults
}

// foreign looks at the answer for a field.
func (c *checker) foreign(f *Field, v value.Value) {
	switch x := v.(type) {
	case *value.Map:
		for k, item := range x.All() {
			key := value.Str(k)
			c.at(key, func() {
				switch g, ok := find(f.Fields, key); {
				case f.Type == EditGroup:
					if f.Key != nil {
						c.foreignText(f.Key, key)
					}
					c.foreign(f.Item, item)
				case ok:
					c.foreign(g, item)
				}
			})
		}
	case *value.List:
		for i, item := range x.Items {
			c.at(strconv.Itoa(i), func() {
				if f.Type == EditGroup {
					c.foreign(f.Item, item)
				} else {
					c.foreign(f, item)
				}
			})
		}
	case string:
		c.foreignText(f, x)
	case value.Bytes:
		c.foreignText(f, string(x))
	}
}

func (c *checker) foreignText(f *Field, text string) {
	if f.HasDefault && value.Equal(f.Default, text) || f.Type == Select {
		return // a choice is one of the form's, which Check sees to
	}
	start := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(start, sdbScheme):
		c.fault(f, "must not be an %s URI: such a value is not looked up for others", sdbScheme)
	case strings.HasPrefix(start, saltFile) && f.Type != URL:
		c.fault(f, "must not be a %s URI: the field is not one of the type url", saltFile)
	case strings.Contains(text, pgpHead):
		c.fault(f, "must not be a PGP message: it would be decrypted for others")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		c.fault(f, "must be one line, without control characters")
	}
}
