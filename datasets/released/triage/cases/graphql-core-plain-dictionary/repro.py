"""What a resolver is given for an argument has the same form, whoever chose the value."""

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    graphql_sync,
)

page = GraphQLInputObjectType(
    "Page",
    {
        "pageSize": GraphQLInputField(GraphQLInt, out_name="page_size", default_value=10),
        "offset": GraphQLInputField(GraphQLInt, default_value=0),
    },
    out_type=lambda value: tuple(sorted(value.items())),
)
books = GraphQLField(
    GraphQLString,
    args={"page": GraphQLArgument(page, default_value={"pageSize": 25})},
    resolve=lambda root, info, page: repr(page),
)
schema = GraphQLSchema(GraphQLObjectType("Query", {"books": books}))

for query in ("{ books(page: {pageSize: 25}) }", "{ books }", "query ($p: Page) { books(page: $p) }"):
    result = graphql_sync(schema, query)
    assert result.data == {"books": "(('offset', 0), ('page_size', 25))"}, (query, result)
