//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// demoFormula is a formula of testdata/demo with some of its text replaced, for machines of
// the image of tests.
func demoFormula(t *testing.T, name string, replace ...string) *trialTree {
	t.Helper()
	dir := filepath.Join("testdata/demo", name+"-formula")
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = string(text)
		return err
	}))
	for i := 0; i < len(replace); i += 3 {
		text := files[replace[i]]
		if !strings.Contains(text, replace[i+1]) {
			t.Fatalf("%s of %s does not have %q", replace[i], name, replace[i+1])
		}
		files[replace[i]] = strings.ReplaceAll(text, replace[i+1], replace[i+2])
	}
	return newTrialTree(t, files)
}

// TestTrialFormulas: the formulas of the demo pass on machines without a network, the
// packages of which are empty ones.
func TestTrialFormulas(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	for name, driver := range map[string]string{"accounts": "namespace", "database": "namespace", "firewall": "nspawn", "housekeeping": "namespace"} {
		demoFormula(t, name).run(0, []string{"again: nothing changed", "plan: empty", "1 test: 1 passed, 0 failed\n"}, "--driver", driver, "--image", "debian-12="+image)
	}
}

// TestTrialPlanted: what is wrong in a formula is found: a state that is not idempotent, a
// wrong mode, a restart that is missing. As it is, it passes; where nothing runs services,
// the states of services are said not to be looked at.
func TestTrialPlanted(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	const sls = "webserver/init.sls"
	for _, tt := range []struct {
		driver  string
		status  int
		replace []string
		want    []string
	}{
		{"nspawn", 0, nil, []string{"1 test: 1 passed, 0 failed\n"}},
		{"nspawn", 1, []string{sls, "webserver_root:\n", "webserver_stamp:\n  cmd.run:\n    - name: date >>/srv/stamp\n\nwebserver_root:\n"}, []string{
			"webserver/init.sls:7:3: again: webserver_stamp (cmd.run) in webserver changed something the second time",
			"webserver/init.sls:7:3: plan: webserver_stamp (cmd.run) in webserver would change something",
		}},
		{"nspawn", 1, []string{sls, "'0640'", "'0644'"}, []string{
			"file /etc/lighttpd/lighttpd.conf: expected the mode 640, found 644\n    hint: it is made by webserver_config (file.managed) in webserver",
		}},
		{"nspawn", 1, []string{sls, "    - watch:\n      - file", "    - require:\n      - file"}, []string{
			"file /run/lighttpd.conf: expected content that matches \"^server\\\\.port = 8080$\", found\n    server.port = 80",
		}},
		{"namespace", 1, nil, []string{"services: not looked at, since no init runs them: webserver_service", "service.status lighttpd: expected a true value, found False"}},
	} {
		demoFormula(t, "webserver", tt.replace...).run(tt.status, tt.want, "--driver", tt.driver, "--image", "debian-12="+image)
	}
}

// TestTrialPackages: packages of a directory can be installed without a network, and each
// way in which packages cannot be had is named.
func TestTrialPackages(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, map[string]string{
		"a.sls": "a:\n  pkg.installed:\n    - pkgs: [brine-b, own]\n",
		"c.sls": "c:\n  pkg.removed:\n    - name: own\n",
		"tests/all.yml": "systems: [debian-12]\npackage_dirs: debs\npackages: [own: {depends: [brine-a (>= 1.1)], users: [own]}]\n" +
			"cases:\n  good: {sls: a, expect: {functions: [{pkg.version: {args: own, is: '99.0'}}, {user.info: own}]}}\n  lacks: {sls: a, packages: [other]}\n",
	})
	debs, err := filepath.Glob(image + "/srv/repo/one/brine-[ab]_*.deb")
	must(t, err)
	if len(debs) == 0 {
		t.Fatal("the image has no packages brine-a and brine-b")
	}
	must(t, os.Mkdir(x.dir+"/debs", 0o755))
	for _, path := range debs {
		text, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(x.dir, "debs", filepath.Base(path)), text, 0o644))
	}
	flags := []string{"--driver", "namespace", "--image", "debian-12=" + image}
	x.run(0, []string{"1 test: 1 passed, 0 failed\n"}, append(flags, "-k", "good")...)
	x.run(1, []string{"Unable to locate package own"}, append(flags, "-k", "lacks")...)
	x.run(0, []string{"1 test: 1 passed, 0 failed\n"}, append(flags, "-k", "lacks", "--package", "own")...)
}
