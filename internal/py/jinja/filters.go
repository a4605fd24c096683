package jinja

import (
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// builtinFilter returns a filter of Jinja2 3.1.
func builtinFilter(name string) Func {
	switch name {
	case "abs":
		return filterAbs
	case "attr":
		return filterAttr
	case "batch":
		return filterBatch
	case "capitalize":
		return filterCapitalize
	case "center":
		return filterCenter
	case "count", "length":
		return filterLength
	case "d", "default":
		return filterDefault
	case "dictsort":
		return filterDictsort
	case "e", "escape":
		return filterEscape
	case "filesizeformat":
		return filterFilesize
	case "first":
		return filterFirst
	case "float":
		return filterFloat
	case "forceescape":
		return filterForceEscape
	case "format":
		return filterFormat
	case "groupby":
		return filterGroupby
	case "indent":
		return filterIndent
	case "int":
		return filterInt
	case "items":
		return filterItems
	case "join":
		return filterJoin
	case "last":
		return filterLast
	case "list":
		return filterList
	case "lower":
		return filterLower
	case "map":
		return filterMap
	case "max":
		return filterMax
	case "min":
		return filterMin
	case "pprint":
		return filterPprint
	case "random":
		return filterRandom
	case "reject", "select", "rejectattr", "selectattr":
		return filterSelect(name)
	case "replace":
		return filterReplace
	case "reverse":
		return filterReverse
	case "round":
		return filterRound
	case "safe":
		return filterSafe
	case "slice":
		return filterSlice
	case "sort":
		return filterSort
	case "string":
		return filterString
	case "striptags":
		return filterStriptags
	case "sum":
		return filterSum
	case "title":
		return filterTitle
	case "tojson":
		return filterTojson
	case "trim":
		return filterTrim
	case "truncate":
		return filterTruncate
	case "unique":
		return filterUnique
	case "upper":
		return filterUpper
	case "urlencode":
		return filterUrlencode
	case "urlize":
		return filterUrlize
	case "wordcount":
		return filterWordcount
	case "wordwrap":
		return filterWordwrap
	case "xmlattr":
		return filterXmlattr
	}
	return nil
}

// softStr is markupsafe's soft_str: Markup stays Markup.
func (c *Call) softStr(v value.Value) (s string, markup bool, err error) {
	if m, ok := v.(markupsafe.Markup); ok {
		return string(m), true, nil
	}
	s, err = c.State.Str(v)
	return s, false, err
}

func errFilterArgument(format string, args ...any) error {
	return value.Raise("FilterArgumentError", format, args...)
}

func filterAbs(c *Call) (value.Value, error) {
	a, err := c.builtin("", "abs", 1, 1)
	if err != nil {
		return nil, err
	}
	return value.Abs(a[0])
}

func filterLength(c *Call) (value.Value, error) {
	a, err := c.builtin("", "len", 1, 1)
	if err != nil {
		return nil, err
	}
	n, err := value.Len(a[0])
	return int64(n), err
}

func filterDefault(c *Call) (value.Value, error) {
	a, err := c.Params("do_default", 0, "value", "default_value?", "boolean?")
	if err != nil {
		return nil, err
	}
	use := false
	if isUndefined(a[0]) {
		use = true
	} else if boolean, err := c.BoolArg(a[2], false); err != nil {
		return nil, err
	} else if boolean {
		t, err := c.State.Truth(a[0])
		if err != nil {
			return nil, err
		}
		use = !t
	}
	switch {
	case !use:
		return a[0], nil
	case !pymethod.Given(a[1]):
		return "", nil
	}
	return a[1], nil
}

func filterAttr(c *Call) (value.Value, error) {
	a, err := c.Params("do_attr", 1, "obj", "name")
	if err != nil {
		return nil, err
	}
	name, ok := value.AsText(a[1])
	if !ok {
		return nil, value.Raise("TypeError", "attribute name must be string, not '%s'", value.TypeName(a[1]))
	}
	if err := Defined(a[0]); err != nil {
		return nil, err
	}
	v, ok, err := c.State.Attr(a[0], name)
	if ok || err != nil {
		return v, err
	}
	return c.State.UndefinedIn(a[0], name), nil
}

func filterInt(c *Call) (value.Value, error) {
	a, err := c.Params("do_int", 0, "value", "default?", "base?")
	if err != nil {
		return nil, err
	}
	base, err := pymethod.IntArg(a[2], 10)
	if err != nil {
		return nil, err
	}
	var n value.Value
	if s, ok := value.AsText(a[0]); ok {
		n, err = value.ParseInt(s, base)
	} else {
		n, err = value.ToInt(a[0])
	}
	if !pymethod.Raised(err, "TypeError", "ValueError") {
		return n, err
	}
	f, err := value.ToFloat(a[0])
	if err == nil {
		n, err = value.ToInt(f)
	}
	if !pymethod.Raised(err, "TypeError", "ValueError") {
		return n, err
	}
	if !pymethod.Given(a[1]) {
		return int64(0), nil
	}
	return a[1], nil
}

func filterFloat(c *Call) (value.Value, error) {
	a, err := c.Params("do_float", 0, "value", "default?")
	if err != nil {
		return nil, err
	}
	f, err := value.ToFloat(a[0])
	if err == nil {
		return f, nil
	}
	if !pymethod.Raised(err, "TypeError", "ValueError") {
		return nil, err
	}
	if !pymethod.Given(a[1]) {
		return 0.0, nil
	}
	return a[1], nil
}

func filterRound(c *Call) (value.Value, error) {
	a, err := c.Params("do_round", 0, "value", "precision?", "method?")
	if err != nil {
		return nil, err
	}
	method := "common"
	if pymethod.Given(a[2]) {
		method, _ = value.AsText(a[2])
	}
	if method != "common" && method != "ceil" && method != "floor" {
		return nil, errFilterArgument("method must be common, ceil or floor")
	}
	if method == "common" {
		if pymethod.Given(a[1]) && a[1] == nil {
			return value.Round(a[0], 0, true)
		}
		n, err := pymethod.IntArg(a[1], 0)
		if err != nil {
			return nil, err
		}
		return value.Round(a[0], n, false)
	}
	precision := a[1]
	if !pymethod.Given(precision) {
		precision = int64(0)
	}
	unit, err := value.Pow(int64(10), precision)
	if err != nil {
		return nil, err
	}
	scaled, err := value.Mul(a[0], unit)
	if err != nil {
		return nil, err
	}
	whole, err := floorCeil(scaled, method == "ceil")
	if err != nil {
		return nil, err
	}
	return value.TrueDiv(whole, unit)
}

// floorCeil is math.floor and math.ceil.
func floorCeil(v value.Value, up bool) (value.Value, error) {
	f, ok := v.(float64)
	if !ok {
		if _, isInt := value.AsBig(v); isInt {
			return value.ToInt(v)
		}
		return nil, value.Raise("TypeError", "must be real number, not %s", value.TypeName(v))
	}
	n, err := value.ToInt(f)
	if err != nil {
		return nil, err
	}
	back, err := value.ToFloat(n)
	if err != nil {
		return nil, err
	}
	switch {
	case up && back < f:
		return value.Add(n, int64(1))
	case !up && back > f:
		return value.Sub(n, int64(1))
	}
	return n, nil
}

func filterFilesize(c *Call) (value.Value, error) {
	a, err := c.Params("do_filesizeformat", 0, "value", "binary?")
	if err != nil {
		return nil, err
	}
	f, err := value.ToFloat(a[0])
	if err != nil {
		return nil, err
	}
	binary, err := c.BoolArg(a[1], false)
	if err != nil {
		return nil, err
	}
	base, last, first := 1000.0, "B", "k"
	if binary {
		base, last, first = 1024.0, "iB", "K"
	}
	if f == 1 {
		return "1 Byte", nil
	}
	if f < base {
		n, err := value.ToInt(f)
		if err != nil {
			return nil, err
		}
		return value.Str(n) + " Bytes", nil
	}
	units := []string{first, "M", "G", "T", "P", "E", "Z", "Y"}
	unit := base
	for i, u := range units {
		unit *= base
		if f < unit || i == len(units)-1 || f != f {
			s, err := pyformat.Format(base*f/unit, ".1f")
			return s + " " + u + last, err
		}
	}
	return nil, nil
}

func filterTojson(c *Call) (value.Value, error) {
	a, err := c.Params("do_tojson", 1, "value", "indent?")
	if err != nil {
		return nil, err
	}
	o := value.JSONOptions{SortKeys: true, EscapeNonASCII: true}
	if err := pymethod.JSONIndent(&o, pymethod.OrNil(a[1])); err != nil {
		return nil, err
	}
	s, err := pymethod.SafeJSON(a[0], o)
	return markupsafe.Markup(s), err
}

func filterPprint(c *Call) (value.Value, error) {
	a, err := c.Params("do_pprint", 0, "value")
	if err != nil {
		return nil, err
	}
	return pyformat.Pformat(a[0], 80), nil
}
