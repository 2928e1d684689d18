/**
 * Behaviours of the handshake, of lists, and of reading what they list.
 */
import { assert } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError } from "@effect-mcp/core/ClientError"
import { Chunk, Effect, Stream } from "effect"
import { type Behaviour, isModern, type RecordedClient, text } from "./Behaviour.js"
import * as Contract from "./Contract.js"

const typed = (client: RecordedClient) => Effect.succeed(Client.of(client, Contract.Tools))

const inOrder = (names: Iterable<string>) => [...names].sort()

const all = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toArray)

/** All pages of a list. */
const paged = <P extends { readonly nextCursor?: string | undefined }>(
  list: (options: { readonly cursor?: string | undefined }) => Effect.Effect<P, unknown>
) =>
  Effect.gen(function*() {
    const pages: Array<P> = []
    let cursor: string | undefined
    do {
      const page: P = yield* list({ cursor })
      pages.push(page)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return pages
  })

const listing: ReadonlyArray<Behaviour> = [
  {
    name: "the handshake tells each side who the other is, and the revision",
    run: ({ client, transport }) =>
      Effect.gen(function*() {
        assert.deepInclude(client.serverInfo, { name: Contract.info.name, version: Contract.info.version })
        assert.strictEqual(client.instructions, Contract.instructions)
        assert.strictEqual(client.version, transport.version)
        assert.deepStrictEqual(yield* (yield* typed(client)).who(), {
          name: transport.sessions ? client.name : "?",
          version: transport.version,
          inSession: transport.sessions && !isModern(transport) &&
            (transport.kind === "http" || transport.kind === "sse")
        })
        yield* client.ping()
      })
  },
  {
    name: "the server MUST declare its capabilities, as the revision defines them",
    rule: "2025-11-25 basic/lifecycle#capability-negotiation",
    run: ({ client, transport }) =>
      Effect.sync(() => {
        // Without sessions the server sends nothing outside of requests, and keeps no log level.
        const features = transport.sessions
          ? {
            logging: {},
            prompts: { listChanged: true },
            resources: { listChanged: true, subscribe: true },
            tools: { listChanged: true }
          }
          : { prompts: {}, resources: {}, tools: {} }
        assert.deepStrictEqual(client.serverCapabilities, {
          ...features,
          ...(transport.version === "2024-11-05" ? undefined : { completions: {} })
        })
      })
  },
  {
    name: "the server lists tools as they were defined, sorted by name",
    since: "2025-11-25",
    run: ({ client }) =>
      Effect.gen(function*() {
        const names = inOrder(Contract.Tools.tools.keys())
        assert.deepStrictEqual(
          yield* all(client.tools),
          names.map((name) => Contract.Tools.tools.get(name)!.advertised)
        )
      })
  },
  {
    name: "the client reads lists page by page: each tool is on one page",
    run: ({ client }) =>
      Effect.gen(function*() {
        const pages = yield* paged(client.listTools)
        assert.isTrue(pages.slice(0, -1).every(({ tools }) => tools.length === Contract.PAGE))
        assert.deepStrictEqual(
          pages.flatMap(({ tools }) => tools.map(({ name }) => name)),
          inOrder(Contract.Tools.tools.keys())
        )
      })
  },
  {
    name: "the server lists resources, resource templates and prompts",
    run: ({ client }) =>
      Effect.gen(function*() {
        const uris = (yield* all(client.resources)).map(({ uri }) => uri)
        assert.deepStrictEqual(uris, inOrder(Contract.resources.map(({ uri }) => uri)))
        assert.deepStrictEqual(
          (yield* all(client.resourceTemplates)).map(({ uriTemplate }) => uriTemplate),
          ["test://items/{id}"]
        )
        const prompts = yield* all(client.prompts)
        assert.deepStrictEqual(prompts.map(({ name }) => name), inOrder(Contract.prompts.map(({ name }) => name)))
        assert.deepStrictEqual(prompts[1]!.arguments?.map(({ name, required }) => [name, required]), [
          ["name", true],
          ["tone", true]
        ])
      })
  },
  {
    name: "the server SHOULD refuse an unknown cursor with Invalid params",
    rule: "2025-11-25 server/utilities/pagination#error-handling",
    run: ({ client }) =>
      Effect.gen(function*() {
        const nowhere = { cursor: "nowhere" }
        const lists: ReadonlyArray<Effect.Effect<unknown, ClientError>> = [
          client.listTools(nowhere),
          client.listResources(nowhere),
          client.listResourceTemplates(nowhere),
          client.listPrompts(nowhere)
        ]
        for (const list of lists) assert.strictEqual((yield* Effect.flip(list))._tag, "InvalidParams")
      })
  }
]

const reading: ReadonlyArray<Behaviour> = [
  {
    name: "the client reads resources by URI, as text and as bytes",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* client.readResource(Contract.Text.uri)).contents, [
          { uri: Contract.Text.uri, mimeType: "text/plain", text: "ä€😀" }
        ])
        assert.deepStrictEqual((yield* client.readResource(Contract.Bytes.uri)).contents, [
          { uri: Contract.Bytes.uri, mimeType: "application/octet-stream", blob: "AAH+/w==" }
        ])
      })
  },
  {
    name: "the client reads a resource of a template, with its parameter decoded",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* client.readResource("test://items/42")).contents, [
          { uri: "test://items/42", mimeType: "application/json", text: "{\"id\":42}" }
        ])
      })
  },
  {
    name: "the server SHOULD answer an unknown URI with Resource not found",
    rule: "2025-11-25 server/resources#error-handling",
    run: ({ client }) =>
      Effect.gen(function*() {
        for (const uri of ["test://nowhere", "test://items/none"]) {
          assert.deepInclude((yield* Effect.flip(client.readResource(uri))) as object, {
            _tag: "ResourceNotFound",
            uri
          })
        }
      })
  },
  {
    name: "the client gets prompts, with and without arguments",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* client.getPrompt("plain")).messages, [
          { role: "user", content: text("Say something.")[0]! }
        ])
        assert.deepStrictEqual((yield* client.getPrompt("greet", { name: "Ada", tone: "formal" })).messages, [
          { role: "user", content: text("Greet Ada.")[0]! },
          { role: "assistant", content: text("In a formal way?")[0]! }
        ])
      })
  },
  {
    name: "the server SHOULD refuse an unknown prompt, and invalid arguments, with Invalid params",
    rule: "2025-11-25 server/prompts#error-handling",
    run: ({ client }) =>
      Effect.gen(function*() {
        for (
          const getting of [
            client.getPrompt("none"),
            client.getPrompt("greet", { name: "Ada" }),
            client.getPrompt("greet", { name: "Ada", tone: "rude" })
          ]
        ) {
          assert.strictEqual((yield* Effect.flip(getting))._tag, "InvalidParams")
        }
      })
  },
  {
    name: "the server completes arguments of prompts and of templates",
    run: ({ client }) =>
      Effect.gen(function*() {
        const greet = { type: "ref/prompt", name: "greet" } as const
        const tones = yield* client.complete(greet, { name: "tone", value: "f" })
        assert.deepStrictEqual(tones.values, ["formal", "friendly"])
        const item = { type: "ref/resource", uri: "test://items/{id}" } as const
        assert.deepStrictEqual((yield* client.complete(item, { name: "id", value: "12" })).values, ["12", "123"])
      })
  },
  {
    name: "the completion of an argument depends on the other arguments",
    since: "2025-06-18",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { values } = yield* client.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "A" }, {
          others: { tone: "formal" }
        })
        assert.deepStrictEqual(values, ["Aa in formal tone", "Ab in formal tone"])
      })
  }
]

export const behaviours = [...listing, ...reading]
