/**
 * What an MCP server promises, as values shared by server, client and tests.
 *
 * Written by `npm run codegen` from the rooms' own headers.
 *
 * @since 0.1.0
 */

/**
 * What Effect generates of a schema, with all that its author says of it: Effect leaves out the title, description,
 * examples and default of a filter that has no JSON Schema of its own or stands on top of a transformation (`Schema.Date`
 * does). What is generated is mended in `JsonSchema`.
 *
 * @since 0.1.0
 */
export * as Authored from "./Authored.js"

/**
 * What a value may be on the wire, where it is one of finitely many strings: the choices of a literal, of a union of
 * literals, of an enumeration. What a server completes for whoever types an argument comes from here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 * @since 0.1.0
 */
export * as Choices from "./Choices.js"

/**
 * What a server promises, as one value: the tools, resources, resource templates and prompts it keeps. Promises can be
 * merged; one that is made twice is an error where it is made, not where it is called.
 *
 * Who keeps a promise is in `@effect-mcp/server/McpServer`, who relies on it in `@effect-mcp/client/Typed`.
 *
 * @since 0.1.0
 */
export * as Definition from "./Definition.js"

/**
 * How much there is in a value. A peer chooses how much it sends, and everything that is wrong with a small value may be
 * said at once; of a large one only the first thing is looked for.
 *
 * @since 0.1.0
 */
export * as Extent from "./Extent.js"

/**
 * What Effect's own types and filters say of themselves in a JSON Schema: titles and descriptions that repeat the keywords
 * (`"title": "between(0, 5)"`) and cost a model tokens, and patterns that take a text for a pattern. Recognized by the
 * keywords they belong to, so that nothing an author wrote is taken for theirs.
 *
 * @since 0.1.0
 */
export * as FilterWords from "./FilterWords.js"

/**
 * A schema that Effect did not make, as one of Effect's: a check that says what it refuses, at once or later. What is wrong
 * with a value becomes the issue that Effect's parser would have given, so that nobody who prints one knows the difference.
 *
 * Who checks is in `JsonSchemaValidator` and `StandardTool`.
 *
 * @since 0.1.0
 */
export * as ForeignSchema from "./ForeignSchema.js"

/**
 * A form out of a schema: what elicitation asks a person, and what the answer means. Fields are text, numbers, yes or no,
 * and choices of one or several; a schema of anything else is refused when the form is made.
 *
 * What a field may ask and which answers fit it is said in `@effect-mcp/protocol/ElicitationForm`; what no form can ask, a
 * pattern or a refinement, is checked here when the answer comes.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 * @since 0.1.0
 */
export * as Form from "./Form.js"

/**
 * What a schema advertises: JSON Schema, draft 2020-12, of its encoded side, without the marks of the library that made
 * it. What Effect generates is right but for empty structs, unions at the root and a few annotations; those are mended
 * here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 * @since 0.1.0
 */
export * as JsonSchema from "./JsonSchema.js"

/**
 * A schema of plain data as one function: the part of a value that the schema names, or a refusal. What most tools take and
 * give has no transformations, and a compiled copy of it costs a fraction of the general parser, which still explains what
 * was refused and does everything else.
 *
 * @since 0.1.0
 */
export * as Plain from "./Plain.js"

/**
 * A prompt as a value: its name and the arguments that make messages of it. Arguments are strings on the wire; schemas say
 * what the strings mean.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @since 0.1.0
 */
export * as Prompt from "./Prompt.js"

/**
 * What a prompt advertises of its arguments: their names, what is said of them, and whether they must be there. On the wire
 * an argument is a string, whatever its schema makes of it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#data-types
 * @since 0.1.0
 */
export * as PromptArguments from "./PromptArguments.js"

/**
 * A resource as a value: an address, what it is called, and what is known of its content. Many of one kind are a
 * `ResourceTemplate`.
 *
 * Who reads it is in `@effect-mcp/server/McpServer`; the words of the wire are in `@effect-mcp/protocol/Resources`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @since 0.1.0
 */
export * as Resource from "./Resource.js"

/**
 * Resources of one kind as a value: the template of their addresses, with parameters that have schemas. Written as a tagged
 * template, or as a plain string of RFC 6570.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates
 * @since 0.1.0
 */
export * as ResourceTemplate from "./ResourceTemplate.js"

/**
 * A tool whose schemas are of another library: anything that is a Standard Schema, which checks values, perhaps later, and
 * may know a JSON Schema of itself.
 *
 * A tool with schemas of Effect's is a `Tool`, which knows more of them; one with nothing but JSON Schema a `RawTool`.
 *
 * @see https://standardschema.dev
 * @since 0.1.0
 */
export * as StandardTool from "./StandardTool.js"

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
 * Between the values of a tool and the wire: arguments in and out, results and failures out and in. Every function of it is
 * built once, when the tool is made.
 *
 * What a tool advertises is worked out in `Tool`, and what a value of plain data costs in `Plain`.
 *
 * @since 0.1.0
 */
export * as ToolCodec from "./ToolCodec.js"

/**
 * A rich answer of a tool: pictures, sound, links and resources beside text, and structured content beside all of them.
 * A handler that has only its `success` value to say returns that instead.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 * @since 0.1.0
 */
export * as ToolResult from "./ToolResult.js"

/**
 * What may stand between the braces of a URI template: an operator and the variables it is for, how the operator writes
 * them, and how a value is written into an address. The whole of RFC 6570, level 4.
 *
 * How an address is read back is in `UriPlan`; the template around the braces in `UriTemplate`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3.2
 * @since 0.1.0
 */
export * as UriExpression from "./UriExpression.js"

/**
 * How an address is taken apart that a URI template may have become: worked out once for a template, then a scan from both
 * ends towards one open place, never a search back and forth. A template for which what was expanded might not be found
 * again has no plan, and the reason is said.
 *
 * It reads no template and expands none: see `UriTemplate`.
 *
 * @since 0.1.0
 */
export * as UriPlan from "./UriPlan.js"

/**
 * A URI template of RFC 6570, read once: expanded with the values of its variables, and matched against an address to find
 * them. What was expanded is found again; a template for which that cannot be promised says why, and finds nothing.
 *
 * What a variable means, and whether a path in one is safe, is not known here: see `FileUri` of `@effect-mcp/protocol`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 * @since 0.1.0
 */
export * as UriTemplate from "./UriTemplate.js"
