agent:
  config: {interval: 30, tags: [a, b]}
  tofs:
    dirs: {files: files}
    files_switch: [id, os_family]
    source_files:
      agent-config-file: [agent.yml, other.yml]
