package fun

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"brine/internal/py/value"
)

type where struct {
	_    Arguments
	Root string `arg:"root,path" doc:"directory of the system"`
}

type allArgs struct {
	_    Arguments
	Name string `arg:"name,required" doc:"name of it"`
	where
	Size  int64         `arg:"size,size" unit:"bytes" default:"4096"`
	Wait  time.Duration `arg:"wait" unit:"s" default:"1.5"`
	Words []string      `arg:"words,comma[str]|bool" default:"[]"`
	Any   value.Value   `arg:"any" default:"'x'"`
	Mode  string        `arg:"mode,mode" oneof:"keep|none"`
	Map   *value.Map    `arg:"map"`
	Items []value.Value `arg:"items"`
	On    Opt[bool]     `arg:"on" default:"True"`
	Up    Opt[string]   `arg:"up"`
	Key   string        `arg:"key,kw,secret"`
	Ratio float64       `arg:"ratio"`
	_     string        `arg:"old" doc:"accepted"`
	Rest  Kwargs
	More  Varargs
}

func TestArgStruct(t *testing.T) {
	l := layoutOf(reflect.TypeFor[allArgs]())
	want := []Arg{
		{Name: "name", Type: Str, Required: true, Doc: "name of it"},
		{Name: "root", Type: Path, Doc: "directory of the system"},
		{Name: "size", Type: Size, Unit: "bytes", Default: int64(4096)},
		{Name: "wait", Type: Duration, Unit: "s", Default: 1.5},
		{Name: "words", Type: Commas | Bool, Default: value.NewList()},
		{Name: "any", Default: "x"},
		{Name: "mode", Type: Mode, OneOf: []string{"keep", "none"}},
		{Name: "map", Type: Dict},
		{Name: "items", Type: List},
		{Name: "on", Type: Bool, Default: true},
		{Name: "up", Type: Str},
		{Name: "key", Type: Str, KwOnly: true, Secret: true},
		{Name: "ratio", Type: Float},
		{Name: "old", Type: Str, Doc: "accepted"},
	}
	for i, a := range want {
		a.key = a.Name
		if !reflect.DeepEqual(l.args[i], a) {
			t.Errorf("argument %d is %+v, not %+v", i, l.args[i], a)
		}
	}
	if len(l.args) != len(want) || !l.hasRest || !l.hasMore {
		t.Errorf("%d arguments, rest %v, more %v", len(l.args), l.hasRest, l.hasMore)
	}
	kw := value.MapOf("further", int64(1))
	c := &Call{Kw: kw, Pos: []value.Value{"p"}, Args: value.MapOf(
		"name", int64(12), "root", "/mnt", "size", int64(5), "wait", int64(2), "words", value.NewList("a", "b"), "any", true, "mode", "0644",
		"map", value.MapOf("k", "v"), "items", "one", "on", nil, "up", "", "key", "s3", "ratio", 0.5, "old", "x")}
	var got allArgs
	l.read(c, unsafe.Pointer(&got))
	if got.Name != "12" || got.Root != "/mnt" || got.Size != 5 || got.Wait != 2*time.Second || strings.Join(got.Words, "") != "ab" ||
		got.Any != true || got.Mode != "0644" || got.Map.At("k") != "v" || len(got.Items) != 1 || got.On.Given || !got.Up.Given ||
		got.Key != "s3" || got.Ratio != 0.5 || got.Rest.At("further") != int64(1) || got.More[0] != "p" || !got.On.Or(true) {
		t.Errorf("%+v", got)
	}
}

func TestArgStructFaults(t *testing.T) {
	tests := []struct {
		of   any
		want string
	}{
		{struct{ A string }{}, "has no tag arg"},
		{struct {
			A complex64 `arg:"a"`
		}{}, "declares no argument"},
		{struct {
			A []int64 `arg:"a,list[int]"`
		}{}, "keeps no argument"},
		{struct {
			A string `arg:"a,requird"`
		}{}, `"requird" is not a type`},
		{struct {
			A string `arg:"a,str[int]"`
		}{}, "not a type of elements here"},
		{struct {
			A int64 `arg:"a" default:"many"`
		}{}, "the default many cannot be read"},
		{struct {
			A string `arg:"a"`
			B string `arg:"a"`
		}{}, "declared twice"},
	}
	for _, tt := range tests {
		err := new(layout).add(reflect.TypeOf(tt.of), 0)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%T: %v, not %s", tt.of, err, tt.want)
		}
	}
}

func TestTypeWords(t *testing.T) {
	for _, typ := range []Type{Any, Str, Str | Bool, Strs, Commas, Ints | Comma, StrDict | None, Path | Bool, List | Dict, Str | Strs} {
		got, err := ParseType(wordOf(typ))
		if err != nil || got != typ {
			t.Errorf("%s: %v %v", wordOf(typ), got, err)
		}
	}
}

func BenchmarkLayout(b *testing.B) {
	for b.Loop() {
		l := &layout{}
		_ = l.add(reflect.TypeFor[allArgs](), 0)
	}
}

func BenchmarkBody(b *testing.B) {
	c := &Call{Kw: value.NewMap(0), Args: value.MapOf("name", "x", "root", "/mnt", "size", int64(5), "words", value.NewList("a", "b"), "mode", "0644", "key", "s3")}
	body := funcOf(func(_ context.Context, _ *Call, a *allArgs) (Result, error) { return Value(a.Name) })
	for b.Loop() {
		_, _ = body.Exec(b.Context(), c)
	}
}

func TestDo(t *testing.T) {
	exec := func(_ context.Context, c *Call, a *where) (Result, error) { return Value(a.Root + c.Name) }
	state := func(_ context.Context, c *Call, a *where) Ret { return Ret{Comment: a.Root + c.Name} }
	c := &Call{Name: "x", Args: value.MapOf("root", "/mnt"), Kw: value.NewMap(0)}
	rows := Module{Kind: Exec, Specs: []Spec{{Name: "f", Do: exec}}}.Loaded().Specs
	if res, err := rows[0].Fn(t.Context(), c); err != nil || res.Value != "/mntx" || rows[0].Args[0].Name != "root" {
		t.Errorf("%v %v %v", res, err, rows[0].Args)
	}
	if ret := (Module{Kind: State, Specs: []Spec{{Name: "f", Do: state}}}).Loaded().Specs[0].State(t.Context(), c); ret.Comment != "/mntx" {
		t.Errorf("%v", ret)
	}
	for _, do := range []any{state, "f", func(context.Context, *Call) (Result, error) { return Result{}, nil }, func(context.Context, *Call, where) (Result, error) { return Result{}, nil }} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "the row f does") {
					t.Errorf("%T is taken: %q", do, text)
				}
			}()
			Module{Kind: Exec, Specs: []Spec{{Name: "f", Do: do}}}.Loaded()
		}()
	}
}

type marked struct {
	_    Arguments
	Text value.Value `arg:"text"`
}

func (*marked) Defaults() map[string]value.Value { return map[string]value.Value{"text": "mark"} }

func TestDefaults(t *testing.T) {
	if l := layoutOf(reflect.TypeFor[marked]()); l.args[0].Default != "mark" {
		t.Errorf("%+v", l.args)
	}
}

func TestGiven(t *testing.T) {
	c := &Call{Args: value.MapOf("root", "/mnt", "other", "x"), Kw: value.NewMap(0)}
	if got := value.Repr(c.Given((*where)(nil))); got != "{'root': '/mnt'}" {
		t.Error(got)
	}
	c.Args.Set("root", nil)
	if got := c.Given((*where)(nil)); got.Len() != 0 {
		t.Error(value.Repr(got))
	}
}

// wordOf returns the type as a tag writes it: the inverse of ParseType.
func wordOf(t Type) string {
	if t == Any {
		return "any"
	}
	var words []string
	of := Elem(t)
	for i, w := range typeWords {
		bit := Type(1) << i
		if t&bit == 0 {
			continue
		}
		if of != 0 && bit&(List|Dict|Comma) != 0 {
			w += "[" + wordOf(of) + "]"
		}
		words = append(words, w)
	}
	return strings.Join(words, "|")
}
