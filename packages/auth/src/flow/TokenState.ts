/**
 * The state of the client for one MCP server: the authorization server, the tokens, and the key to which the tokens are bound. This module
 * reads the state from the store one time, and writes the state to the store after each change.
 *
 * Two fibers may change the state at the same time: the fiber in which `ServerTokens` gets tokens, and a refresh that continues after its
 * caller was interrupted. Each fiber renews or revokes tokens inside `exclusive`, so the other fiber waits. `TokenRequests` and
 * `Revocation` read and change this state.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Binding, CredentialStoreService } from "../CredentialStore.js"
import type { Discovered } from "../discovery/Discovery.js"
import * as ServerText from "../discovery/ServerText.js"
import type { Dpop, Prover } from "../Dpop.js"
import * as Registered from "../identity/Registered.js"
import type { Tokens } from "../Tokens.js"
import { type Scopes, union, withoutRefused } from "./Scopes.js"

export interface State {
  readonly binding: Binding | undefined
  readonly discovered: Discovered | undefined
  readonly tokens: Tokens | undefined
  /** Whether the grant has got the tokens in this process. `false` for tokens that were read from the store or refreshed. */
  readonly isFresh: boolean
  readonly prover: Prover | undefined
  /** The scopes that logins of this process have requested, whether or not they were granted. */
  readonly requested: Scopes | undefined
}

/** A state with tokens. */
export interface Bound extends State {
  readonly binding: Binding
  readonly tokens: Tokens
}

export interface TokenState {
  /** Returns the state. The first call reads the store. */
  readonly get: Effect.Effect<State, AuthorizationError>
  /** Sets the state and writes it to the store. If the store fails, a warning is logged, and the tokens are used until the process ends. */
  readonly keep: (next: Bound) => Effect.Effect<void>
  /**
   * Takes the tokens that another process has stored since the last read. Returns `true` when there are new tokens that have not expired.
   */
  readonly adopt: Effect.Effect<boolean, AuthorizationError>
  /**
   * Whether other tokens have replaced `tokens`. The other tokens may be from a refresh whose caller was interrupted, or from another
   * process.
   */
  readonly isReplaced: (tokens: Tokens | undefined) => Effect.Effect<boolean, AuthorizationError>
  /** Runs an effect. During this time, no other process and no other fiber of this process renews the tokens of a resource. */
  readonly exclusive: CredentialStoreService["exclusive"]
  /** Sets the time at which the tokens are renewed, in milliseconds since 1970. */
  readonly renewAt: (millis: number) => Effect.Effect<void>
  /**
   * Removes scopes from the binding. These are scopes that the client has requested but the server still requires, and the next login must
   * not request them.
   */
  readonly dropRefused: (scopes: Scopes) => Effect.Effect<void>
  /** Removes the tokens and the binding from the store, and lets the next login register the client again. */
  readonly forget: Effect.Effect<void, AuthorizationError>
}

/** The state of a server that has not been used yet. */
export const nothing = {
  binding: undefined,
  discovered: undefined,
  tokens: undefined,
  isFresh: false,
  prover: undefined,
  requested: undefined
} satisfies State

/** Returns the value of the `Authorization` header. */
export const authorization = ({ accessToken, type }: Tokens): string => `${type} ${Redacted.value(accessToken)}`

export const make = (
  server: URL,
  store: CredentialStoreService,
  dpop: Dpop | undefined
): TokenState => {
  const self: Self = { server, store, dpop, state: Ref.unsafeMake<State | undefined>(undefined) }
  return {
    get: get(self),
    keep: (next) => keep(self, next),
    adopt: adopt(self),
    isReplaced: (tokens) => isReplaced(self, tokens),
    exclusive: store.exclusive,
    renewAt: (millis) =>
      Ref.update(
        self.state,
        (state) => state?.tokens === undefined ? state : { ...state, tokens: { ...state.tokens, renewAt: millis } }
      ),
    dropRefused: (scopes) => dropRefused(self, scopes),
    forget: forget(self)
  }
}

/** The data that the functions of this module share. */
interface Self {
  readonly server: URL
  readonly store: CredentialStoreService
  readonly dpop: Dpop | undefined
  /** The state; `undefined` until the store was read. */
  readonly state: Ref.Ref<State | undefined>
}

const get = (self: Self): Effect.Effect<State, AuthorizationError> =>
  Effect.flatMap(
    Ref.get(self.state),
    (state) => state !== undefined ? Effect.succeed(state) : Effect.flatMap(read(self), (found) => first(self, found))
  )

/** Sets the state that was read from the store. Another fiber may have read the store in the meantime. */
const first = ({ state }: Self, found: State): Effect.Effect<State> =>
  Ref.modify(state, (known = found) => [known, known])

const read = Effect.fnUntraced(function*({ dpop, server, store }: Self) {
  const binding = yield* store.bindings.get(server.href)
  if (binding === undefined) return nothing
  const tokens = yield* store.tokens.get(binding.issuer, binding.resource)
  const prover = binding.key === undefined || dpop === undefined ? undefined : yield* dpop.prover(binding.key)
  const isUsable = tokens?.type !== "DPoP" || prover !== undefined
  return { ...nothing, binding, tokens: isUsable ? tokens : undefined, prover }
})

const keep = Effect.fnUntraced(function*(self: Self, next: Bound) {
  const before = yield* Ref.getAndSet(self.state, next)
  const { binding: { issuer, resource }, tokens } = next
  // A used refresh token must not stay in the store. If the client sends it again, the authorization server may end the login.
  const isUsedUp = !Equal.equals(before?.tokens?.refreshToken, tokens.refreshToken)
  yield* Effect.catchAll(write(self, before, next), (error) =>
    Effect.zipRight(
      isUsedUp ? Effect.ignore(self.store.tokens.set(undefined, issuer, resource)) : Effect.void,
      Effect.logWarning(`The tokens for ${ServerText.location(self.server)} were not stored`, error)
    ))
})

const write = Effect.fnUntraced(
  function*({ server, store }: Self, before: State | undefined, { binding, tokens }: Bound) {
    const { issuer, resource } = binding
    const old = before?.binding
    if (old !== undefined && (old.issuer !== issuer || old.resource !== resource)) {
      yield* store.tokens.set(undefined, old.issuer, old.resource)
    }
    yield* store.bindings.set(binding, server.href)
    yield* store.tokens.set(tokens, issuer, resource)
  }
)

const adopt = Effect.fnUntraced(function*(self: Self) {
  const known = yield* get(self)
  const { binding, tokens } = known
  if (binding === undefined || tokens === undefined) return false
  const stored: State = yield* read(self)
  if (stored.binding === undefined || stored.tokens === undefined) return false
  if (authorization(stored.tokens) === authorization(tokens)) return false
  const { issuer, key } = stored.binding
  yield* Ref.set(self.state, {
    ...stored,
    discovered: issuer === binding.issuer ? known.discovered : undefined,
    prover: Equal.equals(key, binding.key) ? known.prover : stored.prover
  })
  const now = yield* Clock.currentTimeMillis
  return stored.tokens.expiresAt === undefined || stored.tokens.expiresAt > now
})

const isReplaced = (self: Self, tokens: Tokens | undefined): Effect.Effect<boolean, AuthorizationError> =>
  Effect.flatMap(
    get(self),
    (known) => known.tokens?.accessToken !== tokens?.accessToken ? Effect.succeed(true) : adopt(self)
  )

const dropRefused = Effect.fnUntraced(function*({ server, state, store }: Self, refused: Scopes) {
  const next = yield* Ref.updateAndGet(state, (known) =>
    known?.binding === undefined ? known : {
      ...known,
      binding: {
        ...known.binding,
        scopes: withoutRefused(known.binding.scopes, refused, known.tokens?.scopes)
      },
      // These scopes count as requested, so this process does not request them again.
      requested: union(known.requested ?? known.binding.scopes, refused)
    })
  if (next?.binding === undefined) return
  yield* Effect.catchAll(
    store.bindings.set(next.binding, server.href),
    (error) => Effect.logWarning(`The scopes for ${ServerText.location(server)} were not stored`, error)
  )
})

const forget = Effect.fnUntraced(function*(self: Self) {
  const { server, store } = self
  const { binding, tokens } = yield* get(self)
  yield* Ref.set(self.state, nothing)
  if (binding === undefined) return
  yield* store.tokens.set(undefined, binding.issuer, binding.resource)
  yield* Registered.retire(store, binding.issuer, tokens?.clientId)
  yield* store.bindings.set(undefined, server.href)
})
