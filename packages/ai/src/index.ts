/**
 * MCP tools for language models: @effect/ai toolkits, tool lists and sampling.
 *
 * @since 0.1.0
 */
export * as ClientToolkit from "./ClientToolkit.js"
export * as ModelSampling from "./ModelSampling.js"
export * as ModelSchema from "./ModelSchema.js"
export * as ServerToolkit from "./ServerToolkit.js"
export * as ToolList from "./ToolList.js"
export * as ToolOutput from "./ToolOutput.js"
