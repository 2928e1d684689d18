/**
 * Two clients of the warehouse, a manager of 2025-11-25 and a clerk of 2026-07-28, while departments open and close. Each
 * change of many tools is one notification.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as Registry from "@effect-mcp/core/Registry"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { operations, operationsOf } from "./catalog.js"
import { Employee, toolsOf, Warehouse } from "./server.js"

/** A client of an employee, that waits for changes of its list of tools. */
const connect = (name: string, manager: boolean, version: Version.Version) =>
  Effect.gen(function*() {
    const connector = yield* InProcess.connectorAs(Authenticator.given(Context.make(Employee, { name, manager })))
    const changes = yield* Queue.unbounded<string>()
    const client = yield* Client.make(connector, {
      clientInfo: { name, version: "1.0.0" },
      versions: [version],
      onNotification: ({ method }) => {
        if (method.endsWith("/list_changed")) Queue.unsafeOffer(changes, method.split("/")[1]!)
      }
    })
    yield* client.awaitSubscription
    const count = Stream.runCount(client.tools)
    return {
      call: (tool: string) => client.callTool(tool, { item: "tea" }),
      count: Effect.flatMap(count, (tools) => Console.log(`  ${name}, ${version}: ${tools} tools`)),
      change: Effect.gen(function*() {
        const kind = yield* Queue.take(changes)
        const more = yield* Queue.takeAll(changes)
        yield* Console.log(`  ${name} was notified ${more.length === 0 ? "once" : "several times"}: ${kind}`)
      })
    }
  })

/** Opens departments until the scope that it returns is closed. */
const open = (departments: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Scope.extend(Warehouse.add(toolsOf(operationsOf(departments))), scope)
    return scope
  })

const program = Effect.gen(function*() {
  const clients = [yield* connect("Ada", true, "2025-11-25"), yield* connect("Bob", false, "2026-07-28")]
  const [ada, bob] = clients
  const all = (what: "count" | "change") => Effect.forEach(clients, (client) => client[what], { discard: true })

  yield* Console.log("the warehouse opens")
  yield* all("count")
  const { content } = yield* ada!.call("hall-07-price")
  yield* Console.log(`  ${content.map((block) => block.type === "text" ? block.text : "").join()}`)
  const refused = yield* Effect.flip(bob!.call("hall-07-price"))
  yield* Console.log(`  ${refused.message}`)

  yield* Console.log("five halls are added, and two of them closed again")
  const halls = yield* Registry.batch(Effect.forEach([21, 22, 23, 24, 25], (n) => open([`hall-${n}`])))
  yield* all("change")
  yield* all("count")
  yield* Registry.batch(Effect.forEach(halls.slice(0, 2), (hall) => Scope.close(hall, Exit.void)))
  yield* all("change")
  yield* all("count")

  const taken = yield* Effect.flip(open(["hall-23"]))
  yield* Console.log(taken.message)
})

program.pipe(
  Effect.scoped,
  Effect.provide(Warehouse.layer(toolsOf(operations))),
  NodeRuntime.runMain
)
