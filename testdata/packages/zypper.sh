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
# A patch.
cat > /tmp/build/updateinfo.xml <<'Y'
<?xml version="1.0" encoding="UTF-8"?>
<updates>
 <update status="stable" from="me@example.org" type="security" version="1"><id>fix-1</id><title>Fixes foo</title><severity>important</severity><release>one</release>
  <issued date="2023-11-14 00:00:00"/><references/><description>Fixes foo.</description>
  <pkglist><collection short="one"><name>One</name><package name="foo" version="1.1" release="1" epoch="0" arch="noarch"><filename>foo-1.1-1.noarch.rpm</filename></package></collection></pkglist></update>
</updates>
Y
modifyrepo_c --mdtype=updateinfo /tmp/build/updateinfo.xml /srv/rpm/one/repodata >/dev/null
