//go:build !slim

package sdb

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// cacheTimeout bounds each step of asking a server.
const cacheTimeout = 10 * time.Second

// quiet keeps the client of Redis from writing to stderr: its errors are returned, too.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

var quietRedis = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

// QuietRedis keeps clients of Redis from writing to stderr.
func QuietRedis() { quietRedis() }

// redisKeys are the texts of a Redis server.
// Salt: salt/sdb/redis_sdb.py. Difference: the settings are those that are named here.
type redisKeys struct{ o *redis.Options }

func newRedis(_ *fun.Env, conf *value.Map) (driver, error) {
	o := &redis.Options{
		Addr: net.JoinHostPort(setting(conf, "host", "localhost"), setting(conf, "port", "6379")), Username: conf.Str("username"), Password: conf.Str("password"),
		DialTimeout: cacheTimeout, ReadTimeout: cacheTimeout, WriteTimeout: cacheTimeout, ContextTimeoutEnabled: true, PoolSize: 1, DialerRetries: 1,
		MaxRetries: -1, DisableIdentity: true, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for k := range conf.All() {
		switch value.Str(k) {
		case "driver", "host", "port", "db", "username", "password", "ssl", "unix_socket_path":
		default:
			return nil, fmt.Errorf("there is no setting %s; there are host, port, db, username, password, ssl and unix_socket_path", value.Repr(k))
		}
	}
	n, ok := value.AsInt(conf.At("db"))
	if conf.Has("db") && !ok {
		return nil, fmt.Errorf("db must be a number, not %s", value.Repr(conf.At("db")))
	}
	o.DB = int(n)
	if value.Truth(conf.At("ssl")) {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: setting(conf, "host", "localhost")}
	}
	if p := conf.Str("unix_socket_path"); p != "" {
		o.Network, o.Addr, o.TLSConfig = "unix", p, nil
	}
	QuietRedis()
	return redisKeys{o}, nil
}

func (r redisKeys) get(ctx context.Context, key string) (value.Value, error) {
	c := redis.NewClient(r.o)
	defer func() { _ = c.Close() }()
	text, err := c.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return text, err
}

func (r redisKeys) set(ctx context.Context, key string, v value.Value) error {
	c := redis.NewClient(r.o)
	defer func() { _ = c.Close() }()
	return c.Set(ctx, key, value.Str(v), 0).Err()
}

func (r redisKeys) delete(ctx context.Context, key string) error {
	c := redis.NewClient(r.o)
	defer func() { _ = c.Close() }()
	return c.Del(ctx, key).Err()
}

// memcached are the items of a memcached server.
// Salt: salt/sdb/memcached.py. Difference: a value can be deleted.
type memcached struct {
	addr   string
	expire int64
}

func newMemcached(_ *fun.Env, conf *value.Map) (driver, error) {
	m := memcached{addr: net.JoinHostPort(setting(conf, "memcached.host", setting(conf, "host", "127.0.0.1")), setting(conf, "memcached.port", setting(conf, "port", "11211")))}
	n, ok := value.AsInt(conf.At("expire"))
	if conf.Has("expire") && (!ok || n < 0) {
		return nil, fmt.Errorf("expire must be a number of seconds, not %s", value.Repr(conf.At("expire")))
	}
	m.expire = n
	return m, nil
}

// talk sends a command, and reads the first line of the answer.
func (m memcached) talk(ctx context.Context, key, command string, with func(line string, r *bufio.Reader) error) error {
	if key == "" || len(key) > 250 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 127 }) {
		return fmt.Errorf("the key %q is not one of memcached: up to 250 characters without blanks", key)
	}
	ctx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })
	defer stop()
	if _, err := io.WriteString(c, command); err != nil {
		return err
	}
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	return with(strings.TrimSpace(line), r)
}

func (m memcached) get(ctx context.Context, key string) (v value.Value, err error) {
	err = m.talk(ctx, key, "get "+key+"\r\n", func(line string, r *bufio.Reader) error {
		f := strings.Fields(line)
		switch {
		case line == "END":
			return nil
		case len(f) != 4 || f[0] != "VALUE" || f[1] != key:
			return fmt.Errorf("%s answered %q", m.addr, line)
		}
		n, err := strconv.ParseUint(f[3], 10, 32)
		if err != nil || n > maxFile {
			return fmt.Errorf("%s has a value of %s bytes, more than %d MiB", m.addr, f[3], maxFile>>20)
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		v = string(b)
		return nil
	})
	return v, err
}

func (m memcached) set(ctx context.Context, key string, v value.Value) error {
	text := value.Str(v)
	return m.talk(ctx, key, fmt.Sprintf("set %s 0 %d %d\r\n%s\r\n", key, m.expire, len(text), text), func(line string, _ *bufio.Reader) error {
		if line != "STORED" {
			return fmt.Errorf("%s answered %q", m.addr, line)
		}
		return nil
	})
}

func (m memcached) delete(ctx context.Context, key string) error {
	return m.talk(ctx, key, "delete "+key+"\r\n", func(line string, _ *bufio.Reader) error {
		if line != "DELETED" && line != "NOT_FOUND" {
			return fmt.Errorf("%s answered %q", m.addr, line)
		}
		return nil
	})
}
