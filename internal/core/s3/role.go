package s3

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"brine/internal/core/printable"
)

// roleTimeout bounds a question to the instance, which answers at once or not at all.
const roleTimeout = 5 * time.Second

// credentials returns who signs, and the region of the signature.
func (c *Client) credentials(ctx context.Context) (credentials, string, error) {
	const everywhere = "us-east-1"
	if c.of.KeyID != "" && c.of.Key != "" && c.of.KeyID != FromRole && c.of.Key != FromRole {
		return credentials{keyID: c.of.KeyID, key: c.of.Key}, cmp.Or(c.of.Region, everywhere), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.who.key == "" || c.now().After(c.who.expires.Add(-time.Minute)) {
		who, err := c.role(ctx)
		if err != nil {
			return who, "", fmt.Errorf("keyid and key are not both set, and no role of an EC2 instance gives them: %w", err)
		}
		c.who = who
	}
	return c.who, cmp.Or(c.of.Region, c.who.region, everywhere), nil
}

// role asks the instance for the credentials of its role.
//
// Source: "Instance metadata and user data" of Amazon's documentation of EC2, version 2.
func (c *Client) role(ctx context.Context) (credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, roleTimeout)
	defer cancel()
	// The instance is asked itself, never a proxy.
	ask := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: c.http.CheckRedirect}
	base := strings.TrimRight(c.metadata, "/") + "/latest/"
	token, err := metadata(ctx, ask, http.MethodPut, base+"api/token", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
	if err != nil {
		return credentials{}, err
	}
	get := func(what string) (string, error) {
		return metadata(ctx, ask, http.MethodGet, base+"meta-data/"+what, "X-Aws-Ec2-Metadata-Token", token)
	}
	const roles = "iam/security-credentials/"
	names, err := get(roles)
	if err != nil {
		return credentials{}, err
	}
	name, _, _ := strings.Cut(names, "\n")
	text, err := get(roles + escape(strings.TrimSpace(name)))
	if err != nil {
		return credentials{}, err
	}
	var got struct {
		KeyID      string    `json:"AccessKeyId"`
		Key        string    `json:"SecretAccessKey"`
		Token      string    `json:"Token"`
		Expiration time.Time `json:"Expiration"`
	}
	if json.Unmarshal([]byte(text), &got) != nil || got.KeyID == "" || got.Key == "" {
		return credentials{}, errors.New("the instance did not answer with credentials")
	}
	who := credentials{keyID: got.KeyID, key: got.Key, token: got.Token, expires: got.Expiration}
	if who.region, err = get("placement/region"); err != nil {
		return credentials{}, err
	}
	who.region = strings.TrimSpace(who.region)
	return who, nil
}

// metadata asks the instance for a text.
func metadata(ctx context.Context, ask *http.Client, method, at, header, v string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set(header, v)
	res, err := ask.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", printable.Line(at), printable.Line(res.Status))
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxProblem))
	return string(b), err
}
