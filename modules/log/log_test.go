package log

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

func TestLevels(t *testing.T) {
	var b bytes.Buffer
	e := &fun.Env{
		Data:      fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:   fun.Machine{Host: host.NewFake()},
		UI:        fun.UI{Logger: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelInfo}))},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "log", Load: Module}})},
	}
	e.Invoker = dispatch.New(e)
	for _, tt := range []struct{ fn, want string }{
		{"debug", ""},
		{"info", "level=INFO"},
		{"warning", "level=WARN"},
		{"error", "level=ERROR"},
		{"exception", "level=ERROR"},
		{"critical", "level=ERROR+4"},
	} {
		b.Reset()
		r, err := e.Invoker.Invoke(t.Context(), fun.Exec, "log."+tt.fn, fun.Args{Pos: []value.Value{value.MapOf("a", int64(1))}})
		if err != nil || r.Value != true {
			t.Errorf("%s = %v, %v; want true", tt.fn, r.Value, err)
		}
		if got := b.String(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || got != "" && !strings.Contains(got, `text="{'a': 1}"`) {
			t.Errorf("%s logs %q, want %q", tt.fn, got, tt.want)
		}
	}
}
