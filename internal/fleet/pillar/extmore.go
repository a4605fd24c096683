//go:build !slim

package pillar

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
	"brine/internal/core/sdb"
	"brine/internal/core/target"
	"brine/internal/py/value"
)

// extMore returns an external pillar of the controller; nil where there is none of
// the name.
func extMore(name string) extFunc {
	switch name {
	case "consul":
		return (*job).extConsul
	case "csv":
		return (*job).extCSV
	case "etcd":
		return (*job).extEtcd
	case "foreman":
		return (*job).extForeman
	case "gpg":
		return (*job).extGPG
	case "hiera":
		return (*job).extHiera
	case "http_json":
		return (*job).extHTTPJSON
	case "http_yaml":
		return (*job).extHTTPYAML
	case "makostack":
		return (*job).extMakostack
	case "mysql":
		return (*job).extMySQL
	case "netbox":
		return (*job).extNetBox
	case "nodegroups":
		return (*job).extNodegroups
	case "pillar_ldap":
		return (*job).extLDAP
	case "postgres":
		return (*job).extPostgres
	case "reclass":
		return (*job).extReclass
	case "redis":
		return (*job).extRedis
	case "s3":
		return (*job).extS3
	case "saltclass":
		return (*job).extSaltclass
	case "sops":
		return (*job).extSops
	case "sqlite3":
		return (*job).extSQLite
	case "vault":
		return (*job).extVault
	}
	return nil
}

// topMore returns a module of master_tops of the controller; nil where there is none of
// the name.
func topMore(name string) func(*job, context.Context, value.Value) (*value.Map, error) {
	if name == "saltclass" {
		return (*job).topSaltclass
	}
	return nil
}

// topMoreNames are the modules of topMore.
func topMoreNames() []string { return []string{"saltclass"} }

// extMoreNames are the external pillars of extMore.
func extMoreNames() []string {
	return []string{
		"consul", "csv", "etcd", "foreman", "gpg", "hiera", "http_json", "http_yaml", "makostack", "mysql", "netbox", "nodegroups", "pillar_ldap", "postgres", "reclass", "redis", "s3", "saltclass",
		"sops", "sqlite3", "vault",
	}
}

// pathPart escapes what comes from a target for a part of a URL's path.
func pathPart(s string) (string, error) {
	if s == "" || s == "." || s == ".." {
		return "", fmt.Errorf("%q cannot be part of a URL", s)
	}
	return url.PathEscape(s), nil
}

// grainMarks are the places of grains in a URL: <name>.
var grainMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<([^<>/?#]+)>`) })

func (j *job) extHTTPJSON(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	return j.extHTTP(ctx, a, "json")
}

func (j *job) extHTTPYAML(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	return j.extHTTP(ctx, a, "yaml")
}

// extHTTP makes pillar data of the answer of a web server.
//
// Salt: salt/pillar/http_json.py, http_yaml.py. Difference: an answer that is
// not pillar data is an error; Salt logs it and continues without it.
func (j *job) extHTTP(ctx context.Context, a extArgs, decode string) (value.Mapping, error) {
	at, _ := a.get(0, "url").(string)
	if at == "" {
		return nil, errors.New("it needs a url")
	}
	if strings.Contains(at, "%s") {
		id, err := pathPart(j.env.ID)
		if err != nil {
			return nil, err
		}
		at = strings.ReplaceAll(at, "%s", id)
	}
	if value.Truth(a.get(1, "with_grains")) {
		for _, m := range grainMarks().FindAllStringSubmatch(at, -1) {
			v, ok := value.TraverseKey(j.env.SubjectGrains(), m[1], ":")
			if !ok || !value.Truth(v) {
				return nil, fmt.Errorf("the grain %s of the url has no value", m[1])
			}
			part, err := pathPart(value.Str(v))
			if err != nil {
				return nil, fmt.Errorf("the grain %s: %w", m[1], err)
			}
			at = strings.ReplaceAll(at, m[0], part)
		}
	}
	kw := value.MapOf("decode_type", decode)
	for n, name := range []string{"header_dict", "auth", "username", "password"} {
		if v := a.get(n+2, name); v != nil {
			kw.Set(name, v)
		}
	}
	got, err := sdb.Query(ctx, j.env, at, kw)
	if err != nil {
		return nil, err
	}
	m, ok := got.At("dict").(*value.Map)
	switch {
	case value.Truth(got.At("error")):
		return nil, fmt.Errorf("%s: %s", sdb.PlainURL(at), firstLine(got.Str("error")))
	case !ok:
		return nil, fmt.Errorf("%s answered with %s instead of a mapping", sdb.PlainURL(at), value.Kind(got.At("dict")))
	}
	if ns := a.get(6, "namespace"); value.Truth(ns) {
		m = value.MapOf(ns, m)
	}
	return m, nil
}

// maxCSV bounds a file of the external pillar csv.
const maxCSV = 64 << 20

// extCSV makes pillar of the row of a table that has the id.
//
// Salt: salt/pillar/csvpillar.py.
func (j *job) extCSV(_ context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	path, _ := a.get(0, "path").(string)
	if path == "" {
		return nil, errors.New("it needs a path")
	}
	b, err := j.env.Host.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) > maxCSV {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxCSV>>20)
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = -1
	switch d := a.get(6, "dialect"); d {
	case nil, "excel", "unix":
	case "excel-tab":
		r.Comma = '\t'
	default:
		return nil, fmt.Errorf("the dialect %s is not excel, excel-tab or unix", value.Repr(d))
	}
	key := "id"
	if k := a.get(1, "idkey"); k != nil {
		key = value.Str(k)
	}
	var names []string
	if l, ok := a.get(3, "fieldnames").(*value.List); ok {
		for _, x := range l.Items {
			names = append(names, value.Str(x))
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if names == nil {
			names = row
			continue
		}
		m := csvRow(names, row, a)
		if !m.Has(key) {
			return nil, fmt.Errorf("%s has no column %q", path, key)
		}
		if m.At(key) != j.env.ID {
			continue
		}
		if ns := a.get(2, "namespace"); value.Truth(ns) {
			m = value.MapOf(ns, m)
		}
		return m, nil
	}
}

// csvRow returns a row by the names of its columns. Fields without a name are a
// list under restkey, names without a field have restval.
func csvRow(names, row []string, a extArgs) *value.Map {
	m := value.NewMap(len(names))
	for i, n := range names {
		if i < len(row) {
			m.Set(n, row[i])
		} else {
			m.Set(n, a.get(5, "restval"))
		}
	}
	if len(row) > len(names) {
		m.Set(a.get(4, "restkey"), value.Strings(row[len(names):]...))
	}
	return m
}

// extGPG decrypts what was rendered so far. Salt: salt/pillar/gpg.py.
func (j *job) extGPG(ctx context.Context, pillar *value.Map, _ extArgs) (value.Mapping, error) {
	v, err := j.decryptValue(ctx, value.Clone(pillar), "gpg")
	m, _ := v.(*value.Map)
	return m, err
}

// extNodegroups lists the node groups that the target is in.
//
// Salt: salt/pillar/nodegroups.py.
func (j *job) extNodegroups(_ context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	name := a.get(0, "pillar_name")
	if !value.Truth(name) {
		name = "nodegroups"
	}
	groups := j.opts.Map("nodegroups")
	in := value.NewList()
	for k := range groups.All() {
		m, err := target.Compile(value.Str(k), "nodegroup", groups)
		if err != nil {
			return nil, fmt.Errorf("the node group %s: %w", value.Str(k), err)
		}
		ok, err := m.Match(j.minion())
		if err != nil {
			return nil, fmt.Errorf("the node group %s: %w", value.Str(k), err)
		}
		if ok {
			in.Append(k)
		}
	}
	return value.MapOf(name, in), nil
}

// sopsTimeout bounds a run of sops.
const sopsTimeout = time.Minute

// extSops makes pillar of files that sops encrypted, by the program sops. A file
// may have %s for the id; one that is not there is none.
func (j *job) extSops(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	files := a.pos
	if v := a.kw.At("file"); v != nil {
		files = []value.Value{v}
	}
	if l := a.kw.List("files"); l != nil {
		files = l.Items
	}
	if len(files) == 0 {
		return nil, errors.New("it needs a file, or a list of files")
	}
	out := value.NewMap(4)
	for _, f := range files {
		path, ok := f.(string)
		if !ok || !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("a file is named by its whole path, not by %s", value.Repr(f))
		}
		if strings.Contains(path, "%s") {
			if strings.ContainsAny(j.env.ID, "/\x00") || j.env.ID == ".." {
				return nil, fmt.Errorf("the id %q is not put into %q", j.env.ID, path)
			}
			path = strings.ReplaceAll(path, "%s", j.env.ID)
			if _, err := j.env.Host.Stat(path); err != nil {
				continue
			}
		}
		res, err := j.env.Host.Run(ctx, host.Cmd{Argv: []string{"sops", "--decrypt", "--output-type", "json", path}, Timeout: sopsTimeout})
		if err != nil {
			return nil, fmt.Errorf("run sops: %w", err)
		}
		if res.Status != 0 {
			return nil, fmt.Errorf("sops could not decrypt %s: %s", path, firstLine(string(res.Stderr)))
		}
		v, err := value.ParseJSON(string(res.Stdout))
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return nil, fmt.Errorf("what sops decrypted of %s is not a mapping", path)
		}
		out = j.merge(out, m)
	}
	if ns := a.kw.At("namespace"); value.Truth(ns) {
		out = value.MapOf(ns, out)
	}
	return out, nil
}
