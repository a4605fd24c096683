package e2e

import (
	"fmt"
	"strings"
	"testing"

	"brine/internal/testkit/s3test"
	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// TestSSHBuckets has the states and the pillar in buckets, and a file that one machine pushes
// and another one is given by the next step of the run.
func TestSSHBuckets(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2)
	service := s3test.New(t)
	out := s.path("fetched")
	service.Put("states", "get.sls", "file:\n  file.managed:\n    - name: "+out+"\n    - source: salt://pushed/web1{{ pillar['from'] }}\n")
	service.Put("states", "orch/share.sls", fmt.Sprintf(`push:
  salt.function:
    - name: cp.push
    - tgt: web1
    - arg: [%s]
get:
  salt.state:
    - tgt: web2
    - sls: get
    - require: [salt: push]
`, s.path("made")))
	service.Put("pillar", "at/here/top.sls", "base: {web2: [p]}\n")
	service.Put("pillar", "at/here/p.sls", "from: "+s.path("made")+"\n")
	s.write("made", "by web1")
	s.write("master.d/buckets.conf", fmt.Sprintf(`fileserver_backend: [s3fs, minionfs, roots]
file_recv: True
minionfs_mountpoint: salt://pushed
s3.keyid: anna
s3.key: secret
s3.service_url: %s
s3.path_style: True
s3.https_enable: False
s3.buckets: {base: [states]}
ext_pillar:
  - s3: {bucket: pillar, prefix: at/here, keyid: anna, key: secret, service_url: '%[1]s', path_style: True, https_enable: False}
`, service.Host))
	r := s.brine("orchestrate", "orch.share", "--out=json")
	s.want(r, 0)
	if got := read(t, out); got != "by web1" {
		t.Errorf("web2 has %q", got)
	}
	s.want(s.brine("run", "fileserver.file_list", "backend=minion"), 0, "pushed/web1"+s.path("made"))
	// A job records which content of the bucket it had.
	s.want(s.brine("run", "jobs.list_jobs", "--out=json"), 0, "s3://states")

	service.Put("pillar", "at/here/p.sls", "from: [\n")
	s.write("master.d/now.conf", "s3fs_update_interval: 0\n")
	s.write("master.d/buckets.conf", strings.ReplaceAll(read(t, s.path("master.d/buckets.conf")), "at/here,", "at/here, s3_cache_expire: 0,"))
	s.want(s.brine("ssh", "web2", "pillar.items"), 20, "p.sls:2:1")
	service.Put("states", "get.sls", "file:\n  test.nop\n")
	s.want(s.brine("ssh", "web1", "state.apply", "get"), 0)
}
