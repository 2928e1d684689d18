/**
 * What is known of one MCP server: its authorization server, the tokens, and the key that they are bound to. It is read from the
 * store once, and written to it after each change.
 *
 * The fiber that `ServerTokens` gets tokens with changes it, and a refresh that goes on after that fiber was interrupted: `exclusive`
 * keeps the two apart.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Binding, CredentialStoreService } from "../CredentialStore.js"
import type { Discovered } from "../discovery/Discovery.js"
import * as Text from "../discovery/Text.js"
import type { Dpop, Prover } from "../Dpop.js"
import * as Registered from "../identity/Registered.js"
import type { Tokens } from "../Tokens.js"
import type { Scopes } from "./Scopes.js"

export interface State {
  readonly binding: Binding | undefined
  readonly discovered: Discovered | undefined
  readonly tokens: Tokens | undefined
  /** Whether the grant has just got the tokens: they were not stored, and not refreshed. */
  readonly isFresh: boolean
  readonly prover: Prover | undefined
  /** The scopes that logins of this process have requested, whether or not they were granted. */
  readonly requested: Scopes | undefined
}

/** A state after tokens were got. */
export interface Bound extends State {
  readonly binding: Binding
  readonly tokens: Tokens
}

export interface TokenState {
  /** What is known; reads the store the first time. */
  readonly get: Effect.Effect<State, AuthorizationError>
  /** Tokens that cannot be stored are used until the process ends. */
  readonly keep: (next: Bound) => Effect.Effect<void>
  /** Takes the tokens that another process has stored since. Gives whether there are any, and they have not expired. */
  readonly adopt: Effect.Effect<boolean, AuthorizationError>
  /** Runs an effect while no other process, and no other part of this one, renews the tokens of a resource. */
  readonly exclusive: CredentialStoreService["exclusive"]
  /** Lets the tokens be renewed at another time. */
  readonly renewAt: (millis: number) => Effect.Effect<void>
  readonly forget: Effect.Effect<void, AuthorizationError>
}

/** Of a server that has not been used yet. */
export const nothing = {
  binding: undefined,
  discovered: undefined,
  tokens: undefined,
  isFresh: false,
  prover: undefined,
  requested: undefined
} satisfies State

/** How tokens are sent. */
export const authorization = ({ accessToken, type }: Tokens): string => `${type} ${Redacted.value(accessToken)}`

export const make = (
  server: URL,
  store: CredentialStoreService,
  dpop: Dpop | undefined
): TokenState => {
  const url = server.href
  let state: State | undefined

  const read = Effect.gen(function*() {
    const binding = yield* store.bindings.get(url)
    if (binding === undefined) return nothing
    const tokens = yield* store.tokens.get(binding.issuer, binding.resource)
    const prover = binding.key === undefined || dpop === undefined ? undefined : yield* dpop.prover(binding.key)
    const isUsable = tokens?.type !== "DPoP" || prover !== undefined
    return { ...nothing, binding, tokens: isUsable ? tokens : undefined, prover } satisfies State
  })

  // Another fiber may have read it meanwhile.
  const get = Effect.suspend(() =>
    state !== undefined ? Effect.succeed(state) : Effect.map(read, (found) => state ??= found)
  )

  return {
    get,
    keep: (next) =>
      Effect.gen(function*() {
        const before = state
        state = next
        const { binding, tokens } = next
        const { issuer, resource } = binding
        const old = before?.binding
        const storing = Effect.gen(function*() {
          if (old !== undefined && (old.issuer !== issuer || old.resource !== resource)) {
            yield* store.tokens.set(undefined, old.issuer, old.resource)
          }
          yield* store.bindings.set(binding, url)
          yield* store.tokens.set(tokens, issuer, resource)
        })
        // A refresh token that was used must not stay there: sent again, it would end the login.
        const isUsedUp = !Equal.equals(before?.tokens?.refreshToken, tokens.refreshToken)
        yield* Effect.catchAll(storing, (error) =>
          Effect.zipRight(
            isUsedUp ? Effect.ignore(store.tokens.set(undefined, issuer, resource)) : Effect.void,
            Effect.logWarning(`The tokens for ${Text.location(server)} were not stored`, error)
          ))
      }),
    adopt: Effect.gen(function*() {
      const known = yield* get
      const { binding, tokens } = known
      if (binding === undefined || tokens === undefined) return false
      const stored = yield* read
      if (stored.tokens === undefined || authorization(stored.tokens) === authorization(tokens)) return false
      const { issuer, key } = stored.binding
      state = {
        ...stored,
        discovered: issuer === binding.issuer ? known.discovered : undefined,
        prover: Equal.equals(key, binding.key) ? known.prover : stored.prover
      }
      const now = yield* Clock.currentTimeMillis
      return stored.tokens.expiresAt === undefined || stored.tokens.expiresAt > now
    }),
    exclusive: store.exclusive,
    renewAt: (millis) =>
      Effect.sync(() => {
        if (state?.tokens !== undefined) state = { ...state, tokens: { ...state.tokens, renewAt: millis } }
      }),
    forget: Effect.gen(function*() {
      const { binding, tokens } = yield* get
      state = nothing
      if (binding === undefined) return
      yield* store.tokens.set(undefined, binding.issuer, binding.resource)
      yield* Registered.retire(store, binding.issuer, tokens?.clientId)
      yield* store.bindings.set(undefined, url)
    })
  }
}
