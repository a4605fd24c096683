//go:build !slim

package sdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// webTimeout bounds a request where the option http_request_timeout does not.
const webTimeout = 60

// Query asks a web server by the function http.query, which knows of proxies and
// certificates. The answer has status and, of a body that decodes, dict.
func Query(ctx context.Context, env *fun.Env, at string, kw *value.Map) (*value.Map, error) {
	kw.Set("url", at)
	kw.Set("status", true)
	if !kw.Has("decode") {
		kw.Set("decode", true)
	}
	if !value.Truth(env.Opts.At("http_request_timeout")) {
		kw.Set("timeout", int64(webTimeout))
	}
	res, err := env.Invoker.Invoke(ctx, fun.Exec, "http.query", fun.Args{Kw: kw})
	if err != nil {
		return nil, err
	}
	m, ok := res.Value.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("http.query returned %s", value.TypeName(res.Value))
	}
	return m, nil
}

// PlainURL returns a URL without what may be secret: its user and its query.
func PlainURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "the url"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// A Vault is a server of HashiCorp Vault, as the option vault has it.
type Vault struct {
	env   *fun.Env
	conf  *value.Map
	token string
}

// OpenVault returns the server of the configuration and logs in.
func OpenVault(ctx context.Context, env *fun.Env) (*Vault, error) {
	v := &Vault{env: env, conf: env.Opts.Map("vault")}
	if v.conf.Str("url") == "" {
		return nil, errors.New("the option vault has no url")
	}
	if err := v.login(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

// Ask sends a request to a path of the API. status is that of the answer, which is nil
// where it has no body. A server that cannot answer is an error.
func (v *Vault) Ask(ctx context.Context, method, path string, body *value.Map) (answer *value.Map, status int64, err error) {
	headers := value.MapOf("X-Vault-Request", "true")
	if v.token != "" {
		headers.Set("X-Vault-Token", v.token)
	}
	if ns := v.conf.Str("namespace"); ns != "" {
		headers.Set("X-Vault-Namespace", ns)
	}
	kw := value.MapOf("method", method, "decode", false, "header_dict", headers)
	switch verify := v.conf.At("verify").(type) {
	case string:
		kw.Set("ca_bundle", verify)
	case bool:
		kw.Set("verify_ssl", verify)
	}
	if body != nil {
		headers.Set("Content-Type", "application/json")
		kw.Set("data", string(value.EncodeJSON(body)))
	}
	got, err := Query(ctx, v.env, strings.TrimRight(v.conf.Str("url"), "/")+"/v1/"+path, kw)
	if err != nil {
		return nil, 0, err
	}
	status, _ = value.AsInt(got.At("status"))
	if status == 0 || status >= 500 {
		return nil, status, fmt.Errorf("the server %s: %s", PlainURL(v.conf.Str("url")), firstLine(got.Str("error")))
	}
	if text := strings.TrimSpace(got.Str("body")); text != "" && status < 400 || status == 404 {
		x, err := value.ParseJSON(text)
		if answer, _ = x.(*value.Map); err != nil || answer == nil {
			return nil, status, fmt.Errorf("the server %s answered with what is not an object of JSON (status %d)", PlainURL(v.conf.Str("url")), status)
		}
	}
	// What does not exist has neither: a path without an engine, or one of another version, does.
	if status == 404 {
		for _, key := range []string{"errors", "warnings"} {
			if list := answer.List(key); list.Len() > 0 {
				return nil, status, fmt.Errorf("the server %s: %s: %s", PlainURL(v.conf.Str("url")), path, firstLine(value.Str(list.Items[0])))
			}
		}
	}
	return answer, status, nil
}

// login gets the token that requests are made with.
func (v *Vault) login(ctx context.Context) error {
	auth := v.conf.Map("auth")
	method := auth.Str("method")
	text := func(key string) (string, error) { return v.text(ctx, auth.At(key)) }
	switch method {
	case "token", "":
		token, err := text("token")
		if err != nil || token == "" {
			return fmt.Errorf("the option vault:auth:token has no token%s", reasonSuffix(err))
		}
		v.token = token
		return nil
	case "agent": // which adds the token
		return nil
	case "approle":
		role, err := text("role_id")
		if err != nil || role == "" {
			return fmt.Errorf("the option vault:auth:role_id has no role%s", reasonSuffix(err))
		}
		body := value.MapOf("role_id", role)
		secret, err := text("secret_id")
		if err != nil {
			return fmt.Errorf("the option vault:auth:secret_id%s", reasonSuffix(err))
		}
		if secret != "" {
			body.Set("secret_id", secret)
		}
		mount := "approle"
		if m := auth.Str("mount"); m != "" {
			mount = strings.Trim(m, "/")
		}
		answer, status, err := v.Ask(ctx, "POST", "auth/"+mount+"/login", body)
		if err != nil {
			return err
		}
		if v.token = answer.Map("auth").Str("client_token"); v.token == "" {
			return fmt.Errorf("the log-in by AppRole failed with status %d", status)
		}
		return nil
	}
	return fmt.Errorf("the option vault:auth:method is %q%s; there are token, approle and agent", method, source.DidYouMean(method, []string{"token", "approle", "agent"}))
}

// reasonSuffix returns ": " and the error, to be appended to a message.
func reasonSuffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// text returns text of the configuration, which may be the URI of a value: one of
// Vault itself is refused.
func (v *Vault) text(ctx context.Context, x value.Value) (string, error) {
	if Is(x) {
		if p, err := parse(v.env, x); err == nil && p.conf.Str("driver") == "vault" {
			return "", fmt.Errorf("%s is in Vault, for which it is needed", value.Str(x))
		}
		got, err := Get(ctx, v.env, x, true)
		if err != nil {
			return "", err
		}
		if got == nil {
			return "", fmt.Errorf("%s has no value", value.Str(x))
		}
		x = got
	}
	s, _ := x.(string)
	return s, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// IsPath reports whether text is the path of a secret, which cannot lead out of
// what a URL says.
func IsPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." || part == "." || part == "" || strings.ContainsAny(part, "?#%\x00\n") {
			return false
		}
	}
	return true
}

// A Place is where the API has a secret. V2 is false for engines other than version 2
// of KV, which have all of it at one path.
type Place struct {
	V2                      bool
	Data, Metadata, Destroy string
}

// Where returns where the API has a secret.
func (v *Vault) Where(ctx context.Context, path string) (Place, error) {
	meta, status, err := v.Ask(ctx, "GET", "sys/internal/ui/mounts/"+path, nil)
	if err != nil && status != 404 { // which an old server answers with
		return Place{}, err
	}
	data := meta.Map("data")
	mount := strings.Trim(data.Str("path"), "/")
	if status != 200 || data.Map("options").Str("version") != "2" || path != mount && !strings.HasPrefix(path, mount+"/") {
		return Place{Data: path, Metadata: path}, nil
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(path, mount), "/"), "data/")
	return Place{V2: true, Data: mount + "/data/" + rest, Metadata: mount + "/metadata/" + rest, Destroy: mount + "/destroy/" + rest}, nil
}

// Secret reads a secret of the KV engine in either version; one that does not
// exist is empty.
func (v *Vault) Secret(ctx context.Context, path string) (*value.Map, error) {
	m, err := v.secret(ctx, path)
	if m == nil && err == nil {
		m = value.NewMap(0)
	}
	return m, err
}

// secret is Secret where nil is a secret that does not exist.
func (v *Vault) secret(ctx context.Context, path string) (*value.Map, error) {
	at, err := v.Where(ctx, path)
	if err != nil {
		return nil, err
	}
	answer, status, err := v.Ask(ctx, "GET", at.Data, nil)
	switch {
	case err != nil:
		return nil, err
	case status == 404:
		return nil, nil
	case status != 200:
		return nil, fmt.Errorf("Vault answered with status %d", status)
	}
	data := answer.Map("data")
	if at.V2 {
		data = data.Map("data")
	}
	return data, nil
}

// vaultKeys are the values of secrets by PATH/KEY, or PATH?KEY.
// Salt: salt/sdb/vault.py. Difference: a value that is written keeps the others of
// its secret, and can be deleted.
type vaultKeys struct{ env *fun.Env }

func newVault(env *fun.Env, _ *value.Map) (driver, error) { return vaultKeys{env}, nil }

// split takes the path of a secret and the key in it apart.
func (vaultKeys) split(key string) (path, name string, err error) {
	path, name, ok := strings.Cut(key, "?")
	if !ok {
		i := strings.LastIndexByte(key, '/')
		if i < 0 {
			return "", "", fmt.Errorf("%q is not PATH/KEY", key)
		}
		path, name = key[:i], key[i+1:]
	}
	if path = strings.Trim(path, "/"); !IsPath(path) || name == "" {
		return "", "", fmt.Errorf("%q is not PATH/KEY of Vault", key)
	}
	return path, name, nil
}

func (k vaultKeys) get(ctx context.Context, key string) (value.Value, error) {
	path, name, err := k.split(key)
	if err != nil {
		return nil, err
	}
	v, err := OpenVault(ctx, k.env)
	if err != nil {
		return nil, err
	}
	m, err := v.secret(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("the secret %s: %w", path, err)
	}
	return m.At(name), nil
}

// change writes a secret whose keys are changed by with.
func (k vaultKeys) change(ctx context.Context, key string, with func(m *value.Map, name string)) error {
	path, name, err := k.split(key)
	if err != nil {
		return err
	}
	v, err := OpenVault(ctx, k.env)
	if err != nil {
		return err
	}
	m, err := v.Secret(ctx, path)
	if err != nil {
		return fmt.Errorf("the secret %s: %w", path, err)
	}
	with(m, name)
	at, err := v.Where(ctx, path)
	if err != nil {
		return err
	}
	if at.V2 {
		m = value.MapOf("data", m)
	}
	_, status, err := v.Ask(ctx, "PUT", at.Data, m)
	if err == nil && !slices.Contains([]int64{200, 204}, status) {
		err = fmt.Errorf("Vault answered with status %d", status)
	}
	if err != nil {
		return fmt.Errorf("the secret %s: %w", path, err)
	}
	return nil
}

func (k vaultKeys) set(ctx context.Context, key string, x value.Value) error {
	return k.change(ctx, key, func(m *value.Map, name string) { m.Set(name, x) })
}

func (k vaultKeys) delete(ctx context.Context, key string) error {
	return k.change(ctx, key, func(m *value.Map, name string) { m.Delete(name) })
}
