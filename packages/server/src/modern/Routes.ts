/**
 * The methods that only the modern era has, `server/discover` and `subscriptions/listen`, and what every result of this era has beside
 * its own members: its type, the server's name, the hints for caches. `runtime/Routes` joins them with the routes of the features.
 */
import type { Params } from "@effect-mcp/jsonrpc/Message"
import * as Caching from "@effect-mcp/protocol/modern/Caching"
import type { DiscoverResult } from "@effect-mcp/protocol/modern/Discover"
import * as Methods from "@effect-mcp/protocol/modern/Methods"
import * as Stamp from "@effect-mcp/protocol/modern/Stamp"
import type { ModernVersion } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as CacheOptions from "../CacheOptions.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import * as Route from "../runtime/Route.js"
import * as Routes from "../runtime/Routes.js"
import type { Server } from "../runtime/Server.js"
import type { RequestFacts } from "./RequestFacts.js"
import type { Subscriptions } from "./Subscriptions.js"
import { resultOf } from "./Subscriptions.js"

export const make = (server: Server, subscriptions: Subscriptions): Routes.Routes<RequestFacts> =>
  Routes.make(server, {
    methods: Methods.table,
    capabilities: server.capabilities,
    stamp: (method) =>
      Stamp.make(method, {
        serverInfo: server.info,
        hints: CacheOptions.ofMethod(server.cache, method) as {},
        isCacheable: isCacheable(server, method)
      }) as (result: Params) => Params,
    own: [
      {
        method: Methods.discover,
        isTrusted: true,
        isStable: false,
        serve: (_, { version }) => Route.served(Effect.sync(() => discover(server, version)))
      },
      {
        method: Methods.listen,
        isTrusted: true,
        isStable: false,
        serve: (params, session) => Route.served(subscriptions.listen(params, session)),
        closing: ({ id }) => resultOf(id!)
      }
    ]
  })

/** The revisions that the server supports, and its capabilities. A client may ask for them first; no other request needs them. */
const discover = (
  { capabilities, extensions, instructions, versions }: Server,
  version: ModernVersion
): DiscoverResult => {
  const text = instructions()
  return {
    supportedVersions: versions,
    capabilities: AdvertisedCapabilities.withExtensions(capabilities(), extensions.declared(version)),
    ...(text === undefined ? undefined : { instructions: text })
  }
}

const isCacheable = ({ extensions }: Server, method: string): boolean => {
  const added = extensions.methods.get(method)
  return added?.kind === "request" ? added.isCacheable : Caching.isCacheable(method)
}
