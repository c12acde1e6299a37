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

stay = GraphQLInputObjectType(
    "Stay",
    {
        "nightCount": GraphQLInputField(GraphQLInt, out_name="night_count", default_value=1),
        "guests": GraphQLInputField(GraphQLInt, default_value=2),
    },
    out_type=lambda value: tuple(sorted(value.items())),
)
rooms = GraphQLField(
    GraphQLString,
    args={"stay": GraphQLArgument(stay, default_value={"nightCount": 3})},
    resolve=lambda root, info, stay: repr(stay),
)
schema = GraphQLSchema(GraphQLObjectType("Query", {"rooms": rooms}))

for query in ("{ rooms(stay: {nightCount: 3}) }", "{ rooms }", "query ($p: Stay) { rooms(stay: $p) }"):
    result = graphql_sync(schema, query)
    assert result.data == {"rooms": "(('guests', 2), ('night_count', 3))"}, (query, result)
