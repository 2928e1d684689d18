/**
 * An entry of an upstream's lists: a tool, a prompt, a resource or a resource template. The options `rename` and `filter` of a proxy
 * get entries; the options of `Proxy` have these functions.
 *
 * @since 0.1.0
 */
import type { Prompt } from "@effect-mcp/core/protocol/Prompts"
import type { Resource, ResourceTemplate } from "@effect-mcp/core/protocol/Resources"
import type { Tool } from "@effect-mcp/core/protocol/Tools"

/**
 * `name` is the name of a tool or prompt, the URI of a resource, the URI template of a resource template.
 *
 * @category models
 */
export type ProxyEntry =
  | { readonly kind: "tool"; readonly name: string; readonly listed: Tool }
  | { readonly kind: "prompt"; readonly name: string; readonly listed: Prompt }
  | { readonly kind: "resource"; readonly name: string; readonly listed: Resource }
  | { readonly kind: "template"; readonly name: string; readonly listed: ResourceTemplate }
