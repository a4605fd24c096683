package composer_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/composer"
	"brine/states/composer"
)

func TestStates(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	for _, d := range []string{"/root", "/app", "/done/vendor"} {
		_ = h.MkdirAll(d, 0o755)
	}
	h.PutFile("/opt/composer.phar", "", 0o644)
	h.PutExe("/usr/bin/php")
	ran, env := []string{}, ""
	answer := func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv, " ")
		ran, env = append(ran, line), strings.Join(c.Env, " ")
		if strings.Contains(line, "/bad") {
			return host.Output{Status: 1, Stderr: []byte("no composer.json")}, nil
		}
		if strings.Contains(line, "/done") {
			return host.Output{Stderr: []byte("Nothing to install, update or remove")}, nil
		}
		return host.Output{Stderr: []byte("Installing a/b")}, nil
	}
	h.HandleCommand("/usr/bin/php *", answer)
	h.HandleCommand("/usr/bin/composer *", answer)
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "composer", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "composer", Load: composer.States})
	r.Steps(t, []calltest.Step{
		{"state composer.installed {name: /app}", "False: Error executing composer in '/app': 'composer.install' is not available. Couldn't find 'composer'. {}"},
		{"test composer.installed {name: /done}", "None: The state of \"/done\" will be changed. {'old': 'composer install has been run in /done', 'new': 'composer install will be run in /done'}"},
	})
	h.PutExe("/usr/bin/composer")
	r.Steps(t, []calltest.Step{
		{"test composer.installed {name: /app}", "None: The state of \"/app\" will be changed. {'old': 'composer install has not been run in /app', 'new': 'composer install will be run in /app'}"},
		{"state composer.installed {name: /app}", "True: Composer install completed successfully {'stderr': 'Installing a/b', 'stdout': ''}"},
		{"state composer.installed {name: /done, always_check: false}", "True: Composer already installed this directory {}"},
		{"test composer.installed {name: /done}", "True: The state of \"/done\" is as it is to be. {}"},
		{"state composer.installed {name: /done}", "True: Composer install completed successfully {}"},
		{"test composer.update {name: /app}", "None: The state of \"/app\" will be changed. {'old': 'composer install has not yet been run in /app', 'new': 'composer install/update will be run in /app'}"},
		{"state composer.update {name: /app, quiet: true, no_dev: true, optimize: true}", "True: Composer update completed successfully, output silenced by quiet flag {}"},
		{"state composer.update {name: /bad}", "False: Error executing composer in '/bad': no composer.json {}"},
		{"state composer.installed {name: /app, composer: /opt/composer.phar, env: [{A: b}]}", "True: Composer install completed successfully {'stderr': 'Installing a/b', 'stdout': ''}"},
		{"call composer.did_composer_install {dir: /done}", "True"},
		{"call composer.selfupdate {quiet: true}", "True"},
	})
	all := strings.Join(ran, "; ")
	for _, want := range []string{
		"composer install --no-interaction --no-ansi --dry-run --working-dir /done",
		"composer update --no-interaction --no-ansi --no-progress --working-dir /app --quiet --no-dev --optimize-autoloader",
		"php /opt/composer.phar install --no-interaction --no-ansi --working-dir /app",
		"composer selfupdate --no-interaction --no-ansi --no-progress --quiet",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s did not run: %s", want, all)
		}
	}
	if !strings.Contains(env, "COMPOSER_HOME=/root") {
		t.Error(env)
	}
}
