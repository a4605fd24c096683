// Package ui is brine ui: the server of the pages, and what the pages do.
package ui

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/internal/core/printable"
	"brine/internal/view/ui"
)

type options struct {
	app.RunFlags
	app.FleetFlags
	listen          string
	cert, key       string
	users, tokens   string
	oidc            string
	hooks           string
	origin          string
	proxies         []string
	userHeader      string
	groupsHeader    string
	open            bool
	openMetrics     bool
	saltAPI         bool
	ownFlags, hides []string
}

// New returns "brine ui". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "ui",
		Short: "Serve pages to run orchestrations in a browser",
		Long: `Serve pages for a browser: see the orchestrations, chains and templates of the
tree, run them, watch the hosts, stop and resume runs, look up jobs, and edit
chains. The server runs in the foreground. Each run is a process of its own: it
goes on when Ctrl-C ends the server, and the next one shows it.

By default, only this machine can reach the pages, at a free port. The printed
link logs in one browser, once. To allow other machines, use --tls-cert, --tls-key
and --users, or a proxy that authenticates. See 'brine docs ui'.

Programs use the API under /api/v1, with tokens of the file --tokens. See
'brine ui token' and 'brine docs ui/api'.

Exit status: 1 the server could not be started; 64 usage error; 130 stopped by
Ctrl-C.`,
		Example: `  brine ui
  brine ui -c mytree --open
  brine ui --listen 192.0.2.10:8443 --tls-cert ui.pem --tls-key ui.key --users ui.users
  brine ui --listen 127.0.0.1:8080 --tokens ui.tokens
  brine ui --listen 127.0.0.1:8080 --trusted-proxy 127.0.0.1 --users ui.users --origin https://brine.example.com`,
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion,
		Args: func(c *cobra.Command, args []string) error {
			return app.UnknownCommand(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, c, o)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.RegisterConfig(f)
	o.RegisterAs(f, "t", "")
	for _, name := range []string{"progress", "no-progress", "askpass", "strict"} { // nobody could see or answer
		if f.Lookup(name) != nil {
			_ = f.MarkHidden(name)
			o.hides = append(o.hides, name)
		}
	}
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "address and port of the server; port 0 is a free one")
	f.BoolVar(&o.open, "open", false, "open the pages in the browser of this desktop")
	f.StringVar(&o.cert, "tls-cert", "", "file with the certificate of the server, and those of its authorities")
	f.StringVar(&o.key, "tls-key", "", "file with the key of --tls-cert")
	f.StringVar(&o.users, "users", "", "file of users; 'brine ui passwd' makes its lines")
	f.StringVar(&o.oidc, "oidc", "", "file that says how a provider of OpenID Connect logs in the users of --users")
	f.StringVar(&o.tokens, "tokens", "", "file of tokens for the API; 'brine ui token' makes its lines")
	f.StringVar(&o.hooks, "hooks", "", "file of hooks by which other programs start something; 'brine ui hook' makes its lines")
	f.BoolVar(&o.openMetrics, "open-metrics", false, "let everybody who reaches the server read /healthz, /readyz and /metrics, without a token")
	f.BoolVar(&o.saltAPI, "salt-api", false, "serve the paths of Salt's salt-api below /salt-api, for programs that speak to it")
	f.StringVar(&o.origin, "origin", "", "address that browsers use, such as https://brine.example.com (default: that of --listen)")
	f.StringSliceVar(&o.proxies, "trusted-proxy", nil, "addresses or networks of proxies that authenticate users; others are refused")
	f.StringVar(&o.userHeader, "user-header", "X-Remote-User", "header in which --trusted-proxy gives the name of the user")
	f.StringVar(&o.groupsHeader, "groups-header", "", "header in which --trusted-proxy gives the groups of the user, separated by commas")
	o.ownFlags = []string{"listen", "open", "tls-cert", "tls-key", "users", "oidc", "tokens", "hooks", "open-metrics", "salt-api", "origin", "trusted-proxy", "user-header", "groups-header"}
	complete.Flags(c)
	c.AddCommand(newPasswd(a, nil), newToken(a, nil), newHook(a, nil), newOpenAPI(a))
	return c
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options) error {
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	back, err := newBackend(a, c, o)
	if err != nil {
		return err
	}
	opts := ui.Options{
		Backend: back, Owner: back.owner, Now: time.Now, OpenMetrics: o.openMetrics, SaltAPI: o.saltAPI,
		OnPanic: func(text string) {
			fmt.Fprintf(a.Err, "brine: a page failed, please report it: %s\n", printable.Text(text))
		},
	}
	cfg, err := access(a, c, o, &opts)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer l.Close()
	if opts.Origins, err = o.origins(l.Addr(), cfg != nil); err != nil {
		return app.Usagef(c, "%s", err)
	}
	if o.oidc != "" {
		if opts.SSO, err = o.sso(a, opts.Origins[0]); err != nil {
			return err
		}
	}
	byToken := opts.Users == nil
	var s *ui.Server
	link := func() string { return opts.Origins[0] + "/login?token=" + s.Token() }
	opts.OnToken = func() { fmt.Fprintf(a.Out, "for another browser: %s\n", link()) }
	if s, err = ui.New(opts); err != nil {
		return app.Usagef(c, "--origin: %s", err)
	}
	url := opts.Origins[0] + "/"
	if byToken {
		url = link()
	}
	fmt.Fprintf(a.Out, "%s\n", url)
	fmt.Fprintln(a.Err, "brine: the pages are at this address; Ctrl-C ends them")
	if o.open {
		remove, err := a.OpenBrowser(url)
		if err != nil {
			fmt.Fprintf(a.Err, "brine: warning: --open: %s\n", printable.Line(err.Error()))
		}
		defer remove()
	}
	defer back.notifies(ctx)()
	return serve(ctx, a, s, l, cfg)
}

// serve serves until a signal ends it. The runs go on.
func serve(ctx context.Context, a *app.App, s *ui.Server, l net.Listener, cfg *tls.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // the terminal is gone
	defer signal.Stop(hangup)
	// Links are printed for as long as the server lasts. Who read the first one may
	// be gone, as in brine ui | head -1, which must not end the server.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, cfg) }()
	defer s.Close()
	select {
	case err := <-done:
		return err
	case <-hangup:
	case <-ctx.Done():
	}
	cancel()
	if err := <-done; err != nil {
		return err
	}
	sayActive(a, s)
	return app.ErrInterrupted
}

// sayActive names the runs that go on.
func sayActive(a *app.App, s *ui.Server) {
	active, err := s.Active(context.Background())
	if err != nil {
		fmt.Fprintf(a.Err, "brine: warning: which runs go on is not known: %s\n", printable.Line(err.Error()))
		return
	}
	if len(active) > 0 {
		fmt.Fprintf(a.Err, "brine: runs that go on without the pages: %s\nbrine: 'brine run jobs.active' lists them, and the next 'brine ui' shows them\n", printable.Line(strings.Join(active, ", ")))
	}
}

// access reads who may log in, and the certificate.
func access(a *app.App, c *cobra.Command, o *options, opts *ui.Options) (*tls.Config, error) {
	name, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return nil, app.Usagef(c, "--listen: %q is not an address with a port, such as 127.0.0.1:8080", o.listen)
	}
	if (o.cert == "") != (o.key == "") {
		return nil, app.Usagef(c, "--tls-cert and --tls-key are given together")
	}
	ip, err := netip.ParseAddr(name)
	loopback := name == "localhost" || err == nil && ip.IsLoopback()
	if !loopback && len(o.proxies) == 0 && (o.cert == "" || o.users == "") {
		return nil, app.Usagef(c, "--listen %s: other machines can reach this address; give --tls-cert, --tls-key and --users, or --trusted-proxy", o.listen)
	}
	if o.RosterFile == "-" {
		return nil, app.Usagef(c, "--roster-file -: standard input can be read only once; give a file")
	}
	if o.cert != "" && len(o.proxies) == 0 && strings.HasPrefix(o.origin, "http:") {
		return nil, app.Usagef(c, "--origin %s: with --tls-cert, browsers use https", o.origin)
	}
	if err := o.visitors(a, c, opts); err != nil {
		return nil, err
	}
	if o.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// visitors reads who may come: users, and programs with tokens or by hooks.
func (o *options) visitors(a *app.App, c *cobra.Command, opts *ui.Options) (err error) {
	if o.groupsHeader != "" && len(o.proxies) == 0 {
		return app.Usagef(c, "--groups-header needs --trusted-proxy: only a proxy is believed")
	}
	if len(o.proxies) > 0 {
		if opts.Proxy, err = o.proxy(c); err != nil {
			return err
		}
	}
	switch {
	case o.oidc == "":
	case len(o.proxies) > 0:
		return app.Usagef(c, "--oidc and --trusted-proxy: only one of them can log users in")
	case o.users == "":
		return app.Usagef(c, "--oidc needs --users, for the roles of the users")
	}
	if o.users != "" {
		f := newUsersFile(a, o.users)
		users, err := f.read()
		if err != nil {
			return err
		}
		if opts.Proxy == nil && o.oidc == "" && !users.Passwords() {
			return fmt.Errorf("--users %s: nobody in it has a password", o.users)
		}
		opts.Users = f.now
	}
	if o.tokens != "" {
		f := newTokensFile(a, o.tokens)
		if _, err := f.read(); err != nil {
			return err
		}
		opts.Tokens, opts.OnUse = f.now, (&useLog{app: a, file: o.tokens}).used
	}
	if o.hooks != "" {
		f := newHooksFile(a, o.hooks)
		if _, err := f.read(); err != nil {
			return err
		}
		opts.Hooks = f.now
	}
	if o.saltAPI && opts.Tokens == nil && (opts.Users == nil || opts.Proxy != nil) {
		return app.Usagef(c, "--salt-api: nobody could log in; give --tokens, or --users without a proxy")
	}
	return nil
}

// proxy reads which proxies log users in.
func (o *options) proxy(c *cobra.Command) (*ui.Proxy, error) {
	if o.users == "" || o.origin == "" {
		return nil, app.Usagef(c, "--trusted-proxy needs --users, for the roles of the users, and --origin, the address that browsers use")
	}
	p := &ui.Proxy{Header: o.userHeader, Groups: o.groupsHeader}
	for _, x := range o.proxies {
		net, err := netip.ParsePrefix(x)
		if ip, ierr := netip.ParseAddr(x); ierr == nil {
			net, err = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, app.Usagef(c, "--trusted-proxy: %q is not an address or a network", x)
		}
		if net.Bits() == 0 {
			return nil, app.Usagef(c, "--trusted-proxy %s: whoever reaches the server could be any user; give the addresses of the proxy", x)
		}
		p.From = append(p.From, net)
	}
	return p, nil
}

// origins are the addresses that browsers may use.
func (o *options) origins(addr net.Addr, secure bool) ([]string, error) {
	if o.origin != "" {
		return []string{strings.TrimSuffix(o.origin, "/")}, nil
	}
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	name, _, _ := net.SplitHostPort(o.listen)
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(name)
	switch {
	case name == "" || err == nil && ip.IsUnspecified():
		return nil, errors.New("--listen " + o.listen + " has no name that browsers could use: give --origin")
	case name == "localhost" || err == nil && ip.IsLoopback():
		// Browsers may try ::1 for localhost, where another user of this machine could
		// wait for the link.
		if !secure && name == "localhost" {
			name, _, _ = net.SplitHostPort(addr.String())
		}
		return []string{scheme + net.JoinHostPort(name, port), scheme + "localhost:" + port}, nil
	}
	return []string{scheme + net.JoinHostPort(name, port)}, nil
}
