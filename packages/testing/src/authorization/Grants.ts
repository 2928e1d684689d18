/**
 * What the test authorization server has issued: codes, access tokens and refresh tokens. All that comes from one login, or
 * from one request of a client, is revoked together when a code or a rotated refresh token is used twice.
 *
 * It knows nothing of requests; the endpoints do.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { AccessToken, Options } from "../AuthorizationServerOptions.js"
import type { Keys } from "./Keys.js"
import * as Newest from "./Newest.js"

/** What a client may do, for whom, and where. */
export interface Grant extends Omit<AccessToken, "expiresAt"> {
  /** Tokens of one login have one object. */
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
  /** `undefined` for a code that is unknown, expired or used; a used one revokes its tokens. */
  readonly takeCode: (code: string) => Effect.Effect<Code | undefined>
  /** With a refresh token where `renewable` says what it grants: the access token may have fewer scopes. */
  readonly issue: (grant: Grant, renewable?: Grant) => Effect.Effect<Issued>
  /** `undefined` for a refresh token that is unknown, revoked, used, or not for this request; a used one revokes its tokens. */
  readonly findRefreshToken: (token: string, isFor: (grant: Grant) => boolean) => Grant | undefined
  /** After all checks: a refused request leaves its refresh token good. */
  readonly useRefreshToken: (token: string) => void
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
    Newest.add(secrets, secret)
    return secret
  }
  const life = Duration.toMillis(lifetime)

  const accessToken = (grant: Grant, now: number): Effect.Effect<string> => {
    const expiresAt = now + life
    const token: AccessToken & Pick<Grant, "family"> = { ...grant, expiresAt }
    const id = crypto.randomUUID()
    const { actor, clientId, resource, scopes, subject, thumbprint } = grant
    const text = accessTokens === "opaque" ? Effect.succeed(`access-${id}`) : keys.sign({
      ...options.claims?.(publicOf(token)),
      iss: issuer,
      sub: subject,
      aud: resource,
      client_id: clientId,
      iat: Math.floor(now / 1000),
      exp: Math.floor(expiresAt / 1000),
      jti: id,
      ...(scopes.length === 0 ? undefined : { scope: scopes.join(" ") }),
      ...(actor === undefined ? undefined : { act: { sub: actor } }),
      ...(thumbprint === undefined ? undefined : { cnf: { jkt: thumbprint } })
    }, { typ: "at+jwt" })
    return Effect.tap(text, (text) => Effect.sync(() => Newest.set(access, keep(text), token)))
  }

  return {
    secrets,
    addCode: (code) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const text = keep(`code-${crypto.randomUUID()}`)
        Newest.set(codes, text, { value: { ...code, expiresAt: now + CODE_LIFE }, isUsed: false })
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
        Newest.set(refresh, refreshToken, { value: renewable, isUsed: false })
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
