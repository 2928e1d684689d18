import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import { Console, Effect } from "effect"

/** Prints the tools of all servers. */
export const program = Effect.gen(function*() {
  const group = yield* ClientSessionGroup.ClientSessionGroup
  const { tools } = yield* group.entries
  for (const [name, { server, value }] of tools) yield* Console.log(`${name} (${server}): ${value.description ?? ""}`)
  return [...tools.keys()]
})
