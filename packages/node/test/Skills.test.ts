/**
 * Skills from directories of the disk, hostile ones among them, and from end to end over every transport.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { Connector } from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as HttpEndpoint from "@effect-mcp/core/HttpEndpoint"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Remote from "@effect-mcp/core/Remote"
import * as SkillsClient from "@effect-mcp/extensions/SkillsClient"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as PlatformHttpServer from "@effect-mcp/node/PlatformHttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect, Exit, FastCheck as fc, Layer, Logger, Option, Queue, Schedule, type Scope, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { bundled, node } from "./Fixture.js"
import { info } from "./HttpFixture.js"

type Tree = Readonly<Record<string, string | Uint8Array>>

/** A directory with these files, until the scope closes. */
const directory = (files: Tree) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = mkdtempSync(join(tmpdir(), "skills-"))
      write(path, files)
      return path
    }),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )

const write = (path: string, files: Tree): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
}

const markdown = (name: string, body = "Read on.") => `---\nname: ${name}\ndescription: Does ${name}\n---\n\n${body}\n`

const tree: Tree = {
  "README.md": "of the directory",
  "acme/refunds/SKILL.md": markdown("refunds"),
  "acme/refunds/forms/large order.md": "# \ufeffÜ\r\n",
  "acme/refunds/.secret": "hidden",
  "acme/refunds/.git/config": "hidden",
  "acme/refunds/.gitignore": "hidden",
  "pdf/SKILL.md": `\ufeff${markdown("pdf").replaceAll("\n", "\r\n")}`,
  "pdf/logo.png": Uint8Array.of(0x89, 0x50, 0xff)
}

const uris = (skills: ReadonlyArray<{ readonly files: ReadonlyArray<{ readonly uri: string }> }>) =>
  skills.map(({ files }) => files.map(({ uri }) => uri))

const refused = (path: string, options?: SkillsServer.DirectoryOptions) =>
  Effect.map(Effect.flip(SkillsServer.fromDirectory(path, options)), ({ message }) => message.replaceAll(path, ""))

/** What the log says of the only skill in a directory, which is left out. */
const left = (path: string, options?: SkillsServer.DirectoryOptions) =>
  Effect.suspend(() => {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(String(message).replaceAll(path, "")))
    return SkillsServer.fromDirectory(path, options).pipe(
      Effect.map((skills) => {
        assert.deepStrictEqual(uris(skills), [])
        return logged.join()
      }),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  })

describe("The skills in a directory", () => {
  it.scoped("are its directories with a SKILL.md, without names that begin with a dot", () =>
    Effect.gen(function*() {
      const path = yield* directory(tree)
      mkdirSync(join(path, "pdf/empty/inner"), { recursive: true })
      const skills = yield* SkillsServer.fromDirectory(path)
      assert.deepStrictEqual(uris(skills), [
        ["skill://acme/refunds/SKILL.md", "skill://acme/refunds/forms/large%20order.md"],
        ["skill://pdf/SKILL.md", "skill://pdf/logo.png"]
      ])
      assert.deepStrictEqual(skills[1]?.emptyDirectories, ["skill://pdf/empty", "skill://pdf/empty/inner"])
      const all = yield* SkillsServer.fromDirectory(path, { dotfiles: true, prefix: "team" })
      assert.include(uris(all)[0], "skill://team/acme/refunds/.gitignore")
      assert.notInclude(String(uris(all)), ".git/")
      assert.deepStrictEqual(uris(yield* SkillsServer.fromDirectory(join(path, "pdf"))), uris(skills).slice(1))
      assert.deepStrictEqual(yield* SkillsServer.fromDirectory(join(path, "pdf/empty")), [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("MUST NOT contain what links lead to, out of it or in circles, nor special files", () =>
    Effect.gen(function*() {
      const outside = yield* directory({ "secret.txt": "secret", "evil/SKILL.md": markdown("evil") })
      const path = yield* directory(tree)
      symlinkSync(join(outside, "secret.txt"), join(path, "pdf/secret.txt"))
      symlinkSync(join(outside, "evil"), join(path, "evil"))
      symlinkSync("../..", join(path, "acme/refunds/circle"))
      symlinkSync("nowhere", join(path, "pdf/broken"))
      execFileSync("mkfifo", [join(path, "pdf/pipe")])
      const warned: Array<string> = []
      const logger = Logger.make(({ message }) => void warned.push(String(message).replaceAll(path, "")))
      const skills = yield* Effect.provide(
        SkillsServer.fromDirectory(path),
        Logger.replace(Logger.defaultLogger, logger)
      )
      assert.deepStrictEqual(uris(skills).flat().length, 4)
      assert.deepStrictEqual(warned.sort(), [
        "/acme/refunds/circle is a link: it is not served with the skills",
        "/evil is a link: it is not served with the skills",
        "/pdf/broken is a link: it is not served with the skills",
        "/pdf/pipe is not a file: it is not served with the skills",
        "/pdf/secret.txt is a link: it is not served with the skills"
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("are left out with the file, and the line, where they break a rule", () =>
    Effect.gen(function*() {
      const path = yield* directory({ "a/SKILL.md": markdown("b"), "a/x/y/z": "", "a/large": "x".repeat(100) })
      assert.include(yield* left(path), "/a/SKILL.md:2: the name is \"b\", but the directory of the skill is \"a\"")
      write(path, { "a/SKILL.md": markdown("a") })
      assert.include(yield* left(path, { maxFiles: 2 }), "the skill has more than 2 files")
      assert.include(yield* left(path, { maxBytes: 99 }), "/a/large: the file has more than 99 bytes")
      assert.include(yield* left(path, { maxBytes: 120 }), "a: the skill has more than 120 bytes")
      assert.include(yield* refused(path, { maxEntries: 3 }), "the directory has more than 3 entries")
      assert.include(yield* refused(path, { maxSkills: 0 }), "there are 1 skills, more than 0")
      assert.include(yield* refused(join(path, "missing")), "it cannot be read: NotFound")
      mkdirSync(join(path, Array.from({ length: 40 }, () => "d").join("/")), { recursive: true })
      assert.include(yield* refused(path), "directories are nested deeper than 32")
      const root = yield* directory({ "SKILL.md": markdown("other") })
      assert.include(yield* left(root), "/SKILL.md:2: the name is \"other\"")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("are served as they are, or not at all, whatever is in the directory", () =>
    Effect.gen(function*() {
      const name = fc.oneof(
        fc.constantFrom("SKILL.md", "a", "b", "a-b", ".x", "ä", "a b", "a%2e", "~", "skill.MD"),
        fc.string({ maxLength: 8 }).filter((name) => !/[/\0]/.test(name) && !["", ".", ".."].includes(name))
      )
      const content = fc.oneof(
        fc.constantFrom("a", "b", "a-b").map((name) => markdown(name)),
        fc.string(),
        fc.uint8Array({ maxLength: 64 }),
        fc.string().map((yaml) => `---\n${yaml}\n---\n`)
      )
      const files = fc.array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 4 }), content), { maxLength: 12 })
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(files, (files) =>
            Effect.runPromise(
              Effect.gen(function*() {
                const path = yield* directory({})
                for (const [names, content] of files) {
                  // Names may be files already.
                  yield* Effect.ignore(Effect.try(() => write(path, { [names.join("/")]: content })))
                }
                const exit = yield* Effect.exit(SkillsServer.fromDirectory(path))
                if (Exit.isFailure(exit)) return assert.strictEqual(exit.cause._tag, "Fail")
                for (const { files, frontmatter, uri } of exit.value) {
                  assert.isTrue(uri.endsWith(`/${frontmatter.name}/SKILL.md`))
                  for (const file of files) {
                    assert.isTrue(file.uri.startsWith(uri.slice(0, -"SKILL.md".length)))
                    assert.strictEqual((yield* file.read).length, file.stored?.size)
                  }
                }
              }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
            )),
          { numRuns: 40 }
        )
      )
    }))
})

const served = (path: string, options?: SkillsServer.LayerOptions) =>
  McpServer.layer(info, SkillsServer.layer(SkillsServer.fromDirectory(path), options), {
    extensions: [SkillsServer.extension],
    cache: { ttl: "1 minute" }
  }).pipe(Layer.provide(NodeContext.layer), Layer.orDie)

const options = (version: "2025-11-25" | "2026-07-28") => ({
  versions: [version] as const,
  extensions: [SkillsClient.extension]
})

describe("A file that changes while the server runs", () => {
  it.scopedLive("is not served under the digest of the old one; the server reads the skill again", () =>
    Effect.gen(function*() {
      const path = yield* directory(tree)
      const context = yield* Layer.build(served(path))
      const connector = yield* Effect.provide(InProcess.connector, context)
      const session = yield* Client.make(connector, options("2025-11-25"))
      const skills = SkillsClient.make(session)
      const uri = "skill://pdf/SKILL.md"
      const skill = yield* skills.load(yield* skills.get(uri))
      const error = () => Effect.map(Effect.flip(skill.read("logo.png")), ({ message }) => message)
      const changed = yield* Queue.sliding<unknown>(8)
      yield* Effect.forkScoped(Stream.runForEach(session.listChanges, (one) => Queue.offer(changed, one)))
      // Of the same size.
      write(path, { "pdf/logo.png": Uint8Array.of(1, 2, 3) })
      assert.include(yield* error(), "has changed since its digest was computed: get the entry of the skill again")
      yield* Queue.take(changed)
      const again = yield* skills.load(yield* skills.get(uri))
      assert.deepStrictEqual([...(yield* again.read("logo.png")).bytes], [1, 2, 3])
      assert.include(yield* error(), "the digest of the content differs from the entry of the skill")
      // A link to a file with the same content is not a file of the skill.
      renameSync(join(path, "pdf/logo.png"), join(path, "logo.png"))
      symlinkSync("../logo.png", join(path, "pdf/logo.png"))
      const refusal = yield* Effect.flip(again.read("logo.png"))
      assert.include(refusal.message, "has changed since its digest was computed")
    }))

  it.scopedLive("is noticed by the server itself when the directory is watched", () =>
    Effect.gen(function*() {
      const path = yield* directory(tree)
      const server = McpServer.layer(
        info,
        SkillsServer.layer(SkillsServer.fromDirectory(path), {
          reload: SkillsServer.watch(path, { debounce: "20 millis" })
        }),
        { extensions: [SkillsServer.extension] }
      ).pipe(Layer.provide(NodeContext.layer))
      const context = yield* Layer.build(server)
      const connector = yield* Effect.provide(InProcess.connector, context)
      const skills = SkillsClient.make(yield* Client.make(connector, options("2025-11-25")))
      const listed = Effect.map(Stream.runCollect(skills.list), (all) => [...all].map(({ uri }) => uri))
      // The directory is written until the watcher, which begins in the background, has seen it.
      yield* Effect.suspend(() => {
        write(path, { "new/SKILL.md": markdown("new", String(Math.random())) })
        return listed
      }).pipe(
        Effect.repeat({
          until: (all) => all.includes("skill://new/SKILL.md"),
          schedule: Schedule.spaced("50 millis")
        })
      )
    }))
})

type Reached = Effect.Effect<Connector<HttpClient>, never, Scope.Scope>

const over = (server: Layer.Layer<Dispatcher>): Readonly<Record<string, Reached>> => ({
  "no transport": Effect.flatMap(Layer.build(server), (context) => Effect.provide(InProcess.connector, context)),
  "the raw HTTP server": Effect.gen(function*() {
    const context = yield* Effect.orDie(Layer.build(Layer.provide(HttpServer.layer({ port: 0 }), server)))
    return Remote.connector((yield* Effect.provide(HttpServer.HttpServer, context)).url)
  }),
  "the platform's HTTP server": Effect.gen(function*() {
    const http = PlatformHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
    const context = yield* Effect.orDie(
      Layer.build(Layer.provide(Layer.provideMerge(HttpEndpoint.layer, http), server))
    )
    const { address } = yield* Effect.provide(PlatformServer.HttpServer, context)
    return Remote.connector(`http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}/mcp`)
  })
})

for (const version of ["2025-11-25", "2026-07-28"] as const) {
  describe(`Skills at ${version}`, () => {
    for (const transport of ["no transport", "the raw HTTP server", "the platform's HTTP server", "stdio"]) {
      it.scopedLive(`are listed, loaded and verified over ${transport}`, () =>
        Effect.gen(function*() {
          const path = yield* directory(tree)
          const connector = transport === "stdio"
            ? StdioClient.connector({ command: node, args: [yield* bundled("skillsServer.ts"), path] })
            : yield* over(served(path))[transport]!
          const client = yield* Effect.provide(
            Client.make(connector, options(version)),
            yield* Layer.build(NodeHttpClient.layerUndici)
          )
          const skills = SkillsClient.make(client)
          const [refunds, pdf] = [...yield* Stream.runCollect(skills.list)]
          const skill = yield* skills.load(refunds!)
          assert.strictEqual(skill.instructions, "\nRead on.\n")
          const form = yield* skill.read("forms/large order.md")
          assert.deepStrictEqual([form.text, form.mimeType], [Option.some("# \ufeffÜ\r\n"), "text/markdown"])
          const other = yield* skills.load(yield* skills.get(pdf!.uri))
          assert.deepStrictEqual([...(yield* other.read("logo.png")).bytes], [0x89, 0x50, 0xff])
          const children = yield* Stream.runCollect(skills.readDirectory("skill://acme/refunds"))
          assert.deepStrictEqual([...children].map(({ mimeType, name }) => [name, mimeType]), [
            ["refunds", "text/markdown"],
            ["forms", "inode/directory"]
          ])
        }))
    }
  })
}
