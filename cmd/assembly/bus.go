//go:build !slim

package assembly

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/fleet/bus"
	"brine/internal/fleet/bus/natsbus"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/fleet/returner/tlsconf"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// natsStore is the store of an event_bus that is not a returner.
const natsStore = "nats"

// busSettings reads the option event_bus: the name of its store, its settings, and the tags
// that it carries. The name is "" where there is none.
func busSettings(env *fun.Env) (name string, set *value.Map, carried []string, err error) {
	set = value.NewMap(4)
	switch v := env.Opts.At("event_bus").(type) {
	case nil:
		return "", nil, nil, nil
	case string:
		if strings.Contains(v, "://") {
			set.Set("url", v)
		} else {
			set.Set("store", v)
		}
	case *value.Map:
		set = v.Copy()
	default:
		return "", nil, nil, fmt.Errorf("event_bus: %s is not a store such as postgres, a URL such as nats://nats1:4222, or a mapping", value.Repr(v))
	}
	switch tags := set.At("tags").(type) {
	case nil:
	case string:
		carried = jobs.Names(tags)
	case *value.List:
		for _, t := range tags.Items {
			carried = append(carried, value.Str(t))
		}
	default:
		return "", nil, nil, fmt.Errorf("event_bus: tags: %s is not a list of globs", value.Repr(tags))
	}
	name = set.Str("store")
	set.Delete("store")
	set.Delete("tags")
	if name == "" {
		name = "postgres"
		if set.Has("url") {
			name = natsStore
		}
	}
	return name, set, carried, nil
}

// OpenBus opens the bus between controllers that the option event_bus names; nil
// where there is none. The error is one of configuration.
func OpenBus(ctx context.Context, env *fun.Env, o bus.Options) (*bus.Bus, error) {
	name, set, carried, err := busSettings(env)
	if err != nil || name == "" {
		return nil, err
	}
	o.Tags = carried
	switch name {
	case natsStore:
		opt, err := natsOptions(set, env.Opts.Str("config_dir"))
		if err != nil {
			return nil, fmt.Errorf("event_bus: %w", err)
		}
		opt.Name, opt.From = "brine "+env.ID, o.From
		l, err := natsbus.New(opt)
		if err != nil {
			return nil, fmt.Errorf("event_bus: %w", err)
		}
		return bus.Open(ctx, l, o), nil
	case "postgres", "pgjsonb":
		if err := UnknownSettings("event_bus", []string{name}, set); err != nil {
			return nil, err
		}
		checked, err := CheckSettings(ctx, env, name, returner.Settings{Kwargs: set})
		if err != nil {
			return nil, fmt.Errorf("event_bus: %w", err)
		}
		return sqldb.OpenBus(ctx, checked, o)
	}
	return nil, fmt.Errorf("event_bus: %q is neither postgres nor pgjsonb, nor a URL such as nats://nats1:4222%s",
		name, source.DidYouMean(name, []string{"postgres", "pgjsonb", natsStore}))
}

// natsKeys are the settings of a bus over NATS, besides store and tags.
var natsKeys = []string{
	"url", "subject", "stream", "user", "password", "password_env", "password_file", "token", "token_env", "token_file",
	"credentials_file", "nkey_file", "ca", "client_cert", "client_key", "tls",
}

var (
	natsSubject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`) })
	natsStream  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })
)

// natsOptions reads the settings of a bus over NATS. Relative paths begin in dir.
func natsOptions(set *value.Map, dir string) (o natsbus.Options, err error) {
	for k, v := range set.All() {
		key := value.Str(k)
		if !slices.Contains(natsKeys, key) {
			return o, fmt.Errorf("%s has no setting %q%s", natsStore, key, source.DidYouMean(key, append([]string{"store", "tags"}, natsKeys...)))
		}
		if _, list := v.(*value.List); list && key != "url" {
			return o, fmt.Errorf("%s must not be a list", key)
		}
	}
	far, secure, err := natsURL(&o, set.At("url"))
	if err != nil {
		return o, err
	}
	o.Prefix, o.Stream, o.User = "brine", set.Str("stream"), set.Str("user")
	if s := set.Str("subject"); s != "" {
		o.Prefix = s
	}
	if !natsSubject().MatchString(o.Prefix) || len(o.Prefix) > 200 {
		return o, fmt.Errorf("subject: %q is not a subject of letters, digits, '_', '-' and dots between them", o.Prefix)
	}
	if o.Stream != "" && !natsStream().MatchString(o.Stream) {
		return o, fmt.Errorf("stream: %q is not a name of letters, digits, '_' and '-'", o.Stream)
	}
	if err := natsSecrets(&o, set, dir); err != nil {
		return o, err
	}
	var files tlsconf.Files
	for key, at := range map[string]*string{"ca": &files.CA, "client_cert": &files.Cert, "client_key": &files.Key} {
		if p := set.Str(key); p != "" {
			*at = saltapi.Absolute(dir, p)
		}
	}
	// Over a network, TLS is a must unless the configuration says otherwise.
	secure = secure || far || files.Given()
	if v, ok := set.At("tls").(bool); ok {
		if !v && files.Given() {
			return o, errors.New("ca, client_cert and client_key are for TLS, and tls is False")
		}
		secure = v
	} else if set.At("tls") != nil {
		return o, fmt.Errorf("tls must be True or False, not %s", value.Repr(set.At("tls")))
	}
	if secure {
		if o.TLS, err = files.Config(""); err != nil {
			return o, fmt.Errorf("ca, client_cert, client_key: %w", err)
		}
	}
	return o, nil
}

// natsURL reads the servers: far says that one of them is not on this machine,
// secure that one has to speak TLS.
func natsURL(o *natsbus.Options, v value.Value) (far, secure bool, err error) {
	var list []string
	switch v := v.(type) {
	case string:
		list = strings.Split(v, ",")
	case *value.List:
		for _, x := range v.Items {
			list = append(list, value.Str(x))
		}
	}
	if len(list) == 0 {
		return false, false, errors.New("url is missing: nats://HOST:4222, or a list of the servers of a cluster")
	}
	for i, text := range list {
		text = strings.TrimSpace(text)
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return false, false, errors.New("url cannot be read: it is nats://HOST:4222 or tls://HOST:4222")
		case u.User != nil:
			return false, false, errors.New("url must have no user and password; user and password_file are settings of their own")
		case u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.Contains(text, ","):
			return false, false, fmt.Errorf("url must be nats://HOST:4222 or tls://HOST:4222, not %q", text)
		}
		far = far || !tlsconf.Local(u.Hostname())
		secure = secure || u.Scheme == "tls"
		list[i] = text
	}
	o.URL = strings.Join(list, ",")
	return far, secure, nil
}

// natsSecrets reads who the controller is to the server.
func natsSecrets(o *natsbus.Options, set *value.Map, dir string) error {
	var credentials, nkey string
	var ways []string
	for _, s := range []struct {
		name string
		keys []string
		at   *string
	}{
		{"password", []string{"password", "password_env", "password_file"}, &o.Password},
		{"token", []string{"token", "token_env", "token_file"}, &o.Token},
		{"credentials", []string{"credentials_file"}, &credentials},
		{"nkey", []string{"nkey_file"}, &nkey},
	} {
		given := ""
		for _, key := range s.keys {
			v := set.At(key)
			if v == nil {
				continue
			}
			if given != "" {
				return fmt.Errorf("%s and %s both say what the %s is; give one of them", given, key, s.name)
			}
			given = key
			text, err := saltapi.Secret(key, value.Str(v), s.name, dir, os.Getenv)
			switch {
			case err != nil:
				return err
			case text == "":
				return fmt.Errorf("%s is empty", key)
			}
			*s.at = text
			ways = append(ways, key)
		}
	}
	switch {
	case len(ways) > 1:
		return fmt.Errorf("%s and %s are both given; give one of them", ways[0], ways[1])
	case o.User != "" && o.Password == "":
		return errors.New("user has no password: give password (an sdb:// URI), password_env or password_file")
	case o.User == "" && o.Password != "":
		return errors.New("password has no user")
	}
	if credentials != "" {
		o.Credentials = []byte(credentials)
	}
	if nkey != "" {
		o.NKey = []byte(strings.TrimSpace(nkey))
	}
	return nil
}
