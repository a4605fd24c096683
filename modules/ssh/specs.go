package ssh

import "brine/internal/fun"

// Arguments that several functions have.
var (
	userArg     = fun.Arg{Name: "user", Type: fun.Str, Required: true, Doc: "name of the user"}
	configArg   = fun.Arg{Name: "config", Type: fun.Path, Default: DefaultKeys, Doc: "file of the keys, from the home directory; %u is the user and %h the home directory"}
	saltenvArg  = fun.Arg{Name: "saltenv", Type: fun.Str, Default: "base", Doc: "saltenv of the source"}
	hashTypeArg = fun.Arg{Name: "fingerprint_hash_type", Type: fun.Str, Doc: "hash of fingerprints: md5, sha1, sha224, sha256, sha384 or sha512; default: sha256"}
	sourceArg   = fun.Arg{Name: "source", Type: fun.Str, Required: true, Doc: "file of keys: salt://, http://, https:// or file:// URL or a path"}
	keyArg      = fun.Arg{Name: "key", Type: fun.Str, Required: true, Doc: "the key in base64, without its type"}
	cacheArg    = fun.Arg{Name: "cache_keys", Type: fun.Strs, Doc: "accepted; other keys always stay"}
	knownUser   = fun.Arg{Name: "user", Type: fun.Str, Doc: "user whose known hosts they are; default: those of the system"}
	hostArg     = fun.Arg{Name: "hostname", Type: fun.Str, Doc: "name or address of the host"}
	knownConfig = fun.Arg{Name: "config", Type: fun.Path, Doc: "file of the known hosts; default: .ssh/known_hosts in the home directory of user, else /etc/ssh/ssh_known_hosts"}
	portArg     = fun.Arg{Name: "port", Type: fun.Int, Doc: "port of the host; default: 22"}
	hashArg     = fun.Arg{Name: "hash_known_hosts", Type: fun.Bool, Default: true, Doc: "write the name of the host as a hash"}
	timeoutArg  = fun.Arg{Name: "timeout", Type: fun.Duration, Default: int64(5), Unit: "s", Doc: "time to wait for the host"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "auth_keys", Doc: "Return the authorized keys of users.", Src: "modules/ssh.py auth_keys", Fn: authKeys,
		Args: []fun.Arg{{Name: "user", Type: fun.Str | fun.Strs, Doc: "user, or a list of users; default: all users"}, configArg, hashTypeArg},
	},
	{
		Name: "check_key", Doc: "Return what has to be done for an authorized key: add, update or exists.", Src: "modules/ssh.py check_key", Fn: checkKey,
		Args: []fun.Arg{
			userArg, keyArg,
			{Name: "enc", Type: fun.Str, Required: true, Doc: "type of the key"},
			{Name: "comment", Type: fun.Str | fun.None, Required: true, Doc: "comment behind the key"},
			{Name: "options", Type: fun.Strs | fun.Str | fun.None, Required: true, Doc: "options in front of the key"},
			configArg, cacheArg, hashTypeArg,
		},
	},
	{
		Name: "check_key_file", Doc: "Return what has to be done for each key of a file: add, update or exists.", Src: "modules/ssh.py check_key_file", Fn: checkKeyFile,
		Args: []fun.Arg{userArg, sourceArg, configArg, saltenvArg, hashTypeArg},
	},
	{
		Name: "check_known_host", Doc: "Return what has to be done for a known host: add, update or exists.", Src: "modules/ssh.py check_known_host", Fn: checkKnownHost,
		Args: []fun.Arg{
			knownUser, hostArg,
			{Name: "key", Type: fun.Str, Doc: "key of the host in base64"},
			{Name: "fingerprint", Type: fun.Str, Doc: "fingerprint of the host, as pairs of hexadecimal digits"},
			knownConfig, portArg, hashTypeArg,
		},
	},
	{
		Name: "get_known_host_entries", Doc: "Return the keys that are known of a host, None if there are none.", Src: "modules/ssh.py get_known_host_entries", Fn: getKnownHostEntries,
		Args: []fun.Arg{
			{Name: "user", Type: fun.Str | fun.None, Required: true, Doc: "user whose known hosts they are; None are those of the system"},
			{Name: "hostname", Type: fun.Str, Required: true, Doc: "name or address of the host"},
			knownConfig, portArg, hashTypeArg,
		},
	},
	{
		Name: "hash_known_hosts", Doc: "Write the names of all known hosts as hashes.", Src: "modules/ssh.py hash_known_hosts", Fn: hashKnownHosts,
		Args: []fun.Arg{knownUser, knownConfig},
	},
	{
		Name: "host_keys", Doc: "Return the host keys of this machine.", Src: "modules/ssh.py host_keys", Fn: hostKeys,
		Args: []fun.Arg{
			{Name: "keydir", Type: fun.Path, Doc: "directory of the keys; default: /etc/ssh"},
			{Name: "private", Type: fun.Bool, Default: true, Doc: "return private keys too"},
			{Name: "certs", Type: fun.Bool, Default: true, Doc: "return certificates too"},
		},
	},
	{
		Name: "key_is_encrypted", Doc: "Return whether a private key has a passphrase.", Src: "modules/ssh.py key_is_encrypted", Fn: keyIsEncrypted,
		Args: []fun.Arg{{Name: "key", Type: fun.Path, Required: true, Doc: "file of the key"}},
	},
	{
		Name: "recv_known_host_entries", Doc: "Ask a host for its keys; None if it does not answer.", Src: "modules/ssh.py recv_known_host_entries", Fn: recvKnownHostEntries,
		Args: []fun.Arg{
			{Name: "hostname", Type: fun.Str, Required: true, Doc: "name or address of the host"},
			{Name: "enc", Type: fun.Str, Doc: "type of the key to ask for"},
			portArg, hashArg, timeoutArg, hashTypeArg,
		},
	},
	{Name: "rm_auth_key", Doc: "Remove an authorized key of a user.", Src: "modules/ssh.py rm_auth_key", Fn: rmAuthKey, Args: []fun.Arg{userArg, keyArg, configArg, hashTypeArg}},
	{
		Name: "rm_auth_key_from_file", Doc: "Remove the keys of a file from the authorized keys of a user.", Src: "modules/ssh.py rm_auth_key_from_file", Fn: rmAuthKeyFromFile,
		Args: []fun.Arg{userArg, sourceArg, configArg, saltenvArg, hashTypeArg},
	},
	{
		Name: "rm_known_host", Doc: "Remove a host from the known hosts.", Src: "modules/ssh.py rm_known_host", Fn: rmKnownHost,
		Args: []fun.Arg{knownUser, hostArg, knownConfig, portArg},
	},
	{
		Name: "set_auth_key", Doc: "Add an authorized key to a user; return new, replace, no change, fail or Invalid public key.", Src: "modules/ssh.py set_auth_key", Fn: setAuthKey,
		Args: []fun.Arg{
			userArg, keyArg,
			{Name: "enc", Type: fun.Str, Default: "ssh-rsa", Doc: "type of the key"},
			{Name: "comment", Type: fun.Str, Default: "", Doc: "comment behind the key"},
			{Name: "options", Type: fun.Strs, Doc: "options in front of the key"},
			configArg, cacheArg, hashTypeArg,
		},
	},
	{
		Name: "set_auth_key_from_file", Doc: "Add the keys of a file to the authorized keys of a user.", Src: "modules/ssh.py set_auth_key_from_file", Fn: setAuthKeyFromFile,
		Args: []fun.Arg{userArg, sourceArg, configArg, saltenvArg, hashTypeArg},
	},
	{
		Name: "set_known_host", Doc: "Make a host known.\nWithout a key the host is asked for its keys.", Src: "modules/ssh.py set_known_host", Fn: setKnownHost,
		Args: []fun.Arg{
			knownUser, hostArg,
			{Name: "fingerprint", Type: fun.Str, Doc: "fingerprint that one of the keys has to have, as pairs of hexadecimal digits"},
			{Name: "key", Type: fun.Str, Doc: "key of the host in base64"},
			portArg,
			{Name: "enc", Type: fun.Str, Doc: "type of the key"},
			knownConfig, hashArg, timeoutArg, hashTypeArg,
		},
	},
	{
		Name: "user_keys", Doc: "Return the key pairs of users.", Src: "modules/ssh.py user_keys", Fn: userKeys,
		Args: []fun.Arg{
			{Name: "user", Type: fun.Str | fun.Strs, Doc: "user, or a list of users; default: all users"},
			{Name: "pubfile", Type: fun.Str | fun.Bool, Doc: "file of the public key; False is none; default: all usual ones"},
			{Name: "prvfile", Type: fun.Str | fun.Bool, Doc: "file of the private key; False is none; default: all usual ones"},
		},
	},
}
