/**
 * Where the client keeps what it is known as at each authorization server, and the tokens it got there. Registrations and tokens are kept by
 * issuer, so that nothing of one authorization server is ever sent to another; which issuer an MCP server has is kept by its URL. It uses the platform's `KeyValueStore`;
 * `node/CredentialDirectory` keeps it in files that only the user can read.
 *
 * @since 0.1.0
 */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AuthorizationError } from "./AuthorizationError.js"
import * as Sha256 from "./digest/Sha256.js"
import { failure } from "./discovery/Failure.js"
import { Tokens } from "./Tokens.js"

/** @category models */
export interface Registration extends Schema.Schema.Type<typeof Registration> {}

/**
 * This client, as an authorization server has registered it.
 *
 * @category schemas
 */
export const Registration = Schema.Struct({
  clientId: Schema.String,
  clientSecret: Schema.UndefinedOr(Schema.Redacted(Schema.String)),
  authMethod: Schema.UndefinedOr(Schema.Literal("none", "client_secret_basic", "client_secret_post")),
  /** When the secret expires, in milliseconds since 1970. */
  secretExpiresAt: Schema.UndefinedOr(Schema.Number),
  redirectUris: Schema.Array(Schema.String),
  /** Where the client can delete the registration, and the token for that (RFC 7592). */
  management: Schema.optional(Schema.Struct({ url: Schema.String, token: Schema.Redacted(Schema.String) })),
  /** The resources that the client has logged in for. */
  resources: Schema.optional(Schema.Array(Schema.String))
})

/** @category models */
export interface Binding extends Schema.Schema.Type<typeof Binding> {}

/**
 * The authorization server that an MCP server used last, and what was requested there.
 *
 * @category schemas
 */
export const Binding = Schema.Struct({
  issuer: Schema.String,
  resource: Schema.String,
  scopes: Schema.UndefinedOr(Schema.Array(Schema.String)),
  /** The private key of the tokens, as JWK, when they are bound to one. */
  key: Schema.UndefinedOr(Schema.Redacted(Schema.String))
})

/**
 * One kind of record; `undefined` removes it. A record that cannot be decoded counts as missing.
 *
 * @category models
 */
export interface Records<A> {
  readonly get: (...key: ReadonlyArray<string>) => Effect.Effect<A | undefined, AuthorizationError>
  readonly set: (value: A | undefined, ...key: ReadonlyArray<string>) => Effect.Effect<void, AuthorizationError>
}

/** @category models */
export interface CredentialStoreService {
  /** By issuer; one that another has replaced also by its client id. */
  readonly registrations: Records<Registration>
  /** By issuer and resource. */
  readonly tokens: Records<Tokens>
  /** By the URL of the MCP server. */
  readonly bindings: Records<Binding>
  /**
   * Runs an effect that renews the tokens of an issuer and a resource, when no other one does. Many authorization servers
   * accept a refresh token once, and end the login when it is sent twice. An effect that renews tokens may run another one for the
   * issuer and the resource "" inside, which changes the registrations of the issuer.
   */
  readonly exclusive: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    issuer: string,
    resource: string
  ) => Effect.Effect<A, E, R>
}

/**
 * Runs an effect when no other process runs one of the same name.
 *
 * @category models
 */
export type Exclusive = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** @category tags */
export class CredentialStore extends Context.Tag("@effect-mcp/auth/CredentialStore")<
  CredentialStore,
  CredentialStoreService
>() {}

/**
 * Stores that several processes use need `exclusive`. Default: only this process renews tokens.
 *
 * @category constructors
 */
export const make = (
  store: KeyValueStore.KeyValueStore,
  exclusive: Exclusive = (_, effect) => effect
): CredentialStoreService => {
  const inProcess = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return {
    registrations: records(store, "registration", Registration),
    tokens: records(store, "tokens", Tokens),
    bindings: records(store, "server", Binding),
    exclusive: (effect, ...key) =>
      Effect.flatMap(nameOf("tokens", key), (name) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const turns = inProcess.get(name) ?? { semaphore: Semaphore.make(), users: 0 }
            turns.users++
            inProcess.set(name, turns)
            return turns
          }),
          ({ semaphore }) => semaphore.run(exclusive(name, effect)),
          (turns) => Effect.sync(() => --turns.users === 0 && inProcess.delete(name))
        ))
  }
}

/**
 * Stores in the `KeyValueStore` of the application.
 *
 * @category layers
 */
export const layer: Layer.Layer<CredentialStore, never, KeyValueStore.KeyValueStore> = Layer.effect(
  CredentialStore,
  Effect.map(KeyValueStore.KeyValueStore, (store) => make(store))
)

/**
 * Stores in the memory of this process: the user logs in again after a restart.
 *
 * @category layers
 */
export const layerMemory: Layer.Layer<CredentialStore> = Layer.provide(layer, KeyValueStore.layerMemory)

const records = <A, I>(
  store: KeyValueStore.KeyValueStore,
  kind: string,
  schema: Schema.Schema<A, I>
): Records<A> => {
  const json = Schema.parseJson(schema)
  const decode = Schema.decodeUnknownOption(json)
  const encode = Schema.encodeSync(json)
  return {
    get: (...key) =>
      Effect.flatMap(nameOf(kind, key), (name) =>
        Effect.mapBoth(store.get(name), {
          onFailure: (cause) => failed("read", cause),
          onSuccess: (text) => Option.getOrUndefined(Option.flatMap(text, decode))
        })),
    set: (value, ...key) =>
      Effect.flatMap(nameOf(kind, key), (name) =>
        Effect.mapError(
          value === undefined ? store.remove(name) : store.set(name, encode(value)),
          (cause) => failed("written", cause)
        ))
  }
}

/** Issuers and resources are long and case-sensitive; a digest fits wherever a name of a file does. */
const nameOf = (kind: string, key: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(Sha256.hex(JSON.stringify(key)), (digest) => `${kind}-${digest}`)

const failed = (what: string, cause: unknown) =>
  failure("Store", `Stored credentials could not be ${what}: see the cause`, { cause })
