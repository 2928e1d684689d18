/**
 * An extension for the tests of a server, with one of everything that an extension can add, and the features that serve it.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { InvalidParams } from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Option, Schema } from "effect"

export const ID = "com.example/orders"

const Order = Schema.Struct({ id: Schema.String, total: Schema.NumberFromString })

export const Orders = Extension.make(ID, {
  settings: {
    client: Schema.Struct({ currency: Schema.optionalWith(Schema.String, { default: () => "EUR" }) }),
    server: Schema.Struct({ maxTotal: Schema.Int })
  },
  requests: {
    find: Extension.request("orders/find", {
      params: Schema.Struct({ id: Schema.String }),
      result: Order,
      nameParameter: "id"
    }),
    count: Extension.request("orders/count", {
      params: Schema.Struct({}),
      result: Schema.Struct({ count: Schema.Int }),
      declaredBy: "server"
    }),
    modern: Extension.request("orders/modern", { params: Schema.Struct({}), result: Order, since: "2026-07-28" }),
    approve: Extension.request("orders/approve", {
      from: "server",
      params: Order,
      result: Schema.Struct({ approved: Schema.Boolean })
    })
  },
  notifications: {
    changed: Extension.notification("notifications/orders/changed", {
      params: Order,
      filter: "orderIds",
      key: ({ id }) => id
    }),
    opened: Extension.notification("notifications/orders/opened", {
      params: Schema.Struct({ hour: Schema.Int }),
      filter: "ordersOpened"
    }),
    packed: Extension.notification("notifications/orders/packed", { params: Order }),
    seen: Extension.notification("notifications/orders/seen", {
      from: "client",
      params: Schema.Struct({ id: Schema.String })
    })
  },
  results: {
    order: Extension.resultType("order", { method: "tools/call", value: Order })
  }
})

/** What a server is given. */
export const given = Extension.declare(Orders, { server: { maxTotal: 100 } })

const { notifications, requests, results } = Orders

/** The ids that clients have notified the server of. */
export const features = (seen: Array<string> = []) =>
  Layer.mergeAll(
    MethodHandler.request(requests.find, ({ id }) =>
      Effect.gen(function*() {
        const { client: { extension }, notify } = yield* RequestContext
        const { client, server } = Option.getOrThrow(yield* extension(Orders))
        yield* notify(notifications.packed, { id: client.currency, total: server.maxTotal })
        return id === "7" ? { id, total: 70 } : yield* new InvalidParams({ message: "Invalid params: no such order" })
      })),
    MethodHandler.request(requests.count, () => Effect.succeed({ count: 1 })),
    MethodHandler.request(requests.modern, () => Effect.succeed({ id: "modern", total: 1 })),
    MethodHandler.notification(notifications.seen, ({ id }) => Effect.sync(() => seen.push(id))),
    MethodHandler.subscription(notifications.changed, (ids) =>
      Effect.succeed(["foreign", ...ids.filter((id) => id < "8")])),
    McpServer.tool(Tool.make("buy", { parameters: { id: Schema.String } }), ({ id }) =>
      Effect.flatMap(RequestContext, ({ client: { extension } }) =>
        Effect.flatMap(
          extension(Orders),
          Option.match({
            onNone: () =>
              Effect.succeed("bought"),
            onSome: () =>
              MethodHandler.answer(results.order, { id, total: 7 })
          })
        ))),
    McpServer.tool(Tool.make("order"), () =>
      MethodHandler.answer(results.order, { id: "1", total: 7 })),
    McpServer.tool(Tool.make("wrong"), () =>
      MethodHandler.answer(results.order, { id: 1 } as never)),
    McpServer.tool(Tool.make("approved"), () =>
      Effect.gen(function*() {
        const session = yield* ServerSession
        return String((yield* session.request(requests.approve, { id: "7", total: 7 })).approved)
      })),
    McpServer.tool(Tool.make("open"), () =>
      Effect.as(McpServer.notifySubscribers(notifications.opened, { hour: 9 }), "open")),
    McpServer.tool(Tool.make("change", { parameters: { id: Schema.String } }), ({ id }) =>
      Effect.as(McpServer.notifySubscribers(notifications.changed, { id, total: 8 }), "changed"))
  ) as Layer.Layer<never, never, Registry>
