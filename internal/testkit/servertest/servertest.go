// Package servertest starts real database servers for tests: on random ports,
// below a temporary directory, as an account that may.
package servertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/porttest"
)

// Need skips a test without one of the programs of a package, or with -short.
func Need(t testing.TB, name string, programs ...string) {
	t.Helper()
	for _, p := range programs {
		need(t, name, find(p))
	}
}

// need skips the test where a program is missing, unless BRINE_TEST_REQUIRE
// names it: then the test fails. With -short, no server is started.
func need(t testing.TB, name, path string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s is not started with -short", name)
	}
	if path != "" {
		return
	}
	for _, r := range strings.FieldsFunc(os.Getenv("BRINE_TEST_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }) {
		if r == name || r == "all" {
			t.Fatalf("%s is not installed, and BRINE_TEST_REQUIRE asks for it", name)
		}
	}
	t.Skipf("%s is not installed", name)
}

// find returns the first program that is there: a name in PATH or a pattern of
// paths; "" where none is.
func find(names ...string) string {
	for _, n := range names {
		if strings.Contains(n, "/") {
			if m, _ := filepath.Glob(n); len(m) > 0 {
				sort.Strings(m)
				return m[len(m)-1]
			}
			continue
		}
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	return ""
}

// dir returns a short directory that an account may enter: names of sockets
// are bounded.
func dir(t testing.TB, account string) (string, *syscall.Credential) {
	t.Helper()
	below := os.TempDir()
	if os.Geteuid() == 0 && !open(below) {
		below = "/tmp" // where the tests' own directory is root's alone
	}
	d, err := os.MkdirTemp(below, "brine-db-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(d) })
	if os.Geteuid() != 0 {
		return d, nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		t.Skipf("as root the server needs an account of its own: %v", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(d, uid, gid); err != nil {
		t.Fatal(err)
	}
	return d, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// open reports whether everybody may enter a directory.
func open(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		if err != nil || st.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// run runs a program to its end. Its temporary files go into dir.
func run(t testing.TB, dir string, cred *syscall.Credential, stdin string, argv ...string) {
	t.Helper()
	c := command(dir, cred, argv...)
	c.Stdin = strings.NewReader(stdin)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

func command(dir string, cred *syscall.Credential, argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = "/"
	c.Env = append(os.Environ(), "TMPDIR="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Setpgid: true}
	return c
}

// A Server is a database server that runs.
type Server struct {
	Port int
	Dir  string

	cred *syscall.Credential
	argv []string
	cmd  *exec.Cmd
	stop syscall.Signal // what ends it; 0 is a kill

	ended chan struct{} // closed when the process has ended
}

// Start starts the server, again where it was stopped, and waits until it
// listens. One that ends is started again: PostgreSQL does not start while the
// children of the one that was killed are there.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	log, err := os.Create(filepath.Join(s.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		s.cmd = command(s.Dir, s.cred, s.argv...)
		s.cmd.Stdout, s.cmd.Stderr = log, log
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c, ended := s.cmd, make(chan struct{})
		s.ended = ended
		go func() {
			defer close(ended)
			_ = c.Wait()
		}()
		if s.listens(end) {
			return
		}
	}
	b, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not listen\n%s", s.argv[0], b)
}

// listens waits until the server listens; it reports false where it ended.
func (s *Server) listens(end time.Time) bool {
	for time.Now().Before(end) {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port), time.Second)
		if err == nil {
			c.Close()
			return true
		}
		select {
		case <-s.ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// Stop ends the server.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	pid := s.cmd.Process.Pid
	kill := func() {
		// Those of PostgreSQL lead sessions of their own, and the one that recovers a
		// database may stay for minutes.
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
	if s.stop == 0 {
		kill()
	} else {
		_ = s.cmd.Process.Signal(s.stop)
		defer time.AfterFunc(time.Minute, kill).Stop()
	}
	<-s.ended
	s.cmd = nil
}

func started(t testing.TB, s *Server) *Server {
	t.Helper()
	s.Start(t)
	t.Cleanup(s.Stop)
	return s
}

// MariaDB starts a server with the account salt (password salt) and runs schema
// in it. With a CA it has TLS.
func MariaDB(t testing.TB, schema string, ca ...*CA) *Server {
	t.Helper()
	server := find("mariadbd", "mysqld", "/usr/sbin/mariadbd", "/usr/sbin/mysqld")
	install := find("mariadb-install-db", "mysql_install_db")
	client := find("mariadb", "mysql")
	need(t, "mariadb", server)
	need(t, "mariadb", install)
	need(t, "mariadb", client)
	d, cred := dir(t, "mysql")
	data, sock := filepath.Join(d, "data"), filepath.Join(d, "s.sock")
	run(t, d, cred, "", install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	p := porttest.Port(t)
	var more []string
	for _, ca := range ca {
		own, cert, key := ca.tlsFiles(t, d, cred)
		more = append(more, "--ssl-ca="+own, "--ssl-cert="+cert, "--ssl-key="+key)
	}
	s := started(t, &Server{Port: p, Dir: d, cred: cred, argv: append([]string{
		server, "--no-defaults", "--datadir=" + data, "--port=" + strconv.Itoa(p), "--socket=" + sock, "--bind-address=127.0.0.1", "--pid-file=" + filepath.Join(d, "pid"),
	}, more...)})
	admin := []string{client, "--no-defaults", "--socket=" + sock, "--user=root"}
	served(t, d, append(admin, "-e", "SELECT 1")...)
	run(t, d, nil, schema+"\nCREATE USER salt@'%' IDENTIFIED BY 'salt'; GRANT ALL ON salt.* TO salt@'%'; CREATE USER salt@localhost IDENTIFIED BY 'salt'; GRANT ALL ON salt.* TO salt@localhost;",
		admin...)
	return s
}

// served runs a client's command until the server, which listens before it serves,
// has executed it.
func served(t testing.TB, d string, argv ...string) {
	t.Helper()
	for i := 0; ; i++ {
		out, err := command(d, nil, argv...).CombinedOutput()
		if err == nil {
			return
		}
		if i == 300 {
			t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Postgres starts a server with the database and the account salt and runs
// schema in it. With a CA it has TLS.
func Postgres(t testing.TB, schema string, ca ...*CA) *Server {
	t.Helper()
	initdb := find("initdb", "/usr/lib/postgresql/*/bin/initdb")
	server := find("postgres", "/usr/lib/postgresql/*/bin/postgres")
	psql := find("psql", "/usr/lib/postgresql/*/bin/psql")
	need(t, "postgresql", initdb)
	need(t, "postgresql", server)
	need(t, "postgresql", psql)
	d, cred := dir(t, "postgres")
	data := filepath.Join(d, "data")
	run(t, d, cred, "", initdb, "-D", data, "-A", "trust", "-U", "salt", "-E", "UTF8", "--locale=C", "--no-sync")
	p := porttest.Port(t)
	argv := []string{server, "-D", data, "-p", strconv.Itoa(p), "-k", d, "-c", "listen_addresses=127.0.0.1"}
	for _, ca := range ca {
		own, cert, key := ca.tlsFiles(t, d, cred)
		argv = append(argv, "-c", "ssl=on", "-c", "ssl_ca_file="+own, "-c", "ssl_cert_file="+cert, "-c", "ssl_key_file="+key)
	}
	s := started(t, &Server{Port: p, Dir: d, cred: cred, argv: argv})
	base := []string{psql, "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", strconv.Itoa(p), "-U", "salt"}
	served(t, d, append(base, "-d", "postgres", "-c", "CREATE DATABASE salt")...)
	run(t, d, nil, schema, append(base, "-d", "salt")...)
	return s
}

// Memcached starts a server.
func Memcached(t testing.TB) *Server {
	t.Helper()
	server := find("memcached", "/usr/bin/memcached")
	need(t, "memcached", server)
	d, cred := dir(t, "nobody")
	p := porttest.Port(t)
	return started(t, &Server{Port: p, Dir: d, cred: cred, argv: []string{server, "-l", "127.0.0.1", "-p", strconv.Itoa(p), "-U", "0"}})
}

// Etcd starts a server, with further flags: --enable-v2 is for version 2 of the API.
func Etcd(t testing.TB, flags ...string) *Server {
	t.Helper()
	server := find("etcd")
	need(t, "etcd", server)
	d, cred := dir(t, "nobody")
	p := porttest.Port(t)
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", p), fmt.Sprintf("http://127.0.0.1:%d", porttest.Port(t))
	return started(t, &Server{Port: p, Dir: d, cred: cred, argv: append([]string{
		server, "--data-dir", filepath.Join(d, "data"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
	}, flags...)})
}
