package sshexec

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/internal/testkit/sshtest"
)

func newHostKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func knownFile(t testing.TB, lines ...string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(p, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// verdict tells a check in a word, with the lines that it names.
func verdict(err error) string {
	var (
		ke *xknownhosts.KeyError
		re *xknownhosts.RevokedError
	)
	switch {
	case err == nil:
		return "known"
	case errors.As(err, &re):
		return fmt.Sprint("revoked ", re.Revoked.Line)
	case errors.As(err, &ke) && len(ke.Want) == 0:
		return "unknown"
	case errors.As(err, &ke):
		s := "changed"
		for _, k := range ke.Want {
			s += fmt.Sprint(" ", k.Line)
		}
		return s
	}
	return err.Error()
}

// TestKnownAsCrypto compares the index with the walk of
// golang.org/x/crypto/ssh/knownhosts over files made at random.
func TestKnownAsCrypto(t *testing.T) {
	t.Parallel()
	keys := []ssh.PublicKey{newHostKey(t).PublicKey(), newHostKey(t).PublicKey(), newHostKey(t).PublicKey()}
	names := []string{"web1", "web2", "db", "10.0.0.1", "[web1]:2222", "[10.0.0.1]:2222", "::1", "[::1]:2222", "web*", "*", "!web2", "w?b1", "[web*]:2222", "![web1]:2222", "*.*"}
	hosts := []string{"web1:22", "web2:22", "db:22", "10.0.0.1:22", "web1:2222", "web2:2222", "10.0.0.1:2222", "[::1]:22", "[::1]:2222", "db:2222"}
	r := mrand.New(mrand.NewPCG(1, 2))
	for range 400 {
		var lines []string
		noStar := true
		for range r.IntN(8) {
			var list []string
			for range 1 + r.IntN(3) {
				n := names[r.IntN(len(names))]
				list = append(list, n)
			}
			name := strings.Join(list, ",")
			if r.IntN(4) == 0 {
				name = xknownhosts.HashHostname(xknownhosts.Normalize(hosts[r.IntN(len(hosts))]))
			}
			noStar = noStar && !strings.Contains(name, "*")
			mark := ""
			if r.IntN(12) == 0 {
				mark = "@revoked "
			}
			lines = append(lines, mark+name+" "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(keys[r.IntN(len(keys))]))))
			if r.IntN(6) == 0 {
				lines = append(lines, "# "+name, "")
			}
		}
		file := knownFile(t, lines...)
		want, err := xknownhosts.New(file)
		if err != nil {
			t.Fatal(err)
		}
		db := readKnown([]string{file})
		for _, h := range hosts {
			host, port, _ := net.SplitHostPort(h)
			for _, k := range keys {
				w := verdict(want(h, &net.TCPAddr{IP: net.IPv4zero}, k))
				if port != "22" && (w == "unknown" || !noStar) {
					continue // names without a port hold for any port here, as in OpenSSH
				}
				found, err := db.of(h)
				if err != nil {
					t.Fatal(err)
				}
				if got := verdict(db.check(h, found, k)); got != w {
					t.Fatalf("%s (%s): %s, want %s in\n%s", h, host, got, w, strings.Join(lines, "\n"))
				}
			}
		}
	}
}

func TestKnownLines(t *testing.T) {
	t.Parallel()
	key, other, ca := newHostKey(t), newHostKey(t), newHostKey(t)
	line := func(names string, k ssh.Signer) string {
		return names + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.PublicKey())))
	}
	cert := &ssh.Certificate{
		Key: key.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"web1"}, ValidBefore: ssh.CertTimeInfinity,
	}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	// An authority may sign keys of all types.
	certs := []string{
		ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
		ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01, ssh.CertAlgoSKED25519v01, ssh.CertAlgoSKECDSA256v01,
	}
	for _, tt := range []struct {
		name  string
		lines []string
		host  string
		key   ssh.PublicKey
		want  string
		algs  []string
	}{
		{"wildcard at another port", []string{line("web*", key)}, "web1:2222", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"plain name at another port", []string{line("web1", key), line("db*", key)}, "web1:2222", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"plain name at another port, another key", []string{line("web1", other)}, "web1:2222", key.PublicKey(), "unknown", []string{"ssh-ed25519"}},
		{"any port", []string{line("[web1]:*", key)}, "web1:2222", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"any port, another key", []string{line("[web1]:*", other)}, "web1:2222", key.PublicKey(), "changed 1", []string{"ssh-ed25519"}},
		{"case", []string{line("WEB1", key)}, "Web1:22", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"address in brackets", []string{line("[::1]", key)}, "[::1]:22", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"certificate, plain key known", []string{line("web1", key)}, "web1:22", cert, "known", []string{"ssh-ed25519"}},
		{"port before wildcard", []string{line("web*", other), line("[web1]:2222", key)}, "web1:2222", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"exception", []string{line("web*,!web1", key)}, "web1:2222", key.PublicKey(), "unknown", nil},
		{"lines that make no sense", []string{"web1", "web1 ssh-ed25519 AAAA", "web1 ssh-rsa " + line("", key)[13:], "@nonsense " + line("web1", key), "|2|a|b " + line("", key), line("web1", key) + " comment of three words"}, "web1:22", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"tabs", []string{strings.ReplaceAll(line("web1", key), " ", "\t \t")}, "web1:22", key.PublicKey(), "known", []string{"ssh-ed25519"}},
		{"authority", []string{line("@cert-authority web1", ca)}, "web1:22", cert, "known", certs},
		{"authority of another host", []string{line("@cert-authority db", ca)}, "web1:22", cert, "unknown", nil},
		{"authority as a host's own key", []string{line("@cert-authority web1", ca)}, "web1:22", ca.PublicKey(), "unknown", certs},
		{"key of an authority's line", []string{line("web1", ca)}, "web1:22", cert, "changed 1", []string{"ssh-ed25519"}},
		{"revoked certificate", []string{line("@cert-authority *", ca), line("@revoked *", key)}, "web1:22", cert, "ssh: certificate serial 0 revoked", certs},
		{"revoked authority", []string{line("@cert-authority *", ca), line("@revoked *", ca)}, "web1:22", cert, "ssh: certificate serial 0 revoked", certs},
		{"two keys", []string{line("web1,web2", other), line("web1", key)}, "web1:22", key.PublicKey(), "known", []string{"ssh-ed25519"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := readKnown([]string{filepath.Join(t.TempDir(), "none"), knownFile(t, tt.lines...)})
			found, err := db.of(tt.host)
			if err != nil {
				t.Fatal(err)
			}
			if got := verdict(db.check(tt.host, found, tt.key)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if d := cmp.Diff(tt.algs, keyAlgorithms(found)); d != "" {
				t.Errorf("algorithms (-want +got):\n%s", d)
			}
		})
	}
}

// TestKnownAsOpenSSH compares the lines that a name finds with those of
// ssh-keygen -F.
func TestKnownAsOpenSSH(t *testing.T) {
	t.Parallel()
	keygen := sshtest.Require(t, "ssh-keygen")
	names := []string{"web1", "WEB1", "10.0.0.1", "[web1]:2222", "[web1]:*", "::1", "[::1]:2222", "web*", "*", "!web1", "w?b1", "[web*]:2222", "![web1]:2222", "*.*"}
	r := mrand.New(mrand.NewPCG(3, 4))
	for range 12 {
		var lines []string
		for range 6 {
			list := []string{names[r.IntN(len(names))], names[r.IntN(len(names))]}
			lines = append(lines, strings.Join(list[:1+r.IntN(2)], ",")+" "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(newHostKey(t).PublicKey()))))
		}
		file := knownFile(t, append(lines, "")...)
		db := readKnown([]string{file})
		for _, addr := range []string{"web1:22", "web1:2222", "10.0.0.1:22", "[::1]:2222", "[::1]:22"} {
			name, err := knownName(addr)
			if err != nil {
				t.Fatal(err)
			}
			out, _ := exec.CommandContext(t.Context(), keygen, "-F", name, "-f", file).Output() // its status says whether a line was found
			var want, got []string
			for l := range strings.Lines(string(out)) {
				if _, n, ok := strings.Cut(strings.TrimSpace(l), " found: line "); ok {
					want = append(want, strings.Fields(n)[0])
				}
			}
			for _, k := range db.find(name) {
				got = append(got, strconv.Itoa(k.Line))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: lines %q, want %q in\n%s", name, got, want, strings.Join(lines, "\n"))
			}
		}
	}
}

func FuzzKnownHosts(f *testing.F) {
	key := newHostKey(f).PublicKey()
	good := "web1,[web2]:22,!db* " + string(ssh.MarshalAuthorizedKey(key))
	for _, s := range []string{"", good, "@revoked " + good, "@cert-authority " + good, xknownhosts.HashHostname("web1") + good[19:], "|1|a", "a b c", "@ x y z"} {
		f.Add(s, "web1:22")
		f.Add(s, ":22")
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		db := readKnown(nil)
		for i, line := range strings.Split(text, "\n") {
			db.add(strings.TrimSpace(line), "f", i+1)
		}
		found, err := db.of(host)
		if err != nil {
			return
		}
		_ = db.check(host, found, key)
		if !slices.IsSortedFunc(found, func(a, b hostLine) int { return a.Line - b.Line }) {
			t.Error("lines out of order")
		}
	})
}

// BenchmarkKnownHosts is the look of one host among as many lines as a fleet of
// ten thousand has.
func BenchmarkKnownHosts(b *testing.B) {
	key := newHostKey(b).PublicKey()
	for _, hashed := range []bool{false, true} {
		b.Run(fmt.Sprintf("hashed=%v", hashed), func(b *testing.B) {
			lines := make([]string, 10_000)
			for i := range lines {
				name := fmt.Sprintf("10.0.%d.%d", i/250, i%250)
				if hashed {
					name = xknownhosts.HashHostname(name)
				}
				lines[i] = name + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
			}
			db := readKnown([]string{knownFile(b, lines...)})
			i := 0
			for b.Loop() {
				host := fmt.Sprintf("10.0.%d.%d:22", i%40, i%250)
				found, err := db.of(host)
				if err != nil || db.check(host, found, key) != nil {
					b.Fatal(host, err)
				}
				i++
			}
		})
	}
}
