/**
 * A modern client of a server over HTTP that the test scripts. It knows the server from before, so its first request is
 * the first call of the test.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError } from "@effect-mcp/core/ClientError"
import type * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { Options } from "@effect-mcp/core/Remote"
import * as Remote from "@effect-mcp/core/Remote"
import { Effect } from "effect"
import type { Exchange } from "../http/ScriptedServer.js"
import * as ScriptedServer from "../http/ScriptedServer.js"
import { version } from "./ModernServer.js"

export type ConnectOptions = Client.Options<never, ClientFeatures.ClientFeatures> & {
  readonly remote?: Options | undefined
  /** Whether the transport is open before there is a client. */
  readonly isOpen?: boolean | undefined
  readonly capabilities?: JsonObject | undefined
}

export const connect = (options: ConnectOptions = {}) =>
  Effect.gen(function*() {
    const { capabilities = { completions: {}, prompts: {}, resources: {}, tools: {} }, isOpen, remote, ...rest } =
      options
    const http = yield* ScriptedServer.make()
    const connector = Remote.connector(ScriptedServer.URL, remote)
    const client = yield* Effect.orDie(Effect.provideService(
      Client.make(
        isOpen === true
          ? Connector.fromTransport(
            yield* Effect.provideService(Effect.orDie(connector.connect), HttpClient.HttpClient, http.client)
          )
          : connector,
        {
          versions: [version],
          prior: {
            version,
            serverInfo: { name: "scripted", version: "0" },
            serverCapabilities: capabilities,
            instructions: undefined
          },
          checkOutputs: false,
          ...rest
        }
      ),
      HttpClient.HttpClient,
      http.client
    ))
    return { client, http }
  })

/** The result or the error of a call that runs in the background. */
export const calling = <A>(call: Effect.Effect<A, ClientError>) =>
  Effect.tap(Effect.forkScoped(Effect.either(call)), Effect.yieldNow())

export const complete = (exchange: Exchange, result: object = {}) =>
  exchange.result({ resultType: "complete", ...result })

export const cacheable = (exchange: Exchange, result: object) =>
  complete(exchange, { ttlMs: 0, cacheScope: "private", ...result })

/** Answers a list of tools, with annotations by name. */
export const tools = (exchange: Exchange, annotations: Readonly<Record<string, object>>, more: object = {}) =>
  cacheable(exchange, {
    tools: Object.entries(annotations).map(([name, annotations]) => ({
      name,
      inputSchema: { type: "object" },
      annotations
    })),
    ...more
  })

/** Begins to answer with a stream of events, and breaks it. */
export const cut = (exchange: Exchange) => Effect.flatMap(exchange.events(), ({ cut }) => cut)
