package roster

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"brine/internal/py/proc"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// keys are those of an entry: of salt-ssh, and brine's connection and grains.
func keys() []string {
	return []string{
		"cmd_umask", "connection", "grains", "host", "identities_only", "minion_opts", "passwd", "port", "priv", "priv_passwd",
		"relay", "relay_fallback", "remote_port_forwards", "set_path", "ssh_options", "ssh_pre_flight", "ssh_pre_flight_args", "sudo", "sudo_user",
		"thin_dir", "timeout", "tty", "user", "winrm",
	}
}

// entry makes an entry of its data and the defaults.
func (l *loader) entry(id string, data *value.Map, pos source.Pos) *Entry {
	e := &Entry{ID: id, Pos: pos, Connection: SSH, Host: id, Extra: value.NewMap(0)}
	if id == "" || strings.ContainsAny(id, "/\x00\n\r") {
		e.fail(pos, fmt.Errorf("%q cannot be an id", id))
	}
	for k, v := range l.o.Defaults.All() {
		if !data.Has(k) {
			l.set(e, value.Str(k), v, pos)
		}
	}
	for k, v := range data.All() {
		l.set(e, value.Str(k), v, orFile(data.Pos(k), pos.File))
		if (k == "passwd" || k == "priv_passwd") && v != nil && v != "" {
			e.secrets = true
		}
	}
	e.ownRelay, e.relayAt = data.Has("relay"), orFile(data.Pos("relay"), pos.File)
	// It becomes a word of command lines, where a dash would make it an option.
	if e.Connection != Local && (e.Host == "" || strings.HasPrefix(e.Host, "-") || strings.ContainsAny(e.Host, " \t\n\r\x00")) {
		at := data.Pos("host")
		if at.IsZero() {
			at = pos
		}
		e.fail(at, fmt.Errorf("%q is not the name of a host", e.Host))
	}
	if sub, ok := e.MinionOpts.At("grains").(value.Mapping); ok {
		g := value.NewMap(sub.Len())
		g.Update(sub)
		g.Update(e.Grains)
		e.Grains = g
	}
	return e
}

func (e *Entry) fail(pos source.Pos, err error) {
	err = &source.Error{Pos: pos, Err: fmt.Errorf("roster entry %q: %w", e.ID, err)}
	if e.Err != nil {
		err = fmt.Errorf("%w; %w", e.Err, err)
	}
	e.Err = err
}

// set sets the field of a key. What is None is as if it were not there.
func (l *loader) set(e *Entry, key string, v value.Value, pos source.Pos) {
	if v == nil {
		return
	}
	var err error
	switch key {
	case "host":
		e.Host, err = text(v)
	case "port":
		e.Port, err = port(v)
	case "user":
		e.User, err = text(v)
		if err == nil && (strings.HasPrefix(e.User, "-") || strings.ContainsAny(e.User, "\n\r\x00")) {
			err = fmt.Errorf("%q is not the name of a user", e.User)
		}
	case "passwd":
		e.Passwd, err = l.secret(e, key, v, pos)
	case "priv":
		e.Priv, err = text(v)
	case "priv_passwd":
		e.PrivPasswd, err = l.secret(e, key, v, pos)
	case "sudo":
		e.Sudo = l.yes(e.ID, key, v, pos)
	case "sudo_user":
		e.SudoUser, err = text(v)
	case "tty":
		e.TTY = l.yes(e.ID, key, v, pos)
	case "timeout":
		e.Timeout, err = seconds(v)
	case "minion_opts":
		e.MinionOpts, err = mapping(v)
	case "grains":
		e.Grains, err = mapping(v)
	case "thin_dir":
		e.ThinDir, err = text(v)
	case "set_path":
		e.SetPath, err = text(v)
	case "ssh_options":
		e.SSHOptions, err = list(v)
	case "cmd_umask":
		e.CmdUmask, err = umask(v)
	case "ssh_pre_flight":
		e.PreFlight, err = text(v)
	case "ssh_pre_flight_args":
		if line, ok := v.(string); ok { // as Salt does: the words of a shell
			e.PreFlightArgs, err = proc.Split(line)
		} else {
			e.PreFlightArgs, err = list(v)
		}
	case "identities_only":
		e.IdentitiesOnly = l.yes(e.ID, key, v, pos)
	case "remote_port_forwards":
		if e.RemotePortForwards, err = text(v); err == nil && e.RemotePortForwards != "" {
			l.noteMistake(e.ID, pos, "remote_port_forwards has no effect: brine forwards no ports of targets; ssh -R beside the run does")
		}
	case "relay":
		e.Relay, err = relayName(v)
	case "relay_fallback":
		e.RelayFallback, err = relayName(v)
	case "connection":
		e.Connection, err = text(v)
		if kinds := []string{SSH, Local}; err == nil && e.Connection != SSH && e.Connection != Local {
			err = fmt.Errorf("unknown connection %q%s; there are %s", e.Connection, source.DidYouMean(e.Connection, kinds), strings.Join(kinds, ", "))
		}
	case "winrm":
		if value.Truth(v) {
			err = errors.New("targets by winrm are not supported")
		}
	default:
		if low := strings.ToLower(key); strings.Contains(low, "pass") || strings.Contains(low, "secret") || strings.Contains(low, "token") {
			v = stars
		}
		e.Extra.Set(key, v)
		l.noteMistake(e.ID, pos, "unknown key %q%s", key, hintFor(key))
	}
	if err != nil {
		e.fail(pos, fmt.Errorf("%s: %w", key, err))
	}
}

// hintFor names the key that is meant: by likeness, or by what others call it.
func hintFor(key string) string {
	switch strings.ToLower(key) {
	case "password", "pass", "ssh_passwd", "ssh_pass":
		return ` (did you mean "passwd"?)`
	case "key", "identity", "identity_file", "identityfile", "private_key", "ssh_priv":
		return ` (did you mean "priv"?)`
	case "hostname", "address", "ip", "ipv4":
		return ` (did you mean "host"?)`
	case "username", "login", "ssh_user":
		return ` (did you mean "user"?)`
	case "become":
		return ` (did you mean "sudo"?)`
	}
	return source.DidYouMean(key, keys())
}

func text(v value.Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int64, float64:
		return value.Str(v), nil
	}
	return "", fmt.Errorf("needs text, not %s", value.Kind(v))
}

func (l *loader) secret(e *Entry, key string, v value.Value, pos source.Pos) (Secret, error) {
	if _, ok := v.(string); !ok {
		s, err := text(v)
		if err == nil {
			l.noteMistake(e.ID, pos, "%s is a %s to YAML, which may not be what was written; put it in quotes", key, value.TypeName(v))
		}
		return Secret{s}, err
	}
	return Secret{v.(string)}, nil
}

// yes is Python's truth, as in Salt: the string "false" is true, which is
// probably a mistake and warned about.
func (l *loader) yes(id, key string, v value.Value, pos source.Pos) bool {
	if s, ok := v.(string); ok {
		switch strings.ToLower(s) {
		case "false", "no", "off", "0", "none":
			l.noteMistake(id, pos, "%s: %q is text, and text is true", key, s)
		}
	}
	return value.Truth(v)
}

func port(v value.Value) (int, error) {
	n, ok := v.(int64)
	if s, isText := v.(string); isText {
		i, err := strconv.Atoi(strings.TrimSpace(s))
		n, ok = int64(i), err == nil
	}
	if !ok || n < 1 || n > 65535 {
		return 0, fmt.Errorf("%s is not a port", value.Repr(v))
	}
	return int(n), nil
}

func seconds(v value.Value) (time.Duration, error) {
	f := 0.0
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case float64:
		f = v
	case string:
		x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number of seconds", v)
		}
		f = x
	default:
		return 0, fmt.Errorf("needs a number of seconds, not %s", value.Kind(v))
	}
	if !(f >= 0 && f < 1e7) {
		return 0, fmt.Errorf("%s is not a number of seconds", value.Repr(v))
	}
	return time.Duration(f * float64(time.Second)), nil
}

// umask reads an octal mask, which YAML gives as a number of the same digits.
func umask(v value.Value) (string, error) {
	s, err := text(v)
	if err != nil {
		return "", err
	}
	if _, err := strconv.ParseUint(s, 8, 12); err != nil {
		return "", fmt.Errorf("%q is not an octal umask", s)
	}
	return fmt.Sprintf("%04s", s), nil
}

func mapping(v value.Value) (*value.Map, error) {
	m, ok := v.(value.Mapping)
	if !ok {
		return nil, fmt.Errorf("needs a mapping, not %s", value.Kind(v))
	}
	if m, ok := m.(*value.Map); ok {
		return m, nil
	}
	out := value.NewMap(m.Len())
	out.Update(m)
	return out, nil
}

// list reads a list of texts, or a text that is the one item.
func list(v value.Value) ([]string, error) {
	l, ok := v.(*value.List)
	if !ok {
		s, err := text(v)
		if err != nil || s == "" {
			return nil, err
		}
		return []string{s}, nil
	}
	out := make([]string, 0, l.Len())
	for _, x := range l.Items {
		s, err := text(x)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
