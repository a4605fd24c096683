package jobs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/internal/py/value"
)

// FuzzJob reads records that nothing wrote: a disk may give back anything.
func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"load":{"jid":"20261121090807123456","fun":"test.ping","Minions":["a"]}}` + "\n" + `{"id":"a","return":true}` + "\n" + `{"end":"x"}` + "\n"))
	f.Add([]byte(`{"load":{"Minions":"x"}}` + "\n" + `{"note":"definition","data":5}` + "\n" + `{"note":"step"}` + "\n" + `{"stage":1}` + "\n"))
	f.Add([]byte(`{"load":{"arg":{}}}` + "\n" + `{"note":"definition","data":{"low":[1,{"a":null}]}}` + "\n" + `{"note":"step","data":{"return":[]}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		const jid = "20261121090807123456"
		c := NewFiles(t.TempDir(), 0, time.Now)
		if err := os.MkdirAll(filepath.Dir(c.path(jid)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.path(jid), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Jobs(t.Context(), "", ""); err != nil {
			t.Fatal(err)
		}
		j, err := c.Job(t.Context(), jid)
		if err != nil {
			t.Fatal(err)
		}
		if j == nil {
			return
		}
		_ = Format(jid, j.Load)
		_ = j.Failed()
		h := &History{Resume: j}
		_, _ = h.resume(value.MapOf("low", value.NewList()))
	})
}
