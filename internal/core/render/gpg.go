package render

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// What an encrypted block starts and ends with.
const (
	pgpBegin = "-----BEGIN PGP MESSAGE-----"
	pgpEnd   = "-----END PGP MESSAGE-----"
)

// gpgTimeout is how long gpg may take for one block: without a terminal it has
// nothing to wait for.
const gpgTimeout = time.Minute

// maxPlainText bounds what a block may become, in bytes.
const maxPlainText = MaxText

// maxSecretLines is of how many lines a decrypted text is a secret as a whole.
const maxSecretLines = 4

// gpgStage decrypts the PGP messages in text, or anywhere in data, with the
// program gpg and the keys in gpg_keydir. A message that cannot be decrypted
// stays as it is, with a warning, or is an error where
// gpg_decrypt_must_succeed is set.
//
// Salt: salt/renderers/gpg.py.
func (e *Engine) gpgStage(ctx context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	fail := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &source.Error{Pos: source.Pos{File: in.name(), Line: 1}, Hint: e.gpgHint(err), Err: err, Salt: err.Error()}
	}
	if _, err := e.gpgPath(); err != nil {
		return nil, fail(err)
	}
	if !d.isText {
		v, err := e.decrypt(ctx, d.data, 0)
		if err != nil {
			return nil, fail(err)
		}
		return &datum{data: v}, nil
	}
	v, err := e.decryptText(ctx, d.text)
	if err != nil {
		return nil, fail(err)
	}
	text, ok := v.(string)
	if !ok {
		return nil, fail(errors.New("the decrypted text is not UTF-8"))
	}
	if text == d.text {
		return d, nil
	}
	// A block of many lines became one of few: what comes after it keeps its
	// place by counting from the end.
	before, after := strings.Count(d.text, "\n"), strings.Count(strings.TrimRight(d.text, "\n"), "\n")-strings.Count(text, "\n")
	first := strings.Count(d.text[:max(0, strings.Index(d.text, pgpBegin))], "\n") + 1
	pos := func(line int) source.Pos {
		if line > first {
			line = max(first, min(line+after, before+1))
		}
		return d.pos(line)
	}
	return &datum{isText: true, text: text, pos: pos}, nil
}

var errNoGPG = errors.New("GPG unavailable")

func (e *Engine) gpgPath() (string, error) {
	p, err := e.env.Host.LookPath("gpg", "")
	if err != nil {
		return "", errNoGPG
	}
	return p, nil
}

func (e *Engine) gpgHint(err error) string {
	if errors.Is(err, errNoGPG) {
		return "install the program gpg, which the renderer gpg runs"
	}
	return "the keys are looked for in " + e.gpgKeyDir() + " (option gpg_keydir)"
}

// Encrypted reports whether there is a PGP message anywhere in v.
func Encrypted(v value.Value) bool { return encrypted(v, 0) }

func encrypted(v value.Value, depth int) bool {
	if depth > maxDataDepth {
		return true // nothing searches deeper
	}
	switch v := v.(type) {
	case string:
		return strings.Contains(v, pgpBegin)
	case value.Bytes:
		return strings.Contains(string(v), pgpBegin)
	case *value.List:
		for _, x := range v.Items {
			if encrypted(x, depth+1) {
				return true
			}
		}
	case value.Tuple:
		for _, x := range v {
			if encrypted(x, depth+1) {
				return true
			}
		}
	case *value.Map:
		for k, x := range v.All() {
			if encrypted(k, depth+1) || encrypted(x, depth+1) {
				return true
			}
		}
	}
	return false
}

// gpgKeyDir returns the directory of the keys: gpg_keydir, or gpgkeys beside
// the configuration.
func (e *Engine) gpgKeyDir() string {
	// Grains only where they are this machine's own: a target must not choose the
	// keys, nor what gpg reads beside them.
	sources := []value.Mapping{e.env.Opts}
	if e.env.Subject == nil {
		sources = append(sources, e.env.Grains)
	}
	for _, from := range sources {
		if from == nil {
			continue
		}
		if v, _ := from.Get("gpg_keydir"); v != nil {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
	}
	dir := e.env.Opts.Str("config_dir")
	if dir == "" {
		if f := e.env.Opts.Str("conf_file"); f != "" {
			dir = filepath.Dir(f)
		}
	}
	if dir == "" {
		dir = "/etc/salt"
	}
	return filepath.Join(dir, "gpgkeys")
}

// Decrypt returns v with the PGP messages in it decrypted; containers are
// changed in place. Values with nothing to decrypt stay as they are.
func (e *Engine) Decrypt(ctx context.Context, v value.Value) (value.Value, error) {
	if _, err := e.gpgPath(); err != nil {
		return v, err
	}
	return e.decrypt(ctx, v, 0)
}

func (e *Engine) decrypt(ctx context.Context, v value.Value, depth int) (value.Value, error) {
	if depth > maxDataDepth {
		return nil, errors.New("data to decrypt is nested too deep")
	}
	switch v := v.(type) {
	case string:
		return e.decryptText(ctx, v)
	case value.Bytes:
		return e.decryptText(ctx, string(v))
	case *value.List:
		for i, x := range v.Items {
			y, err := e.decrypt(ctx, x, depth+1)
			if err != nil {
				return nil, err
			}
			v.Items[i] = y
		}
	case *value.Map:
		for i := range v.Len() {
			k, x := v.Entry(i)
			y, err := e.decrypt(ctx, x, depth+1)
			if err != nil {
				return nil, err
			}
			v.Set(k, y)
		}
	}
	return v, nil
}

// maxDataDepth bounds how deep data is searched.
const maxDataDepth = 1000

// decryptText decrypts the messages in text. Newlines at its end go where there
// was one. The result is bytes where it is not UTF-8.
func (e *Engine) decryptText(ctx context.Context, text string) (value.Value, error) {
	if !strings.Contains(text, pgpBegin) {
		return text, nil
	}
	var b strings.Builder
	found := false
	for {
		i := strings.Index(text, pgpBegin)
		if i < 0 {
			break
		}
		n := strings.Index(text[i:], pgpEnd)
		if n < 0 {
			break
		}
		n += len(pgpEnd)
		plain, err := e.decryptBlock(ctx, strings.ReplaceAll(text[i:i+n], `\n`, "\n"))
		if err != nil {
			return nil, err
		}
		b.WriteString(text[:i])
		b.WriteString(plain)
		text = text[i+n:]
		found = true
	}
	b.WriteString(text)
	out := b.String()
	if found {
		out = strings.TrimRight(out, "\n")
	}
	if !utf8.ValidString(out) {
		return value.Bytes(out), nil
	}
	return out, nil
}

// decryptBlock decrypts one message; each is decrypted once for an engine.
func (e *Engine) decryptBlock(ctx context.Context, block string) (string, error) {
	key := e.gpgKeyDir() + "\x00" + block
	e.mu.Lock()
	plain, ok := e.plain[key]
	e.mu.Unlock()
	if ok {
		return plain, nil
	}
	gpg, err := e.gpgPath()
	if err != nil {
		return "", err
	}
	out, err := e.env.Host.Run(ctx, host.Cmd{
		Argv:  []string{gpg, "--homedir", e.gpgKeyDir(), "--status-fd", "2", "--no-tty", "-d"},
		Stdin: strings.NewReader(block), Timeout: gpgTimeout, MaxOutput: maxPlainText,
	})
	if err == nil && len(out.Stdout) == 0 {
		err = errors.New(gpgReason(out.Stderr))
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if value.Truth(e.env.Opts.At("gpg_decrypt_must_succeed")) {
			return "", errors.New("Could not decrypt cipher: " + err.Error())
		}
		// Neither the message nor what it stands for is logged.
		e.env.Log().Warn("a PGP message could not be decrypted", "keydir", e.gpgKeyDir(), "gpg", err.Error())
		return block, nil
	}
	// A text of many lines is a whole file, most of which is not secret: the
	// names of its keys show what is.
	if plain := string(out.Stdout); strings.Count(plain, "\n") <= maxSecretLines || strings.HasPrefix(plain, "-----BEGIN ") {
		e.env.Secrets.Add(plain)
	}
	e.mu.Lock()
	e.plain[key] = string(out.Stdout)
	e.mu.Unlock()
	return string(out.Stdout), nil
}

// gpgReason returns what gpg says to people, without its lines for programs.
func gpgReason(stderr []byte) string {
	var said []string
	for line := range bytes.Lines(stderr) {
		if l := strings.TrimSpace(string(line)); l != "" && !strings.HasPrefix(l, "[GNUPG:]") {
			said = append(said, l)
		}
	}
	if len(said) == 0 {
		return "gpg gave nothing"
	}
	return strings.Join(said, "; ")
}
