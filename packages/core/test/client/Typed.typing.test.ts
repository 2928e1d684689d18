import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError, ConnectError, ToolError } from "@effect-mcp/core/ClientError"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { CallOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { ClientSessionGroupService } from "@effect-mcp/core/ClientSessionGroup"
import * as Connector from "@effect-mcp/core/Connector"
import * as Definition from "@effect-mcp/core/Definition"
import type { DuplicateEntry, DuplicateServer } from "@effect-mcp/core/GroupError"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Layer, Schema, type Scope, type Stream } from "effect"
import { expectTypeOf } from "vitest"

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}

const Search = Tool.make("search", {
  parameters: {
    q: Schema.String,
    limit: Schema.optionalWith(Schema.Int, { default: () => 10 }),
    since: Schema.optional(Schema.Date)
  },
  success: Schema.Struct({ hits: Schema.Array(Schema.Date) }),
  failure: NotFound
})
const Tell = Tool.make("tell", { parameters: { what: Schema.optional(Schema.String) } })
const Now = Tool.make("now", { success: Schema.Date })
const Notes = Definition.make(Search, Tell, Now)

type NotesClient = Client.Typed<typeof Notes>
type ErrorOf<F extends (...args: Array<never>) => unknown> = ReturnType<F> extends Effect.Effect<any, infer E> ? E
  : never
type SuccessOf<F extends (...args: Array<never>) => unknown> = ReturnType<F> extends Effect.Effect<infer A, any> ? A
  : never

describe("A typed client's type", () => {
  it("takes no options in place of the arguments of a tool without parameters", () => {
    const calls = (notes: NotesClient) => [
      notes.now(),
      notes.now({}),
      notes.now({}, { timeout: "1 second" }),
      // @ts-expect-error options come after the arguments
      notes.now({ timeout: "1 second" })
    ]
    assert.isFunction(calls)
  })

  it("has the tools of the definition, and no others", () => {
    expectTypeOf<keyof NotesClient>().toEqualTypeOf<"search" | "tell" | "now">()
    const notes = (client: ClientSessionService) => [Client.of(client, Notes), Client.of(Notes)(client)] as const
    expectTypeOf(notes).returns.toEqualTypeOf<readonly [NotesClient, NotesClient]>()
    assert.isFunction(notes)
  })

  it("takes decoded arguments; those with a default and optional ones may be left out", () => {
    const calls = (notes: NotesClient) => [
      notes.search({ q: "x" }),
      notes.search({ q: "x", limit: 1, since: new Date(0) }),
      notes.search({ q: "x" }, { timeout: "1 second", onProgress: () => Effect.void, meta: { a: 1 } }),
      // @ts-expect-error an argument without a default is missing
      notes.search({}),
      // @ts-expect-error it has no arguments at all
      notes.search(),
      // @ts-expect-error not of its type
      notes.search({ q: 1 }),
      // @ts-expect-error encoded
      notes.search({ q: "x", since: "1970-01-01" }),
      // @ts-expect-error no such parameter
      notes.search({ q: "x", query: "x" })
    ]
    expectTypeOf<Parameters<NotesClient["search"]>[1]>().toEqualTypeOf<CallOptions | undefined>()
    assert.isFunction(calls)
  })

  it("needs no arguments when none is required", () => {
    const calls = (notes: NotesClient) => [notes.tell(), notes.tell({}), notes.tell({ what: "x" }), notes.now()]
    assert.isFunction(calls)
  })

  it("succeeds with the decoded success, or the whole result of a tool that declares none", () => {
    expectTypeOf<SuccessOf<NotesClient["search"]>>().toEqualTypeOf<{ readonly hits: ReadonlyArray<Date> }>()
    expectTypeOf<SuccessOf<NotesClient["now"]>>().toEqualTypeOf<Date>()
    expectTypeOf<SuccessOf<NotesClient["tell"]>>().toEqualTypeOf<Tools.CallToolResult>()
    assert.strictEqual(Now.name, "now")
  })

  it("fails with the tool's declared failure, with `ToolError`, and with the errors of any call", () => {
    expectTypeOf<ErrorOf<NotesClient["search"]>>().toEqualTypeOf<NotFound | ToolError | ClientError>()
    expectTypeOf<ErrorOf<NotesClient["tell"]>>().toEqualTypeOf<ToolError | ClientError>()
    const handled = (notes: NotesClient) =>
      notes.search({ q: "x" }).pipe(
        Effect.catchTags({
          NotFound: ({ q }) => Effect.succeed(q),
          ToolError: ({ tool }) => Effect.succeed(tool),
          InvalidParams: ({ data }) => Effect.succeed(data),
          ConnectionClosed: ({ cause }) => Effect.succeed(cause),
          RequestTimeout: ({ millis }) => Effect.succeed(millis)
        })
      )
    type Left = ReturnType<typeof handled> extends Effect.Effect<any, infer E extends { readonly _tag: string }>
      ? E["_tag"]
      : never
    expectTypeOf<"NotFound" | "ToolError" | "ConnectionClosed">().not.toExtend<Left>()
    expectTypeOf<"TransportError" | "PeerError">().toExtend<Left>()
    assert.isFunction(handled)
  })

  it("has the tools of both of two definitions that were merged", () => {
    const More = Definition.make(Tool.make("more"))
    const both = Definition.merge(Notes, More)
    expectTypeOf<keyof Client.Typed<typeof both>>().toEqualTypeOf<"search" | "tell" | "now" | "more">()
    assert.strictEqual(both.tools.size, 4)
  })
})

describe("A client's type", () => {
  class Address extends Context.Tag("Address")<Address, string>() {}
  const addressed = Connector.make("addressed", Effect.zipRight(Address, Effect.never))

  it("needs what its connector needs, and a scope", () => {
    expectTypeOf(Client.make(addressed)).toEqualTypeOf<
      Effect.Effect<ClientSessionService, ConnectError, Address | Scope.Scope>
    >()
    const layer = Client.layer(addressed)
    expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Client.Client, ConnectError, Address>>()
    assert.isObject(layer)
  })

  it("needs what its features need, except `ClientFeatures`, and fails as they do", () => {
    class Model extends Context.Tag("Model")<Model, string>() {}
    const sampling = ClientFeatures.sampling(() => Effect.flatMap(Model, () => Effect.never))
    expectTypeOf(Client.make(addressed, { features: sampling })).toEqualTypeOf<
      Effect.Effect<ClientSessionService, ConnectError, Model | Address | Scope.Scope>
    >()
    const failing = Layer.merge(sampling, Layer.fail("no model" as const))
    expectTypeOf(Client.make(addressed, { features: failing })).toEqualTypeOf<
      Effect.Effect<ClientSessionService, ConnectError | "no model", Model | Address | Scope.Scope>
    >()
    const layer = Client.layer(addressed, { features: failing })
    expectTypeOf(layer).toEqualTypeOf<Layer.Layer<Client.Client, ConnectError | "no model", Model | Address>>()
    assert.isObject(layer)
  })

  it("refuses unknown options and unknown revisions", () => {
    const made = [
      () => Client.make(addressed, { checkOutputs: false, cache: true, timeout: "1 second" }),
      // @ts-expect-error no such option
      () => Client.make(addressed, { validateOutputs: false }),
      // @ts-expect-error not of its type
      () => Client.make(addressed, { cache: "on" }),
      // @ts-expect-error no such revision
      () => Client.make(addressed, { versions: ["2024-10-07"] }),
      // @ts-expect-error at least one revision
      () => Client.make(addressed, { versions: [] })
    ]
    assert.lengthOf(made, 5)
  })

  it("in a group fails as its features do, and with the errors of the group", () => {
    const connect = (group: ClientSessionGroupService) =>
      group.connect("one", addressed, { features: Layer.fail("no model" as const) })
    expectTypeOf<ReturnType<typeof connect>>().toEqualTypeOf<
      Effect.Effect<ClientSessionService, ConnectError | DuplicateEntry | DuplicateServer | "no model", Address>
    >()
    assert.isFunction(connect)
  })

  it("has the errors of its streams", () => {
    expectTypeOf<ClientSessionService["tools"]>().toEqualTypeOf<Stream.Stream<Tools.Tool, ClientError>>()
    expectTypeOf<Stream.Stream.Error<ClientSessionService["logs"]>>().toBeNever()
    expectTypeOf<Stream.Stream.Error<ClientSessionService["notifications"]>>().toBeNever()
    assert.isFunction(Client.make)
  })
})
