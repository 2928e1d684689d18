/**
 * What an MCP server offers, as values that server, client and tests share.
 *
 * @since 0.1.0
 */
export * as Definition from "./Definition.js"
export * as Form from "./Form.js"
export * as Prompt from "./Prompt.js"
export * as RawTool from "./RawTool.js"
export * as Resource from "./Resource.js"
export * as ResourceTemplate from "./ResourceTemplate.js"
export * as StandardTool from "./StandardTool.js"
export * as Tool from "./Tool.js"
export * as ToolResult from "./ToolResult.js"
export * as UriTemplate from "./UriTemplate.js"
