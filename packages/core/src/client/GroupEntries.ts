/**
 * The types of the entries of a group of servers: the tools, resources, resource templates and prompts of all its servers, each with the
 * server that has it. `NameHook` is the type of the function with which an application renames entries or leaves them out. `Collision` is
 * the type of a collision of two names. `ClientSessionGroup` gives the entries. `GroupError` uses the type `Kind`.
 *
 * @since 0.1.0
 */
import type { Implementation } from "../protocol/Implementation.js"
import type * as Prompts from "../protocol/Prompts.js"
import type * as Resources from "../protocol/Resources.js"
import type * as Tools from "../protocol/Tools.js"

/**
 * A tool, a resource, a resource template or a prompt of a group.
 *
 * @category models
 */
export interface Entry<out A> {
  /** The name of the server in the group. */
  readonly server: string
  /**
   * The definition that the server has listed, with the name that the server uses. The group removes characters that people cannot see from
   * the title and the descriptions, because models read these texts.
   */
  readonly value: A
  /** The definition exactly as the server sent it. */
  readonly listed: A
  /** Why the entry has another name in the group; `undefined` when its name collides with no other name. */
  readonly collision: Collision | undefined
  /**
   * The reason for which calls of this tool are refused: the application has not agreed to the tool (`ToolFingerprints`). Do not give such
   * a tool to a model. `undefined` when calls are not refused.
   */
  readonly refusal: string | undefined
}

/**
 * A collision: two entries of one kind would have the same name in the group.
 *
 * @category models
 */
export interface Collision {
  /** The name that the two entries would have. */
  readonly name: string
  /** The server whose entry keeps the name. */
  readonly server: string
}

/**
 * The entries of a group: tools and prompts by their names in the group, resources by their URIs, templates by their URI templates.
 *
 * The server that was connected first keeps a name. A later entry of the same name is renamed: a tool or prompt `name` of the server `two`
 * becomes `two_name`, and a resource `uri` becomes `two:uri`. With the option `prefix: "always"` of a group, the names of all tools and
 * prompts begin with the name of their server.
 *
 * @category models
 */
export interface Entries {
  readonly tools: ReadonlyMap<string, Entry<Tools.Tool>>
  readonly resources: ReadonlyMap<string, Entry<Resources.Resource>>
  readonly templates: ReadonlyMap<string, Entry<Resources.ResourceTemplate>>
  readonly prompts: ReadonlyMap<string, Entry<Prompts.Prompt>>
}

/** @category models */
export type Kind = keyof Entries

/**
 * Returns the name in the group for the name of an entry at its server (for resources the URI, for templates the URI template). `undefined`
 * leaves the entry out of the group. The group calls the function each time that its servers change, so the function must return the same
 * name each time.
 *
 * @category models
 */
export type NameHook = (
  name: string,
  server: { readonly name: string; readonly info: Implementation },
  kind: Kind
) => string | undefined
