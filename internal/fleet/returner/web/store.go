package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/event"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

type couch struct {
	*client
	db   string // URL of the database
	made bool
}

func newCouch(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("passwd"))
	c.as(s.Str("user"), s.Str("passwd"))
	return &couch{client: c, db: strings.TrimSuffix(s.Str("url"), "/") + "/" + url.PathEscape(s.Str("db"))}, nil
}

// Return writes one document per return. Its id is JID-ID: an existing one is
// the same return, sent again. Salt: returners/couchdb_return.py. Difference:
// there the jid alone is the id, so that only one target of a job is kept.
func (c *couch) Return(ctx context.Context, rets []*value.Map) error {
	if !c.made {
		if _, err := c.do(ctx, http.MethodHead, c.db, "", nil); err != nil {
			if _, err := c.do(ctx, http.MethodPut, c.db, asJSON, nil); err != nil {
				return err
			}
		}
		c.made = true
	}
	docs := value.NewList()
	for _, r := range rets {
		d := r.Copy()
		d.Set("_id", r.Str("jid")+"-"+r.Str("id"))
		at := time.Now()
		if t, err := time.Parse(event.StampFormat, r.Str("_stamp")); err == nil {
			at = t
		}
		d.Set("timestamp", float64(at.UnixMicro())/1e6)
		// Names with a first _ are CouchDB's own.
		if d.Has("_stamp") {
			d.Set("stamp", d.At("_stamp"))
			d.Delete("_stamp")
		}
		docs.Append(d)
	}
	answer, err := c.post(ctx, c.db+"/_bulk_docs", value.MapOf("docs", docs))
	if err != nil {
		return err
	}
	v, _ := value.ParseJSON(string(answer))
	list, _ := v.(*value.List)
	for _, x := range list.Elems() {
		d, _ := x.(*value.Map)
		if why := d.Str("error"); why != "" && why != "conflict" {
			return jobs.Refused(c.hide(fmt.Errorf("couchdb: document %s: %s: %s", d.Str("id"), why, d.Str("reason"))))
		}
	}
	return nil
}

type influx struct {
	*client
	to string
}

func newInflux(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("password"))
	c.as(s.Str("user"), s.Str("password"))
	host := s.Str("host")
	if !strings.Contains(host, "://") {
		host = "http://" + net.JoinHostPort(host, strconv.Itoa(s.Int("port")))
	}
	return &influx{c, strings.TrimSuffix(host, "/") + "/write?" + url.Values{"db": {s.Str("db")}, "precision": {"u"}}.Encode()}, nil
}

// line is a point in the protocol of lines, with its tags in order.
func line(b *strings.Builder, name string, tags, fields [][2]string) {
	tag := strings.NewReplacer(",", `\,`, "=", `\=`, " ", `\ `, "\n", `\ `)
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	b.WriteString(name)
	for _, t := range tags {
		b.WriteString("," + t[0] + "=" + tag.Replace(t[1]))
	}
	sep := " "
	for _, f := range fields {
		b.WriteString(sep + f[0] + `="` + text.Replace(f[1]) + `"`)
		sep = ","
	}
}

func (c *influx) write(ctx context.Context, points string) error {
	_, err := c.do(ctx, http.MethodPost, c.to, "text/plain; charset=utf-8", []byte(points))
	return err
}

// Return writes a point a return: measurement returns; tags fun, id, jid; fields
// return and full_ret, which has the rest.
// Salt: returners/influxdb_return.py returner.
func (c *influx) Return(ctx context.Context, rets []*value.Map) error {
	var b strings.Builder
	for _, r := range rets {
		rest := r.Copy()
		rest.Delete("return")
		line(&b, "returns", [][2]string{{"fun", r.Str("fun")}, {"id", r.Str("id")}, {"jid", r.Str("jid")}},
			[][2]string{{"return", string(value.StrictJSON(r.At("return")))}, {"full_ret", string(value.StrictJSON(rest))}})
		if t, err := time.Parse(event.StampFormat, r.Str("_stamp")); err == nil {
			fmt.Fprintf(&b, " %d", t.UnixMicro())
		}
		b.WriteByte('\n')
	}
	return c.write(ctx, b.String())
}

// SaveLoad writes a point a load: measurement jids, tag jid, field load.
func (c *influx) SaveLoad(ctx context.Context, loads []*value.Map) error {
	var b strings.Builder
	for _, l := range loads {
		line(&b, "jids", [][2]string{{"jid", l.Str("jid")}}, [][2]string{{"load", string(value.StrictJSON(l))}})
		if t, ok := jobs.Time(l.Str("jid")); ok {
			fmt.Fprintf(&b, " %d", t.UnixMicro())
		}
		b.WriteByte('\n')
	}
	return c.write(ctx, b.String())
}

type elastic struct {
	*client
	s     returner.Settings
	hosts []string
	there map[string]bool // indices that are known to be there
}

func newElastic(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("password"))
	c.as(s.Str("user"), s.Str("password"))
	e := &elastic{client: c, s: s, there: map[string]bool{}}
	switch v := s.Value("hosts").(type) {
	case *value.List:
		for _, x := range v.Items {
			e.hosts = append(e.hosts, value.Str(x))
		}
	default:
		e.hosts = strings.Split(value.Str(v), ",")
	}
	for i, h := range e.hosts {
		h = strings.TrimSuffix(strings.TrimSpace(h), "/")
		if !strings.Contains(h, "://") {
			h = "http://" + h
		}
		e.hosts[i] = h
	}
	return e, nil
}

// index is the index of a day, where names have dates.
func (e *elastic) index(name string, day time.Time) string {
	if e.s.Bool("index_date") {
		return name + "-" + day.Format("2006.01.02")
	}
	return name
}

// each calls for a host after the other, until one answers.
func (e *elastic) each(call func(host string) error) error {
	var err error
	for _, h := range e.hosts {
		if err = call(h); err == nil {
			return nil
		}
		if _, ok := errors.AsType[*unreached](err); !ok {
			return err
		}
	}
	return err
}

// ensure makes an index where there is none: NAME-v1, with the alias NAME.
// Salt: returners/elasticsearch_return.py _ensure_index.
func (e *elastic) ensure(ctx context.Context, name string) error {
	if e.there[name] {
		return nil
	}
	err := e.each(func(h string) error {
		path := h + "/" + url.PathEscape(name)
		_, err := e.do(ctx, http.MethodHead, path, "", nil)
		var s *statusError
		if !errors.As(err, &s) || s.code != http.StatusNotFound {
			return err
		}
		_, err = e.do(ctx, http.MethodPut, path+"-v1", asJSON, value.StrictJSON(value.MapOf("settings", value.MapOf(
			"number_of_shards", int64(e.s.Int("number_of_shards")), "number_of_replicas", int64(e.s.Int("number_of_replicas"))))))
		if err != nil && (!errors.As(err, &s) || s.reason != "resource_already_exists_exception") {
			return err
		}
		_, err = e.do(ctx, http.MethodPut, path+"-v1/_alias/"+url.PathEscape(name), asJSON, nil)
		return err
	})
	if err == nil {
		e.there[name] = true
	}
	return err
}

// A document is to be written into an index.
type document struct {
	index, id string
	data      *value.Map
}

// bulk writes documents in one request, to the first host that answers. A
// document with an existing id is overwritten: it is the same row, sent again.
func (e *elastic) bulk(ctx context.Context, docs []document) error {
	if len(docs) == 0 {
		return nil
	}
	var b []byte
	for _, d := range docs {
		if err := e.ensure(ctx, d.index); err != nil {
			return err
		}
		meta := value.MapOf("_index", d.index, "_id", d.id)
		b = append(append(b, value.StrictJSON(value.MapOf("index", meta))...), '\n')
		b = append(append(b, value.StrictJSON(d.data)...), '\n')
	}
	return e.each(func(h string) error {
		answer, err := e.do(ctx, http.MethodPost, h+"/_bulk", "application/x-ndjson", b)
		if err != nil {
			return err
		}
		v, err := value.ParseJSON(string(answer))
		m, _ := v.(*value.Map)
		if err != nil || m == nil {
			return fmt.Errorf("the answer of elasticsearch is not JSON: %s", e.head(answer))
		}
		if m.At("errors") == true {
			return e.fault(m)
		}
		return nil
	})
}

// fault is what a bulk request says of the first document that was not taken.
func (e *elastic) fault(answer *value.Map) error {
	for _, x := range answer.List("items").Elems() {
		it, _ := x.(*value.Map)
		for _, v := range it.All() {
			d, _ := v.(*value.Map)
			if !d.Has("error") {
				continue
			}
			err := fmt.Errorf("elasticsearch did not take document %s: %s", d.Str("_id"), e.head(value.StrictJSON(d.At("error"))))
			if n, ok := value.AsInt(d.At("status")); ok && n == http.StatusBadRequest {
				return jobs.Refused(err)
			}
			return err
		}
	}
	return fmt.Errorf("elasticsearch did not take all documents: %s", e.head(value.StrictJSON(answer)))
}

// stateFuns are the functions that may share an index.
var stateFuns = [...]string{"state.apply", "state.highstate", "state.sls"}

// Return writes documents into salt-FUN.
// Salt: returners/elasticsearch_return.py returner.
func (e *elastic) Return(ctx context.Context, rets []*value.Map) error {
	black := value.Strings()
	switch v := e.s.Value("functions_blacklist").(type) {
	case *value.List:
		black = v
	case string:
		black = value.Strings(strings.Split(v, ",")...)
	}
	var docs []document
	for _, r := range rets {
		name, v := r.Str("fun"), r.At("return")
		if v == nil || slices.ContainsFunc(black.Items, func(x value.Value) bool { return strings.TrimSpace(value.Str(x)) == name }) {
			continue
		}
		day, ok := jobs.Time(r.Str("jid"))
		if !ok {
			day = time.Now().UTC()
		}
		index := "salt-" + strings.NewReplacer(".", "_", ",", "-").Replace(name) // a comma is between indexes
		isState := slices.Contains(stateFuns[:], name)
		if isState && e.s.Bool("states_single_index") {
			index = "salt-state_apply"
		}
		index = e.index(strings.ToLower(index), day)
		counts := value.NewMap(2)
		if isState {
			states, isDict := v.(*value.Map)
			if isDict && e.s.Bool("states_count") {
				counts = count(states)
			}
			switch {
			case isDict && e.s.Bool("states_order_output"):
				index += "-ordered"
				v = ordered(states)
			case !isDict:
				v = value.MapOf("return", v)
			}
		}
		code, each := codes(r)
		doc := value.MapOf(
			"@timestamp", day.Format("2006-01-02T15:04:05.000000+00:00"), "success", jobs.Succeeded(r), "retcode", code,
			"minion", r.Str("id"), "fun", name, "jid", r.Str("jid"), "counts", counts, "data", undotted(v),
		)
		if each != nil {
			doc.Set("retcodes", each)
		}
		docs = append(docs, document{index, r.Str("jid") + "-" + r.Str("id"), doc})
	}
	return e.bulk(ctx, docs)
}

// codes returns the return code of an answer, and of a job that is several functions
// those of each, by name or number; nil for other jobs. The code of all is then the
// highest, and 1 where one ended with an error: a field has one type in all documents.
func codes(r *value.Map) (code value.Value, each *value.Map) {
	switch of := r.At("retcode").(type) {
	case *value.Map:
		each = value.NewMap(of.Len())
		for name, c := range of.All() {
			each.Set(strings.ReplaceAll(value.Str(name), ".", "_"), c) // a dot is between fields
		}
	case *value.List:
		each = value.NewMap(of.Len())
		for i, c := range of.Items {
			each.Set(strconv.Itoa(i), c)
		}
	default:
		return of, nil
	}
	highest := int64(0)
	if !jobs.Succeeded(r) {
		highest = 1
	}
	for _, c := range each.All() {
		n, _ := value.AsInt(c)
		highest = max(highest, n)
	}
	return highest, each
}

// count counts states that went well, and those that did not.
func count(states *value.Map) *value.Map {
	good, bad := int64(0), int64(0)
	for _, v := range states.All() {
		if st, ok := v.(*value.Map); ok && st.At("result") == false {
			bad++
		} else {
			good++
		}
	}
	return value.MapOf("succeeded", good, "failed", bad)
}

// ordered puts the number of each state in front of its tag, with zeros, and its
// function into it as _func.
func ordered(states *value.Map) *value.Map {
	width := len(strconv.Itoa(states.Len()))
	out := value.NewMap(states.Len())
	for k, v := range states.All() {
		tag := value.Str(k)
		st, ok := v.(*value.Map)
		if !ok || tag != "" && tag[0] >= '0' && tag[0] <= '9' {
			out.Set(k, v)
			continue
		}
		st = st.Copy()
		p := strings.Split(tag, "_|-")
		st.Set("_func", p[0]+"."+p[len(p)-1])
		n, _ := value.AsInt(st.At("__run_num__"))
		out.Set(fmt.Sprintf("%0*d_|-%s", width, n, tag), st)
	}
	return out
}

// undotted returns v without dots in the keys of dicts, where dots are paths.
func undotted(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Map:
		out := value.NewMap(v.Len())
		for k, x := range v.All() {
			key := value.Str(k)
			if strings.Contains(key, ".") {
				out.Set("_orig_key", key)
				key = strings.ReplaceAll(key, ".", "_")
			}
			out.Set(key, undotted(x))
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, x := range v.Items {
			out.Append(undotted(x))
		}
		return out
	}
	return v
}

// SaveLoad writes documents into the index of loads. Arguments are now text and
// now dicts, which one field cannot be: the load is text.
func (e *elastic) SaveLoad(ctx context.Context, loads []*value.Map) error {
	var docs []document
	for _, l := range loads {
		docs = append(docs, document{e.s.Str("master_job_cache_index"), l.Str("jid"), value.MapOf("jid", l.Str("jid"), "load", string(value.StrictJSON(l)))})
	}
	return e.bulk(ctx, docs)
}

// SaveEvents writes documents into the index of events; their data, which
// differ, are text. An event that is sent again has the same id.
func (e *elastic) SaveEvents(ctx context.Context, events []jobs.EventRow) error {
	var docs []document
	for _, ev := range events {
		d := value.MapOf("tag", ev.Tag, "data", string(value.StrictJSON(ev.Data)), "master_id", ev.Master, "@timestamp", ev.Data.At("_stamp"))
		sum := sha256.Sum256(value.StrictJSON(d))
		docs = append(docs, document{e.index(e.s.Str("master_event_index"), time.Now().UTC()), hex.EncodeToString(sum[:16]), d})
	}
	return e.bulk(ctx, docs)
}
