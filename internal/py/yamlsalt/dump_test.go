package yamlsalt_test

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A decoder makes values of what record.py's encode wrote.
type decoder struct{ made []value.Value }

func (d *decoder) value(t testing.TB, j value.Value) value.Value {
	m, ok := j.(*value.Map)
	if !ok {
		return j
	}
	k, v := m.Entry(0)
	text, _ := v.(string)
	switch k {
	case "int":
		i, ok := new(big.Int).SetString(text, 10)
		if !ok {
			t.Fatalf("int %q", text)
		}
		return value.NormInt(i)
	case "float":
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			t.Fatal(err)
		}
		return f
	case "bytes":
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return value.Bytes(b)
	case "datetime":
		tm, err := time.Parse("2006-01-02T15:04:05.999999", text)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	case "ref":
		i, _ := v.(int64)
		return d.made[i]
	case "list":
		l := value.NewList()
		d.made = append(d.made, l)
		for _, x := range v.(*value.List).Items {
			l.Append(d.value(t, x))
		}
		return l
	case "tuple":
		d.made = append(d.made, nil)
		tup := value.Tuple{}
		for _, x := range v.(*value.List).Items {
			tup = append(tup, d.value(t, x))
		}
		return tup
	case "set":
		d.made = append(d.made, nil)
		s := value.NewSet()
		for _, x := range v.(*value.List).Items {
			s.Add(d.value(t, x))
		}
		return s
	}
	out := &value.Map{Ordered: k == "odict"}
	d.made = append(d.made, out)
	for _, x := range v.(*value.List).Items {
		pair := x.(*value.List).Items
		key := d.value(t, pair[0])
		out.Set(key, d.value(t, pair[1]))
	}
	return out
}

// dumpOptions reads PyYAML's keyword arguments.
func dumpOptions(t testing.TB, m *value.Map) yamlsalt.DumpOptions {
	o := yamlsalt.SafeOptions()
	for k, v := range m.All() {
		yes, _ := v.(bool)
		n, _ := v.(int64)
		text, _ := v.(string)
		switch k {
		case "default_flow_style":
			if o.FlowStyle = yamlsalt.FlowNever; yes {
				o.FlowStyle = yamlsalt.FlowAlways
			}
		case "indent":
			o.Indent = int(n)
		case "width":
			o.Width = int(n)
		case "sort_keys":
			o.SortKeys = yes
		case "allow_unicode":
			o.AllowUnicode = yes
		case "explicit_start":
			o.ExplicitStart = yes
		case "explicit_end":
			o.ExplicitEnd = yes
		case "full":
			o.Full = yes
		case "ignore_aliases":
			o.IgnoreAliases = yes
		case "canonical":
			o.Canonical = yes
		case "default_style":
			o.DefaultStyle = text
		case "line_break":
			o.LineBreak = text
		default:
			t.Fatalf("option %v", k)
		}
	}
	return o
}

func TestDumpAsPyYAML(t *testing.T) {
	bad := 0
	for _, c := range recorded(t, "dump.json") {
		var d decoder
		v := d.value(t, c.At("value"))
		got, err := yamlsalt.Dump(v, dumpOptions(t, c.Map("options")))
		if err != nil {
			got = "!" + err.Error()
		}
		if want := c.Str("want"); got != want {
			if bad++; bad < 12 {
				t.Errorf("Dump(%s, %s)\n got %q\nwant %q", value.Repr(v), value.Repr(c.Map("options")), got, want)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d cases differ", bad)
	}
}
