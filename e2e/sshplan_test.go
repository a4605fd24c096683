package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// TestSSHPlan plans and applies over a real sshd: nothing is changed by the plan,
// equal machines are together, and what changed on a machine is found.
func TestSSHPlan(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(3)
	s.write("pillar/top.sls", "base: {'*': [site]}\n")
	s.write("pillar/site.sls", "api_token: s3cret-s3cret\n")
	s.write("salt/conf", "new\n")
	s.write("salt/web.sls", "conf:\n  file.managed:\n    - name: "+s.path("out")+"/conf\n    - source: salt://conf\nkey:\n  file.managed:\n    - name: "+s.path("out")+"/{{ grains.id }}\n    - contents: {{ pillar.api_token }}\n")
	s.write("salt/orch.sls", "web:\n  salt.state:\n    - tgt: '*'\n    - sls: web\n    - test: False\nreboot:\n  salt.function:\n    - name: system.reboot\n    - tgt: web1\n    - onfail: [{salt: web}]\n")
	s.write("out/conf", "old\n")

	s.want(s.brine("plan", "orch", "-o", "d.plan"), 0, "1. web (salt.state)", "1 host: web1", "-old", "+new", "it runs only if a step of its onfail fails", "3 hosts, 6 changes, 1 not known yet")
	if read(t, s.path("out/conf")) != "old\n" {
		t.Fatal("a plan changed a file")
	}
	if text := read(t, s.path("d.plan")); strings.Contains(text, "s3cret") {
		t.Error("the plan has a secret")
	}
	r := s.brine("plan", "--ssh", "web*", "state.sls", "web", "--out=json")
	s.want(r, 0)
	var doc struct {
		Steps []struct {
			Targets []string
			Hosts   map[string]map[string]string
		}
		Inputs struct{ Pillar, Roster, Tree map[string]string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Steps) != 1 || len(doc.Steps[0].Targets) != 3 || len(doc.Steps[0].Hosts) != 3 || len(doc.Inputs.Pillar) != 3 || len(doc.Inputs.Roster) != 3 {
		t.Errorf("a plan of 3 targets: %s", r.stdout)
	}

	s.write("out/conf", "new\n")
	s.want(s.program("brine", "apply", "d.plan"), 1, "step web: web1 answers differently: conf (file.managed) is no longer due", "nothing was run")
	s.write("out/conf", "old\n")
	s.want(s.program("brine", "apply", "d.plan"), 0, "Updating web1, web2, web3.")
	if read(t, s.path("out/conf")) != "new\n" || read(t, s.path("out/web3")) != "s3cret-s3cret\n" {
		t.Error("the plan was not applied")
	}
	s.want(s.program("brine", "apply", "d.plan"), 1, "nothing was run")

	s.roster(2, "web9: {host: 127.0.0.1, port: 1}")
	s.want(s.brine("plan", "orch", "-o", "n.plan"), 1, "web9: ", "1 not reached", "n.plan was not written")
	if _, err := os.Stat(s.path("n.plan")); err == nil {
		t.Error("a plan that cannot be applied was written")
	}
}
