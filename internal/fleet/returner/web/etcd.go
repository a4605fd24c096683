package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// etcd is a cluster by the JSON gateway of its version 3 API.
type etcd struct {
	*client
	s    returner.Settings
	root string

	most int // bytes of a request that the server is known to take at most; 0: not known

	mu            sync.Mutex
	reader, write *etcdEnd
}

// An etcdEnd is a server and an account.
type etcdEnd struct {
	base  string
	ttl   int64
	token string
}

// prepareEtcd checks the profiles and what they say.
func prepareEtcd(s returner.Settings) (returner.Settings, error) {
	e := &etcd{s: s}
	for _, k := range []string{"returner", "returner_read_profile", "returner_write_profile"} {
		p := s.Str(k)
		if p != "" && s.Env.Opts.Map(p) == nil {
			return s, fmt.Errorf("etcd.%s: the configuration has no profile %q", k, p)
		}
		if _, err := e.ttl(p); err != nil {
			return s, err
		}
	}
	return s, nil
}

// ttl is how long keys live, in seconds; 0 is for ever.
func (e *etcd) ttl(profile string) (int64, error) {
	t := e.setting(profile, "ttl")
	if t == "" {
		return 0, nil
	}
	n, err := value.ToInt(t)
	ttl, ok := value.AsInt(n)
	if err != nil || !ok || ttl < 0 {
		return 0, fmt.Errorf("etcd.ttl: %q is not a number of seconds", t)
	}
	return ttl, nil
}

// etcdWhere is where rows go: the server of the profile to write with.
func etcdWhere(s returner.Settings) *value.Map {
	e := &etcd{s: s}
	write := cmp.Or(s.Str("returner_write_profile"), s.Str("returner"))
	return value.MapOf(
		"host", returner.WithoutAccount(e.setting(write, "host")), "port", e.setting(write, "port"), "protocol", e.setting(write, "protocol"),
		"returner_root", s.Str("returner_root"),
	)
}

// newEtcd knows the profile that the option etcd.returner names, and those of
// etcd.returner_read_profile and etcd.returner_write_profile.
// Salt: returners/etcd_return.py _get_conn, utils/etcd_util.py.
func newEtcd(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	e := &etcd{s: s, root: "/" + strings.Trim(s.Str("returner_root"), "/")}
	both := s.Str("returner")
	read, write := s.Str("returner_read_profile"), s.Str("returner_write_profile")
	if read == "" {
		read = both
	}
	if write == "" {
		write = both
	}
	var secrets []string
	for _, p := range []string{read, write} {
		secrets = append(secrets, e.setting(p, "password"))
	}
	e.client = newClient(true, secrets...)
	if err := e.trust(write); err != nil {
		return nil, err
	}
	var err error
	if e.write, err = e.connect(ctx, write); err != nil {
		return nil, err
	}
	e.reader = e.write
	if read != write {
		e.reader, err = e.connect(ctx, read)
	}
	return e, err
}

// setting is a setting of a profile: a dict in the configuration with keys such
// as etcd.host. What it has not is that of the returner.
func (e *etcd) setting(profile, key string) string {
	if profile != "" {
		m := e.s.Env.Opts.Map(profile)
		for _, k := range []string{"etcd." + key, key} {
			if v, ok := m.Get(k); ok && v != nil {
				return value.Str(v)
			}
		}
	}
	return e.s.Str(key)
}

// trust sets the certificates of the connection.
func (e *etcd) trust(profile string) error {
	ca, cert, key := e.setting(profile, "ca"), e.setting(profile, "client_cert"), e.setting(profile, "client_key")
	if ca == "" && cert == "" {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s has no certificate", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = c
	e.http.Transport = t
	return nil
}

func (e *etcd) connect(ctx context.Context, profile string) (*etcdEnd, error) {
	host := e.setting(profile, "host")
	if !strings.Contains(host, "://") {
		host = e.setting(profile, "protocol") + "://" + net.JoinHostPort(host, e.setting(profile, "port"))
	}
	end := &etcdEnd{base: strings.TrimSuffix(host, "/") + "/v3/"}
	var err error
	if end.ttl, err = e.ttl(profile); err != nil {
		return nil, err
	}
	if user := e.setting(profile, "username"); user != "" {
		m, err := e.call(ctx, end, "auth/authenticate", value.MapOf("name", user, "password", e.setting(profile, "password")))
		if err != nil {
			return nil, err
		}
		end.token = m.Str("token")
	}
	return end, nil
}

// call posts one request of the gateway.
func (e *etcd) call(ctx context.Context, end *etcdEnd, what string, v *value.Map) (*value.Map, error) {
	e.mu.Lock()
	e.header.Del("Authorization")
	if end.token != "" {
		e.header.Set("Authorization", end.token)
	}
	e.mu.Unlock()
	b, err := e.post(ctx, end.base+what, v)
	if err != nil {
		if most, ok := tooLarge(b); ok {
			return nil, &etcdSizeError{err, most}
		}
		return nil, err
	}
	answer, err := value.ParseJSON(string(b))
	m, ok := answer.(*value.Map)
	if err != nil || !ok {
		return nil, fmt.Errorf("etcd: the answer of %s is not JSON: %s", what, e.head(b))
	}
	return m, nil
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// An etcdSizeError is the answer of a server to a request that is larger than it
// takes.
type etcdSizeError struct {
	error
	most int // how many bytes it takes; 0 where it does not say
}

// etcdSlack is what a server takes beside its max-request-bytes before it looks
// into a request.
const etcdSlack = 512 << 10

// tooLarge reports whether an answer says that the request is larger than the
// server takes, and how much that is. The API has no other sign of it than the
// text.
func tooLarge(answer []byte) (most int, ok bool) {
	v, _ := value.ParseJSON(string(answer))
	m, _ := v.(*value.Map)
	text := m.Str("message")
	if text == "" {
		text = m.Str("error")
	}
	if text == "etcdserver: request is too large" {
		return 0, true
	}
	_, sizes, ok := strings.Cut(text, "received message larger than max (")
	if !ok {
		return 0, false
	}
	var size, limit int
	if _, err := fmt.Sscanf(sizes, "%d vs. %d", &size, &limit); err != nil || limit <= etcdSlack {
		return 0, true
	}
	return limit - etcdSlack, true
}

// Bounds of one transaction of several rows: below those that servers have unless
// told otherwise. A row may have more bytes; a server tells that it does not take
// them only when it gets them.
const (
	etcdOps   = 120
	etcdBytes = 1 << 20
)

// A pair is a key and its value.
type pair struct{ key, val string }

func sizeOf(pairs []pair) int {
	n := 0
	for _, p := range pairs {
		n += len(p.key) + len(p.val)
	}
	return n
}

// put stores the pairs of rows, each row whole as far as one transaction takes it.
// The rows that the server does not take are in the error by their places; the
// others are stored.
func (e *etcd) put(ctx context.Context, rows [][]pair) error {
	var lease string
	if e.write.ttl > 0 {
		m, err := e.call(ctx, e.write, "lease/grant", value.MapOf("TTL", e.write.ttl))
		if err != nil {
			return err
		}
		lease = m.Str("ID")
	}
	unfit := map[int]error{}
	for i := 0; i < len(rows); {
		var pairs []pair
		from, size := i, 0
		for i < len(rows) {
			n := sizeOf(rows[i])
			if i > from && (size+n > etcdBytes || len(pairs)+len(rows[i]) > etcdOps) {
				break
			}
			pairs, size = append(pairs, rows[i]...), size+n
			i++
		}
		err := e.txn(ctx, pairs, lease)
		if _, ok := errors.AsType[*etcdSizeError](err); !ok {
			if err != nil {
				return err
			}
			continue
		}
		for n := from; n < i; n++ {
			err := e.putAlone(ctx, rows[n], lease)
			if _, ok := errors.AsType[*etcdSizeError](err); ok {
				unfit[n] = err
			} else if err != nil {
				return err
			}
		}
	}
	if len(unfit) > 0 {
		return &jobs.UnfitError{Rows: unfit}
	}
	return nil
}

// putAlone stores the pairs of one row, in several transactions where one is too
// large: the largest comes first, so that a row has nothing stored if not all.
func (e *etcd) putAlone(ctx context.Context, pairs []pair, lease string) error {
	err := e.txn(ctx, pairs, lease)
	if _, ok := errors.AsType[*etcdSizeError](err); !ok {
		return err
	}
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b pair) int { return len(b.val) - len(a.val) })
	for _, p := range pairs {
		if err := e.txn(ctx, []pair{p}, lease); err != nil {
			return err
		}
	}
	return nil
}

// txn stores pairs at once. What is larger than the server is known to take is
// not sent.
func (e *etcd) txn(ctx context.Context, pairs []pair, lease string) error {
	if len(pairs) == 0 {
		return nil
	}
	size := sizeOf(pairs)
	if e.most > 0 && size > e.most {
		return &etcdSizeError{fmt.Errorf("etcd: the request has %d bytes, and max-request-bytes of the server is %d", size, e.most), e.most}
	}
	ops := value.NewList()
	for _, x := range pairs {
		p := value.MapOf("key", b64(x.key), "value", b64(x.val))
		if lease != "" {
			p.Set("lease", lease)
		}
		ops.Append(value.MapOf("request_put", p))
	}
	_, err := e.call(ctx, e.write, "kv/txn", value.MapOf("success", ops))
	if large, ok := errors.AsType[*etcdSizeError](err); ok {
		if large.most > 0 {
			e.most = large.most
		}
		what := "more than max-request-bytes of the server"
		if e.most > 0 {
			what = fmt.Sprintf("and max-request-bytes of the server is %d", e.most)
		}
		large.error = fmt.Errorf("etcd: the request has %d bytes, %s", size, what)
	}
	return err
}

// Return stores each field of an answer as ROOT/jobs/JID/ID/FIELD, and the last
// jid of each target as ROOT/minions/ID.
func (e *etcd) Return(ctx context.Context, rets []*value.Map) error {
	// A transaction has a key once: the last row of a target counts.
	last := make(map[string]int, len(rets))
	for i, r := range rets {
		last[r.Str("jid")+"/"+r.Str("id")] = i
		last[r.Str("id")] = i
	}
	rows := make([][]pair, len(rets))
	for i, r := range rets {
		id, jid := r.Str("id"), r.Str("jid")
		if last[jid+"/"+id] != i {
			continue
		}
		for k, v := range r.All() {
			rows[i] = append(rows[i], pair{strings.Join([]string{e.root, "jobs", jid, id, value.Str(k)}, "/"), string(value.StrictJSON(v))})
		}
		if last[id] == i {
			rows[i] = append(rows[i], pair{e.root + "/minions/" + id, jid})
		}
	}
	return e.put(ctx, rows)
}

const etcdLoad = ".load.p"

// SaveLoad stores loads as ROOT/jobs/JID/.load.p.
func (e *etcd) SaveLoad(ctx context.Context, loads []*value.Map) error {
	last := make(map[string]int, len(loads))
	for i, l := range loads {
		last[l.Str("jid")] = i
	}
	rows := make([][]pair, len(loads))
	for i, l := range loads {
		if jid := l.Str("jid"); last[jid] == i {
			rows[i] = []pair{{e.root + "/jobs/" + jid + "/" + etcdLoad, string(value.StrictJSON(l))}}
		}
	}
	return e.put(ctx, rows)
}

// scan calls each with the pairs from a key up to another, in order.
func (e *etcd) scan(ctx context.Context, from, end string, keysOnly bool, each func(key, val string) error) error {
	for {
		m, err := e.call(ctx, e.reader, "kv/range", value.MapOf("key", b64(from), "range_end", b64(end), "limit", int64(1000), "keys_only", keysOnly))
		if err != nil {
			return err
		}
		for _, x := range m.List("kvs").Elems() {
			kv, _ := x.(*value.Map)
			key, err := base64.StdEncoding.DecodeString(kv.Str("key"))
			if err != nil {
				return fmt.Errorf("etcd: %w", err)
			}
			val, err := base64.StdEncoding.DecodeString(kv.Str("value"))
			if err != nil {
				return fmt.Errorf("etcd: %w", err)
			}
			if err := each(string(key), string(val)); err != nil {
				return err
			}
			from = string(key) + "\x00"
		}
		if m.At("more") != true {
			return nil
		}
	}
}

// Job reads a job; see [jobs.Store].
func (e *etcd) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	base := e.root + "/jobs/" + jid + "/"
	j := jobs.NewJob(jid, nil)
	fields := value.NewMap(8)
	err := e.scan(ctx, base, base[:len(base)-1]+"0", false, func(key, val string) error {
		v, err := value.ParseJSON(val)
		if err != nil {
			return fmt.Errorf("etcd: %s is not JSON", key)
		}
		name := strings.TrimPrefix(key, base)
		if name == etcdLoad {
			if l, ok := v.(*value.Map); ok {
				j.Load = l
			}
			return nil
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return nil
		}
		if !fields.Has(name[:i]) {
			fields.Set(name[:i], value.NewMap(8))
		}
		fields.Map(name[:i]).Set(name[i+1:], v)
		return nil
	})
	if err != nil || j.Load.Len() == 0 && fields.Len() == 0 {
		return nil, err
	}
	for k := range fields.All() {
		id := value.Str(k)
		j.Got(id, fields.Map(id))
		if !fields.Map(id).Has("return") {
			j.Cut(id, "etcd has other fields of its answer, and not what it returned")
		}
	}
	return j, nil
}

// Jobs lists jobs; see [jobs.Store].
func (e *etcd) Jobs(ctx context.Context, from, to string) ([]jobs.Entry, error) {
	base := e.root + "/jobs/"
	end := base[:len(base)-1] + "0"
	if to != "" {
		end = base + to + "0"
	}
	var jids []string
	err := e.scan(ctx, base+from, end, true, func(key, _ string) error {
		jid, name, _ := strings.Cut(strings.TrimPrefix(key, base), "/")
		if name == etcdLoad {
			jids = append(jids, jid)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Strings(jids)
	var out []jobs.Entry
	for len(jids) > 0 {
		n := min(len(jids), etcdOps)
		ops := value.NewList()
		for _, jid := range jids[:n] {
			ops.Append(value.MapOf("request_range", value.MapOf("key", b64(base+jid+"/"+etcdLoad))))
		}
		m, err := e.call(ctx, e.reader, "kv/txn", value.MapOf("success", ops))
		if err != nil {
			return nil, err
		}
		for _, x := range m.List("responses").Elems() {
			r, _ := x.(*value.Map)
			for _, y := range r.Map("response_range").List("kvs").Elems() {
				kv, _ := y.(*value.Map)
				key, err := base64.StdEncoding.DecodeString(kv.Str("key"))
				if err != nil {
					return nil, err
				}
				val, err := base64.StdEncoding.DecodeString(kv.Str("value"))
				if err != nil {
					return nil, err
				}
				v, err := value.ParseJSON(string(val))
				load, ok := v.(*value.Map)
				if err != nil || !ok {
					return nil, fmt.Errorf("etcd: %s is not a JSON mapping", key)
				}
				jid, _, _ := strings.Cut(strings.TrimPrefix(string(key), base), "/")
				out = append(out, jobs.Entry{JID: jid, Load: load})
			}
		}
		jids = jids[n:]
	}
	return out, nil
}
