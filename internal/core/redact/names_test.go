package redact

import (
	"strings"
	"testing"

	"brine/internal/py/value"
)

func TestSecretNames(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`
		password db_password Bind-Password dbPassword PGPASSWORD rolepassword user.password password_hash passwd smtp-passwd passphrase passcode
		pass DB_PASS https_pass connection_pass pwd DB_PWD dbPwd secret client_secret clientSecret secret_id token access_token X-Vault-Token
		X-Auth-Token auth basic_auth authorization Authorization Proxy-Authorization credentials aws_credentials cookie Cookie Set-Cookie
		api_key apiKey apikey X-Api-Key private_key ssh_private_key secret_key access_key secret_access_key AWS_SECRET_ACCESS_KEY
		account_key encryption_key signing_key auth_key authtoken clientsecret secretkey AccessKey`) {
		if !isSecret(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	for name := range strings.FieldsSeq(`
		name passes bypass compass pwdx cwd secretary tokens token_ttl author authors unauthorized key keys keyid key_url public_key access_key_id
		password_file passwordless cookies pass_through private_key_file hash_passwords env user`) {
		if isSecret(name) {
			t.Errorf("%s is a secret", name)
		}
	}
}

func TestHideByName(t *testing.T) {
	t.Parallel()
	const h = "'" + Hidden + "'"
	for _, tt := range []struct{ in, want string }{
		{`{"env": {"PGPASSWORD": "x", "LANG": "C", "N": 5, "EMPTY": "", "UNSET": null, "FLAG": true}}`, `{'env': {'PGPASSWORD': ` + h + `, 'LANG': ` + h + `, 'N': ` + h + `, 'EMPTY': '', 'UNSET': None, 'FLAG': True}}`},
		{`{"env": [{"DB_PASS": "x"}, "LANG=C", "EMPTY=", "BARE"]}`, `{'env': [{'DB_PASS': ` + h + `}, 'LANG=` + Hidden + `', 'EMPTY=', 'BARE']}`},
		{`{"env": "A: x"}`, `{'env': ` + h + `}`},
		{`{"env": "A=x"}`, `{'env': 'A=` + Hidden + `'}`},
		{`{"env": "base"}`, `{'env': 'base'}`},
		{`{"environ": {"A": "x"}, "environment": ["A=x"], "env_vars": {}}`, `{'environ': {'A': ` + h + `}, 'environment': ['A=` + Hidden + `'], 'env_vars': {}}`},
		{`{"header_dict": {"Authorization": "Bearer x", "Accept": "text/html"}}`, `{'header_dict': {'Authorization': ` + h + `, 'Accept': 'text/html'}}`},
		{`{"header_list": ["Authorization: Bearer x", "Accept: text/html", "x-api-key:x"]}`, `{'header_list': ['Authorization: ` + Hidden + `', 'Accept: text/html', 'x-api-key:` + Hidden + `']}`},
		{`["curl -H 'Authorization: Basic eA==' -H \"Cookie: a=b\" http://h/"]`, `['curl -H \'Authorization: ` + Hidden + `\' -H "Cookie: ` + Hidden + `" http://h/']`},
		{`["https://anna:x@h:8/a:b@c", "clone git+ssh://u:x%40y@h, amqp://:x@h", "https://anna@h:8/", "http://h/a:b@c", "a://b"]`, `['https://anna:` + Hidden + `@h:8/a:b@c', 'clone git+ssh://u:` + Hidden + `@h, amqp://:` + Hidden + `@h', 'https://anna@h:8/', 'http://h/a:b@c', 'a://b']`},
		{`{"auth": ["zoe", "x"], "other": "authorization is needed"}`, `{'auth': ` + h + `, 'other': 'authorization is needed'}`},
	} {
		v, err := value.ParseJSON(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		before := value.Repr(v)
		if got := value.Repr(Hide(v)); got != tt.want {
			t.Errorf("Hide(%s) =\n%s, want\n%s", tt.in, got, tt.want)
		}
		if value.Repr(v) != before {
			t.Errorf("%s was changed", tt.in)
		}
	}
	if got := value.Repr(Args([]string{"name", "env"}, []value.Value{"x", value.MapOf("A", "b")}, nil)); got != "['x', {'A': "+h+"}]" {
		t.Errorf("Args = %s", got)
	}
	if got := Named("pwd", "x"); got != Hidden {
		t.Errorf("Named = %v", got)
	}
	if got := value.Repr(NewSet().Mask(value.MapOf("Env", value.NewList("A=b"), "row", value.NewRow(func() *value.Map { return value.MapOf("pwd", "x") })))); got != "{'Env': ['A="+Hidden+"'], 'row': {'pwd': "+h+"}}" {
		t.Errorf("Mask = %s", got)
	}
}

// A group of settings that is named auth is searched by the names in it.
func TestPillarGroups(t *testing.T) {
	t.Parallel()
	s := NewSet()
	s.AddPillar(value.MapOf("auth", value.MapOf("provider", "ldap.example.com", "bind_pwd", "hunter22"), "api", value.MapOf("auth", "bearer-77")))
	if got := s.Text("ldap.example.com hunter22 bearer-77"); got != "ldap.example.com "+Hidden+" "+Hidden {
		t.Error(got)
	}
}
