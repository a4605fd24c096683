package file

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
)

type cachedArgs struct {
	_              fun.Arguments
	_              string      `arg:"name,required" doc:"source: a salt:// or web URL, or a path"`
	SourceHash     value.Value `arg:"source_hash,str" default:"" doc:"digest of the source, or a file of digests"`
	SourceHashName string      `arg:"source_hash_name" doc:"name to look up in a file of digests"`
	SkipVerify     bool        `arg:"skip_verify" default:"False" doc:"accept a web source without a digest"`
	Saltenv        string      `arg:"saltenv" default:"base" doc:"environment of a salt:// URL"`
	UseETag        bool        `arg:"use_etag" default:"False" doc:"use ETag headers to check whether the copy is current"`
}

// cached brings a source into the cache. One that is a path on this machine is
// only looked at.
//
// It fails where a web source has no digest, where the digest is another one,
// and where the source cannot be had. Salt: states/file.py cached.
func cached(ctx context.Context, fc *fun.Call, a *cachedArgs) fun.Ret {
	c := begin(fc)
	c.ret.Name = c.Name
	c.SaltEnv = a.Saltenv
	source, hash, skip := c.Name, a.SourceHash, a.SkipVerify
	if !skip && !value.Truth(hash) && !a.UseETag && cp.IsRemote(source) {
		return c.fail("Unable to verify upstream hash of source file %s, please set source_hash or set skip_verify or use_etag to True", cp.Redact(source))
	}
	want := cp.Sum{}
	if value.Truth(hash) {
		var err error
		if want, err = c.SourceSum(ctx, "", source, value.Str(hash), a.SourceHashName, cp.Options{}); err != nil {
			return c.fail("%s", err)
		}
	}
	kind := want.Type
	if kind == "" {
		kind = c.hashType()
	}
	if c.Test {
		return c.wouldCache(source, want)
	}
	if local, ok := localPath(c, source); ok {
		return c.localCached(local, kind, want, skip)
	}
	var before value.Value
	if p := c.Cached(source); p != "" {
		if sum, err := cp.HashFile(c.Host, p, kind); err == nil {
			before = sum
		}
	}
	client := cp.New(c.Env, c.SaltEnv)
	p, err := client.CacheFile(ctx, source, cp.Options{SourceHash: want.Hex, UseETag: a.UseETag, Copy: true})
	if err != nil {
		return c.fail("%s", host.OSError(err))
	}
	if p == "" {
		return c.fail("Failed to cache %s, check minion log for more information", cp.Redact(source))
	}
	after, err := cp.HashFile(c.Host, p, kind)
	if err != nil {
		return c.fail("%s", host.OSError(err))
	}
	if before != after {
		c.ret.Changes.Set("hash", value.MapOf("old", before, "new", after))
	}
	switch {
	case skip || want.Hex == "":
		return c.done(fun.OK, "File is cached to "+p)
	case after == want.Hex:
		return c.done(fun.OK, fmt.Sprintf("File is already cached to %s with hash %s", p, after))
	}
	return c.fail("File is cached to %s, but the hash (%s) does not match the specified hash (%s)", p, after, want.Hex)
}

// hashType is the kind of digest that the configuration asks for.
func (c *call) hashType() string {
	if t := c.Opt("hash_type"); t != "" {
		return t
	}
	return "sha256"
}

// wouldCache is what test mode says.
func (c *call) wouldCache(source string, want cp.Sum) fun.Ret {
	p := c.Cached(source)
	say := "File will be cached: " + source
	switch {
	case p == "":
	case want.Hex == "":
		say = "No hash found. " + say
	default:
		if have, err := cp.HashFile(c.Host, p, want.Type); err == nil && have == want.Hex {
			return c.done(fun.WouldChange, "File already cached: "+source)
		}
		say = "Hashes don't match.\n" + say
	}
	return c.done(fun.WouldChange, say)
}

// localCached looks at a source on this machine.
func (c *call) localCached(path, kind string, want cp.Sum, skip bool) fun.Ret {
	if !c.Exists(path) {
		return c.fail("File %s is not present on the minion", path)
	}
	if skip || want.Hex == "" {
		return c.done(fun.OK, fmt.Sprintf("File %s is present on the minion", path))
	}
	have, err := cp.HashFile(c.Host, path, kind)
	if err != nil {
		return c.fail("%s", host.OSError(err))
	}
	if have != want.Hex {
		return c.fail("File %s is present on the minion, but the hash (%s) does not match the specified hash (%s)", path, have, want.Hex)
	}
	return c.done(fun.OK, fmt.Sprintf("File %s is present on the minion and has hash %s", path, have))
}
