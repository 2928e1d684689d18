/**
 * The handler under test: it asks a person to confirm an order, and waits ten minutes for the shop, which is a service. The
 * shop of the application is not here, because the tests have their own.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export class Late extends Schema.TaggedError<Late>()("Late", { item: Schema.String }) {}

export class Shop
  extends Context.Tag("example/Shop")<Shop, { readonly order: (item: string) => Effect.Effect<number> }>()
{}

export const Order = Tool.make("order", {
  parameters: { item: Schema.String },
  success: Schema.Struct({ price: Schema.Number }),
  failure: Schema.Union(Late, Schema.Literal("declined"))
})

export const Orders = Definition.make(Order)

export const OrdersLive = McpServer.implement(Orders, {
  order: ({ item }) =>
    Effect.gen(function*() {
      const session = yield* ServerSession.ServerSession
      const { sure } = yield* session.ask({ sure: Ask.confirm(`Order ${item}?`) })
      if (!sure) return yield* Effect.fail("declined" as const)
      const price = yield* Effect.flatMap(Shop, (shop) => shop.order(item)).pipe(
        Effect.timeoutFail({ duration: "10 minutes", onTimeout: () => new Late({ item }) })
      )
      return { price }
    })
})
