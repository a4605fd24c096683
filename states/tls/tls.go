// Package tls is Salt's state module "tls".
package tls

import (
	"context"
	"fmt"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/modules/tls"
)

// States returns the rows of the state module "tls".
func States() fun.Module {
	return fun.Module{Name: "tls", Kind: fun.State, Doc: "Check TLS certificates.", Specs: specs}
}

// specs are the functions.
var specs = []fun.Spec{
	{
		Name: "valid_certificate", Do: validCertificate, Src: "states/tls.py valid_certificate",
		Doc: "Check that a certificate is valid now, and stays so for some time.",
	},
}

type validCertificateArgs struct {
	_       fun.Arguments
	_       string  `arg:"name,required" doc:"file of the certificate, or PEM text"`
	Weeks   float64 `arg:"weeks" default:"0" unit:"weeks" doc:"weeks that it has to stay valid"`
	Days    float64 `arg:"days" default:"0" unit:"days" doc:"and days"`
	Hours   float64 `arg:"hours" default:"0" unit:"hours" doc:"and hours"`
	Minutes float64 `arg:"minutes" default:"0" unit:"minutes" doc:"and minutes"`
	Seconds float64 `arg:"seconds" default:"0" unit:"s" doc:"and seconds"`
}

// validCertificate checks a certificate. Salt: states/tls.py valid_certificate.
func validCertificate(_ context.Context, c *fun.Call, a *validCertificateArgs) fun.Ret {
	cert, err := tls.Load(c.Env.Host, c.Name)
	if err != nil {
		return fun.Ret{Comment: host.OSError(err)}
	}
	now := c.Env.Host.Now()
	switch {
	case now.Before(cert.NotBefore):
		return fun.Ret{Comment: "Certificate is not yet valid"}
	case now.After(cert.NotAfter):
		return fun.Ret{Comment: "Certificate is expired"}
	}
	left := cert.NotAfter.Sub(now).Round(time.Microsecond)
	want := a.Weeks*604800 + a.Days*86400 + a.Hours*3600 + a.Minutes*60 + a.Seconds
	if left.Seconds() < want {
		return fun.Ret{Comment: fmt.Sprintf("Certificate will expire in %s, which is less than %s", delta(left), delta(time.Duration(min(want, 9e9)*float64(time.Second))))}
	}
	return fun.Ret{Result: fun.OK, Comment: "Certificate is valid for " + delta(left)}
}

// delta writes a duration as Python's timedelta.
func delta(d time.Duration) string {
	const day = 24 * time.Hour
	days := d / day
	d -= days * day
	s := fmt.Sprintf("%d:%02d:%02d", d/time.Hour, d/time.Minute%60, d/time.Second%60)
	if us := d % time.Second / time.Microsecond; us != 0 {
		s += fmt.Sprintf(".%06d", us)
	}
	if days == 0 {
		return s
	}
	if days == 1 {
		return "1 day, " + s
	}
	return fmt.Sprintf("%d days, %s", days, s)
}
