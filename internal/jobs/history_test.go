package jobs

import (
	"testing"

	"brine/internal/redact"
	"brine/internal/value"
)

func TestSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	low := value.MapOf("state", "salt", "kwarg", value.MapOf("password", "x"), "pillar", value.MapOf("p", "q"))
	if got := withoutSecrets(low); got.Map("kwarg").Str("password") != redact.Hidden || len(got.Str("pillar")) != 71 || low.Map("kwarg").Str("password") != "x" {
		t.Errorf("withoutSecrets = %s", value.Repr(got))
	}
}
