// Package hashutil is Salt's execution module hashutil: digests and Base64.
//
// Salt: salt/modules/hashutil.py.
package hashutil

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// Module returns the execution module hashutil.
func Module() fun.Module {
	instr := fun.Need("instr", fun.Any, "the text")
	checksum := fun.Arg{Name: "checksum", Type: fun.Str, Default: "md5", Doc: "md5, sha256 or sha512"}
	file := fun.Need("fname", fun.Any, "the file")
	out := fun.Need("outfile", fun.Any, "the file to write")
	return fun.Module{
		Name: "hashutil", Kind: fun.Exec, Doc: "Digests and Base64.",
		Specs: []fun.Spec{
			row("base64_b64decode", "Decode Base64.", func(_ context.Context, c *fun.Call) (value.Value, error) { return decode(c.Str("instr")) }, instr),
			row("base64_b64encode", "Encode as Base64 without line breaks.", func(_ context.Context, c *fun.Call) (value.Value, error) {
				return base64.StdEncoding.EncodeToString(text(c)), nil
			}, instr),
			row("base64_decodefile", "Decode Base64 and write it to a file.", decodeFile, instr, out),
			row("base64_decodestring", "Decode Base64 of several lines.", func(_ context.Context, c *fun.Call) (value.Value, error) { return decode(c.Str("instr")) }, instr),
			row("base64_encodefile", "Read a file and encode it as Base64 of several lines.", encodeFile, file),
			row("base64_encodestring", "Encode as Base64 in lines of 76 characters.", func(_ context.Context, c *fun.Call) (value.Value, error) {
				return lines(text(c)), nil
			}, instr),
			row("digest", "Return the digest of a text.", digest, instr, checksum),
			row("digest_file", "Return the digest of a file.", digestFile, fun.Need("infile", fun.Any, "the file"), checksum),
			row("github_signature", "Tell whether a GitHub webhook signature is that of a text.", githubSignature,
				fun.Need("string", fun.Any, "the text"), fun.Need("shared_secret", fun.Any, "the secret"), fun.Need("challenge_hmac", fun.Any, "the signature: sha1=HEX or sha256=HEX")),
			row("hmac_compute", "Return the HMAC-SHA256 of a text, as hex.", hmacCompute, fun.Need("string", fun.Any, "the text"), fun.Need("shared_secret", fun.Any, "the secret")),
			row("hmac_signature", "Tell whether a text has an HMAC-SHA256, given as Base64.", hmacSignature,
				fun.Need("string", fun.Any, "the text"), fun.Need("shared_secret", fun.Any, "the secret"), fun.Need("challenge_hmac", fun.Any, "the HMAC, as Base64")),
			row("md5_digest", "Return the MD5 digest of a text.", sum(md5.New), instr),
			row("sha256_digest", "Return the SHA-256 digest of a text.", sum(sha256.New), instr),
			row("sha512_digest", "Return the SHA-512 digest of a text.", sum(sha512.New), instr),
		},
	}
}

// row is a row of Salt's modules/hashutil.py.
//
//go:noinline
func row(name, doc string, fn func(context.Context, *fun.Call) (value.Value, error), args ...fun.Arg) fun.Spec {
	return fun.Spec{
		Name: name, Doc: doc, Src: "modules/hashutil.py " + name, Args: args,
		Fn: func(ctx context.Context, c *fun.Call) (fun.Result, error) {
			v, err := fn(ctx, c)
			return fun.Result{Value: v}, err
		},
	}
}

// text returns the first argument as bytes.
func text(c *fun.Call) []byte { return bytesOf(c.Value(c.Spec.Args[0].Name)) }

func bytesOf(v value.Value) []byte {
	if b, ok := v.(value.Bytes); ok {
		return []byte(b)
	}
	return []byte(value.Str(v))
}

func sum(newHash func() hash.Hash) func(context.Context, *fun.Call) (value.Value, error) {
	return func(_ context.Context, c *fun.Call) (value.Value, error) {
		h := newHash()
		h.Write(text(c))
		return hex.EncodeToString(h.Sum(nil)), nil
	}
}

// newHash returns the hash function of digest, or Salt's error.
func newHash(name string) (hash.Hash, error) {
	switch name {
	case "md5":
		return md5.New(), nil
	case "sha256":
		return sha256.New(), nil
	case "sha512":
		return sha512.New(), nil
	}
	return nil, fun.Errorf("Hash func '%s' is not supported.", name)
}

func digest(_ context.Context, c *fun.Call) (value.Value, error) {
	h, err := newHash(c.Str("checksum"))
	if err != nil {
		return nil, err
	}
	h.Write(text(c))
	return hex.EncodeToString(h.Sum(nil)), nil
}

func digestFile(_ context.Context, c *fun.Call) (value.Value, error) {
	h, err := newHash(c.Str("checksum"))
	if err != nil {
		return nil, err
	}
	f, err := c.Env.Host.Open(c.Str("infile"))
	if err != nil {
		return nil, fun.Errorf("File path '%s' not found.", c.Str("infile"))
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fun.Errorf("%s", host.OSError(err))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// decode decodes Base64 as Python does: what is no Base64 character is skipped.
func decode(s string) (value.Value, error) {
	b, err := decodeBytes(s)
	if err != nil {
		return nil, err
	}
	return string(b), nil
}

func decodeBytes(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '/' || r == '=' {
			return r
		}
		return -1
	}, s)
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, &value.PyError{Type: "binascii.Error", Msg: "Incorrect padding"}
	}
	return b, nil
}

// lines encodes in lines of 76 characters, each with its newline.
func lines(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := min(57, len(b))
		out.WriteString(base64.StdEncoding.EncodeToString(b[:n]))
		out.WriteByte('\n')
		b = b[n:]
	}
	return out.String()
}

func encodeFile(_ context.Context, c *fun.Call) (value.Value, error) {
	b, err := c.Env.Host.ReadFile(c.Str("fname"))
	if err != nil {
		return nil, fun.Errorf("%s", host.OSError(err))
	}
	return lines(b), nil
}

func decodeFile(_ context.Context, c *fun.Call) (value.Value, error) {
	b, err := decodeBytes(c.Str("instr"))
	if err != nil {
		return nil, err
	}
	if err := c.Env.Host.WriteFile(c.Str("outfile"), strings.NewReader(string(b)), host.WriteOptions{FollowLinks: true}); err != nil {
		return nil, fun.Errorf("%s", host.OSError(err))
	}
	return true, nil
}

func mac(newHash func() hash.Hash, c *fun.Call) []byte {
	m := hmac.New(newHash, bytesOf(c.Value("shared_secret")))
	m.Write(bytesOf(c.Value("string")))
	return m.Sum(nil)
}

func hmacCompute(_ context.Context, c *fun.Call) (value.Value, error) {
	return hex.EncodeToString(mac(sha256.New, c)), nil
}

func hmacSignature(_ context.Context, c *fun.Call) (value.Value, error) {
	want, err := decodeBytes(c.Str("challenge_hmac"))
	if err != nil {
		return nil, err
	}
	return hmac.Equal(mac(sha256.New, c), want), nil
}

func githubSignature(_ context.Context, c *fun.Call) (value.Value, error) {
	kind, want, ok := strings.Cut(c.Str("challenge_hmac"), "=")
	newHash := map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}[kind]
	if !ok || newHash == nil {
		return nil, errors.New("the signature is to be TYPE=HEX, for example sha256=...")
	}
	return hmac.Equal([]byte(hex.EncodeToString(mac(newHash, c))), []byte(want)), nil
}
