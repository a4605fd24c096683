package form

import (
	"strconv"
	"strings"
	"unicode"

	"brine/internal/py/value"
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
	return f.notData(answers, (*checker).foreignText)
}

// Kept says what of answers that were kept is more than data. Those that somebody else
// gave were seen to by [Form.Foreign], and those that were looked up are not kept: a URI
// of a secret is nobody's.
func (f *Form) Kept(answers *value.Map) []ValueError {
	return f.notData(answers, func(c *checker, f *Field, text string) { c.noURI(f, text) })
}

func (f *Form) notData(answers *value.Map, look func(c *checker, f *Field, text string)) []ValueError {
	c := &checker{}
	c.texts(&Field{Type: Namespace, Fields: f.Fields}, answers, func(f *Field, text string) {
		if f.HasDefault && value.Equal(f.Default, text) || f.Type == Select {
			return // a choice is one of the form's, which Check sees to
		}
		look(c, f, text)
	})
	return c.faults
}

// texts calls do for each text of the answer for a field, and for keys.
func (c *checker) texts(f *Field, v value.Value, do func(f *Field, text string)) {
	switch x := v.(type) {
	case *value.Map:
		for k, item := range x.All() {
			key := value.Str(k)
			c.at(key, func() {
				switch g, ok := find(f.Fields, key); {
				case f.Type == EditGroup:
					if f.Key != nil {
						do(f.Key, key)
					}
					c.texts(f.Item, item, do)
				case ok:
					c.texts(g, item, do)
				}
			})
		}
	case *value.List:
		for i, item := range x.Items {
			c.at(strconv.Itoa(i), func() {
				if f.Type == EditGroup {
					c.texts(f.Item, item, do)
				} else {
					c.texts(f, item, do)
				}
			})
		}
	case string:
		do(f, x)
	case value.Bytes:
		do(f, string(x))
	}
}

// noURI reports whether text is not the URI of a secret; if it is, it notes an
// error.
func (c *checker) noURI(f *Field, text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), sdbScheme) {
		c.fault(f, "must not be an %s URI: such a value is not looked up for others", sdbScheme)
		return false
	}
	return true
}

func (c *checker) foreignText(f *Field, text string) {
	switch {
	case !c.noURI(f, text):
	case strings.HasPrefix(strings.TrimSpace(text), saltFile) && f.Type != URL:
		c.fault(f, "must not be a %s URI: the field is not one of the type url", saltFile)
	case strings.Contains(text, pgpHead):
		c.fault(f, "must not be a PGP message: it would be decrypted for others")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		c.fault(f, "must be one line, without control characters")
	}
}
