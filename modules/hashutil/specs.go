package hashutil

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	instrArg  = fun.Arg{Name: "instr", Type: fun.Str, Required: true, Doc: "the text"}
	stringArg = fun.Arg{Name: "string", Type: fun.Str, Required: true, Doc: "the text"}
	secretArg = fun.Arg{Name: "shared_secret", Type: fun.Str, Required: true, Doc: "the secret", Secret: true}
)

var checksumArgs = []fun.Arg{
	{Name: "checksum", Type: fun.Str, Default: "md5", Doc: "md5, sha256 or sha512"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "base64_b64decode", Doc: "Decode Base64.", Src: "modules/hashutil.py base64_b64decode", Args: []fun.Arg{instrArg}, Fn: decode64},
	{Name: "base64_b64encode", Doc: "Encode as Base64 without line breaks.", Src: "modules/hashutil.py base64_b64encode", Args: []fun.Arg{instrArg}, Fn: encode64},
	{
		Name: "base64_decodefile", Doc: "Decode Base64 and write it to a file.", Src: "modules/hashutil.py base64_decodefile",
		Fn: decodeFile,
		Args: []fun.Arg{
			instrArg,
			{Name: "outfile", Type: fun.Path, Required: true, Doc: "the file to write"},
		},
	},
	{Name: "base64_decodestring", Doc: "Decode Base64 of several lines.", Src: "modules/hashutil.py base64_decodestring", Args: []fun.Arg{instrArg}, Fn: decode64},
	{
		Name: "base64_encodefile", Doc: "Read a file and encode it as Base64 of several lines.", Src: "modules/hashutil.py base64_encodefile",
		Fn: encodeFile,
		Args: []fun.Arg{
			{Name: "fname", Type: fun.Path, Required: true, Doc: "the file"},
		},
	},
	{Name: "base64_encodestring", Doc: "Encode as Base64 in lines of 76 characters.", Src: "modules/hashutil.py base64_encodestring", Args: []fun.Arg{instrArg}, Fn: encodeLines},
	{Name: "digest", Doc: "Return the digest of a text.", Src: "modules/hashutil.py digest", Args: []fun.Arg{instrArg}, Shared: [][]fun.Arg{checksumArgs}, Fn: digest},
	{
		Name: "digest_file", Doc: "Return the digest of a file.", Src: "modules/hashutil.py digest_file",
		Shared: [][]fun.Arg{checksumArgs}, Fn: digestFile,
		Args: []fun.Arg{
			{Name: "infile", Type: fun.Path, Required: true, Doc: "the file"},
		},
	},
	{
		Name: "github_signature", Doc: "Return whether a GitHub webhook signature is that of a text.", Src: "modules/hashutil.py github_signature",
		Fn: githubSignature,
		Args: []fun.Arg{
			stringArg, secretArg,
			{Name: "challenge_hmac", Type: fun.Str, Required: true, Doc: "the signature: sha1=HEX or sha256=HEX"},
		},
	},
	{Name: "hmac_compute", Doc: "Return the HMAC-SHA256 of a text in hexadecimal.", Src: "modules/hashutil.py hmac_compute", Args: []fun.Arg{stringArg, secretArg}, Fn: hmacCompute},
	{
		Name: "hmac_signature", Doc: "Return whether a text has an HMAC-SHA256, given as Base64.", Src: "modules/hashutil.py hmac_signature",
		Fn: hmacSignature,
		Args: []fun.Arg{
			stringArg, secretArg,
			{Name: "challenge_hmac", Type: fun.Str, Required: true, Doc: "the HMAC as Base64"},
		},
	},
	{Name: "md5_digest", Doc: "Return the MD5 digest of a text.", Src: "modules/hashutil.py md5_digest", Args: []fun.Arg{instrArg}, Fn: md5Digest},
	{Name: "sha256_digest", Doc: "Return the SHA-256 digest of a text.", Src: "modules/hashutil.py sha256_digest", Args: []fun.Arg{instrArg}, Fn: sha256Digest},
	{Name: "sha512_digest", Doc: "Return the SHA-512 digest of a text.", Src: "modules/hashutil.py sha512_digest", Args: []fun.Arg{instrArg}, Fn: sha512Digest},
}
