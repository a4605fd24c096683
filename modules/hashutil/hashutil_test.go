package hashutil_test

import (
	"context"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/hashutil"
)

func newEnv() (*fun.Env, *host.Fake) {
	f := host.NewFake()
	f.PutFile("/f", "one\n", 0o644)
	f.PutFile("/long", "0123456789012345678901234567890123456789012345678901234567890123456789", 0o644)
	env := &fun.Env{Machine: fun.Machine{Host: f}, Data: fun.Data{Opts: value.NewMap(0), Memo: &fun.Memo{}}, Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "hashutil", Load: hashutil.Module}})}}
	env.Invoker = dispatch.New(env)
	return env, f
}

// TestFunctions has what Python's hashlib, hmac and base64 say.
func TestFunctions(t *testing.T) {
	t.Parallel()
	env, f := newEnv()
	for _, tt := range []struct {
		fn   string
		args []value.Value
		want string
	}{
		{"digest", []value.Value{"get salted"}, "'2aacf29e92feaf528fb738bcf9d647ac'"},
		{"md5_digest", []value.Value{"abc"}, "'900150983cd24fb0d6963f7d28e17f72'"},
		{"sha256_digest", []value.Value{"abc"}, "'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"},
		{"sha512_digest", []value.Value{"abc"}, "'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f'"},
		{"digest", []value.Value{"abc", "sha256"}, "'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"},
		{"digest", []value.Value{"abc", "crc"}, "error: Hash func 'crc' is not supported."},
		{"digest_file", []value.Value{"/f"}, "'5bbf5a52328e7439ae6e719dfe712200'"},
		{"digest_file", []value.Value{"/none"}, "error: File path '/none' not found."},
		{"base64_b64encode", []value.Value{"get salted"}, "'Z2V0IHNhbHRlZA=='"},
		{"base64_b64decode", []value.Value{"Z2V0IHNhbHRlZA=="}, "'get salted'"},
		{"base64_b64decode", []value.Value{"Z2V"}, "error: Incorrect padding"},
		{"base64_encodestring", []value.Value{"get salted"}, `'Z2V0IHNhbHRlZA==\n'`},
		{"base64_decodestring", []value.Value{"Z2V0IHNh\nbHRlZA==\n"}, "'get salted'"},
		{"base64_encodefile", []value.Value{"/long"}, `'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2\nNzg5MDEyMzQ1Njc4OQ==\n'`},
		{"base64_encodefile", []value.Value{"/none"}, "error: [Errno 2] No such file or directory: '/none'"},
		{"base64_decodefile", []value.Value{"aGk=", "/out"}, "True"},
		{"hmac_signature", []value.Value{"get salted", "shared secret", "eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ="}, "True"},
		{"hmac_signature", []value.Value{"get salted", "other secret", "eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ="}, "False"},
		{"hmac_compute", []value.Value{"get salted", "shared secret"}, "'78159ff5bb2d5e0f8d88fe403b0a690791ccbd989830fcc433d5b960c9bf0264'"},
		{"github_signature", []value.Value{`{"ref":....} `, "shared secret", "sha1=bc4342c1298040eee1e418c9c6ccb3a2cacfc6b7"}, "True"},
		{"github_signature", []value.Value{"x", "y", "none"}, "error: the signature is to be TYPE=HEX, for example sha256=..."},
	} {
		res, err := env.Invoker.Invoke(context.Background(), fun.Exec, "hashutil."+tt.fn, fun.Args{Pos: tt.args, Kw: value.NewMap(0)})
		got := value.Repr(res.Value)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s(%v) = %s, want %s", tt.fn, tt.args, got, tt.want)
		}
	}
	if got := f.Text("/out"); got != "hi" {
		t.Errorf("/out is %q", got)
	}
}
