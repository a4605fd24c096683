package sshexec

import (
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestCheckHostIP: where CheckHostIP is on, the address must not have another key
// than the name, and accept-new notes the address too.
func TestCheckHostIP(t *testing.T) {
	t.Parallel()
	key, other := newHostKey(t).PublicKey(), newHostKey(t).PublicKey()
	text := func(k ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k))) }
	away := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 22}
	for name, tt := range map[string]struct {
		dest   dest
		lines  []string
		remote net.Addr
		want   string // in the error; "" is none
		added  string // begins a line of the file
	}{
		"off":             {dest{}, []string{"web1 " + text(key), "192.0.2.1 " + text(other)}, away, "", ""},
		"same":            {dest{checkIP: true}, []string{"web1,192.0.2.1 " + text(key)}, away, "", ""},
		"another key":     {dest{checkIP: true}, []string{"web1 " + text(key), "192.0.2.1 " + text(other)}, away, "not that of its address 192.0.2.1", ""},
		"new":             {dest{checkIP: true}, []string{"web1 " + text(key)}, away, "", ""},
		"new, accept-new": {dest{checkIP: true, policy: AcceptNew}, []string{"web1 " + text(key)}, away, "", "192.0.2.1 "},
		"alias":           {dest{checkIP: true, alias: "web1"}, []string{"web1 " + text(key), "192.0.2.1 " + text(other)}, away, "", ""},
		"by a command":    {dest{checkIP: true, proxy: "nc"}, []string{"web1 " + text(key), "192.0.2.1 " + text(other)}, away, "", ""},
		"this machine":    {dest{checkIP: true}, []string{"web1 " + text(key), "127.0.0.1 " + text(other)}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "", ""},
	} {
		d := tt.dest
		d.host, d.port = "web1", 22
		d.known = []string{knownFile(t, append(tt.lines, "")...)}
		check, _, err := (&hostKeys{}).verify(&d)
		if err != nil {
			t.Fatal(name, err)
		}
		err = check("", tt.remote, key)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		b, err := os.ReadFile(d.known[0])
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Count(string(b), "\n") > len(tt.lines); has != (tt.added != "") || has && !strings.Contains(string(b), "\n"+tt.added) {
			t.Errorf("%s: known_hosts is\n%s", name, b)
		}
	}
}
