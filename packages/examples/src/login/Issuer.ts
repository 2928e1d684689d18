/**
 * The test authorization server over HTTP. It takes the place of the authorization server that an enterprise or a provider runs; its users
 * consent at once, without a page.
 */
import { HttpServer } from "@effect/platform"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import type * as AuthorizationServerModel from "@effect-mcp/testing/AuthorizationServerModel"
import * as TestAuthorizationServer from "@effect-mcp/testing/TestAuthorizationServer"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"

/** The issuer is the address of the HTTP server. Port 0 is a free one. */
export const layer = (options: Omit<AuthorizationServerModel.Options, "issuer">, port = 0) =>
  HttpServer.serve(TestAuthorizationServer.httpApp).pipe(
    Layer.provideMerge(
      Layer.unwrapEffect(
        HttpServer.addressFormattedWith((issuer) =>
          Effect.succeed(TestAuthorizationServer.layerWith({ ...options, issuer }))
        )
      )
    ),
    Layer.provide(PlatformHttpServer.layer(createServer, { host: "127.0.0.1", port }))
  )
