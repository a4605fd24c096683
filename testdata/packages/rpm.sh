# Makes packages and repositories below /srv/rpm; dnf.sh and zypper.sh read it.
set -e
mkdir -p /etc/rpm /var/lib/rpm /srv/rpm/one /srv/rpm/two /srv/rpm/files /etc/yum.repos.d /tmp/build
printf '%%_dbpath /var/lib/rpm\n%%_build_id_links none\n' > /etc/rpm/macros
cd /tmp/build
pkg() { # name epoch version release dir [extra spec lines]
  n=$1 e=$2 v=$3 r=$4 d=$5; shift 5
  { echo "Name: $n"; [ $e = 0 ] || echo "Epoch: $e"; printf 'Version: %s\nRelease: %s\nSummary: Test package %s\nLicense: MIT\nURL: http://example.org/%s\nBuildArch: noarch\n' $v $r $n $n
    for x in "$@"; do echo "$x"; done
    printf '%%description\nA package for tests.\n\n-----\nIt has two paragraphs: name: x.\n%%install\nmkdir -p %%{buildroot}/opt/%s %%{buildroot}/etc\necho %s > %%{buildroot}/opt/%s/data\necho conf %s > %%{buildroot}/etc/%s.conf\n%%files\n/opt/%s/data\n%%config(noreplace) /etc/%s.conf\n' $n $v $n $v $n $n $n
  } > $n.spec
  rpmbuild -bb --quiet --define "_rpmdir $d" --define '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' $n.spec >/tmp/build/log 2>&1 || { cat /tmp/build/log; exit 1; }
}
for v in 1.0 1.1 2.0; do pkg foo 0 $v 1 /srv/rpm/one; done
pkg bar 0 1.0 1 /srv/rpm/one 'Requires: foo'
pkg epo 1 1.0 1 /srv/rpm/one
pkg epo 1 2.0 1 /srv/rpm/one
for n in grp-a grp-b grp-c; do pkg $n 0 1.0 1 /srv/rpm/one; done
pkg virt 0 1.0 1 /srv/rpm/one 'Provides: capability'
pkg broken 0 1.0 1 /srv/rpm/one 'Requires: nothing-has-this'
pkg clash 0 1.0 1 /srv/rpm/one 'Conflicts: foo'
pkg foo 0 3.0 1 /srv/rpm/two
pkg extra 0 1.0 1 /srv/rpm/two
pkg local 0 1.0 1 /srv/rpm/files
pkg local 0 2.0 1 /srv/rpm/files
echo no package > /srv/rpm/files/broken.rpm
cat > /tmp/build/comps.xml <<'X'
<?xml version="1.0" encoding="UTF-8"?>
<comps>
 <group><id>tools</id><name>Test Tools</name><description>Tools for tests</description><default>false</default><uservisible>true</uservisible>
  <packagelist><packagereq type="mandatory">grp-a</packagereq><packagereq type="default">grp-b</packagereq><packagereq type="optional">grp-c</packagereq></packagelist></group>
 <group><id>more</id><name>More Tools</name><description>More</description><default>false</default><uservisible>true</uservisible>
  <packagelist><packagereq type="mandatory">virt</packagereq></packagelist></group>
 <environment><id>env</id><name>Test Environment</name><description>An environment</description><display_order>1</display_order>
  <grouplist><groupid>tools</groupid></grouplist><optionlist><groupid>more</groupid></optionlist></environment>
</comps>
X
createrepo_c -q -g /tmp/build/comps.xml /srv/rpm/one; createrepo_c -q /srv/rpm/two
rpm --initdb
