/**
 * Where a tool list comes from: one session, or a group of servers. Both list tools, call one, and report changes. Names and
 * schemas are as the servers have them; `ToolList` makes those for the model.
 */
import type { CallToolOptions } from "@effect-mcp/client/CallOptions"
import type { ClientError } from "@effect-mcp/client/ClientError"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import type { ClientSessionGroupService } from "@effect-mcp/client/ClientSessionGroup"
import type { UnknownEntry } from "@effect-mcp/client/GroupError"
import { raceFirst } from "@effect-mcp/jsonrpc/unstable/kit/Race"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Tools from "@effect-mcp/protocol/Tools"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** A tool, its server, and the name under which `call` knows it. */
export interface Listed {
  readonly name: string
  readonly server: string
  readonly tool: Tools.Tool
}

export interface Source {
  readonly list: Effect.Effect<ReadonlyArray<Listed>, ClientError>
  readonly call: (
    name: string,
    args: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | UnknownEntry>
  /** A value for each change after this effect; several changes may give one. */
  readonly changes: Effect.Effect<Stream.Stream<unknown>, never, Scope.Scope>
}

export const make = (source: ClientSessionService | ClientSessionGroupService): Source =>
  "entries" in source ? ofGroup(source) : ofSession(source)

const ofGroup = ({ callTool, changes, entries }: ClientSessionGroupService): Source => ({
  list: Effect.map(
    entries,
    ({ tools }) => [...tools].map(([name, { server, value }]) => ({ name, server, tool: value }))
  ),
  call: callTool,
  // The first value is what is listed already.
  changes: latest(Stream.drop(changes, 1))
})

const ofSession = (session: ClientSessionService): Source => ({
  list: session.serverCapabilities.tools === undefined
    ? Effect.succeed([])
    : Effect.map(
      Stream.runCollect(session.tools),
      (tools) =>
        Chunk.toReadonlyArray(tools).map((tool) => ({ name: tool.name, server: session.serverInfo.name, tool }))
    ),
  call: session.callTool,
  changes: Effect.zipLeft(
    latest(Stream.filter(session.listChanges, (change) => change === "tools")),
    raceFirst(session.awaitSubscription, Effect.sleep(SUBSCRIPTION_WAIT))
  )
})

/** How long the list waits for the subscription that reports its changes. */
const SUBSCRIPTION_WAIT = "5 seconds"

/** The newest value that was not read yet: changes that come while the list is read cause one more reading. */
const latest = <A>(changes: Stream.Stream<A>): Effect.Effect<Stream.Stream<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Effect.acquireRelease(Queue.sliding<A>(1), Queue.shutdown)
    yield* Effect.forkScoped(Stream.runForEach(changes, (change) => Queue.offer(queue, change)))
    // The listener has started when this returns.
    yield* Effect.yieldNow()
    return Stream.fromQueue(queue)
  })
