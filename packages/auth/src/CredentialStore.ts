/**
 * Stores the registrations and the tokens of a client. Registrations and tokens have the issuer in their key, so that the client never
 * sends the credentials of one authorization server to another. A binding says which issuer an MCP server uses, and its key is the URL of
 * the MCP server. `layer` uses the `KeyValueStore` of the platform. `node/CredentialDirectory` uses files that only the user can read.
 * `makeShared` uses a database that several processes share. `identity/Registered` and `flow/TokenState` read and write the records.
 *
 * @since 0.1.0
 */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { AuthorizationError } from "./AuthorizationError.js"
import type { CredentialDatabase } from "./CredentialDatabase.js"
import * as Sha256 from "./digest/Sha256.js"
import { failure } from "./discovery/Failure.js"
import * as RecordLock from "./stored/RecordLock.js"
import * as TextStore from "./stored/TextStore.js"
import { Tokens } from "./Tokens.js"

/** @category models */
export interface Registration extends Schema.Schema.Type<typeof Registration> {}

/**
 * The registration of this client at an authorization server.
 *
 * @category schemas
 */
export const Registration = Schema.Struct({
  clientId: Schema.String,
  clientSecret: Schema.UndefinedOr(Schema.Redacted(Schema.String)),
  authMethod: Schema.UndefinedOr(Schema.Literal("none", "client_secret_basic", "client_secret_post")),
  /** The time at which the secret expires, in milliseconds since 1970; `undefined` when the secret does not expire. */
  secretExpiresAt: Schema.UndefinedOr(Schema.Number),
  redirectUris: Schema.Array(Schema.String),
  /** The URL at which the client can delete the registration, and the token for that request (RFC 7592). */
  management: Schema.optional(Schema.Struct({ url: Schema.String, token: Schema.Redacted(Schema.String) })),
  /** The resources for which the client has logged in. */
  resources: Schema.optional(Schema.Array(Schema.String))
})

/** @category models */
export interface Binding extends Schema.Schema.Type<typeof Binding> {}

/**
 * The authorization server that an MCP server used last, and the scopes that the client requested from it.
 *
 * @category schemas
 */
export const Binding = Schema.Struct({
  issuer: Schema.String,
  resource: Schema.String,
  scopes: Schema.UndefinedOr(Schema.Array(Schema.String)),
  /** The private key of the tokens, as JWK, when the tokens are bound to a key. */
  key: Schema.UndefinedOr(Schema.Redacted(Schema.String))
})

/**
 * The functions for one kind of record. `get` returns `undefined` when the record does not exist or cannot be decoded. `set` with the value
 * `undefined` removes the record.
 *
 * @category models
 */
export interface Records<A> {
  readonly get: (...key: ReadonlyArray<string>) => Effect.Effect<A | undefined, AuthorizationError>
  readonly set: (value: A | undefined, ...key: ReadonlyArray<string>) => Effect.Effect<void, AuthorizationError>
}

/** @category models */
export interface CredentialStoreService {
  /**
   * The registrations. The key of the current registration is the issuer. The key of a replaced registration is the issuer and the client
   * id.
   */
  readonly registrations: Records<Registration>
  /** The tokens. The key is the issuer and the resource. */
  readonly tokens: Records<Tokens>
  /** The bindings. The key is the URL of the MCP server. */
  readonly bindings: Records<Binding>
  /**
   * Runs an effect that renews the tokens of an issuer and a resource. During this time, no other effect renews these tokens. This is
   * needed because many authorization servers accept a refresh token only one time, and end the login when the token arrives a second time.
   * The effect may call `exclusive` again with the same issuer and the resource "", to change the registrations of the issuer. When several
   * processes share a store and the store does not answer, `exclusive` fails and does not run the effect.
   */
  readonly exclusive: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    issuer: string,
    resource: string
  ) => Effect.Effect<A, E | AuthorizationError, R>
}

/**
 * Runs an effect. During this time, no other process runs an effect with the same name.
 *
 * @category models
 */
export type Exclusive = <A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | AuthorizationError, R>

/** @category tags */
export class CredentialStore extends Context.Tag("@effect-mcp/auth/CredentialStore")<
  CredentialStore,
  CredentialStoreService
>() {}

/**
 * Makes a credential store from a `KeyValueStore`. If several processes use the store, give an `exclusive` that works across the processes.
 * The default `exclusive` works only within this process.
 *
 * @category constructors
 */
export const make = (
  store: KeyValueStore.KeyValueStore,
  exclusive: Exclusive = (_, effect) => effect
): CredentialStoreService =>
  over({
    get: (name) => Effect.mapError(TextStore.get(store, name), (cause) => failed("read", cause)),
    set: (name, text) =>
      Effect.mapError(
        text === undefined ? store.remove(name) : store.set(name, text),
        (cause) => failed("written", cause)
      )
  }, exclusive)

/** The functions that read and write the texts of the records. `set` with `undefined` removes a text. */
interface Texts {
  readonly get: (name: string) => Effect.Effect<string | undefined, AuthorizationError>
  readonly set: (name: string, text: string | undefined) => Effect.Effect<void, AuthorizationError>
}

const over = (texts: Texts, exclusive: Exclusive): CredentialStoreService => {
  const inProcess = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return {
    registrations: records(texts, "registration", Registration),
    tokens: records(texts, "tokens", Tokens),
    bindings: records(texts, "server", Binding),
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
 * Provides a credential store that uses the `KeyValueStore` of the application.
 *
 * @category layers
 */
export const layer: Layer.Layer<CredentialStore, never, KeyValueStore.KeyValueStore> = Layer.effect(
  CredentialStore,
  Effect.map(KeyValueStore.KeyValueStore, (store) => make(store))
)

/**
 * Provides a credential store in the memory of this process. After a restart, the user has to log in again.
 *
 * @category layers
 */
export const layerMemory: Layer.Layer<CredentialStore> = Layer.provide(layer, KeyValueStore.layerMemory)

/**
 * Makes a credential store in a database that several processes share, such as the processes of one service. Each owner, such as a user,
 * has separate records. The function `database` gets the SHA-256 digest of `owner` in hexadecimal. One process renews a token, and the
 * other processes read the stored token. If the database does not answer, no process renews a token, because an authorization server may
 * accept a refresh token only one time.
 *
 * When the process that renews a token crashes, the other processes wait for 15 seconds. A process that was suspended for longer than 15
 * seconds has lost the lock. When this process then stores credentials, it fails with reason `Store`, and the newer credentials stay.
 *
 * @category constructors
 */
export const makeShared = (
  owner: string,
  database: (owner: string) => CredentialDatabase
): Effect.Effect<CredentialStoreService> =>
  // The owner is encoded as JSON. UTF-8 would replace lone surrogates, and two owners with different lone surrogates would get the same
  // digest.
  Effect.map(Sha256.hex(JSON.stringify(owner)), (digest) => {
    const shared = database(digest)
    return over({
      get: (name) => Effect.mapError(shared.read(name), (cause) => failed("read", cause)),
      set: (name, text) => write(shared, name, text)
    }, (name, effect) => RecordLock.exclusive(shared, `lock-${name}`, effect))
  })

/** The most characters of one record, as JSON. */
const MAX_SIZE = 256 * 1024

/**
 * Retries a write under a lock, because the refresh token of the old credentials may be used already. Five retries, one second apart, take
 * longer than a failover of the database.
 */
const patiently = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(5))

const write = Effect.fnUntraced(function*(database: CredentialDatabase, name: string, text: string | undefined) {
  if (text !== undefined && text.length > MAX_SIZE) {
    return yield* failure("Store", `Credentials of ${text.length} characters were not stored: the limit is ${MAX_SIZE}`)
  }
  const held = yield* EffectInternals.valueOf(RecordLock.held)
  const lock = held?.database === database ? held.lock : undefined
  const once = database.write(name, text, lock)
  const written = lock === undefined || text === undefined ? once : Effect.retry(once, patiently)
  switch (yield* Effect.mapError(written, (cause) => failed("written", cause))) {
    case "Stored":
      return
    case "LockLost":
      return yield* failure(
        "Store",
        "Credentials were not stored: this program was suspended for so long that another program has taken the lock and may have stored newer credentials"
      )
    case "Full":
      return yield* failure(
        "Store",
        "Credentials were not stored: the owner already has as many credentials as the store allows. Call `logout` to remove the credentials of one server"
      )
  }
})

const records = <A, I>(
  texts: Texts,
  kind: string,
  schema: Schema.Schema<A, I>
): Records<A> => {
  const json = Schema.parseJson(schema)
  const decode = Schema.decodeUnknownOption(json)
  const encode = Schema.encodeSync(json)
  return {
    get: (...key) =>
      Effect.map(
        Effect.flatMap(nameOf(kind, key), texts.get),
        (text) => text === undefined ? undefined : Option.getOrUndefined(decode(text))
      ),
    set: (value, ...key) =>
      Effect.flatMap(
        nameOf(kind, key),
        (name) => texts.set(name, value === undefined ? undefined : encode(value))
      )
  }
}

/**
 * Returns the name of a record. The name is a digest because issuers and resources are long and case-sensitive. A digest can be the name of
 * a file on every system.
 */
const nameOf = (kind: string, key: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(Sha256.hex(JSON.stringify(key)), (digest) => `${kind}-${digest}`)

const failed = (what: string, cause: unknown) =>
  failure("Store", `Stored credentials could not be ${what}: see the cause`, { cause })
