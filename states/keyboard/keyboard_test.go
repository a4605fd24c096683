package keyboard_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	keys "brine/modules/keyboard"
	"brine/states/keyboard"
)

func machine(systemd bool) *host.Fake {
	h := host.NewFake()
	if systemd {
		h.PutDir("/run/systemd/system", 0o755)
		h.PutExe("/usr/bin/localectl")
	}
	h.PutFile("/etc/default/keyboard", "XKBMODEL=\"pc105\"\nXKBLAYOUT=\"us\"\n", 0o644)
	h.OnCommand("localectl --no-ask-password *", host.Output{})
	h.OnCommand("localectl --no-ask-password set-keymap mars", host.Output{Status: 1, Stderr: []byte("Failed to set keymap: Keymap mars is not installed.\n")})
	h.OnCommand("localectl --no-pager status", host.Output{Stdout: []byte("System Locale: LANG=C\n    VC Keymap: us\n   X11 Layout: de\n")})
	h.OnCommand("setxkbmap *", host.Output{})
	h.OnCommand("setxkbmap -query", host.Output{Stdout: []byte("rules:      evdev\nmodel:      pc105\nlayout:     de\n")})
	return h
}

func TestStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fun, args string
		systemd   bool
		test      bool
		want      string
	}{
		{"system", "{name: us}", true, false, "True System layout us already set {}"},
		{"system", "{name: us}", false, false, "True System layout us already set {}"},
		{"system", "{name: de}", true, true, "None System layout de needs to be set {}"},
		{"system", "{name: de}", true, false, "True Set system keyboard layout de {'layout': 'de'}"},
		{"system", "{name: de}", false, false, "True Set system keyboard layout de {'layout': 'de'}"},
		{"system", "{name: mars}", true, false, "False Failed to set system keyboard layout: localectl failed: Failed to set keymap: Keymap mars is not installed. {}"},
		{"system", "{name: 'de;x'}", true, false, "False Failed to set system keyboard layout: 'de;x' is not the name of a keyboard layout {}"},
		{"xorg", "{name: de}", true, false, "True XOrg layout de already set {}"},
		{"xorg", "{name: us}", true, true, "None XOrg layout us needs to be set {}"},
		{"xorg", "{name: us}", true, false, "True Set XOrg keyboard layout us {'layout': 'us'}"},
	} {
		t.Run(tt.fun+" "+tt.args+" "+tt.want[:4], func(t *testing.T) {
			t.Parallel()
			h := machine(tt.systemd)
			env := calltest.Env(h, value.MapOf("os_family", "Debian"),
				fun.Entry{Kind: fun.Exec, Name: "keyboard", Load: keys.Module},
				fun.Entry{Kind: fun.State, Name: "keyboard", Load: keyboard.States})
			if diff := cmp.Diff(tt.want, calltest.State(t, env, "keyboard."+tt.fun, tt.args, tt.test)); diff != "" {
				t.Error(diff)
			}
			if text, _ := h.ReadFile("/etc/default/keyboard"); !tt.systemd && tt.want[:8] == "True Set" && string(text) != "XKBMODEL=\"pc105\"\nXKBLAYOUT=\"de\"\n" {
				t.Errorf("keyboard: %q", text)
			}
		})
	}
}
