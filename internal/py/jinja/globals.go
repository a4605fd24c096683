package jinja

import (
	"math/big"
	"math/rand/v2"
	"strings"

	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/jinja/pytext"
	"brine/internal/py/value"
)

// builtinGlobal returns one of Jinja2's globals.
func builtinGlobal(name string) (value.Value, bool) {
	switch name {
	case "cycler":
		return &Class{"jinja2.utils.Cycler", newCycler}, true
	case "dict":
		return &Class{"dict", func(c *Call) (value.Value, error) { return pymethod.NewDict(c.Args, c.Kw, false) }}, true
	case "joiner":
		return &Class{"jinja2.utils.Joiner", newJoiner}, true
	case "lipsum":
		return &Callable{"generate_lorem_ipsum", lipsum}, true
	case "namespace":
		return &Class{"jinja2.utils.Namespace", newNamespace}, true
	case "range":
		return &Callable{"safe_range", safeRange}, true
	}
	return nil, false
}

// A Class is a Python class as a value: calling it makes an instance.
type Class struct {
	Name string
	Make Func
}

// Call makes an instance.
func (k *Class) Call(c *Call) (value.Value, error) { return k.Make(c) }

// Repr prints as Python prints a class.
func (k *Class) Repr() string { return "<class '" + k.Name + "'>" }

// Truth is true.
func (k *Class) Truth() bool { return true }

// TypeName is "type".
func (k *Class) TypeName() string { return "type" }

// GetAttr gives the methods that are called on the class itself.
func (k *Class) GetAttr(_ *State, name string) (value.Value, bool, error) {
	if k.Name != "dict" || name != "fromkeys" {
		return nil, false, nil
	}
	return pythonMethod(value.NewMap(0), name)
}

func safeRange(c *Call) (value.Value, error) {
	if c.Kw.Len() > 0 {
		return nil, value.Raise("TypeError", "safe_range() got an unexpected keyword argument %s", value.Repr(c.Kw.Keys()[0]))
	}
	var n [3]int64
	switch len(c.Args) {
	case 0:
		return nil, value.Raise("TypeError", "range expected at least 1 argument, got 0")
	case 1, 2, 3:
	default:
		return nil, value.Raise("TypeError", "range expected at most 3 arguments, got %d", len(c.Args))
	}
	n[2] = 1
	for i, v := range c.Args {
		x, err := rangeArg(v)
		if err != nil {
			return nil, err
		}
		if len(c.Args) == 1 {
			i = 1
		}
		n[i] = x
	}
	r, err := value.NewRange(n[0], n[1], n[2])
	if err != nil {
		return nil, err
	}
	if !r.Count().IsInt64() {
		return nil, value.Raise("OverflowError", "Python int too large to convert to C ssize_t")
	}
	if r.Count().Cmp(big.NewInt(MaxRange)) > 0 {
		return nil, value.Raise("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", MaxRange)
	}
	return r, nil
}

func rangeArg(v value.Value) (int64, error) {
	if i, ok := value.AsInt(v); ok {
		return i, nil
	}
	if _, ok := v.(*big.Int); ok {
		return 0, value.Raise("OverflowError", "Python int too large to convert to C ssize_t")
	}
	_, err := pymethod.AsIndex(v)
	return 0, err
}

func newNamespace(c *Call) (value.Value, error) {
	v, err := pymethod.NewDict(c.Args, c.Kw, false)
	if err != nil {
		return nil, err
	}
	return &Namespace{Attrs: v.(*value.Map)}, nil
}

// A cycler gives its items in turn.
type cycler struct {
	items []value.Value
	at    int
}

func newCycler(c *Call) (value.Value, error) {
	if c.Kw.Len() > 0 {
		return nil, value.Raise("TypeError", "Cycler.__init__() got an unexpected keyword argument %s", value.Repr(c.Kw.Keys()[0]))
	}
	if len(c.Args) == 0 {
		return nil, value.Raise("RuntimeError", "at least one item has to be provided")
	}
	return &cycler{items: append([]value.Value(nil), c.Args...)}, nil
}

// Repr prints as Python, with an address that means nothing.
func (y *cycler) Repr() string { return "<jinja2.utils.Cycler object at 0x7f0000000000>" }

// Truth is true.
func (y *cycler) Truth() bool { return true }

// TypeName is the class.
func (y *cycler) TypeName() string { return "Cycler" }

// ObjectTypeRepr names the class as Jinja2's messages do.
func (y *cycler) ObjectTypeRepr() string { return "jinja2.utils.Cycler object" }

// GetAttr gives current, next and reset.
func (y *cycler) GetAttr(_ *State, name string) (value.Value, bool, error) {
	switch name {
	case "current":
		return y.items[y.at], true, nil
	case "pos":
		return int64(y.at), true, nil
	case "items":
		return value.Tuple(y.items), true, nil
	case "next":
		return &Callable{name, func(c *Call) (value.Value, error) {
			if _, err := c.Params("Cycler.next", 1); err != nil {
				return nil, err
			}
			v := y.items[y.at]
			y.at = (y.at + 1) % len(y.items)
			return v, nil
		}}, true, nil
	case "reset":
		return &Callable{name, func(c *Call) (value.Value, error) {
			_, err := c.Params("Cycler.reset", 1)
			y.at = 0
			return nil, err
		}}, true, nil
	}
	return nil, false, nil
}

// A joiner gives its separator, but nothing at the first call.
type joiner struct {
	sep  value.Value
	used bool
}

func newJoiner(c *Call) (value.Value, error) {
	a, err := c.Params("Joiner.__init__", 1, "sep?")
	if err != nil {
		return nil, err
	}
	j := &joiner{sep: ", "}
	if pymethod.Given(a[0]) {
		j.sep = a[0]
	}
	return j, nil
}

// Call gives the separator.
func (j *joiner) Call(c *Call) (value.Value, error) {
	if _, err := c.Params("Joiner.__call__", 1); err != nil {
		return nil, err
	}
	if !j.used {
		j.used = true
		return "", nil
	}
	return j.sep, nil
}

// Repr prints as Python, with an address that means nothing.
func (j *joiner) Repr() string { return "<jinja2.utils.Joiner object at 0x7f0000000000>" }

// Truth is true.
func (j *joiner) Truth() bool { return true }

// TypeName is the class.
func (j *joiner) TypeName() string { return "Joiner" }

// ObjectTypeRepr names the class as Jinja2's messages do.
func (j *joiner) ObjectTypeRepr() string { return "jinja2.utils.Joiner object" }

// GetAttr gives sep and used.
func (j *joiner) GetAttr(_ *State, name string) (value.Value, bool, error) {
	switch name {
	case "sep":
		return j.sep, true, nil
	case "used":
		return j.used, true, nil
	}
	return nil, false, nil
}

// loremWords is the beginning of Cicero's text that printers made into filler.
const loremWords = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore " +
	"magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat duis aute " +
	"irure in reprehenderit voluptate velit esse cillum eu fugiat nulla pariatur excepteur sint occaecat cupidatat non proident " +
	"sunt culpa qui officia deserunt mollit anim id est laborum"

// lipsum is Jinja2's lipsum: n paragraphs of filler, as HTML unless html is
// false, each of min to max words.
func lipsum(c *Call) (value.Value, error) {
	a, err := c.Params("generate_lorem_ipsum", 0, "n?", "html?", "min?", "max?")
	if err != nil {
		return nil, err
	}
	n, err := pymethod.IntArg(a[0], 5)
	if err != nil {
		return nil, err
	}
	html, err := c.BoolArg(a[1], true)
	if err != nil {
		return nil, err
	}
	low, err := pymethod.IntArg(a[2], 20)
	if err != nil {
		return nil, err
	}
	high, err := pymethod.IntArg(a[3], 100)
	if err != nil {
		return nil, err
	}
	n = max(n, 0)
	if high <= low {
		if n == 0 {
			return pymethod.SameText("", html), nil
		}
		return nil, value.Raise("ValueError", "empty range for randrange() (%d, %d, %d)", low, high, high-low)
	}
	if err := value.CheckItems(max(n, high)); err != nil {
		return nil, err
	}
	if err := value.CheckSize(n * max(high, 1) * 8); err != nil {
		return nil, err
	}
	paragraphs := make([]string, n)
	words := strings.Fields(loremWords)
	for i := range paragraphs {
		paragraphs[i] = loremParagraph(words, low+rand.IntN(high-low))
	}
	if !html {
		return strings.Join(paragraphs, "\n\n"), nil
	}
	for i, p := range paragraphs {
		paragraphs[i] = "<p>" + markupsafe.Escape(p) + "</p>"
	}
	return markupsafe.Markup(strings.Join(paragraphs, "\n")), nil
}

func loremParagraph(words []string, n int) string {
	var b strings.Builder
	last, start, left := "", true, 0
	for i := range n {
		w := words[rand.IntN(len(words))]
		for w == last {
			w = words[rand.IntN(len(words))]
		}
		last = w
		if i > 0 {
			b.WriteByte(' ')
		}
		if start {
			w = pytext.Capitalize(w)
			start, left = false, 6+rand.IntN(10)
		}
		b.WriteString(w)
		left--
		switch {
		case i == n-1:
		case left == 0:
			b.WriteByte('.')
			start = true
		case left%5 == 4 && rand.IntN(2) == 0:
			b.WriteByte(',')
		}
	}
	if n > 0 {
		b.WriteByte('.')
	}
	return b.String()
}
