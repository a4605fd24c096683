package sshexec

import (
	"context"
	"io"
	"log/slog"

	"golang.org/x/crypto/ssh"
)

// logged notes the keys that a host will be offered, in their order, and returns
// them so that they note which one the host takes: it is only then that a key
// signs. from tells where each comes from.
func (t *dest) logged(signers []ssh.Signer, from map[string]string) []ssh.Signer {
	if t.log == nil || !t.log.Enabled(context.Background(), slog.LevelDebug) {
		return signers
	}
	out := make([]ssh.Signer, len(signers))
	for i, s := range signers {
		key := s.PublicKey()
		attrs := []any{"key", ssh.FingerprintSHA256(key), "type", key.Type(), "from", from[string(key.Marshal())]}
		t.note("key to offer", attrs...)
		signs := func() { t.note("key accepted by the host", attrs...) }
		switch s := s.(type) {
		case ssh.MultiAlgorithmSigner:
			out[i] = &multiSigner{s, signs}
		case ssh.AlgorithmSigner:
			out[i] = &algorithmSigner{s, signs}
		default:
			out[i] = &plainSigner{s, signs}
		}
	}
	return out
}

// Signers that tell when they sign. There is one for each set of methods that the
// library looks for.
type (
	plainSigner struct {
		ssh.Signer
		signs func()
	}
	algorithmSigner struct {
		ssh.AlgorithmSigner
		signs func()
	}
	multiSigner struct {
		ssh.MultiAlgorithmSigner
		signs func()
	}
)

// Sign signs.
func (s *plainSigner) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	s.signs()
	return s.Signer.Sign(rand, data)
}

// SignWithAlgorithm signs.
func (s *algorithmSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s.signs()
	return s.AlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}

// SignWithAlgorithm signs.
func (s *multiSigner) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s.signs()
	return s.MultiAlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}
