/**
 * Behaviours of features that only some requests see, and of the middleware around them.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Behaviour, isModern, text } from "./Behaviour.js"
import * as Contract from "./Contract.js"

const show = { meta: Contract.SHOW }
const prompt = { type: "ref/prompt", name: "secret" } as const
const template = { type: "ref/resource", uri: "secret://{id}" } as const

/** What of the secret features the lists of a request have. */
const listed = ({ client }: Parameters<Behaviour["run"]>[0], options: { readonly meta?: {} }) =>
  Effect.gen(function*() {
    const found: Array<ReadonlyArray<string>> = []
    const pages = <P extends { readonly nextCursor?: string | undefined }>(
      list: (options: { readonly cursor?: string | undefined }) => Effect.Effect<P, unknown>,
      names: (page: P) => ReadonlyArray<string>
    ) =>
      Effect.gen(function*() {
        let cursor: string | undefined
        do {
          const page: P = yield* list({ ...options, cursor })
          found.push(names(page).filter((name) => name.includes("secret")))
          cursor = page.nextCursor
        } while (cursor !== undefined)
      })
    yield* pages(client.listTools, ({ tools }) => tools.map(({ name }) => name))
    yield* pages(client.listResources, ({ resources }) => resources.map(({ uri }) => uri))
    yield* pages(client.listResourceTemplates, (page) => page.resourceTemplates.map(({ uriTemplate }) => uriTemplate))
    yield* pages(client.listPrompts, ({ prompts }) => prompts.map(({ name }) => name))
    return found.flat()
  })

export const behaviours: ReadonlyArray<Behaviour> = [
  {
    name: "a request that does not see a feature finds it in no list, and cannot use it",
    run: (setting) =>
      Effect.gen(function*() {
        const { client } = setting
        assert.deepStrictEqual(yield* listed(setting, {}), [])
        const uses: ReadonlyArray<readonly [Effect.Effect<unknown, unknown>, object]> = [
          [client.callTool("secret"), { _tag: "InvalidParams", message: "Unknown tool: secret" }],
          [client.readResource("test://secret"), { _tag: "ResourceNotFound" }],
          [client.readResource("secret://1"), { _tag: "ResourceNotFound" }],
          [client.getPrompt("secret"), { _tag: "InvalidParams", message: "Unknown prompt: secret" }],
          [client.complete(template, { name: "id", value: "" }), { _tag: "InvalidParams" }],
          [client.complete(prompt, { name: "id", value: "" }), { message: "Unknown prompt: secret" }]
        ]
        for (const [use, error] of uses) assert.deepInclude((yield* Effect.flip(use)) as object, error)
      })
  },
  {
    name: "a request that sees a feature lists it, and uses it with what the middleware takes from the session",
    run: (setting) =>
      Effect.gen(function*() {
        const { client, transport } = setting
        assert.deepStrictEqual(yield* listed(setting, show), ["secret", "test://secret", "secret://{id}", "secret"])
        const name = isModern(transport) || transport.sessions ? client.name : "?"
        const by = (method: string) => `${method} by ${name}`
        assert.deepStrictEqual((yield* client.callTool("secret", {}, show)).content, text(by("tools/call")))
        for (const uri of ["test://secret", "secret://1"]) {
          const { contents: [content] } = yield* client.readResource(uri, show)
          assert.deepInclude(content as object, { uri, text: by("resources/read") })
        }
        const { messages: [message] } = yield* client.getPrompt("secret", {}, show)
        assert.deepStrictEqual(message?.content, text(by("prompts/get"))[0]!)
        const { values } = yield* client.complete(template, { name: "id", value: "" }, show)
        assert.deepStrictEqual(values, [by("completion/complete")])
      })
  }
]
