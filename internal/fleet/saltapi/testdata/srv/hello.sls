hello:
  test.succeed_with_changes: []
who:
  test.configurable_test_state:
    - changes: False
    - result: True
    - comment: {{ pillar.get('word', 'none') }}
