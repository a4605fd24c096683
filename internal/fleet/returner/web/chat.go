package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/pyformat"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func newTelegram(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("token"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/bot" + url.PathEscape(s.Str("token")) + "/sendMessage"
	chat := s.Str("chat_id")
	return &each{client: c, send: func(ctx context.Context, r *value.Map) error {
		f := url.Values{"chat_id": {chat}, "text": {clip(message(r, value.Str), 4096)}}
		if thread := s.Str("thread_id"); thread != "" {
			f.Set("message_thread_id", thread)
		}
		_, err := c.form(ctx, to, f)
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

// preparePushover knows the setting profile.
func preparePushover(s returner.Settings) (returner.Settings, error) {
	s, err := s.WithProfile()
	if err == nil && s.Str("priority") == "2" && (s.Str("expire") == "" || s.Str("retry") == "") {
		err = errors.New("pushover.priority 2 needs pushover.expire and pushover.retry")
	}
	return s, err
}

func newPushover(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("token"), s.Str("user"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/" + s.Str("api_version") + "/messages.json"
	fixed := url.Values{"user": {s.Str("user")}, "token": {s.Str("token")}}
	for _, k := range []string{"title", "device", "priority", "expire", "retry", "sound"} {
		if v := s.Str(k); v != "" {
			fixed.Set(k, v)
		}
	}
	return &each{client: c, send: func(ctx context.Context, r *value.Map) error {
		f := url.Values{}
		maps.Copy(f, fixed)
		f.Set("message", clip(message(r, pformat), 1024))
		_, err := c.form(ctx, to, f)
		return err
	}}, nil
}

// maxMattermost is how much text a post has, in characters.
const maxMattermost = 16000

// newMattermost posts returns and events, in letters of one width.
// Salt: returners/mattermost_returner.py.
func newMattermost(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("hook"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/hooks/" + url.PathEscape(s.Str("hook"))
	post := func(ctx context.Context, text string) error {
		m := value.NewMap(3)
		for _, k := range []string{"channel", "username"} {
			if v := s.Str(k); v != "" {
				m.Set(k, v)
			}
		}
		m.Set("text", "```"+clip(text, maxMattermost)+"```")
		_, err := c.post(ctx, to, m)
		return err
	}
	return &eachEvent{
		each: each{client: c, send: func(ctx context.Context, r *value.Map) error { return post(ctx, message(r, value.Str)) }},
		send: func(ctx context.Context, e jobs.EventRow) error {
			var text strings.Builder
			text.WriteString("tag: " + e.Tag + "\r\n")
			for k, v := range e.Data.All() {
				text.WriteString(value.Str(k) + ": " + value.Str(v) + "\r\n")
			}
			return post(ctx, text.String())
		},
	}, nil
}

func newSlack(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	to := s.Str("webhook")
	if !strings.Contains(to, "://") {
		to = "https://hooks.slack.com/services/" + strings.TrimPrefix(to, "/")
	}
	secrets := []string{s.Str("webhook")}
	if u, err := url.Parse(to); err == nil && len(u.Path) > 1 {
		secrets = append(secrets, u.Path)
	}
	c := newClient(true, secrets...)
	return &each{client: c, send: func(ctx context.Context, r *value.Map) error {
		_, err := c.post(ctx, to, slackMessage(s, r))
		return err
	}}, nil
}

// maxSlack is how much text Slack shows, in characters.
const maxSlack = 39000

// prepareSlack knows the setting profile.
func prepareSlack(s returner.Settings) (returner.Settings, error) {
	s, err := s.WithProfile()
	if err == nil && s.Bool("changes") && s.Bool("only_show_failed") {
		err = errors.New("cannot define both slack.changes and slack.only_show_failed")
	}
	return s, err
}

// newSlackAPI posts by chat.postMessage.
// Salt: returners/slack_returner.py, utils/slack.py.
func newSlackAPI(_ context.Context, s returner.Settings) (jobs.Returner, error) {
	c := newClient(true, s.Str("api_key"))
	c.header.Set("Authorization", "Bearer "+s.Str("api_key"))
	to := strings.TrimSuffix(s.Str("api_url"), "/") + "/api/chat.postMessage"
	return &each{client: c, send: func(ctx context.Context, r *value.Map) error {
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
			return c.hide(fmt.Errorf("slack: %s", c.head(b)))
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
	text := pyformat.Pformat(v, 80)
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

// slackMessage is the message of a return: one attachment about the job, and
// one each for the states that changed nothing, that changed something and that
// failed. Salt: returners/slack_webhook_return.py. Difference: there a return
// that is not a run of states is a traceback; here it is the text of the first
// attachment.
func slackMessage(s returner.Settings, r *value.Map) *value.Map {
	states, _ := r.At("return").(*value.Map)
	isRun := isStates(states)
	var changed, failed []string
	var took float64
	for _, k := range byRunNum(states) {
		st, ok := states.At(k).(*value.Map)
		if !isRun || !ok {
			break
		}
		task := value.Str(st.At("__sls__")) + ".sls | " + stateID(k)
		if v, ok := st.Get("result"); ok && !value.Truth(v) {
			failed = append(failed, task)
		}
		if value.Truth(st.At("changes")) {
			changed = append(changed, task)
		}
		if d, err := value.ToFloat(st.At("duration")); err == nil {
			took += d / 1000
		}
	}
	success := jobs.Succeeded(r)
	title := s.Str("success_title")
	if !success {
		title = s.Str("failure_title")
	}
	text := "Function: " + r.Str("fun") + "\n"
	if l := r.List("fun_args"); l.Len() > 0 {
		args := value.NewList()
		for _, a := range l.Items {
			args.Append(value.Str(a))
		}
		text += "Function Args: " + value.Str(args) + "\n"
	}
	text += "JID: " + r.Str("jid") + "\n"
	if isRun {
		text += fmt.Sprintf("Total: %d\nDuration: %.2f secs", states.Len(), took)
	} else {
		text += "Return: " + clip(pformat(r.At("return")), 3000)
	}
	a := value.NewList(value.MapOf(
		"fallback", sprinkle(title, r), "color", "#272727", "author_name", r.Str("id"), "author_link", sprinkle("{localhost}", r),
		"author_icon", s.Str("author_icon"), "title", "Success: "+value.Str(success), "text", text,
	))
	part := func(color, name string, n int, tasks []string) {
		m := value.MapOf("color", color, "title", fmt.Sprintf("%s: %d", name, n))
		if s.Bool("show_tasks") && len(tasks) > 0 {
			l := value.NewList()
			for _, t := range tasks {
				l.Append(value.MapOf("value", t, "short", false))
			}
			m.Set("fields", l)
		}
		a.Append(m)
	}
	if isRun {
		part("good", "Unchanged", states.Len()-len(failed)-len(changed), nil)
		part("warning", "Changed", len(changed), changed)
		part("danger", "Failed", len(failed), failed)
	}
	return value.MapOf("attachments", a)
}

// byRunNum are the keys of a run of states in the order in which they ran.
func byRunNum(states *value.Map) []string {
	var keys []string
	var nums []int64
	for k, v := range states.All() {
		st, _ := v.(*value.Map)
		n, _ := value.AsInt(st.At("__run_num__"))
		at := len(nums)
		for at > 0 && nums[at-1] > n { // they mostly are in order
			at--
		}
		keys, nums = slices.Insert(keys, at, value.Str(k)), slices.Insert(nums, at, n)
	}
	return keys
}

// stateID is the ID in the tag of a state.
func stateID(tag string) string {
	if p := strings.Split(tag, "_|-"); len(p) > 1 {
		return p[1]
	}
	return tag
}

// sprinkle fills in what is known of a target: {id}, {host} and {localhost}.
// What is not known is left out. Salt: _sprinkle.
func sprinkle(s string, r *value.Map) string {
	host, _, _ := strings.Cut(r.Str("id"), ".")
	var parts []string
	for sub := range strings.SplitSeq(s, "{") {
		parts = append(parts, strings.Split(sub, "}")...)
	}
	for i := 1; i < len(parts); i += 2 {
		switch parts[i] {
		case "id":
			parts[i] = r.Str("id")
		case "host", "localhost":
			parts[i] = host
		default:
			parts[i] = ""
		}
	}
	return strings.Join(parts, "")
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

func newSplunk(_ context.Context, s returner.Settings) (jobs.Returner, error) {
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
		b = append(append(b, value.StrictJSON(p.event(r))...), '\n')
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
