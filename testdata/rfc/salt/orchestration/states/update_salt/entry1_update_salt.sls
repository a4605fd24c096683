upgrade_to_latest_salt:
  pkg.latest:
    - pkgs: ["salt", "salt-minion"]
