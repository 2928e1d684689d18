/**
 * The registrations of this client in the store. For each issuer the store has the registration for the next login, and older
 * registrations. The older registrations are needed because only the client that got a token can refresh that token. `Identities` finds and
 * replaces a registration, and records which resources use the registration. `TokenState` and `AuthorizationCode` call `retire`, so that
 * the next login makes a new registration. `TokenRequests` calls `forget` for a registration that the issuer refuses. `Revocation` calls
 * `release`, and deletes a registration that no other resource uses.
 */
import * as Effect from "effect/Effect"
import type { AuthorizationError } from "../AuthorizationError.js"
import type { Binding, CredentialStoreService, Registration } from "../CredentialStore.js"

type Store = Pick<CredentialStoreService, "registrations">

/** Finds the registration with this client id. When `clientId` is `undefined`, finds the registration for the next login. */
export const find = (
  { registrations }: Store,
  issuer: string,
  clientId: string | undefined
): Effect.Effect<Registration | undefined, AuthorizationError> =>
  Effect.flatMap(
    registrations.get(issuer),
    (current) =>
      clientId === undefined || current?.clientId === clientId
        ? Effect.succeed(current)
        : registrations.get(issuer, clientId)
  )

/**
 * Lets the next login register again. The old registration can still be found by its client id, because tokens for another MCP server may
 * have been issued to it. Does nothing when the current registration has another id than `clientId`, because then the old registration was
 * already replaced.
 */
export const retire = Effect.fnUntraced(function*(
  { registrations }: Store,
  issuer: string,
  clientId: string | undefined
) {
  const current = yield* registrations.get(issuer)
  if (current === undefined || (clientId !== undefined && current.clientId !== clientId)) return
  yield* registrations.set(current, issuer, current.clientId)
  yield* registrations.set(undefined, issuer)
})

export const replace = (store: Store, issuer: string, next: Registration): Effect.Effect<void, AuthorizationError> =>
  Effect.zipRight(retire(store, issuer, undefined), store.registrations.set(next, issuer))

/** Runs an effect. During this time, no other login or logout changes which resources use the registrations of an issuer. */
const exclusive = <A>(
  store: CredentialStoreService,
  issuer: string,
  effect: Effect.Effect<A, AuthorizationError>
): Effect.Effect<A, AuthorizationError> => store.exclusive(effect, issuer, "")

/**
 * Records that a login for `resource` uses the registration for the next login. Only registrations that the client can delete need this
 * record. Returns `false` when the registration does not exist any more, because a logout may have deleted it.
 */
export const use = (
  store: CredentialStoreService,
  issuer: string,
  resource: string,
  { clientId, management }: Registration
): Effect.Effect<boolean, AuthorizationError> =>
  management === undefined ? Effect.succeed(true) : exclusive(
    store,
    issuer,
    Effect.gen(function*() {
      const current = yield* store.registrations.get(issuer)
      if (current?.clientId !== clientId) return false
      const { resources = [] } = current
      if (resources.includes(resource)) return true
      yield* store.registrations.set({ ...current, resources: [...resources, resource] }, issuer)
      return true
    })
  )

/**
 * Records that the tokens for a resource do not exist any more. When the client can delete the registration at the issuer, and no other
 * resource uses the registration, removes the registration from the store and returns it. Otherwise returns `undefined`.
 */
export const release = (
  store: CredentialStoreService,
  { issuer, resource }: Binding,
  clientId: string | undefined
): Effect.Effect<Registration | undefined, AuthorizationError> =>
  exclusive(
    store,
    issuer,
    Effect.gen(function*() {
      const { registrations } = store
      const current = yield* find(store, issuer, clientId)
      if (current?.management === undefined) return undefined
      const resources = (current.resources ?? []).filter((one) => one !== resource)
      if (resources.length === 0) return yield* Effect.as(forget(store, issuer, clientId), current)
      const next = yield* registrations.get(issuer)
      const key = next?.clientId === current.clientId ? [issuer] : [issuer, current.clientId]
      yield* registrations.set({ ...current, resources }, ...key)
      return undefined
    })
  )

/**
 * Removes the registration with this client id from the store. When `clientId` is `undefined`, removes the registration for the next login.
 */
export const forget = Effect.fnUntraced(function*(
  { registrations }: Store,
  issuer: string,
  clientId: string | undefined
) {
  const current = yield* registrations.get(issuer)
  if (clientId === undefined || current?.clientId === clientId) return yield* registrations.set(undefined, issuer)
  yield* registrations.set(undefined, issuer, clientId)
})
