/**
 * What a server promises, as one value: the tools it keeps. Two promises can be merged; a name promised twice is an error
 * where it is made, not where it is called.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type * as Tool from "./Tool.js"

/**
 * @since 0.1.0
 * @category type ids
 */
export const TypeId: unique symbol = Symbol.for("@effect-mcp/definition/Definition")

/**
 * @since 0.1.0
 * @category type ids
 */
export type TypeId = typeof TypeId

/**
 * @since 0.1.0
 * @category models
 */
export interface Definition<out Tools extends Tool.Tool.Any> {
  readonly [TypeId]: TypeId
  readonly tools: ReadonlyMap<string, Tools>
}

/**
 * Helper types of definitions.
 *
 * @since 0.1.0
 */
export declare namespace Definition {
  /**
   * @since 0.1.0
   * @category models
   */
  export type Any = Definition<Tool.Tool.Any>

  /**
   * @since 0.1.0
   * @category models
   */
  export type Tools<D> = D extends Definition<infer T> ? T : never
}

/**
 * A definition of these tools. Throws when two have the same name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const Tools extends ReadonlyArray<Tool.Tool.Any>>(...tools: Tools): Definition<Tools[number]> => {
  const byName = new Map<string, Tools[number]>()
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`Definition: two tools are named "${tool.name}"`)
    byName.set(tool.name, tool)
  }
  return { [TypeId]: TypeId, tools: byName }
}

/**
 * The promises of all of them. Throws when two promise the same name.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = <const Definitions extends ReadonlyArray<Definition.Any>>(
  ...definitions: Definitions
): Definition<Definition.Tools<Definitions[number]>> =>
  make(...definitions.flatMap(({ tools }) => [...tools.values()])) as Definition<Definition.Tools<Definitions[number]>>

/**
 * @since 0.1.0
 * @category guards
 */
export const isDefinition = (u: unknown): u is Definition.Any => Predicate.hasProperty(u, TypeId)
