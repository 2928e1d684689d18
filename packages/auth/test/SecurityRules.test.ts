/**
 * The rules for clients of RFC 9700 (Best Current Practice for OAuth 2.0 Security) and of MCP's page of security best practices, each with
 * the tests that show it. A rule that binds authorization servers or MCP servers alone is not here.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9700
 * @see https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

/** A file below `packages`, and words of the title of a test in it. */
type Test = readonly [file: string, title: string]

interface Rule {
  /** The section of RFC 9700, or the heading of MCP's page. */
  readonly at: string
  readonly rule: string
  readonly tests: readonly [Test, ...Array<Test>]
}

const attacks = "auth/test/Authorization.attacks.test.ts"
const code = "auth/test/AuthorizationCode.test.ts"
const authorization = "auth/test/Authorization.test.ts"
const scopes = "auth/test/Authorization.scopes.test.ts"
const discovery = "auth/test/discovery/Discovery.test.ts"
const loopback = "auth/test/node/LoopbackBrowser.test.ts"
const guarded = "node/test/GuardedHttpClient.test.ts"
const real = "node/test/oauth/Attacks.test.ts"

const rules: ReadonlyArray<Rule> = [
  {
    at: "2.1, 4.11.1",
    rule: "the client is not an open redirector",
    tests: [[loopback, "MUST NOT send the browser on to an address that a request names"]]
  },
  {
    at: "2.1, 4.7",
    rule: "a response that the client has not asked for is not used (CSRF)",
    tests: [[code, "SHOULD be discarded with a forged or missing state"], [
      code,
      "SHOULD have a state that no other login has"
    ]]
  },
  {
    at: "2.1, 4.4",
    rule: "a client of several authorization servers cannot mix them up",
    tests: [
      [attacks, "cannot mix up issuers: a code of one authorization server never reaches another"],
      [code, "MUST be compared with the issuer that was recorded before the browser was opened"],
      [code, "MUST be rejected without iss when the server announces it"]
    ]
  },
  {
    at: "2.1, 4.1",
    rule: "the redirect URI is the one that was registered, and encrypted or on this machine",
    tests: [
      ["auth/test/AuthorizationServer.test.ts", "it names one redirect URI, which it has registered"],
      [code, "MUST have a redirect URI that is https, or http on this machine"]
    ]
  },
  {
    at: "2.1.1, 4.5",
    rule: "a code that was stolen or injected is of no use: PKCE, new for each login",
    tests: [
      [code, "MUST have a challenge of PKCE with S256, and the token request its verifier"],
      [code, "MUST have a challenge of PKCE that no other login has"],
      [code, "with a code that was issued for another login brings no token"],
      [real, "gets no token with a stolen code, neither before nor after the program has used it"]
    ]
  },
  {
    at: "2.1.1, 4.8",
    rule: "the client learns from metadata whether the authorization server has PKCE, and never goes on without",
    tests: [[code, "MUST NOT be made when the server's methods of PKCE are"], [
      code,
      "its own win over those of the application"
    ]]
  },
  {
    at: "2.1.2, 4.6",
    rule: "no token comes in the authorization response",
    tests: [[code, "SHOULD NOT bring a token itself: one in its address is not used"]]
  },
  {
    at: "2.2.1, 4.10.1",
    rule: "access tokens can be bound to a key of the client",
    tests: [
      ["auth/test/Dpop.test.ts", "sends each request with a new proof for its method, address and token"],
      ["node/test/oauth/Programs.test.ts", "are of no use to another program"]
    ]
  },
  {
    at: "2.2.2, 4.14",
    rule: "refresh tokens stay with their authorization server and resource, and a new one replaces the old one",
    tests: [
      [attacks, "MUST NOT get a refresh token or a secret of the other"],
      [attacks, "does not refresh tokens that are for another resource"],
      ["node/test/oauth/Login.test.ts", "goes on with each refresh token that it is given"]
    ]
  },
  {
    at: "2.3",
    rule: "a token has the privileges that are needed: a resource and few scopes",
    tests: [
      [authorization, "MUST name the resource in every authorization and token request"],
      [scopes, "SHOULD be those of the challenge, else all that the resource supports, else none"]
    ]
  },
  {
    at: "2.5",
    rule: "the client can authenticate without a shared secret",
    tests: [[
      "auth/test/ClientCredentials.test.ts",
      "proves who it is with a signature for the issuer, which is used once"
    ]]
  },
  {
    at: "2.6",
    rule: "the client configures itself by metadata that names its issuer, and by endpoints with TLS",
    tests: [
      [discovery, "MUST name the issuer exactly"],
      [discovery, "MUST NOT be used when it names an endpoint that is not https, or private"],
      [attacks, "cannot get tokens sent over http to another machine"]
    ]
  },
  {
    at: "4.2",
    rule: "the page of the response gives nothing away by its address: no links, no resources of others, no referrer",
    tests: [
      [loopback, "opens the login, and receives its response on 127.0.0.1 under a random path"],
      [loopback, "shows nothing of what a request holds"]
    ]
  },
  { at: "4.3.2", rule: "no access token is in a URL", tests: [[authorization, "MUST NOT send a token in a query"]] },
  {
    at: "4.9.1",
    rule: "a counterfeit resource server gets no token of another",
    tests: [
      [discovery, "MUST NOT be used when it is for"],
      [attacks, "cannot get the tokens of another server by naming its host in a path"],
      [real, "MUST NOT use the token that a user got for the attacker's server at another server"]
    ]
  },
  {
    at: "4.12",
    rule: "codes and secrets do not follow a redirect",
    tests: [[attacks, "cannot redirect what is posted: neither codes nor secrets follow"]]
  },
  { at: "4.16", rule: "the page of the response is in no frame", tests: [[loopback, "MUST NOT be shown in a frame"]] },
  {
    at: "Confused Deputy: state",
    rule: "a state is random and good for one login",
    tests: [["auth/test/AuthorizationServer.test.ts", "MUST have a state that is random, and good for one login"]]
  },
  {
    at: "Server-Side Request Forgery",
    rule: "no request goes to a private address that a server names: neither at once, nor by a redirect, nor by DNS",
    tests: [
      [discovery, "SHOULD NOT be looked for at a private address"],
      [discovery, "SHOULD NOT be followed to another origin, a private address or another scheme"],
      [attacks, "cannot get a code sent to a private address, unless the program lists its host"],
      [guarded, "does not connect to a public name that resolves to"],
      [
        guarded,
        "connects to the address that it has checked, and checks each connection: a name that changes is refused"
      ],
      [guarded, "checks where each redirect leads, for who follows redirects"]
    ]
  },
  {
    at: "Authorization URLs",
    rule: "the browser opens http and https alone, without a shell",
    tests: [
      [loopback, "MUST be refused when it is neither http nor https"],
      [loopback, "MUST NOT use a shell: the program is given the URL as one argument"]
    ]
  },
  {
    at: "Local Server Compromise",
    rule: "a server of a file of somebody else runs when the user has seen its command and agrees, with few variables",
    tests: [
      ["cli/test/Files.test.ts", "runs when the user agrees at a terminal, who is asked once for its content"],
      ["cli/test/Files.test.ts", "does not run when the user says no, or ends the question"],
      ["node/test/StdioClient.test.ts", "passes the listed variables and the given ones to the server, and no others"]
    ]
  },
  {
    at: "Scope Minimization",
    rule: "more scopes are requested when an operation needs them, and not without end",
    tests: [
      [scopes, "SHOULD be sent again after a login with the scopes of before and those that are missing"],
      [scopes, "SHOULD NOT lead to more than three logins, whatever the server asks for"],
      [scopes, "requests a bounded number of scopes"]
    ]
  },
  {
    at: "Secrets",
    rule: "tokens are in no log, error or span, and no other user of the machine can read them",
    tests: [
      [attacks, "cannot find secrets in logs, errors or spans"],
      ["auth/test/node/CredentialDirectory.test.ts", "are readable by the user only"]
    ]
  }
]

const packages = new URL("../../", import.meta.url)

/** The titles of tests, as the sources have them. */
const titles = (file: string): ReadonlyArray<string> =>
  [...readFileSync(new URL(file, packages), "utf8").matchAll(/\bit(?:\.\w+)?\(\s*(["`])(.*?)\1/g)].map(([, , title]) =>
    title!
  )

describe("The security rules for clients", () => {
  for (const { at, rule, tests } of rules) {
    it(`${at}: ${rule}: each has its tests`, () => {
      for (const [file, title] of tests) {
        assert.lengthOf(titles(file).filter((one) => one.includes(title)), 1, `${file}: "${title}"`)
      }
    })
  }
})
