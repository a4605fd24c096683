package mail

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// server takes one connection and hands over what the client said.
func server(t *testing.T) (port int, said chan []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	said = make(chan []string, 1)
	go func() {
		var lines []string
		defer func() { said <- lines }()
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, "220 mail\r\n")
		r := bufio.NewScanner(c)
		data := false
		for r.Scan() {
			line := r.Text()
			lines = append(lines, line)
			switch {
			case data && line != ".":
			case line == "DATA":
				data = true
				fmt.Fprint(c, "354 go on\r\n")
			case line == "QUIT":
				fmt.Fprint(c, "221 bye\r\n")
				return
			default:
				data = false
				fmt.Fprint(c, "250 ok\r\n")
			}
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, said
}

func TestMailIsSent(t *testing.T) {
	t.Parallel()
	port, said := server(t)
	spec := smtpSpec()
	opts := value.MapOf("smtp", value.MapOf(
		"from", "salt@example.org", "to", "ops@example.org, zoe@example.org", "host", "127.0.0.1", "port", int64(port), "subject", "done\nBcc: x@example.org", "fields", "id,fun"))
	r, err := spec.New(t.Context(), returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: opts}, Machine: fun.Machine{Host: host.NewFake()}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Return(t.Context(), []*value.Map{value.MapOf("id", "web1", "jid", "20261121090807123456", "fun", "test.echo", "fun_args", value.NewList("é"), "return", "é")}); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(<-said, "\n")
	for _, want := range []string{
		"MAIL FROM:<salt@example.org>", "RCPT TO:<ops@example.org>\nRCPT TO:<zoe@example.org>", "From: salt@example.org\nTo: ops@example.org, zoe@example.org\n",
		"Subject: done Bcc: x@example.org web1 test.echo\n", "\nid: web1\nfunction: test.echo\nfunction args: ['=C3=A9']\njid: 20261121090807123456\nreturn: '=C3=A9'\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the mail has no %q:\n%s", want, got)
		}
	}
	opts.Map("smtp").Delete("to")
	if _, err := (returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}).Check(); err == nil || err.Error() != "smtp.to must be configured" {
		t.Errorf("a mail to nobody: %v", err)
	}
	opts.Map("smtp").Update(value.MapOf("to", "ops@example.org", "gpgowner", "root"))
	if _, err := (returner.Settings{Spec: &spec, Env: &fun.Env{Data: fun.Data{Opts: opts}}}).Check(); err == nil || !strings.Contains(err.Error(), "smtp.gpgowner") {
		t.Errorf("a mail that is to be encrypted: %v", err)
	}
}
