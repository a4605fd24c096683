package redact

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"brine/internal/py/value"
)

// secretEnds are the last words of names that hold secrets: password,
// db_password, Bind-Password and dbPassword.
var secretEnds = [...]string{
	"password", "passwd", "passphrase", "passcode", "pass", "pwd", "secret", "token", "auth", "authorization", "credentials", "cookie",
	"api_key", "apikey", "private_key", "secret_key", "access_key", "account_key", "encryption_key", "signing_key", "auth_key",
	"secret_id", "password_hash", "set_cookie", "bindpw", "root_pw",
}

// secretTails are what names that hold secrets end with, as part of a word, too:
// PGPASSWORD, rolepassword, authtoken.
var secretTails = [...]string{"password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey", "secret", "token"}

// envNames are arguments and keys whose values are the environment of a command.
var envNames = [...]string{"env", "environ", "environment", "envvars", "env_vars"}

// words writes a name in lower case with a line between its words.
func words(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r) && lower:
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// endsWith reports whether the last words of a name are among ends.
func endsWith(name string, ends []string) bool {
	for _, s := range ends {
		if before, ok := strings.CutSuffix(name, s); ok && (before == "" || strings.HasSuffix(before, "_")) {
			return true
		}
	}
	return false
}

// isSecret reports whether an argument, a key or a header of a name holds a
// secret.
func isSecret(name string) bool {
	name = words(name)
	for _, s := range secretTails {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return endsWith(name, secretEnds[:])
}

// isGroup reports whether a secret name is also that of a group of settings,
// most of which are not secret.
func isGroup(name string) bool { return endsWith(words(name), []string{"auth"}) }

// isEnv reports whether the values of an argument or key are an environment.
func isEnv(name string) bool {
	name = words(name)
	for _, e := range envNames {
		if name == e {
			return true
		}
	}
	return false
}

// hideEnv hides the values of an environment, which may be a dict, a list of
// dicts, lines NAME=value or YAML; the names stay.
func hideEnv(v value.Value) (value.Value, bool) {
	switch v := v.(type) {
	case *value.Map:
		return inMap(v, func(_ string, x value.Value) (value.Value, bool) { return hideAll(x) })
	case *value.List:
		return inList(v, hideEnv)
	case string:
		if y, changed := hideEnvText(v); changed {
			return y, true
		}
	}
	return v, false
}

// hideEnvText hides the value of a line NAME=value, and YAML.
func hideEnvText(v string) (value.Value, bool) {
	if name, val, ok := strings.Cut(v, "="); ok && !strings.ContainsAny(name, ":\n") {
		return name + "=" + Hidden, val != "" && val != Hidden
	}
	return Hidden, strings.ContainsAny(v, ":=\n")
}

// hideAll hides a value, whatever its name. Flags, None and empty text tell
// nothing.
func hideAll(v value.Value) (value.Value, bool) {
	switch x := v.(type) {
	case nil, bool:
		return v, false
	case string:
		if x == "" || x == Hidden {
			return v, false
		}
	}
	return Hidden, true
}

// headerRE is a header whose value is a secret, in the line of a list or within a
// command.
var headerRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|cookie|set-cookie|x-[a-z0-9-]*(?:token|key|auth|secret|password))(\s*:\s*)([^"'\r\n]+)`)
})

// hideHeaders hides the values of secret headers in text.
func hideHeaders(s string) string {
	if !strings.Contains(s, ":") {
		return s
	}
	return headerRE().ReplaceAllString(s, "${1}${2}"+Hidden)
}

// Named returns what may be shown of an argument with a name: v, or [Hidden] in
// the place of secrets.
func Named(name string, v value.Value) value.Value {
	v, _ = hide(name, v)
	return v
}

// Hides reports whether an argument with a name has secrets in its value.
func Hides(name string, v value.Value) bool {
	_, hidden := hide(name, v)
	return hidden
}
