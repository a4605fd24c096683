package random

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// call runs a function with the arguments that its row says.
func call(t *testing.T, name string, kw *value.Map) (value.Value, error) {
	t.Helper()
	mod := Module().Loaded()
	for i := range mod.Specs {
		spec := &mod.Specs[i]
		if spec.Name != name {
			continue
		}
		c := &fun.Call{Mod: &mod, Spec: spec, Args: value.NewMap(8), Kw: value.NewMap(0), Env: &fun.Env{Identity: fun.Identity{ID: "minion1"}}}
		for _, a := range spec.Args {
			c.Args.Set(a.Name, a.Default)
			v, given := kw.Get(a.Name)
			if !given {
				continue
			}
			v, _, err := a.Convert(v)
			if err != nil {
				return nil, err
			}
			c.Args.Set(a.Name, v)
		}
		res, err := spec.Fn(t.Context(), c)
		return res.Value, err
	}
	t.Fatalf("no function %s", name)
	return nil, nil
}

// Seeded outcomes are those of Python 3.11.
func TestFunctions(t *testing.T) {
	abc := value.Strings("a", "b", "c")
	for _, tt := range []struct {
		name string
		kw   *value.Map
		want value.Value
		err  string
	}{
		{"rand_int", value.MapOf("seed", int64(5)), int64(10), ""},
		{"rand_int", value.MapOf("start", int64(4), "end", int64(4)), int64(4), ""},
		{"rand_int", value.MapOf("start", int64(10), "end", int64(1)), nil, "empty range for randrange() (10, 2, -8)"},
		{"rand_int", value.MapOf("start", "x"), nil, "start must be an integer, not 'x'"},
		{"seed", value.MapOf(), int64(3), ""},
		{"seed", value.MapOf("range", int64(60), "hash", "x"), int64(40), ""},
		{"seed", value.MapOf("range", int64(0)), nil, "empty range for randrange()"},
		{"sample", value.MapOf("value", abc, "size", int64(2), "seed", "s"), value.Strings("b", "a"), ""},
		{"sample", value.MapOf("value", abc, "size", int64(4)), nil, "Sample larger than population or is negative"},
		{"sample", value.MapOf("value", value.NewMap(0), "size", int64(0)), nil, "Population must be a sequence.  For dicts or sets, use sorted(d)."},
		{"shuffle", value.MapOf("value", abc, "seed", "s"), value.Strings("b", "a", "c"), ""},
		{"shuffle", value.MapOf("value", abc, "seed", int64(1)), nil, "object supporting the buffer API required"},
		{"hash", value.MapOf("value", "hi", "algorithm", "md5"), "49f68a5c8493ec2c0bf489821c21fc3b", ""},
		{"hash", value.MapOf("value", "hi", "algorithm", "sha1"), "c22b5f9178342609428d6f51b2c5af4c0bde6a42", ""},
		{"hash", value.MapOf("value", "hi", "algorithm", "nope"), nil, "You must specify a valid algorithm."},
		{"hash", value.MapOf("value", int64(5)), nil, "object supporting the buffer API required"},
		{"shadow_hash", value.MapOf("crypt_salt", "salt", "password", "pw"), "$6$salt$AkOOBO38SQQ8T8Q46KuCONe.8zg41nvCDKDq7pVQd2n2hy8sf8aR3G89VY.57up0eSIa/69odCCcLT4hx7FpW/", ""},
		{"shadow_hash", value.MapOf("password", "pw", "algorithm", "blowfish"), nil, "Algorithm 'blowfish' is not supported; supported are sha512, sha256 and md5"},
		{"str_encode", value.MapOf("value", "hi"), "aGk=", ""},
		{"str_encode", value.MapOf("value", "hi", "encoder", "rot13"), nil, "Value must be an encode-able string"},
		{"str_encode", value.MapOf("value", int64(1)), nil, "Value must be an encode-able string"},
		{"get_str", value.MapOf("length", int64(0)), "", ""},
		{"get_str", value.MapOf("length", "3", "chars", "z"), "zzz", ""},
		{"get_str", value.MapOf("length", "x"), nil, "length must be an integer (characters), not 'x'"},
		{"get_str", value.MapOf("lowercase", false, "uppercase", false, "digits", false, "punctuation", false), nil, "no characters to pick from: every class is off"},
	} {
		got, err := call(t, tt.name, tt.kw)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s(%s): error %v, want %s", tt.name, value.Repr(tt.kw), err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s(%s): %v", tt.name, value.Repr(tt.kw), err)
			continue
		}
		if d := cmp.Diff(value.Repr(tt.want), value.Repr(got)); d != "" {
			t.Errorf("%s(%s) (-want +got):\n%s", tt.name, value.Repr(tt.kw), d)
		}
	}
}

func TestGetStrClasses(t *testing.T) {
	for _, tt := range []struct {
		off   []string
		chars string
	}{
		{nil, lowercase + uppercase + digits + punctuation},
		{[]string{"uppercase", "punctuation"}, lowercase + digits},
	} {
		kw := value.MapOf("length", int64(300))
		for _, n := range tt.off {
			kw.Set(n, false)
		}
		got, err := call(t, "get_str", kw)
		if err != nil {
			t.Fatal(err)
		}
		s := got.(string)
		if len(s) != 300 || strings.Trim(s, tt.chars) != "" {
			t.Errorf("get_str without %v = %q", tt.off, s)
		}
	}
}
