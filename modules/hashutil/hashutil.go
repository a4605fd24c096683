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

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Module returns the execution module "hashutil".
func Module() fun.Module {
	return fun.Module{Name: "hashutil", Kind: fun.Exec, Doc: "Compute digests and Base64.", Specs: specs}
}

func bytesOf(v value.Value) []byte {
	if b, ok := v.(value.Bytes); ok {
		return []byte(b)
	}
	return []byte(value.Str(v))
}

// sum returns the digest of the argument.
func (a *instrArg) sum(h hash.Hash) (fun.Result, error) {
	h.Write(bytesOf(a.Instr))
	return fun.Value(hex.EncodeToString(h.Sum(nil)))
}

func md5Digest(_ context.Context, _ *fun.Call, a *instrArg) (fun.Result, error) {
	return a.sum(md5.New())
}

func sha256Digest(_ context.Context, _ *fun.Call, a *instrArg) (fun.Result, error) {
	return a.sum(sha256.New())
}

func sha512Digest(_ context.Context, _ *fun.Call, a *instrArg) (fun.Result, error) {
	return a.sum(sha512.New())
}

func encode64(_ context.Context, _ *fun.Call, a *instrArg) (fun.Result, error) {
	return fun.Value(base64.StdEncoding.EncodeToString(bytesOf(a.Instr)))
}

func encodeLines(_ context.Context, _ *fun.Call, a *instrArg) (fun.Result, error) {
	return fun.Value(lines(bytesOf(a.Instr)))
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

type digestArgs struct {
	instrArg
	checksumArgs
}

func digest(_ context.Context, c *fun.Call, a *digestArgs) (fun.Result, error) {
	h, err := newHash(a.Checksum)
	if err != nil {
		return fun.Result{}, err
	}
	h.Write(bytesOf(a.Instr))
	return fun.Value(hex.EncodeToString(h.Sum(nil)))
}

type digestFileArgs struct {
	Infile string `arg:"infile,required,path" doc:"the file"`
	checksumArgs
}

func digestFile(_ context.Context, c *fun.Call, a *digestFileArgs) (fun.Result, error) {
	h, err := newHash(a.Checksum)
	if err != nil {
		return fun.Result{}, err
	}
	f, err := c.Env.Host.Open(a.Infile)
	if err != nil {
		return fun.Result{}, fun.Errorf("File path '%s' not found.", a.Infile)
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	return fun.Value(hex.EncodeToString(h.Sum(nil)))
}

func decode64(_ context.Context, c *fun.Call, a *instrArg) (fun.Result, error) {
	b, err := decodeBytes(fun.TextOf(a.Instr))
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(string(b))
}

// decodeBytes decodes Base64 as Python does: other characters are skipped.
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

type encodeFileArgs struct {
	_     fun.Arguments
	Fname string `arg:"fname,required,path" doc:"the file"`
}

func encodeFile(_ context.Context, c *fun.Call, a *encodeFileArgs) (fun.Result, error) {
	b, err := c.Env.Host.ReadFile(a.Fname)
	if err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	return fun.Value(lines(b))
}

type decodeFileArgs struct {
	instrArg
	Outfile string `arg:"outfile,required,path" doc:"the file to write"`
}

func decodeFile(_ context.Context, c *fun.Call, a *decodeFileArgs) (fun.Result, error) {
	b, err := decodeBytes(fun.TextOf(a.Instr))
	if err != nil {
		return fun.Result{}, err
	}
	if err := c.Env.Host.WriteFile(a.Outfile, strings.NewReader(string(b)), host.WriteOptions{FollowLinks: true}); err != nil {
		return fun.Result{}, fun.Errorf("%s", host.OSError(err))
	}
	return fun.Value(true)
}

func mac(newHash func() hash.Hash, sharedSecret value.Value, argString value.Value) []byte {
	m := hmac.New(newHash, bytesOf(sharedSecret))
	m.Write(bytesOf(argString))
	return m.Sum(nil)
}

type hmacComputeArgs struct {
	stringArg
	secretArg
}

func hmacCompute(_ context.Context, c *fun.Call, a *hmacComputeArgs) (fun.Result, error) {
	return fun.Value(hex.EncodeToString(mac(sha256.New, a.SharedSecret, a.String)))
}

type hmacSignatureArgs struct {
	stringArg
	secretArg
	ChallengeHmac string `arg:"challenge_hmac,required" doc:"the HMAC as Base64"`
}

func hmacSignature(_ context.Context, c *fun.Call, a *hmacSignatureArgs) (fun.Result, error) {
	want, err := decodeBytes(a.ChallengeHmac)
	if err != nil { // no signature at all
		return fun.Value(false)
	}
	return fun.Value(hmac.Equal(mac(sha256.New, a.SharedSecret, a.String), want))
}

type githubSignatureArgs struct {
	stringArg
	secretArg
	ChallengeHmac string `arg:"challenge_hmac,required" doc:"the signature: sha1=HEX or sha256=HEX"`
}

func githubSignature(_ context.Context, c *fun.Call, a *githubSignatureArgs) (fun.Result, error) {
	kind, want, ok := strings.Cut(a.ChallengeHmac, "=")
	newHash := map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}[kind]
	if !ok || newHash == nil {
		return fun.Result{}, errors.New("the signature is to be TYPE=HEX, for example sha256=...")
	}
	return fun.Value(hmac.Equal([]byte(hex.EncodeToString(mac(newHash, a.SharedSecret, a.String))), []byte(want)))
}
