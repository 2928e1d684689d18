/**
 * What a group of servers offers: the tools, resources, resource templates and prompts of all its servers, each with the
 * server that has it. `ClientSessionGroup` gives them; the errors of `GroupError` name them.
 *
 * @since 0.1.0
 */
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type * as Prompts from "@effect-mcp/protocol/Prompts"
import type * as Resources from "@effect-mcp/protocol/Resources"
import type * as Tools from "@effect-mcp/protocol/Tools"

/** One tool, resource, resource template or prompt of a group. */
export interface Entry<out A> {
  /** The name of the server in the group. */
  readonly server: string
  /** The definition that the server listed, under the name that the server uses. */
  readonly value: A
}

/** Tools and prompts by their names in the group, resources by URI, templates by URI template. */
export interface Entries {
  readonly tools: ReadonlyMap<string, Entry<Tools.Tool>>
  readonly resources: ReadonlyMap<string, Entry<Resources.Resource>>
  readonly templates: ReadonlyMap<string, Entry<Resources.ResourceTemplate>>
  readonly prompts: ReadonlyMap<string, Entry<Prompts.Prompt>>
}

export type Kind = keyof Entries

/** Gives the name in the group for the name of a server's tool or prompt. */
export type NameHook = (name: string, server: { readonly name: string; readonly info: Implementation }) => string
