import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import * as Definition from "@effect-mcp/core/Definition"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Version from "@effect-mcp/core/protocol/Version"
import { Registry, type RegistryService } from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Deferred, Effect, Exit, Layer, Schedule, Schema, Scope, TestClock } from "effect"
import { answering, text, tools, until } from "./Groups.js"

class Nobody extends Schema.TaggedError<Nobody>()("Nobody", { name: Schema.String }) {}

const Greet = Tool.make("greet", {
  parameters: { name: Schema.String },
  success: Schema.Struct({ text: Schema.String }),
  failure: Nobody
})
const Sign = Tool.make("sign", { success: Schema.Struct({ by: Schema.String }) })
const Readme = Resource.make("readme", { uri: "test:readme" })
const Page = ResourceTemplate.make("page")`test:page/${ResourceTemplate.param("id", Schema.NumberFromString)}`
const Review = Prompt.make("review", { arguments: { tone: Schema.Literal("kind", "strict") } })
const Contract = Definition.make(Greet, Sign, Readme, Page, Review)

const Form = Schema.Struct({ name: Schema.String })

const features = McpServer.implement(Contract, {
  greet: ({ name }) => name === "" ? new Nobody({ name }) : Effect.succeed({ text: `Hello, ${name}!` }),
  sign: () =>
    Effect.gen(function*() {
      const session = yield* ServerSession.ServerSession
      const answer = yield* session.elicit({ message: "Who signs?", schema: Form })
      return { by: answer.action === "accept" ? answer.content.name : answer.action }
    }),
  resources: { readme: Effect.succeed("Read me") },
  templates: { page: ({ id }) => Effect.succeed(`Page ${id + 1}`) },
  prompts: { review: ({ tone }) => Effect.succeed(`A ${tone} review`) }
})

/** A server of these revisions that can be changed, ended and started again; every message is checked. */
const serving = (versions: McpServer.Options["versions"]) =>
  Effect.gen(function*() {
    let dispatcher: Layer.Layer<Dispatcher> | undefined
    let scope = yield* Scope.make()
    let registry: RegistryService | undefined
    const start = Effect.gen(function*() {
      scope = yield* Scope.make()
      const registered = yield* Deferred.make<RegistryService>()
      const found = Layer.effectDiscard(Effect.flatMap(Registry, (one) => Deferred.succeed(registered, one)))
      const context = yield* Layer.buildWithScope(
        McpServer.layer({ name: "test", version: "1" }, Layer.merge(features, found), { versions }),
        scope
      )
      registry = yield* Deferred.await(registered)
      dispatcher = Layer.succeedContext(context)
    })
    yield* Scope.close(scope, Exit.void)
    yield* start
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    return {
      connector: Connector.make(
        "test",
        Effect.suspend(() =>
          Effect.flatMap(Effect.provide(TestServer.connector(), dispatcher!), ({ connect }) => connect)
        )
      ),
      register: (tool: string) =>
        Effect.suspend(() =>
          Layer.buildWithScope(answering(tool, "new"), scope).pipe(Effect.provideService(Registry, registry!))
        ),
      end: Effect.suspend(() => Scope.close(scope, Exit.void)),
      start
    }
  })

const versions = [Version.latestLegacy, Version.latestModern] as const

/** Signs as the person that the client speaks for. */
const signing = (name: string) =>
  ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { name } } as const))

const eras = [
  ["legacy", [Version.latestLegacy], Version.latestLegacy],
  ["modern", [Version.latestModern], Version.latestModern],
  ["dual", versions, Version.latestModern]
] as const

/** A group with a server of each era, and one of both. */
const mixed = Effect.gen(function*() {
  const group = yield* ClientSessionGroup.make({ nameHook: (entry, { name }) => `${name}.${entry}` })
  const servers: Record<string, Effect.Effect.Success<ReturnType<typeof serving>>> = {}
  for (const [name, spoken] of eras) {
    servers[name] = yield* serving(spoken)
    yield* group.connect(name, servers[name].connector, { versions, features: signing("Ada") })
  }
  return { group, servers }
})

const named = (...more: ReadonlyArray<string>) =>
  [...eras.flatMap(([name]) => [`${name}.greet`, `${name}.sign`]), ...more].sort()

describe("A group of servers of different eras", () => {
  it.scoped("speaks the newest revision of each, and has the entries of all", () =>
    Effect.gen(function*() {
      const { group } = yield* mixed
      assert.deepStrictEqual(
        [...yield* group.sessions].map(([name, { version }]) => [name, version]),
        eras.map(([name, , version]) => [name, version])
      )
      assert.deepStrictEqual(yield* tools(group), named())
      for (const [name] of eras) {
        assert.deepStrictEqual((yield* group.callTool(`${name}.greet`, { name })).structuredContent, {
          text: `Hello, ${name}!`
        })
      }
    }))

  it.scoped("answers the questions of all with the same features", () =>
    Effect.gen(function*() {
      const { group } = yield* mixed
      const signed = yield* Effect.forEach(eras, ([name]) => group.callTool(`${name}.sign`), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(signed.map(({ structuredContent }) => structuredContent), eras.map(() => ({ by: "Ada" })))
    }))

  it.scoped("follows the lists of all, by notifications and by subscriptions", () =>
    Effect.gen(function*() {
      const { group, servers } = yield* mixed
      const added: Array<string> = []
      for (const [name] of eras) {
        yield* servers[name]!.register(`more-${name}`)
        added.push(`${name}.more-${name}`)
        yield* until(group, named(...added))
        assert.strictEqual(text(yield* group.callTool(`${name}.more-${name}`)), "new")
      }
    }))
})

describe("A group that connects again", () => {
  for (const [name, spoken, version] of eras) {
    it.scoped(`has the entries of a ${name} server again after it has started again, and follows them`, () =>
      Effect.gen(function*() {
        const group = yield* ClientSessionGroup.make()
        const server = yield* serving(spoken)
        yield* group.connect(name, server.connector, { versions, reconnect: Schedule.spaced("1 second") })
        yield* server.end
        yield* until(group, [])
        yield* server.start
        yield* TestClock.adjust("1 second")
        yield* until(group, ["greet", "sign"])
        assert.strictEqual((yield* group.sessions).get(name)?.version, version)
        yield* server.register("more")
        yield* until(group, ["greet", "more", "sign"])
        assert.strictEqual(text(yield* group.callTool("more")), "new")
      }))
  }

  it.scoped("speaks the modern era with a server that has started again without the legacy one", () =>
    Effect.gen(function*() {
      const group = yield* ClientSessionGroup.make()
      const old = yield* serving([Version.latestLegacy])
      const updated = yield* serving([Version.latestModern])
      let server = old
      const connector = Connector.make("updated", Effect.suspend(() => server.connector.connect))
      yield* group.connect("a", connector, { versions, reconnect: Schedule.spaced("1 second") })
      server = updated
      yield* old.end
      yield* until(group, [])
      yield* TestClock.adjust("1 second")
      yield* until(group, ["greet", "sign"])
      assert.strictEqual((yield* group.sessions).get("a")?.version, Version.latestModern)
    }))
})

describe("A typed client", () => {
  for (const [name, spoken, version] of eras) {
    it.scoped(`calls what a ${name} server promises, as any other`, () =>
      Effect.gen(function*() {
        const client = yield* Client.make((yield* serving(spoken)).connector, { versions, features: signing("Ada") })
        assert.strictEqual(client.version, version)
        const typed = Client.of(client, Contract)
        assert.deepStrictEqual(yield* typed.greet({ name: "Ada" }), { text: "Hello, Ada!" })
        assert.instanceOf(yield* Effect.flip(typed.greet({ name: "" })), Nobody)
        assert.deepStrictEqual(yield* typed.sign(), { by: "Ada" })
        assert.deepInclude((yield* typed.resources.readme()).contents[0], { text: "Read me" })
        assert.deepInclude((yield* typed.templates.page({ id: 1 })).contents[0], { text: "Page 2" })
        assert.deepInclude((yield* typed.prompts.review({ tone: "kind" })).messages[0], {
          content: { type: "text", text: "A kind review" }
        })
        const refused = yield* Effect.flip(typed.prompts.review({ tone: "loud" as "kind" }))
        assert.strictEqual(refused._tag, "InvalidParams")
      }))
  }
})
