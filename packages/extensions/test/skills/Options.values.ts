/**
 * A value for every public option of this package, as its docs describe it, without a cast. The compiler checks that it is
 * accepted, and what a layer then requires; nothing runs.
 */
import * as Client from "@effect-mcp/core/Client"
import type { Registry } from "@effect-mcp/core/Registry"
import * as SkillsClient from "@effect-mcp/extensions/SkillsClient"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import { Context, Effect, type Layer, Stream } from "effect"
import { expectTypeOf } from "vitest"

/** A new option is missing here until it has a value. */
type Every<O> = { readonly [K in keyof O]-?: Exclude<O[K], undefined> }

class Db extends Context.Tag("test/Db")<Db, { readonly find: Effect.Effect<string> }>() {}
class Audit extends Context.Tag("test/Audit")<Audit, { readonly write: Effect.Effect<void> }>() {}

const html = Effect.flatMap(Db, ({ find }) => find)

const skill = {
  description: "Refund an order",
  instructions: html,
  frontmatter: { license: "MIT" },
  files: { "forms/large.md": "Order, amount", "prices.md": html },
  maxFiles: 10,
  maxBytes: 100_000,
  maxSkills: 1
} satisfies Every<SkillsServer.Options>

const files = { prefix: "acme", maxFiles: 10, maxBytes: 100_000, maxSkills: 10 } satisfies Every<
  SkillsServer.FilesOptions
>

const directory = { ...files, dotfiles: false, maxEntries: 1000 } satisfies Every<SkillsServer.DirectoryOptions>

const served = {
  cache: { ttl: "1 minute", scope: "public" },
  pageSize: 10,
  reload: Stream.flatMap(Audit, () => Stream.never)
} satisfies Every<
  SkillsServer.LayerOptions<Audit>
>

const loaded = { maxFiles: 10, maxBytes: 100_000, maxFrontMatter: 1000, allowDynamic: true } satisfies Every<
  SkillsClient.Options
>

export const Served = SkillsServer.layer(SkillsServer.make("refunds", { ...skill, instructions: html }), served)
expectTypeOf<Layer.Layer.Context<typeof Served>>().toEqualTypeOf<Registry | Db | Audit>()

export const Empty = SkillsServer.layer(Effect.succeed([]))
expectTypeOf<Layer.Layer.Context<typeof Empty>>().toEqualTypeOf<Registry>()

export const made = [
  SkillsServer.fromDirectory("skills", directory),
  SkillsServer.fromFiles({}, files),
  SkillsServer.make("one", skill)
]

export const used = Effect.flatMap(
  Client.Client,
  (client) => SkillsClient.make(client, loaded).get("skill://one", { timeout: "10 seconds" })
)
