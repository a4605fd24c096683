//go:build !slim

package sdb

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"brine/internal/core/fun"
	"brine/internal/py/serial"
	"brine/internal/py/value"
)

// An Etcd is a server of etcd, by its API of version 2 or, with etcd.require_v2: False,
// by the JSON gateway of version 3.
type Etcd struct {
	*endpoint
	v2 bool
	// packed: values are MessagePack, as Salt writes them by version 3.
	packed bool
}

// An EtcdKey is a key, or a directory of version 2.
type EtcdKey struct {
	Name     string
	Value    value.Value
	Dir      bool
	Revision int64 // of its last change
	below    []EtcdKey
}

// ErrNoDirs is the error of directories by version 3.
var ErrNoDirs = errors.New("version 3 of etcd's API has no directories")

// OpenEtcd returns the server of a profile, whose keys begin with "etcd.".
//
// Salt: salt/utils/etcd_util.py. Differences: keys are text, never MessagePack, and a
// value that is not valid UTF-8 is bytes.
func OpenEtcd(ctx context.Context, env *fun.Env, conf *value.Map) (*Etcd, error) {
	for _, k := range []string{"etcd.encode_keys", "etcd.raw_keys", "etcd.raw_values"} {
		if value.Truth(conf.At(k)) {
			return nil, fmt.Errorf("%s is not supported: keys and values are text", k)
		}
	}
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
	unless := func(k string) bool { return !conf.Has(k) || value.Truth(conf.At(k)) }
	e := &Etcd{end, unless("etcd.require_v2"), unless("etcd.encode_values")}
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
	if status == 404 {
		return nil, fmt.Errorf("%s has no API of version 3", PlainURL(e.base))
	}
	if err != nil {
		if text := firstLine(refusal(answer).Str("error")); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return nil, err
	}
	m, ok := answer.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("%s did not answer with a mapping", PlainURL(e.base))
	}
	return m, nil
}

// refusal is what the server says of a request that it does not carry out.
func refusal(answer value.Value) *value.Map {
	text, _ := answer.(string)
	v, _ := value.ParseJSON(text)
	m, _ := v.(*value.Map)
	return m
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// span returns the keys from one up to another, or one key if there is no end.
func (e *Etcd) span(ctx context.Context, key, end string) ([]EtcdKey, error) {
	body := value.MapOf("key", b64(key))
	if end != "" {
		body.Set("range_end", b64(end))
	}
	m, err := e.call(ctx, "kv/range", body)
	if err != nil {
		return nil, err
	}
	list := m.List("kvs")
	var out []EtcdKey
	for i := range list.Len() {
		kv, _ := list.Items[i].(*value.Map)
		k, err := base64.StdEncoding.DecodeString(kv.Str("key"))
		if err != nil {
			return nil, fmt.Errorf("%s: a key is not base64", PlainURL(e.base))
		}
		raw, err := base64.StdEncoding.DecodeString(kv.Str("value"))
		if err != nil {
			return nil, fmt.Errorf("%s: the value of %s is not base64", PlainURL(e.base), k)
		}
		v, err := e.unpack(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: the value of %s is not MessagePack, which Salt writes: etcd.encode_values: False is for plain text", PlainURL(e.base), k)
		}
		rev, _ := strconv.ParseInt(kv.Str("mod_revision"), 10, 64)
		out = append(out, EtcdKey{Name: string(k), Value: v, Revision: rev})
	}
	return out, nil
}

// unpack reads a value of version 3.
func (e *Etcd) unpack(raw string) (value.Value, error) {
	switch {
	case e.packed:
		format, _ := serial.Of("msgpack")
		return format.Read(raw, "", nil)
	case !utf8.ValidString(raw):
		return value.Bytes(raw), nil
	}
	return raw, nil
}

// pack returns a value as it is sent.
func (e *Etcd) pack(v value.Value) (string, error) {
	if !e.v2 && e.packed {
		format, _ := serial.Of("msgpack")
		b, err := format.Write(v, nil)
		if err != nil {
			return "", err
		}
		raw, _ := b.(value.Bytes)
		return string(raw), nil
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case value.Bytes:
		return string(v), nil
	}
	return value.Str(v), nil
}

// Stored returns what a key has after v was written to it.
func (e *Etcd) Stored(v value.Value) (value.Value, error) {
	raw, err := e.pack(v)
	if err != nil || e.v2 {
		return raw, err
	}
	return e.unpack(raw)
}

// keysOf sends a request of version 2. problem is what the server says of one that it
// does not carry out, with its number.
func (e *Etcd) keysOf(ctx context.Context, method, key string, query, form url.Values) (node *value.Map, problem int64, err error) {
	p, err := keyPath(key)
	if err != nil {
		return nil, 0, err
	}
	kw := value.NewMap(2)
	if form != nil {
		kw.Set("header_dict", value.MapOf("Content-Type", "application/x-www-form-urlencoded"))
		kw.Set("data", form.Encode())
	}
	at := "/v2/keys/" + p
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	got, status, err := e.ask(ctx, method, at, kw)
	m, _ := got.(*value.Map)
	if n, ok := value.AsInt(refusal(got).At("errorCode")); ok {
		return nil, n, fmt.Errorf("%s: %s", key, strings.ToLower(firstLine(refusal(got).Str("message"))))
	}
	switch {
	case err != nil:
		return nil, 0, err
	case status == 404:
		return nil, 0, fmt.Errorf("%s has no API of version 2; etcd.require_v2: False is for version 3", PlainURL(e.base))
	case m.Map("node") == nil:
		return nil, 0, fmt.Errorf("%s did not answer with a node", PlainURL(e.base))
	}
	return m.Map("node"), 0, nil
}

// Numbers of errors of version 2.
const (
	keyNotFound = 100
	keyExists   = 105
)

// nodeOf reads a node of version 2.
func nodeOf(m *value.Map, depth int) (EtcdKey, error) {
	if depth > maxNesting {
		return EtcdKey{}, errors.New("the directories are too deep")
	}
	rev, _ := value.AsInt(m.At("modifiedIndex"))
	k := EtcdKey{Name: m.Str("key"), Value: m.At("value"), Dir: value.Truth(m.At("dir")), Revision: rev}
	list := m.List("nodes")
	for i := range list.Len() {
		n, _ := list.Items[i].(*value.Map)
		sub, err := nodeOf(n, depth+1)
		if err != nil {
			return k, err
		}
		k.below = append(k.below, sub)
	}
	return k, nil
}

// read returns a key or directory of version 2 with what it has; nil where there is none.
func (e *Etcd) read(ctx context.Context, key string, recurse bool) (*EtcdKey, error) {
	q := url.Values{"sorted": {"true"}}
	if recurse {
		q.Set("recursive", "true")
	}
	m, problem, err := e.keysOf(ctx, "GET", key, q, nil)
	if problem == keyNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k, err := nodeOf(m, 0)
	return &k, err
}

// Get returns a key; nil where there is none.
func (e *Etcd) Get(ctx context.Context, key string) (*EtcdKey, error) {
	if e.v2 {
		return e.read(ctx, key, false)
	}
	keys, err := e.span(ctx, key, "")
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return &keys[0], nil
}

// Set writes a value, for ttl seconds or, with 0, for ever. It returns what the key has then.
func (e *Etcd) Set(ctx context.Context, key string, v value.Value, ttl int64) (value.Value, error) {
	raw, err := e.pack(v)
	if err != nil {
		return nil, err
	}
	if e.v2 {
		form := url.Values{"value": {raw}}
		if ttl > 0 {
			form.Set("ttl", strconv.FormatInt(ttl, 10))
		}
		m, _, err := e.keysOf(ctx, "PUT", key, nil, form)
		if err != nil {
			return nil, err
		}
		return m.At("value"), nil
	}
	body := value.MapOf("key", b64(key), "value", b64(raw))
	if ttl > 0 {
		lease, err := e.call(ctx, "lease/grant", value.MapOf("TTL", ttl))
		if err != nil {
			return nil, err
		}
		body.Set("lease", lease.Str("ID"))
	}
	if _, err := e.call(ctx, "kv/put", body); err != nil {
		return nil, err
	}
	return e.unpack(raw)
}

// HasDirs reports whether the API has directories: that of version 2.
func (e *Etcd) HasDirs() bool { return e.v2 }

// MakeDir makes a directory of version 2. made is false where there is one.
func (e *Etcd) MakeDir(ctx context.Context, key string, ttl int64) (made bool, err error) {
	if !e.v2 {
		return false, ErrNoDirs
	}
	form := url.Values{"dir": {"true"}, "prevExist": {"false"}} // else a value would be lost
	if ttl > 0 {
		form.Set("ttl", strconv.FormatInt(ttl, 10))
	}
	_, problem, err := e.keysOf(ctx, "PUT", key, nil, form)
	if problem != keyExists {
		return err == nil, err
	}
	k, err := e.Get(ctx, key)
	if err == nil && k != nil && !k.Dir {
		err = k.NoDir()
	}
	return false, err
}

// NoDir is the error of a key that has a value where a directory should be.
func (k *EtcdKey) NoDir() error {
	return fmt.Errorf("%s is a key with a value, and not a directory", k.Name)
}

// Remove removes a key and, if asked to, what is below it. removed is false where there
// is nothing.
func (e *Etcd) Remove(ctx context.Context, key string, recurse bool) (removed bool, err error) {
	if e.v2 {
		q := url.Values{}
		if recurse {
			q.Set("recursive", "true")
		}
		_, problem, err := e.keysOf(ctx, "DELETE", key, q, nil)
		if problem == keyNotFound {
			return false, nil
		}
		return err == nil, err
	}
	m, err := e.call(ctx, "kv/deleterange", value.MapOf("key", b64(key)))
	if err != nil {
		return false, err
	}
	removed = m.Str("deleted") != ""
	if recurse {
		from, to := spanBelow(key)
		if m, err = e.call(ctx, "kv/deleterange", value.MapOf("key", b64(from), "range_end", b64(to))); err != nil {
			return removed, err
		}
		removed = removed || m.Str("deleted") != ""
	}
	return removed, nil
}

// spanBelow returns where keys below a path begin and end, in version 3.
func spanBelow(path string) (from, to string) {
	from = strings.TrimSuffix(path, "/") + "/"
	return from, from[:len(from)-1] + "0" // what comes after all keys with the slash
}

// Tree returns the keys below a path as nested mappings, or a key itself; nil where there
// are none.
func (e *Etcd) Tree(ctx context.Context, path string) (*value.Map, error) {
	if e.v2 {
		k, err := e.read(ctx, path, true)
		if k == nil || err != nil {
			return nil, err
		}
		return k.tree(), nil
	}
	from, to := spanBelow(path)
	keys, err := e.span(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		k, err := e.Get(ctx, path)
		if k == nil || err != nil {
			return nil, err
		}
		return k.tree(), nil
	}
	out := value.NewMap(len(keys))
	for _, k := range keys {
		at := out
		parts := strings.Split(strings.Trim(strings.TrimPrefix(k.Name, from), "/"), "/")
		for _, p := range parts[:len(parts)-1] {
			if !at.Has(p) {
				at.Set(p, value.NewMap(2))
			}
			next, ok := at.At(p).(*value.Map)
			if !ok {
				return nil, fmt.Errorf("%s: what is above it has a value as well, so that there is no mapping of both", k.Name)
			}
			at = next
		}
		at.Set(parts[len(parts)-1], k.Value)
	}
	return out, nil
}

// last is the last part of a key.
func (k *EtcdKey) last() string { return k.Name[strings.LastIndexByte(k.Name, '/')+1:] }

// tree is what a directory has, or the key itself.
func (k *EtcdKey) tree() *value.Map {
	if !k.Dir {
		return value.MapOf(k.last(), k.Value)
	}
	out := value.NewMap(len(k.below))
	for _, sub := range k.below {
		if sub.Dir {
			out.Set(sub.last(), sub.tree())
		} else {
			out.Set(sub.last(), sub.Value)
		}
	}
	return out
}

// List returns the keys right below a path by their whole names, directories with a slash
// and an empty mapping; nil where there are none.
func (e *Etcd) List(ctx context.Context, path string) (*value.Map, error) {
	if e.v2 {
		k, err := e.read(ctx, path, false)
		if k == nil || err != nil {
			return nil, err
		}
		if !k.Dir {
			return value.MapOf(k.Name, k.Value), nil
		}
		out := value.NewMap(len(k.below))
		for _, sub := range k.below {
			if sub.Dir {
				out.Set(sub.Name+"/", value.NewMap(0))
			} else {
				out.Set(sub.Name, sub.Value)
			}
		}
		return out, nil
	}
	tree, err := e.Tree(ctx, path)
	if tree == nil || err != nil {
		return nil, err
	}
	from, _ := spanBelow(path)
	out := value.NewMap(tree.Len())
	for k, v := range tree.All() {
		if _, ok := v.(*value.Map); ok {
			out.Set(from+value.Str(k)+"/", value.NewMap(0))
		} else {
			out.Set(from+value.Str(k), v)
		}
	}
	return out, nil
}

// watchPause is how long a watch waits between two looks.
const watchPause = 500 * time.Millisecond

// Watch waits until a key changes or, if asked to, one below it. It returns the one that
// did, without a value if it was removed; nil when timeout ends, 0 is never. A change of
// the revision since or later counts as well, unless that is 0.
func (e *Etcd) Watch(ctx context.Context, key string, recurse bool, timeout time.Duration, since int64) (*EtcdKey, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	old, err := e.all(ctx, key, recurse)
	if err != nil {
		return nil, err
	}
	if since > 0 {
		if k := changed(nil, old); k != nil && k.Revision >= since {
			return k, nil
		}
	}
	for {
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, nil
			}
			return nil, ctx.Err()
		case <-time.After(watchPause):
		}
		now, err := e.all(ctx, key, recurse)
		if ctx.Err() != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		if k := changed(old, now); k != nil {
			return k, nil
		}
		old = now
	}
}

// changed is the key that changed last between two looks, without a value if it was removed;
// nil if none did.
func changed(old, now map[string]EtcdKey) (last *EtcdKey) {
	take := func(k EtcdKey) {
		if last == nil || k.Revision > last.Revision || k.Revision == last.Revision && k.Name < last.Name {
			last = &k
		}
	}
	for name, k := range now {
		if was, ok := old[name]; !ok || was.Revision != k.Revision {
			take(k)
		}
	}
	for name, k := range old {
		if _, ok := now[name]; !ok {
			k.Value = nil
			take(k)
		}
	}
	return last
}

// all returns a key and, if asked to, those below it, by name.
func (e *Etcd) all(ctx context.Context, key string, recurse bool) (map[string]EtcdKey, error) {
	out := map[string]EtcdKey{}
	if e.v2 {
		k, err := e.read(ctx, key, recurse)
		if k == nil || err != nil {
			return out, err
		}
		var add func(k EtcdKey)
		add = func(k EtcdKey) {
			out[k.Name] = k
			if recurse {
				for _, sub := range k.below {
					add(sub)
				}
			}
		}
		add(*k)
		return out, nil
	}
	keys, err := e.span(ctx, key, "")
	if err == nil && recurse {
		var more []EtcdKey
		from, to := spanBelow(key)
		more, err = e.span(ctx, from, to)
		keys = append(keys, more...)
	}
	for _, k := range keys {
		out[k.Name] = k
	}
	return out, err
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
	got, err := e.Get(ctx, key)
	if got == nil || err != nil {
		return nil, err
	}
	return got.Value, nil
}

func (k etcdKeys) set(ctx context.Context, key string, v value.Value) error {
	e, err := OpenEtcd(ctx, k.env, k.conf)
	if err != nil {
		return err
	}
	_, err = e.Set(ctx, key, v, 0)
	return err
}

func (k etcdKeys) delete(ctx context.Context, key string) error {
	e, err := OpenEtcd(ctx, k.env, k.conf)
	if err != nil {
		return err
	}
	_, err = e.Remove(ctx, key, false)
	return err
}
