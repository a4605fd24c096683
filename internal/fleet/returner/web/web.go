// Package web is the returners that speak to HTTP services: search engines,
// databases, chats.
package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
)

// requestTimeout bounds one request.
const requestTimeout = 10 * time.Second

// A client posts to one service.
type client struct {
	http   *http.Client
	header http.Header
	user   *url.Userinfo
	// secrets are taken out of errors, which may quote URLs.
	secrets []string
}

func newClient(verify bool, secrets ...string) *client {
	c := &client{http: &http.Client{Timeout: requestTimeout, CheckRedirect: sameHost}, header: http.Header{}}
	for _, s := range secrets {
		if s != "" {
			c.secrets = append(c.secrets, s)
		}
	}
	c.sortSecrets()
	if !verify {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the user's own verify_ssl: False
		c.http.Transport = t
	}
	return c
}

// sameHost refuses redirects to another host or from https to http: requests
// have tokens in headers and returns in their body, which are for one service.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > 10 || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme && req.URL.Scheme != "https" {
		return errors.New("it answers with a redirect to another host, which is not followed")
	}
	return nil
}

// sortSecrets puts the longest first: one may be a part of another.
func (c *client) sortSecrets() {
	sort.Slice(c.secrets, func(i, j int) bool { return len(c.secrets[i]) > len(c.secrets[j]) })
}

// as has requests say who sends them.
func (c *client) as(user, pass string) {
	if user == "" {
		return
	}
	c.user = url.UserPassword(user, pass)
	if pass != "" {
		c.secrets = append(c.secrets, base64.StdEncoding.EncodeToString([]byte(user+":"+pass)))
		c.sortSecrets()
	}
}

// Close gives connections back.
func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// maxAnswer bounds an answer that is read, in bytes.
const maxAnswer = 16 << 20

// do sends a request and returns the answer. A status that is none of 2xx is an
// error with the beginning of the answer.
func (c *client) do(ctx context.Context, method, to, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, c.hide(err)
	}
	maps.Copy(req.Header, c.header)
	if c.user != nil {
		pass, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), pass)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &unreached{c.hide(err)}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, c.hide(err)
	}
	if res.StatusCode/100 == 2 {
		return b, nil
	}
	err = &statusError{c.hide(fmt.Errorf("%s: %s: %s", req.URL.Host, res.Status, c.head(b))), res.StatusCode, reason(b)}
	switch res.StatusCode {
	case http.StatusRequestEntityTooLarge:
		return b, jobs.TooLarge(err)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		// It is the request that is wrong: the same one will be wrong later.
		return b, jobs.Refused(err)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return b, &busy{err, retryAfter(res.Header.Get("Retry-After"), time.Now())}
	}
	return b, err
}

// A statusError is a status that is none of 2xx.
type statusError struct {
	error
	code   int
	reason string // the type of the error, where the service is Elasticsearch
}

// Blameless says that a status below 500 is of who asks and where, not of what is
// sent: what a service does not want has a status of its own.
func (s *statusError) Blameless() bool { return s.code < http.StatusInternalServerError }

// reason returns the type of error that an answer of Elasticsearch names.
func reason(answer []byte) string {
	var a struct {
		Error struct{ Type string }
	}
	if json.Unmarshal(answer, &a) != nil {
		return ""
	}
	return a.Error.Type
}

// A busy service says when to try again.
type busy struct {
	error
	after time.Duration
}

// RetryAfter is how long the service wants to be left alone.
func (b *busy) RetryAfter() time.Duration { return b.after }

// retryAfter reads a header: a number of seconds, or a date; 0 for what is
// neither.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// head is the beginning of an answer, without secrets.
func (c *client) head(b []byte) string {
	s := strings.TrimSpace(c.clean(string(b[:min(len(b), 64<<10)])))
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "..."
	}
	return s
}

// clean takes secrets out of text.
func (c *client) clean(s string) string {
	for _, x := range c.secrets {
		for _, form := range []string{x, url.PathEscape(x), url.QueryEscape(x)} {
			s = strings.ReplaceAll(s, form, "***")
		}
	}
	return s
}

// hide takes secrets out of an error's text.
func (c *client) hide(err error) error {
	s := c.clean(err.Error())
	if s == err.Error() {
		return err
	}
	return errors.New(s)
}

// An unreached service gave no answer.
type unreached struct{ error }

// Unwrap returns what went wrong.
func (u *unreached) Unwrap() error { return u.error }

// Blameless marks the error as not the fault of a row.
func (u *unreached) Blameless() bool { return true }

const (
	asJSON = "application/json"
	asForm = "application/x-www-form-urlencoded"
)

// post sends a dict as JSON.
func (c *client) post(ctx context.Context, to string, v value.Value) ([]byte, error) {
	return c.do(ctx, http.MethodPost, to, asJSON, value.StrictJSON(v))
}

// form sends fields as a form.
func (c *client) form(ctx context.Context, to string, fields url.Values) ([]byte, error) {
	return c.do(ctx, http.MethodPost, to, asForm, []byte(fields.Encode()))
}

// message is the text of a return for people: what the function returned as
// Python prints it, on one line or on several.
// Salt: returners/telegram_return.py, pushover_returner.py and others.
func message(r *value.Map, print func(value.Value) string) string {
	return fmt.Sprintf("id: %s\r\nfunction: %s\r\nfunction args: %s\r\njid: %s\r\nreturn: %s\r\n",
		r.Str("id"), r.Str("fun"), value.Str(r.At("fun_args")), r.Str("jid"), print(r.At("return")))
}

// pformat is Python's pprint.pformat.
func pformat(v value.Value) string { return pyformat.Pformat(v, 80) }

// each stores returns one by one.
type each struct {
	*client
	send func(ctx context.Context, r *value.Map) error
}

// Return sends a request a return.
func (e *each) Return(ctx context.Context, rets []*value.Map) error {
	for i, r := range rets {
		if err := e.send(ctx, r); err != nil {
			return &jobs.PartialError{N: i, Err: err}
		}
	}
	return nil
}

// eachEvent is an each that stores events, too.
type eachEvent struct {
	each
	send func(ctx context.Context, e jobs.EventRow) error
}

// SaveEvents sends a request an event.
func (e *eachEvent) SaveEvents(ctx context.Context, events []jobs.EventRow) error {
	for i, ev := range events {
		if err := e.send(ctx, ev); err != nil {
			return &jobs.PartialError{N: i, Err: err}
		}
	}
	return nil
}

// Specs returns the returners.
func Specs() []returner.Spec {
	return []returner.Spec{
		{
			Name: "couchdb", Doc: "Store returns in CouchDB, a document each.", Src: "returners/couchdb_return.py", New: newCouch,
			Keys: returner.Keys(`
				db@ = salt -- the database
				url@ = http://salt:5984/ -- the server
				user -- account
				passwd! -- its password
			`),
		},
		{
			Name: "elasticsearch", Doc: "Store returns and events in Elasticsearch.", Src: "returners/elasticsearch_return.py", New: newElastic,
			Keys: returner.Keys(`
				hosts@ = localhost:9200 -- servers, the first that answers is used
				user -- account
				password! -- its password
				index_date = False -- put the date into the names of indices
				functions_blacklist -- list of functions whose returns are left out
				number_of_shards = 1 -- shards of an index that is made
				number_of_replicas = 0 -- its replicas
				states_count = False -- count the states that succeeded and failed, as counts
				states_order_output = False -- put numbers in front of the tags of states, in indices of their own
				states_single_index = False -- one index for state.apply, state.sls and state.highstate
				master_event_index@ = salt-master-event-cache -- index of events
				master_job_cache_index@ = salt-master-job-cache -- index of loads
			`),
		},
		{
			Name: "etcd", Doc: "Store returns in etcd by its version 3 API.", Src: "returners/etcd_return.py", New: newEtcd, Prepare: prepareEtcd, Where: etcdWhere, Reads: true,
			Keys: returner.Keys(`
				host@ = "127.0.0.1" -- the server, or its URL
				port@ = 2379 -- its port
				protocol = http -- http or https
				username -- account
				password! -- its password
				ttl# -- seconds that keys live
				ca -- file with the certificates that are trusted
				client_cert -- file with the client's certificate
				client_key -- file with its key
				returner -- name of a profile: a dict in the configuration with these settings
				returner_root = /salt/return -- path that keys begin with
				returner_read_profile -- profile to read with
				returner_write_profile -- profile to write with
			`),
		},
		{
			Name: "influxdb", Doc: "Store returns in InfluxDB 1, a point each.", Src: "returners/influxdb_return.py", New: newInflux,
			Keys: returner.Keys(`
				db@ = salt -- the database
				host@ = localhost -- the server
				port@ = 8086 -- its port
				user -- account
				password! -- its password
			`),
		},
		{
			Name: "mattermost", Doc: "Post returns to Mattermost by an incoming webhook.", Src: "returners/mattermost_returner.py", New: newMattermost,
			Keys: returner.Keys(`
				hook*! -- id of the webhook
				api_url*@ -- the server
				username -- name to post as
				channel@ -- channel to post to
			`),
		},
		{
			Name: "nagios_nrdp", Aliases: []string{"nagios", "nagios_nrdp_return"}, Doc: "Submit returns to Nagios by NRDP.", Src: "returners/nagios_nrdp_return.py", New: newNagios,
			Keys: returner.Keys(`
				url*@ -- the NRDP service
				token*! -- its token
				service@ -- name of the service; without one the state is the host's
				checktype -- passive (default) or active
				check_type -- the same
			`),
		},
		{
			Name: "pushover", Doc: "Send returns by Pushover.", Src: "returners/pushover_returner.py", New: newPushover, Prepare: preparePushover,
			Keys: returner.Keys(`
				user*! -- key of the user or group
				token*! -- token of the application
				title -- title of the message
				device@ -- device to send to
				priority# = "0" -- -2 to 2; 2, an emergency, needs expire and retry
				expire# -- seconds until an emergency is given up
				retry# -- seconds between repetitions of an emergency
				sound -- name of the sound
				api_version = 1 -- version of the interface
				api_url@ = https://api.pushover.net -- the service
				profile -- name of a dict in the configuration with further settings
			`),
		},
		{
			Name: "slack", Doc: "Post returns to Slack by its API.", Src: "returners/slack_returner.py", New: newSlackAPI, Prepare: prepareSlack,
			Keys: returner.Keys(`
				channel@ = #general -- channel to post to
				api_key*! -- token of the bot
				username* -- name to post as
				as_user -- post as the user of the token
				profile -- name of a dict in the configuration with further settings
				changes = False -- of states only those that changed something or failed
				only_show_failed = False -- of states only those that failed
				yaml_format = False -- print the return as YAML
				api_url@ = https://slack.com -- the service
			`),
		},
		{
			Name: "slack_webhook", Doc: "Post returns to Slack by an incoming webhook.", Src: "returners/slack_webhook_return.py", New: newSlack,
			Keys: returner.Keys(`
				webhook*! -- the webhook: what follows https://hooks.slack.com/services/, or a whole URL
				success_title = {id} | Succeeded -- title of a return that is a success
				failure_title = {id} | Failed -- title of one that is none
				author_icon -- URL of an icon
				show_tasks = False -- name the states that changed something or failed
			`),
		},
		{
			Name: "splunk", Doc: "Send returns to Splunk's HTTP event collector.", Src: "returners/splunk.py", New: newSplunk,
			Prepare: func(s returner.Settings) (returner.Settings, error) { return s.WithDict("splunk_http_forwarder"), nil },
			Keys: returner.Keys(`
				token*! -- token of the collector
				indexer*@ -- host of the collector, or its URL
				sourcetype -- source type
				index@ -- the index
				verify_ssl = True -- check the server's certificate
			`),
		},
		{
			Name: "telegram", Doc: "Send returns to a Telegram chat.", Src: "returners/telegram_return.py", New: newTelegram,
			Keys: returner.Keys(`
				chat_id*@ -- the chat
				token*! -- token of the bot
				thread_id@ -- thread of the chat
				api_url@ = https://api.telegram.org -- the service
			`),
		},
	}
}

var (
	_ jobs.Returner   = (*each)(nil)
	_ jobs.EventSaver = (*eachEvent)(nil)
	_ jobs.EventSaver = (*elastic)(nil)
)
