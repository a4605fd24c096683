package x509

import (
	"fmt"
	"testing"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/testkit/calltest"
	"brine/internal/value"
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
					c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: calltest.Load(t, tt.args).(*value.Map)})
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
