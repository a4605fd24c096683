//go:build slim

package assembly

// SSHOptions are empty: an agent reaches no machines over SSH.
type SSHOptions struct{}
