package link

import (
	"context"
	"io"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// LargeFile is from which size on a file may reach an agent in another way than
// over its own connection.
const LargeFile = 64 << 10

// A Large is a file that an agent asks for.
type Large struct {
	Size int64
	Sum  string // SHA-256 of the content, in hex
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// SealedName is the name of the file, among those of an agent's cache, by which it
// gets a sealed one.
func SealedName(name string) string { return "tmp-" + name }

// sendLarge has a large file reach the agent in another way, and returns where and
// how it finds it there; nil: the file is to be sent as others.
func (c *Conn) sendLarge(ctx context.Context, files fun.Files, env, p string) *value.Map {
	if c.o.Large == nil {
		return nil
	}
	fi, err := files.Stat(ctx, env, p)
	if err != nil || !fi.Mode.IsRegular() || fi.Size < LargeFile {
		return nil
	}
	sum, err := c.o.Tree.hash(ctx, env, fi)
	if err != nil {
		return nil
	}
	at, err := c.o.Large(ctx, Large{Size: fi.Size, Sum: sum, Open: func(ctx context.Context) (io.ReadCloser, error) { return files.Open(ctx, env, p) }})
	if err != nil {
		return nil // who knows more has told
	}
	return at
}
