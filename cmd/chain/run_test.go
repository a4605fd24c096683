package chain

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/internal/core/host"
	"brine/internal/testkit/cmdtest"
	"brine/internal/view/chain"
)

// TestScheduledChain: a chain that is to run later keeps its name and its file.
func TestScheduledChain(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutDir("/run/systemd/system", fs.ModeDir|0o755)
	d := &library.Timer{Chain: "deploy", At: time.Date(2099, 12, 1, 2, 0, 0, 0, time.UTC), Tree: "/srv/x of y/chains"}
	h.OnCommand("systemctl list-units *", host.Output{Stdout: []byte("b.timer loaded active waiting " + d.Description() + "\n")})
	a := &app.App{Host: h, Getenv: func(string) string { return "" }}
	st := &chain.Store{Files: h, Dir: d.Tree}
	for _, name := range []string{"deploy", "other"} {
		if err := st.Write(name, nil, []byte("steps: []\n")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := unscheduled(t.Context(), a, st, "deploy")
	se, ok := errors.AsType[*app.StatusError](err)
	if !ok || !strings.Contains(se.Error(), "chain deploy is scheduled to run at 2099-") || !strings.Contains(se.Hint, "--cancel b.timer") {
		t.Errorf("a scheduled chain: %v", err)
	}
	if text, err := unscheduled(t.Context(), a, st, "other"); err != nil || string(text) != "steps: []\n" {
		t.Errorf("another chain: %q, %v", text, err)
	}
	h.OnCommand("systemctl list-units *", host.Output{Status: 1, Stderr: []byte("no bus")})
	var warned strings.Builder
	a.Err = &warned
	if _, err := unscheduled(t.Context(), a, st, "deploy"); err != nil || !strings.Contains(warned.String(), "cannot be listed: systemctl: exit status 1: no bus") {
		t.Errorf("nobody can be asked: %q, %v", warned.String(), err)
	}
}

// TestScheduleUsage has options of chain schedule that make no sense together.
func TestScheduleUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmdtest.Write(t, dir+"/master", "{}\n", 0o644)
	for _, args := range [][]string{
		{"--list", "--at", "2099-01-01 00:00"}, {"--list", "--cancel", "x"}, {"--cancel", "x", "chain"}, {"--list", "a", "b"}, {"--at", "2099-01-01 00:00"}, {"x", "--at", "soon"}, {"x"},
	} {
		if status, _, errs := cmdtest.Run(t, map[string]string{"HOME": dir, "PWD": dir}, New, append([]string{"chain", "schedule", "-c", dir}, args...)...); status != 64 {
			t.Errorf("%v: exit status %d: %s", args, status, errs)
		}
	}
}
