package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

func newTelegram(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	if err := need(s, "chat_id", "token"); err != nil {
		return nil, err
	}
	c := newClient(true, s.Str("token"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/bot" + url.PathEscape(s.Str("token")) + "/sendMessage"
	chat := s.Str("chat_id")
	return &each{c, func(ctx context.Context, r *value.Map) error {
		_, err := c.form(ctx, to, url.Values{"chat_id": {chat}, "text": {clip(message(r), 4096)}})
		return err
	}}, nil
}

// clip cuts text down to what a service takes, in characters.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-3]) + "..."
}

func newPushover(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	if err := need(s, "user", "token"); err != nil {
		return nil, err
	}
	c := newClient(true, s.Str("token"), s.Str("user"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/1/messages.json"
	fixed := url.Values{"user": {s.Str("user")}, "token": {s.Str("token")}}
	for _, k := range []string{"title", "device", "priority", "expire", "retry"} {
		if v := s.Str(k); v != "" {
			fixed.Set(k, v)
		}
	}
	return &each{c, func(ctx context.Context, r *value.Map) error {
		f := url.Values{}
		for k, v := range fixed {
			f[k] = v
		}
		f.Set("message", clip(message(r), 1024))
		_, err := c.form(ctx, to, f)
		return err
	}}, nil
}

func newMattermost(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	if err := need(s, "hook", "api_url"); err != nil {
		return nil, err
	}
	c := newClient(true, s.Str("hook"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/hooks/" + url.PathEscape(s.Str("hook"))
	return &each{c, func(ctx context.Context, r *value.Map) error {
		m := value.MapOf("text", clip(message(r), 16000))
		for _, k := range []string{"username", "channel"} {
			if v := s.Str(k); v != "" {
				m.Set(k, v)
			}
		}
		_, err := c.post(ctx, to, m)
		return err
	}}, nil
}

func newSlack(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	if err := need(s, "webhook"); err != nil {
		return nil, err
	}
	c := newClient(true, s.Str("webhook"))
	to := s.Str("webhook")
	if !strings.Contains(to, "://") {
		to = "https://hooks.slack.com/services/" + strings.TrimPrefix(to, "/")
	}
	return &each{c, func(ctx context.Context, r *value.Map) error {
		_, err := c.post(ctx, to, slackMessage(s, r))
		return err
	}}, nil
}

// maxSlack is how much text Slack shows, in characters.
const maxSlack = 39000

// newSlackAPI posts by chat.postMessage.
// Salt: returners/slack_returner.py, utils/slack.py.
func newSlackAPI(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	if p := s.Str("profile"); p != "" {
		m := s.Env.Opts.Map(p)
		if m == nil {
			return nil, fmt.Errorf("slack.profile: the configuration has no dict %q", p)
		}
		kw := value.NewMap(m.Len())
		for k, v := range m.All() {
			kw.Set(strings.TrimPrefix(value.Str(k), "slack."), v)
		}
		kw.Update(s.Kwargs)
		s.Kwargs = kw
	}
	if err := need(s, "api_key", "username"); err != nil {
		return nil, err
	}
	if s.Bool("changes") && s.Bool("only_show_failed") {
		return nil, errors.New("cannot define both slack.changes and slack.only_show_failed")
	}
	c := newClient(true, s.Str("api_key"))
	c.header.Set("Authorization", "Bearer "+s.Str("api_key"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/api/chat.postMessage"
	return &each{c, func(ctx context.Context, r *value.Map) error {
		text, err := slackText(s, r)
		if err != nil {
			return err
		}
		f := url.Values{"channel": {s.Str("channel")}, "username": {s.Str("username")}, "text": {"```" + clip(text, maxSlack) + "```"}}
		if s.Value("as_user") != nil {
			f.Set("as_user", strconv.FormatBool(s.Bool("as_user")))
		}
		b, err := c.form(ctx, to, f)
		if err != nil {
			return err
		}
		// Faults come with status 200, too.
		v, err := value.ParseJSON(string(b))
		m, _ := v.(*value.Map)
		if err != nil || m.At("ok") != true {
			return c.hide(fmt.Errorf("slack: %s", head(b)))
		}
		return nil
	}}, nil
}

// slackText is the text of a return, with those of its states that are wanted.
func slackText(s returner.Settings, r *value.Map) (string, error) {
	v := r.At("return")
	if states, _ := v.(*value.Map); isStates(states) && (s.Bool("changes") || s.Bool("only_show_failed")) {
		some := value.NewMap(states.Len())
		for k, x := range states.All() {
			st := x.(*value.Map)
			if st.At("result") != true || s.Bool("changes") && value.Truth(st.At("changes")) {
				some.Set(k, st)
			}
		}
		v = some
	}
	text := value.Pformat(v, 80)
	if s.Bool("yaml_format") {
		o := yamlsalt.SafeOptions()
		o.FlowStyle = yamlsalt.FlowNever
		var err error
		if text, err = yamlsalt.Dump(v, o); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("id: %s\r\nfunction: %s\r\nfunction args: %s\r\njid: %s\r\nreturn: %s\r\n",
		r.Str("id"), r.Str("fun"), value.Str(r.At("fun_args")), r.Str("jid"), text), nil
}

// slackMessage makes the attachment of a return.
// Salt: returners/slack_webhook_return.py.
func slackMessage(s returner.Settings, r *value.Map) *value.Map {
	title, color := s.Str("success_title"), "good"
	if !jobs.Succeeded(r) || failedStates(r.At("return")) {
		title, color = s.Str("failure_title"), "danger"
	}
	title = strings.ReplaceAll(title, "{id}", r.Str("id"))
	field := func(name, v string) *value.Map { return value.MapOf("title", name, "value", v, "short", true) }
	a := value.MapOf(
		"fallback", title, "color", color, "title", title, "author_name", r.Str("id"),
		"fields", value.NewList(field("function", r.Str("fun")), field("jid", r.Str("jid"))),
	)
	if icon := s.Str("author_icon"); icon != "" {
		a.Set("author_icon", icon)
	}
	text := ""
	states, _ := r.At("return").(*value.Map)
	if s.Bool("show_tasks") && isStates(states) {
		for _, v := range states.All() {
			st := v.(*value.Map)
			if st.At("result") == false || value.Truth(st.At("changes")) {
				text += "• " + value.Str(st.At("__id__")) + ": " + value.Str(st.At("comment")) + "\n"
			}
		}
	} else if !isStates(states) {
		text = pretty(r.At("return"))
	}
	if text != "" {
		a.Set("text", clip(text, 3000))
	}
	return value.MapOf("attachments", value.NewList(a))
}

// isStates reports whether a return is that of a state run.
func isStates(m *value.Map) bool {
	for _, v := range m.All() {
		if st, ok := v.(*value.Map); !ok || !st.Has("result") {
			return false
		}
	}
	return m.Len() > 0
}

func failedStates(v value.Value) bool {
	m, _ := v.(*value.Map)
	if !isStates(m) {
		return false
	}
	for _, st := range m.All() {
		if st.(*value.Map).At("result") == false {
			return true
		}
	}
	return false
}

func newSplunk(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	// Salt's settings stand in a dict of another name.
	if m := s.Env.Opts.Map("splunk_http_forwarder"); m != nil {
		kw := m.Copy()
		kw.Update(s.Kwargs)
		s.Kwargs = kw
	}
	if err := need(s, "token", "indexer"); err != nil {
		return nil, err
	}
	c := newClient(s.Bool("verify_ssl"), s.Str("token"))
	c.header.Set("Authorization", "Splunk "+s.Str("token"))
	to := s.Str("indexer")
	if !strings.Contains(to, "://") {
		to = "https://" + to + ":8088"
	}
	to = strings.TrimSuffix(to, "/") + "/services/collector/event"
	return &splunk{client: c, to: to, s: s}, nil
}

type splunk struct {
	*client
	to string
	s  returner.Settings
}

// Return sends all returns in one request: the collector takes events one after
// another.
func (p *splunk) Return(ctx context.Context, rets []*value.Map) error {
	var b []byte
	for _, r := range rets {
		b = append(append(b, value.EncodeJSON(p.event(r))...), '\n')
	}
	_, err := p.do(ctx, "POST", p.to, asJSON, b)
	return err
}

func (p *splunk) event(r *value.Map) *value.Map {
	e := value.NewMap(5)
	for _, k := range []string{"index", "sourcetype"} {
		if v := p.s.Str(k); v != "" {
			e.Set(k, v)
		}
	}
	e.Set("host", hostOf(p.s.Env))
	if t, ok := jobs.Time(r.Str("jid")); ok {
		e.Set("time", t.Unix())
	}
	e.Set("event", r)
	return e
}

func hostOf(env *fun.Env) string {
	if env.Host != nil {
		if h, err := env.Host.Hostname(); err == nil {
			return h
		}
	}
	return env.ID
}
