package host

import (
	"errors"
	"io/fs"
	"reflect"
	"testing"
)

// readers are the methods of a Host that look and change nothing.
var readers = map[string]bool{
	"Stat": true, "Lstat": true, "ReadFile": true, "Open": true, "ReadDir": true, "Readlink": true, "EvalSymlinks": true, "ReadTarget": true, "Target": true, "CheckSystem": true,
	"LookPath": true, "Fork": true, "Force": true, "Environ": true, "Getwd": true, "Getpid": true,
	"LookupUser": true, "LookupUID": true, "LookupGroup": true, "LookupGID": true, "Users": true, "Groups": true, "GroupIDs": true,
	"Geteuid": true, "Getegid": true, "Now": true, "Sleep": true, "Hostname": true, "Interfaces": true, "Uname": true, "Statfs": true,
	"Changes": true, "Changed": true,
	// of the environment of this Host, which no program gets
	"Setenv": true, "Unsetenv": true,
	// of programs that this Host runs: there are none
	"SignalGroups": true, "CloseAll": true,
}

// TestStill calls every method of a Host that is not known to look only: a new one must
// be refused, too, or be listed.
func TestStill(t *testing.T) {
	t.Parallel()
	f := NewFake()
	before := f.Changes()
	v := reflect.ValueOf(Still(f).Force().Fork())
	kind := reflect.TypeFor[Host]()
	for m := range kind.Methods() {
		if readers[m.Name] {
			continue
		}
		in := make([]reflect.Value, m.Type.NumIn())
		for n := range in {
			in[n] = reflect.Zero(m.Type.In(n))
		}
		out := v.MethodByName(m.Name).Call(in)
		err, _ := reflect.TypeAssert[error](out[len(out)-1])
		var still *StillError
		if !errors.As(err, &still) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	if f.Changes() != before {
		t.Errorf("something was changed")
	}
}
