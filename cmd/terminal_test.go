package cmd

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"brine/cmd/app"
	"brine/internal/core/host"
)

// TestAgentRefusesATerminal: what a controller starts is not for people.
func TestAgentRefusesATerminal(t *testing.T) {
	t.Parallel()
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal here")
	}
	defer tty.Close()
	var out, errs bytes.Buffer
	a := &app.App{In: tty, Out: &out, Err: &errs, Args: []string{"agent"}, Program: "brine", Getenv: os.Getenv, Host: host.NewLocal()}
	if status := execute(a); status != 64 || !strings.Contains(errs.String(), "terminal") || out.Len() != 0 {
		t.Errorf("status %d, stdout %q, stderr %q", status, out.String(), errs.String())
	}
}
