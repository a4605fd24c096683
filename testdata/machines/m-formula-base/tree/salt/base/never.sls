never:
  test.fail_without_changes
