/**
 * A server whose tools are made from a document, and come and go while clients are connected. Their handlers use the user, a
 * service of the session, and one that middleware provides; `define` knows the three, so adding a tool needs no cast.
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type { Operation } from "./catalog.js"

/** The user, whom the caller in this process hands over. */
export class Employee extends Context.Tag("examples/runtime/Employee")<Employee, {
  readonly name: string
  readonly manager: boolean
}>() {}

/** What one client has done: a service of its session. */
class Journal extends Context.Tag("examples/runtime/Journal")<Journal, Ref.Ref<ReadonlyArray<string>>>() {}

/** The receipt of one call. */
class Receipt extends Context.Tag("examples/runtime/Receipt")<Receipt, string>() {}

export const Warehouse = McpServer.define({ name: "warehouse", version: "1.0.0" }, {
  authenticator: Authenticator.make(Employee, { id: ({ name }) => name }),
  session: Layer.effect(Journal, Ref.make<ReadonlyArray<string>>([])),
  // Inside the session: it may use the user and the journal.
  sessionMiddleware: Middleware.provide(Receipt, () =>
    Effect.gen(function*() {
      const { name } = yield* Employee
      const done = yield* Ref.get(yield* Journal)
      return `${name}/${done.length + 1}`
    })),
  // Clients that connect before there is a tool are served tools later.
  capabilities: { tools: { listChanged: true } }
})

const toolOf = ({ arguments: inputSchema, confidential, description, name }: Operation) => {
  const tool = McpServer.tool(RawTool.make(name, { description, inputSchema }), ({ item }) =>
    Effect.gen(function*() {
      const receipt = yield* Receipt
      yield* Ref.update(yield* Journal, (done) => [...done, name])
      return `${name} of ${String(item)}, receipt ${receipt}`
    }))
  return confidential ? tool.pipe(Feature.visible(Effect.map(Employee, ({ manager }) => manager))) : tool
}

/** The tools of these operations, as one feature. */
export const toolsOf = (operations: ReadonlyArray<Operation>) => Layer.mergeAll(Layer.empty, ...operations.map(toolOf))
