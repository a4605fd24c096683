package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"brine/internal/event"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/value"
)

func userinfo(user, pass string) *url.Userinfo {
	if user == "" {
		return nil
	}
	return url.UserPassword(user, pass)
}

type couch struct {
	*client
	db   string // URL of the database
	made bool
}

func newCouch(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("passwd"))
	c.user = userinfo(s.Str("user"), s.Str("passwd"))
	return &couch{client: c, db: strings.TrimSuffix(s.Str("url"), "/") + "/" + url.PathEscape(s.Str("db"))}, nil
}

// Return writes a document a return. Its id is JID-ID: one that is there
// already is the same return, sent again.
// Salt: returners/couchdb_return.py. Difference: there the jid alone is the id,
// so that only one target of a job is kept.
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
		// Names with a first _ are CouchDB's own.
		if d.Has("_stamp") {
			d.Set("stamp", d.At("_stamp"))
			d.Delete("_stamp")
		}
		docs.Append(d)
	}
	_, err := c.post(ctx, c.db+"/_bulk_docs", value.MapOf("docs", docs))
	return err
}

type influx struct {
	*client
	to string
}

func newInflux(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("password"))
	c.user = userinfo(s.Str("user"), s.Str("password"))
	host := s.Str("host")
	if !strings.Contains(host, "://") {
		host = "http://" + net.JoinHostPort(host, strconv.Itoa(s.Int("port")))
	}
	return &influx{c, strings.TrimSuffix(host, "/") + "/write?" + url.Values{"db": {s.Str("db")}, "precision": {"u"}}.Encode()}, nil
}

// Return writes a point a return: measurement returns; tags fun, minion, jid;
// fields return, full_ret. Salt: returners/influxdb_return.py.
func (c *influx) Return(ctx context.Context, rets []*value.Map) error {
	var b strings.Builder
	tag := strings.NewReplacer(",", `\,`, "=", `\=`, " ", `\ `, "\n", `\ `)
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, r := range rets {
		fmt.Fprintf(&b, `returns,fun=%s,minion=%s,jid=%s return="%s",full_ret="%s"`,
			tag.Replace(r.Str("fun")), tag.Replace(r.Str("id")), tag.Replace(r.Str("jid")),
			text.Replace(string(value.EncodeJSON(r.At("return")))), text.Replace(string(value.EncodeJSON(r))))
		if t, err := time.Parse(event.StampFormat, r.Str("_stamp")); err == nil {
			fmt.Fprintf(&b, " %d", t.UnixMicro())
		}
		b.WriteByte('\n')
	}
	_, err := c.do(ctx, http.MethodPost, c.to, "text/plain; charset=utf-8", []byte(b.String()))
	return err
}

type elastic struct {
	*client
	s     returner.Settings
	hosts []string
}

func newElastic(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("password"))
	c.user = userinfo(s.Str("user"), s.Str("password"))
	e := &elastic{client: c, s: s}
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

// bulk writes documents in one request, at the first host that answers. An id
// that is there already is written over: it is the same row, sent again.
func (e *elastic) bulk(ctx context.Context, add func(put func(index, id string, doc *value.Map))) error {
	var b []byte
	add(func(index, id string, doc *value.Map) {
		meta := value.MapOf("_index", index)
		if id != "" {
			meta.Set("_id", id)
		}
		b = append(append(b, value.EncodeJSON(value.MapOf("index", meta))...), '\n')
		b = append(append(b, value.EncodeJSON(doc)...), '\n')
	})
	var err error
	for _, h := range e.hosts {
		var answer []byte
		if answer, err = e.do(ctx, http.MethodPost, h+"/_bulk", "application/x-ndjson", b); err != nil {
			continue
		}
		v, perr := value.ParseJSON(string(answer))
		m, _ := v.(*value.Map)
		if perr != nil || m.At("errors") == true {
			return fmt.Errorf("elasticsearch did not take all documents: %s", head(answer))
		}
		return nil
	}
	return err
}

// Return writes documents into salt-FUN-v1.
// Salt: returners/elasticsearch_return.py returner.
func (e *elastic) Return(ctx context.Context, rets []*value.Map) error {
	return e.bulk(ctx, func(put func(string, string, *value.Map)) {
		for _, r := range rets {
			day, ok := jobs.Time(r.Str("jid"))
			if !ok {
				day = time.Now().UTC()
			}
			// A field that is now text and now a number is refused, so the data
			// is text.
			doc := value.MapOf(
				"@timestamp", day.Format("2006-01-02T15:04:05.000Z"), "success", value.Truth(r.At("success")), "retcode", r.At("retcode"),
				"minion", r.Str("id"), "fun", r.Str("fun"), "jid", r.Str("jid"), "data", string(value.EncodeJSON(r.At("return"))),
			)
			put(e.index("salt-"+strings.ToLower(strings.ReplaceAll(r.Str("fun"), ".", "_"))+"-v1", day), r.Str("jid")+"-"+r.Str("id"), doc)
		}
	})
}

// SaveLoad writes documents into the index of loads.
func (e *elastic) SaveLoad(ctx context.Context, loads []*value.Map) error {
	return e.bulk(ctx, func(put func(string, string, *value.Map)) {
		for _, l := range loads {
			put(e.s.Str("master_job_cache_index"), l.Str("jid"), value.MapOf("jid", l.Str("jid"), "load", string(value.EncodeJSON(l))))
		}
	})
}

// SaveEvents writes documents into the index of events.
func (e *elastic) SaveEvents(ctx context.Context, events []jobs.EventRow) error {
	return e.bulk(ctx, func(put func(string, string, *value.Map)) {
		for _, ev := range events {
			put(e.index(e.s.Str("master_event_index"), time.Now().UTC()), "", value.MapOf(
				"tag", ev.Tag, "data", string(value.EncodeJSON(ev.Data)), "master_id", ev.Master, "@timestamp", ev.Data.At("_stamp")))
		}
	})
}
