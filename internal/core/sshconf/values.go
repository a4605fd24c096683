package sshconf

import (
	"errors"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/py/source"
)

// unused are the keywords of ssh that have no meaning here, and whose values are
// looked at all the same: what ssh refuses is refused. Those in neither table
// take anything, as they do in ssh.
var unused = map[string]kind{
	"addkeystoagent": kindForm, "clearallforwardings": kindFlag, "compression": kindEnum,
	"dynamicforward": kindForm, "enableescapecommandline": kindFlag, "enablesshkeysign": kindFlag, "escapechar": kindForm,
	"exitonforwardfailure": kindFlag, "fingerprinthash": kindEnum, "forkafterauthentication": kindFlag, "forwardx11": kindFlag,
	"forwardx11timeout": kindTime, "forwardx11trusted": kindFlag, "gatewayports": kindFlag, "gssapiauthentication": kindFlag,
	"gssapiclientidentity": kindString, "gssapidelegatecredentials": kindFlag, "gssapikexalgorithms": kindAlgs,
	"gssapikeyexchange": kindFlag, "gssapirenewalforcesrekey": kindFlag, "gssapiserveridentity": kindString, "gssapitrustdns": kindFlag,
	"hostbasedacceptedalgorithms": kindAlgs, "hostbasedauthentication": kindFlag, "ipqos": kindForm, "kbdinteractivedevices": kindString,
	"localforward": kindForm, "loglevel": kindEnum, "logverbose": kindWords, "permitlocalcommand": kindFlag, "permitremoteopen": kindForm,
	"rekeylimit": kindForm, "remoteforward": kindForm, "requesttty": kindEnum, "securitykeyprovider": kindString, "sendenv": kindForm,
	"sessiontype": kindEnum, "setenv": kindForm, "stdinnull": kindFlag, "streamlocalbindmask": kindForm, "streamlocalbindunlink": kindFlag,
	"syslogfacility": kindEnum, "tunnel": kindEnum, "tunneldevice": kindForm, "updatehostkeys": kindEnum, "verifyhostkeydns": kindEnum,
	"visualhostkey": kindFlag, "xauthlocation": kindString,
}

var flags = map[string]string{"yes": "yes", "true": "yes", "no": "no", "false": "no"}

// flagOr returns the values of a flag that may be something else, too.
func flagOr(more ...string) map[string]string {
	out := map[string]string{"yes": "yes", "true": "yes", "no": "no", "false": "no"}
	for _, m := range more {
		out[m] = m
	}
	return out
}

// oneOf returns values that mean themselves.
func oneOf(words string) map[string]string {
	out := map[string]string{}
	for w := range strings.FieldsSeq(words) {
		out[w] = w
	}
	return out
}

// enums are the values of keywords that have a few, and what they mean.
var enums = map[string]map[string]string{
	"addressfamily":         oneOf("inet inet6 any"),
	"canonicalizehostname":  flagOr("always"),
	"controlmaster":         flagOr("ask", "auto", "autoask"),
	"fingerprinthash":       oneOf("md5 sha1 sha256 sha384 sha512"),
	"loglevel":              oneOf("quiet fatal error info verbose debug debug1 debug2 debug3"),
	"pubkeyauthentication":  flagOr("unbound", "host-bound"),
	"requesttty":            flagOr("force", "auto"),
	"sessiontype":           oneOf("none subsystem default"),
	"stricthostkeychecking": {"yes": "yes", "true": "yes", "no": "no", "false": "no", "off": "no", "ask": "ask", "accept-new": "accept-new"},
	"syslogfacility":        oneOf("daemon user auth authpriv local0 local1 local2 local3 local4 local5 local6 local7"),
	"tunnel":                flagOr("point-to-point", "ethernet"),
	"updatehostkeys":        flagOr("ask"),
	"verifyhostkeydns":      flagOr("ask"),
	"compression":           oneOf("yes no"), // ssh has no true and false there
}

// allowed words what a table of values has.
func allowed(of map[string]string) string {
	var words []string
	for w := range of {
		if w != "true" && w != "false" || of["yes"] == "" {
			words = append(words, w)
		}
	}
	// What one sets most comes first.
	slices.SortFunc(words, func(a, b string) int {
		if ya, yb := strings.Index("yes no", a), strings.Index("yes no", b); ya != yb {
			if ya < 0 || yb < 0 {
				return yb - ya
			}
			return ya - yb
		}
		return strings.Compare(a, b)
	})
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// invalid says that a value is not what a keyword takes.
func (l *line) invalid(what, form string, args ...any) error {
	return fmt.Errorf("%s %s: %s: it must be %s", l.word, strings.Join(l.args, " "), what, fmt.Sprintf(form, args...))
}

// check looks at the values of a line, and puts them into their plain form.
func (l *line) check(rest string) error {
	kind := l.kind
	if kind == kindOther {
		kind = unused[l.key]
	}
	switch kind {
	case kindHost, kindInclude:
		if slices.Contains(l.args, "") {
			return fmt.Errorf("%s has an empty value", l.word)
		}
		if len(l.args) == 0 && l.kind == kindInclude {
			return fmt.Errorf("%s has no value", l.word)
		}
	case kindMatch:
		var err error
		l.match, err = parseMatch(rest)
		return err
	case kindFlag:
		return l.choose(flags)
	case kindEnum:
		return l.choose(enums[l.key])
	case kindString, kindMany, kindAgent:
		return l.one()
	case kindForward:
		if err := l.one(); err != nil {
			return err
		}
		if v, ok := flags[strings.ToLower(l.args[0])]; ok {
			l.args = []string{v}
		}
	case kindInt, kindPort, kindTime:
		if err := l.one(); err != nil {
			return err
		}
		return l.checkNumber(kind)
	case kindAlgs:
		if err := l.one(); err != nil {
			return err
		}
		return l.checkAlgorithms()
	case kindForm:
		return l.checkForm(forms[l.key])
	case kindWords:
		return l.checkWords()
	case kindCommand, kindJump:
		l.args = []string{strings.TrimLeft(rest, blank+"=")}
		if kind == kindJump {
			if end := strings.IndexAny(l.args[0], blank+"#"); end >= 0 {
				l.args[0] = l.args[0][:end]
			}
			return checkJump(l.args[0])
		}
	default:
	}
	return nil
}

// one checks that there is one value.
func (l *line) one() error {
	switch {
	case len(l.args) == 0 || l.args[0] == "":
		return fmt.Errorf("%s has no value", l.word)
	case len(l.args) > 1:
		return fmt.Errorf("%s has more than one value", l.word)
	}
	return nil
}

// choose takes one of some values.
func (l *line) choose(of map[string]string) error {
	if err := l.one(); err != nil {
		return err
	}
	v, ok := of[strings.ToLower(l.args[0])]
	if !ok {
		return l.invalid("invalid value", "%s", allowed(of))
	}
	l.args = []string{v}
	return nil
}

func (l *line) checkNumber(kind kind) error {
	v := l.args[0]
	switch kind {
	case kindPort:
		n, ok := port(v)
		if !ok || n < 1 {
			return l.invalid("invalid port", "a number from 1 to 65535, or the name of a service")
		}
		l.args = []string{strconv.Itoa(n)}
	case kindTime:
		if v == "none" {
			return nil
		}
		n, ok := seconds(v)
		if !ok {
			return l.invalid("invalid time", "none, or a time such as 90, 30s or 1h30m")
		}
		l.args = []string{strconv.Itoa(n)}
	default:
		least := 0
		if l.key == "connectionattempts" {
			least = 1
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > math.MaxInt32 {
			return l.invalid("invalid number", "a whole number from %d to %d", least, math.MaxInt32)
		}
		l.args = []string{strconv.Itoa(n)}
	}
	return nil
}

// port reads a port: a number, or the name of a service.
func port(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	if err != nil {
		if strings.Trim(s, "+-") == "" || s != strings.ToLower(s) {
			return 0, false // the library takes them
		}
		n, err = net.LookupPort("tcp", s)
	}
	return n, err == nil && n >= 0 && n <= 65535
}

// maxWords is how many known_hosts files ssh takes.
const maxWords = 32

func (l *line) checkWords() error {
	if len(l.args) == 0 {
		return fmt.Errorf("%s has no value", l.word)
	}
	for _, w := range l.args {
		switch {
		case w == "":
			return fmt.Errorf("%s has an empty value", l.word)
		case strings.EqualFold(w, "none") && len(l.args) > 1:
			return fmt.Errorf("%s: none must stand alone", l.word)
		case l.key == "canonicaldomains" && !domain(w):
			return l.invalid("invalid domain "+w, "none, or names of letters, digits, - and _ with single dots between")
		case l.key == "canonicalizepermittedcnames" && w != "*" && !strings.EqualFold(w, "none"):
			if _, to, ok := strings.Cut(w, ":"); !ok || to == "" {
				return l.invalid("invalid rule "+w, "none, *, or patterns of names with a colon between, from:to")
			}
		}
	}
	if len(l.args) > maxWords {
		return fmt.Errorf("%s has more than %d values", l.word, maxWords)
	}
	return nil
}

var domainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*\.?$`) })

func domain(s string) bool { return domainWord().MatchString(s) }

// A form is what several words of a keyword must look like.
type form struct {
	words int // how many at most; 0 is any number
	ok    func(words []string) bool
	is    string
}

// all returns a form of any number of words, each of which ok takes.
func all(ok func(w string) bool) func([]string) bool {
	return func(words []string) bool { return !slices.ContainsFunc(words, func(w string) bool { return !ok(w) }) }
}

func isTime(s string) bool {
	_, ok := seconds(s)
	return ok
}

// forms are those of keywords with a form of their own.
var forms = map[string]form{
	"addkeystoagent": {2, func(w []string) bool {
		_, flag := flags[strings.ToLower(w[0])]
		switch {
		case strings.EqualFold(w[0], "confirm"):
			return len(w) == 1 || isTime(w[1])
		case flag, strings.EqualFold(w[0], "ask"), isTime(w[0]):
			return len(w) == 1
		}
		return false
	}, "yes, no, ask, a time such as 1h, or confirm with or without a time"},
	"controlpersist": {1, func(w []string) bool { return isTime(w[0]) || flags[w[0]] != "" }, "yes, no or a time such as 90, 30s or 1h30m"},
	"dynamicforward": {1, func(w []string) bool { return listens(w[0], 1) }, "[address:]port"},
	"escapechar": {1, func(w []string) bool {
		c := w[0]
		return c == "none" || len(c) == 1 || len(c) == 2 && c[0] == '^' && c[1] >= 64 && c[1] < 128
	}, "a character, ^ and a letter, or none"},
	"ipqos": {2, all(func(w string) bool {
		n, err := strconv.ParseInt(w, 0, 32)
		return err == nil && n >= 0 && n < 256 || qos[strings.ToLower(w)] != ""
	}), "one or two numbers up to 255 or names: " + qosNames},
	"localforward":     {2, func(w []string) bool { return len(w) == 2 && listens(w[0], 1) && reaches(w[1]) }, "[address:]port or a socket, then host:port or a socket"},
	"permitremoteopen": {0, opens, "any, none, or any number of host:port"},
	"rekeylimit": {2, func(w []string) bool {
		return amount(w[0]) && (len(w) == 1 || w[1] == "none" || isTime(w[1]))
	}, "default or a size such as 1G or 500M (at least 16 bytes), then none or a time such as 1h where there is a second value"},
	"remoteforward":       {2, func(w []string) bool { return listens(w[0], 0) && (len(w) == 1 || reaches(w[1])) }, "[address:]port or a socket, then host:port or a socket where it is not a SOCKS proxy"},
	"sendenv":             {0, all(func(w string) bool { return !strings.Contains(w, "=") }), "names of variables, without ="},
	"setenv":              {0, all(func(w string) bool { return strings.IndexByte(w, '=') > 0 }), "any number of NAME=value"},
	"streamlocalbindmask": {1, func(w []string) bool { return mask(w[0]) }, "an octal mask up to 0777"},
	"tunneldevice": {1, func(w []string) bool {
		a, b, two := strings.Cut(w[0], ":")
		return device(a) && (!two || device(b))
	}, "any, or a number, for one end or for both: local:remote"},
}

const qosNames = "af11 af12 af13 af21 af22 af23 af31 af32 af33 af41 af42 af43 cs0 cs1 cs2 cs3 cs4 cs5 cs6 cs7 ef le lowdelay throughput reliability none"

var qos = oneOf(qosNames)

func (l *line) checkForm(f form) error {
	switch {
	case len(l.args) == 0 || slices.Contains(l.args, ""):
		return fmt.Errorf("%s has no value", l.word)
	case f.words > 0 && len(l.args) > f.words:
		return fmt.Errorf("%s has more than %d values: it must be %s", l.word, f.words, f.is)
	case !f.ok(l.args):
		return l.invalid("invalid value", "%s", f.is)
	}
	return nil
}

// endpoint cuts host:port, [host]:port, host/port or port; false where it is none.
func endpoint(s string) (host, port string, ok bool) {
	if in, bracket := strings.CutPrefix(s, "["); bracket {
		host, after, closed := strings.Cut(in, "]")
		if !closed || after != "" && after[0] != ':' && after[0] != '/' {
			return "", "", false
		}
		if after == "" {
			return "", host, true
		}
		return host, after[1:], true
	}
	i := strings.IndexAny(s, ":/")
	if i < 0 {
		return "", s, true
	}
	return s[:i], s[i+1:], true
}

// listens reports whether s is what a forwarding may listen on: a socket, or a
// port of at least that number.
func listens(s string, least int) bool {
	if strings.HasPrefix(s, "/") {
		return true
	}
	_, p, ok := endpoint(s)
	n, num := port(p)
	return ok && num && n >= least
}

// reaches reports whether s is where a forwarding may lead.
func reaches(s string) bool {
	if strings.HasPrefix(s, "/") {
		return true
	}
	host, p, ok := endpoint(s)
	n, num := port(p)
	return ok && host != "" && num && n > 0
}

func opens(words []string) bool {
	if words[0] == "any" || words[0] == "none" {
		return len(words) == 1
	}
	return all(func(w string) bool {
		host, p, ok := endpoint(w)
		n, num := port(p)
		return ok && host != "" && (p == "*" || num && n > 0)
	})(words)
}

var amountWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+[KkMmGgTtPpEe]?$`) })

// amount reports whether s is an amount of data after which keys may change.
func amount(s string) bool {
	if s == "default" {
		return true
	}
	n, err := strconv.ParseUint(s, 10, 63)
	return amountWord().MatchString(s) && (err != nil || n == 0 || n >= 16)
}

// mask reports whether s begins with an octal mask, which is all that ssh looks at.
func mask(s string) bool {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '7' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseUint(s[:end], 8, 32)
	return err == nil && n <= 0o777
}

func device(s string) bool {
	n, err := strconv.Atoi(s)
	return s == "any" || err == nil && n >= 0 && n < math.MaxInt32-1
}

// The algorithms that versions of OpenSSH have. It has no arcfour any more, and
// brine can still talk to devices that know nothing else.
const (
	cipherNames = `3des-cbc aes128-cbc aes192-cbc aes256-cbc aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com
aes256-gcm@openssh.com chacha20-poly1305@openssh.com rijndael-cbc@lysator.liu.se arcfour arcfour128 arcfour256`
	macNames = `hmac-sha1 hmac-sha1-96 hmac-sha2-256 hmac-sha2-512 hmac-md5 hmac-md5-96 umac-64@openssh.com umac-128@openssh.com
hmac-sha1-etm@openssh.com hmac-sha1-96-etm@openssh.com hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com
hmac-md5-etm@openssh.com hmac-md5-96-etm@openssh.com umac-64-etm@openssh.com umac-128-etm@openssh.com`
	kexNames = `diffie-hellman-group1-sha1 diffie-hellman-group14-sha1 diffie-hellman-group14-sha256 diffie-hellman-group16-sha512
diffie-hellman-group18-sha512 diffie-hellman-group-exchange-sha1 diffie-hellman-group-exchange-sha256 ecdh-sha2-nistp256
ecdh-sha2-nistp384 ecdh-sha2-nistp521 curve25519-sha256 curve25519-sha256@libssh.org sntrup761x25519-sha512
sntrup761x25519-sha512@openssh.com mlkem768x25519-sha256`
	gssNames = `gss-gex-sha1- gss-group1-sha1- gss-group14-sha1- gss-group14-sha256- gss-group16-sha512- gss-nistp256-sha256-
gss-curve25519-sha256-`
	keyNames = `ssh-ed25519 ssh-ed25519-cert-v01@openssh.com sk-ssh-ed25519@openssh.com sk-ssh-ed25519-cert-v01@openssh.com
ecdsa-sha2-nistp256 ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384 ecdsa-sha2-nistp384-cert-v01@openssh.com
ecdsa-sha2-nistp521 ecdsa-sha2-nistp521-cert-v01@openssh.com sk-ecdsa-sha2-nistp256@openssh.com
sk-ecdsa-sha2-nistp256-cert-v01@openssh.com webauthn-sk-ecdsa-sha2-nistp256@openssh.com ssh-dss ssh-dss-cert-v01@openssh.com ssh-rsa
ssh-rsa-cert-v01@openssh.com rsa-sha2-256 rsa-sha2-256-cert-v01@openssh.com rsa-sha2-512 rsa-sha2-512-cert-v01@openssh.com`
)

// algorithmNames are the names that lists may contain. If patterns is set, a
// list may contain patterns; a list that begins with "-" may contain anything.
var algorithmNames = map[string]struct {
	names    string
	patterns bool
}{
	"casignaturealgorithms": {keyNames, true}, "ciphers": {cipherNames, false}, "gssapikexalgorithms": {gssNames, false},
	"hostbasedacceptedalgorithms": {keyNames, true}, "hostkeyalgorithms": {keyNames, true}, "kexalgorithms": {kexNames, false},
	"macs": {macNames, false}, "pubkeyacceptedalgorithms": {keyNames, true},
}

// checkAlgorithms looks for names in a list that are none of an algorithm.
func (l *line) checkAlgorithms() error {
	list, known := l.args[0], algorithmNames[l.key]
	if l.key != "gssapikexalgorithms" {
		if list[0] == '-' {
			return nil
		}
		list = strings.TrimLeft(list[:1], "+^") + list[1:]
	}
	names := strings.Fields(known.names)
	some := false
	for name := range strings.SplitSeq(list, ",") {
		if name == "" {
			continue // as ssh
		}
		some = true
		if slices.Contains(names, name) || known.patterns && slices.ContainsFunc(names, func(n string) bool { return Pattern(name, n) }) {
			continue
		}
		return fmt.Errorf("%s %s: unknown algorithm %q%s; there are %s", l.word, l.args[0], name, source.DidYouMean(name, names), strings.Join(names, ", "))
	}
	if !some {
		return errors.New(l.word + " has no value")
	}
	return nil
}
