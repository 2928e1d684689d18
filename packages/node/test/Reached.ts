/**
 * The ways to a server in this process: without a transport, over a pair in memory that the official schema checks, and over
 * HTTP in every shell.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type { Connector } from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as InProcess from "@effect-mcp/core/InProcess"
import type * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Remote from "@effect-mcp/core/Remote"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Effect, type Layer, Layer as Layers, type Scope } from "effect"
import { type Shell, shells } from "./Shells.js"

/** Starts a server, and gives the connector that clients use. */
export type Reach = (server: Layer.Layer<Dispatcher>) => Effect.Effect<Connector<HttpClient>, never, Scope.Scope>

const running = (connector: Effect.Effect<Connector<HttpClient>, never, Dispatcher | Scope.Scope>): Reach => (server) =>
  Effect.flatMap(Layers.build(server), (context) => Effect.provide(connector, context))

const over = (shell: Shell, options: HttpOptions): Reach =>
  running(Effect.map(shell(options), (port) => Remote.connector(`http://127.0.0.1:${port}/mcp`)))

/** Each way by its name. The messages between the two sides are checked with these extensions. */
export const ways = (extensions: ReadonlyArray<Extension.Extension.Any>): Readonly<Record<string, Reach>> => ({
  "no transport": running(InProcess.connector),
  "a pair in memory": running(TestServer.connector({ extensions })),
  ...Object.fromEntries(Object.entries(shells).map(([name, shell]) => [`HTTP in ${name}`, over(shell, {})]))
})

/** The same over HTTP without sessions. */
export const sessionless: Readonly<Record<string, Reach>> = Object.fromEntries(
  Object.entries(shells).map(([name, shell]) => [
    `HTTP without sessions in ${name}`,
    over(shell, { legacy: { sessions: false } })
  ])
)
