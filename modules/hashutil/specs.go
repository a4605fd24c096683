package hashutil

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type instrArg struct {
	_     fun.Arguments
	Instr value.Value `arg:"instr,required,str" doc:"the text"`
}

type stringArg struct {
	_      fun.Arguments
	String value.Value `arg:"string,required,str" doc:"the text"`
}

type secretArg struct {
	_            fun.Arguments
	SharedSecret value.Value `arg:"shared_secret,required,secret,str" doc:"the secret"`
}

type checksumArgs struct {
	_        fun.Arguments
	Checksum string `arg:"checksum" default:"md5" doc:"md5, sha256 or sha512"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "base64_b64decode", Doc: "Decode Base64.", Src: "modules/hashutil.py base64_b64decode", Do: decode64},
	{Name: "base64_b64encode", Doc: "Encode as Base64 without line breaks.", Src: "modules/hashutil.py base64_b64encode", Do: encode64},
	{
		Name: "base64_decodefile", Doc: "Decode Base64 and write it to a file.", Src: "modules/hashutil.py base64_decodefile",
		Do: decodeFile,
	},
	{Name: "base64_decodestring", Doc: "Decode Base64 of several lines.", Src: "modules/hashutil.py base64_decodestring", Do: decode64},
	{
		Name: "base64_encodefile", Doc: "Read a file and encode it as Base64 of several lines.", Src: "modules/hashutil.py base64_encodefile",
		Do: encodeFile,
	},
	{Name: "base64_encodestring", Doc: "Encode as Base64 in lines of 76 characters.", Src: "modules/hashutil.py base64_encodestring", Do: encodeLines},
	{Name: "digest", Doc: "Return the digest of a text.", Src: "modules/hashutil.py digest", Do: digest},
	{
		Name: "digest_file", Doc: "Return the digest of a file.", Src: "modules/hashutil.py digest_file",
		Do: digestFile,
	},
	{
		Name: "github_signature", Doc: "Return whether a GitHub webhook signature is that of a text.", Src: "modules/hashutil.py github_signature",
		Do: githubSignature,
	},
	{Name: "hmac_compute", Doc: "Return the HMAC-SHA256 of a text in hexadecimal.", Src: "modules/hashutil.py hmac_compute", Do: hmacCompute},
	{
		Name: "hmac_signature", Doc: "Return whether a text has an HMAC-SHA256, given as Base64.", Src: "modules/hashutil.py hmac_signature",
		Do: hmacSignature,
	},
	{Name: "md5_digest", Doc: "Return the MD5 digest of a text.", Src: "modules/hashutil.py md5_digest", Do: md5Digest},
	{Name: "sha256_digest", Doc: "Return the SHA-256 digest of a text.", Src: "modules/hashutil.py sha256_digest", Do: sha256Digest},
	{Name: "sha512_digest", Doc: "Return the SHA-512 digest of a text.", Src: "modules/hashutil.py sha512_digest", Do: sha512Digest},
}
