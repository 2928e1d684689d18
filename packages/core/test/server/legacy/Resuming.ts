/**
 * Clients of a server whose streams can be resumed, and the messages that they receive.
 */
import * as EventStore from "@effect-mcp/core/EventStore"
import type * as Registry from "@effect-mcp/core/Registry"
import * as RequestContext from "@effect-mcp/core/RequestContext"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Effect, type Layer, type Scope } from "effect"
import { type EndpointClient, withEndpoint } from "../http/TestExchange.js"
import { serve } from "../Serving.js"

export const log = (data: unknown) =>
  Effect.flatMap(RequestContext.RequestContext, (context) => context.log("info", data))

export const received = (exchange: { readonly messages: Array<any> }) =>
  exchange.messages.map(({ id, params }) => id ?? params.data)

/** Runs a test with a client of a server whose streams can be resumed. */
export const resuming = (
  features: Layer.Layer<never, never, Registry.Registry>,
  test: (http: EndpointClient) => Effect.Effect<void, never, Scope.Scope>,
  options?: HttpOptions,
  store: Layer.Layer<EventStore.EventStore> = EventStore.layerMemory
) => Effect.provide(withEndpoint(serve(features), test, options), store)

export const after = (id: string) => ({ "last-event-id": id })
