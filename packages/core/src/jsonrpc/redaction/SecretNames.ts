/**
 * Decides whether a name means that its value is a secret. The names are names of members, headers, environment variables, parameters of
 * URLs and options of commands. `SecretText` calls this module for texts, and `Redaction` calls it for members. A name is split into words.
 * It may be in camel case, snake case or kebab case, have spaces, or follow a path as in `db.DB_PASSWORD`.
 */

/**
 * What a name says about its value. `strong`: every value is a secret. `text`: a text is a secret, but a number is not, as in
 * `tokens: 512`. `code`: a text is a secret, and also a number that is as long as a one-time code. `query`: the value is a secret only in a
 * parameter of a URL. `none`: the value is not a secret.
 */
export type Kind = "strong" | "text" | "code" | "query" | "none"

/** Parts of words that announce a secret anywhere in a word, as in `refreshtoken` or `PGPASSWORD`. */
const PARTS =
  /token(?!i[sz])|secret(?!ar)|passw|passwd|passphrase|passcode|credential|authorization|cookie|assertion|api-?key|access-?key|private-?key|session-?id|bearer|mnemonic/

/** Whole words that announce a secret, and two words written together. */
const WORDS = new Set([
  ...[
    "pass",
    "pwd",
    "pw",
    "otp",
    "totp",
    "hotp",
    "pin",
    "cvv",
    "cvc",
    "ssn",
    "jwt",
    "jws",
    "jwe",
    "sid",
    "psk",
    "creds"
  ],
  ...["authkey", "secretkey", "signingkey", "encryptionkey", "sharedkey", "accountkey", "masterkey", "sshkey"],
  ...["connectionstring", "codeverifier", "authcode", "seedphrase", "xsrf", "csrf"]
])

const KEYS = new Set([
  ...["auth", "secret", "signing", "encryption", "shared", "account", "master", "ssh", "session", "service", "license"],
  ...[
    "subscription",
    "functions",
    "anon",
    "storage",
    "hmac",
    "aes",
    "rsa",
    "security",
    "admin",
    "client",
    "server",
    "deploy"
  ]
])

const CODES = new Set([
  ...[
    "auth",
    "verification",
    "device",
    "user",
    "mfa",
    "otp",
    "backup",
    "recovery",
    "security",
    "access",
    "login",
    "sms",
    "reset"
  ],
  ...[
    "time",
    "invite",
    "invitation",
    "pin",
    "confirmation",
    "activation",
    "pairing",
    "unlock",
    "2fa",
    "factor",
    "grant"
  ]
])

/**
 * Last words of names that describe a secret but do not have the secret as their value, such as `tokenType`, `password_policy` or
 * `authorization_endpoint`.
 */
const ABOUT = new Set([
  ...[
    "type",
    "types",
    "endpoint",
    "endpoints",
    "url",
    "uri",
    "urls",
    "methods",
    "method",
    "supported",
    "expires",
    "expiry",
    "expiration"
  ],
  ...[
    "at",
    "in",
    "ttl",
    "length",
    "count",
    "limit",
    "limits",
    "policy",
    "name",
    "names",
    "format",
    "required",
    "label",
    "description"
  ],
  ...[
    "title",
    "algorithm",
    "alg",
    "algs",
    "server",
    "servers",
    "schema",
    "usage",
    "budget",
    "location",
    "size",
    "age",
    "hint",
    "rules",
    "details"
  ]
])

/** Names of the protocol that look like names of secrets but are not. */
const PUBLIC = new Set(["progresstoken"])

/** How many characters of a name are read. The last characters are read, because the noun is at the end of a name. */
const MAX_NAME = 128

const WORD = /[A-Z\d]+(?![a-z])|[A-Z]?[a-z\d]+/g

const wordsOf = (name: string): ReadonlyArray<string> =>
  name.slice(-MAX_NAME).match(WORD)?.map((word) => word.toLowerCase()) ?? []

/** Matches every name that announces a secret. Most names do not match, so they need no further check. */
const MAY_ANNOUNCE =
  /tok|secr|pass|pw|phrase|cred|auth|cook|assert|key|sess|bear|mnem|otp|pin|cv[vc]|ssn|jw[tse]|sid|psk|connection|cod|veri|seed|srf|sig|state|ticket/i

/** Whether a text may contain a name that announces a secret. */
export const mayAnnounce = (text: string): boolean => MAY_ANNOUNCE.test(text)

/** Returns what a name says about its value. */
export const kindOf = (name: string): Kind => MAY_ANNOUNCE.test(name) ? judge(wordsOf(name)) : "none"

const judge = (words: ReadonlyArray<string>): Kind => {
  const last = words.at(-1) ?? ""
  const joined = words.join("")
  // A name may end with a number: `password2`.
  if (/^\d+$/.test(last) && words.length > 1) return judge(words.slice(0, -1))
  if (ABOUT.has(last) || PUBLIC.has(joined)) return "none"
  if (joined === "requeststate") return "strong"
  if (last === "code" || last === "codes") return codeOf(words)
  if (words.some(isSecretWord) || words.some((word, i) => i > 0 && isSecretPair(words[i - 1]!, word))) {
    return words.some((word) => word.endsWith("tokens")) ? "text" : "strong"
  }
  if (last === "auth" || last === "verifier") return "text"
  return IN_QUERIES.has(last) ? "query" : "none"
}

const IN_QUERIES = new Set(["state", "key", "sig", "signature", "ticket", "session"])

const codeOf = (words: ReadonlyArray<string>): Kind => {
  const before = words.at(-2)
  if (before === undefined) return "code"
  return CODES.has(before) || isSecretWord(before) ? "strong" : "none"
}

const isSecretWord = (word: string): boolean => {
  const bare = word.replace(/\d+$/, "")
  return PARTS.test(bare) || WORDS.has(bare) || WORDS.has(bare.replace(/s$/, ""))
}

const isSecretPair = (before: string, word: string): boolean =>
  /^keys?$/.test(word)
    ? KEYS.has(before) || /^(?:api|access|private)$/.test(before)
    : (before === "pass" && /^(?:word|phrase|code)s?$/.test(word)) ||
      (before === "session" && /^ids?$/.test(word)) ||
      (before === "connection" && word === "string") || (before === "code" && word === "verifier") ||
      (before === "seed" && word === "phrase")

/** Whether a value is a secret when its name is of this kind. */
export const hides = (kind: Kind, value: unknown): boolean => {
  switch (kind) {
    case "strong":
      return typeof value === "number" || typeof value === "bigint" || isFilled(value)
    case "text":
      return isFilled(value)
    case "code":
      return typeof value === "number" ? value >= SHORTEST_CODE : typeof value === "string" && value !== ""
    default:
      return false
  }
}

/** The smallest number that counts as a one-time code. The codes of HTTP, of JSON-RPC and of programs have fewer digits. */
const SHORTEST_CODE = 100_000

const isFilled = (value: unknown): boolean =>
  typeof value === "string"
    ? value !== ""
    : typeof value === "object" && value !== null && Object.keys(value).length > 0

/** The members of a JSON Web Key that are private. */
export const PRIVATE_KEY_MEMBERS: ReadonlySet<string> = new Set(["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
