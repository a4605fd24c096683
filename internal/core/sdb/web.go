//go:build !slim

package sdb

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/value"
)

// rest are the answers of web servers: each key of the profile has a url, and options
// of http.query.
// Salt: salt/sdb/rest.py. Differences: parts of a URL are escaped, an answer that is an
// error is one, and a value cannot be set: Salt asks as for a read.
type rest struct {
	env  *fun.Env
	conf *value.Map
}

func newREST(env *fun.Env, conf *value.Map) (driver, error) { return rest{env, conf}, nil }

func (r rest) get(ctx context.Context, key string) (value.Value, error) {
	name, query, _ := strings.Cut(key, "?")
	item := r.conf.Map(name)
	at := item.Str("url")
	if at == "" {
		return nil, fmt.Errorf("the profile has no %s with a url", name)
	}
	vars := value.NewMap(2)
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		if !ok || v == "." || v == ".." {
			return nil, fmt.Errorf("%q is not NAME=VALUE for the url", pair)
		}
		vars.Set(k, url.PathEscape(v))
	}
	got, err := render.For(r.env).SLS(ctx, render.Input{Path: ":string:", Name: "the url of " + name, Text: []byte(at), Vars: vars})
	if err != nil {
		return nil, err
	}
	to, ok := got.(string)
	if !ok {
		return nil, fmt.Errorf("the url of %s is %s, not text", name, value.Kind(got))
	}
	kw := value.NewMap(4)
	for k, v := range item.All() {
		if k != "url" && k != "backend" {
			kw.Set(k, v)
		}
	}
	answer, err := Query(ctx, r.env, to, kw)
	if err != nil {
		return nil, err
	}
	if value.Truth(answer.At("error")) {
		return nil, fmt.Errorf("%s: %s", PlainURL(to), firstLine(answer.Str("error")))
	}
	return answer.At("dict"), nil
}

func (rest) set(context.Context, string, value.Value) error { return errUnsupported }

func (rest) delete(context.Context, string) error { return errUnsupported }

// An endpoint is a server with an API by HTTP.
type endpoint struct {
	env  *fun.Env
	base string
	with *value.Map // options of each request
}

// newEndpoint reads host, port and scheme.
func newEndpoint(env *fun.Env, host, port, scheme string) (*endpoint, error) {
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("the scheme %q is not http or https", scheme)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("%q is not a port", port)
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}
	return &endpoint{env, u.String(), value.NewMap(4)}, nil
}

// ask sends a request. status is that of the answer, of which 404 is not an error. The
// answer is text where the server did not carry out the request.
func (e *endpoint) ask(ctx context.Context, method, path string, more *value.Map) (answer value.Value, status int64, err error) {
	kw := e.with.Copy()
	kw.Set("method", method)
	kw.Set("decode_type", "json")
	for k, v := range more.All() {
		kw.Set(k, v)
	}
	got, err := Query(ctx, e.env, e.base+path, kw)
	if err != nil {
		return nil, 0, err
	}
	status, _ = value.AsInt(got.At("status"))
	if status != 404 && (value.Truth(got.At("error")) || status < 200 || status > 299) {
		return got.At("body"), status, fmt.Errorf("%s: %s", PlainURL(e.base), firstLine(got.Str("error")))
	}
	if status == 404 {
		return got.At("body"), status, nil
	}
	return got.At("dict"), status, nil
}

// keyPath is a key as the path of a URL.
func keyPath(key string) (string, error) {
	parts := strings.Split(strings.Trim(key, "/"), "/")
	for i, p := range parts {
		if p == "." || p == ".." || strings.ContainsRune(p, 0) {
			return "", fmt.Errorf("the key %q cannot be part of a URL", key)
		}
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/"), nil
}

// setting returns a setting as text, or what it is without one.
func setting(conf *value.Map, key, def string) string {
	if v := conf.At(key); value.Truth(v) {
		return value.Str(v)
	}
	return def
}

// consul are the keys of Consul.
// Salt: salt/sdb/consul.py. Difference: a value can be deleted.
type consul struct {
	*endpoint
	query url.Values
}

func newConsul(env *fun.Env, conf *value.Map) (driver, error) {
	e, err := newEndpoint(env, setting(conf, "host", "127.0.0.1"), setting(conf, "port", "8500"), setting(conf, "scheme", "http"))
	if err != nil {
		return nil, err
	}
	q := url.Values{}
	if dc := conf.Str("dc"); dc != "" {
		q.Set("dc", dc)
	}
	switch how := setting(conf, "consistency", "default"); how {
	case "default":
	case "consistent", "stale":
		q.Set(how, "")
	default:
		return nil, fmt.Errorf("the consistency %q is not default, consistent or stale", how)
	}
	if t := conf.Str("token"); t != "" {
		e.with.Set("header_dict", value.MapOf("X-Consul-Token", t))
	}
	switch verify := conf.At("verify").(type) {
	case bool:
		e.with.Set("verify_ssl", verify)
	case string:
		e.with.Set("ca_bundle", verify)
	}
	return consul{e, q}, nil
}

func (c consul) at(key string) (string, error) {
	p, err := keyPath(key)
	if len(c.query) > 0 {
		p += "?" + c.query.Encode()
	}
	return "/v1/kv/" + p, err
}

func (c consul) get(ctx context.Context, key string) (value.Value, error) {
	at, err := c.at(key)
	if err != nil {
		return nil, err
	}
	answer, status, err := c.ask(ctx, "GET", at, nil)
	if err != nil {
		return nil, err
	}
	if status == 404 {
		return nil, NotConsul(c.base, answer)
	}
	list, _ := answer.(*value.List)
	if list.Len() != 1 {
		return nil, fmt.Errorf("%s did not answer with one key", PlainURL(c.base))
	}
	m, _ := list.Items[0].(*value.Map)
	text, ok := m.At("Value").(string)
	if !ok {
		return nil, nil // a key without a value
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return string(b), err
}

// NotConsul is the error of a status 404 that Consul does not send for keys that do not
// exist: those have an empty body.
func NotConsul(base string, body value.Value) error {
	if text, _ := body.(string); strings.TrimSpace(text) != "" {
		return fmt.Errorf("%s has no keys of Consul: it answered with status 404 and %q", PlainURL(base), firstLine(text))
	}
	return nil
}

func (c consul) set(ctx context.Context, key string, v value.Value) error {
	at, err := c.at(key)
	if err != nil {
		return err
	}
	_, _, err = c.ask(ctx, "PUT", at, value.MapOf("data", value.Str(v), "decode", false))
	return err
}

func (c consul) delete(ctx context.Context, key string) error {
	at, err := c.at(key)
	if err != nil {
		return err
	}
	_, _, err = c.ask(ctx, "DELETE", at, value.MapOf("decode", false))
	return err
}
