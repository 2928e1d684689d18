/**
 * The types of what a group of servers offers: the tools, resources, resource templates and prompts of all its servers, each with the
 * server that has it; the function of an application that renames entries or leaves them out; and entries whose name was taken.
 * `ClientSessionGroup` gives the entries; the errors of `GroupError` name them.
 *
 * @since 0.1.0
 */
import type { Implementation } from "../protocol/Implementation.js"
import type * as Prompts from "../protocol/Prompts.js"
import type * as Resources from "../protocol/Resources.js"
import type * as Tools from "../protocol/Tools.js"

/**
 * One tool, resource, resource template or prompt of a group.
 *
 * @category models
 */
export interface Entry<out A> {
  /** The name of the server in the group. */
  readonly server: string
  /**
   * The definition that the server listed, under the name that the server uses. Characters that people do not see are left out of its
   * title and descriptions, because models read them.
   */
  readonly value: A
  /** The definition as the server sent it. */
  readonly listed: A
  /** Why the entry has another name in the group; `undefined` when no other entry has its name. */
  readonly collision: Collision | undefined
  /**
   * Why calls of a tool are refused: the application has not agreed to it (`ToolFingerprints`). Do not give such a tool to a model.
   * `undefined` when calls are not refused.
   */
  readonly refusal: string | undefined
}

/**
 * Two entries of one kind would have the same name in the group.
 *
 * @category models
 */
export interface Collision {
  /** The name that both would have. */
  readonly name: string
  /** The server whose entry keeps the name. */
  readonly server: string
}

/**
 * Tools and prompts by their names in the group, resources by URI, templates by URI template.
 *
 * The first entry with a name keeps the name, in the order in which the servers were connected. A later entry is renamed: a tool or prompt
 * `name` of the server `two` is `two_name` in the group, a resource `uri` is `two:uri`. With the option `prefix: "always"` of a group, each
 * tool and prompt has such a name.
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
 * Gives the name in the group for the name of a server's entry (for the URI, or the URI template); `undefined` leaves the
 * entry out of the group. The group calls it again whenever its servers change, so it must give the same name each time.
 *
 * @category models
 */
export type NameHook = (
  name: string,
  server: { readonly name: string; readonly info: Implementation },
  kind: Kind
) => string | undefined
