package value

import "testing"

// The expected values are those of Python 3.11's bytes.decode("utf-8", "replace").
func TestDecodeReplace(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"aé€😀", "aé€😀"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"a\xe2\x82b", "a\ufffdb"},
		{"\xe2", "\ufffd"},
		{"\xf0\x9f\x98", "\ufffd"},
		{"\xf0\x9f\x98\xf0\x9f\x98\x80", "\ufffd😀"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xc0\x80", "\ufffd\ufffd"},
		{"\xf5\x80", "\ufffd\ufffd"},
		{"\xe0\x9f\xbf", "\ufffd\ufffd\ufffd"},
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
	} {
		if got := DecodeReplace([]byte(tt.in)); got != tt.want {
			t.Errorf("DecodeReplace(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
