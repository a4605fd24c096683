package quota_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	quotamod "brine/modules/quota"
	"brine/states/quota"
)

const repquota = `*** Report for user quotas on device /dev/sda1
Block grace time: 7days; Inode grace time: 6days
                        Block limits                File limits
User            used    soft    hard  grace    used  soft  hard  grace
----------------------------------------------------------------------
root      --      20       0       0      0       2     0     0      0
ada       +-    1200    1000    2000 1700000      5    10    20      0

Statistics:
Total blocks: 7
`

func TestQuota(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutExe("/usr/sbin/setquota")
	state := "off"
	h.Handle(func(host.Cmd) bool { return true }, func(_ context.Context, c host.Cmd) (host.Output, error) {
		line := strings.Join(c.Argv, " ")
		switch {
		case line == "quotaon -p /none":
			return host.Output{Status: 1, Stderr: []byte("quotaon: Cannot find mountpoint for device /none\n")}, nil
		case line == "quotaon -p /mnt":
			return host.Output{Status: 1, Stderr: []byte("quotaon: Mountpoint (or device) /mnt not found or has no quota enabled.\n")}, nil
		case line == "quotaon -p /home":
			return host.Output{Stdout: []byte("group quota on /home (/dev/sda1) is off\nuser quota on /home (/dev/sda1) is " + state + " (enforced)\n")}, nil
		case line == "quotaon /home":
			state = "on"
		case line == "quotaoff /home":
			return host.Output{Status: 1, Stderr: []byte("quotaoff: no\n")}, nil
		case strings.HasPrefix(line, "repquota -vp -u"):
			return host.Output{Stdout: []byte(repquota)}, nil
		case strings.HasPrefix(line, "setquota -g"):
			return host.Output{Status: 2, Stderr: []byte("setquota: group gone does not exist.\n")}, nil
		case line == "quotastats":
			return host.Output{Stdout: []byte("Number of dquot lookups: 4\nodd\n")}, nil
		}
		return host.Output{}, nil
	})
	const root = "'root': {'block-used': '20', 'block-soft-limit': '0', 'block-hard-limit': '0', 'block-grace': '0', 'file-used': '2', 'file-soft-limit': '0', 'file-hard-limit': '0', 'file-grace': '0'}"
	const ada = "'ada': {'block-used': '1200', 'block-soft-limit': '1000', 'block-hard-limit': '2000', 'block-grace': '1700000', 'file-used': '5', 'file-soft-limit': '10', 'file-hard-limit': '20', 'file-grace': '0'}"
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "quota", Load: quotamod.Module}, fun.Entry{Kind: fun.State, Name: "quota", Load: quota.States})
	r.Steps(t, []calltest.Step{
		{"call quota.get_mode [/home]", "{'/home': {'device': '/dev/sda1', 'group': 'off', 'user': 'off'}}"},
		{"call quota.get_mode [/none]", "{'/none': 'Not found'}"},
		{"call quota.report [/home]", "{'/home': {'User Quotas': {'Users': {" + root + ", " + ada + "}, 'Block Grace Time': ['7days'], 'Inode Grace Time': ['6days']}, 'Group Quotas': {'Groups': {}}}}"},
		{"call quota.set {device: /home, user: ada, block-hard-limit: 3000}", "{'User: ada': {'block-soft-limit': '1000', 'block-hard-limit': 3000, 'file-soft-limit': '10', 'file-hard-limit': '20'}}"},
		{"call quota.set {device: /home, user: bob, file-hard-limit: 9}", "{'User: bob': {'block-soft-limit': 0, 'block-hard-limit': 0, 'file-soft-limit': 0, 'file-hard-limit': 9}}"},
		{"call quota.set {device: /home, group: gone}", "error: Unable to set desired quota. Error follows: \nsetquota: group gone does not exist."},
		{"call quota.set {device: /home, user: a, group: b}", "error: Please specify a user or group, not both."},
		{"call quota.set {device: /home}", "error: A valid user or group was not found"},
		{"call quota.set {device: -a, user: ada}", "error: invalid device: '-a'"},
		{"call quota.stats []", "{'Number of dquot lookups': '4'}"},
		{"call quota.warn []", "None"},
		{"test quota.mode {name: /home, mode: on, quotatype: user}", "None: Quota for /home needs to be set to on {}"},
		{"state quota.mode {name: /home, mode: on, quotatype: user}", "True: Set quota for /home to on {'quota': '/home'}"},
		{"state quota.mode {name: /home, mode: on, quotatype: user}", "True: Quota for /home already set to on {}"},
		{"state quota.mode {name: /home, mode: off, quotatype: user}", "False: Failed to set quota for /home to off {}"},
		{"state quota.mode {name: /mnt, mode: on, quotatype: user}", "False: Failed to set quota for /mnt to on: user quota of /mnt: disabled {}"},
		{"state quota.mode {name: /home, mode: on, quotatype: odd}", "False: Failed to set quota for /home to on: odd quota of /home: no quotas are known {}"},
	})
	if got := calltest.Commands(h); !strings.Contains(got, "setquota -u ada 1000 3000 10 20 /home;") {
		t.Errorf("commands: %s", got)
	}
}
