package sshconf

import (
	"fmt"
	"strings"
	"sync"

	"brine/internal/py/source"
)

// keywords are those of ssh_config(5), old ones too. brine reads a part of
// them; the others are known so that they are not taken for mistakes.
const keywords = `AddKeysToAgent AddressFamily BatchMode BindAddress BindInterface CASignatureAlgorithms CanonicalDomains
CanonicalizeFallbackLocal CanonicalizeHostname CanonicalizeMaxDots CanonicalizePermittedCNAMEs CertificateFile
ChallengeResponseAuthentication ChannelTimeout CheckHostIP Cipher Ciphers ClearAllForwardings Compression CompressionLevel
ConnectTimeout ConnectionAttempts ControlMaster ControlPath ControlPersist DSAAuthentication DynamicForward
EnableEscapeCommandline EnableSSHKeysign EscapeChar ExitOnForwardFailure FallBackToRsh FingerprintHash ForkAfterAuthentication
ForwardAgent ForwardX11 ForwardX11Timeout ForwardX11Trusted GSSAPIAuthentication GSSAPIClientIdentity
GSSAPIDelegateCredentials GSSAPIKexAlgorithms GSSAPIKeyExchange GSSAPIRenewalForcesRekey GSSAPIServerIdentity GSSAPITrustDns
GatewayPorts GlobalKnownHostsFile GlobalKnownHostsFile2 HashKnownHosts Host HostKeyAlgorithms HostKeyAlias
HostbasedAcceptedAlgorithms HostbasedAuthentication HostbasedKeyTypes Hostname IPQoS IdentitiesOnly IdentityAgent IdentityFile
IdentityFile2 IgnoreUnknown Include KbdInteractiveAuthentication KbdInteractiveDevices KeepAlive KexAlgorithms
KnownHostsCommand LocalCommand LocalForward LogLevel LogVerbose MACs Match NoHostAuthenticationForLocalhost
NumberOfPasswordPrompts ObscureKeystrokeTiming PKCS11Provider PasswordAuthentication PermitLocalCommand PermitRemoteOpen Port
PreferredAuthentications Protocol ProxyCommand ProxyJump ProxyUseFdpass PubkeyAcceptedAlgorithms PubkeyAcceptedKeyTypes
PubkeyAuthentication RSAAuthentication RefuseConnection RekeyLimit RemoteCommand RemoteForward RequestTTY RequiredRSASize
RevokedHostKeys RhostsAuthentication RhostsRSAAuthentication SecurityKeyProvider SendEnv ServerAliveCountMax
ServerAliveInterval SessionType SetEnv SkeyAuthentication SmartcardDevice StdinNull StreamLocalBindMask StreamLocalBindUnlink
StrictHostKeyChecking SyslogFacility TCPKeepAlive TISAuthentication Tag Tunnel TunnelDevice UpdateHostKeys UseKeychain
UsePrivilegedPort UseRoaming UseRsh User UserKnownHostsFile UserKnownHostsFile2 VerifyHostKeyDNS VersionAddendum VisualHostKey
WarnWeakCrypto XAuthLocation`

// Keywords returns the keywords of ssh_config.
func Keywords() []string { return strings.Fields(keywords) }

var keywordSet = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, k := range Keywords() {
		out[strings.ToLower(k)] = true
	}
	return out
})

func isKeyword(lower string) bool { return keywordSet()[lower] }

func unknownKeyword(word string) error {
	return fmt.Errorf("unknown keyword %s%s; see IgnoreUnknown", word, source.DidYouMean(word, Keywords()))
}
