package x509

import (
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
)

// A private key that is made is for its owner, whatever the umask and whichever
// module makes it. A mode that is asked for, and what a group may, stay.
func TestKeyModes(t *testing.T) {
	t.Parallel()
	for _, v2 := range []bool{false, true} {
		for _, umask := range []int{0o000, 0o022, 0o077} {
			for _, tt := range []struct {
				have uint32 // of a file that is there; 0: there is none
				args string
				want uint32 // of v1
				v2   uint32 // 0: the same
			}{
				{0, "{name: /pki/k, bits: 2048}", 0o600, 0o400},
				{0, "{name: /pki/k, bits: 2048, mode: '0640'}", 0o640, 0},
				{0o644, "{name: /pki/k, bits: 2048, overwrite: true}", 0o640, 0o400},
				{0o640, "{name: /pki/k, bits: 2048, overwrite: true}", 0o640, 0o400},
				{0o600, "{name: /pki/k, bits: 2048, overwrite: true}", 0o600, 0o400},
				{0o644, "{name: /pki/k, bits: 2048, overwrite: true, mode: '0644'}", 0o644, 0},
			} {
				t.Run(fmt.Sprintf("v2=%v umask=%03o %03o %s", v2, umask, tt.have, tt.args), func(t *testing.T) {
					t.Parallel()
					r, h := rig(v2)
					h.Umask = umask
					if tt.have != 0 {
						h.PutFile("/pki/k", "no key\n", host.FileMode(tt.have))
					}
					mod, spec, err := r.Env.Find(fun.State, "x509.private_key_managed")
					if err != nil {
						t.Fatal(err)
					}
					c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
					if err != nil {
						t.Fatal(err)
					}
					if ret := spec.State(t.Context(), c); ret.Result != fun.OK {
						t.Fatalf("%v %v", ret.Comment, ret.Err)
					}
					want := tt.want
					if v2 && tt.v2 != 0 {
						want = tt.v2
					}
					if st, err := h.Stat("/pki/k"); err != nil || st.Perm() != want {
						t.Errorf("the mode is %04o, want %04o (%v)", st.Perm(), want, err)
					}
				})
			}
			t.Run(fmt.Sprintf("create_private_key v2=%v umask=%03o", v2, umask), func(t *testing.T) {
				t.Parallel()
				r, h := rig(v2)
				h.Umask = umask
				if _, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, "x509.create_private_key", fun.Args{Kw: value.MapOf("path", "/pki/k", "bits", int64(2048))}); err != nil {
					t.Fatal(err)
				}
				if st, err := h.Stat("/pki/k"); err != nil || st.Perm() != 0o600 {
					t.Errorf("the mode is %04o (%v)", st.Perm(), err)
				}
			})
		}
	}
}

// A file that gets a private key together with a certificate, or as a block of PEM, is
// for its owner, too, and stays as it is when nothing changes. A certificate is for all.
func TestKeyModesOfOtherFiles(t *testing.T) {
	t.Parallel()
	const cert = "x509.certificate_managed {name: /pki/f, signing_private_key: /pki/k, private_key: /pki/k, CN: x, encoding: "
	for _, umask := range []int{0o000, 0o022, 0o077} {
		for _, tt := range []struct {
			v2   bool
			have uint32 // of a file that is there; 0: there is none
			call string
			want uint32 // 0: what the umask leaves
		}{
			{true, 0, cert + "pkcs12}", 0o600},
			{true, 0, cert + "pkcs12, pkcs12_passphrase: x}", 0o600},
			{true, 0, cert + "pkcs12, mode: '0640'}", 0o640},
			{true, 0o644, cert + "pkcs12}", 0o640},
			{true, 0o600, cert + "pkcs12}", 0o600},
			{true, 0o600, cert + "pkcs12, mode: '0644'}", 0o644},
			{true, 0, cert + "pem}", 0},
			{true, 0, cert + "der}", 0},
			{true, 0, "x509.pem_managed {name: /pki/f, text: /pki/k}", 0o600},
			{true, 0o644, "x509.pem_managed {name: /pki/f, text: /pki/k}", 0o640},
			{true, 0, "x509.pem_managed {name: /pki/f, text: /pki/k, mode: '0644'}", 0o644},
			{true, 0, "x509.pem_managed {name: /pki/f, text: /pki/c}", 0},
			{false, 0, "x509.pem_managed {name: /pki/f, text: /pki/k}", 0o600},
			{false, 0o644, "x509.pem_managed {name: /pki/f, text: /pki/k}", 0o640},
			{false, 0, "x509.pem_managed {name: /pki/f, text: /pki/k, mode: '0644'}", 0o644},
			{false, 0, "x509.pem_managed {name: /pki/f, text: /pki/c}", 0},
		} {
			t.Run(fmt.Sprintf("v2=%v umask=%03o %03o %s", tt.v2, umask, tt.have, tt.call), func(t *testing.T) {
				t.Parallel()
				r, h := rig(tt.v2)
				h.Umask = umask
				if _, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, "x509.create_private_key", fun.Args{Kw: value.MapOf("path", "/pki/k", "bits", int64(2048))}); err != nil {
					t.Fatal(err)
				}
				h.PutFile("/pki/c", "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n", 0o644)
				if tt.have != 0 {
					h.PutFile("/pki/f", "no key\n", host.FileMode(tt.have))
				}
				name, args, _ := strings.Cut(tt.call, " ")
				state := func() {
					t.Helper()
					mod, spec, err := r.Env.Find(fun.State, name)
					if err != nil {
						t.Fatal(err)
					}
					c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, args).(*value.Map)})
					if err != nil {
						t.Fatal(err)
					}
					if ret := spec.State(t.Context(), c); ret.Result != fun.OK {
						t.Fatalf("%v %v", ret.Comment, ret.Err)
					}
				}
				state()
				want := tt.want
				if want == 0 {
					want = 0o666 &^ uint32(umask)
				}
				if st, err := h.Stat("/pki/f"); err != nil || st.Perm() != want {
					t.Errorf("the mode is %04o, want %04o (%v)", st.Perm(), want, err)
				}
				before := len(h.Writes())
				if state(); len(h.Writes()) != before {
					t.Errorf("once more, it wrote %v", h.Writes()[before:])
				}
			})
		}
	}
}

// Functions that write a file with a private key make it for its owner, whatever the
// encoding.
func TestKeyModesOfFunctions(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		"x509.create_private_key {path: /pki/f, encoding: der}",
		"x509.create_private_key {path: /pki/f, encoding: pkcs12}",
		"x509.create_private_key {path: /pki/f, encoding: pem, passphrase: x}",
		"x509.create_certificate {path: /pki/f, signing_private_key: /pki/k, private_key: /pki/k, CN: x, encoding: pkcs12}",
		"x509.create_certificate {path: /pki/f, signing_private_key: /pki/k, private_key: /pki/k, CN: x, encoding: pkcs12, pkcs12_passphrase: x}",
		"x509.write_pem {text: /pki/k, path: /pki/f}",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			r, h := rig(true)
			h.Umask = 0
			name, args, _ := strings.Cut(call, " ")
			if name == "x509.write_pem" {
				r, h = rig(false)
				h.Umask = 0
			}
			if _, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, "x509.create_private_key", fun.Args{Kw: value.MapOf("path", "/pki/k", "bits", int64(2048))}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, name, fun.Args{Kw: calltest.YAML(t, args).(*value.Map)}); err != nil {
				t.Fatal(err)
			}
			if st, err := h.Stat("/pki/f"); err != nil || st.Perm() != 0o600 {
				t.Errorf("the mode is %04o (%v)", st.Perm(), err)
			}
		})
	}
}
