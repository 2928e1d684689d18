/**
 * Encrypts ("seals") the state of a request for its next round (`Questions`): the answers so far, and the open questions. The client gets
 * this text as `requestState`, and sends it back with the answers. This module encrypts and authenticates the state with AES-256-GCM, so
 * the client can neither read nor change it. HKDF derives the key from a secret of `SealKeys`. The text begins with the id of this secret.
 * The server opens the state only for the request and the principal of the earlier round, and only until the state expires.
 *
 * A client can send the same state twice. Then the handler runs again, as after a repeated call.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests#security
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { JsonObject } from "../../protocol/Json.js"
import { type InternalError, InvalidParams } from "../../protocol/McpError.js"
import type { SealKey, SealKeysService } from "../SealKeys.js"
import * as StoreFailure from "../telemetry/StoreFailure.js"
import * as Status from "./Status.js"

/** The content of the state, for the next round. */
export interface State {
  /** How many rounds of the request have ended with questions. */
  readonly rounds: number
  /** The digests of the questions that wait for an answer, by the keys of the questions. */
  readonly asked: Readonly<Record<string, string>>
  /** For each question that was answered, by its key: the digest of the question, and the answer. */
  readonly answers: Readonly<Record<string, readonly [digest: string, answer: JsonObject]>>
  /** The state of a handler that passes questions of another server on. */
  readonly passed?: string | undefined
}

export interface RequestState {
  /** Encrypts a state. `binding` identifies the request that the state belongs to. The state opens only with an equal binding. */
  readonly seal: (state: State, binding: string) => Effect.Effect<string, InternalError>
  readonly open: (sealed: string, binding: string) => Effect.Effect<State, InternalError | InvalidParams>
}

/** The greatest length of the id of a key, in characters. */
const MAX_ID = 32

/** How many derived keys this module caches. */
const MAX_DERIVED = 64

const IV_BYTES = 12
const utf8 = new TextEncoder()
const text = new TextDecoder()

/** Makes the functions that seal and open states with the keys of a server. A state expires after the time `ttl`. */
export const make = (keys: SealKeysService, ttl: Duration.DurationInput): RequestState => {
  const derived = new Map<string, Promise<CryptoKey>>()
  const logged = StoreFailure.once(KEYS)
  const now = keys.now === undefined ? Clock.currentTimeMillis : Effect.mapError(logged(keys.now), unavailable)
  const derive = ({ id, secret }: SealKey) =>
    Effect.promise(() => {
      const known = derived.get(id)
      if (known !== undefined) return known
      // Only keys that still open states have derived keys, so a client cannot fill this map.
      if (derived.size >= MAX_DERIVED) derived.clear()
      const key = deriveKey(Redacted.value(secret))
      derived.set(id, key)
      return key
    })
  return {
    seal: (state, binding) =>
      Effect.gen(function*() {
        const current = yield* Effect.mapError(logged(keys.current), unavailable)
        const key = yield* derive(current)
        const expires = (yield* now) + Duration.toMillis(ttl)
        const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
        const plain = utf8.encode(JSON.stringify({ ...state, expires }))
        const sealed = yield* Effect.promise(() => crypto.subtle.encrypt(algorithm(iv, binding), key, plain))
        const all = new Uint8Array(IV_BYTES + sealed.byteLength)
        all.set(iv)
        all.set(new Uint8Array(sealed), IV_BYTES)
        return `${current.id}.${Encoding.encodeBase64Url(all)}`
      }),
    open: (sealed, binding) =>
      Effect.gen(function*() {
        const dot = sealed.slice(0, MAX_ID + 1).indexOf(".")
        const all = yield* EffectInternals.fromEither(
          Either.mapLeft(Encoding.decodeBase64Url(sealed.slice(dot + 1)), () => invalid)
        )
        const found = dot <= 0
          ? Option.none()
          : yield* Effect.mapError(logged(keys.find(sealed.slice(0, dot))), unavailable)
        if (Option.isNone(found)) return yield* invalid
        const key = yield* derive(found.value)
        const plain = yield* Effect.tryPromise({
          try: () => crypto.subtle.decrypt(algorithm(all.slice(0, IV_BYTES), binding), key, all.slice(IV_BYTES)),
          catch: () => invalid
        })
        // The JSON may nest without a limit, because the server has already accepted the answers in the state.
        const parsed = JsonText.parse(text.decode(plain), Infinity)
        if (parsed instanceof JsonText.Refused) return yield* invalid
        // The server itself has written this JSON.
        const state = parsed as State & { readonly expires: number }
        return state.expires > (yield* now) ? state : yield* expired
      })
  }
}

const KEYS = "The store of keys for requestState"

const unavailable = (): InternalError => Status.overloaded(StoreFailure.sentence(KEYS))

const deriveKey = (secret: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", new Uint8Array(secret), "HKDF", false, ["deriveKey"]).then((key) =>
    crypto.subtle.deriveKey(
      { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8.encode("mcp requestState 1") },
      key,
      { name: "AES-GCM", length: 256 },
      false,
      ["encrypt", "decrypt"]
    )
  )

const algorithm = (iv: Uint8Array<ArrayBuffer>, binding: string): AesGcmParams => ({
  name: "AES-GCM",
  iv,
  additionalData: utf8.encode(binding)
})

const invalid = new InvalidParams({
  message: "Invalid params: requestState was not made by this server for this request and this client, or was changed"
})

const expired = new InvalidParams({ message: "Invalid params: requestState has expired; send the request without it" })
