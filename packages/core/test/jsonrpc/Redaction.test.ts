import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "@effect-mcp/core/Redaction"
import * as FastCheck from "effect/FastCheck"
import * as MessageParts from "../protocol/MessageParts.js"

type Json = Record<string, unknown>

/** Ways to put a secret into a message: members of an object. */
const members: ReadonlyArray<(secret: string) => Json> = [
  ...[
    ...[
      "password",
      "token",
      "client_secret",
      "id_token",
      "refreshToken",
      "access-token",
      "code",
      "code_verifier",
      "otp",
      "DB_PASSWORD"
    ],
    ...[
      "x-api-key",
      "apiKey",
      "API Key",
      "APIKEY",
      "sessionId",
      "mcp-session-id",
      "Set-Cookie",
      "passphrase",
      "privateKey",
      "requestState"
    ],
    ...[
      "secretAccessKey",
      "PGPASSWORD",
      "password2",
      "db.pass",
      "user_pwd",
      "Proxy-Authorization",
      "authCode",
      "recovery_codes",
      "jwt"
    ],
    ...[
      "clientAssertion",
      "connectionString",
      "com.example/token",
      "newPassword",
      "bearerToken",
      "oauth_token_secret",
      "auth"
    ]
  ].flatMap((name) => [
    (secret: string) => ({ [name]: secret }),
    (secret: string) => name === "code" ? { [name]: secret } : ({ [name]: [secret] }),
    (secret: string) => name === "code" ? { [name]: secret } : ({ [name]: { a: { [secret]: 1 } } })
  ]),
  (secret) => ({ headers: [{ name: "Authorization", value: secret }] }),
  (secret) => ({ headers: [{ value: secret, key: "X-Api-Key" }] }),
  (secret) => ({ name: "password", value: secret }),
  (secret) => ({ headers: [["accept", "a"], ["Authorization", secret]] }),
  (secret) => ({ rawHeaders: ["Accept", "a", "Cookie", secret] }),
  (secret) => ({ args: ["-y", "server", "--api-key", secret] }),
  (secret) => ({ key: { kty: "EC", crv: "P-256", x: "a", d: secret } }),
  (secret) => ({ inputSchema: { type: "object", properties: { password: { type: "string", default: secret } } } }),
  (secret) => ({ outputSchema: { properties: { tokens: { items: { examples: [secret] } } } } }),
  (secret) => ({ requestedSchema: { properties: { a: { type: "string", writeOnly: true, default: secret } } } }),
  (secret) => ({ properties: { pin: { anyOf: [{ const: secret }, { enum: [secret] }] } } }),
  (secret) => ({ inputSchema: { properties: { a: { default: { password: secret } }, password: secret } } }),
  (secret) => ({ inputSchema: { properties: { password: { type: "string", note: secret } } } })
]

/** Ways to put a secret without special characters into a text. */
const texts: ReadonlyArray<(secret: string) => string> = [
  (secret) => `DB_PASSWORD=${secret}`,
  (secret) => `A=1\nexport API_TOKEN="${secret}"\nB=2`,
  (secret) => `docker run -e DB_PASSWORD=${secret} x`,
  (secret) => `the password is set. Password: ${secret}`,
  (secret) => `api key = ${secret}, region = eu`,
  (secret) => `password:\n${secret}`,
  (secret) => `token: >-\n  ${secret}\nb: 1`,
  (secret) => `Authorization: Bearer ${secret}, please`,
  (secret) => `authorization: ${secret}`,
  (secret) => `curl -H "Cookie: a=b; session=${secret}; c=d" https://a`,
  (secret) => `bearer ${secret} was refused`,
  (secret) => `Basic ${secret}==`,
  (secret) => `see https://ada:${secret}@example.com/a?b=c`,
  (secret) => `postgres://ada:pw/${secret}@db/x`,
  (secret) => `https://${secret}@example.com`,
  (secret) => `https://a/?b=1&code=${secret}#c`,
  (secret) => `https://a/#access_token=${secret}&x=1`,
  (secret) => `https://a/?key=${secret}`,
  (secret) => `https://a/?X-Amz-Signature=${secret}`,
  (secret) => `https://a/?to=https%3A%2F%2Fb%3Fcode%3D${secret}%26x%3D1`,
  (secret) => `grant_type=x&client_secret=${secret}&a=b`,
  (secret) => `run --password ${secret} --verbose`,
  (secret) => `run --token=${secret}`,
  (secret) => `curl -u ada:${secret} https://a`,
  (secret) => `<password>${secret}</password>`,
  (secret) => `Result: {"a": 1, "password": "${secret}"}`,
  (secret) => `{\\"token\\":\\"${secret}\\"}`,
  (secret) => `{'token': '${secret}'`,
  (secret) => `{"password":"${secret}","password":""}`,
  (secret) => `{"name":"authorization","value":"${secret}"`,
  (secret) => `{"value":"${secret}","name":"authorization"`,
  (secret) => `["authorization","${secret}"`,
  (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
  (secret) => `eyJhbGciOiJub25lIn0.${secret}.${secret}`,
  (secret) => `ghp_abcdefghijklmnop${secret}`
]

const SPECIAL = ["", "\"", "\\", "\n", "{}", "}", "]", "'", " ", "ü", "&", ",", "<", "\\\"", "\t", ":", "="]

interface Planted {
  readonly message: Json
  readonly secret: string
}

const objectsOf = (value: unknown): ReadonlyArray<Json> =>
  Array.isArray(value)
    ? value.flatMap(objectsOf)
    : typeof value === "object" && value !== null
    ? [value as Json, ...Object.values(value).flatMap(objectsOf)]
    : []

/** A message of the protocol into which a secret was put, at a random place and in a random way. */
const planted = (part: MessageParts.MessagePart): FastCheck.Arbitrary<Planted> =>
  FastCheck.tuple(
    MessageParts.arbitrary(part.schema),
    FastCheck.nat(),
    FastCheck.nat(members.length + texts.length - 1),
    FastCheck.constantFrom(...SPECIAL),
    FastCheck.nat(2)
  ).map(([value, place, way, special, nesting]) => {
    const body = MessageParts.throughJson(value ?? {}) as Json
    const objects = objectsOf(body)
    const target = objects[place % objects.length]!
    const write = members[way]
    const secret = write === undefined ? "zqFirstQz8zqSecondQz" : `zqFirstQz${special}zqSecondQz`
    const put = write === undefined ? { note: texts[way - members.length]!(secret) } : write(secret)
    const text = (value: unknown, levels: number): unknown =>
      levels === 0 ? value : text({ text: JSON.stringify(value, undefined, levels) }, levels - 1)
    Object.assign(target, text(put, nesting))
    return {
      message: part.part === "params"
        ? { jsonrpc: "2.0", id: 1, method: part.method.name, params: body }
        : { jsonrpc: "2.0", id: 1, result: body },
      secret
    }
  })

/** Nobody can know that the value is a secret before its name comes. */
const namesLast = (json: string): boolean => json.includes("writeOnly") || /\{(?:\\n|\W)*value\W*zq/.test(json)

const isShown = (shown: string): boolean => /zqFirst|zqSecond/.test(shown)

const parts = [
  ...MessageParts.modern,
  ...MessageParts.questions,
  ...MessageParts.legacy.filter((part) => part.version === "2025-11-25")
]

describe("Redaction", () => {
  for (const part of parts) {
    it(`hides a secret at any place of ${part.title}, and in the text of a broken one`, () => {
      FastCheck.assert(
        FastCheck.property(planted(part), FastCheck.double({ min: 0, max: 1, noNaN: true }), ({ message }, cut) => {
          const json = JSON.stringify(message)
          const shown = JSON.stringify(Redaction.value(message))
          assert.isFalse(isShown(shown), `${json} is shown as ${shown}`)
          assert.isFalse(isShown(Redaction.text(json)), `${json} is shown as ${Redaction.text(json)}`)
          if (namesLast(json)) return
          const end = json.indexOf("zqFirst")
          const broken = json.slice(0, end + Math.ceil(cut * (json.length - end)) - 1)
          assert.isFalse(isShown(Redaction.text(broken)), `${broken} is shown as ${Redaction.text(broken)}`)
          // What is shown has no secret left to find.
          assert.deepStrictEqual(Redaction.value(JSON.parse(shown)), JSON.parse(shown))
        }),
        { numRuns: 60, seed: MessageParts.seed }
      )
    })
  }

  for (const write of texts) {
    it(`hides the secret of the text ${JSON.stringify(write("…"))}`, () => {
      const shown = Redaction.text(write("zqFirstQz8zqSecondQz"))
      assert.isFalse(isShown(shown), shown)
    })
  }
})

/** What a reader of a trace needs, and what looks like a secret. */
const readable: ReadonlyArray<unknown> = [
  {
    name: "login",
    inputSchema: {
      type: "object",
      required: ["password", "name"],
      properties: {
        password: {
          type: "string",
          minLength: 8,
          format: "password",
          description: "The password of the user",
          pattern: "^.+$"
        },
        token: { anyOf: [{ type: "string" }, { type: "null" }], title: "A token" },
        name: { type: "string", default: "ada", examples: ["ada", "bob"] }
      },
      $defs: { secret: { type: "string", writeOnly: true } }
    }
  },
  { error: { code: -32601, message: "Method not found: tools/call", data: { code: 404, status: "code" } } },
  {
    _meta: { progressToken: "t-1" },
    maxTokens: 512,
    usage: { input_tokens: 3 },
    tokenType: "Bearer",
    hasPassword: true
  },
  {
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint: "https://a/token",
    scopes: ["password", "b"]
  },
  { prompts: [{ name: "password", description: "what is asked", required: true }] },
  { text: "Bearer tokens are sent in a header. See https://example.com:8080/@ada and mail ada@example.com, at 12:30." },
  { text: "the answer is {\"a\": 1.0, \"b\": [2]}", json: "{ \"a\": 1.50,\n \"b\": [true] }" },
  { "www-authenticate": "Bearer realm=\"mcp\", error=\"invalid_request\"", uri: "file:///a/b?page=2#top" },
  {
    keyboard: "qwerty",
    passed: "yes",
    secretary: "ada",
    tokenizer: "bpe",
    monkey: "b",
    state: "open",
    key: "a",
    encoding: "utf-8"
  },
  { password: "", token: null, otp: false, credentials: {} },
  { capabilities: { extensions: { "com.example/tokens": {} } }, cursor: "eyJ", id: "token-1" }
]

describe("Redaction keeps readable", () => {
  for (const value of readable) {
    it(JSON.stringify(value).slice(0, 80), () => {
      assert.deepStrictEqual(Redaction.value(value), value)
      const text = JSON.stringify({ content: [{ type: "text", text: JSON.stringify(value, undefined, 2) }] })
      assert.strictEqual(Redaction.text(text), text)
    })
  }
})

const deep = (levels: number): unknown => {
  let value: unknown = { password: "zqFirst" }
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { properties: { a: value }, text: "b" }
  return value
}

/** Texts for which a careless pattern takes the square of their length. */
const costly: ReadonlyArray<string> = [
  ...[
    "eyJ-",
    "eyJ.eyJ.",
    "?code",
    "&token",
    "bearer ",
    "bearer\t\t",
    "-----BEGIN PRIVATE KEY-----",
    "--token ",
    "-u a:"
  ],
  ...[
    "//a:b@",
    "//a:",
    "//",
    "token:",
    "token=",
    "token='",
    "\"token\":{",
    "\"token\":[\"",
    "<token>",
    "<a ",
    "a:",
    "a=",
    ":",
    "=",
    ",",
    "\\"
  ],
  ...[
    "\"name\":\"token\",\"value\":",
    "\"value\":\"a\",",
    "[\"",
    "password: |\n",
    "%3D",
    "a b ",
    "\\\"token\\\":\\\"",
    "{\"kty\":\"a\",\"d\":\"",
    "\n",
    " "
  ]
]

describe("Redaction takes bounded time", () => {
  for (const part of costly) {
    it(`for a text of ${JSON.stringify(part)}`, () => {
      const begin = process.cpuUsage()
      Redaction.text(part.repeat(Math.ceil(400_000 / part.length)))
      Redaction.value({ text: `{${JSON.stringify(part.repeat(200_000 / part.length))}` })
      assert.isBelow(process.cpuUsage(begin).user, 2_000_000)
    })
  }

  it("for slashes that double before each quote", () => {
    let text = "zqFirst"
    for (let i = 0; i < 12; i++) text = JSON.stringify({ token: text })
    assert.isFalse(isShown(Redaction.text(text)))
    assert.isFalse(isShown(Redaction.text(`x${text}`)))
    const slashes = Array.from({ length: 1500 }, (_, i) => `token:${"\\".repeat(1500 - i)}"`).join("")
    const begin = process.cpuUsage()
    Redaction.text(slashes)
    assert.isBelow(process.cpuUsage(begin).user, 2_000_000)
  })

  for (const levels of [100, 500, 20_000]) {
    it(`for a message with ${levels} levels, and hides its secret`, () => {
      assert.isFalse(isShown(JSON.stringify(Redaction.value(deep(levels)))))
      const brackets = levels > 500 ? `${"[".repeat(levels)}"password":"zqFirst"` : JSON.stringify(deep(levels))
      assert.isFalse(isShown(Redaction.text(brackets)))
    })
  }

  it("for a message with 200,000 values", () => {
    const begin = process.cpuUsage()
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`name${i}`, `a=${i}`]))
    Redaction.value({ many, list: Array.from({ length: 140_000 }, () => "token") })
    assert.isBelow(process.cpuUsage(begin).user, 5_000_000)
  })

  it("for many names that are secrets, each of which stays a member", () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`password=${i}zqFirst`, i]))
    const shown = Redaction.value(many) as object
    assert.isFalse(isShown(JSON.stringify(shown)))
    assert.lengthOf(Object.keys(shown), 1000)
  })
})
