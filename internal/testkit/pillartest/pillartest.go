// Package pillartest makes pillars for tests: [Env] over any configuration, and
// [Config] for that of a recording.
package pillartest

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Env returns the environment of minion1 with the functions of table and a
// pillar of its own, and what renders that.
func Env(tb testing.TB, h host.Host, opts *value.Map, grains value.Mapping, table ...fun.Entry) (*fun.Env, *pillar.Compiler) {
	tb.Helper()
	e := &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base"},
		Data:      fun.Data{Opts: opts, Grains: grains, Memo: &fun.Memo{}},
		Machine:   fun.Machine{Host: h},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }, Table: fun.NewTable(table)},
	}
	e.Invoker = dispatch.New(e)
	c := pillar.New(e)
	e.Up = &fileserver.Local{Server: fileserver.New(h, fileserver.RootsOf(opts, "file_roots")), Render: c.Render}
	e.Pillar = c.Lazy(tb.Context())
	return e, c
}

// Config returns the options and grains of a recording: tree is its tree of
// files, more is added to its configuration.
func Config(tb testing.TB, h host.Host, tree, more string) (opts, grains *value.Map) {
	tb.Helper()
	etc := tb.TempDir()
	text, _ := os.ReadFile(filepath.Join(tree, "etc/minion"))
	conf := fmt.Sprintf("id: minion1\npillar_roots: {base: [%s/pillar]}\nfile_roots: {base: [%s/salt]}\n%s\n%s", tree, tree, more, strings.ReplaceAll(string(text), "@TREE@", tree))
	if err := os.WriteFile(filepath.Join(etc, "minion"), []byte(conf), 0o600); err != nil {
		tb.Fatal(err)
	}
	cfg, err := config.Load(config.Options{Kind: config.Minion, Host: h, Dir: etc})
	if err != nil {
		tb.Fatal(err)
	}
	grains = value.MapOf("id", "minion1")
	if g, err := os.ReadFile(filepath.Join(tree, "etc/grains")); err == nil {
		v, err := yamlsalt.LoadString(string(g))
		if err != nil {
			tb.Fatal(err)
		}
		grains.Update(v.(*value.Map))
	}
	return cfg.Opts, grains
}
