//go:build !slim

package pillar

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/core/sdb"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// consulWord finds what a configuration of the external pillar consul names.
var consulWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:(target)="([^"]*)"|(root|pillar_root|profile|expand_keys)=(\S*)|(\S+))`)
})

// A consul is a configuration of the external pillar consul.
type consul struct {
	profile, root, pillarRoot, target string
	expand                            bool
}

func parseConsul(conf string) (consul, error) {
	c := consul{expand: true}
	for _, m := range consulWord().FindAllStringSubmatch(conf, -1) {
		switch m[1] + m[3] {
		case "target":
			c.target = m[2]
		case "root":
			c.root = strings.TrimRight(m[4], "/")
		case "pillar_root":
			c.pillarRoot = strings.TrimRight(m[4], "/")
		case "profile":
			c.profile = m[4]
		case "expand_keys":
			c.expand = !strings.EqualFold(m[4], "false")
		default:
			if c.profile != "" {
				return c, fmt.Errorf("%q is not one of profile=, root=, pillar_root=, target=\"...\" and expand_keys=", m[5])
			}
			c.profile = m[5]
		}
	}
	return c, nil
}

// extConsul makes pillar of the keys of Consul under a path.
//
// Salt: salt/pillar/consul_pillar.py. Difference: a server that does not answer is
// an error, and so is a part of the path that comes from the target and has a "/".
func (j *job) extConsul(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	text, _ := a.get(0, "conf").(string)
	c, err := parseConsul(text)
	if err != nil {
		return nil, err
	}
	if c.target != "" {
		m, err := target.Compile(c.target, "compound", j.opts.Map("nodegroups"))
		if err != nil {
			return nil, fmt.Errorf("the target %q: %w", c.target, err)
		}
		if ok, err := m.Match(j.minion()); err != nil || !ok {
			return nil, err
		}
	}
	root, err := j.consulRoot(c.root)
	if err != nil {
		return nil, err
	}
	conf := j.opts
	if c.profile != "" {
		if conf = j.opts.Map(c.profile); conf == nil {
			return nil, fmt.Errorf("the configuration has no dict %q", c.profile)
		}
	}
	items, err := j.consulKeys(ctx, conf, root)
	if err != nil {
		return nil, err
	}
	out := value.NewMap(len(items))
	for _, it := range slices.Backward(items) {
		key := strings.TrimPrefix(strings.TrimPrefix(it.key, root), "/")
		if key == "" || strings.HasSuffix(key, "/") || it.empty {
			continue
		}
		var v value.Value = it.text
		if c.expand {
			if v, err = yamlsalt.Load(yamlsalt.LoadOptions{Name: it.key}, []byte(it.text)); err != nil {
				return nil, fmt.Errorf("the key %s is not YAML (expand_keys=false leaves it as text): %s", it.key, err.Error())
			}
		}
		out = value.Update(out, nested(strings.Split(key, "/"), v), true, false)
	}
	if c.pillarRoot != "" {
		return nested(strings.Split(c.pillarRoot, "/"), out), nil
	}
	return out, nil
}

// nested returns v under keys.
func nested(keys []string, v value.Value) *value.Map {
	m := value.MapOf(keys[len(keys)-1], v)
	for _, k := range slices.Backward(keys[:len(keys)-1]) {
		m = value.MapOf(k, m)
	}
	return m
}

// consulRoot puts the id and grains into a path.
func (j *job) consulRoot(root string) (string, error) {
	for _, name := range []string{"minion_id", "role", "environment"} {
		mark := "%(" + name + ")s"
		if !strings.Contains(root, mark) {
			continue
		}
		text := j.env.ID
		if name != "minion_id" {
			v, _ := value.TraverseKey(j.env.SubjectGrains(), name, ":")
			if text = value.Str(v); v == nil {
				text = ""
			}
		}
		if text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\x00") {
			return "", fmt.Errorf("%s of the target, %q, cannot be part of a path", name, text)
		}
		root = strings.ReplaceAll(root, mark, text)
	}
	if strings.Contains(root, "%(") {
		return "", fmt.Errorf("the root %q: there are %%(minion_id)s, %%(role)s and %%(environment)s", root)
	}
	return root, nil
}

// A consulItem is a key of Consul.
type consulItem struct {
	key, text string
	empty     bool
}

// consulKeys asks a server for the keys under a path.
func (j *job) consulKeys(ctx context.Context, conf *value.Map, root string) ([]consulItem, error) {
	setting := func(name, def string) string {
		if v := conf.At("consul." + name); value.Truth(v) {
			return value.Str(v)
		}
		return def
	}
	port, err := strconv.ParseUint(setting("port", "8500"), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("consul.port: %q is not a port", setting("port", ""))
	}
	scheme := setting("scheme", "http")
	if scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("consul.scheme: %q is not http or https", scheme)
	}
	at := url.URL{Scheme: scheme, Host: net.JoinHostPort(setting("host", "127.0.0.1"), strconv.FormatUint(port, 10)), Path: "/v1/kv/"}
	if root != "" {
		at.Path += root + "/"
	}
	q := url.Values{"recurse": {"true"}}
	dc, err := j.datacenter(conf.At("consul.dc"))
	if err != nil {
		return nil, err
	}
	if dc != "" {
		q.Set("dc", dc)
	}
	switch how := setting("consistency", "default"); how {
	case "default":
	case "consistent", "stale":
		q.Set(how, "true")
	default:
		return nil, fmt.Errorf("consul.consistency: %q is not default, consistent or stale", how)
	}
	at.RawQuery = q.Encode()
	kw := value.MapOf("decode_type", "json")
	if token := setting("token", ""); token != "" {
		kw.Set("header_dict", value.MapOf("X-Consul-Token", token))
	}
	switch verify := conf.At("consul.verify").(type) {
	case bool:
		kw.Set("verify_ssl", verify)
	case string:
		kw.Set("ca_bundle", verify)
	}
	got, err := sdb.Query(ctx, j.env, at.String(), kw)
	if err != nil {
		return nil, err
	}
	list, ok := got.At("dict").(*value.List)
	switch status, _ := value.AsInt(got.At("status")); {
	case status == 404:
		return nil, sdb.NotConsul(at.String(), got.At("body"))
	case value.Truth(got.At("error")) || status != 200:
		return nil, fmt.Errorf("%s: %s", sdb.PlainURL(at.String()), firstLine(got.Str("error")))
	case !ok:
		return nil, fmt.Errorf("%s did not answer with a list of keys", sdb.PlainURL(at.String()))
	}
	out := make([]consulItem, 0, list.Len())
	for _, x := range list.Items {
		m, _ := x.(*value.Map)
		text, isText := m.At("Value").(string)
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("%s: the value of %s is not base64", sdb.PlainURL(at.String()), m.Str("Key"))
		}
		out = append(out, consulItem{key: m.Str("Key"), text: string(b), empty: !isText})
	}
	return out, nil
}

// datacenter returns consul.dc, or what a dict of it has for the pillarenv: its
// keys are patterns, the longest first, whose named groups its values can use.
func (j *job) datacenter(v value.Value) (string, error) {
	m, ok := v.(*value.Map)
	if !ok {
		if !value.Truth(v) {
			return "", nil
		}
		return value.Str(v), nil
	}
	env := j.pillarenv
	if env == "" {
		env = "base"
	}
	keys := m.Keys()
	slices.SortFunc(keys, func(a, b value.Value) int {
		x, y := value.Str(a), value.Str(b)
		if len(x) != len(y) {
			return len(y) - len(x)
		}
		return strings.Compare(x, y)
	})
	for _, k := range keys {
		re, err := regexp.Compile("^(?:" + value.Str(k) + ")")
		if err != nil {
			return "", fmt.Errorf("consul.dc: %q is not a pattern: %w", value.Str(k), err)
		}
		groups := re.FindStringSubmatch(env)
		if groups == nil {
			continue
		}
		dc := value.Str(m.At(k))
		for i, name := range re.SubexpNames() {
			if name != "" {
				dc = strings.ReplaceAll(dc, "{"+name+"}", groups[i])
			}
		}
		return dc, nil
	}
	return "", nil
}

// reclassTimeout bounds a run of reclass.
const reclassTimeout = time.Minute

// extReclass makes pillar of the parameters that the program reclass-salt has for
// the id.
//
// Salt: salt/pillar/reclass_adapter.py, which uses reclass as a library.
func (j *job) extReclass(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	argv := []string{"reclass-salt"}
	for _, o := range []struct{ name, flag string }{
		{"storage_type", "--storage-type"}, {"inventory_base_uri", "--inventory-base-uri"}, {"nodes_uri", "--nodes-uri"}, {"classes_uri", "--classes-uri"},
	} {
		if v := a.kw.At(o.name); value.Truth(v) {
			argv = append(argv, o.flag, value.Str(v))
		}
	}
	if strings.HasPrefix(j.env.ID, "-") {
		return nil, fmt.Errorf("the id %q would be an option of reclass-salt", j.env.ID)
	}
	out, err := j.env.Host.Run(ctx, host.Cmd{Argv: append(argv, "--pillar", j.env.ID), Timeout: reclassTimeout})
	if err != nil {
		return nil, fmt.Errorf("run reclass-salt, which is part of reclass: %w", err)
	}
	if out.TimedOut {
		return nil, fmt.Errorf("reclass-salt was ended after %s", reclassTimeout)
	}
	if out.Status != 0 {
		return nil, fmt.Errorf("reclass-salt ended with status %d: %s", out.Status, firstLine(string(out.Stderr)))
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "reclass-salt"}, out.Stdout)
	if err != nil {
		if e, ok := errors.AsType[*source.Error](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("what reclass-salt printed is not YAML: %w", err)
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("reclass-salt printed %s instead of a mapping", value.Kind(v))
	}
	return m, nil
}
