/**
 * How a resource server requests the documents of one issuer: the host of the issuer is allowed, because the application has
 * chosen it, and other private addresses only by option.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import type { Documents } from "../discovery/Documents.js"
import type { RequestOptions } from "../TokenVerifier.js"

export const documents = (
  client: HttpClient.HttpClient,
  issuer: string,
  options: RequestOptions
): Effect.Effect<Documents> =>
  URL.canParse(issuer)
    ? Effect.succeed({
      client,
      policy: { server: new URL(issuer), allowPrivate: options.allowPrivateAddresses === true },
      timeout: options.requestTimeout ?? "5 seconds",
      maxBytes: options.maxDocumentBytes ?? 256 * 1024,
      headers: {}
    })
    : Effect.dieMessage(`"${issuer}" is no issuer: an issuer is a URL, as in "https://login.example.com"`)
