site:
  repo: file:///srv/git/site.git
  branch: release
  owner: www-data
