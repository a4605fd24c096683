# Makes repositories from which images of other systems are made, with empty packages: what
# is tested is the making, and the package managers install what they are asked for.
set -e
mkdir -p /etc/rpm /var/lib/rpm /tmp/build
printf '%%_dbpath /var/lib/rpm\n' >/etc/rpm/macros
repo() { # name of it, ID, VERSION_ID, NAME and CPE_NAME in os-release, names of packages
	name=$1 id=$2 version=$3 full=$4 cpe=$5 d=/srv/$1
	shift 5
	for n in "$@"; do
		printf 'Name: %s\nVersion: 1\nRelease: 1\nSummary: x\nLicense: MIT\nBuildArch: noarch\n' "$n" >/tmp/build/$n.spec
		case $n in
		*-release)
			{
				printf 'Provides: system-release\nProvides: distribution-release\n%%description\nx\n%%install\nmkdir -p %%{buildroot}/etc\n'
				printf 'printf "ID=%s\\\\nVERSION_ID=%s\\\\nNAME=\\047%s\\047\\\\nCPE_NAME=cpe:/o:%s\\\\n" >%%{buildroot}/etc/os-release\n' "$id" "$version" "$full" "$cpe"
				printf 'echo root:x:0:0::/root:/bin/sh >%%{buildroot}/etc/passwd\necho root:x:0: >%%{buildroot}/etc/group\n%%files\n/etc/os-release\n/etc/passwd\n/etc/group\n'
			} >>/tmp/build/$n.spec
			;;
		*) printf '%%description\nx\n%%files\n' >>/tmp/build/$n.spec ;;
		esac
		rpmbuild -bb --quiet --define "_rpmdir $d" --define '_rpmfilename %{NAME}.rpm' /tmp/build/$n.spec >/tmp/build/log 2>&1 || { cat /tmp/build/log; exit 1; }
	done
	createrepo_c -q "$d"
	printf '[%s]\nname=x\nbaseurl=file://%s\ngpgcheck=0\n' "$name" "$d" >$d.repo
}
repo Rocky rocky 9.3 'Rocky Linux' rocky:rocky:9 rocky-release systemd dnf iproute procps-ng findutils shadow-utils util-linux ca-certificates
repo Leap opensuse-leap 15.5 'openSUSE Leap' opensuse:leap:15.5 leap-release systemd zypper iproute2 procps findutils shadow util-linux ca-certificates

mkdir -p /srv/Arch /tmp/arch && cd /tmp/arch
for n in base iproute2 procps-ng; do
	printf 'pkgname = %s\npkgbase = %s\npkgver = 1-1\npkgdesc = x\nbuilddate = 1700000000\npackager = x\nsize = 1\narch = any\n' $n $n >.PKGINFO
	files=.PKGINFO
	if [ $n = base ]; then
		mkdir -p etc
		printf 'ID=arch\nNAME="Arch Linux"\n' >etc/os-release
		echo root:x:0:0::/root:/bin/sh >etc/passwd
		echo root:x:0: >etc/group
		files=".PKGINFO etc"
	fi
	tar -czf /srv/Arch/$n-1-1-any.pkg.tar.gz $files
	set -- $(sha256sum /srv/Arch/$n-1-1-any.pkg.tar.gz)
	mkdir -p db/$n-1-1
	printf '%%%s%%\n%s\n\n' FILENAME $n-1-1-any.pkg.tar.gz NAME $n BASE $n VERSION 1-1 DESC x CSIZE "$(stat -c %s /srv/Arch/$n-1-1-any.pkg.tar.gz)" \
		ISIZE 1 SHA256SUM $1 ARCH any BUILDDATE 1700000000 PACKAGER x >db/$n-1-1/desc
done
(cd db && tar -czf /srv/Arch/Arch.db *)
printf '[options]\nArchitecture = x86_64\nSigLevel = Never\n[Arch]\nServer = file:///srv/Arch\n' >/srv/Arch.conf
