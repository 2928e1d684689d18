/**
 * The server of `own.ts` on Node's HTTP server, but protected: it verifies an access token with every request. It has the key of the issuer
 * from the beginning, as every server has the key after the first request.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as AccessToken from "@effect-mcp/auth/AccessToken"
import * as JwtVerifier from "@effect-mcp/auth/JwtVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import { Context, Effect, Layer } from "effect"
import { ISSUER, publicKey, RESOURCE } from "../AccessToken.js"
import { AddLive, info } from "../AddServer.js"
import type * as Start from "./Start.js"

class User extends Context.Tag("User")<User, AccessToken.AccessToken>() {}

const authenticator = ResourceServer.make(User, {
  resource: RESOURCE,
  authorizationServers: [ISSUER],
  verify: JwtVerifier.make({ keys: { [ISSUER]: [publicKey] } })
})

const Protected = McpServer.layer(info, AddLive, { authenticator }).pipe(Layer.provide(FetchHttpClient.layer))

export const onNode: Start.Start = (onListening) =>
  void Effect.runFork(
    Effect.flatMap(HttpServer.HttpServer, ({ url }) => Effect.sync(() => onListening(url))).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(HttpServer.layer({ port: 0 }).pipe(Layer.provide(Protected)))
    )
  )
