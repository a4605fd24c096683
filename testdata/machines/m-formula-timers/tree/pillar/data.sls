timers:
  env: {MAILTO: ops@example.org, PATH: /usr/sbin:/usr/bin:/sbin:/bin}
  jobs:
    backup: {cmd: /opt/jobs/backup.sh, hour: 3, minute: 30, comment: the nightly one}
    report: {cmd: '/opt/jobs/report.sh --all > /dev/null 2>&1', special: '@weekly'}
    clean: {cmd: /opt/jobs/clean.sh, minute: '*/15', dayweek: 1-5, user: daemon}
    gone: {cmd: /opt/jobs/gone.sh, absent: true}
