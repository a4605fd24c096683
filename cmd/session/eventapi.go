package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/cmd/app"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/fleet/bus"
	"brine/internal/fleet/returner/tlsconf"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// eventAPI is the option that says to which controller this machine sends its events.
const eventAPI = "event_api"

// eventAPIKeys are its settings.
var eventAPIKeys = []string{"url", "token_file", "ca"}

// postTime bounds how long a controller may take to take an event.
const postTime = 20 * time.Second

// PostEvents has the events that functions of a run send go to the controller that the option
// event_api names, by a token of its API.
func (s *Session) PostEvents(env *fun.Env) error {
	v := s.Cfg.Opts.At(eventAPI)
	if v == nil {
		return nil
	}
	post, err := poster(v, s.Cfg.Opts.Str("config_dir"), s.Secrets.Add)
	if err != nil {
		return &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("%s: %w", eventAPI, err),
			Hint: "write 'event_api: {url: https://ctl.example.com:8443, token_file: event.token}'; 'brine docs ui/api' describes it",
		}
	}
	env.Post = post
	return nil
}

// poster reads the option. Relative paths begin in dir; secret takes what nothing may show.
func poster(v value.Value, dir string, secret func(...string)) (func(context.Context, string, *value.Map) error, error) {
	set, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("%s is not a mapping", value.Repr(v))
	}
	for k := range set.All() {
		if key := value.Str(k); !slices.Contains(eventAPIKeys, key) {
			return nil, fmt.Errorf("there is no setting %q%s", key, source.DidYouMean(key, eventAPIKeys))
		}
	}
	u, err := url.Parse(set.Str("url"))
	switch {
	case set.Str("url") == "":
		return nil, errors.New("url is missing: https://HOST:PORT of brine ui")
	case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("url must be https://HOST:PORT, without user and password")
	case u.Scheme == "http" && !tlsconf.Local(u.Hostname()):
		return nil, fmt.Errorf("url: %s is not on this machine, and a token goes over a network by https alone", u.Host)
	case set.Str("token_file") == "":
		return nil, errors.New("token_file is missing: a file of mode 0600 with what 'brine ui token add' printed")
	}
	var files tlsconf.Files
	if ca := set.Str("ca"); ca != "" {
		files.CA = saltapi.Absolute(dir, ca)
	}
	conf, err := files.Config("")
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	client := &http.Client{
		Timeout: postTime, Transport: &http.Transport{TLSClientConfig: conf, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it leads elsewhere, and the token stays here")
		},
	}
	to := strings.TrimSuffix(u.String(), "/") + "/api/v1/events"
	return func(ctx context.Context, tag string, data *value.Map) error {
		token, err := saltapi.Secret("token_file", set.Str("token_file"), "token", dir, os.Getenv)
		if token = strings.TrimSpace(token); err == nil && token == "" {
			err = fmt.Errorf("token_file: %s is empty", filepath.Join(dir, set.Str("token_file")))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", eventAPI, err)
		}
		secret(token)
		body, err := bus.Encode(value.MapOf("tag", tag, "data", data))
		if err != nil {
			return err
		}
		if err := postEvent(ctx, client, to, token, body); err != nil {
			return fmt.Errorf("%s: %s does not take the event %s: %w", eventAPI, u.Host, printable.Line(tag), err)
		}
		return nil
	}, nil
}

// postEvent sends an event; an error says what the controller says.
func postEvent(ctx context.Context, client *http.Client, to, token string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil || res.StatusCode == http.StatusOK {
		return err
	}
	var problem struct{ Detail, Hint string }
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("it answers %s; is this the address of 'brine ui --tokens'?", res.Status)
	}
	said := strings.ReplaceAll(problem.Detail+" "+problem.Hint, token, "**********") // it may say all that it got
	return errors.New(printable.Line(strings.TrimSpace(said)))
}
