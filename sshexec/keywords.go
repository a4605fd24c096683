package sshexec

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/source"
)

// keywords are those of ssh_config(5), old ones too. brine heeds a part of
// them; the others are known so that they are not taken for slips.
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

// checkKeyword refuses an option that is most likely a slip: ssh, which refuses
// all that it does not know, would have told. One that nothing is like may be of
// a later ssh.
func checkKeyword(key string) error {
	known := strings.Fields(keywords)
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, key) }) {
		return nil
	}
	if hint := source.DidYouMean(key, known); hint != "" {
		return fmt.Errorf("unknown ssh option %q%s", key, hint)
	}
	return nil
}
