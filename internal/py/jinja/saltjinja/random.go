package saltjinja

import (
	"crypto/sha512"
	"encoding/hex"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// seedText is what Salt makes of a seed: its SHA-512 in hexadecimal, which
// Python then seeds its generator with.
func seedText(seed value.Value) (string, error) {
	var in []byte
	if s, ok := value.AsText(seed); ok {
		in = []byte(s)
	} else if b, ok := seed.(value.Bytes); ok {
		in = []byte(b)
	} else {
		if err := jinja.Defined(seed); err != nil {
			return "", err
		}
		return "", value.Raise("TypeError", "object supporting the buffer API required")
	}
	sum := sha512.Sum512(in)
	return hex.EncodeToString(sum[:]), nil
}
