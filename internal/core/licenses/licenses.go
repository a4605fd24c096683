// Package licenses has the licences of everything that brine contains, as
// `brine version --licenses` prints them and packages carry them. They are
// collected from the modules themselves by cmd/licenses.
package licenses

import (
	_ "embed"
	"io"

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ../../../cmd/licenses

// The texts, compressed with zstd: see cmd/licenses.
//
//go:embed licenses.txt.zst
var packed []byte

// Write writes brine's own licence by name, the list of modules with theirs, and
// then the text of each licence.
func Write(w io.Writer) error {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, "brine: Apache-2.0\n"); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
