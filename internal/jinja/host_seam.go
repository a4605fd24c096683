package jinja

import (
	"context"
	"io"
	"io/fs"
	"time"

	"brine/internal/value"
)

// HostOps is what filters may ask the machine: Salt's file, user and network
// filters. Paths are as the template gives them; errors match fs.ErrNotExist
// and the like.
type HostOps interface {
	// Now returns the time, in the zone that times are shown in.
	Now() time.Time
	// Stat returns the type, permission bits and size of what is at path,
	// links followed.
	Stat(path string) (mode fs.FileMode, size int64, err error)
	// Open opens a file for reading.
	Open(path string) (io.ReadCloser, error)
	// ReadDir returns the names in a directory; those that are directories
	// themselves (links are not followed) end in a slash.
	ReadDir(path string) ([]string, error)
	// LookPath returns where a program is, or an error where it is not found.
	LookPath(name string) (string, error)
	// LookupUser returns the uid of a user ("" is that of the process).
	LookupUser(name string) (uid int, err error)
	// LookupHost returns the addresses of a name in the order of the system's
	// preference; family is "ip", "ip4" or "ip6".
	LookupHost(ctx context.Context, family, name string) ([]string, error)
	// Connect reports whether a TCP connection to address:port can be opened.
	Connect(ctx context.Context, address string, port int) error
}

// host returns the seam to the machine; filters that need it fail without.
func (c *Call) host() (HostOps, error) {
	if h := c.S.Env().Options().Host; h != nil {
		return h, nil
	}
	return nil, errNoHost()
}

func errNoHost() error {
	return value.Raise("RuntimeError", "templates have no access to this machine here")
}
