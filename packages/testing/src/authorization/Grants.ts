/**
 * Issues, finds and revokes the codes, access tokens and refresh tokens of the test authorization server. When a client uses a code or a
 * rotated refresh token twice, this module revokes all tokens of the same login.
 *
 * `Endpoints` and `TokenEndpoint` read the requests.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { AccessToken, Options } from "../AuthorizationServerModel.js"
import * as BoundedMemory from "./BoundedMemory.js"
import type { Keys } from "./Keys.js"

/** The rights of a client: the user, the protected server and the scopes. */
export interface Grant extends Omit<AccessToken, "expiresAt"> {
  /** All tokens of one login share this object, so that they can be revoked together. */
  readonly family: { isRevoked: boolean }
}

export interface Code extends Grant {
  readonly challenge: string
  readonly redirectUri: string
  readonly expiresAt: number
}

interface Once<A> {
  readonly value: A
  isUsed: boolean
}

export interface Issued {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly seconds: number
}

export interface Grants {
  readonly secrets: Set<string>
  readonly addCode: (code: Omit<Code, "expiresAt">) => Effect.Effect<string>
  /**
   * Takes a code. A code can be used only one time. Returns `undefined` for a code that is unknown, expired or already used. A second use
   * revokes all tokens of the login.
   */
  readonly takeCode: (code: string) => Effect.Effect<Code | undefined>
  /** Issues an access token, and a refresh token with the rights `renewable`, which may have more scopes than the access token. */
  readonly issue: (grant: Grant, renewable?: Grant) => Effect.Effect<Issued>
  /**
   * Returns the rights of a refresh token. Returns `undefined` when the token is unknown, revoked, already used, or not for the request. A
   * second use revokes all tokens of the login.
   */
  readonly findRefreshToken: (token: string, isFor: (grant: Grant) => boolean) => Grant | undefined
  /** Marks a refresh token as used. Call this function after all checks, so that a refused request does not use up its refresh token. */
  readonly useRefreshToken: (token: string) => void
  /** Returns the claims of an access token, for a JWT and for the introspection endpoint. */
  readonly claimsOf: (token: AccessToken) => Readonly<Record<string, unknown>>
  /** Returns the rights of an access token; `undefined` when the token is not valid. */
  readonly find: (token: string) => Effect.Effect<AccessToken | undefined>
  readonly revoke: (token: string, clientId: string) => void
  readonly revokeAll: (kind: "access" | "refresh") => void
}

const CODE_LIFE = 60_000

export const make = (issuer: string, keys: Keys, options: Options): Grants => {
  const { accessTokens = "jwt", lifetime = "1 hour", refreshTokens = "rotating" } = options
  const codes = new Map<string, Once<Code>>()
  const access = new Map<string, AccessToken & Pick<Grant, "family">>()
  const refresh = new Map<string, Once<Grant>>()
  const secrets = new Set<string>()
  const keep = (secret: string): string => {
    BoundedMemory.add(secrets, secret)
    return secret
  }
  const life = Duration.toMillis(lifetime)

  const claimsOf: Grants["claimsOf"] = (token) => {
    const { actor, clientId, expiresAt, resource, scopes, subject, thumbprint } = token
    return {
      ...options.claims?.(token),
      iss: issuer,
      sub: subject,
      aud: resource,
      client_id: clientId,
      exp: Math.floor(expiresAt / 1000),
      ...(scopes.length === 0 ? undefined : { scope: scopes.join(" ") }),
      ...(actor === undefined ? undefined : { act: { sub: actor } }),
      ...(thumbprint === undefined ? undefined : { cnf: { jkt: thumbprint } })
    }
  }

  const accessToken = (grant: Grant, now: number): Effect.Effect<string> => {
    const expiresAt = now + life
    const token: AccessToken & Pick<Grant, "family"> = { ...grant, expiresAt }
    const id = crypto.randomUUID()
    const text = accessTokens === "opaque"
      ? Effect.succeed(`access-${id}`)
      : keys.sign({ ...claimsOf(publicOf(token)), iat: Math.floor(now / 1000), jti: id }, { typ: "at+jwt" })
    return Effect.tap(text, (text) => Effect.sync(() => BoundedMemory.set(access, keep(text), token)))
  }

  return {
    secrets,
    claimsOf,
    addCode: (code) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const text = keep(`code-${crypto.randomUUID()}`)
        BoundedMemory.set(codes, text, { value: { ...code, expiresAt: now + CODE_LIFE }, isUsed: false })
        return text
      }),
    takeCode: (text) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const code = codes.get(text)
        if (code === undefined) return undefined
        if (code.isUsed) code.value.family.isRevoked = true
        const isGood = !code.isUsed && code.value.expiresAt > now
        code.isUsed = true
        return isGood ? code.value : undefined
      }),
    issue: (grant, renewable) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const text = yield* accessToken(grant, now)
        const issued = { accessToken: text, seconds: life / 1000 }
        if (renewable === undefined || refreshTokens === "none") return { ...issued, refreshToken: undefined }
        const refreshToken = keep(`refresh-${crypto.randomUUID()}`)
        BoundedMemory.set(refresh, refreshToken, { value: renewable, isUsed: false })
        return { ...issued, refreshToken }
      }),
    findRefreshToken: (token, isFor) => {
      const found = refresh.get(token)
      if (found === undefined || found.value.family.isRevoked || !isFor(found.value)) return undefined
      if (found.isUsed) {
        found.value.family.isRevoked = true
        return undefined
      }
      return found.value
    },
    useRefreshToken: (token) => {
      const found = refresh.get(token)
      if (found !== undefined) found.isUsed = refreshTokens === "rotating"
    },
    find: (token) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const found = access.get(token)
        return found !== undefined && found.expiresAt > now && !found.family.isRevoked ? publicOf(found) : undefined
      }),
    revoke: (token, clientId) => {
      if (access.get(token)?.clientId === clientId) access.delete(token)
      const found = refresh.get(token)
      if (found?.value.clientId === clientId) found.value.family.isRevoked = true
    },
    revokeAll: (kind) => (kind === "access" ? access : refresh).clear()
  }
}

const publicOf = ({ family: _, ...token }: AccessToken & Pick<Grant, "family">): AccessToken => token
