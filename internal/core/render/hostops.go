package render

import (
	"context"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/jinja/saltjinja"
	"brine/internal/py/value"
)

// hostOps is the machine as Jinja's filters ask for it. Relative paths are
// those of the working directory.
type hostOps struct{ h host.Host }

var _ saltjinja.HostOps = hostOps{}

func (o hostOps) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if wd, err := o.h.Getwd(); err == nil {
		return filepath.Join(wd, path)
	}
	return path
}

func (o hostOps) Now() time.Time { return o.h.Now() }

func (o hostOps) Stat(path string) (fs.FileMode, int64, error) {
	st, err := o.h.Stat(o.abs(path))
	return st.Mode, st.Size, err
}

func (o hostOps) Open(path string) (io.ReadCloser, error) { return o.h.Open(o.abs(path)) }

func (o hostOps) ReadDir(path string) ([]string, error) {
	dir := o.abs(path)
	names, err := o.h.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		if st, err := o.h.Lstat(filepath.Join(dir, n)); err == nil && st.Mode.IsDir() {
			out[i] += "/"
		}
	}
	return out, nil
}

func (o hostOps) LookPath(name string) (string, error) { return o.h.LookPath(name, "") }

func (o hostOps) LookupUser(name string) (int, error) {
	if name == "" {
		return o.h.Geteuid(), nil
	}
	a, err := o.h.LookupUser(name)
	return a.UID, err
}

func (o hostOps) LookupHost(ctx context.Context, family, name string) ([]string, error) {
	ips, err := o.h.LookupIP(ctx, name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, ip := range ips {
		is4 := ip.To4() != nil
		if family == "ip4" && !is4 || family == "ip6" && is4 {
			continue
		}
		out = append(out, ip.String())
	}
	if len(out) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return out, nil
}

func (o hostOps) Connect(ctx context.Context, address string, port int) error {
	return o.h.Connect(ctx, address, port)
}

// unknownOf returns what answers filters that look at a machine which is not there, such as
// that of lint; nil where they look.
func unknownOf(h host.Host) func(call string) value.Value {
	if u, ok := h.(interface{ Unknown(call string) value.Value }); ok {
		return u.Unknown
	}
	return nil
}
