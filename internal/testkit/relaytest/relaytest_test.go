package relaytest

import (
	"encoding/base64"
	"encoding/hex"
	"testing"
)

// TestFind: a text is found wherever it stands, however it is written.
func TestFind(t *testing.T) {
	t.Parallel()
	const text = "a secret/ö+?>~ text"
	for name, b := range map[string]string{
		"plain": "x" + text + "y", "hex": "00" + hex.EncodeToString([]byte(text)),
		"base64 0": base64.StdEncoding.EncodeToString([]byte(text + "more")), "base64 1": base64.StdEncoding.EncodeToString([]byte("a" + text + "more")),
		"base64 2": base64.URLEncoding.EncodeToString([]byte("ab" + text + "m")), "base64 3": base64.StdEncoding.EncodeToString([]byte("abc" + text)),
	} {
		if found := (&Legible{Decrypted: [][]byte{[]byte(b)}}).Find(text); len(found) == 0 {
			t.Errorf("%s: it is not found in %q", name, b)
		}
	}
	if found := (&Legible{Raw: []byte("another text")}).Find(text); len(found) > 0 {
		t.Errorf("it is found in another one: %v", found)
	}
}
