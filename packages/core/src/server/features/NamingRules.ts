/**
 * Logs a warning for each part of a definition that breaks a rule of the specification: the name of a tool, the keys of `_meta`, the `src`
 * of an icon. `McpServer` calls `warn` when it makes a feature from the definition. `dispatch/Build` calls `warn` for the server's own name
 * and icons. The server still registers the definition, because most clients accept such names. There is one exception. When opening the
 * `src` of an icon could run a program, the server does not register the definition. `protocol/rules/MetaKey` has the rules of keys.
 */
import * as Effect from "effect/Effect"
import { type Icon, isUnsafe } from "../../protocol/Implementation.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as MetaKey from "../../protocol/rules/MetaKey.js"
import * as HandlerName from "../runtime/HandlerName.js"

type Kind = "tool" | "resource" | "resource template" | "prompt" | "server"

export const warn = (
  kind: Kind,
  { _meta, icons, name }: {
    readonly name: string
    readonly _meta?: JsonObject | undefined
    readonly icons?: ReadonlyArray<Icon> | undefined
  }
): Effect.Effect<void> => {
  const unsafe = (icons ?? []).find(({ src }) => isUnsafe(src))
  if (unsafe !== undefined) {
    return Effect.dieMessage(
      `The ${kind} "${name}" cannot be registered: the src of its icon, "${
        HandlerName.quotable(unsafe.src)
      }", must begin with https: or data:`
    )
  }
  const ofName = kind === "tool" ? nameProblem(name) : undefined
  const problems = [
    ...(ofName === undefined ? [] : [ofName]),
    ...Object.keys(_meta ?? {}).flatMap((key) => {
      const problem = MetaKey.problem(key)
      return problem === undefined ? [] : [`_meta "${key}": ${problem}`]
    }),
    // Clients MUST refuse the other schemes (2025-11-25 basic#icons).
    ...(icons ?? []).flatMap(({ src }) =>
      /^(?:https:|data:)/i.test(src)
        ? []
        : [`the icon "${HandlerName.quotable(src)}" is not shown: its src must begin with https: or data:`]
    )
  ]
  return Effect.forEach(problems, (problem) => Effect.logWarning(`The ${kind} "${name}": ${problem}`), {
    discard: true
  })
}

/** The longest valid name, in characters. */
const MAX_LENGTH = 128

/** Says what is wrong with the name of a tool; `undefined` when the name is valid. */
export const nameProblem = (name: string): string | undefined => {
  if (name === "") return "the name is empty"
  if (name.length > MAX_LENGTH) return `the name has ${name.length} characters, and at most ${MAX_LENGTH} are allowed`
  const wrong = /[^A-Za-z0-9_.-]/u.exec(name)
  return wrong === null
    ? undefined
    : `the name contains "${wrong[0]}", and only letters, digits, "_", "-" and "." are allowed`
}
