package undo

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// packets is a machine whose programs for packets keep a text each, which they print and read:
// as a program that saves does, with what is not part of the rules.
func packets() (h *host.Fake, text map[string]string) {
	h = host.NewFake()
	text = map[string]string{
		"iptables filter": "*filter\n:INPUT ACCEPT\n-A INPUT -j OLD\nCOMMIT\n", "ip6tables filter": "*filter\n:INPUT ACCEPT\nCOMMIT\n",
		"nft inet web": "", "ipset hosts": "create hosts hash:ip\nadd hosts 10.0.0.2\nadd hosts 10.0.0.1\n",
	}
	h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		said := func(s string) (host.Output, error) { return host.Output{Stdout: []byte(s)}, nil }
		stdin := ""
		if c.Stdin != nil {
			b, err := io.ReadAll(c.Stdin)
			if err != nil {
				return host.Output{}, err
			}
			stdin = string(b)
		}
		line := strings.Join(c.Argv, " ")
		program, _, save := strings.Cut(c.Argv[0], "-save")
		switch restores, _, ok := strings.Cut(c.Argv[0], "-restore"); {
		case save:
			return said("# now\n" + strings.ReplaceAll(text[program+" filter"], "ACCEPT\n", "ACCEPT [7:8]\n"))
		case ok:
			text[restores+" filter"] = strings.ReplaceAll(stdin, " [0:0]", "")
		case line == "nft list tables":
			if text["nft inet web"] == "" {
				return said("")
			}
			return said("table inet web\n")
		case strings.HasPrefix(line, "nft --stateless"):
			return said(text["nft inet web"])
		case line == "nft -f -":
			text["nft inet web"] = strings.TrimPrefix(stdin, "delete table inet web\n")
		case line == "ipset list -name":
			if text["ipset hosts"] == "" {
				return said("")
			}
			return said("hosts\n")
		case line == "ipset save hosts":
			return said(text["ipset hosts"])
		case line == "ipset destroy hosts":
			text["ipset hosts"] = ""
		case line == "ipset restore":
			if entries, ok := strings.CutPrefix(stdin, "flush hosts\n"); ok {
				stdin = "create hosts hash:ip\n" + entries
			}
			text["ipset hosts"] = stdin
		case line == "firewall-cmd --get-default-zone":
			return said("public\n")
		case line == "firewall-cmd --reload":
			text["reloads"] += "x"
		case c.Argv[0] != "change":
			return host.Output{Status: 1, Stderr: []byte("what is " + line)}, nil
		}
		return host.Output{}, nil
	})
	return h, text
}

// TestPackets: rules for packets are as before a run, or others changed them since.
func TestPackets(t *testing.T) {
	t.Parallel()
	const zone = "/etc/firewalld/zones/work.xml"
	for name, x := range map[string]struct {
		state, fun, low, of, next string
	}{
		"a rule":         {"iptables", "append", "table: filter", "iptables filter", "*filter\n:INPUT ACCEPT\n-A INPUT -j OLD\n-A INPUT -j NEW\nCOMMIT\n"},
		"a first rule":   {"iptables", "append", "family: ipv6", "ip6tables filter", "*filter\n:INPUT DROP\n-A INPUT -j NEW\nCOMMIT\n"},
		"a table":        {"nftables", "chain_present", "table: web, family: inet", "nft inet web", "table inet web {\n}\n"},
		"an entry":       {"ipset", "present", "set_name: hosts", "ipset hosts", "create hosts hash:ip\nadd hosts 10.0.0.3\n"},
		"a set":          {"ipset", "set_absent", "", "ipset hosts", ""},
		"a zone of ours": {"firewalld", "present", "", zone, "<zone/>\n"},
	} {
		for _, since := range []bool{false, true} {
			h, text := packets()
			put := func(to string) {
				if x.of != zone {
					text[x.of] = to
				} else if err := errors.Join(h.MkdirAll("/etc/firewalld/zones", 0o755), h.WriteFile(zone, strings.NewReader(to), host.WriteOptions{})); err != nil {
					t.Fatal(err)
				}
			}
			dir, env := t.TempDir(), (*fun.Env)(nil)
			env = envOf(h, dir, firstRun)
			r, err := Begin(env)
			if err != nil {
				t.Fatal(err)
			}
			low := value.NewMap(4)
			for pair := range strings.SplitSeq(x.low, ", ") {
				if k, v, ok := strings.Cut(pair, ": "); ok {
					low.Set(k, v)
				}
			}
			chunk := "hosts"
			if x.of == zone {
				chunk = "work"
			}
			k, after := r.State(t.Context(), env, &fun.Chunk{State: x.state, Fun: x.fun, ID: "id", Name: chunk, Low: low}, nil)
			was := text[x.of]
			if _, err := k.Run(t.Context(), host.Cmd{Argv: []string{"change"}}); err != nil {
				t.Fatal(err)
			}
			put(x.next)
			after(value.MapOf("result", true, "changes", value.MapOf("x", true)))
			r.End(env)
			want := Back
			if since {
				want = Since
				put("*filter\nother\nCOMMIT\n")
			}
			now := text[x.of]
			env = envOf(h, dir, secondRun)
			for _, test := range []bool{true, false} {
				items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{Test: test})
				if err != nil || len(items) != 1 || items[0].Verdict != want || items[0].Kind != x.state {
					t.Errorf("%s, since %v, test %v: %s, %v", name, since, test, shown(items), err)
				}
				if test && text[x.of] != now {
					t.Errorf("%s: only looked, and has %q", name, text[x.of])
				}
			}
			if since {
				was = now
			}
			if got := text[x.of]; got != was && !strings.HasPrefix(x.state, "ipset") && x.of != zone {
				t.Errorf("%s, since %v: was %q, is %q", name, since, was, got)
			}
			if _, err := h.Lstat(zone); x.of == zone && (err == nil) != since || x.of == zone && !since && text["reloads"] == "" {
				t.Errorf("%s, since %v: %v, reloads %q", name, since, err, text["reloads"])
			}
		}
	}
}

// TestTimesOfDirectories: a directory has its time again, unless others changed it.
func TestTimesOfDirectories(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 0)
	for name, x := range map[string]struct {
		between, since func(h host.Host) error
		back           bool
	}{
		"alone": {back: true},
		"others between states": {between: func(h host.Host) error {
			return errors.Join(h.WriteFile("/d/theirs", strings.NewReader("x"), host.WriteOptions{}), h.Chtimes("/d", at, at.Add(time.Hour)))
		}},
		"others since": {since: func(h host.Host) error { return h.Chtimes("/d", at, at.Add(time.Hour)) }},
	} {
		dir, h := t.TempDir(), host.NewFake()
		if err := errors.Join(h.Mkdir("/d", 0o755), h.WriteFile("/d/f", strings.NewReader("x"), host.WriteOptions{}), h.Chtimes("/d", at, at)); err != nil {
			t.Fatal(err)
		}
		env := envOf(h, dir, firstRun)
		r, err := Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		act(t, r, env, "one", func(h host.Host) error { return h.Remove("/d/f") })
		if x.between != nil {
			if err := x.between(h); err != nil {
				t.Fatal(err)
			}
		}
		act(t, r, env, "two", func(h host.Host) error {
			return h.WriteFile("/d/g", strings.NewReader("x"), host.WriteOptions{})
		})
		r.End(env)
		if x.since != nil {
			if err := x.since(h); err != nil {
				t.Fatal(err)
			}
		}
		env = envOf(h, dir, secondRun)
		if items, err := StoreOf(env).Undo(t.Context(), env, firstRun, Options{}); err != nil || len(items) != 2 {
			t.Errorf("%s: %s, %v", name, shown(items), err)
		}
		st, err := h.Lstat("/d")
		if err != nil || st.Mtime.Equal(at) != x.back {
			t.Errorf("%s: the time is %v, %v", name, st.Mtime, err)
		}
	}
}
