//go:build !slim

package sdb

import (
	"context"
	"encoding/base64"
	"errors"
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

// ask sends a request. status is that of the answer, of which 404 is not an error.
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
		return nil, status, fmt.Errorf("%s: %s", PlainURL(e.base), firstLine(got.Str("error")))
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
	if err != nil || status == 404 {
		return nil, err
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

// An Etcd is a server of etcd, by its API of version 2 or, with etcd.require_v2: False,
// by the JSON gateway of version 3.
type Etcd struct {
	*endpoint
	v2 bool
}

// OpenEtcd returns the server of a profile, whose keys begin with "etcd.".
//
// Salt: salt/utils/etcd_util.py.
func OpenEtcd(ctx context.Context, env *fun.Env, conf *value.Map) (*Etcd, error) {
	host, scheme := setting(conf, "etcd.host", "127.0.0.1"), "http"
	if s, rest, ok := strings.Cut(host, "://"); ok {
		scheme, host = s, strings.TrimSuffix(rest, "/")
	}
	ca := conf.Str("etcd.ca")
	if ca != "" {
		scheme = "https"
	}
	end, err := newEndpoint(env, host, setting(conf, "etcd.port", "2379"), scheme)
	if err != nil {
		return nil, err
	}
	if ca != "" {
		end.with.Set("ca_bundle", ca)
	}
	if cert, key := conf.Str("etcd.client_cert"), conf.Str("etcd.client_key"); cert != "" && key != "" {
		end.with.Set("cert", value.Strings(cert, key))
	}
	e := &Etcd{end, !conf.Has("etcd.require_v2") || value.Truth(conf.At("etcd.require_v2"))}
	user, pass := conf.Str("etcd.username"), conf.Str("etcd.password")
	switch {
	case user == "":
	case pass == "":
		return nil, errors.New("etcd.username is set, and etcd.password is not")
	case e.v2:
		e.with.Set("username", user)
		e.with.Set("password", pass)
	default:
		m, err := e.call(ctx, "auth/authenticate", value.MapOf("name", user, "password", pass))
		if err != nil {
			return nil, err
		}
		e.with.Set("header_dict", value.MapOf("Authorization", m.Str("token")))
	}
	return e, nil
}

// call asks the gateway of version 3.
func (e *Etcd) call(ctx context.Context, what string, body *value.Map) (*value.Map, error) {
	headers := value.MapOf("Content-Type", "application/json")
	headers.Update(e.with.Map("header_dict"))
	answer, status, err := e.ask(ctx, "POST", "/v3/"+what, value.MapOf("data", string(value.EncodeJSON(body)), "header_dict", headers))
	if err != nil {
		return nil, err
	}
	if status == 404 {
		return nil, fmt.Errorf("%s has no API of version 3", PlainURL(e.base))
	}
	m, ok := answer.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("%s did not answer with a mapping", PlainURL(e.base))
	}
	return m, nil
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// span returns the keys that begin with a prefix, and their values.
func (e *Etcd) span(ctx context.Context, key, end string) ([][2]string, error) {
	body := value.MapOf("key", b64(key))
	if end != "" {
		body.Set("range_end", b64(end))
	}
	m, err := e.call(ctx, "kv/range", body)
	if err != nil {
		return nil, err
	}
	list := m.List("kvs")
	var out [][2]string
	for i := range list.Len() {
		kv, _ := list.Items[i].(*value.Map)
		k, err := base64.StdEncoding.DecodeString(kv.Str("key"))
		if err != nil {
			return nil, fmt.Errorf("%s: a key is not base64", PlainURL(e.base))
		}
		v, err := base64.StdEncoding.DecodeString(kv.Str("value"))
		if err != nil {
			return nil, fmt.Errorf("%s: the value of %s is not base64", PlainURL(e.base), k)
		}
		out = append(out, [2]string{string(k), string(v)})
	}
	return out, nil
}

// node reads a key or directory of version 2; nil where there is none.
func (e *Etcd) node(ctx context.Context, key string) (*value.Map, error) {
	p, err := keyPath(key)
	if err != nil {
		return nil, err
	}
	answer, status, err := e.ask(ctx, "GET", "/v2/keys/"+p+"?recursive=true", nil)
	if err != nil || status == 404 {
		return nil, err
	}
	m, _ := answer.(*value.Map)
	if m.Map("node") == nil {
		return nil, fmt.Errorf("%s did not answer with a node", PlainURL(e.base))
	}
	return m.Map("node"), nil
}

func (e *Etcd) get(ctx context.Context, key string) (value.Value, error) {
	if e.v2 {
		m, err := e.node(ctx, key)
		if m == nil || err != nil {
			return nil, err
		}
		return m.At("value"), nil
	}
	kvs, err := e.span(ctx, key, "")
	if err != nil || len(kvs) == 0 {
		return nil, err
	}
	return kvs[0][1], nil
}

func (e *Etcd) set(ctx context.Context, key string, v value.Value) error {
	if !e.v2 {
		_, err := e.call(ctx, "kv/put", value.MapOf("key", b64(key), "value", b64(value.Str(v))))
		return err
	}
	p, err := keyPath(key)
	if err != nil {
		return err
	}
	_, _, err = e.ask(ctx, "PUT", "/v2/keys/"+p, value.MapOf("decode", false,
		"header_dict", value.MapOf("Content-Type", "application/x-www-form-urlencoded"), "data", url.Values{"value": {value.Str(v)}}.Encode()))
	return err
}

func (e *Etcd) delete(ctx context.Context, key string) error {
	if !e.v2 {
		_, err := e.call(ctx, "kv/deleterange", value.MapOf("key", b64(key)))
		return err
	}
	p, err := keyPath(key)
	if err != nil {
		return err
	}
	_, _, err = e.ask(ctx, "DELETE", "/v2/keys/"+p, value.MapOf("decode", false))
	return err
}

// Tree returns the keys under a path as nested mappings; nil where there are none.
func (e *Etcd) Tree(ctx context.Context, path string) (*value.Map, error) {
	if e.v2 {
		m, err := e.node(ctx, path)
		if m == nil || err != nil {
			return nil, err
		}
		return etcdTree(m, 0)
	}
	prefix := strings.TrimSuffix(path, "/") + "/"
	kvs, err := e.span(ctx, prefix, prefix[:len(prefix)-1]+"0") // what comes after all keys with the slash
	if err != nil || len(kvs) == 0 {
		return nil, err
	}
	out := value.NewMap(len(kvs))
	for _, kv := range kvs {
		at := out
		parts := strings.Split(strings.Trim(strings.TrimPrefix(kv[0], prefix), "/"), "/")
		for _, p := range parts[:len(parts)-1] {
			next := at.Map(p)
			if next == nil {
				next = value.NewMap(2)
				at.Set(p, next)
			}
			at = next
		}
		at.Set(parts[len(parts)-1], kv[1])
	}
	return out, nil
}

// etcdTree returns what a directory has.
func etcdTree(dir *value.Map, depth int) (*value.Map, error) {
	if depth > maxNesting {
		return nil, errors.New("the directories are too deep")
	}
	list := dir.List("nodes")
	out := value.NewMap(4)
	for i := range list.Len() {
		n, _ := list.Items[i].(*value.Map)
		key := n.Str("key")
		key = key[strings.LastIndexByte(key, '/')+1:]
		if !value.Truth(n.At("dir")) {
			out.Set(key, n.At("value"))
			continue
		}
		sub, err := etcdTree(n, depth+1)
		if err != nil {
			return nil, err
		}
		out.Set(key, sub)
	}
	return out, nil
}

// etcdKeys are the keys of etcd.
// Salt: salt/sdb/etcd_db.py.
type etcdKeys struct {
	env  *fun.Env
	conf *value.Map
}

func newEtcd(env *fun.Env, conf *value.Map) (driver, error) { return etcdKeys{env, conf}, nil }

func (k etcdKeys) get(ctx context.Context, key string) (value.Value, error) {
	e, err := OpenEtcd(ctx, k.env, k.conf)
	if err != nil {
		return nil, err
	}
	return e.get(ctx, key)
}

func (k etcdKeys) set(ctx context.Context, key string, v value.Value) error {
	e, err := OpenEtcd(ctx, k.env, k.conf)
	if err != nil {
		return err
	}
	return e.set(ctx, key, v)
}

func (k etcdKeys) delete(ctx context.Context, key string) error {
	e, err := OpenEtcd(ctx, k.env, k.conf)
	if err != nil {
		return err
	}
	return e.delete(ctx, key)
}
