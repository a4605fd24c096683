package react

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/py/value"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "react deploy/done", Rest: "deploy/done"},
		{Args: `react deploy/done {"a":1} --dry-run`, Set: func(o *options) { o.dry = true }, Rest: `deploy/done {"a":1}`},
		{Args: "react --event x.json --limit web1", Set: func(o *options) { o.event, o.Limit = "x.json", "web1" }},
		{Args: "react x --evnt y", Err: "unknown flag: --evnt (did you mean --event?)"},
	})
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"react":                   "no tag was given",
		"react a {} b":            `unexpected argument "b": an event is a tag and its data`,
		"react a text":            `the data of an event is a mapping, and "text" is none`,
		"react a --event x.json":  `--event has the tag and the data: "a" is too much`,
		"react --event none.json": "--event: open none.json: no such file or directory",
	})
}

// TestParseEvent has events, and what is none.
func TestParseEvent(t *testing.T) {
	t.Parallel()
	tag, data, err := parseEvent(`{"tag": "a/b", "data": {"x": [1]}}`)
	if err != nil || tag != "a/b" || !value.Equal(data, value.MapOf("x", value.NewList(int64(1)))) {
		t.Errorf("%q, %v, %v", tag, data, err)
	}
	if tag, data, err = parseEvent(`{"tag": "a"}`); err != nil || tag != "a" || data.Len() != 0 {
		t.Errorf("without data: %q, %v, %v", tag, data, err)
	}
	for text, want := range map[string]string{
		"": "", "[]": "the event has no tag", `{"data": {}}`: "the event has no tag", `{"tag": 7}`: "the event has no tag",
		`{"tag": "a", "data": [1]}`: "its data is a mapping, not a list", `{"tag": "a", "dta": {}}`: `an event has tag and data, and no "dta"`,
	} {
		if _, _, err := parseEvent(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
