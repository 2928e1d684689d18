/** The programs of one process of `Processes`, over the store of a package. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import * as Browser from "@effect-mcp/auth/Browser"
import type { CredentialStore } from "@effect-mcp/auth/CredentialStore"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"

const SERVER = "https://mcp.test/mcp"

export const run = (
  store: Layer.Layer<CredentialStore, unknown>,
  issuer: string,
  programs: number
): Promise<unknown> => {
  const browser = Browser.layer({
    redirectUri: "http://127.0.0.1/callback",
    open: () => Effect.dieMessage("No browser may open")
  })
  const grant = AuthorizationCode.make({ name: "Host", preRegistered: [{ issuer, clientId: "host" }] })
  const program = Effect.flatMap(
    Authorization.Authorization,
    ({ headers }) => headers(SERVER, HttpClientRequest.post(SERVER))
  ).pipe(
    Effect.tap((headers) => Effect.sync(() => void writeSync(1, `${headers["authorization"]}\n`))),
    Effect.provide(Layer.fresh(Authorization.layer(grant).pipe(Layer.provide([browser, store, FetchHttpClient.layer]))))
  )
  return Effect.runPromise(
    Effect.all(Array.from({ length: programs }, () => program), { concurrency: "unbounded", discard: true })
  )
}
