/srv/www/index.html:
  file.managed:
    - contents: booted {{ salt['file.file_exists']('/run/before-the-reboot') }}
    - makedirs: True
