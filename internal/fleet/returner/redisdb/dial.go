package redisdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"brine/internal/core/sdb"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/tlsconf"
	"brine/internal/py/value"
)

const (
	dialTimeout  = 5 * time.Second
	sentinelPort = 26379
)

// prepare checks the settings.
func prepare(s returner.Settings) (returner.Settings, error) {
	if s.Bool("cluster_mode") && s.Str("sentinel.master") != "" {
		return s, errors.New("redis.cluster_mode and redis.sentinel.master: the servers are a cluster or have sentinels, not both")
	}
	if s.Str("sentinel.master") != "" && s.Value("sentinel.nodes") == nil {
		return s, errors.New("redis.sentinel.nodes must be configured beside redis.sentinel.master")
	}
	_, err := options(s)
	return s, err
}

// options are those of a client for the settings.
func options(s returner.Settings) (*redis.UniversalOptions, error) {
	o := &redis.UniversalOptions{
		Addrs: []string{net.JoinHostPort(s.Str("host"), strconv.Itoa(s.Int("port")))},
		DB:    s.Int("db"), Username: s.Str("username"), Password: s.Str("password"),
		DialTimeout: dialTimeout, ReadTimeout: 4 * dialTimeout, WriteTimeout: 4 * dialTimeout, ContextTimeoutEnabled: true,
		PoolSize: 2, DialerRetries: 1, DisableIdentity: true,
		MaxRetries:               -1, // who hands rows over tries again
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	var err error
	if o.TLSConfig, err = tlsOf(s); err != nil {
		return nil, err
	}
	switch {
	case s.Bool("cluster_mode"):
		o.IsClusterMode, o.DB = true, 0
		o.MaxRetries = 1 // a slot that moved is looked for once more
		if v := s.Value("cluster.startup_nodes"); v != nil {
			o.Addrs, err = nodes("redis.cluster.startup_nodes", v, s.Int("port"))
		}
	case s.Str("sentinel.master") != "":
		o.MasterName = s.Str("sentinel.master")
		o.SentinelUsername, o.SentinelPassword = s.Str("sentinel.username"), s.Str("sentinel.password")
		o.Addrs, err = nodes("redis.sentinel.nodes", s.Value("sentinel.nodes"), sentinelPort)
	case s.Str("unix_socket_path") != "":
		o.Addrs = []string{s.Str("unix_socket_path")}
		o.TLSConfig = nil
	}
	return o, err
}

// tlsOf returns the TLS of the settings; nil is none.
func tlsOf(s returner.Settings) (*tls.Config, error) {
	files := tlsconf.Files{CA: s.Str("ssl_ca"), Cert: s.Str("ssl_cert"), Key: s.Str("ssl_key")}
	want := strings.ToLower(s.Str("tls"))
	switch {
	case want == "" && !files.Given(), want == "false":
		return nil, nil
	case want == "", want == "true", want == "skip-verify":
	default:
		return nil, fmt.Errorf("redis.tls: %q is none of True, False and skip-verify", s.Str("tls"))
	}
	c, err := files.Config("") // each server of a cluster has a name of its own
	if err != nil {
		return nil, fmt.Errorf("redis.ssl_ca, redis.ssl_cert, redis.ssl_key: %w", err)
	}
	c.InsecureSkipVerify = want == "skip-verify"
	return c, nil
}

// nodes reads a list of servers.
func nodes(key string, v value.Value, port int) ([]string, error) {
	list, ok := v.(*value.List)
	if !ok || list.Len() == 0 {
		return nil, fmt.Errorf("%s: %s is not a list of servers such as [{host: a.example.org, port: %d}]", key, value.Repr(v), port)
	}
	var out []string
	for _, x := range list.Items {
		host, at := "", int64(port)
		switch x := x.(type) {
		case *value.Map:
			host = x.Str("host")
			if n, err := value.ToInt(x.At("port")); x.Has("port") && err == nil {
				at, _ = value.AsInt(n)
			}
		case string:
			host = x
			if h, p, err := net.SplitHostPort(x); err == nil {
				host = h
				if at, err = strconv.ParseInt(p, 10, 32); err != nil {
					host = ""
				}
			}
		}
		if host == "" || at <= 0 || at > 65535 {
			return nil, fmt.Errorf("%s: %s is not a server: host and port are expected", key, value.Repr(x))
		}
		out = append(out, net.JoinHostPort(host, strconv.FormatInt(at, 10)))
	}
	return out, nil
}

// dial returns a client that reached its server.
func dial(ctx context.Context, s returner.Settings) (redis.UniversalClient, error) {
	o, err := options(s)
	if err != nil {
		return nil, err
	}
	sdb.QuietRedis()
	var c redis.UniversalClient
	switch {
	case o.IsClusterMode:
		c = redis.NewClusterClient(o.Cluster())
	case o.MasterName != "":
		c = redis.NewFailoverClient(o.Failover())
	default:
		simple := o.Simple()
		if p := s.Str("unix_socket_path"); p != "" {
			simple.Network, simple.Addr = "unix", p
		}
		c = redis.NewClient(simple)
	}
	if err := c.Ping(ctx).Err(); err != nil {
		_ = c.Close()
		return nil, fault(ctx, err, o.TLSConfig != nil)
	}
	return c, nil
}

// Dial connects to the server of the settings, which need no Spec.
func Dial(ctx context.Context, s returner.Settings) (redis.UniversalClient, error) {
	spec := Spec()
	s.Spec = &spec
	s, err := s.Check()
	if err != nil {
		return nil, err
	}
	return dial(ctx, s)
}

// fault says what to set where the settings are the matter.
func fault(ctx context.Context, err error, secure bool) error {
	switch text := err.Error(); {
	case tlsconf.Untrusted(err):
		return fmt.Errorf("%w (redis.ssl_ca names the file with the CA of the server; redis.tls: skip-verify encrypts without knowing who the server is)", err)
	case secure && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		// Redis waits for the end of what it takes for a command.
		return fmt.Errorf("%w (does the server speak TLS at this port? See redis.port and redis.tls)", err)
	case !secure && errors.Is(err, io.EOF):
		return fmt.Errorf("%w (does the server want TLS at this port? See redis.port and redis.tls)", err)
	case strings.HasPrefix(text, "NOAUTH"), strings.HasPrefix(text, "WRONGPASS"):
		return fmt.Errorf("%w (redis.username and redis.password name the account)", err)
	case strings.Contains(text, "cluster support disabled"):
		return fmt.Errorf("%w (redis.cluster_mode is for servers that are a cluster)", err)
	}
	return err
}
