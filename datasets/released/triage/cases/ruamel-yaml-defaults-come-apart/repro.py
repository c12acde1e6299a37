"""What is read and written again goes on sharing its values, whatever the shared number looks like."""

import io

from ruamel.yaml import YAML

SETTINGS = """\
defaults:
  retries: &retries 0
  timeout: &timeout 30
  region: &region 049
mail:
  retries: *retries
  timeout: *timeout
  region: *region
"""

yaml = YAML()
written = io.StringIO()
yaml.dump(yaml.load(SETTINGS), written)
assert written.getvalue() == SETTINGS, written.getvalue()
