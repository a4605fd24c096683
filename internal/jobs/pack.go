package jobs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/internal/value"
)

// Lines of a record of more than packAbove bytes, about, have their values of more
// than packEach compressed.
const (
	packAbove = 1 << 20
	packEach  = packAbove / 8
)

// The keys of a line that has compressed values: they are a dict of their names, as
// JSON of packedSize bytes, compressed by gzip, in base64.
const (
	packedKey  = "packed"
	packedSize = "packed_size"
)

// maxPacked is how many bytes of values a line keeps, as JSON: more could not be read.
const maxPacked = value.MaxJSONSize

// encodeLine returns a return or note as records have it. What is large is
// compressed, and stands behind the rest.
func encodeLine(line *value.Map) []byte {
	if !value.Outweighs(line, packAbove) {
		return value.EncodeJSON(line)
	}
	less, large := value.NewMap(line.Len()+2), value.NewMap(1)
	for k, v := range line.All() {
		if value.Outweighs(v, packEach) {
			large.Set(k, v)
		} else {
			less.Set(k, v)
		}
	}
	text, size, err := pack(large)
	if err != nil {
		for k := range large.All() {
			less.Set(k, err.Error())
		}
		return value.EncodeJSON(less)
	}
	less.Set(packedSize, size)
	less.Set(packedKey, text)
	return value.EncodeJSON(less)
}

// errUnpackable says why a value is not in the record.
var errUnpackable = errors.New("not in the record: it has more than " + fmt.Sprint(maxPacked>>20) + " MiB")

// pack compresses values. Its error is errUnpackable.
func pack(values *value.Map) (text string, size int64, err error) {
	var b bytes.Buffer
	to64 := base64.NewEncoder(base64.StdEncoding, &b)
	z, _ := gzip.NewWriterLevel(to64, gzip.BestSpeed)
	count := &counter{w: z}
	if err := value.WriteJSON(count, values); err != nil {
		return "", 0, err
	}
	_ = z.Close() // a Buffer takes all
	_ = to64.Close()
	return b.String(), count.n, nil
}

// A counter counts what is written, up to maxPacked bytes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n += int64(len(p)); c.n > maxPacked {
		return 0, errUnpackable
	}
	return c.w.Write(p)
}

// unpack puts the compressed values of a line in their places.
func unpack(line *value.Map) error {
	if !line.Has(packedKey) {
		return nil
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(line.Str(packedKey))))
	if err != nil {
		return err
	}
	size, _ := value.AsInt(line.At(packedSize))
	v, err := value.DecodeJSONSized(z, size)
	if err != nil {
		return err
	}
	large, ok := v.(*value.Map)
	if !ok {
		return errors.New("the packed values are not a dict")
	}
	line.Delete(packedKey)
	line.Delete(packedSize)
	line.Update(large)
	return nil
}
