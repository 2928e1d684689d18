/**
 * An access token for the protected server, as authorization servers issue access tokens, and the public key that verifies the token. The
 * private key is part of the benchmark: the process of the client signs the token, and the process of the server verifies it.
 */
import { createPrivateKey, sign as signature } from "node:crypto"

export const RESOURCE = "https://mcp.example.com/mcp"

export const ISSUER = "https://login.example.com"

export const publicKey = {
  kty: "EC",
  crv: "P-256",
  kid: "bench",
  x: "XSxroEH-wse5Jk2iNckTLyNRBA6m5_SVUKwTlDBvQUE",
  y: "ITc6JCzPtNSb0TwSE2W939ScTIBlXov7o3wqp2OFEus"
}

const privateKey = createPrivateKey({
  key: { ...publicKey, d: "4M3dEXWNx9pTxg9D0yTLZ8GW-Kikm0n-MrcJ5XnjYwE" },
  format: "jwk"
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A token that is valid for an hour. */
export const sign = (): string => {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: ISSUER,
    aud: RESOURCE,
    sub: "0a3f4f8e-5a39-4d5e-9d5c-f0f2b6a7c1de",
    client_id: "bench",
    scope: "notes:read notes:write",
    iat: now,
    exp: now + 3600,
    jti: "8f1c2f0e-2f4b-4b52-8a11-3d3c7a6a0a55"
  }
  const text = `${encode({ alg: "ES256", typ: "at+jwt", kid: publicKey.kid })}.${encode(claims)}`
  return `${text}.${
    signature("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")
  }`
}
