package disk_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	diskmod "brine/modules/disk"
	"brine/states/disk"
)

func out(text string) host.Output { return host.Output{Stdout: []byte(text)} }

const usage = `Filesystem     1024-blocks    Used Available Capacity Mounted on
/dev/sda 1        1000000  600000    400000      60% /
//nas/my share         -       -         -       - /mnt/a b
`

func machine() *host.Fake {
	h := host.NewFake()
	h.PutFile("/etc/mtab", "", 0o644)
	for _, p := range []string{"df", "blkid", "lsblk", "hdparm", "iostat", "mkfs", "sync"} {
		h.PutExe("/usr/bin/" + p)
	}
	h.OnCommand("df -P", out(usage))
	h.OnCommand("df -P -hT", out("Filesystem Type Size Used Avail Use% Mounted on\n/dev/sda1 ext4 1.5G 1G 500M 60% /\n"))
	h.OnCommand("df -iP", out("Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/sda1 100 40 60 40% /\ntmpfs 0 0 0 - /run\n"))
	return h
}

func rig(h host.Host) *calltest.Rig {
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "disk", Load: diskmod.Module}, fun.Entry{Kind: fun.State, Name: "disk", Load: disk.States})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	h := machine()
	h.PutDir("/srv", 0o755)
	h.Space = map[string]host.Statfs{"/srv": {BlockSize: 1024, Blocks: 3000, Free: 1000, Avail: 1000}}
	r := rig(h)
	r.Steps(t, []calltest.Step{
		{"state disk.status {name: /, maximum: 79%, minimum: 1}", "True: Disk used space in acceptable range {}"},
		{"test disk.status {name: /, maximum: 59}", "False: Disk used space is above maximum of 59 % at 60 % {}"},
		{"state disk.status {name: /, minimum: '61 %'}", "False: Disk used space is below minimum of 61 % at 60 % {}"},
		{"state disk.status {name: /, minimum: 41, free: true}", "False: Disk available space is below minimum of 41 % at 40 % {}"},
		{"state disk.status {name: /, maximum: 39, free: true}", "False: Disk available space is above maximum of 39 % at 40 % {}"},
		{"state disk.status {name: /, maximum: 500000 KB, absolute: true}", "False: Disk used space is above maximum of 500000 KB at 600000 KB {}"},
		{"state disk.status {name: /, maximum: abc, minimum: 101}", "False: maximum must be an integer minimum must be in the range [0, 100]  {}"},
		{"state disk.status {name: /, maximum: 3, minimum: 3}", "False: minimum must be less than maximum  {}"},
		{"state disk.status {name: /srv, maximum: 50}", "False: Disk used space is above maximum of 50 % at 66.7 % {}"},
		{"state disk.status {name: /srv, minimum: 3000, absolute: true}", "False: Disk used space is below minimum of 3000 KB at 2000 KB {}"},
		{"state disk.status {name: /srv}", "True: Disk used space in acceptable range {}"},
		{"state disk.status {name: /none}", "False: Disk mount /none not present. Directory /none does not exist or is not a directory {}"},
	})
}

func TestFileSystems(t *testing.T) {
	t.Parallel()
	h := machine()
	h.OnCommand("blkid", out("/dev/sda1: LABEL=\"a b\" UUID=\"1-2\" TYPE=\"ext4\"\nbad\n"))
	h.OnCommand("blkid -t TYPE=xfs", host.Output{Status: 2})
	h.OnCommand("lsblk -o fstype /dev/sda1", out("FSTYPE\next4\n"))
	h.OnCommand("lsblk -o fstype /dev/sda2", out("FSTYPE\n\n"))
	h.OnCommand("df -T /dev/sda2", out("Filesystem Type 1K-blocks\nudev devtmpfs 100\n"))
	h.OnCommand("blockdev --getro*", out("0\n2048\n512\n512\n512\n0\n0\n255\n2048\n1048576\n256\n256\n"))
	h.OnCommand("blockdev --getro* /dev/none", host.Output{Status: 1})
	h.OnCommand("blockdev --setra 1024 --setro /dev/sda1", out(""))
	h.OnCommand("wipefs -a /dev/sdb", out(""))
	h.OnCommand("resize2fs /dev/sdb", host.Output{Status: 1, Stderr: []byte("busy\n")})
	h.OnCommand("mkfs -t ext4 -i 256 -E lazy_itable_init=0 -F /dev/sdb", out(""))
	h.OnCommand("mkfs -t vfat -F 32 /dev/sdb", host.Output{Status: 1})
	h.OnCommand("mkfs -t xfs -i size=512 -f /dev/sdb", out(""))
	h.OnCommand("sync", out(""))
	rig(h).Steps(t, []calltest.Step{
		{"call disk.usage []", "{'/': {'filesystem': '/dev/sda 1', '1K-blocks': '1000000', 'used': '600000', 'available': '400000', 'capacity': '60%'}, '/mnt/a b': {'filesystem': '//nas/my share', '1K-blocks': '-', 'used': '-', 'available': '-', 'capacity': '-'}}"},
		{"call disk.usage [hT]", "{'/': {'filesystem': '/dev/sda1 ext4', '1K-blocks': '1.5G', 'used': '1G', 'available': '500M', 'capacity': '60%'}}"},
		{"call disk.usage [z]", "error: Invalid flag passed to disk.usage"},
		{"call disk.inodeusage []", "{'/': {'inodes': '100', 'used': '40', 'free': '60', 'use': '40%', 'filesystem': '/dev/sda1'}, '/run': {'inodes': '0', 'used': '0', 'free': '0', 'use': '-', 'filesystem': 'tmpfs'}}"},
		{"call disk.percent []", "{'/': '60%', '/mnt/a b': '-'}"},
		{"call disk.percent [/]", "'60%'"},
		{"call disk.percent [/none]", "{}"},
		{"call disk.blkid []", "{'/dev/sda1': {'LABEL': 'a b', 'UUID': '1-2', 'TYPE': 'ext4'}}"},
		{"call disk.blkid {token: TYPE=xfs}", "{}"},
		{"call disk.blkid ['-g']", `error: invalid device "-g"`},
		{"call disk.fstype [/dev/sda1]", "'ext4'"},
		{"call disk.fstype [/dev/sda2]", "'devtmpfs'"},
		{"call disk.dump {device: /dev/sda1, args: [getsz, getra]}", "{'getsz': '2048', 'getra': '256'}"},
		{"call disk.dump {device: /dev/sda1, args: [getx]}", "error: 'getx'"},
		{"call disk.dump [/dev/none]", "False"},
		{"call disk.tune {device: /dev/sda1, read-ahead: 1024, read-only: true}", "{'getra': '256', 'getro': '0'}"},
		{"call disk.tune {device: /dev/sda1, read-ahead: x}", "error: read-ahead: a number of sectors is needed, not 'x'"},
		{"call disk.wipe [/dev/sdb]", "True"},
		{"call disk.wipe ['-f']", `error: invalid device "-f"`},
		{"call disk.resize2fs [/dev/sdb]", "None"},
		{"call disk.format {device: /dev/sdb, inode_size: 256, lazy_itable_init: 0, force: true}", "True"},
		{"call disk.format {device: /dev/sdb, fs_type: vfat, fat: 32}", "False"},
		{"call disk.format {device: /dev/sdb, fs_type: xfs, inode_size: 512, force: true}", "True"},
	})
	h = host.NewFake()
	rig(h).Steps(t, []calltest.Step{{"call disk.usage []", "{}"}, {"call disk.blkid []", "error: The 'blkid' binary was not found in $PATH."}})
}

func TestHealth(t *testing.T) {
	t.Parallel()
	h := machine()
	h.OnCommand("hdparm -aN /dev/sda", out("\n/dev/sda:\n readahead     = 256 (on)\n geometry      = 1/2/3, sectors = 77, start = 0\n write-caching =  1 \n max sectors   = 900/1000, HPA is enabled\n"))
	h.OnCommand("hdparm -N /dev/sda", out("\n/dev/sda:\n max sectors   = 900/1000, HPA is enabled\n"))
	h.OnCommand("hdparm -N /dev/sdb", out("\n/dev/sdb:\n max sectors   = 1000/1000, HPA is disabled\n"))
	h.OnCommand("hdparm --yes-i-know-what-i-am-doing -Np950 /dev/sda", out(""))
	h.OnCommand("smartctl --attributes /dev/sda", out("smartctl 7.3\n\nID# ATTRIBUTE_NAME FLAG VALUE WHEN_FAILED RAW_VALUE\n  1 Raw_Read 0x000f 100 - 0\n194 Temp 0x0022 070 - 30 (Min 20)\n  5 X 1 2 - 3 4\n\nend\n"))
	h.OnCommand("smartctl --attributes /dev/sdz", host.Output{Status: 2, Stderr: []byte("no such device\n")})
	const report = "avg-cpu:  %user %idle\n 1.00 99.00\n\nDevice r/s w/s\nsda 1.00 2.00\n\n"
	h.OnCommand("iostat -x 1 2", out("Linux\n\n"+report+strings.ReplaceAll(report, "1.00", "2.01")))
	h.OnCommand("iostat -xd 1 5 sda", out("Device: r/s\nsda 3\n"))
	rig(h).Steps(t, []calltest.Step{
		{"call disk.hdparms [sda, aN]", "{'/dev/sda': {'readahead': [256, 'on'], 'geometry': [1, 2, 3, {'sectors': '77', 'start': '0'}], 'write-caching': 1, 'max_sectors': [900, 1000, 'HPA is enabled']}}"},
		{"call disk.hdparms [sda, '-security-erase x']", `error: invalid parameters "-security-erase x" for hdparm`},
		{"call disk.hpa [[sda, sdb]]", "{'/dev/sda': {'total': 1000, 'visible': 900, 'hidden': 100}, '/dev/sdb': {'total': 1000}}"},
		{"call disk.hpa [sda, 5%]", "None"},
		{"call disk.hpa [sda, five]", `error: invalid size "five": a number of sectors, or a share such as 5%, is needed`},
		{"call disk.smart_attributes {dev: sda, attributes: [1, 194]}", "{1: {'attribute_name': 'Raw_Read', 'flag': '0x000f', 'value': 100, 'when_failed': '-', 'raw_value': 0}, 194: {'attribute_name': 'Temp', 'flag': '0x0022', 'value': 70, 'when_failed': '-', 'raw_value': '30 (Min 20)'}}"},
		{"call disk.smart_attributes {dev: sda, attributes: [5], values: [raw_value]}", "{5: {'raw_value': [3, 4]}}"},
		{"call disk.smart_attributes [sdz]", "error: no such device"},
		{"call disk.iostat {count: 2}", "{'sys': {'%user': 1.5, '%idle': 99.0}, 'sda': {'r/s': 1.5, 'w/s': 2.0}}"},
		{"call disk.iostat {disks: sda}", "{'sda': {'r/s': 3.0}}"},
	})
}

func FuzzTools(f *testing.F) {
	f.Add(usage)
	f.Add("a: b=\"c\" d=\"\nDevice x\nsda 1\navg-cpu: y\n 2\nID# a b\n1 2 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		h := machine()
		h.OnCommand("*", out(text))
		r := rig(h)
		for _, call := range []string{"usage []", "inodeusage []", "blkid []", "hdparms [sda]", "hpa [sda]", "smart_attributes [sda]", "iostat []", "dump [/dev/sda]", "fstype [/dev/sda]"} {
			name, args, _ := strings.Cut(call, " ")
			r.Fn(t, "disk."+name, args)
		}
	})
}
