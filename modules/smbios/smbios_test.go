package smbios_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/smbios"
)

const dump = `# dmidecode 3.4
Getting SMBIOS data from sysfs.

Handle 0x0100, DMI type 1, 27 bytes
System Information
	Manufacturer: To Be Filled By O.E.M.
	Product Name: 440, BX
	Serial Number: 000000
	UUID: 12345678-1234-1234-1234-123456789abc
	Header and Data:
		01 1B
	Wake-up Type: Power Switch
	Speed: 2400
	Sockets: a, b
	Family: Not Specified
	Characteristics:
		PCI is supported
		None
		PNP is supported

Handle 0x0200, DMI type 32, 11 bytes
System Boot Information
	Status: Unknown

Handle 0x0300, DMI type x
Bad
`

func TestSMBIOS(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "smbios", Load: smbios.Module})
	r.Steps(t, []calltest.Step{{"call smbios.get [x]", "error: 'smbios.get' is not available: The smbios execution module failed to load: neither dmidecode nor smbios in the path."}})
	h.PutExe("/usr/sbin/dmidecode")
	h.OnCommand("dmidecode", host.Output{Stdout: []byte(dump)})
	h.OnCommand("dmidecode -t 32", host.Output{Stdout: []byte(dump[len(dump)-120:])})
	h.OnCommand("dmidecode -s bios-vendor", host.Output{Stdout: []byte("# note\nSeaBIOS\n")})
	h.OnCommand("dmidecode -s system-serial-number", host.Output{Stdout: []byte("Not Specified\n")})
	h.OnCommand("dmidecode -s bios-version", host.Output{Stdout: []byte("/dev/mem: Permission denied\n")})
	r = calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "smbios", Load: smbios.Module})
	r.Steps(t, []calltest.Step{
		{"call smbios.get [bios-vendor]", "'SeaBIOS'"},
		{"call smbios.get [system-serial-number]", "None"},
		{"call smbios.get {string: system-serial-number, clean: false}", "'Not Specified'"},
		{"call smbios.get {string: bios-version, clean: false}", "None"},
		{"call smbios.get ['--dump']", "error: invalid argument '--dump'"},
		{"call smbios.records []", "[{'handle': '0x0100', 'description': 'System Information', 'type': 1, 'data': {'product_name': '440, BX', 'uuid': '12345678-1234-1234-1234-123456789abc', 'wake-up_type': 'Power Switch', 'speed': 2400, 'sockets': ['a', 'b'], 'characteristics': ['PCI is supported', 'PNP is supported']}}]"},
		{"call smbios.records {fields: [speed]}", "[{'handle': '0x0100', 'description': 'System Information', 'type': 1, 'data': {'speed': 2400}}]"},
		{"call smbios.records {rec_type: 32, clean: false}", "[{'handle': '0x0200', 'description': 'System Boot Information', 'type': 32, 'data': {'status': 'Unknown'}}]"},
	})
}

func FuzzRecords(f *testing.F) {
	f.Add(dump)
	f.Fuzz(func(t *testing.T, text string) {
		h := host.NewFake()
		h.PutExe("/usr/sbin/dmidecode")
		h.OnCommand("dmidecode", host.Output{Stdout: []byte(text)})
		r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "smbios", Load: smbios.Module})
		r.Fn(t, "smbios.records", "{clean: false}")
	})
}
