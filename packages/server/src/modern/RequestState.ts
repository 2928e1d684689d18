/**
 * Seals what a server must know in the next round of a request into `requestState`, which the client returns: the answers so
 * far, and which questions wait. It is encrypted and authenticated (AES-256-GCM, with a key that HKDF derives from each
 * secret), so a client can neither read nor change it. It opens only for the request and the principal that it was sealed for, until it expires.
 *
 * It does not prevent that a client sends one state twice: a handler must act as it would for a repeated call.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip-requests#security
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import type { RoundOptions } from "../RoundOptions.js"

/** What the next round needs. */
export interface State {
  /** How many rounds have ended with questions. */
  readonly rounds: number
  /** The digests of the questions that wait for an answer, by key. */
  readonly asked: Readonly<Record<string, string>>
  /** The digest of each answered question, and the answer, by key. */
  readonly answers: Readonly<Record<string, readonly [digest: string, answer: JsonObject]>>
}

export interface RequestState {
  /** `binding` names what the state belongs to: it opens with an equal binding only. */
  readonly seal: (state: State, binding: string) => Effect.Effect<string>
  readonly open: (sealed: string, binding: string) => Effect.Effect<State, InvalidParams>
}

/** The least length of a secret, in bytes. */
export const MIN_SECRET = 32

const IV_BYTES = 12
const utf8 = new TextEncoder()
const text = new TextDecoder()

/** Dies when a secret is too short. */
export const make = (options: RoundOptions = {}): RequestState => {
  const secrets = options.secrets?.map(bytesOf) ?? [crypto.getRandomValues(new Uint8Array(MIN_SECRET))]
  const ttl = Duration.toMillis(options.ttl ?? "10 minutes")
  let derived: Promise<ReadonlyArray<CryptoKey>> | undefined
  const keys = Effect.promise(() => derived ??= Promise.all(secrets.map(derive)))
  return {
    seal: (state, binding) =>
      Effect.flatMap(Effect.zip(keys, Clock.currentTimeMillis), ([[key], now]) =>
        Effect.promise(() => {
          const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
          const plain = utf8.encode(JSON.stringify({ ...state, expires: now + ttl }))
          return crypto.subtle.encrypt(algorithm(iv, binding), key!, plain).then((sealed) => {
            const all = new Uint8Array(IV_BYTES + sealed.byteLength)
            all.set(iv)
            all.set(new Uint8Array(sealed), IV_BYTES)
            return Encoding.encodeBase64Url(all)
          })
        })),
    open: (sealed, binding) =>
      Effect.gen(function*() {
        const all = yield* Either.mapLeft(Encoding.decodeBase64Url(sealed), () => invalid)
        const iv = all.slice(0, IV_BYTES)
        const plain = yield* Effect.firstSuccessOf((yield* keys).map((key) =>
          Effect.tryPromise({
            try: () => crypto.subtle.decrypt(algorithm(iv, binding), key, all.slice(IV_BYTES)),
            catch: () => invalid
          })
        ))
        // The server wrote it.
        const state = Json.parse(text.decode(plain)) as State & { readonly expires: number }
        return state.expires > (yield* Clock.currentTimeMillis) ? state : yield* expired
      })
  }
}

const bytesOf = (secret: Redacted.Redacted<string | Uint8Array>): Uint8Array<ArrayBuffer> => {
  const value = Redacted.value(secret)
  const bytes = typeof value === "string" ? utf8.encode(value) : new Uint8Array(value)
  if (bytes.length < MIN_SECRET) {
    throw new Error(`A secret of "rounds" has ${bytes.length} bytes; it needs at least ${MIN_SECRET}`)
  }
  return bytes
}

const derive = (secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]).then((key) =>
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
