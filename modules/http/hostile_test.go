package http

import (
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestHostileRedirect has a server send a request on to another host: the
// headers that the call gave do not follow.
func TestHostileRedirect(t *testing.T) {
	t.Parallel()
	first, _ := url.Parse("https://vault.example.com/v1/secret")
	for to, kept := range map[string]bool{
		"https://vault.example.com/v2": true, "https://evil.example.com/": false, "http://vault.example.com/": false, "https://vault.example.com:8443/": false,
		"https://sub.vault.example.com/": false,
	} {
		u, _ := url.Parse(to)
		req := &nethttp.Request{URL: u, Header: nethttp.Header{"X-Vault-Token": {"s.x"}, "Authorization": {"y"}, "Private-Token": {"z"}, "Cookie": {"c"}, "Accept": {"*/*"}}}
		keepSecrets(req, &nethttp.Request{URL: first})
		for _, name := range []string{"X-Vault-Token", "Authorization", "Private-Token", "Cookie"} {
			if (req.Header.Get(name) != "") != kept {
				t.Errorf("%s: %s = %q", to, name, req.Header.Get(name))
			}
		}
		if req.Header.Get("Accept") == "" {
			t.Errorf("%s: Accept is taken off", to)
		}
	}
	// And over a real connection: the servers differ in their ports.
	got := make(chan string, 1)
	evil := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) { got <- r.Header.Get("X-Vault-Token") }))
	defer evil.Close()
	vault := httptest.NewServer(nethttp.RedirectHandler(evil.URL, nethttp.StatusTemporaryRedirect))
	defer vault.Close()
	env := &fun.Env{Data: fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}}, Machine: fun.Machine{Host: host.NewLocal()}}
	mod := Module().Loaded()
	i := slices.IndexFunc(mod.Specs, func(s fun.Spec) bool { return s.Name == "query" })
	c, err := dispatch.New(env).Bind(&mod, &mod.Specs[i], fun.Args{Kw: value.MapOf("url", vault.URL, "header_dict", value.MapOf("X-Vault-Token", "s.x"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Specs[i].Fn(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if token := <-got; token != "" {
		t.Errorf("the other host got %q", token)
	}
}
