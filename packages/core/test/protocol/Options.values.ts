/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted; nothing runs.
 */
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Issue from "@effect-mcp/core/protocol/Issue"
import * as Stamp from "@effect-mcp/core/protocol/modern/Stamp"
import { ParseResult, Schema } from "effect"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

const revisions = { since: "2025-11-25", until: "2026-07-28" } as const satisfies Every<Extension.RevisionOptions>

const Params = Schema.Struct({ name: Schema.String })

const request = {
  ...revisions,
  params: Params,
  result: Schema.Struct({ found: Schema.Date }),
  nameParameter: "name",
  declaredBy: "server",
  isCacheable: true
} as const satisfies Every<
  Extension.RequestOptions<typeof Params.Type, typeof Params.Encoded, { found: Date }, { found: string }>
>

const notification = { ...revisions, params: Params } satisfies Every<
  Extension.NotificationOptions<typeof Params.Type, typeof Params.Encoded>
>

const stamp = {
  serverInfo: { name: "shop", version: "1.0.0" },
  hints: { ttlMs: 1000, cacheScope: "private" },
  isCacheable: true
} as const satisfies Every<Stamp.Options>

const issue = { quotes: false } satisfies Every<Issue.Options>

export const values = [
  Extension.request("shop/find", { ...request, from: "client" }),
  Extension.notification("notifications/shop/opened", notification),
  Extension.notification("notifications/shop/closed", { ...notification, filter: "shopClosed" }),
  Extension.notification("notifications/shop/changed", { ...notification, filter: "shops", key: ({ name }) => name }),
  Extension.notification("notifications/shop/seen", { ...notification, from: "client" }),
  Stamp.make("tools/list", stamp),
  Issue.explain(new ParseResult.Type(Schema.String.ast, 1), issue)
]
