package rvm_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/rvm"
	"brine/states/rvm"
)

func TestStates(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	_ = h.MkdirAll("/root", 0o755)
	_ = h.MkdirAll("/home/ann", 0o755)
	h.PutExe("/bin/sh")
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000, Home: "/home/ann"})
	works := false
	h.HandleCommand("/bin/sh *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if works && strings.Contains(strings.Join(c.Argv, " "), "rvm-installer | bash -s stable") {
			h.PutExe("/usr/local/rvm/bin/rvm")
		}
		return host.Output{Stderr: []byte("curl: (6) Could not resolve host")}, nil
	})
	list, said := "", []string{}
	h.HandleCommand("/usr/local/rvm/bin/rvm *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		args := strings.Join(c.Argv[1:], " ")
		said = append(said, args)
		switch {
		case args == "list":
			return host.Output{Stdout: []byte(list)}, nil
		case args == "install 9":
			return host.Output{Status: 1, Stderr: []byte("Unknown ruby")}, nil
		case strings.HasPrefix(args, "install "):
			list = "\nrvm rubies\n\n=> ruby-3.2.2 [ x86_64 ]\n * ruby-3.0.0-p10 [ x86_64 ]\n   jruby-9.4.0.0 [ x86_64 ]\n\n# => - current\n"
		case args == "default do rvm gemset list":
			return host.Output{Stdout: []byte("\ngemsets for ruby-3.2.2 (found in /x)\n=> (default)\n   app\n")}, nil
		case args == "default do rvm gemset list_all":
			return host.Output{Stdout: []byte("\ngemsets for ruby-3.2.2 (found in /x)\n=> (default)\n   app\n\ngemsets for jruby-9.4 (found in /y)\n   other\n")}, nil
		}
		return host.Output{Stdout: []byte("ok")}, nil
	})
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "rvm", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "rvm", Load: rvm.States})
	r.Steps(t, []calltest.Step{
		{"call rvm.is_installed {}", "False"},
		{"call rvm.get {}", "False"},
		{"state rvm.gemset_present {name: app}", "False: RVM is not installed. {}"},
		{"test rvm.installed {name: ruby-3.2.2}", "None: Ruby ruby-3.2.2 is set to be installed {}"},
		{"state rvm.installed {name: ruby-3.2.2}", "False: RVM failed to install. Error encountered while downloading the RVM installer. stderr follows:\n\ncurl: (6) Could not resolve host {}"},
	})
	works = true
	r.Steps(t, []calltest.Step{
		{"state rvm.installed {name: ruby-3.2.2, default: true, opts: [-C, --x]}", "True: Successfully installed ruby. {'ruby-3.2.2': 'Installed'}"},
		{"state rvm.installed {name: ruby-3.2.2}", "True: Requested ruby exists. {}"},
		{"test rvm.installed {name: '3.0.0', default: true}", "True: Requested ruby exists. {}"},
		{"test rvm.installed {name: jruby-9.4.0.0, default: true}", "None: Ruby jruby-9.4.0.0 is set to become the default {}"},
		{"state rvm.installed {name: jruby, default: true}", "True: Requested ruby exists. {'default': 'jruby'}"},
		{"state rvm.installed {name: 9}", "False: Could not install ruby. {}"},
		{"state rvm.gemset_present {name: app}", "True: Gemset already exists. {}"},
		{"test rvm.gemset_present {name: new}", "None: Set to install gemset new {}"},
		{"state rvm.gemset_present {name: ruby-3.2.2@new}", "True: Gemset successfully created. {'new': 'created'}"},
		{"state rvm.gemset_present {name: ruby-1.8@new}", "False: Requested ruby implementation was not found. {}"},
		{"call rvm.list {}", "[['ruby', '3.2.2', False], ['ruby', '3.0.0-p10', True], ['jruby', '9.4.0.0', False]]"},
		{"call rvm.gemset_list {}", "['(default)', 'app']"},
		{"call rvm.gemset_list_all {}", "{'ruby-3.2.2': ['(default)', 'app'], 'jruby-9.4': ['other']}"},
		{"call rvm.do {ruby: 3.2.2, command: \"gem install 'a b'\"}", "'ok'"},
		{"call rvm.do {ruby: --x, command: gem}", "error: invalid ruby '--x': it must not be empty or start with a dash"},
		{"call rvm.install_ruby {ruby: 3.2.2, runas: ann}", "'ok'"},
		{"call rvm.wrapper [3.2.2, sys, null, ruby, gem]", "'ok'"},
		{"call rvm.gemset_delete {ruby: 3.2.2, gemset: app}", "'ok'"},
	})
	ran := strings.Join(said, "; ")
	for _, want := range []string{
		"install ruby-3.2.2 -C --x", "alias create default ruby-3.2.2", "ruby-3.2.2 do rvm gemset create new",
		"3.2.2 do gem install a b", "install 3.2.2 --disable-binary", "autolibs disable 3.2.2", "wrapper 3.2.2 sys ruby gem", "3.2.2 do rvm --force gemset delete app",
	} {
		if !strings.Contains(ran, want) {
			t.Errorf("%s did not run: %s", want, ran)
		}
	}
}
