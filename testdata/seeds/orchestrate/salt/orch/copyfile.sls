copy_the_plan:
  salt.function:
    - name: file.copy
    - tgt: '*'
    - arg:
      - {{ opts['cachedir'] }}/plan
      - {{ opts['cachedir'] }}/copy_of_plan
    - kwarg:
        remove_existing: true
