/**
 * Contains the type `ProxyEntry`: a tool, a prompt, a resource or a resource template that the upstream of a proxy lists. The functions in
 * the options `rename` and `filter` of `Proxy` get these entries.
 *
 * @since 0.1.0
 */
import type { Prompt } from "@effect-mcp/core/protocol/Prompts"
import type { Resource, ResourceTemplate } from "@effect-mcp/core/protocol/Resources"
import type { Tool } from "@effect-mcp/core/protocol/Tools"

/**
 * An entry in the lists of an upstream. `name` is the name of a tool or prompt at the upstream, the URI of a resource, or the URI template
 * of a resource template. `listed` is the entry as the upstream lists it.
 *
 * @category models
 */
export type ProxyEntry =
  | { readonly kind: "tool"; readonly name: string; readonly listed: Tool }
  | { readonly kind: "prompt"; readonly name: string; readonly listed: Prompt }
  | { readonly kind: "resource"; readonly name: string; readonly listed: Resource }
  | { readonly kind: "template"; readonly name: string; readonly listed: ResourceTemplate }
