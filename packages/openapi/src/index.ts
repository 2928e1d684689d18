/**
 * The operations of an OpenAPI document as tools of an MCP server.
 *
 * @since 0.1.0
 */
export * as HttpApiTools from "./HttpApiTools.js"
export * as OpenApi from "./OpenApi.js"
export * as OpenApiError from "./OpenApiError.js"
