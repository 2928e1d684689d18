/**
 * Durable tools of an MCP server: their tasks are workflows of @effect/workflow.
 *
 * @since 0.1.0
 */
export * as Durable from "./Durable.js"
export * as DurableTask from "./DurableTask.js"
export * as DurableTool from "./DurableTool.js"
