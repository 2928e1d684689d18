/** Programs without a browser that log in with the device grant at a real authorization server, `oidc-provider`. */
import { assert, describe, it } from "@effect/vitest"
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import * as DeviceAuthorization from "@effect-mcp/auth/DeviceAuthorization"
import { Effect } from "effect"
import * as Program from "./Program.js"
import * as Protected from "./Protected.js"
import * as Provider from "./Provider.js"
import * as Visitor from "./Visitor.js"

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"

const television = {
  client_id: "television",
  token_endpoint_auth_method: "none",
  grant_types: [GRANT_TYPE, "refresh_token"],
  response_types: [],
  redirect_uris: []
}

/** A program whose user does `onPrompt` with what the program shows. The program asks for tokens 50 times as often as it should. */
const make = (
  onPrompt: (
    prompt: DeviceAuthorization.Prompt,
    provider: Provider.Provider,
    prompts: ReadonlyArray<DeviceAuthorization.Prompt>
  ) => Effect.Effect<void>,
  settings: Partial<Provider.Settings> = {}
) =>
  Effect.gen(function*() {
    const provider = yield* Provider.make({ deviceCodeLife: 600, clients: [television], ...settings })
    const server = yield* Protected.make(provider)
    const prompts: Array<DeviceAuthorization.Prompt> = []
    const grant = DeviceAuthorization.make({
      preRegistered: [{ issuer: provider.issuer, clientId: television.client_id }],
      show: (prompt) =>
        Effect.suspend(() => {
          prompts.push(prompt)
          return onPrompt(prompt, provider, prompts)
        })
    })
    const program = yield* Program.make({ grant, pace: 50 })
    return { prompts, provider, server, program, login: program.provide(program.authorization.login(server.url)) }
  })

describe("A program on a machine without a browser", () => {
  for (const isComplete of [false, true]) {
    const page = isComplete ? "the address that has the code in it" : "the page where the code is typed"
    it.scopedLive(`waits until the user has logged in at ${page}, is served, and refreshes`, () =>
      Effect.gen(function*() {
        const visitor = Visitor.make()
        const { login, program, prompts, provider, server } = yield* make((prompt, provider) =>
          // Some requests for tokens are answered with authorization_pending.
          Effect.zipRight(
            Effect.repeat(Effect.sleep("20 millis"), { until: () => provider.count("POST /token") > 1 }),
            visitor.enter(isComplete ? prompt.verificationUriComplete! : prompt.verificationUri, prompt.userCode)
          )
        )
        yield* login
        const [prompt] = prompts
        assert.deepInclude(prompt, { server: server.url, host: new URL(provider.issuer).host })
        const client = yield* program.connect(server.url)
        assert.deepInclude(yield* Protected.whoami(client), {
          name: "ada",
          clientId: "television",
          scopes: ["notes:read"]
        })
        const before = provider.count("POST /token")
        yield* program.advance(3600)
        assert.deepInclude(yield* program.provide(Protected.whoami(client)), { name: "ada" })
        assert.strictEqual(provider.count("POST /token"), before + 1)
        assert.lengthOf(prompts, 1)
      }))
  }

  it.scopedLive("fails with what the authorization server says when the user refuses", () =>
    Effect.gen(function*() {
      const visitor = Visitor.make({ consents: false })
      const { login } = yield* make(({ userCode, verificationUri }) => visitor.enter(verificationUri, userCode))
      const error = yield* Effect.flip(login)
      assert.instanceOf(error, AuthorizationError)
      assert.deepInclude(error, { reason: "Denied", error: "access_denied" })
    }))

  it.scopedLive("fails when the code has expired, and shows another code at the next login", () =>
    Effect.gen(function*() {
      const visitor = Visitor.make()
      const { login, prompts } = yield* make(
        ({ userCode, verificationUri }, _, { length }) =>
          length > 1 ? visitor.enter(verificationUri, userCode) : Effect.void,
        { deviceCodeLife: 9 }
      )
      const error = yield* Effect.flip(login)
      assert.deepInclude(error, { reason: "Browser", error: "expired_token" })
      yield* login
      assert.strictEqual(new Set(prompts.map(({ userCode }) => userCode)).size, 2)
    }))
})
