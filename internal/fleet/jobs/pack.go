package jobs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/internal/py/value"
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

// maxPacked is how many bytes of values a line keeps, as JSON: of more, those that
// cannot be compressed would be too long for a line that can be read, in base64.
const maxPacked = value.MaxJSONSize/4*3 - 2*packAbove

// split returns a line as records have it, and what of it is to be compressed, which
// is most bytes of JSON at most; nil is nothing.
func split(line *value.Map, most int64) (text []byte, large *value.Map) {
	if !value.Outweighs(line, packAbove) {
		return value.EncodeJSON(line), nil
	}
	exact := value.Outweighs(line, int(most/6)) // a byte of text has six in JSON at most
	room := most
	less := value.NewMap(line.Len())
	large = value.NewMap(1)
	for k, v := range line.All() {
		if !value.Outweighs(v, packEach) {
			less.Set(k, v)
			continue
		}
		if exact {
			size := sizeOf(v)
			if size > room {
				less.Set(k, fmt.Sprintf("not in the record: it has more than %d MiB", most>>20))
				continue
			}
			room -= size
		}
		large.Set(k, v)
	}
	if large.Len() == 0 {
		large = nil
	}
	return value.EncodeJSON(less), large
}

// sizeOf returns how many bytes a value has as JSON.
func sizeOf(v value.Value) int64 {
	c := &counter{w: io.Discard}
	_ = value.WriteJSON(c, v)
	return c.n
}

// pack writes a line that split has returned.
func pack(w io.Writer, text []byte, large *value.Map) error {
	b := bufio.NewWriterSize(w, 64<<10)
	_, _ = b.Write(bytes.TrimSuffix(text, []byte("}"))) // Flush has its error
	_, _ = b.WriteString(`,"` + packedKey + `":"`)
	to64 := base64.NewEncoder(base64.StdEncoding, b)
	z, _ := gzip.NewWriterLevel(to64, gzip.BestSpeed)
	c := &counter{w: z}
	if err := errors.Join(value.WriteJSON(c, large), z.Close(), to64.Close()); err != nil {
		return err
	}
	fmt.Fprintf(b, `","%s":%d}`, packedSize, c.n)
	return b.Flush()
}

// A counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
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
