package shacrypt

import (
	"errors"
	"strings"
	"testing"
)

// The expected values are those of crypt.crypt of Python 3.11 (libxcrypt).
func TestHash(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ algorithm, password, salt, want string }{
		{"sha256", "secret", "saltstring", "$5$saltstring$C3o4O1TC6aRHF4FI.QSZMXtHbaj2gSXr4sUc/3NcUi."},
		{"sha256", "", "x", "$5$x$yHbtfs4Y8t6X1xcJemNX.4JQRfUTafA2qQenWGLBee2"},
		{"sha256", "é€ long password that is longer than sixty-four bytes, by a good margin, yes", "abcdefghijklmnop", "$5$abcdefghijklmnop$XEgWyvEWF4o0R05Kgjw63zhbGmodx6t3fi1.YUUDp5A"},
		{"sha256", "a", "rounds=1000$ab", "$5$rounds=1000$ab$P3cd6wKZFPAbfMhUgY7dLo0GqpWrBa.JqjfkdKvfAK/"},
		{"sha256", "pw", "0123456789abcdefXYZ", "$5$0123456789abcdef$nQeWGJveUL7jlr94v7ZnhFSJ8cRx.CTNSEnVWA95G.C"},
		{"sha512", "secret", "saltstring", "$6$saltstring$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz."},
		{"sha512", "", "x", "$6$x$QSmr1Bx2g4O6BzKvdkgOcyU6H91X6I/XBv5pSalMhSPkwdH6Beo3F455xZJg0v//bxVK5F4OE5k1.0xuR26MK0"},
		{"sha512", "é€ long password that is longer than sixty-four bytes, by a good margin, yes", "abcdefghijklmnop", "$6$abcdefghijklmnop$cnEK22RLV4K0UQPLCuu89PoGWgYZ4QMsav8N.HuHiaiKmr20SdS21uoiZTCYHIJVwb/idzsyBo5I723WGBTmq0"},
		{"sha512", "a", "rounds=1000$ab", "$6$rounds=1000$ab$pH9NrVOL0TsWVTwIsERtoDA4KGRST7iElxHdzYlv/7kFsSbdAYpDolZo0lKEk6Fy/6qd4OKBdkihSYcXYWb/E0"},
		{"sha512", "pw", "0123456789abcdefXYZ", "$6$0123456789abcdef$zAYvvEJcrKSqV2KUPTUM1K9eaGv20n9mUjWSDZW0QnwBRk0LSoTIT3PW7mCEa30acQuLwC1rnfhmbdGOSp.jX."},
		{"md5", "secret", "a", "$1$a$41c8gzdxX5iFFuqkeAdoe0"},
		{"md5", "a much longer password than sixteen bytes", "longersaltthan8", "$1$longersa$TzWzvxdC4E7Bjr5wa8sNr/"},
		{"md5", "", "ab", "$1$ab$rn6aQS/o7141mj179E/zA."},
	} {
		got, err := Hash(tt.algorithm, tt.password, tt.salt)
		if err != nil || got != tt.want {
			t.Errorf("Hash(%q, %q, %q) = %q, %v, want %q", tt.algorithm, tt.password, tt.salt, got, err, tt.want)
		}
	}
	if _, err := Hash("blowfish", "x", "y"); !errors.Is(err, ErrAlgorithm) {
		t.Errorf("Hash(blowfish) error = %v, want ErrAlgorithm", err)
	}
	if s := Salt(); len(s) != maxSalt || strings.Trim(s, alphabet) != "" {
		t.Errorf("Salt() = %q", s)
	}
}

// The hash is that of openssl passwd -apr1.
func TestApache(t *testing.T) {
	t.Parallel()
	if got, want := Apache("password", "saltsalt$x"), "$apr1$saltsalt$yAAkm4libquA.ZWLHbSBq/"; got != want {
		t.Errorf("Apache = %s, want %s", got, want)
	}
}
