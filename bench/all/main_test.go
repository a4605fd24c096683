package main

import (
	"reflect"
	"testing"
	"time"
)

// TestParseLine reads what bench/ssh prints.
func TestParseLine(t *testing.T) {
	for text, want := range map[string]line{
		"  100 hosts    1.93 s wall   0.25 s CPU ( 2.50 ms a host)  far  29.4 ms a host   55448 KiB  load 3.80  brine ssh test.ping":                    {label: "brine ssh test.ping", wall: 1.93, cpu: 2.5, far: 29.4, memory: 55448, hasFar: true},
		"   10 hosts    0.39 s wall   0.11 s CPU (11.10 ms a host)  far   0.0 ms a host   51920 KiB  load 16.56  brine ssh test.ping, connections kept": {label: "brine ssh test.ping, connections kept", wall: 0.39, cpu: 11.1, memory: 51920},
		"  100 hosts   11.24 s wall   7.65 s CPU (76.50 ms a host)  far  26.0 ms a host    8192 KiB  load  0.10  ssh, one process a host (xargs -P 64)": {label: "ssh, one process a host (xargs -P 64)", wall: 11.24, cpu: 76.5, far: 26, memory: 8192, hasFar: true},
		"  100 hosts    0.35 s wall   0.43 s CPU ( 4.30 ms a host)  far   3.0 ms a host    8192 KiB  load  0.10  ssh over open ControlMasters":          {label: "ssh over open ControlMasters", wall: 0.35, cpu: 4.3, far: 3, memory: 8192},
	} {
		if got, ok := parseLine(text); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "# 2 cores, OpenSSH_9.2", "brine ssh -r true: failed", "100 hosts 1 s wall load 1"} {
		if got, ok := parseLine(text); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestMillis(t *testing.T) {
	for d, want := range map[int64]string{1_234_000: "1.2", 99_600_000: "100", 9_960_000: "10.0"} {
		if got := millis(time.Duration(d)); got != want {
			t.Errorf("%d ns: %s", d, got)
		}
	}
}
