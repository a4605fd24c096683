drain_queue:
  salt.function:
    - name: queue.depth
    - tgt: '*'
    - arg:
      - {{ pillar.get('depth', 0) }}
    - fail_function: limits.is_shallow
