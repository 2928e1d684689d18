/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import * as Client from "@effect-mcp/core/Client"
import type { CallOptions } from "@effect-mcp/core/ClientSession"
import type { Registry } from "@effect-mcp/core/Registry"
import * as Tool from "@effect-mcp/core/Tool"
import * as Apps from "@effect-mcp/extensions/Apps"
import * as AppsClient from "@effect-mcp/extensions/AppsClient"
import * as AppsServer from "@effect-mcp/extensions/AppsServer"
import * as AppView from "@effect-mcp/extensions/AppView"
import { Context, Effect, type Layer } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Db extends Context.Tag("test/Db")<Db, { readonly find: Effect.Effect<string> }>() {}

const view = {
  uri: "ui://weather/view.html",
  title: "Weather",
  description: "The weather of today",
  icons: [{ src: "https://example.com/icon.png" }],
  annotations: { audience: ["user"], priority: 1 },
  size: 100,
  requires: ["weather:read"],
  meta: { "example.com/x": 1 },
  csp: { connectDomains: ["https://api.example.com"] },
  permissions: { geolocation: {} },
  domain: "weather.example.com",
  prefersBorder: true
} satisfies Every<AppView.Options>

const View = AppView.make("view", view)

export const metas = AppView.meta(View, { visibility: ["model", "app"] })

const app = {
  view: View,
  html: Effect.flatMap(Db, ({ find }) => find),
  visibility: ["model", "app"]
} satisfies Every<AppsServer.Options<never, Db>>

export const Show = AppsServer.tool(Tool.make("show"), app, () => Effect.void)
expectTypeOf<Layer.Layer.Context<typeof Show>>().toEqualTypeOf<Registry | Db>()

const origins = { allowPrivateOrigins: true } satisfies Every<Apps.ViewOptions>

export const shown = Apps.ofView({}, origins)

const reading = { maxLength: 100_000, allowPrivateOrigins: true } satisfies Every<
  Omit<AppsClient.ViewOptions, keyof CallOptions>
>

export const used = Effect.flatMap(
  Client.Client,
  (client) => AppsClient.read(client, "ui://weather/view.html", { ...reading, timeout: "10 seconds" })
)
