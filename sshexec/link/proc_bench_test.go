package link_test

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkAgentStart is a new agent process up to the answer of its first
// test.ping; the test binary is larger than brine.
func BenchmarkAgentStart(b *testing.B) {
	s := newSite(b, nil)
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for b.Loop() {
		p := &process{cmd: exec.Command(exe)}
		p.cmd.Env = append(os.Environ(), agentEnv+"=agent --cache-dir="+dir)
		p.in, _ = p.cmd.StdinPipe()
		p.out, _ = p.cmd.StdoutPipe()
		if err := p.cmd.Start(); err != nil {
			b.Fatal(err)
		}
		c := s.attach(p)
		if ret := c.Invoke(b.Context(), job("test.ping")); ret.Err != nil {
			b.Fatal(ret.Err)
		}
		c.Close()
		_ = p.cmd.Wait()
	}
}
