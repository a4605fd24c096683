//go:build !slim

package pillar

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"brine/internal/source"
	"brine/internal/value"
)

// A vault is a server of HashiCorp Vault, as the option vault has it.
type vault struct {
	j     *job
	conf  *value.Map
	token string
}

// extVault makes pillar of secrets: conf is "path=secret/{minion}", in which
// values of the pillar can stand, too.
//
// Salt: salt/pillar/vault.py. Difference: only a secret that does not exist is
// passed over; whatever else goes wrong is an error.
func (j *job) extVault(ctx context.Context, pillar *value.Map, a extArgs) (value.Mapping, error) {
	conf, _ := a.get(0, "conf").(string)
	pattern := ""
	for word := range strings.FieldsSeq(conf) {
		if p, ok := strings.CutPrefix(word, "path="); ok && pattern == "" {
			pattern = p
		}
	}
	if pattern == "" {
		return nil, fmt.Errorf("%q is not a valid Vault ext_pillar config: it has no path=", conf)
	}
	v := &vault{j: j, conf: j.opts.Map("vault")}
	if v.conf.Str("url") == "" {
		return nil, errors.New("the option vault has no url")
	}
	paths, err := j.vaultPaths(pattern, pillar)
	if err != nil {
		j.warn(source.Pos{}, "ext_pillar vault: %v", err)
		return nil, nil
	}
	if err := v.login(ctx); err != nil {
		return nil, err
	}
	strategy, lists := j.strategy.For(j.renderer), j.lists
	if s, ok := a.get(2, "merge_strategy").(string); ok {
		if strategy = value.Strategy(s); !strategy.Known() {
			return nil, fmt.Errorf("the merge_strategy %q is unknown", s)
		}
	}
	if l := a.get(3, "merge_lists"); l != nil {
		lists = value.Truth(l)
	}
	out := value.NewMap(4)
	for _, p := range paths {
		m, err := v.secret(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("the secret %s: %w", p, err)
		}
		out = value.Merge(out, m, strategy, j.renderer, lists)
	}
	if key := a.get(1, "nesting_key"); value.Truth(key) {
		out = value.MapOf(key, out)
	}
	return out, nil
}

// vaultMarks are the places of values in a path: {minion}, {pillar[roles]}.
var vaultMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(minion|pillar)((?:\[[^\[\]]+\])*)\}`) })

// maxPaths is how many paths lists of a pillar may expand to.
const maxPaths = 1000

// vaultPaths puts values into a path; a list makes a path for each of its items.
func (j *job) vaultPaths(pattern string, pillar *value.Map) ([]string, error) {
	out := []string{""}
	rest := pattern
	for {
		at := vaultMarks().FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		var v value.Value = j.env.ID
		if rest[at[2]:at[3]] == "pillar" {
			v = pillar
			for key := range strings.SplitSeq(strings.Trim(rest[at[4]:at[5]], "[]"), "][") {
				m, ok := v.(*value.Map)
				if !ok || !m.Has(key) {
					return nil, fmt.Errorf("Could not resolve pillar path pattern %s", pattern)
				}
				v = m.At(key)
			}
		}
		items := []value.Value{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
		if len(out)*len(items) > maxPaths {
			return nil, fmt.Errorf("%s is more than %d paths", pattern, maxPaths)
		}
		var next []string
		for _, prefix := range out {
			for _, x := range items {
				next = append(next, prefix+rest[:at[0]]+value.Str(x))
			}
		}
		out, rest = next, rest[at[1]:]
	}
	for i := range out {
		out[i] = strings.Trim(out[i]+rest, "/")
		for part := range strings.SplitSeq(out[i], "/") {
			if part == ".." || part == "." || part == "" || strings.ContainsAny(part, "?#%\x00\n") {
				return nil, fmt.Errorf("%q is not a path of Vault", out[i])
			}
		}
	}
	return out, nil
}

// ask sends a request. status is that of the answer.
func (v *vault) ask(ctx context.Context, method, path string, body *value.Map) (answer *value.Map, status int64, err error) {
	headers := value.MapOf("X-Vault-Request", "true")
	if v.token != "" {
		headers.Set("X-Vault-Token", v.token)
	}
	if ns := v.conf.Str("namespace"); ns != "" {
		headers.Set("X-Vault-Namespace", ns)
	}
	kw := value.MapOf("method", method, "decode_type", "json", "header_dict", headers)
	switch verify := v.conf.At("verify").(type) {
	case string:
		kw.Set("ca_bundle", verify)
	case bool:
		kw.Set("verify_ssl", verify)
	}
	if body != nil {
		headers.Set("Content-Type", "application/json")
		kw.Set("data", string(value.EncodeJSON(body)))
	}
	got, err := v.j.fetch(ctx, strings.TrimRight(v.conf.Str("url"), "/")+"/v1/"+path, kw)
	if err != nil {
		return nil, 0, err
	}
	status, _ = value.AsInt(got.At("status"))
	answer, _ = got.At("dict").(*value.Map)
	if status == 0 || status >= 500 {
		return nil, status, fmt.Errorf("the server %s: %s", plainURL(v.conf.Str("url")), firstLine(got.Str("error")))
	}
	return answer, status, nil
}

// login gets the token that requests are made with.
func (v *vault) login(ctx context.Context) error {
	auth := v.conf.Map("auth")
	method := auth.Str("method")
	text := func(key string) (string, error) { return v.j.secretText(auth.At(key)) }
	switch method {
	case "token", "":
		token, err := text("token")
		if err != nil || token == "" {
			return fmt.Errorf("the option vault:auth:token has no token%s", because(err))
		}
		v.token = token
		return nil
	case "agent": // which adds the token
		return nil
	case "approle":
		role, err := text("role_id")
		if err != nil || role == "" {
			return fmt.Errorf("the option vault:auth:role_id has no role%s", because(err))
		}
		body := value.MapOf("role_id", role)
		secret, err := text("secret_id")
		if err != nil {
			return fmt.Errorf("the option vault:auth:secret_id%s", because(err))
		}
		if secret != "" {
			body.Set("secret_id", secret)
		}
		mount := "approle"
		if m := auth.Str("mount"); m != "" {
			mount = strings.Trim(m, "/")
		}
		answer, status, err := v.ask(ctx, "POST", "auth/"+mount+"/login", body)
		if err != nil {
			return err
		}
		if v.token = answer.Map("auth").Str("client_token"); v.token == "" {
			return fmt.Errorf("the log-in by AppRole failed with status %d", status)
		}
		return nil
	}
	return fmt.Errorf("the option vault:auth:method is %q%s; there are token, approle and agent", method, source.DidYouMean(method, []string{"token", "approle", "agent"}))
}

// because is a reason behind a message.
func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// secret reads a secret of the KV engine in either version; one that does not
// exist is empty.
func (v *vault) secret(ctx context.Context, path string) (*value.Map, error) {
	at, v2 := path, false
	if meta, status, err := v.ask(ctx, "GET", "sys/internal/ui/mounts/"+path, nil); err != nil {
		return nil, err
	} else if status == 200 {
		data := meta.Map("data")
		mount := strings.Trim(data.Str("path"), "/")
		if data.Map("options").Str("version") == "2" && (path == mount || strings.HasPrefix(path, mount+"/")) {
			v2 = true
			rest := strings.TrimPrefix(strings.TrimPrefix(path, mount), "/")
			if !strings.HasPrefix(rest, "data/") {
				at = mount + "/data/" + rest
			}
		}
	}
	answer, status, err := v.ask(ctx, "GET", at, nil)
	switch {
	case err != nil:
		return nil, err
	case status == 404:
		return value.NewMap(0), nil
	case status != 200:
		return nil, fmt.Errorf("Vault answered with status %d", status)
	}
	data := answer.Map("data")
	if v2 {
		data = data.Map("data")
	}
	if data == nil {
		return value.NewMap(0), nil
	}
	return data, nil
}

// secretText returns text of the configuration, which may be in a variable of the
// environment: sdb://PROFILE/NAME, where the profile has the driver env.
func (j *job) secretText(v value.Value) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", nil
	}
	rest, ok := strings.CutPrefix(s, "sdb://")
	if !ok {
		return s, nil
	}
	profile, name, _ := strings.Cut(rest, "/")
	if driver := j.opts.Map(profile).Str("driver"); driver != "env" {
		return "", fmt.Errorf("sdb://%s: the profile has the driver %q; here there is env", profile, driver)
	}
	for _, kv := range j.env.Host.Environ() {
		if k, text, ok := strings.Cut(kv, "="); ok && k == name {
			return text, nil
		}
	}
	return "", fmt.Errorf("the environment has no %s", name)
}
