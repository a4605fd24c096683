package sshexec

import (
	"context"
	"os"
	"sync"
	"time"
)

// FindJob asks the agents of machines whether a job runs there, over the open
// connections, and calls tell with each answer. On machines without a
// connection nothing runs: the call reports that its connection ended. A
// machine that is being dialled again, for a call that its agent never
// received, counts as working, in this process.
func (p *Provider) FindJob(ctx context.Context, jid string, ids []string, tell func(id string, pid int)) {
	var wg sync.WaitGroup
	for _, id := range ids {
		m := p.machine(id)
		if m == nil {
			continue
		}
		if !m.dialing.TryLock() {
			tell(id, os.Getpid())
			continue
		}
		conn, client := m.agent, m.client
		m.asked = time.Now()
		m.dialing.Unlock()
		if conn == nil {
			tell(id, 0)
			continue
		}
		if client != nil {
			go func() { _ = client.way.probe() }() // whether the host answers where its agent does not
		}
		wg.Go(func() {
			list, err := conn.Running(ctx)
			if err != nil {
				return
			}
			pid := 0
			for _, r := range list {
				if r.JID == jid {
					pid = max(1, r.PID)
				}
			}
			tell(id, pid)
		})
	}
	wg.Wait()
}
