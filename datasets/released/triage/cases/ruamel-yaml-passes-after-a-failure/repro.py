"""What was read before a failure is nothing the next text can refer to."""

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

yaml = YAML()
try:
    yaml.load("limits: &limits {size: 10}\nname: 'mail\n")
except YAMLError:
    pass

try:
    loaded = yaml.load("limits: *limits\n")
except YAMLError:
    loaded = None
assert loaded is None, loaded
