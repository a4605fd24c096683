package saltjinja

import (
	"context"
	"io"
	"io/fs"
	"time"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// HostOps answers Salt's file, user and network filters. Paths are as the template gives them; errors match fs.ErrNotExist
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

// A machine answers the filters that look outside of the template.
type machine struct {
	HostOps            // may be nil
	query   jinja.Func // may be nil
}

// filters returns the filters that need the machine.
func (m machine) filters() map[string]jinja.Func {
	return map[string]jinja.Func{
		"connection_check": m.dnsCheck("connection_check"),
		"date_format":      m.strftime,
		"dns_check":        m.dnsCheck("dns_check"),
		"file_hashsum":     m.fileHash,
		"get_uid":          m.uidOf,
		"http_query":       m.httpQuery,
		"is_bin_file":      m.fileKind("is_bin_file"),
		"is_binary_file":   m.fileKind("is_binary_file"),
		"is_empty":         m.fileKind("is_empty"),
		"is_empty_file":    m.fileKind("is_empty_file"),
		"is_text_file":     m.fileKind("is_text_file"),
		"list_files":       m.listFiles,
		"strftime":         m.strftime,
		"which":            m.which,
	}
}

// ops returns the operations of the machine, or an error if there are none.
func (m machine) ops() (HostOps, error) {
	if m.HostOps == nil {
		return nil, errNoHost()
	}
	return m.HostOps, nil
}

// now returns the time in the zone of the machine.
func (m machine) now() time.Time {
	if m.HostOps == nil {
		return time.Now()
	}
	return m.Now()
}

func errNoHost() error {
	return value.Raise("RuntimeError", "templates have no access to this machine here")
}
