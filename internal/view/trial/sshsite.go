package trial

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"brine/internal/py/value"
)

// An sshSite is how the controller of an orchestration reaches its machines: by SSH over
// Unix sockets that it finds among the files of the case. Machines need neither sshd nor
// a network for it.
type sshSite struct {
	config  *ssh.ServerConfig
	cancel  context.CancelFunc
	serving sync.WaitGroup
}

// sshDir has the sockets, the roster and the keys, below the directory of a case.
const sshDir = "ssh"

// ConnectCommand is the command of brine, below test, that a controller reaches a
// machine by.
const ConnectCommand = "connect"

// newSSH makes keys and the roster of a controller.
func (p *plan) newSSH() error {
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	server, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		return err
	}
	client, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(key, "brine test")
	if err != nil {
		return err
	}
	allowed := client.PublicKey().Marshal()
	p.ssh = &sshSite{config: &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(offered.Marshal(), allowed) {
			return nil, errors.New("not the key of this test")
		}
		return nil, nil
	}}}
	p.ssh.config.AddHostKey(server)
	known := strings.Join(names(p.nodes), ",") + " " + string(ssh.MarshalAuthorizedKey(server.PublicKey()))
	if err := p.ws.write(p.Host, sshDir+"/known_hosts", known, 0o644); err != nil {
		return err
	}
	if err := p.ws.write(p.Host, sshDir+"/key", string(pem.EncodeToMemory(block)), 0o600); err != nil {
		return err
	}
	return writeYAML(p.ws.writer(p.Host), sshDir+"/roster", p.roster())
}

// roster is the roster of a controller.
func (p *plan) roster() *value.Map {
	dir := inside + "/case/" + sshDir
	roster := value.NewMap(len(p.nodes))
	for i, q := range p.nodes {
		connect := fmt.Sprintf("ProxyCommand=%s/brine test %s %s/%s", inside, ConnectCommand, dir, socketName(i))
		entry := value.MapOf("host", q.name, "user", "root", "priv", dir+"/key",
			"ssh_options", value.Strings(connect, "UserKnownHostsFile="+dir+"/known_hosts", "StrictHostKeyChecking=yes"))
		if g := q.grains(); g.Len() > 0 {
			entry.Set("minion_opts", value.MapOf("grains", g))
		}
		roster.Set(q.name, entry)
	}
	return roster
}

func socketName(i int) string { return fmt.Sprintf("machine-%d", i) }

// serveSSH serves SSH for the machines of an orchestration until endSSH.
func (p *plan) serveSSH(ctx context.Context) error {
	ctx, p.ssh.cancel = context.WithCancel(ctx)
	dir, err := os.Open(filepath.Join(p.ws.dir, sshDir))
	if err != nil {
		return err
	}
	defer dir.Close()
	for i, q := range p.nodes {
		// The path of a socket may have 107 bytes; that of its directory may be longer.
		addr := &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketName(i))}
		l, err := net.ListenUnix("unix", addr)
		if err != nil {
			return fmt.Errorf("listen for the controller: %w", err)
		}
		l.SetUnlinkOnClose(false) // it goes with its directory
		p.ssh.serving.Go(func() { q.m.ServeSSH(ctx, l, p.ssh.config) })
	}
	return nil
}

// endSSH ends what serveSSH started.
func (p *plan) endSSH() {
	if p.ssh != nil && p.ssh.cancel != nil {
		p.ssh.cancel()
		p.ssh.serving.Wait()
	}
}

// names are the names of machines.
func names(nodes []*plan) []string {
	out := make([]string, len(nodes))
	for i, q := range nodes {
		out[i] = q.name
	}
	return out
}
