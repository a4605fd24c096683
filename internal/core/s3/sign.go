package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// credentials are who signs a request.
type credentials struct {
	keyID, key string
	token      string    // of a role; "": keys that somebody made
	expires    time.Time // zero: never
	region     string    // of the instance that has the role
}

// noBody is the SHA-256 of a request without a body.
const noBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign adds the signature of a request without a body.
//
// Source: "Signature Calculations for the Authorization Header" of Amazon's API reference of S3.
func sign(req *http.Request, who credentials, region string, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	req.Header.Set("X-Amz-Content-Sha256", noBody)
	req.Header.Set("X-Amz-Date", stamp)
	if who.token != "" {
		req.Header.Set("X-Amz-Security-Token", who.token)
	}
	headers := map[string]string{"host": req.URL.Host}
	names := []string{"host"}
	for name, values := range req.Header {
		name = strings.ToLower(name)
		headers[name] = strings.Join(values, ",")
		names = append(names, name)
	}
	slices.Sort(names)
	var canonical strings.Builder
	canonical.WriteString(req.Method + "\n" + req.URL.EscapedPath() + "\n" + req.URL.RawQuery + "\n")
	for _, name := range names {
		canonical.WriteString(name + ":" + headers[name] + "\n")
	}
	signed := strings.Join(names, ";")
	canonical.WriteString("\n" + signed + "\n" + noBody)
	sum := sha256.Sum256([]byte(canonical.String()))

	scope := stamp[:8] + "/" + region + "/s3/aws4_request"
	key := []byte("AWS4" + who.key)
	for _, part := range []string{stamp[:8], region, "s3", "aws4_request", "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(sum[:])} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+who.keyID+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(key))
}

// escape writes a key as a path: everything but letters, digits, "-", ".", "_", "~" and "/" is
// escaped, which is how the signature has it.
func escape(s string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return out.String()
}
