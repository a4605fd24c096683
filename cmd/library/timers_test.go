package library

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/cmd/app"
	"brine/internal/core/host"
)

func deployTimer() *Timer {
	return &Timer{
		Chain: "deploy", At: time.Date(2099, 12, 1, 2, 0, 0, 0, time.UTC), User: "ann", Tree: "/srv/x of y/chains", Work: "/srv",
		Argv: []string{"/usr/bin/brine", "chain", "run", "deploy", "--yes", "--config-dir=/srv/x of y"},
	}
}

// TestTimersOfSystemd hands a chain to systemd, lists what it has, and cancels.
func TestTimersOfSystemd(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutDir("/run/systemd/system", fs.ModeDir|0o755)
	h.OnCommand("systemd-run *", host.Output{})
	h.OnCommand("systemctl stop *", host.Output{})
	d := deployTimer()
	other := deployTimer()
	other.Tree = "/other"
	h.OnCommand("systemctl list-units *", host.Output{Stdout: []byte("b.timer loaded active waiting " + d.Description() + "\n" +
		"c.timer loaded active waiting " + other.Description() + "\nd.timer loaded active waiting brine chain x\n\n")})
	x := TimersOf(h)
	if err := x.Add(t.Context(), d); !errors.Is(err, ErrScheduled) {
		t.Errorf("a chain is scheduled twice: %v", err)
	}
	d.Chain = "other"
	if err := x.Add(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	d.Chain = "deploy"
	got := x.command(d).Argv
	if n := len(h.Calls()); !slices.Contains(h.Calls()[n-1].Argv, "--unit=brine-chain-other-20991201-020000") {
		t.Errorf("calls: %v", h.Calls())
	}
	for _, want := range []string{"--unit=brine-chain-deploy-20991201-020000", "--on-calendar=2099-12-01 02:00:00 UTC", "--working-directory=/srv", "--setenv=" + app.OnBehalf + "=ann", "--config-dir=/srv/x of y"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	d.At = d.At.In(time.FixedZone("", 3600))
	if cmd := x.command(d); !slices.Contains(cmd.Argv, "--on-calendar=2099-12-01 02:00:00 UTC") {
		t.Errorf("in another time zone: %q", cmd.Argv)
	}
	d.Argv = append(d.Argv, "--file-root=/srv/$x")
	if cmd := x.command(d); !slices.Contains(cmd.Argv, "--file-root=/srv/$$x") {
		t.Errorf("systemd would replace the variable: %q", cmd.Argv)
	}
	if slices.Contains(got, "--user") {
		t.Errorf("root uses the systemd of a user: %q", got)
	}
	all, err := x.List(t.Context(), d.Tree)
	if err != nil || len(all) != 1 || all[0].ID != "b.timer" || all[0].Chain != "deploy" || !all[0].At.Equal(d.At) || all[0].User != "ann" {
		t.Errorf("list: %+v, %v", all, err)
	}
	if err := x.Cancel(t.Context(), d.Tree, "c.timer"); err == nil {
		t.Error("a timer of another tree was canceled")
	}
	if err := x.Cancel(t.Context(), d.Tree, "b.timer"); err != nil {
		t.Error(err)
	}
	if text := x.Shell(d); !strings.HasPrefix(text, "systemd-run --unit=brine-chain-deploy-20991201-030000 '--description=brine chain deploy at ") {
		t.Errorf("printed: %s", text)
	}
	h.UID = 1000
	x = TimersOf(h)
	if cmd := x.command(d); cmd.Argv[1] != "--user" {
		t.Errorf("%q", cmd.Argv)
	}
}

// TestTimersOfAt does so where systemd does not run.
func TestTimersOfAt(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	x := TimersOf(h)
	d := deployTimer()
	if err := x.Add(t.Context(), d); err == nil || !strings.Contains(err.Error(), "at cannot be used") {
		t.Errorf("without at: %v", err)
	}
	if all, err := x.List(t.Context(), d.Tree); err != nil || len(all) > 0 {
		t.Errorf("without at: %v, %v", all, err)
	}
	h.PutFile("/usr/bin/atq", "", 0o755)
	d.User = "ann b"
	script, err := io.ReadAll(x.command(d).Stdin)
	if want := "\n" + app.OnBehalf + "='ann b' /usr/bin/brine chain run deploy --yes '--config-dir=/srv/x of y'\n"; err != nil || !strings.HasSuffix(string(script), want) {
		t.Errorf("%q, %v", script, err)
	}
	if text, want := x.Shell(d), `cd /srv && printf '%s\n' '# brine chain deploy at 2099-12-01T02:00:00Z for ann_b of /srv/x of y/chains' '`+app.OnBehalf+`='\''ann b'\'' `; !strings.HasPrefix(text, want) || !strings.HasSuffix(text, " | at -t 209912010200.00") {
		t.Errorf("printed: %s", text)
	}
	h.OnCommand("at -t 209912010200.00", host.Output{})
	h.OnCommand("atq", host.Output{Stdout: []byte("7\tTue Dec  1 02:00:00 2099 a root\n8\tTue Dec  1 02:00:00 2099 a root\n9\tx\n10\tTue Dec  1 02:00:00 2099 a eve\nwarning\n")})
	h.OnCommand("at -c 7", host.Output{Stdout: append([]byte("#!/bin/sh\numask 22\n"), script...)})
	h.OnCommand("at -c 8", host.Output{Stdout: []byte("echo\n")})
	h.OnCommand("at -c 10", host.Output{Stdout: script}) // somebody else's, which only root sees
	h.OnCommand("at -c 9", host.Output{Status: 1})
	h.OnCommand("atrm *", host.Output{})
	if err := x.Add(t.Context(), d); !errors.Is(err, ErrScheduled) {
		t.Errorf("a chain is scheduled twice: %v", err)
	}
	d.Chain = "other"
	if err := x.Add(t.Context(), d); err != nil {
		t.Error(err)
	}
	d.Chain = "deploy"
	all, err := x.List(t.Context(), d.Tree)
	if err != nil || len(all) != 1 || all[0].ID != "7" || all[0].User != "ann_b" {
		t.Errorf("list: %+v, %v", all, err)
	}
	for id, ok := range map[string]bool{"7": true, "8": false, "10": false, "": false, "-x": false} {
		if err := x.Cancel(t.Context(), d.Tree, id); (err == nil) != ok {
			t.Errorf("cancel %q: %v", id, err)
		}
	}
}
