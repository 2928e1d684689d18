/**
 * Revokes tokens at the authorization server (RFC 7009), and deletes a registration that no other tokens use (RFC 7592). `ServerTokens`
 * calls this module at a logout. `TokenState` then removes the tokens from the store. `Registered` tells which resources use a
 * registration.
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Binding } from "../CredentialStore.js"
import * as Documents from "../discovery/Documents.js"
import * as Registered from "../identity/Registered.js"
import type { Tokens } from "../Tokens.js"
import * as TokenEndpoint from "./TokenEndpoint.js"
import * as TokenRequests from "./TokenRequests.js"
import type { State } from "./TokenState.js"

export const revoke = Effect.fnUntraced(
  function*(self: TokenRequests.Self): Effect.fn.Return<void, AuthorizationError> {
    const { binding } = yield* self.state.get
    if (binding === undefined) return
    // A refresh whose caller was interrupted may still run: `exclusive` waits until it ends.
    yield* self.state.exclusive(revoking(self), binding.issuer, binding.resource)
  }
)

const revoking = Effect.fnUntraced(function*(self: TokenRequests.Self) {
  const { settings, state } = self
  const known = yield* state.get
  const { binding, tokens } = known
  if (binding === undefined || tokens === undefined) return
  const revoked = yield* Effect.either(revokeTokens(self, known, binding, tokens))
  const { management } = (yield* Registered.release(settings.store, binding, tokens.clientId)) ?? {}
  if (management !== undefined) {
    const documents = TokenRequests.documentsAsBefore(settings, binding)
    const request = HttpClientRequest.bearerToken(HttpClientRequest.del(management.url), management.token)
    yield* Documents.send(documents, "the registration of this client", request)
  }
  yield* EffectInternals.fromEither(revoked)
})

const revokeTokens = Effect.fnUntraced(
  function*(self: TokenRequests.Self, known: State, binding: Binding, tokens: Tokens) {
    const { settings } = self
    const { context } = yield* TokenRequests.asBefore(self, known, binding)
    const { server } = context
    const { revocationEndpoint: url } = server
    // Without an endpoint the client is not needed. To find the client could ask the user (option `ask` of `ClientIdentity`).
    if (url === undefined) return
    const client = yield* settings.grant.client({ ...context, clientId: tokens.clientId })
    const documents = TokenRequests.documentsAsBefore(settings, binding)
    const [errors] = yield* Effect.partition(
      [{ token: tokens.refreshToken, hint: "refresh_token" }, { token: tokens.accessToken, hint: "access_token" }],
      ({ hint, token }) =>
        token === undefined ? Effect.void : TokenEndpoint.postForm(
          documents,
          server,
          "the revocation endpoint",
          url,
          client,
          { token: Redacted.value(token), token_type_hint: hint }
        )
    )
    if (errors[0] !== undefined) return yield* errors[0]
  }
)
