# Sets up zypper.
. /srv/rpm.sh
pkg python3-dnf-plugin-versionlock 0 4.0 1 /srv/rpm/files
rpm -i --nodeps /srv/rpm/files/python3-dnf-plugin-versionlock-4.0-1.noarch.rpm
mkdir -p /etc/zypp/repos.d /var/cache/zypp /var/lib/zypp
cat > /etc/zypp/repos.d/one.repo <<'X'
[one]
name=One
enabled=1
autorefresh=0
baseurl=dir:///srv/rpm/one
type=rpm-md
gpgcheck=0
X
cat > /etc/zypp/repos.d/two.repo <<'X'
[two]
name=Two
enabled=0
autorefresh=0
baseurl=dir:///srv/rpm/two
type=rpm-md
gpgcheck=0
X
