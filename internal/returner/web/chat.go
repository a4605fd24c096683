package web

import (
	"context"
	"net/url"
	"strings"

	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/returner"
	"brine/internal/value"
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
