package plan

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of a plan file.
const (
	MaxFile  = 256 << 20 // bytes
	maxSteps = 100_000
	maxHosts = 1_000_000 // in all steps together
)

// A Key seals the plans of a user, and makes hashes that nobody without it can guess
// the secrets of. It has a key of its own for each of the two, so that no hash is a
// seal, whatever was hashed.
type Key struct{ seal, hashes []byte }

// KeySize is the length in bytes of the secret that a key is made of.
const KeySize = 32

// NewKey returns the key of a secret.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != KeySize {
		return nil, fmt.Errorf("it has %d bytes instead of %d", len(secret), KeySize)
	}
	seal, err := hkdf.Key(sha256.New, secret, nil, "brine plan: seal", KeySize)
	if err != nil {
		return nil, err
	}
	hashes, err := hkdf.Key(sha256.New, secret, nil, "brine plan: hashes", KeySize)
	if err != nil {
		return nil, err
	}
	return &Key{seal, hashes}, nil
}

// Hash returns the keyed hash of data that a plan is made of.
func (k *Key) Hash(data []byte) string { return keyed(k.hashes, data) }

func keyed(key, data []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A VersionError is a file of another version of the format.
type VersionError struct{ Format int }

func (e *VersionError) Error() string {
	who := "an older"
	if e.Format > Format {
		who = "a newer"
	}
	return fmt.Sprintf("%s brine wrote the plan: it has format %d, and this one reads format %d", who, e.Format, Format)
}

// ErrSeal is a file that was changed after it was written, or that was written
// with another key.
var ErrSeal = errors.New("the plan was made by another user or on another machine, or the file was changed")

func digest(v any) [32]byte {
	data, err := json.Marshal(v)
	if err != nil {
		return [32]byte{}
	}
	return sha256.Sum256(data)
}

// seal returns the keyed hash of a plan without its seal.
func (p *Plan) seal(key *Key) (string, error) {
	bare := *p
	bare.Seal = ""
	data, err := json.Marshal(&bare)
	if err != nil {
		return "", err
	}
	return keyed(key.seal, data), nil
}

// Encode returns the file of a plan.
func Encode(p *Plan, key *Key) ([]byte, error) {
	var err error
	if p.Seal, err = p.seal(key); err != nil {
		return nil, err
	}
	return Document(p)
}

// Document returns a plan as JSON for people and programs.
func Document(p *Plan) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Decode reads the file of a plan. It returns a *VersionError for another
// format, and ErrSeal where the key is not that of the plan.
func Decode(data []byte, key *Key) (*Plan, error) {
	p, err := Parse(data)
	if err != nil {
		return nil, err
	}
	want, err := p.seal(key)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(want), []byte(p.Seal)) {
		return nil, ErrSeal
	}
	return p, nil
}

// Parse reads the file of a plan that is to be shown and not to be applied: whose it is, is
// not looked at.
func Parse(data []byte) (*Plan, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxFile>>20)
	}
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Format == nil {
		return nil, errors.New("it is not a plan that brine wrote")
	}
	if *head.Format != Format {
		return nil, &VersionError{*head.Format}
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("it is not a plan that brine wrote: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the plan")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

// check finds what no plan has.
func (p *Plan) check() error {
	if k := p.Command.Kind; !p.Command.HasSteps() && k != SSH && k != Call {
		return fmt.Errorf("it has a command of the unknown kind %q", k)
	}
	if len(p.Command.Args) == 0 {
		return errors.New("its command has no arguments")
	}
	steps, hosts := 0, 0
	var fault error
	Walk(p.Steps, func(s *Step) bool {
		if s == nil {
			fault = errors.New("it has an empty step")
			return false
		}
		steps++
		hosts += len(s.Targets)
		fault = s.check()
		return fault == nil
	})
	if fault == nil && (steps > maxSteps || hosts > maxHosts) {
		fault = fmt.Errorf("it has more than %d steps or %d machines", maxSteps, maxHosts)
	}
	return fault
}

// check finds what no step has.
func (s *Step) check() error {
	for _, g := range s.Groups {
		if g == nil {
			return fmt.Errorf("step %q has an empty group", s.ID)
		}
		for _, st := range g.States {
			if st == nil {
				return fmt.Errorf("step %q has an empty state", s.ID)
			}
		}
	}
	return nil
}
