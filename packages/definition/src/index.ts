/**
 * What an MCP server promises, as values shared by server, client and tests.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * What a server promises, as one value: the tools it keeps. Two promises can be merged; a name promised twice is an error
 * where it is made, not where it is called.
 *
 * @since 0.1.0
 */
export * as Definition from "./Definition.js"

/**
 * What a schema advertises: JSON Schema, draft 2020-12, of its encoded side, without the marks of the library that made
 * it. What Effect generates is right but for an empty struct and a few annotations; those are mended here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 * @since 0.1.0
 */
export * as JsonSchema from "./JsonSchema.js"

/**
 * A tool as a value: its name, what it takes, what it gives, how it may fail. Declared once; the server keeps it, the
 * client calls it, and both are type-checked against it.
 *
 * What a value of it says on the wire is worked out here, once, when it is made. Who keeps it is in
 * `@effect-mcp/server/McpServer`; the words of the wire are in `@effect-mcp/protocol/Tools`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 * @since 0.1.0
 */
export * as Tool from "./Tool.js"

/**
 * A rich answer of a tool: pictures, sound, links and resources beside text, and structured content beside all of them.
 * A handler that has only its `success` value to say returns that instead.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
export * as ToolResult from "./ToolResult.js"
