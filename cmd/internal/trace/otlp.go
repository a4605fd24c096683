package trace

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/redact"
)

// An Exporter sends spans to a collector of OpenTelemetry, by OTLP over HTTP. The
// environment says how, by the variables that OpenTelemetry defines.
type Exporter struct {
	url      string
	json     bool
	header   http.Header
	timeout  time.Duration
	resource []attr

	trace  [16]byte
	parent [8]byte // of the run; zero: none
	client *http.Client
}

// batch bounds what is sent at once.
const batch = 512

// NewExporter returns the exporter that the environment asks for, nil where it asks
// for none: no endpoint, OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER=none, or a
// TRACEPARENT that is not sampled. An error says which variable is wrong.
func NewExporter(getenv func(string) string, version, instance string) (*Exporter, error) {
	either := func(name string) string {
		if v := getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
			return v
		}
		return getenv("OTEL_EXPORTER_OTLP_" + name)
	}
	endpoint := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" && base != "" {
		endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if endpoint == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	if s := getenv("OTEL_TRACES_SAMPLER"); s == "always_off" || s == "parentbased_always_off" && getenv("TRACEPARENT") == "" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %s is not a URL of http or https", quoted(endpoint))
	}
	e := &Exporter{url: endpoint, header: http.Header{}, timeout: 10 * time.Second}
	switch p := either("PROTOCOL"); p {
	case "", "http/protobuf":
	case "http/json":
		e.json = true
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: %q is not supported; use http/protobuf or http/json", p)
	}
	if t := either("TIMEOUT"); t != "" {
		ms, err := strconv.Atoi(t)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %q is not a number of milliseconds", t)
		}
		e.timeout = min(time.Duration(ms)*time.Millisecond, time.Minute)
	}
	headers, err := pairs(either("HEADERS"))
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	for _, h := range headers {
		e.header.Set(h.key, h.value)
	}
	if e.client, err = client(either); err != nil {
		return nil, err
	}
	if err := e.identify(getenv, version, instance); err != nil {
		return nil, err
	}
	sampled, err := e.continues(getenv("TRACEPARENT"))
	if err != nil || !sampled {
		return nil, err
	}
	return e, nil
}

// client makes the client of the connection, with the certificates that the
// environment names.
func client(either func(string) string) (*http.Client, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := either("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", file)
		}
	}
	if cert := either("CLIENT_CERTIFICATE"); cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, either("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: conf},
		// The headers have the key of the collector: they are for it alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// identify reads what the traces are labelled with.
func (e *Exporter) identify(getenv func(string) string, version, instance string) error {
	own := []attr{{"service.name", "brine"}, {"service.version", version}, {"service.instance.id", instance}, {"telemetry.sdk.language", "go"}}
	given, err := pairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		given = append(given, attr{"service.name", name})
	}
	at := map[string]int{}
	for _, a := range append(own, given...) {
		if i, ok := at[a.key]; ok {
			e.resource[i] = a
			continue
		}
		at[a.key] = len(e.resource)
		e.resource = append(e.resource, a)
	}
	return nil
}

// pairs reads a comma list of key=value, whose values are URL-encoded.
func pairs(text string) ([]attr, error) {
	var all []attr
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		k, v, ok := strings.Cut(item, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, errors.New("it is not a comma list of key=value")
		}
		if plain, err := url.PathUnescape(strings.TrimSpace(v)); err == nil {
			v = plain
		}
		all = append(all, attr{k, v})
	}
	return all, nil
}

// continues has the run be a part of the trace that TRACEPARENT names, and reports
// whether it is sampled. A trace of its own is.
func (e *Exporter) continues(parent string) (bool, error) {
	if parent == "" {
		_, _ = rand.Read(e.trace[:])
		return true, nil
	}
	f := strings.Split(parent, "-")
	bad := fmt.Errorf("TRACEPARENT: %q is not of the form 00-<trace>-<span>-<flags>", parent)
	if len(f) < 4 || len(f[0]) != 2 || f[0] == "ff" || len(f[1]) != 32 || len(f[2]) != 16 || len(f[3]) != 2 {
		return false, bad
	}
	trace, err := hex.DecodeString(f[1])
	span, err2 := hex.DecodeString(f[2])
	flags, err3 := hex.DecodeString(f[3])
	if errors.Join(err, err2, err3) != nil || [16]byte(trace) == [16]byte{} || [8]byte(span) == [8]byte{} {
		return false, bad
	}
	e.trace, e.parent = [16]byte(trace), [8]byte(span)
	return flags[0]&1 == 1, nil
}

// Export sends spans, all of them within the timeout of the exporter.
func (e *Exporter) Export(ctx context.Context, spans []Span) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	ids := make([][8]byte, len(spans))
	for i := range ids {
		_, _ = rand.Read(ids[i][:])
	}
	for from := 0; from < len(spans); from += batch {
		var part []message
		for i := from; i < min(from+batch, len(spans)); i++ {
			part = append(part, e.span(&spans[i], ids, i))
		}
		if err := e.post(ctx, e.request(part)); err != nil {
			return fmt.Errorf("%s: %w", e.shown(), err)
		}
	}
	return nil
}

// quoted is an endpoint as an error shows it: without what may be a password.
func quoted(endpoint string) string {
	if strings.Contains(endpoint, "@") {
		return "the value"
	}
	return strconv.Quote(endpoint)
}

// shown is the endpoint without a password.
func (e *Exporter) shown() string {
	u, err := url.Parse(e.url)
	if err != nil {
		return "the collector"
	}
	return u.Redacted()
}

// hideHeaders takes the values of the headers out of text: an answer may quote the
// key that it refuses.
func (e *Exporter) hideHeaders(text string) string {
	for _, values := range e.header {
		for _, v := range values {
			words := append([]string{v}, strings.Fields(v)...) // such as Bearer and the token
			for _, w := range words {
				if len(w) > 3 && !strings.EqualFold(w, "bearer") && !strings.EqualFold(w, "basic") {
					text = strings.ReplaceAll(text, w, redact.Hidden)
				}
			}
		}
	}
	return text
}

// The pauses between two tries to send a batch.
const (
	firstPause = 250 * time.Millisecond
	maxAnswer  = 4 << 10
)

// post sends a request, again where the collector asks for it.
func (e *Exporter) post(ctx context.Context, m message) error {
	body, kind := m.protobuf(nil), "application/x-protobuf"
	if e.json {
		body, kind = m.json(nil), "application/json"
	}
	for pause := firstPause; ; pause *= 2 {
		again, err := e.try(ctx, body, kind)
		if err == nil || !again {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

func (e *Exporter) try(ctx context.Context, body []byte, kind string) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "brine")
	res, err := e.client.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // without the URL, which may have a password
		}
		return false, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	why := ""
	if !strings.Contains(res.Header.Get("Content-Type"), "protobuf") {
		why = strings.TrimSpace(string(answer))
	}
	return again, errors.New(e.hideHeaders(strings.TrimSuffix(res.Status+": "+why, ": ")))
}
