package locale_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	locales "brine/modules/locale"
	"brine/states/locale"
)

const shown = "   System Locale: LANG=C.UTF-8\n                  LC_TIME=de_DE.UTF-8\n       VC Keymap: us\n      X11 Layout: us\n"

func machine() *host.Fake {
	h := host.NewFake()
	h.PutDir("/run/systemd/system", 0o755)
	h.PutExe("/usr/bin/localectl")
	h.PutExe("/usr/sbin/locale-gen")
	h.PutFile("/usr/share/i18n/SUPPORTED", "ca_ES.UTF-8@valencia UTF-8\nde_DE.UTF-8 UTF-8\nde_DE ISO-8859-1\n", 0o644)
	h.PutFile("/etc/locale.gen", "# Locales\n# de_DE.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\n", 0o644)
	h.OnCommand("localectl --no-ask-password *", host.Output{})
	h.OnCommand("localectl --no-ask-password set-locale LANG=xx*", host.Output{Status: 1, Stderr: []byte("Failed to issue method call: Specified locale is not installed: xx\n")})
	h.OnCommand("localectl --no-pager status", host.Output{Stdout: []byte(shown)})
	h.OnCommand("locale -a", host.Output{Stdout: []byte("C\nC.utf8\nPOSIX\n")})
	h.OnCommand("locale-gen *", host.Output{Stdout: []byte("Generating locales\n")})
	return h
}

func env(h *host.Fake) *fun.Env {
	return calltest.Env(h, value.MapOf("kernel", "Linux", "os", "Debian", "os_family", "Debian"),
		fun.Entry{Kind: fun.Exec, Name: "locale", Load: locales.Module},
		fun.Entry{Kind: fun.State, Name: "locale", Load: locale.States})
}

func TestStates(t *testing.T) {
	t.Parallel()
	const status = "localectl --no-pager status"
	for _, tt := range []struct {
		fun, args   string
		test        bool
		want, calls string
	}{
		{"system", "{name: C.UTF-8}", false, "True System locale C.UTF-8 already set {}", status},
		{"system", "{name: de_DE.UTF-8}", true, "None System locale de_DE.UTF-8 needs to be set {}", status},
		{"system", "{name: de_DE.UTF-8}", false, "True Set system locale de_DE.UTF-8 {'locale': 'de_DE.UTF-8'}", status + "; localectl --no-ask-password set-locale LANG=de_DE.UTF-8 LC_TIME=de_DE.UTF-8"},
		{"system", "{name: xx}", false, "False Failed to set system locale to xx {}", status + "; localectl --no-ask-password set-locale LANG=xx LC_TIME=de_DE.UTF-8"},
		{"system", "{name: '-x'}", false, "False Failed to set system locale: '-x' is not the name of a locale {}", status},
		{"present", "{name: C.UTF-8}", false, "True Locale C.UTF-8 is already present {}", "locale -a"},
		{"present", "{name: de_DE.UTF-8}", true, "None Locale de_DE.UTF-8 needs to be generated {}", "locale -a"},
		{"present", "{name: de_DE.UTF-8}", false, "True Generated locale de_DE.UTF-8 {'locale': 'de_DE.UTF-8'}", "locale -a; locale-gen de_DE.UTF-8 UTF-8"},
		{"present", "{name: xx_YY.UTF-8}", false, "False Failed to generate locale xx_YY.UTF-8 {}", "locale -a"},
	} {
		t.Run(tt.fun+" "+tt.args+" "+tt.want[:4], func(t *testing.T) {
			t.Parallel()
			h := machine()
			if diff := cmp.Diff(tt.want, calltest.State(t, env(h), "locale."+tt.fun, tt.args, tt.test)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.calls, calltest.Commands(h)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	h := machine()
	e := env(h)
	for _, tt := range []struct{ fun, args, want string }{
		{"get_locale", "{}", "'C.UTF-8'"},
		{"list_avail", "{}", "['C', 'C.utf8', 'POSIX']"},
		{"avail", "{locale: c.utf-8}", "False"},
		{"avail", "{locale: C.UTF-8}", "True"},
		{"gen_locale", "{locale: ca_ES.UTF-8@valencia}", "True"},
		{"gen_locale", "{locale: en_US.UTF-8}", "False"},
		{"gen_locale", "{locale: \"de_DE.UTF-8\\nx\"}", "error: 'de_DE.UTF-8\nx' is not the name of a locale"},
	} {
		if diff := cmp.Diff(tt.want, calltest.Call(t, e, "locale."+tt.fun, tt.args)); diff != "" {
			t.Errorf("%s %s: %s", tt.fun, tt.args, diff)
		}
	}
	if text, _ := h.ReadFile("/etc/locale.gen"); string(text) != "# Locales\n# de_DE.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\nca_ES.UTF-8@valencia UTF-8\n" {
		t.Errorf("locale.gen: %q", text)
	}
	// No line twice, no blank line and no copy beside it, as Salt's file.replace leaves them.
	for range 2 {
		calltest.Call(t, env(h), "locale.gen_locale", "{locale: de_DE.UTF-8}")
	}
	if text, _ := h.ReadFile("/etc/locale.gen"); string(text) != "# Locales\nde_DE.UTF-8 UTF-8\nen_US.UTF-8 UTF-8\nca_ES.UTF-8@valencia UTF-8\n" {
		t.Errorf("locale.gen: %q", text)
	}
	if _, err := h.Stat("/etc/locale.gen.bak"); err == nil {
		t.Error("there is a copy of locale.gen")
	}
	h.OnCommand("localectl --no-pager status", host.Output{Stdout: []byte("System Locale: (unset)\n    VC Keymap: (unset)\n")})
	if got := calltest.Call(t, env(h), "locale.get_locale", "{}"); got != "''" {
		t.Errorf("unset: %s", got)
	}
	old := host.NewFake()
	old.PutExe("/usr/sbin/update-locale")
	old.PutFile("/etc/default/locale", "LANGUAGE=de\nLANG=\"de_DE.UTF-8\"\n", 0o644)
	old.OnCommand("update-locale", host.Output{})
	if got := calltest.Call(t, env(old), "locale.get_locale", "{}") + calltest.Call(t, env(old), "locale.set_locale", "{locale: C}"); got != "'de_DE.UTF-8'True" {
		t.Error(got)
	}
	if text, _ := old.ReadFile("/etc/default/locale"); string(text) != "LANGUAGE=de\nLANG=\"C\"\n" {
		t.Errorf("default/locale: %q", text)
	}
}
