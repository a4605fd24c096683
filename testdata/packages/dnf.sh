# Sets up dnf.
. /srv/rpm.sh
cat > /etc/yum.repos.d/test.repo <<'X'
# header comment
[one]
name=One
# about one
baseurl=file:///srv/rpm/one
enabled=1
gpgcheck=0

[two]
name=Two
baseurl=file:///srv/rpm/two
enabled=0
gpgcheck=0
X
# Red Hat's systems have these.
echo 38 > /etc/dnf/vars/releasever
pkg python3-dnf-plugin-versionlock 0 4.0 1 /srv/rpm/files
rpm -i --nodeps /srv/rpm/files/python3-dnf-plugin-versionlock-4.0-1.noarch.rpm
printf '[main]\ngpgcheck=0\nbest=False\nskip_if_unavailable=True\nclean_requirements_on_remove=True\n' > /etc/dnf/dnf.conf
printf '[main]\nenabled = false\n' > /etc/dnf/plugins/local.conf
