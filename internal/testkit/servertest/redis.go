package servertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/porttest"
)

// Redis starts a server, which also has the socket s.sock in its directory. It
// is stopped in order: while its disk is busy it acknowledges what it has not
// written yet, and a kill would lose that. With a CA it speaks TLS alone, to
// clients that have a certificate.
func Redis(t testing.TB, ca ...*CA) *Server {
	t.Helper()
	d, cred := dir(t, "nobody")
	p := porttest.Port(t)
	if len(ca) == 0 {
		return redis(t, d, p, cred, "--port", strconv.Itoa(p), "--unixsocket", filepath.Join(d, "s.sock"), "--unixsocketperm", "777")
	}
	own, cert, key := ca[0].tlsFiles(t, d, cred)
	return redis(t, d, p, cred, "--port", "0", "--tls-port", strconv.Itoa(p), "--tls-ca-cert-file", own, "--tls-cert-file", cert, "--tls-key-file", key)
}

// DurableRedis starts a server that acknowledges nothing before it is on disk, and
// that Stop kills.
func DurableRedis(t testing.TB) *Server {
	t.Helper()
	d, cred := dir(t, "nobody")
	p := porttest.Port(t)
	s := redis(t, d, p, cred, "--port", strconv.Itoa(p), "--appendfsync", "always")
	s.stop = 0
	return s
}

func redis(t testing.TB, d string, port int, cred *syscall.Credential, args ...string) *Server {
	t.Helper()
	server := find("redis-server")
	need(t, "redis", server)
	return started(t, &Server{Port: port, Dir: d, cred: cred, stop: syscall.SIGTERM, argv: append([]string{
		server, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", d,
	}, args...)})
}

// RedisCluster starts a cluster of three servers, which share the slots.
func RedisCluster(t testing.TB) []*Server {
	t.Helper()
	var all []*Server
	var bus []int
	for range 3 {
		d, cred := dir(t, "nobody")
		p, b := porttest.Port(t), porttest.Port(t)
		all = append(all, redis(t, d, p, cred, "--port", strconv.Itoa(p), "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(b), "--cluster-node-timeout", "5000"))
		bus = append(bus, b)
	}
	const slots = 16384
	for i, s := range all {
		s.RedisCLI(t, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*slots/3), strconv.Itoa((i+1)*slots/3-1))
		if i > 0 {
			s.RedisCLI(t, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(all[0].Port), strconv.Itoa(bus[0]))
		}
	}
	for _, s := range all {
		until(t, func() bool {
			info := s.RedisCLI(t, "CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return all
}

// Sentinel starts a sentinel that knows a server as the master mymaster.
func Sentinel(t testing.TB, of *Server) *Server {
	t.Helper()
	d, cred := dir(t, "nobody")
	p := porttest.Port(t)
	conf := filepath.Join(d, "sentinel.conf")
	if err := os.WriteFile(conf, []byte("sentinel monitor mymaster 127.0.0.1 "+strconv.Itoa(of.Port)+" 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if cred != nil {
		if err := os.Chown(conf, int(cred.Uid), int(cred.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	server := find("redis-server")
	need(t, "redis", server)
	return started(t, &Server{Port: p, Dir: d, cred: cred, stop: syscall.SIGTERM, argv: []string{
		server, conf, "--sentinel", "--port", strconv.Itoa(p), "--bind", "127.0.0.1", "--dir", d,
	}})
}

// RedisCLI runs a command of Redis and returns what it prints.
func (s *Server) RedisCLI(t testing.TB, args ...string) string {
	t.Helper()
	cli := find("redis-cli")
	need(t, "redis", cli)
	out, err := exec.Command(cli, append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.Port)}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// until waits half a minute for something to become so.
func until(t testing.TB, so func() bool) {
	t.Helper()
	for range 300 {
		if so() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("it did not become so within half a minute")
}
