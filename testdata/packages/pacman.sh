# Makes packages and a repository in /srv/arch, and sets up pacman.
set -e
mkdir -p /srv/arch /var/lib/pacman /var/cache/pacman/pkg /etc/pacman.d/gnupg /tmp/build
cat > /etc/pacman.conf <<'X'
[options]
Architecture = x86_64
SigLevel = Never
LocalFileSigLevel = Never
[test]
Server = file:///srv/arch
X
cat > /tmp/build/mk.py <<'X'
import io,os,tarfile,hashlib,time
def add(t,n,data,mode=0o644):
    i=tarfile.TarInfo(n); b=data.encode(); i.size=len(b); i.mode=mode; i.mtime=int(time.time()); t.addfile(i,io.BytesIO(b))
def pkg(name,ver,dep='',group='',where='/srv/arch',prov=''):
    info=f'pkgname = {name}\npkgbase = {name}\npkgver = {ver}\npkgdesc = Test\nurl = http://example.org\nbuilddate = 1700000000\npackager = Me <me@example.org>\nsize = 10\narch = any\nlicense = MIT\n'
    if dep: info+=f'depend = {dep}\n'
    if group: info+=f'group = {group}\n'
    if prov: info+=f'provides = {prov}\n'
    fn=f'{name}-{ver}-any.pkg.tar.gz'; p=f'{where}/{fn}'
    with tarfile.open(p,'w:gz') as t:
        add(t,'.PKGINFO',info)
        d=tarfile.TarInfo('opt/'); d.type=tarfile.DIRTYPE; d.mode=0o755; t.addfile(d)
        d=tarfile.TarInfo(f'opt/{name}/'); d.type=tarfile.DIRTYPE; d.mode=0o755; t.addfile(d)
        add(t,f'opt/{name}/data',ver)
    b=open(p,'rb').read()
    desc=f'%FILENAME%\n{fn}\n\n%NAME%\n{name}\n\n%BASE%\n{name}\n\n%VERSION%\n{ver}\n\n%DESC%\nTest\n\n'
    if group: desc+=f'%GROUPS%\n{group}\n\n'
    desc+=f'%CSIZE%\n{len(b)}\n\n%ISIZE%\n10\n\n%MD5SUM%\n{hashlib.md5(b).hexdigest()}\n\n%SHA256SUM%\n{hashlib.sha256(b).hexdigest()}\n\n%ARCH%\nany\n\n%BUILDDATE%\n1700000000\n\n%PACKAGER%\nMe\n\n'
    if dep: desc+=f'%DEPENDS%\n{dep}\n\n'
    if prov: desc+=f'%PROVIDES%\n{prov}\n\n'
    return name,ver,desc
def db(l):
    with tarfile.open('/srv/arch/test.db','w:gz') as t:
        for n,v,d in l:
            x=tarfile.TarInfo(f'{n}-{v}/'); x.type=tarfile.DIRTYPE; x.mode=0o755; t.addfile(x)
            add(t,f'{n}-{v}/desc',d)
import sys
foo=pkg('foo',sys.argv[1])
db([foo,pkg('bar','1.0-1','foo'),pkg('epo','1:2.0-1'),pkg('ga','1.0-1','','grp'),pkg('gb','1.0-1','','grp')])
os.makedirs('/srv/files',exist_ok=True); pkg('local','1.0-1',where='/srv/files')
X
python3 /tmp/build/mk.py 1.0-1
