package saltjinja

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing/fstest"
	"time"
)

// testHost is a machine with a few files, one user and two names.
type testHost struct{}

var testFiles = fstest.MapFS{
	"etc/motd":      {Data: []byte("hello\n")},
	"etc/empty":     {},
	"etc/bin":       {Data: []byte("\x7fELF\x00\x01\x02")},
	"etc/latin":     {Data: []byte("caf\xe9 au lait, s'il vous pla\xeet")},
	"etc/sub/a.txt": {Data: []byte("a")},
}

func (testHost) Now() time.Time { return time.Date(2024, 2, 29, 13, 5, 9, 0, time.UTC) }

func (testHost) Stat(p string) (fs.FileMode, int64, error) {
	i, err := fs.Stat(testFiles, strings.TrimPrefix(p, "/"))
	if err != nil {
		return 0, 0, err
	}
	return i.Mode(), i.Size(), nil
}

func (testHost) Open(p string) (io.ReadCloser, error) {
	return testFiles.Open(strings.TrimPrefix(p, "/"))
}

func (testHost) ReadDir(p string) ([]string, error) {
	ents, err := fs.ReadDir(testFiles, strings.Trim(p, "/"))
	var names []string
	for _, e := range ents {
		n := e.Name()
		if e.IsDir() {
			n += "/"
		}
		names = append(names, n)
	}
	return names, err
}

func (testHost) LookPath(name string) (string, error) {
	if name == "sh" {
		return "/bin/sh", nil
	}
	return "", fs.ErrNotExist
}

func (testHost) LookupUser(name string) (int, error) {
	switch name {
	case "", "root":
		return 0, nil
	}
	return 0, errors.New("no such user")
}

func (testHost) LookupHost(_ context.Context, family, name string) ([]string, error) {
	if name != "web" {
		return nil, errors.New("no such host")
	}
	switch family {
	case "ip4":
		return []string{"10.0.0.1", "10.0.0.2"}, nil
	case "ip6":
		return nil, errors.New("no address")
	}
	return []string{"fe80::1", "10.0.0.1", "10.0.0.2"}, nil
}

func (testHost) Connect(_ context.Context, address string, port int) error {
	if address == "10.0.0.2" && port == 443 {
		return nil
	}
	return errors.New("refused")
}
