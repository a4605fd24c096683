package ssh

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type userArg struct {
	_    fun.Arguments
	User string `arg:"user,required" doc:"name of the user"`
}

type configArg struct {
	_      fun.Arguments
	Config string `arg:"config,path" default:".ssh/authorized_keys" doc:"file of the keys, from the home directory; %u is the user and %h the home directory"`
}

type saltenvArg struct {
	_       fun.Arguments
	Saltenv string `arg:"saltenv" default:"base" doc:"saltenv of the source"`
}

type hashTypeArg struct {
	_                   fun.Arguments
	FingerprintHashType string `arg:"fingerprint_hash_type" doc:"hash of fingerprints: md5, sha1, sha224, sha256, sha384 or sha512; default: sha256"`
}

type sourceArg struct {
	_      fun.Arguments
	Source string `arg:"source,required" doc:"file of keys: salt://, http://, https:// or file:// URL or a path"`
}

type keyArg struct {
	_   fun.Arguments
	Key string `arg:"key,required" doc:"the key in base64, without its type"`
}

type cacheArg struct {
	_ fun.Arguments
	_ value.Value `arg:"cache_keys,list[str]" doc:"accepted; other keys always stay"`
}

type knownUser struct {
	_    fun.Arguments
	User string `arg:"user" doc:"user whose known hosts they are; default: those of the system"`
}

type hostArg struct {
	_        fun.Arguments
	Hostname string `arg:"hostname" doc:"name or address of the host"`
}

type knownConfig struct {
	_      fun.Arguments
	Config string `arg:"config,path" doc:"file of the known hosts; default: .ssh/known_hosts in the home directory of user, else /etc/ssh/ssh_known_hosts"`
}

type portArg struct {
	_    fun.Arguments
	Port fun.Opt[int64] `arg:"port" doc:"port of the host; default: 22"`
}

type hashArg struct {
	_              fun.Arguments
	HashKnownHosts bool `arg:"hash_known_hosts" default:"True" doc:"write the name of the host as a hash"`
}

type timeoutArg struct {
	_       fun.Arguments
	Timeout float64 `arg:"timeout,duration" default:"5" unit:"s" doc:"time to wait for the host"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "auth_keys", Doc: "Return the authorized keys of users.", Src: "modules/ssh.py auth_keys", Do: authKeys,
	},
	{
		Name: "check_key", Doc: "Return what has to be done for an authorized key: add, update or exists.", Src: "modules/ssh.py check_key", Do: checkKey,
	},
	{
		Name: "check_key_file", Doc: "Return what has to be done for each key of a file: add, update or exists.", Src: "modules/ssh.py check_key_file", Do: checkKeyFile,
	},
	{
		Name: "check_known_host", Doc: "Return what has to be done for a known host: add, update or exists.", Src: "modules/ssh.py check_known_host", Do: checkKnownHost,
	},
	{
		Name: "get_known_host_entries", Doc: "Return the keys that are known of a host, None if there are none.", Src: "modules/ssh.py get_known_host_entries", Do: getKnownHostEntries,
	},
	{
		Name: "hash_known_hosts", Doc: "Write the names of all known hosts as hashes.", Src: "modules/ssh.py hash_known_hosts", Do: hashKnownHosts,
	},
	{
		Name: "host_keys", Doc: "Return the host keys of this machine.", Src: "modules/ssh.py host_keys", Do: hostKeys,
	},
	{
		Name: "key_is_encrypted", Doc: "Return whether a private key has a passphrase.", Src: "modules/ssh.py key_is_encrypted", Do: keyIsEncrypted,
	},
	{
		Name: "recv_known_host_entries", Doc: "Ask a host for its keys; None if it does not answer.", Src: "modules/ssh.py recv_known_host_entries", Do: recvKnownHostEntries,
	},
	{Name: "rm_auth_key", Doc: "Remove an authorized key of a user.", Src: "modules/ssh.py rm_auth_key", Do: rmAuthKey},
	{
		Name: "rm_auth_key_from_file", Doc: "Remove the keys of a file from the authorized keys of a user.", Src: "modules/ssh.py rm_auth_key_from_file", Do: rmAuthKeyFromFile,
	},
	{
		Name: "rm_known_host", Doc: "Remove a host from the known hosts.", Src: "modules/ssh.py rm_known_host", Do: rmKnownHost,
	},
	{
		Name: "set_auth_key", Doc: "Add an authorized key to a user; return new, replace, no change, fail or Invalid public key.", Src: "modules/ssh.py set_auth_key", Do: setAuthKey,
	},
	{
		Name: "set_auth_key_from_file", Doc: "Add the keys of a file to the authorized keys of a user.", Src: "modules/ssh.py set_auth_key_from_file", Do: setAuthKeyFromFile,
	},
	{
		Name: "set_known_host", Doc: "Make a host known.\nWithout a key the host is asked for its keys.", Src: "modules/ssh.py set_known_host", Do: setKnownHost,
	},
	{
		Name: "user_keys", Doc: "Return the key pairs of users.", Src: "modules/ssh.py user_keys", Do: userKeys,
	},
}
