package jinja_test

import (
	"strings"
	"testing"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// shout is a dialect of a few names.
func shout() jinja.Extension {
	loud := func(c *jinja.Call) (value.Value, error) {
		s, err := c.State.Str(c.Args[0])
		return strings.ToUpper(s) + "!", err
	}
	return jinja.Extension{
		Filters: map[string]jinja.Func{"loud": loud, "lower": loud},
		Tests:   map[string]jinja.Func{"defined": func(*jinja.Call) (value.Value, error) { return false, nil }},
		Globals: map[string]value.Value{"here": "everywhere", "range": "hidden by Jinja2's"},
		Tags: map[string]jinja.Tag{
			"say":    {Kind: jinja.CaptureTag, End: "endsay", Filter: "loud"},
			"recite": {Kind: jinja.ImportTag, Filter: "loud"},
			"time":   {Kind: jinja.ProfileTag, End: "endtime"},
		},
		Finalize: func(_ *jinja.State, v value.Value) (string, error) { return "<" + value.Str(v) + ">", nil },
	}
}

func TestExtension(t *testing.T) {
	t.Parallel()
	var timed []string
	o := jinja.Options{Extension: shout(), Profile: func(label, source string) func() {
		return func() { timed = append(timed, label+"|"+source) }
	}}
	env := jinja.New(o, jinjatest.Files{"poem": "roses"})
	for _, tt := range []struct{ text, want string }{
		{"{{ 'a'|loud }} {{ 'a'|lower }} {{ 'a'|upper }}", "A! A! A"},
		{"{{ 1 is defined }} {{ 1 is odd }}", "<False> <True>"},
		{"{{ here }} {{ range(2)|list }}", "everywhere <[0, 1]>"},
		{"{% set here = 'hidden' %}{{ here }}", "hidden"},
		{"{% say as x %}hi {{ 1 }}{% endsay %}{{ x }}", "HI <1>!"},
		{"{% recite 'poem' as x %}{{ x }}", "ROSES!"},
		{"{% time as 'it' ~ 1 %}{{ none }}{% endtime %}", "<None>"},
		{"{{ {'a': 1} }}{{ 'text' }}{{ 'safe'|safe }}", "<{'a': 1}>textsafe"},
	} {
		if got, err := jinjatest.Render(env, "t", tt.text, nil); err != nil || got != tt.want {
			t.Errorf("%s = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
	if got, want := strings.Join(timed, " "), "poem|recite it1|time block"; got != want {
		t.Errorf("profiled %s, want %s", got, want)
	}
	for _, tt := range []struct{ text, msg, hint string }{
		{"{{ 1|luod }}", "No filter named 'luod'.", `did you mean "loud"?`},
		{"{% sya as x %}", "Encountered unknown tag 'sya'.", `did you mean "say"?`},
		{"{% say as x %}", "Unexpected end of template. Jinja was looking for the following tags: 'endsay'. The innermost block that needs to be closed is 'say'.", ""},
	} {
		if e := jinjatest.Fault(t, env, tt.text, nil); e.Msg != tt.msg || e.Hint != tt.hint {
			t.Errorf("%s: %q, hint %q", tt.text, e.Msg, e.Hint)
		}
	}
}

// TestNoExtension knows nothing but Jinja2's names.
func TestNoExtension(t *testing.T) {
	t.Parallel()
	env := jinja.New(jinja.Options{}, nil)
	for _, text := range []string{"{{ {}|yaml }}", "{{ 'x' is match('x') }}", "{% load_yaml as x %}{% endload %}", "{{ odict() }}", "{% profile as 'x' %}{% endprofile %}"} {
		jinjatest.Fault(t, env, text, nil)
	}
	if got, err := jinjatest.Render(env, "t", "{{ {'a': nope} }}", nil); err != nil || got != "{'a': Undefined}" {
		t.Errorf("%q, %v", got, err)
	}
}
