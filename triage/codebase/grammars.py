"""Tree-sitter grammars by file name, and which nodes of their syntax trees are definitions.

The grammars are compiled into wheels, so nothing is downloaded. A grammar is loaded when its first file is parsed.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language


@dataclass(frozen=True)
class Grammar:
    """A grammar and its node types. `distribution` names the wheel, `function` what returns the language.

    `scopes` are namespaces and modules, `types` are classes and whatever else holds methods, `leaves` are functions and
    definitions without parts. `wrappers` hold definitions without a name of their own; `outer` are wrappers that belong
    to the one definition in them, such as `export` or `template`. `leading` stand above a definition and belong to it.
    """

    distribution: str
    leaves: frozenset[str]
    types: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset({"comment"})
    function: str = "language"

    @property
    def release(self) -> str:
        """The wheel and its version."""
        return f"{self.distribution} {version(self.distribution)}"

    def language(self) -> "Language":
        """The compiled grammar."""
        return _language(self.distribution, self.function)


@cache
def _language(distribution: str, function: str) -> "Language":
    from tree_sitter import Language  # noqa: PLC0415  # a repository of Python alone does not need it

    module = import_module(distribution.replace("-", "_"))
    return Language(getattr(module, function)())


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_JS_LEAVES: Final = _set(
    "function_declaration generator_function_declaration method_definition function_expression generator_function "
    "arrow_function"
)
_JS_WRAPPERS: Final = _set("program expression_statement lexical_declaration variable_declaration statement_block")
_JS_OUTER: Final = _set("export_statement expression_statement lexical_declaration variable_declaration")
_JS_LEADING: Final = _set("comment decorator")
_JAVASCRIPT: Final = Grammar(
    "tree-sitter-javascript",
    leaves=_JS_LEAVES,
    types=_set("class_declaration class object"),
    wrappers=_JS_WRAPPERS,
    outer=_JS_OUTER,
    leading=_JS_LEADING,
)
_TS_TYPES: Final = _set("class_declaration class abstract_class_declaration object")
_TYPESCRIPT: Final = Grammar(
    "tree-sitter-typescript",
    leaves=_JS_LEAVES | _set("interface_declaration enum_declaration type_alias_declaration"),
    types=_TS_TYPES,
    scopes=_set("internal_module module"),
    wrappers=_JS_WRAPPERS,
    outer=_JS_OUTER | {"ambient_declaration"},
    leading=_JS_LEADING,
    function="language_typescript",
)
_TSX: Final = Grammar(
    "tree-sitter-typescript",
    leaves=_TYPESCRIPT.leaves,
    types=_TS_TYPES,
    scopes=_TYPESCRIPT.scopes,
    wrappers=_JS_WRAPPERS,
    outer=_TYPESCRIPT.outer,
    leading=_JS_LEADING,
    function="language_tsx",
)
_GO: Final = Grammar(
    "tree-sitter-go",
    leaves=_set("function_declaration method_declaration type_spec type_alias"),
    outer=_set("type_declaration"),
)
_JAVA: Final = Grammar(
    "tree-sitter-java",
    leaves=_set("method_declaration constructor_declaration compact_constructor_declaration"),
    types=_set(
        "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
    ),
    wrappers=_set("enum_body_declarations"),
    leading=_set("line_comment block_comment"),
)
_RUST: Final = Grammar(
    "tree-sitter-rust",
    leaves=_set("function_item struct_item enum_item union_item type_item macro_definition"),
    types=_set("impl_item trait_item"),
    scopes=_set("mod_item"),
    wrappers=_set("foreign_mod_item declaration_list"),
    leading=_set("line_comment block_comment attribute_item"),
)
_C_SHARP: Final = Grammar(
    "tree-sitter-c-sharp",
    leaves=_set(
        "method_declaration constructor_declaration destructor_declaration operator_declaration property_declaration "
        "conversion_operator_declaration indexer_declaration event_declaration enum_declaration delegate_declaration"
    ),
    types=_set("class_declaration struct_declaration interface_declaration record_declaration"),
    scopes=_set("namespace_declaration"),
    wrappers=_set("preproc_if preproc_else preproc_elif"),
)
_RUBY: Final = Grammar(
    "tree-sitter-ruby",
    leaves=_set("method singleton_method"),
    types=_set("class"),
    scopes=_set("module"),
    wrappers=_set("singleton_class body_statement call argument_list do_block block block_body begin"),
)
_C: Final = Grammar(
    "tree-sitter-c",
    leaves=_set("function_definition struct_specifier union_specifier enum_specifier type_definition"),
    wrappers=_set("preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list"),
)
_CPP: Final = Grammar(
    "tree-sitter-cpp",
    leaves=_set("function_definition enum_specifier type_definition concept_definition"),
    types=_set("class_specifier struct_specifier union_specifier"),
    scopes=_set("namespace_definition"),
    wrappers=_C.wrappers | {"field_declaration", "declaration"},
    outer=_set("template_declaration"),
)

BY_SUFFIX: Final[dict[str, Grammar]] = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), _JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    ".tsx": _TSX,
    ".go": _GO,
    ".java": _JAVA,
    ".rs": _RUST,
    ".cs": _C_SHARP,
    **dict.fromkeys((".rb", ".rake"), _RUBY),
    ".c": _C,
    **dict.fromkeys((".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"), _CPP),  # a header may be of either language
}


def grammar_of(path: str) -> Grammar | None:
    """The grammar for a file of this name; None where it is cut by lines."""
    return BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
