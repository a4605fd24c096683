package sshtest

import (
	"os/exec"
	"runtime"
	"testing"
)

// TestSettle: what a server's clients left running has ended when its directory is
// removed.
func TestSettle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	var left *exec.Cmd
	t.Run("server", func(t *testing.T) {
		s := Start(t, Options{})
		left = exec.Command("sleep", "30")
		left.Env = []string{"A=b", "HOME=" + s.Home, "LANG=C"}
		if err := left.Start(); err != nil {
			t.Fatal(err)
		}
		if got := s.sessions(); len(got) != 1 || got[0] != left.Process.Pid {
			t.Errorf("sessions %v, want %d", got, left.Process.Pid)
		}
	})
	if left == nil || left.Process == nil {
		t.Skip("there is no sshd")
	}
	if err := left.Wait(); err == nil {
		t.Error("it ended by itself, after 30 s")
	}
}
