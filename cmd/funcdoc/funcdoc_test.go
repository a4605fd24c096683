package funcdoc_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/funcdoc"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/cmdtest"
)

// table has a module of two kinds, and a module of a tree.
func table() *fun.Table {
	say := func(kind fun.Kind, specs ...fun.Spec) fun.Entry {
		return fun.Entry{Kind: kind, Name: "say", Load: func() fun.Module {
			return fun.Module{Name: "say", Kind: kind, Doc: "Say things.", Specs: specs}
		}}
	}
	wait := fun.Spec{Name: "wait", Doc: "Say it later.\nNobody has to listen.", Src: "modules/say.py wait", VarKw: true, Args: []fun.Arg{
		{Name: "text", Type: fun.Str, Required: true, Doc: "what it says"},
		{Name: "after", Type: fun.Duration, Unit: "s", Default: 1.5},
	}}
	all := fun.Spec{Name: "all", VarArg: true, Args: []fun.Arg{{Name: "first", Type: fun.Str, Default: "a"}, {Name: "loud", Type: fun.Bool, Default: false, KwOnly: true}}}
	return fun.NewTable([]fun.Entry{say(fun.Exec, all, wait), say(fun.State, fun.Spec{Name: "wait", Doc: "Have said it."}), {
		Kind: fun.Runner, Name: "own", Load: func() fun.Module {
			return fun.Module{Name: "own", Kind: fun.Runner, Specs: []fun.Spec{{Name: "one", Src: "salt://_runners/own.py one"}}}
		},
	}})
}

func TestPrint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names string
		want  string
	}{
		{"say.wait", `say.wait: state function
say.wait()

Have said it.

say.wait: execution function
say.wait(text, after=1.5, **kwargs)

Say it later.
Nobody has to listen.

Arguments:
  text                 string; required
                       what it says
  after                duration, s; default 1.5

In Salt: modules/say.py wait
`},
		{"say.all own.one", `say.all: execution function
say.all(first='a', *args, loud=False)

Arguments:
  first                string; default 'a'
  loud                 boolean; default False

own.one: runner function
own.one()

In the tree: salt://_runners/own.py one
`},
		{"say", `say: state module
Say things.
  say.wait                     Have said it.

say: execution module
Say things.
  say.all                      
  say.wait                     Say it later.
`},
	} {
		var out bytes.Buffer
		if err := funcdoc.Print(&app.App{Out: &out}, table(), strings.Fields(tt.names)); err != nil || out.String() != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.names, err, out.String(), tt.want)
		}
	}
}

// TestNotFound: of all kinds, the error is that of the one that knows most of a name.
func TestNotFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, nearest string
		inSalt        bool
		kind          fun.Kind
	}{
		{"say.wiat", "say.wait", false, fun.State},
		{"own.onne", "own.one", false, fun.Runner},
		{"file.managed", "", true, fun.State},
		{"cmd.run_all", "", true, fun.Exec},
		{"nothing.like_it", "", false, fun.State},
	} {
		err := funcdoc.NotFound(table(), tt.name)
		var nf *fun.NotFoundError
		if !errors.As(err, &nf) || nf.InSalt != tt.inSalt || nf.Kind != tt.kind || tt.nearest != "" && nf.Nearest != tt.nearest {
			t.Errorf("%s: %+v", tt.name, nf)
		}
		var out bytes.Buffer
		if err := funcdoc.Print(&app.App{Out: &out}, table(), []string{"own.one", tt.name}); !errors.As(err, &nf) {
			t.Errorf("print %s: %v", tt.name, err)
		}
	}
}

// TestPrintKind: names are prefixes of one kind; what only another kind has is printed
// as well.
func TestPrintKind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind  fun.Kind
		name  string
		heads string // the functions that are printed
		err   bool
	}{
		{fun.Exec, "test.fal", "test.false execution", false},
		{fun.State, "test.succeed_with", "test.succeed_with_changes state; test.succeed_without_changes state", false},
		{fun.Runner, "file.managed", "file.managed state", false},
		{fun.Exec, "no.such", "", true},
	} {
		var out bytes.Buffer
		err := funcdoc.PrintKind(&app.App{Out: &out}, tt.kind, []string{tt.name})
		var heads []string
		for line := range strings.Lines(out.String()) {
			if name, ok := strings.CutSuffix(line, " function\n"); ok && !strings.HasPrefix(line, " ") {
				heads = append(heads, strings.Replace(name, ":", "", 1))
			}
		}
		if got := strings.Join(heads, "; "); got != tt.heads || (err != nil) != tt.err {
			t.Errorf("%s %s: %q, %v, want %q", tt.kind, tt.name, got, err, tt.heads)
		}
	}
}

// TestTable: without a tree, and with one whose code may not run, the table is that of the
// build; a configuration that cannot be read is an error.
func TestTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := cmdtest.Write(t, filepath.Join(dir, "bad/minion"), "file_roots: [", 0o644)
	for _, tt := range []struct {
		args string
		err  string
	}{
		{"", ""},
		{"--no-run --file-root " + dir, ""},
		{"--no_run --config-dir " + filepath.Dir(bad), ""},
		{"-c " + filepath.Dir(bad), bad},
	} {
		var f funcdoc.Flags
		fs := pflag.NewFlagSet("doc", pflag.ContinueOnError)
		f.Register(fs)
		if err := fs.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		a := &app.App{Getenv: func(string) string { return "" }, Host: host.NewLocal(), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Intr: &app.Interrupt{}}
		table, err := f.Table(t.Context(), a)
		if tt.err == "" && (err != nil || table.Spec(fun.Exec, "test.ping") == nil) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.err)
		}
	}
}
