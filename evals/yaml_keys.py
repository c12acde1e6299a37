"""A key that stands twice in one YAML mapping: parsers let the last one win without a word."""

from collections.abc import Iterator

import yaml


def double_key(node: yaml.Node) -> tuple[int, str] | None:
    """The first key that stands twice in one mapping, with its line. Of a document within `yaml_bounds`."""
    for mapping in _mappings(node):
        seen: set[str] = set()
        for key, _ in mapping.value:
            name = str(key.value)
            if name in seen:
                return key.start_mark.line + 1, name
            seen.add(name)
    return None


def _mappings(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    if isinstance(node, yaml.MappingNode):
        yield node
        for _, value in node.value:
            yield from _mappings(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _mappings(item)
