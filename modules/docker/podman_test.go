package docker

import (
	"testing"

	"brine/internal/py/value"
)

// TestPodman compares what podman adds by itself, which is no difference.
func TestPodman(t *testing.T) {
	t.Parallel()
	env := value.Strings("A=b", "HOSTNAME=37bd0b2c7a57")
	for _, tt := range []struct {
		env      value.Value
		hostname string
		want     string
	}{
		{env, "37bd0b2c7a57", "['A=b']"},
		{env, "", "['A=b']"},
		{value.Strings("HOSTNAME=rec1", "A=b"), "rec1", "['A=b']"},
		{value.Strings("HOSTNAME=web", "A=b"), "rec1", "['HOSTNAME=web', 'A=b']"},
		{nil, "rec1", "None"},
	} {
		if got := value.Repr(withoutHostname(tt.env, tt.hostname)); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", value.Repr(tt.env), tt.hostname, got, tt.want)
		}
	}
	network := func(opts value.Value) *value.Map {
		return value.MapOf("Name", "n", "IPAM", value.MapOf("Driver", "default", "Options", opts))
	}
	host := network(value.MapOf("driver", "host-local"))
	for _, other := range []value.Value{nil, value.NewMap(0)} {
		if diff := CompareNets(host, network(other), nil); diff.Len() > 0 {
			t.Errorf("the usual driver of addresses is a difference: %s", value.Repr(diff))
		}
	}
	if diff := CompareNets(host, network(value.MapOf("driver", "dhcp")), nil); diff.Len() == 0 {
		t.Error("another driver of addresses is no difference")
	}
}
