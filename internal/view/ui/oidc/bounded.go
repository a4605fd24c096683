package oidc

import (
	"io"
	"net/http"
)

// A bounded reads answers of the provider up to a bound.
type bounded struct{ next http.RoundTripper }

// RoundTrip asks the provider.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}
