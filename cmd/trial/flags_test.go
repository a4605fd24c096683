package trial

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/internal/testkit/cmdtest"
)

// TestFlags has what flags and arguments mean, without a run.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmdtest.Flags(t, func(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
		return New(a, runF)
	}, []cmdtest.Case[options]{
		{Args: "test"},
		{Args: "test tree -k a,b --system debian* --jobs 4 --driver nspawn --keep", Rest: "tree", Set: func(o *options) {
			o.cases, o.systems, o.jobs, o.driver, o.keep = []string{"a", "b"}, []string{"debian*"}, 4, "nspawn", true
		}},
		{Args: "test --compile --update --out json --report a.xml --report b.html", Set: func(o *options) {
			o.compile, o.update, o.out, o.reports = true, true, "json", []string{"a.xml", "b.html"}
		}},
		{Args: "test --image debian-12=/a --image b=c", Set: func(o *options) { o.images = map[string]string{"debian-12": "/a", "b": "c"} }},
		{Args: "test --watch --shell-on-failure", Set: func(o *options) { o.watched, o.shell = true, true }},
		{Args: "test --network", Set: func(o *options) { o.network = true }},
		{Args: "test --coverage", Set: func(o *options) { o.covers = true }},
		{Args: "test --compiel", Err: "unknown flag: --compiel (did you mean --compile?)"},
		{Args: "test a b", Err: "one tree is checked at a time, 2 were given"},
	})
}

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, func(a *app.App) *cobra.Command { return New(a, nil) }, map[string]string{
		"test --out xml":                  `--out: "xml" is not one of text, json, github, gitlab`,
		"test --update":                   "--update is for --compile",
		"test --init --list":              "--init excludes --list, --compile and --update",
		"test --list --compile":           "--list excludes --compile and --update",
		"test --compile --driver nspawn":  "--compile uses no machines: --driver, --image, --jobs, --keep, --hosts, --network, --package and --shell-on-failure have no effect",
		"test --init --ci jenkins":        `--ci: "jenkins" is not one of github, gitlab`,
		"test --ci gitlab":                "--ci is for --init",
		"test --jobs 0":                   "--jobs: 0 is less than 1",
		"test --driver namspace":          `--driver: "namspace" is not one of nspawn, namespace, podman, docker, ssh (did you mean "namespace"?)`,
		"test --compile --report out.txt": `--report: out.txt: no report has the suffix ".txt"; known suffixes are .html, .htm, .xml, .md, .markdown, .ndjson, .jsonl, .prom, .sarif`,
		"test login":                      "a case is needed, and possibly a machine of it; 0 arguments were given",
		"test --keep --shell-on-failure":  "--keep excludes --shell-on-failure: a kept machine is entered by the command that is printed",
		"test --watch --keep":             "--watch excludes --coverage, --init, --keep, --list and --update",
		"test --coverage --list":          "--coverage excludes --init, --keep and --list",
	})
}

// TestPage: the page about tests has a row for every flag.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/test.md")
	if err != nil {
		t.Fatal(err)
	}
	New(&app.App{}, nil).Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(string(page), "`--"+f.Name+"`") && !strings.Contains(string(page), "`--"+f.Name+" ") {
			t.Errorf("docs/test.md does not have --%s", f.Name)
		}
	})
}
