package kmod_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	kernel "brine/modules/kmod"
	"brine/states/kmod"
)

// machine has a kernel whose modprobe loads snd_pcm with snd, and cannot load bad.
func machine(t *testing.T) *host.Fake {
	t.Helper()
	h := host.NewFake()
	const dir = "/lib/modules/6.1.0-18-amd64"
	h.PutFile(dir+"/modules.builtin", "kernel/fs/ext4/ext4.ko\nkernel/lib/crc-t10dif.ko\n", 0o644)
	h.PutFile(dir+"/modules.dep", "kernel/sound/snd-pcm.ko.xz: kernel/sound/snd.ko.xz\nkernel/sound/snd.ko.xz:\nkernel/bad.ko:\nkernel/kvm.ko:\n", 0o644)
	h.PutFile("/proc/modules", "kvm 1028096 1 kvm_intel, Live 0x0000\nkvm_intel 380928 0 - Live 0x0000\n", 0o444)
	h.PutFile("/etc/modules", "# at boot\nloop\nkvm\n#snd-pcm\n", 0o644)
	add := func(text string) {
		old, _ := h.ReadFile("/proc/modules")
		h.PutFile("/proc/modules", string(old)+text, 0o444)
	}
	h.HandleCommand("modprobe -- *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		switch c.Argv[2] {
		case "snd-pcm":
			add("snd 1 1 snd_pcm, Live 0\nsnd_pcm 1 0 - Live 0\n")
		case "bad":
			return host.Output{Status: 1, Stderr: []byte("modprobe: ERROR: could not insert 'bad': Invalid argument\n")}, nil
		}
		return host.Output{}, nil
	})
	h.HandleCommand("rmmod -- *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if c.Argv[2] == "kvm" {
			return host.Output{Status: 1, Stderr: []byte("rmmod: ERROR: Module kvm is in use by: kvm_intel\n")}, nil
		}
		h.PutFile("/proc/modules", "kvm 1028096 0 - Live 0x0000\n", 0o444)
		return host.Output{}, nil
	})
	return h
}

func env(h *host.Fake) *fun.Env {
	return calltest.Env(h, value.MapOf("kernel", "Linux", "os_family", "Debian"),
		fun.Entry{Kind: fun.Exec, Name: "kmod", Load: kernel.Module},
		fun.Entry{Kind: fun.State, Name: "kmod", Load: kmod.States})
}

func TestStates(t *testing.T) {
	t.Parallel()
	const conf = "# at boot\nloop\nkvm\n#snd-pcm\n"
	for _, tt := range []struct {
		fun, args  string
		test       bool
		want, conf string
	}{
		{"present", "{name: kvm}", false, "True Kernel module kvm is already present {}", conf},
		{"present", "{name: kvm-intel}", false, "True Kernel module kvm-intel is already present {}", conf},
		{"present", "{name: ext4}", false, "True Kernel module ext4 is already present {}", conf},
		{"present", "{name: kvm, persist: true}", false, "True Kernel module kvm is already present {}", conf},
		{"present", "{name: snd-pcm}", true, "None Kernel module snd-pcm is set to be loaded {}", conf},
		{"present", "{name: snd-pcm}", false, "True Loaded kernel module snd-pcm {'snd': 'loaded', 'snd_pcm': 'loaded'}", conf},
		{"present", "{name: snd-pcm, persist: true}", false, "True Loaded kernel module snd-pcm {'snd': 'loaded', 'snd_pcm': 'loaded'}", "# at boot\nloop\nkvm\nsnd-pcm\n"},
		{"present", "{name: kvm_intel, persist: true}", false, "False Kernel module kvm_intel is unavailable {}", conf},
		{"present", "{name: x, mods: [kvm, snd-pcm, snd, none]}", false, "False Kernel module kvm is already present\nKernel module none is unavailable\nLoaded kernel modules snd-pcm, snd {'snd': 'loaded', 'snd_pcm': 'loaded'}", conf},
		{"present", "{name: x, mods: [snd-pcm, none]}", true, "None Kernel modules snd-pcm, none are set to be loaded {}", conf},
		{"present", "{name: bad}", false, "False Failed to load kernel module bad: Error loading module bad: modprobe: ERROR: could not insert 'bad': Invalid argument {}", conf},
		{"absent", "{name: snd}", false, "True Kernel module snd is already removed {}", conf},
		{"absent", "{name: x, mods: [a, b]}", false, "True Kernel modules a, b are already removed {}", conf},
		{"absent", "{name: kvm_intel}", true, "None Kernel module kvm_intel is set to be removed {}", conf},
		{"absent", "{name: kvm_intel}", false, "True Removed kernel module kvm_intel {'kvm_intel': 'removed'}", conf},
		{"absent", "{name: kvm}", false, "False Failed to remove kernel module kvm: Error removing module kvm: rmmod: ERROR: Module kvm is in use by: kvm_intel {}", conf},
		{"absent", "{name: loop, persist: true}", false, "True Removed kernel module loop {'loop': 'removed'}", "# at boot\n#loop\nkvm\n#snd-pcm\n"},
		{"absent", "{name: loop, persist: true, comment: false}", false, "True Removed kernel module loop {'loop': 'removed'}", "# at boot\nkvm\n#snd-pcm\n"},
		{"absent", "{name: loop}", false, "True Kernel module loop is already removed {}", conf},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			h := machine(t)
			if diff := cmp.Diff(tt.want, calltest.State(t, env(h), "kmod."+tt.fun, tt.args, tt.test)); diff != "" {
				t.Error(diff)
			}
			text, _ := h.ReadFile("/etc/modules")
			if diff := cmp.Diff(tt.conf, string(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fun, args, want string }{
		{"available", "{}", "['bad', 'crc_t10dif', 'ext4', 'kvm', 'snd', 'snd_pcm']"},
		{"check_available", "{mod: snd-pcm}", "True"},
		{"check_available", "{mod: none}", "False"},
		{"is_loaded", "{mod: kvm-intel}", "True"},
		{"lsmod", "{}", "[{'size': '1028096', 'module': 'kvm', 'depcount': '1', 'deps': ['kvm_intel']}, {'size': '380928', 'module': 'kvm_intel', 'depcount': '0', 'deps': []}]"},
		{"mod_list", "{}", "['kvm', 'kvm_intel']"},
		{"mod_list", "{only_persist: true}", "['kvm', 'loop']"},
		{"load", "{mod: 'snd-pcm index=1'}", "['snd', 'snd_pcm']"},
		{"load", "{mod: --all}", "error: '--all' is not the name of a kernel module"},
		{"remove", "{mod: ../x}", "error: '../x' is not the name of a kernel module"},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, calltest.Call(t, env(machine(t)), "kmod."+tt.fun, tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
